"""Mend what a killed crawl left: a file still called `.open`, whose last record may be torn.

Everything complete is kept; what stands behind the last complete record is cut off, the index is made from the records,
and the file gets its name. Mending twice, or being killed while mending, does no harm: the name comes last.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from forager.terms import Outcome
from forager.world.warc.cdxj import REVISIT, SUFFIX, Line, format_line, write_index
from forager.world.warc.fields import moment, stamp
from forager.world.warc.messages import split_response
from forager.world.warc.reading import Broken, Record, records

OPEN = ".open"
_LIMIT = 2**40  # whatever we wrote we keep


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done to a file."""

    path: Path
    """Its new name; it does not exist if nothing in the file was complete."""
    kept: int
    """Complete records."""
    cut: int
    """Bytes cut off at the end."""


def repair(directory: Path) -> list[Repaired]:
    """Close every file of ours that a killed crawl left open here."""
    return [_mend(path) for path in sorted(directory.glob(f"forager-*.warc.gz{OPEN}"))]


def _mend(path: Path) -> Repaired:
    final = path.with_name(path.name.removesuffix(OPEN))
    index: list[str] = []
    kept = end = 0
    for record in records(path, _LIMIT):
        if isinstance(record, Broken):
            continue
        kept, end = kept + 1, record.end
        line = index_line(record, final.name)
        if line is not None:
            index.append(format_line(line))
    size = path.stat().st_size
    if not kept:
        path.unlink()
        return Repaired(final, 0, size)
    if end < size:
        with path.open("r+b") as file:
            file.truncate(end)
            os.fsync(file.fileno())
    write_index(path.with_name(final.name.removesuffix(".warc.gz") + SUFFIX), index)
    path.rename(final)
    return Repaired(final, kept, size - end)


def index_line(record: Record, filename: str) -> Line | None:
    """What an index says of a record; None if it is not indexed."""
    if record.kind not in ("response", "revisit") or record.end < 0:
        return None
    http, time = split_response(record.block), moment(record.field("warc-date"))
    is_torn = record.field("forager-outcome") == Outcome.FAILED and record.field("warc-truncated")
    if http is None or time is None or is_torn:
        return None
    status, headers, _ = http
    mime = dict(reversed(headers)).get("content-type", "").partition(";")[0].strip().lower().replace(" ", "")
    return Line(
        url=record.url,
        mime=REVISIT if record.kind == "revisit" else mime or "unk",
        status=str(status),
        digest=record.field("warc-payload-digest"),
        length=str(record.end - record.place.offset),
        offset=str(record.place.offset),
        filename=filename,
        stamp=stamp(time),
    )
