"""The rows of many calls that are committed together."""

import sqlite3
from dataclasses import dataclass, field

from forager.store.protocol import VersionId
from forager.store.rows import Codec, NewVersion, Row, written

_INSERT_URL = "INSERT INTO urls VALUES (?,?,?,?,?,?,?,?,?)"
_REPLACE_STATE = "INSERT OR REPLACE INTO states VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
_INSERT_VISIT = "INSERT INTO visits VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_INSERT_VERSION = "INSERT INTO versions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_INSERT_STORY = """INSERT INTO stories SELECT ?1, ?2, ?3, ?4, ?5,
    nullif(?6, (SELECT title FROM versions WHERE id = ?3)), ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16"""
_TEXT = """SELECT holder.id, holder.text FROM versions JOIN versions AS holder
    ON holder.id = coalesce(versions.text_of, versions.id) WHERE versions.id = ?"""


@dataclass(slots=True)
class Batch:
    """What has changed since the last batch."""

    urls: list[Row] = field(default_factory=list)
    states: list[Row] = field(default_factory=list)
    visits: list[Row] = field(default_factory=list)
    versions: list[NewVersion] = field(default_factory=list)
    settled: list[VersionId] = field(default_factory=list)
    stories: list[Row] = field(default_factory=list)
    blocks: dict[str, float] = field(default_factory=dict)
    kept: dict[str, bytes] = field(default_factory=dict)
    tallies: dict[str, int] = field(default_factory=dict)

    def write(self, connection: sqlite3.Connection, codec: Codec) -> None:
        """All or nothing."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(_INSERT_URL, self.urls)
            connection.executemany(_REPLACE_STATE, self.states)
            connection.executemany(_INSERT_VISIT, self.visits)
            for version in self.versions:
                connection.execute(_INSERT_VERSION, (*version.row(codec), *_text_cells(version, connection, codec)))
            connection.executemany("INSERT INTO unsettled VALUES (?)", [(new.number,) for new in self.versions])
            connection.executemany("DELETE FROM unsettled WHERE version = ?", [(number,) for number in self.settled])
            connection.executemany(_INSERT_STORY, self.stories)
            blocks = [(written(host), until) for host, until in self.blocks.items()]
            connection.executemany("INSERT OR REPLACE INTO blocks VALUES (?,?)", blocks)
            kept = [(written(name), value) for name, value in self.kept.items()]
            connection.executemany("INSERT OR REPLACE INTO kept VALUES (?,?)", kept)
            connection.executemany("INSERT OR REPLACE INTO tallies VALUES (?,?)", list(self.tallies.items()))
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _text_cells(new: NewVersion, connection: sqlite3.Connection, codec: Codec) -> Row:
    """Where the text is, and the text; a text that is byte for byte that of the version before is not stored again."""
    packed = codec.pack_text(new.version.text)
    if new.same_text_as is not None:
        holder, text = connection.execute(_TEXT, (new.same_text_as,)).fetchone()
        if text == packed:
            return holder, None
    return None, packed
