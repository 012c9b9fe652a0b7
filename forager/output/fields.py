"""The fields of a story, the same in every format and in the same order, with text that does no harm.

Text of pages is made safe for what will read it: encoders, spreadsheets, XML parsers and terminals.
"""

import math
import re
from datetime import UTC, datetime

from forager.pages.language import words_in
from forager.store.protocol import AcceptedStory, RunRecords, VersionId
from forager.terms import NOBODY, UrlId

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_FORMULA = re.compile(  # after blanks and invisible marks, which some programs skip; ＝＋－＠ are the full-width forms
    "[\\s\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*[=+\\-@＝＋－＠]|[\t\r\n]"
)
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]")


def encodable(text: str) -> str:
    """The text with a replacement character for each half of a surrogate pair, which no encoding can represent."""
    return text if text.isascii() else _HALF_PAIR.sub("\ufffd", text)


def without_controls(text: str) -> str:
    """The text without the control characters that XML forbids or discourages; tabs and line ends stay."""
    return _CONTROL.sub("", text)


def defused(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe marks it as text."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def escaped(json: str) -> str:
    """The same JSON with escapes for characters that control terminals, reverse a line or may end it."""
    return json if json.isascii() and "\x7f" not in json else _STEERING.sub(_escape, json)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


Cell = int | float | str | list[str] | None
Row = dict[str, Cell]

FIELDS = (
    "number",  # position in the order of acceptance, from 0
    "url",
    "final_url",  # of the page that answered
    "canonical",  # what the page calls itself
    "site",
    "title",  # the headline a reader sees
    "authors",  # a list
    "lead",
    "text",
    "word_count",
    "section",
    "tags",  # a list
    "language",  # as stated, or told by the words of the text
    "image",
    "paywalled",  # null if the page does not state it
    "published",  # moments are ISO 8601 in UTC
    "published_source",
    "modified",
    "first_seen",  # when its URL was first seen
    "fetched",
    "delay",  # seconds from publication to fetch
    "discovered_from",
    "discovered_via",
    "forager",  # null if no forager brought it
    "version",  # of the page: 1 is its first
    "text_hash",  # 64 bits of the main text, as 16 hex digits
    "simhash",  # nearly equal for nearly equal texts
    "duplicate_of",
)

MOMENTS = frozenset(("published", "modified", "first_seen", "fetched"))
LISTS = frozenset(("authors", "tags"))


async def row(number: int, story: AcceptedStory, source: RunRecords) -> Row:
    """The fields of a story, completed by its stored version."""
    page, _, version = await source.version(story.version)
    said = story.about
    cells: Row = {
        "number": number,
        "url": story.url,
        "final_url": source.url(page),
        "canonical": version.canonical or None,
        "site": story.site,
        "title": story.title,
        "authors": list(said.authors),
        "lead": said.lead or None,
        "text": version.text,
        "word_count": said.word_count or words_in(version.text),
        "section": said.section or None,
        "tags": list(said.tags),
        "language": said.language or version.lang or None,
        "image": said.image or None,
        "paywalled": said.paywalled,
        "published": iso_moment(story.published),
        "published_source": story.published_source,
        "modified": None if version.modified is None else iso_moment(version.modified.time),
        "first_seen": iso_moment(story.first_seen),
        "fetched": iso_moment(story.fetched),
        "delay": None if story.delay is None or math.isinf(story.delay) else round(story.delay, 3),
        "discovered_from": story.discovered_from,
        "discovered_via": story.discovered_via.value,
        "forager": None if story.forager == NOBODY else story.forager,
        "version": await edition(story.version, page, source),
        "text_hash": f"{story.text_print:016x}",
        "simhash": f"{story.simhash:016x}",
        "duplicate_of": story.duplicate_of,
    }
    return {name: _encodable(cell) for name, cell in cells.items()}


async def edition(version: VersionId, page: UrlId, source: RunRecords) -> int:
    """The number of this version among those of its page, from 1."""
    return 1 + sum(number < version for number, _ in await source.versions(page))


def _encodable(cell: Cell) -> Cell:
    if isinstance(cell, list):
        return [encodable(one) for one in cell]
    return encodable(cell) if isinstance(cell, str) else cell


def iso_moment(time: float) -> str | None:
    """ISO 8601 in UTC, to the millisecond; None for a time outside the calendar."""
    try:
        return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None
