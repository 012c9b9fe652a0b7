"""Reading back what was committed: versions, visits, stories and kept states, over a connection and thread of its own.

Long answers are read in pieces, each a short question of its own: a slow reader holds no old state of the file open, so
the writer's log never grows because of it. Rows are only ever added, so the end is fixed when the reading begins.
"""

import sqlite3
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import zstandard

from forager.errors import StoreError
from forager.store.protocol import Story, Version, VersionId, Visit
from forager.store.rows import Codec, read_story, read_version, read_visit, written
from forager.store.rundir import DATABASE, connect_reader, damaged
from forager.terms import UrlId

T = TypeVar("T")

_PIECE = 256
_VERSION = """SELECT versions.url, at, kind, byte_print, text_print, simhash, title, lang, ifnull(canonical, urls.url),
    versions.published, published_source, published_exact, modified, modified_source, modified_exact, links,
    ifnull(text, (SELECT text FROM versions AS holder WHERE holder.id = versions.text_of))
    FROM versions JOIN urls ON urls.id = versions.url WHERE versions.id = ?"""
_VISITS = """SELECT id, url, at, outcome, status, seconds, wire_bytes, trouble, error, by, changed,
    etag, last_modified, final_url, due
    FROM visits WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"""
_STORIES = """SELECT stories.id, stories.url, version, ifnull(address, urls.url), site,
    ifnull(stories.title, versions.title), stories.published, stories.published_source, first_seen, fetched,
    discovered_from, discovered_via, forager, duplicate_of, stories.text_print, stories.simhash
    FROM stories LEFT JOIN urls ON urls.id = stories.url LEFT JOIN versions ON versions.id = stories.version
    WHERE stories.id > ? AND stories.id <= ? ORDER BY stories.id LIMIT ?"""


class Archive:
    """The reading half of the store on disk."""

    def __init__(self, directory: Path) -> None:
        self._connection, self._path = connect_reader(directory), directory / DATABASE
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-reader")
        self._codec = Codec()
        self._is_closed = False

    async def recall(self, name: str) -> bytes | None:
        rows = await self._ask("SELECT value FROM kept WHERE name = ?", written(name))
        return rows[0][0] if rows else None

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        rows = await self._ask(_VERSION, version)
        if not rows:
            raise IndexError(f"no version has the number {version}")
        return self._term(partial(read_version, codec=self._codec), rows[0])

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        rows = await self._ask("SELECT id, at FROM versions WHERE url = ? ORDER BY id", id)
        return [(VersionId(number), at) for number, at in rows]

    async def visits(self, id: UrlId | None, after: int, end: int) -> AsyncIterator[Visit]:
        """Those with a number above `after`, up to the one with the number `end`."""
        question = _VISITS if id is None else _VISITS.replace("WHERE", f"WHERE url = {int(id)} AND")
        async for row in self._pieces(question, max(0, after), end):
            yield self._term(read_visit, row[1:])

    async def stories(self, after: int, end: int) -> AsyncIterator[Story]:
        async for row in self._pieces(_STORIES, max(0, after), end):
            yield self._term(read_story, row[1:])

    def close(self) -> None:
        self._is_closed = True
        self._thread.shutdown()
        self._connection.close()

    def _term(self, read: Callable[[tuple[Any, ...]], T], row: tuple[Any, ...]) -> T:
        try:
            return read(row)
        except (zstandard.ZstdError, ValueError, TypeError, AttributeError) as error:
            raise damaged(self._path, error) from None

    async def _pieces(self, question: str, start: int, end: int) -> AsyncIterator[tuple[Any, ...]]:
        """Rows that begin with their number, from after `start` to `end`."""
        while rows := await self._ask(question, start, end, _PIECE):
            for row in rows:
                yield row
            start = rows[-1][0]

    async def _ask(self, question: str, *values: int | str | bytes) -> list[tuple[Any, ...]]:
        if self._is_closed:
            raise StoreError(f"{self._path.parent}: the store is closed")
        try:
            return await get_running_loop().run_in_executor(self._thread, self._answer, question, values)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise damaged(self._path, error) from None

    def _answer(self, question: str, values: tuple[int | str | bytes, ...]) -> list[tuple[Any, ...]]:
        return self._connection.execute(question, values).fetchall()
