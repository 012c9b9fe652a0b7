"""The columns of a tape, and their storage: a folder of memory-mapped arrays with a checked table of contents.

Versions are sorted by URL, then by time; `version_start[u] : version_start[u + 1]` are the versions of URL `u`. A URL
shows the newest version at or before now. Link sets are shared: version `v` has the links of set `link_set[v]`.

Columns are checked before use: no index may lead outside an array, and no replay may run forever.
"""

import json
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import xxhash
from numpy.typing import NDArray

from forager.arrays import BoolArray, ByteArray, Float32Array, FloatArray, Int32Array, IntArray, PrintArray
from forager.core.addresses import Forms
from forager.errors import InputError, OutputError
from forager.terms import Kind, Url, UrlId

TYPES = {
    "url_text": "u1",
    "url_start": "i8",
    "url_kind": "u1",
    "version_start": "i8",
    "time": "f8",
    "published": "f8",
    "digest": "u8",
    "text_print": "u8",
    "gone": "b1",
    "seconds": "f4",
    "state": "i4",
    "link_set": "i4",
    "link_start": "i8",
    "links": "i4",
    "states": "f4",
}
IDENTITIES = ("url", "text", "version", "link")
LONGEST = 100 * 366 * 86_400.0
"""Maximum length of a tape in seconds."""


def objection(tape: "Tape") -> str:
    """Why a tape is unusable; empty if it is fine."""
    for name, type in TYPES.items():
        values = getattr(tape, name)
        if values.dtype != np.dtype(type) or values.ndim != (2 if name == "states" else 1):
            return f"{name} is of another type"
    if not (isinstance(tape.origin, str) and isinstance(tape.identity, str) and isinstance(tape.waits, bool)):
        return "its origin or identity is no text"
    if not all(isinstance(seed, int) and 0 <= seed < tape.pages for seed in tape.seeds):
        return "its seeds are no pages of it"
    if tape.identity not in IDENTITIES:
        return f"its documents are told apart by {tape.identity[:20]!r}, not by {', '.join(IDENTITIES)}"
    if not _fits(tape):
        return "its columns do not fit together"
    if not _spans(tape):
        return "its times are out of order"
    try:
        tape.url_text.tobytes().decode()
    except UnicodeDecodeError:
        return "its addresses are no UTF-8"
    return ""


def _fits(tape: "Tape") -> bool:
    per_version = ("published", "digest", "text_print", "gone", "seconds", "state", "link_set")
    return (
        all(len(getattr(tape, name)) == tape.versions for name in per_version)
        and len(tape.url_kind) == tape.pages == len(tape.version_start) - 1
        and _is_index(tape.url_start, len(tape.url_text))
        and _is_index(tape.version_start, tape.versions)
        and _is_index(tape.link_start, len(tape.links))
        and _within(tape.link_set, 0, len(tape.link_start) - 1)
        and _within(tape.links, 0, tape.pages)
        and _within(tape.state, -1, len(tape.states))
        and _within(tape.url_kind, 0, len(Kind))
        and bool(np.isfinite(tape.states).all())
        and ("forms" not in tape.derived or _tells_forms(tape))
    )


def _tells_forms(tape: "Tape") -> bool:
    place, latest = tape.forms
    return (
        place.dtype == np.int64
        and latest.dtype == np.float64
        and place.shape == latest.shape == (tape.pages,)
        and _within(place, 0, tape.pages)
    )


def _spans(tape: "Tape") -> bool:
    """Whether start, end and the times of each page's versions are finite and in order."""
    times = tape.time
    if not all(isinstance(fact, int | float) for fact in (tape.start, tape.end)):
        return False
    if not (abs(tape.start) < np.inf and 0 <= tape.end - tape.start <= LONGEST and np.isfinite(times).all()):
        return False
    falls = np.flatnonzero(np.diff(times) < 0) + 1  # allowed only where another page begins
    return bool(np.isin(falls, tape.version_start).all())


def _is_index(starts: IntArray, total: int) -> bool:
    return bool(len(starts) and starts[0] == 0 and starts[-1] == total and (np.diff(starts) >= 0).all())


def _within(values: NDArray[np.generic], low: int, high: int) -> bool:
    return not values.size or bool(values.min() >= low and values.max() < high)


class AddressForms(NamedTuple):
    """What addresses say of pages, see `core.addresses`: columns that are stored, because to find them takes seconds."""

    place: IntArray
    """The first page of the same form."""
    latest: FloatArray
    """The latest possible time of publication; nan if the address has no date."""


T = TypeVar("T")
FORMAT = 1
CONTENTS = "tape.json"
KINDS = list(Kind)
SETTLING = 3600.0
"""Seconds at the start during which a recording still finds existing pages; what it saw then existed at the start."""


