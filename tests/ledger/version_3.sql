BEGIN TRANSACTION;
CREATE TABLE accounts (
    dataset TEXT PRIMARY KEY,
    budget TEXT,
    finite TEXT NOT NULL,
    endless INTEGER NOT NULL,
    seal TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "accounts" VALUES('bills',NULL,'0',1,'efb77db433144c1b565e37e49229937de561ea810c633c2a240de5407c630834');
INSERT INTO "accounts" VALUES('visits','3','1/2',0,'ba9f78c34c339aa221e612481bf9142a2fbaf44c166245d5cf9178864b7c0582');
CREATE TABLE budgets (
    id INTEGER PRIMARY KEY,
    dataset TEXT NOT NULL,
    at TEXT NOT NULL,
    epsilon TEXT,
    seal TEXT NOT NULL
);
INSERT INTO "budgets" VALUES(1,'visits','2026-11-19T22:09:09+00:00','2','e55924cf3298d5aa0be27aaa98325e78a1123cdfba41558fde49e8df19f17deb');
INSERT INTO "budgets" VALUES(2,'bills','2026-11-19T22:09:09+00:00',NULL,'b97e517e88ac9615b3ba6cc46aae06e755c3bf27f9413f48b95cf4f8f2584dc1');
INSERT INTO "budgets" VALUES(3,'visits','2026-11-19T22:09:09+00:00','3','c6e600a3d589d59ddd36ba5db9768254eefc0ba6f436c29349dbba86ba8b73e7');
CREATE TABLE case_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    fingerprint TEXT NOT NULL,
    seal TEXT NOT NULL
);
CREATE TABLE claimed (
    hash BLOB NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (hash, entry)
) WITHOUT ROWID;
INSERT INTO "claimed" VALUES(X'78787878787878787878787878787878',3);
CREATE TABLE claims (
    entry INTEGER PRIMARY KEY,
    period TEXT NOT NULL,
    charged TEXT NOT NULL CHECK (charged IN ('period', 'overlapping', 'dataset')),
    number INTEGER,
    digest TEXT,
    seal TEXT NOT NULL
);
INSERT INTO "claims" VALUES(3,'2025-01','period',1,'9c5729595fb287cc2a2256280448bbe706c0a866f0372515c7483de2af4e6532','50b260dfad5ffde82e7040301a9df57095209840ec33a0173ea632a348624a13');
INSERT INTO "claims" VALUES(4,'2025','overlapping',NULL,NULL,'a1a6c5e622830567a52f03c38956cc6856cd1b3c2e36a08599cc575be25ca088');
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
INSERT INTO "entries" VALUES(1,'448ebe217ee7d515eab7d8bd683d8f5f','visits','2026-11-19T22:09:09+00:00','certified','{"epsilon": "1/2"}','1/2','9ae6dc32440476c89ff1d6e19f2726ad31ad6e112f131536ac5f5f1e7b26af4b','fc5834aadf7d6058c9e3b870ec761d79ee9b750bbfdcf15fa169a74dcf85f876','{}','released',NULL,3,'ab',NULL,NULL,'a5700871086587d4da6f9c69cb962d08fa567d6342be5e2ed3e86af9c10ef18f');
INSERT INTO "entries" VALUES(2,'d97a26db8b1ea2b61ff964ea4ca1d7e0','visits','2026-11-19T22:09:09+00:00','certified','{"epsilon": "1/4"}','1/4','26befca6136e8fd13310654be9b94eba2c4dcb5bbe9846c674c26dc60d21f9b5','1a0b5867bad7baf88ce690538da0053b0629ceaa9368e2105c5bae9410e76a32','{}','returned',NULL,NULL,NULL,'ReadError',NULL,'6fc9ae45d493dabe49a5c463fc3f8ef1efd16c171e32508bba54ca3b5c5f0407');
INSERT INTO "entries" VALUES(3,'e407b6b62475349a66a8b6e75adaf90c','visits','2026-11-19T22:09:09+00:00','certified','{"epsilon": "1/3"}','1/3','971ea5b4670b40fb52fd6db6a02af4b051bd4cea23a61db16c9ab0180e85abf9','328b0cdfe0a5d715a6c2a63f8f656c3c5c53689f5c2da49798c1f22a5e191b3f','{}','reserved',NULL,NULL,NULL,NULL,NULL,'ca35d84c7fb16fb51b2bc7e09f6c8830ae085d5db7de28c754e7c0d3d48c4240');
INSERT INTO "entries" VALUES(4,'00c1ec31100d66e5ee616e87de1ed387','visits','2026-11-19T22:09:09+00:00','certified','{"epsilon": "1/5"}','1/5','6798e0821762f19109db965c1063efac8c295877f61826952ed9eef6821390a4','907aaef79fb2edd2857f242c82a9f72e9d1faeca88eadd678c978725d07e433a','{}','reserved',NULL,NULL,NULL,NULL,NULL,'97f7156b70e956ab5bd36db4587b1100dca1a6555970710f3c57bed183323ab9');
INSERT INTO "entries" VALUES(5,'cfc3a5260db5ee14f5bec1173e7e6b50','bills','2026-11-19T22:09:09+00:00','certified','{"epsilon": "None"}',NULL,'31ee37bc082c95c16141017bc08f500394b0bb327d08f00adee303a0dfbf8a58','4de4b402a82e43ff013ac7925b0fa7d0144fadbfb9c45a4a6f7685f712b3f2b5','{}','reserved',NULL,NULL,NULL,NULL,NULL,'aee6b567162be12de97aceda8b3fae1421662ac946d47cefe954d795e48277b2');
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    entries INTEGER NOT NULL,
    budgets INTEGER NOT NULL,
    chain TEXT NOT NULL,
    seal TEXT NOT NULL
);
INSERT INTO "head" VALUES(1,5,3,'31ee37bc082c95c16141017bc08f500394b0bb327d08f00adee303a0dfbf8a58','101d1964d7dcc664d0199033766999e165715b2b883b88cfd75e1338eaed03c7');
CREATE TABLE parts (
    dataset TEXT NOT NULL,
    period TEXT NOT NULL,
    charged TEXT NOT NULL CHECK (charged IN ('period', 'overlapping')),
    finite TEXT NOT NULL,
    endless INTEGER NOT NULL,
    seal TEXT NOT NULL,
    PRIMARY KEY (dataset, period, charged)
) WITHOUT ROWID;
INSERT INTO "parts" VALUES('visits','2025','overlapping','1/5',0,'5ae11dacb4f58aaa5ce9c1b0117b858835013c3de22677ea55ec11d230adfefd');
INSERT INTO "parts" VALUES('visits','2025-01','period','1/3',0,'160f287c0a123d837af78b7294b5ec66111b5eb350cecda27d903d0009661d47');
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
CREATE INDEX claimed_entry ON claimed (entry);
CREATE TRIGGER parts_stay BEFORE DELETE ON parts
    BEGIN SELECT raise(ABORT, 'what a period cost cannot be taken back'); END;
CREATE TRIGGER claims_stay BEFORE DELETE ON claims
    BEGIN SELECT raise(ABORT, 'a claim cannot be taken back'); END;
CREATE TRIGGER claimed_stay BEFORE DELETE ON claimed
    BEGIN SELECT raise(ABORT, 'a case cannot be taken back'); END;
CREATE TRIGGER case_key_stays BEFORE DELETE ON case_key
    BEGIN SELECT raise(ABORT, 'the key cannot be taken back'); END;
COMMIT;
PRAGMA application_id = 1522596353;
PRAGMA user_version = 3;
