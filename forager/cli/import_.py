"""`forager import`: compiles recordings of any kind into a tape."""

import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from forager.cli.options import Json, ProgressLine, Quiet, print_result, tape_facts
from forager.errors import InputError, OutputError
from forager.importers.files import Imported, import_files
from forager.importers.streams import ImportTally, sources
from forager.importers.tables import import_tables
from forager.library.playback import tape_of
from forager.report.phrases import amount, shown_moment, span
from forager.store.rundir import DATABASE
from forager.tape.tape import CONTENTS, holds_else, save
from forager.tape.tape_world import documents

_EVERY = 0.2
"""Seconds between two looks of the progress on a terminal (ours)."""


_NEW = {
    "url": "each a page of its own (--identity text: each a new text on any page)",
    "text": "each a new text",
    "version": "each a new version",
    "link": "each a page at its first appearance as a link",
}
"""What counts as a document, by identity."""


class IdentityChoice(StrEnum):
    """What makes a document new."""

    URL = "url"
    TEXT = "text"
    VERSION = "version"
    LINK = "link"


def import_(
    output: Annotated[Path, typer.Option("-O", "--output", metavar="TAPE", help="The folder to write the tape to.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="WARC, WACZ, CDX, CDXJ, TimeMap or change log, plain, gz or zst; folders of them; a run directory; - for "
            "standard input."
        ),
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--table", metavar="DIR", help="A folder with the tables versions, links or stays.")
    ] = None,
    identity: Annotated[
        IdentityChoice | None,
        typer.Option(
            help="What makes a document new; link: a page at its first appearance as a link. Default: told by the data."
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compile recordings into a tape for replay, comparison and tuning.

    Formats are told by content. Broken records are counted and the first ones named; they never stop an import.

    A change log has the columns url (or page), time (timestamp, at), and changed or digest (hash, checksum); optional gone.

    With --table, each table is Parquet or CSV, whole or in parts. versions: url, time, digest or text; optional published,
    gone. links: url, time, target. stays: url, target, first_time, last_time. kinds: url, kind (hub, article, feed, sitemap
    or other). Times are seconds since 1970 or ISO 8601.

    --json prints tape, pages, versions, links, start, end, identity, documents, records, spellings_merged, formats, left_out,
    broken, named, seconds.
    """
    if (table is None) == (not files):
        raise typer.BadParameter("give files, or --table DIR")
    if (
        output.is_dir() and not (output / CONTENTS).exists() and holds_else(output)
    ):  # a killed import may have left a part
        raise OutputError(f"{output}: is not empty and holds no tape; choose another folder")
    begun = time.monotonic()
    display = ProgressLine(quiet=quiet, every=_EVERY)

    def show(name: str, read: int, total: int) -> None:
        if total and read >= total:
            name = "is read; building the tape"
            display.shown = min(display.shown, time.monotonic() - _EVERY)  # the rest may take as long
        part = f"{min(read / total, 1):4.0%}" if total else f"{read / 1e6:,.0f} MB"
        display.show(f"{part} {name}")

    try:
        if table is not None:
            imported = import_tables(table, origin=table.name, identity=identity, progress=show)
        else:
            imported = _import(files or [], identity, show)
    finally:
        display.end()
    if not imported.tape.versions:
        raise InputError(_nothing(imported.tally, " ".join(files or [str(table)])))
    save(imported.tape, output)
    facts = _facts(imported, output, time.monotonic() - begun)
    print_result(facts, lambda: _summary(imported, output, facts["documents"]), json=json)


def _import(files: list[str], identity: str | None, progress: Callable[[str, int, int], None]) -> Imported:
    origin = Path(files[0]).name or files[0]
    folder = Path(files[0])
    if (folder / CONTENTS).exists():
        raise InputError(f"{folder}: is a tape already")
    if (folder / DATABASE).exists():
        if len(files) > 1:
            raise InputError(f"{folder}: a run directory is imported alone")
        return Imported(tape_of(folder, identity or IdentityChoice.URL), ImportTally(), Counter({"run directory": 1}))
    origin += f" and {len(files) - 1} more" if len(files) > 1 else ""
    return import_files(sources(files), origin=origin, identity=identity, progress=progress)


def _nothing(tally: ImportTally, names: str) -> str:
    out = tally.left_out.total()
    left = f"; {amount(out, 'record')} without a page" if out else ""
    broken = f"; {tally.broken.total():,} broken, first {tally.named[0]}" if tally.named else ""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in _counted(tally.passed).items())
    passed = f"; its sound records are no answers: {kinds}" if kinds and not left else ""
    return f"{names}: holds no version of a page{left}{broken}{passed}"


def _facts(imported: Imported, output: Path, seconds: float) -> dict[str, Any]:
    tape, tally = imported.tape, imported.tally
    return {
        "tape": str(output),
        **tape_facts(tape),
        "documents": int((documents(tape).born > tape.start).sum()),  # that appeared after the start
        "records": tally.records,
        "spellings_merged": tally.spelled,
        "formats": dict(imported.formats),
        "left_out": _counted(tally.left_out),
        "broken": _counted(tally.broken),
        "named": tally.named,
        "seconds": round(seconds, 3),
    }


def _counted(counts: Counter[str]) -> dict[str, int]:
    return {kind: count for kind, count in counts.most_common() if count}


def _summary(imported: Imported, output: Path, appeared: int) -> str:
    tape, tally = imported.tape, imported.tally
    begin, end = (shown_moment(at)[:16] for at in (tape.start, tape.end))
    lines = [
        f"{amount(tape.pages, 'page')}, {amount(tape.versions, 'version')}, {amount(tape.links.size, 'link')}; "
        f"{begin} to {end} UTC, {span(tape.end - tape.start)}",
        f"{amount(appeared, 'document')} appeared, {_NEW[tape.identity]}",
        *(f"{count:,} × {name}" for name, count in imported.formats.most_common()),
    ]
    if tally.records:
        lines.append(f"{amount(tally.records, 'record')} used; those that show nothing new make no version")
    if tally.spelled:
        lines.append(f"{tally.spelled:,} addresses are other spellings of pages met before, and were merged with them")
    lines += [f"{count:,} left out: {kind}" for kind, count in _counted(tally.left_out).items()]
    lines += [f"{count:,} broken: {kind}" for kind, count in _counted(tally.broken).items()]
    lines += [f"  {named}" for named in tally.named]
    return "\n".join([*lines, f"written to {output}"])