@dataclass(frozen=True, slots=True)
class Tape:
    """All arrays are read-only; times are UTC seconds since the epoch."""

    url_text: ByteArray
    """All URLs, one after the other, in UTF-8."""
    url_start: IntArray
    url_kind: ByteArray
    """Index into `KINDS`."""
    version_start: IntArray
    time: FloatArray
    """When the version appeared, or was first seen."""
    published: FloatArray
    """Its publication date; nan if it has none."""
    digest: PrintArray
    text_print: PrintArray
    gone: BoolArray
    """Whether the page did not exist from this time on."""
    seconds: Float32Array
    """Download time in seconds."""
    state: Int32Array
    """Row in `states`; -1 if it has none."""
    link_set: Int32Array
    link_start: IntArray
    links: Int32Array
    states: Float32Array
    start: float
    end: float
    origin: str
    """What it was made from, as text."""
    identity: str
    """What makes a document new: `url`, `text` or `version`; `link`: an article, read off the first list that shows it."""
    waits: bool = False
    """Whether a link appears on its page only once the page that it leads to exists."""
    seeds: tuple[int, ...] = ()
    """The pages from which the recorded crawl started; none if that is unknown."""
    derived: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Values computed from the columns other than `states`, by name; kept as long as the tape is open."""

    def __repr__(self) -> str:
        days = (self.end - self.start) / 86_400
        size = f"{self.pages:,} pages, {self.versions:,} versions, {self.links.size:,} links"
        return f"<Tape {self.origin}: {size}, {days:.1f} days>"

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """The value that `make` computes from the columns; computed at the first call."""
        if name not in self.derived:
            self.derived[name] = make()
        return cast("T", self.derived[name])

    @property
    def pages(self) -> int:
        return len(self.url_start) - 1

    @property
    def versions(self) -> int:
        return len(self.time)

    def url(self, id: UrlId) -> Url:
        return Url(self.url_text[self.url_start[id] : self.url_start[id + 1]].tobytes().decode())

    def urls(self) -> Iterator[Url]:
        text = self.url_text.tobytes()
        for begin, end in zip(self.url_start[:-1].tolist(), self.url_start[1:].tolist(), strict=True):
            yield Url(text[begin:end].decode(errors="replace"))  # `objection` refuses what is no UTF-8

    @property
    def forms(self) -> "AddressForms":
        """What the addresses say of the pages."""
        return self.once("forms", lambda: AddressForms(*Forms().add(self.urls())))

    def links_of(self, version: int) -> Int32Array:
        chosen = self.link_set[version]
        return self.links[self.link_start[chosen] : self.link_start[chosen + 1]]


_FACTS = ("start", "end", "origin", "identity", "waits", "seeds")
_COLUMNS = [one.name for one in fields(Tape) if one.init and one.name not in _FACTS]


def holds_else(folder: Path) -> bool:
    """Whether a folder holds anything but the files of a tape; a tape may be there in part, if its writer was killed."""
    own = {CONTENTS, *(f"{name}.npy" for name in (*_COLUMNS, *AddressForms._fields))}
    return any(one.name not in own for one in folder.iterdir())


def save(tape: Tape, folder: Path) -> None:
    """Writes the tape; the table of contents comes last, so that a half-written tape is never taken for a complete one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONTENTS).unlink(missing_ok=True)
        columns = {}
        for name, column in ({name: getattr(tape, name) for name in _COLUMNS} | tape.forms._asdict()).items():
            values = np.ascontiguousarray(column)
            np.save(folder / f"{name}.npy", values, allow_pickle=False)
            columns[name] = {"dtype": str(values.dtype), "shape": list(values.shape), "xxh3": _print(values)}
        facts = {name: getattr(tape, name) for name in _FACTS}
        contents = json.dumps({"format": FORMAT, **facts, "columns": columns}, indent=1)
        (folder / CONTENTS).write_text(contents, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder}: cannot write the tape: {error.strerror}") from None


def load_tape(folder: Path, *, check: bool = True) -> Tape:
    """Maps a tape into memory; `check` also reads every column once and compares its fingerprint."""
    try:
        contents = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        if contents["format"] != FORMAT:
            raise InputError(f"{folder}: tape format {contents['format']}, this program reads format {FORMAT}")
        columns: dict[str, Any] = {name: _column(folder, name, contents["columns"][name], check) for name in _COLUMNS}
        facts = {name: contents[name] for name in _FACTS if name in contents}
        tape = Tape(**columns, **facts | {"seeds": tuple(facts.get("seeds", ()))})
        if all(name in contents["columns"] for name in AddressForms._fields):  # earlier versions did not store them
            stored: list[Any] = [
                _column(folder, name, contents["columns"][name], check) for name in AddressForms._fields
            ]
            tape.derived["forms"] = AddressForms(*stored)
    except FileNotFoundError as error:
        missing = Path(error.filename or CONTENTS).name
        raise InputError(f"{folder}: not a tape, or not completely written (no {missing})") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SyntaxError, TokenError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise InputError(f"{folder}: damaged tape: {reason}") from None
    trouble = objection(tape)
    if trouble:
        raise InputError(f"{folder}: damaged tape: {trouble}")
    return tape


def _column(folder: Path, name: str, described: dict[str, object], check: bool) -> NDArray[np.generic]:
    values: NDArray[np.generic] = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    if str(values.dtype) != described["dtype"] or list(values.shape) != described["shape"]:
        raise ValueError(f"{name} is not what the table of contents says")
    if check and _print(values) != described["xxh3"]:
        raise ValueError(f"{name} was altered")
    return values


def _print(values: NDArray[np.generic]) -> str:
    return xxhash.xxh3_64_hexdigest(np.ascontiguousarray(values).data if values.size else b"")
