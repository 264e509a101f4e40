CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    entries INTEGER NOT NULL,
    budgets INTEGER NOT NULL,
    chain TEXT NOT NULL,
    seal TEXT NOT NULL
);
CREATE TABLE accounts (
    dataset TEXT PRIMARY KEY,
    budget TEXT,
    finite TEXT NOT NULL,
    endless INTEGER NOT NULL,
    seal TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE budgets (
    id INTEGER PRIMARY KEY,
    dataset TEXT NOT NULL,
    at TEXT NOT NULL,
    epsilon TEXT,
    seal TEXT NOT NULL
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL,
    dataset TEXT NOT NULL,
    at TEXT NOT NULL,
    mechanism TEXT NOT NULL,
    settings TEXT NOT NULL,
    price TEXT,
    chain TEXT NOT NULL,
    asked TEXT NOT NULL,
    certificate TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'released', 'failed', 'returned')),
    file TEXT,
    size INTEGER,
    sha256 TEXT,
    reason TEXT,
    repeats INTEGER,
    seal TEXT NOT NULL
);
CREATE UNIQUE INDEX entries_token ON entries (token);
CREATE INDEX entries_asked ON entries (asked);
CREATE INDEX entries_open ON entries (id, file, size)
    WHERE state = 'reserved' AND file IS NOT NULL;
CREATE TRIGGER entries_stay BEFORE DELETE ON entries
    BEGIN SELECT raise(ABORT, 'a release cannot be taken back'); END;
CREATE TRIGGER prices_stay BEFORE UPDATE OF id, token, dataset, price, chain ON entries
    WHEN new.id <> old.id OR new.token <> old.token OR new.dataset <> old.dataset
        OR new.price IS NOT old.price OR new.chain <> old.chain
    BEGIN SELECT raise(ABORT, 'a price cannot be changed'); END;
CREATE TRIGGER ends_stay BEFORE UPDATE OF state ON entries WHEN old.state <> 'reserved'
    BEGIN SELECT raise(ABORT, 'a release ends once'); END;
CREATE TRIGGER budgets_stay BEFORE DELETE ON budgets
    BEGIN SELECT raise(ABORT, 'a budget cannot be taken back'); END;
CREATE TRIGGER accounts_stay BEFORE DELETE ON accounts
    BEGIN SELECT raise(ABORT, 'an account cannot be taken back'); END;
