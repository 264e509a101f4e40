ALTER TABLE accounts ADD COLUMN delta TEXT;
ALTER TABLE accounts ADD COLUMN selection TEXT;
ALTER TABLE parts ADD COLUMN selection TEXT;
ALTER TABLE budgets ADD COLUMN delta TEXT;
ALTER TABLE budgets ADD COLUMN rho TEXT;
ALTER TABLE entries ADD COLUMN delta TEXT;
ALTER TABLE entries ADD COLUMN rho TEXT;
ALTER TABLE entries ADD COLUMN selection TEXT;
CREATE TRIGGER rhos_stay BEFORE UPDATE OF delta, rho, selection ON entries
    WHEN new.delta IS NOT old.delta OR new.rho IS NOT old.rho
        OR new.selection IS NOT old.selection
    BEGIN SELECT raise(ABORT, 'a price cannot be changed'); END;
