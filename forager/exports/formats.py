"""The formats by the suffix of the file."""

from pathlib import Path

from forager.errors import OutputError
from forager.exports.atom import AtomFeed
from forager.exports.csv_table import CsvTable
from forager.exports.json_lines import JsonLines
from forager.exports.lines import LineWriter
from forager.exports.parquet import ParquetFile
from forager.exports.places import InPlace, Place, Replacing, StandardOutput
from forager.exports.protocol import Mode, Writer

NEWEST = 100
"""Stories in a feed (ours)."""


def writer_for(target: str | Path, mode: Mode, *, newest: int = NEWEST) -> Writer:
    """The writer for a file name, or for JSON lines on standard output if it is `-`; a feed holds the `newest`."""
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
    raise OutputError(f"{target}: no known format; name it .jsonl, .csv, .parquet, .xml or .atom, or - for JSON lines")


def _place(path: Path, mode: Mode) -> Place:
    is_device = path.exists() and not path.is_file()  # a pipe can be written, but nothing can take its place
    if mode is Mode.REPLACE and not is_device:
        return Replacing(path)
    return InPlace(path, keep=mode is Mode.APPEND)
