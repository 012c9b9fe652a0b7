"""The stories of a replay as a crawl would write them; a tape knows neither titles nor texts."""

from collections.abc import Callable
from typing import TypeVar

import typer

from forager.errors import OutputError
from forager.events import Event, Told
from forager.exports.fields import FIELDS, Row, moment
from forager.exports.formats import writer_for
from forager.exports.protocol import Mode, Writer
from forager.terms import NOBODY

T = TypeVar("T")

BATCH = 1000
"""Stories handed to the writer at once."""


def stories_writer(append: str | None, overwrite: str | None) -> Writer | None:
    """The writer that -o or -O asks for."""
    if append is not None and overwrite is not None:
        raise typer.BadParameter("give -o or -O, not both")
    if append is not None:
        return writer_for(append, Mode.APPEND)
    return None if overwrite is None else writer_for(overwrite, Mode.REPLACE)


class ReplayedStories:
    """Reads the journal of a replay and writes its stories; `close` completes the output."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        last = self._tried(writer.open)
        self._next = 0 if last is None else last.number + 1
        self._waiting: list[Row] = []
        self._tried(lambda: writer.write([]))

    def __repr__(self) -> str:
        return f"<ReplayedStories {self._next} in {self._writer.name}>"

    def __call__(self, event: Event) -> None:
        if isinstance(event, Told):
            self._waiting.append(self._row(event))
            self._next += 1
            if len(self._waiting) >= BATCH:
                self._write()

    def close(self) -> None:
        self._write()
        self._tried(self._writer.close)

    def _row(self, told: Told) -> Row:
        known: Row = {
            "number": self._next,
            "url": told.url,
            "final_url": told.url,
            "site": told.site,
            "title": told.title,
            "text": "",
            "published": moment(told.published),
            "published_source": told.published_source,
            "fetched": moment(told.at),
            "delay": round(told.delay, 3),
            "discovered_via": told.via.value,
            "forager": None if told.by == NOBODY else told.by,
        }
        return dict.fromkeys(FIELDS) | known

    def _write(self) -> None:
        rows, self._waiting = self._waiting, []
        self._tried(lambda: self._writer.write(rows))

    def _tried(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as error:
            raise OutputError(f"{self._writer.name}: cannot be written: {error.strerror}") from None
