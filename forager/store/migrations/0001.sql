-- The first form of crawl.db. Moments are UTC seconds since the epoch; fingerprints are unsigned 64-bit numbers stored as signed.
-- A column of type ANY holds text, or bytes if the text cannot be UTF-8 (lone surrogates out of hostile pages).

CREATE TABLE urls (                 -- what was known when a URL was met first; rows never change
    id        INTEGER PRIMARY KEY,  -- dense, from 0
    url       ANY NOT NULL,
    found     REAL NOT NULL,
    channel   TEXT NOT NULL,
    source    INTEGER,              -- urls.id of the page that revealed it
    depth     INTEGER NOT NULL,
    published REAL,
    due       REAL,                 -- of the first visit
    anchor    ANY NOT NULL
) STRICT;

CREATE TABLE states (               -- what visits have taught; one row for each visited URL
    url         INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    visits      INTEGER NOT NULL,
    changes     INTEGER NOT NULL,
    last_visit  REAL NOT NULL,
    last_change REAL,
    due         REAL,
    seen        INTEGER NOT NULL,   -- visits.id of the last visit
    version     INTEGER NOT NULL,   -- versions.id of the newest; -1 if none
    byte_print  INTEGER NOT NULL,
    text_print  INTEGER NOT NULL,
    validators  ANY                 -- Last-Modified, a line end, ETag
) STRICT;

CREATE TABLE visits (
    id            INTEGER PRIMARY KEY,  -- dense, from 1, in the order of acknowledgement
    url           INTEGER NOT NULL,
    at            REAL NOT NULL,
    outcome       TEXT NOT NULL,
    status        INTEGER NOT NULL,
    seconds       REAL NOT NULL,
    wire_bytes    INTEGER NOT NULL,
    trouble       TEXT NOT NULL,
    error         ANY NOT NULL,
    by            INTEGER NOT NULL,
    changed       INTEGER NOT NULL,
    etag          ANY NOT NULL,
    last_modified ANY NOT NULL,
    final_url     ANY NOT NULL,
    due           REAL
) STRICT;
CREATE INDEX visits_by_url ON visits (url);

CREATE TABLE versions (
    id               INTEGER PRIMARY KEY,  -- dense, from 0
    url              INTEGER NOT NULL,
    at               REAL NOT NULL,
    kind             TEXT NOT NULL,
    byte_print       INTEGER NOT NULL,
    text_print       INTEGER NOT NULL,
    simhash          INTEGER NOT NULL,
    title            ANY NOT NULL,
    lang             ANY NOT NULL,
    canonical        ANY,                  -- NULL if it is the URL itself
    published        REAL,
    published_source TEXT,
    published_exact  INTEGER,
    modified         REAL,
    modified_source  TEXT,
    modified_exact   INTEGER,
    links            BLOB NOT NULL,        -- the URL numbers as int32, zstandard
    text_of          INTEGER,              -- versions.id of an older version with the same text
    text             BLOB                  -- UTF-8, zstandard; NULL if text_of says where it is
) STRICT;
CREATE INDEX versions_by_url ON versions (url);

CREATE TABLE unsettled (version INTEGER PRIMARY KEY) STRICT;

CREATE TABLE stories (
    id               INTEGER PRIMARY KEY,  -- dense, from 1, in the order of acceptance
    url              INTEGER NOT NULL,
    version          INTEGER NOT NULL,
    address          ANY,                  -- NULL if it is the URL itself
    site             ANY NOT NULL,
    title            ANY,                  -- NULL if it is the title of the version
    published        REAL NOT NULL,
    published_source ANY NOT NULL,
    first_seen       REAL NOT NULL,
    fetched          REAL NOT NULL,
    discovered_from  ANY,
    discovered_via   TEXT NOT NULL,
    forager          INTEGER NOT NULL,
    duplicate_of     ANY,
    text_print       INTEGER NOT NULL,
    simhash          INTEGER NOT NULL
) STRICT;

CREATE TABLE blocks (host ANY PRIMARY KEY, until REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE kept (name ANY PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE tallies (name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;  -- visits by "outcome …" and "trouble …"
