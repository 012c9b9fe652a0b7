"""The rows of many calls that are committed together."""

import sqlite3
from dataclasses import dataclass, field
from itertools import chain

from forager.store.protocol import VersionId
from forager.store.rows import Codec, NewVersion, Row, written

_LARGEST = 32
"""Rows in one statement at most: a power of two. Ours."""
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
            _insert(connection, "INSERT INTO urls", self.urls)
            _insert(connection, "INSERT OR REPLACE INTO states", self.states)
            _insert(connection, "INSERT INTO visits", self.visits)
            self._write_versions(connection, codec)
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

    def _write_versions(self, connection: sqlite3.Connection, codec: Codec) -> None:
        """Versions whose text may be that of a version of this batch are written after it."""
        rows: list[Row] = []
        for new in self.versions:
            if new.same_text_as is not None and rows:
                _insert(connection, "INSERT INTO versions", rows)
                rows = []
            rows.append((*new.row(codec), *_text_cells(new, connection, codec)))
        _insert(connection, "INSERT INTO versions", rows)
        settled = set(self.settled)
        open_ones: list[Row] = [(new.number,) for new in self.versions if new.number not in settled]
        _insert(connection, "INSERT INTO unsettled", open_ones)
        made = {new.number for new in self.versions}
        decided = [(number,) for number in self.settled if number not in made]
        connection.executemany("DELETE FROM unsettled WHERE version = ?", decided)


def _insert(connection: sqlite3.Connection, begin: str, rows: list[Row]) -> None:
    """Many rows in one statement: between two statements the thread may have to wait for its turn."""
    place, size = 0, _LARGEST
    while place < len(rows):
        while size > len(rows) - place:
            size //= 2
        some = rows[place : place + size]
        cells = f"({','.join('?' * len(some[0]))})"
        connection.execute(f"{begin} VALUES {','.join([cells] * size)}", list(chain.from_iterable(some)))
        place += size


def _text_cells(new: NewVersion, connection: sqlite3.Connection, codec: Codec) -> Row:
    """Where the text is, and the text; a text that is byte for byte that of the version before is not stored again."""
    packed = codec.pack_text(new.version.text)
    if new.same_text_as is not None:
        holder, text = connection.execute(_TEXT, (new.same_text_as,)).fetchone()
        if text == packed:
            return holder, None
    return None, packed
