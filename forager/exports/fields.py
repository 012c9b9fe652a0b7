"""What is told of a story, in every format: the same fields in the same order."""

import math
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Protocol

from forager.exports.harmless import encodable
from forager.store.protocol import Counts, Story, Version, VersionId
from forager.terms import NOBODY, Url, UrlId

Cell = int | float | str | None
Row = dict[str, Cell]

FIELDS = (
    "number",  # the place in the order of acceptance, from 0
    "url",
    "final_url",  # of the page that answered
    "canonical",  # what the page calls itself
    "site",
    "title",
    "text",
    "published",  # moments are ISO 8601 in UTC
    "published_source",
    "modified",
    "first_seen",  # when its URL was met first
    "fetched",
    "delay",  # seconds from publication to fetch
    "lang",
    "discovered_from",
    "discovered_via",
    "forager",  # null if no forager brought it
    "version",
    "text_hash",  # 64 bits of the main text, as 16 hex digits
    "simhash",  # nearly equal for nearly equal texts
    "duplicate_of",
)

MOMENTS = frozenset(("published", "modified", "first_seen", "fetched"))


class Source(Protocol):
    """What is read from a store: the store of a running crawl and a read-only one both have it."""

    def url(self, id: UrlId) -> Url: ...

    def counts(self) -> Counts: ...

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]: ...

    def stories(self, after: int = 0) -> AsyncIterator[Story]: ...


async def row(number: int, story: Story, source: Source) -> Row:
    """The fields of a story, with what its stored version adds."""
    page, _, version = await source.version(story.version)
    cells: Row = {
        "number": number,
        "url": story.url,
        "final_url": source.url(page),
        "canonical": version.canonical or None,
        "site": story.site,
        "title": story.title,
        "text": version.text,
        "published": moment(story.published),
        "published_source": story.published_source,
        "modified": None if version.modified is None else moment(version.modified.time),
        "first_seen": moment(story.first_seen),
        "fetched": moment(story.fetched),
        "delay": round(story.delay, 3) if math.isfinite(story.delay) else None,
        "lang": version.lang or None,
        "discovered_from": story.discovered_from,
        "discovered_via": story.discovered_via.value,
        "forager": None if story.forager == NOBODY else story.forager,
        "version": story.version,
        "text_hash": f"{story.text_print:016x}",
        "simhash": f"{story.simhash:016x}",
        "duplicate_of": story.duplicate_of,
    }
    return {name: encodable(cell) if isinstance(cell, str) else cell for name, cell in cells.items()}


def moment(time: float) -> str | None:
    """ISO 8601 in UTC, to the millisecond; None for a time that no calendar has."""
    try:
        return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None
