"""Terms as rows of crawl.db, and back."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import zstandard

from forager.store.columns import KINDS, Columns, moment
from forager.store.protocol import Found, Story, Version, VersionId, Visit
from forager.terms import (
    Channel,
    Dated,
    DateSource,
    ForagerId,
    Kind,
    Outcome,
    Trouble,
    Url,
    UrlId,
    Validators,
)

Cell = int | float | str | bytes | None
Row = tuple[Cell, ...]

_TWO_64 = 1 << 64


def signed(number: int) -> int:
    """An unsigned 64-bit number as SQLite stores it."""
    return number if number < _TWO_64 >> 1 else number - _TWO_64


def unsigned(number: int) -> int:
    return number % _TWO_64


def written(text: str) -> str | bytes:
    """Text for a column of type ANY."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def as_read(cell: str | bytes) -> str:
    return cell if isinstance(cell, str) else cell.decode("utf-8", "surrogatepass")


class Codec:
    """Packs texts and lists of links; for one thread."""

    def __init__(self) -> None:
        self._packer = zstandard.ZstdCompressor(level=1, write_checksum=True)  # level 3: a third slower, 1% smaller
        self._unpacker = zstandard.ZstdDecompressor()

    def pack_text(self, text: str) -> bytes:
        return self._packer.compress(text.encode("utf-8", "surrogatepass"))

    def unpack_text(self, packed: bytes) -> str:
        return self._unpacker.decompress(packed).decode("utf-8", "surrogatepass")

    def pack_links(self, links: Sequence[UrlId]) -> bytes:
        return self._packer.compress(array("i", links).tobytes())

    def unpack_links(self, packed: bytes) -> tuple[UrlId, ...]:
        return tuple(UrlId(id) for id in array("i", self._unpacker.decompress(packed)))


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version on its way to the disk; packed in the writer's thread."""

    number: VersionId
    url: UrlId
    at: float
    is_canonical: bool
    """The version calls its own URL canonical."""
    same_text_as: VersionId | None
    """The version before it, if its text fingerprint is the same."""
    version: Version

    def row(self, codec: Codec) -> Row:
        """Without the last two cells that say where the text is."""
        version = self.version
        return (
            self.number,
            self.url,
            self.at,
            version.kind.value,
            signed(version.byte_print),
            signed(version.text_print),
            signed(version.simhash),
            written(version.title),
            written(version.lang),
            None if self.is_canonical else written(version.canonical),
            *_dated_cells(version.published),
            *_dated_cells(version.modified),
            codec.pack_links(version.links),
        )


def url_row(id: UrlId, found: Found) -> Row:
    return (
        id,
        written(found.url),
        found.at,
        found.channel.value,
        found.source,
        found.depth,
        found.published,
        found.due,
        written(found.anchor),
    )


def state_row(id: UrlId, columns: Columns) -> Row:
    validators = columns.validators[id]
    return (
        id,
        KINDS[columns.kind[id]].value,
        columns.visits[id],
        columns.changes[id],
        columns.last_visit[id],
        moment(columns.last_change[id]),
        moment(columns.due[id]),
        columns.seen[id],
        columns.version[id],
        signed(columns.byte_print[id]),
        signed(columns.text_print[id]),
        written(validators) if validators else None,
    )


def visit_row(number: int, visit: Visit) -> Row:
    return (
        number,
        visit.id,
        visit.at,
        visit.outcome.value,
        visit.status,
        visit.seconds,
        visit.wire_bytes,
        visit.trouble.value,
        written(visit.error),
        visit.by,
        visit.changed,
        written(visit.validators.etag),
        written(visit.validators.last_modified),
        written(visit.final_url),
        visit.due,
    )


def read_visit(row: tuple) -> Visit:  # type: ignore[type-arg]
    """From the columns of `visits` after its number."""
    return Visit(
        id=UrlId(row[0]),
        at=row[1],
        outcome=Outcome(row[2]),
        status=row[3],
        seconds=row[4],
        wire_bytes=row[5],
        trouble=Trouble(row[6]),
        error=as_read(row[7]),
        by=ForagerId(row[8]),
        changed=bool(row[9]),
        validators=Validators(as_read(row[10]), as_read(row[11])),
        final_url=as_read(row[12]),
        due=row[13],
    )


def read_version(row: tuple, codec: Codec) -> tuple[UrlId, float, Version]:  # type: ignore[type-arg]
    """From the columns of `versions` after its number, with canonical URL and text found."""
    version = Version(
        kind=Kind(row[2]),
        byte_print=unsigned(row[3]),
        text_print=unsigned(row[4]),
        simhash=unsigned(row[5]),
        title=as_read(row[6]),
        lang=as_read(row[7]),
        canonical=as_read(row[8]),
        published=_read_dated(*row[9:12]),
        modified=_read_dated(*row[12:15]),
        links=codec.unpack_links(row[15]),
        text=codec.unpack_text(row[16]),
    )
    return UrlId(row[0]), row[1], version


def story_row(number: int, story: Story, *, is_own_url: bool) -> Row:
    return (
        number,
        story.id,
        story.version,
        None if is_own_url else written(story.url),
        written(story.site),
        written(story.title),
        story.published,
        written(story.published_source),
        story.first_seen,
        story.fetched,
        None if story.discovered_from is None else written(story.discovered_from),
        story.discovered_via.value,
        story.forager,
        None if story.duplicate_of is None else written(story.duplicate_of),
        signed(story.text_print),
        signed(story.simhash),
    )


def read_story(row: tuple) -> Story:  # type: ignore[type-arg]
    """From the columns of `stories` after its number, with URL and title found."""
    return Story(
        id=UrlId(row[0]),
        version=VersionId(row[1]),
        url=Url(as_read(row[2])),
        site=as_read(row[3]),
        title=as_read(row[4]),
        published=row[5],
        published_source=as_read(row[6]),
        first_seen=row[7],
        fetched=row[8],
        discovered_from=None if row[9] is None else Url(as_read(row[9])),
        discovered_via=Channel(row[10]),
        forager=ForagerId(row[11]),
        duplicate_of=None if row[12] is None else Url(as_read(row[12])),
        text_print=unsigned(row[13]),
        simhash=unsigned(row[14]),
    )


def _dated_cells(dated: Dated | None) -> Row:
    return (None, None, None) if dated is None else (dated.time, dated.source.value, dated.exact)


def _read_dated(time: float | None, source: str, exact: int) -> Dated | None:
    return None if time is None else Dated(time, DateSource(source), bool(exact))
