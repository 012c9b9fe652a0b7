"""The formats by the suffix of the file, or by the scheme of an address; those of other packages by their entry points."""

from collections.abc import Callable
from pathlib import Path

from forager.errors import OutputError
from forager.output.atom import AtomFeed
from forager.output.destinations import Destination, InPlace, Replacing, StandardOutput
from forager.output.lines import CsvTable, JsonLines, LineWriter
from forager.output.outlet import Mode, StoryWriter
from forager.output.parquet import ParquetFile
from forager.plugins import OUTLETS, load_plugin

NEWEST = 100
"""Stories in a feed (ours)."""


def writer_for(target: str | Path, mode: Mode, *, newest: int = NEWEST) -> StoryWriter:
    """The writer for a file name, or for JSON lines on standard output if it is `-`; a feed holds the `newest`.

    Any other suffix (`stories.feather`) or scheme (`kafka://host/topic`) is looked up among the entry points
    `forager.outlets`: each is called with the target as it was written and the mode, and gives a `Writer`.
    """
    if str(target) == "-":
        return LineWriter(StandardOutput(), JsonLines())
    path = Path(target)
    match path.suffix.lower():
        case ".jsonl":
            return LineWriter(_place(path, mode), JsonLines())
        case ".csv":
            return LineWriter(_place(path, mode), CsvTable())
        case ".parquet":
            return ParquetFile(path, mode)
        case ".xml" | ".atom":
            return AtomFeed(path, mode, newest)
    make: Callable[[str, Mode], StoryWriter] | None = load_plugin(OUTLETS, _plugin_name(str(target)))
    if make is not None:
        return make(str(target), mode)
    raise OutputError(f"{target}: no known format; name it .jsonl, .csv, .parquet, .xml or .atom, or - for JSON lines")


def _plugin_name(target: str) -> str:
    """Under what name an outlet for this target is offered."""
    scheme, found, _ = target.partition("://")
    return (scheme if found else Path(target).suffix.removeprefix(".")).lower()


def _place(path: Path, mode: Mode) -> Destination:
    is_device = path.exists() and not path.is_file()  # a pipe can be written, but nothing can take its place
    if mode is Mode.REPLACE and not is_device:
        return Replacing(path)
    return InPlace(path, keep=mode is Mode.APPEND)
