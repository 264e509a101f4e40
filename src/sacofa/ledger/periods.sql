CREATE TABLE parts (
    dataset TEXT NOT NULL,
    period TEXT NOT NULL,
    charged TEXT NOT NULL CHECK (charged IN ('period', 'overlapping')),
    finite TEXT NOT NULL,
    endless INTEGER NOT NULL,
    seal TEXT NOT NULL,
    PRIMARY KEY (dataset, period, charged)
) WITHOUT ROWID;
CREATE TABLE claims (
    entry INTEGER PRIMARY KEY,
    period TEXT NOT NULL,
    charged TEXT NOT NULL CHECK (charged IN ('period', 'overlapping', 'dataset')),
    number INTEGER,
    digest TEXT,
    seal TEXT NOT NULL
);
CREATE TABLE claimed (
    hash BLOB NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (hash, entry)
) WITHOUT ROWID;
CREATE TABLE case_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    fingerprint TEXT NOT NULL,
    seal TEXT NOT NULL
);
CREATE INDEX claimed_entry ON claimed (entry);
CREATE TRIGGER parts_stay BEFORE DELETE ON parts
    BEGIN SELECT raise(ABORT, 'what a period cost cannot be taken back'); END;
CREATE TRIGGER claims_stay BEFORE DELETE ON claims
    BEGIN SELECT raise(ABORT, 'a claim cannot be taken back'); END;
CREATE TRIGGER claimed_stay BEFORE DELETE ON claimed
    BEGIN SELECT raise(ABORT, 'a case cannot be taken back'); END;
CREATE TRIGGER case_key_stays BEFORE DELETE ON case_key
    BEGIN SELECT raise(ABORT, 'the key cannot be taken back'); END;
