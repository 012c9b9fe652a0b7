-- What a crawl must know of a host when it is resumed (waits, delays, budgets); before, blocks were kept and never written.

DROP TABLE blocks;
CREATE TABLE hosts (name ANY PRIMARY KEY, state BLOB NOT NULL) STRICT, WITHOUT ROWID;
