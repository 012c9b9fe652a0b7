"""Capture indexes, CDX and CDXJ.

CDX lines have 7 (CDX server), 9, 10 or 11 fields, or those that their header names. The header
` CDX N b a m s k r M S V g` names the fields by letters: N sorted key, b time, a URL, m MIME type, s status, k digest,
r redirect, M robot flags, S size, V offset, g file.

CDXJ lines are a sorted key, a time and a JSON object: `org,example)/ 20260302000000 {…}`.
"""

from collections.abc import Iterator, Set
from io import BytesIO
from urllib.parse import quote

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from forager.importers.captures import Captures
from forager.importers.streams import Block, Tally
from forager.importers.times import stamps
from forager.importers.values import Ids, mapped, prints

_LINE_END, _SPACE = ord("\n"), ord(" ")
FIELDS = {7: "NbamskS", 9: "NbamskrVg", 10: "NbamskrMVg", 11: "NbamskrMSVg"}
"""The letters of an index without a header, by the number of its fields."""


RECORDED = "index of a recording read too"


class CdxReader:
    """Reads the blocks of one index, from the first on; a header anywhere changes the fields from there.

    What an index says of the recordings that are read `beside` it (by name) is left out: they say it themselves, and more.
    """

    def __init__(self, tally: Tally, beside: Set[str] = frozenset()) -> None:
        self._tally, self._beside, self._fields = tally, beside, ""

    def read(self, block: Block) -> Iterator[Captures]:
        for part in _parts(block):
            letters = cdx_header(part.content)
            if letters:
                self._fields = letters
                part = _without_first(part)
            if not self._fields:
                self._fields = _counted(part)
            if part.content and self._fields:
                yield self._captures(part)

    def _captures(self, block: Block) -> Captures:
        table, line = self._without_known(*_split(block, self._fields, self._tally))
        missing = pa.nulls(len(line), pa.binary())
        column = {letter: table.column(letter).combine_chunks() for letter in table.column_names}
        url, time = column.get("a", missing), column.get("b", missing)
        status = statuses(column.get("s", missing))
        digest = prints(column.get("k", missing))
        digest[status == 304] = 0
        chosen = np.flatnonzero(shows(status, self._tally))
        places = pa.array(chosen)
        return Captures(
            block.place,
            line[chosen],
            url.take(places),
            stamps(time.take(places)),
            digest[chosen],
            (status // 100 == 4)[chosen],
            time.take(places),
        )

    def _without_known(self, table: pa.Table, line: Ids) -> tuple[pa.Table, Ids]:
        if not self._beside or "g" not in table.column_names:
            return table, line
        files = table.column("g").combine_chunks()
        known = mapped(files, lambda raw: file_name(raw.decode("utf-8", "replace")) in self._beside, False, np.bool_)
        self._tally.left_out[RECORDED] += int(known.sum())
        return table.filter(pa.array(~known)), line[~known]


def file_name(place: str) -> str:
    """How a file is called, wherever it lies."""
    return place.replace("\\", "/").rpartition("/")[2]


def cdx_header(content: bytes) -> str:
    """The letters of the header that the content begins with; empty if there is none."""
    first = content.partition(b"\n")[0]
    words = first.split()
    if len(words) < 4 or words[0] != b"CDX" or not all(len(word) == 1 and word.isalpha() for word in words[1:]):
        return ""
    letters = b"".join(words[1:]).decode("ascii")
    return letters if "a" in letters and "b" in letters else ""


def _parts(block: Block) -> Iterator[Block]:
    """The block, cut before each header (as when indexes were joined end to end)."""
    begin, line = 0, block.first
    while True:
        mark = block.content.find(b"\n CDX ", begin)
        if mark < 0:
            yield Block(block.content[begin:], block.place, line)
            return
        part = block.content[begin : mark + 1]
        yield Block(part, block.place, line)
        begin, line = mark + 1, line + part.count(b"\n")


def _without_first(block: Block) -> Block:
    return Block(block.content.partition(b"\n")[2], block.place, block.first + 1)


def _counted(block: Block) -> str:
    """The fields by the first line that has a known number of them."""
    for _, line in block.lines():
        fields = FIELDS.get(line.count(b" ") + 1)
        if fields:
            return fields
    return FIELDS[11]


def _split(block: Block, fields: str, tally: Tally) -> tuple[pa.Table, Ids]:
    """The fields of each line with the right number of them, and the numbers of these lines."""
    content, line = _sound_lines(block, len(fields), tally)
    # of two fields with one letter the last counts: wget writes the URL twice
    names = [letter if fields.rindex(letter) == at else str(at) for at, letter in enumerate(fields)]
    table = pyarrow.csv.read_csv(
        BytesIO(content or b"\n"),
        read_options=pyarrow.csv.ReadOptions(use_threads=False, column_names=names, block_size=len(content) + 1),
        parse_options=pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.binary()), include_columns=[name for name in names if name in "baskg"]
        ),
    )
    return table, line


def _sound_lines(block: Block, fields: int, tally: Tally) -> tuple[bytes, Ids]:
    """The lines with so many fields, as bytes, and their numbers; empty lines are dropped, others counted."""
    content = block.content
    if b"\r" in content:  # Arrow ends a line at every one of them
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\xff")
    codes = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(codes == _LINE_END)
    if not len(ends) or ends[-1] != len(codes) - 1:
        ends = np.append(ends, len(codes))
    spaces = np.searchsorted(np.flatnonzero(codes == _SPACE), ends)
    wrong = np.flatnonzero(np.diff(spaces, prepend=0) != fields - 1)
    number = np.arange(block.first, block.first + len(ends))
    if not len(wrong):
        return content, number
    lines = content.split(b"\n")
    for place in wrong.tolist():
        if lines[place].strip():
            tally.note("wrong number of fields", block.place, block.first + place, lines[place])
        lines[place] = b""
    kept = np.delete(number, wrong)
    return b"\n".join(line for line in lines if line), kept


def statuses(column: pa.Array) -> NDArray[np.int64]:
    """HTTP statuses; 0 where none is said."""
    return mapped(column, lambda one: int(one) if one.isdigit() and len(one) == 3 else 0, 0, np.int64)


def shows(status: NDArray[np.int64], tally: Tally) -> NDArray[np.bool_]:
    """Whether a capture shows a version of its page, or that it is gone; redirects and failures are only counted."""
    redirect = (status // 100 == 3) & (status != 304)
    failed = np.isin(status // 100, (1, 5)) | (status == 429)
    tally.left_out["redirect"] += int(redirect.sum())
    tally.left_out["failed request"] += int(failed.sum())
    return np.asarray(~redirect & ~failed)


COMMENTS = (b"!", b"@", b"#", b" CDXJ", b" !")
"""How lines begin that speak about the index itself."""


class _Fields(msgspec.Struct):
    url: str = ""
    status: str | int | None = None
    digest: str | None = None
    filename: str | None = None


_DECODE = msgspec.json.Decoder(_Fields).decode


def read_cdxj(block: Block, tally: Tally, beside: Set[str] = frozenset()) -> Iterator[Captures]:
    """The captures of a block, but for those in recordings that are read `beside` it; broken lines are counted."""
    lines: list[int] = []
    urls: list[str] = []
    times: list[bytes] = []
    digests: list[str | None] = []
    codes: list[int] = []
    for number, line in block.lines():
        if line.startswith(COMMENTS):
            continue
        key, _, rest = line.partition(b" ")
        time, _, body = rest.partition(b" ")
        try:
            fields = _DECODE(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            tally.note("not a CDXJ line", block.place, number, line)
            continue
        if beside and file_name(fields.filename or "") in beside:
            tally.left_out[RECORDED] += 1
            continue
        lines.append(number)
        urls.append(fields.url or unsurt(key.decode("utf-8", "replace")))
        times.append(time)
        digests.append(fields.digest)
        codes.append(_code(fields.status))
    status = np.asarray(codes, np.int64)
    digest = prints(pa.array(digests, pa.string()))
    digest[status == 304] = 0
    chosen = np.flatnonzero(shows(status, tally))
    said = pa.array(times, pa.binary()).take(pa.array(chosen))
    yield Captures(
        block.place,
        np.asarray(lines, np.int64)[chosen],
        pa.array(urls, pa.string()).take(pa.array(chosen)),
        stamps(said),
        digest[chosen],
        (status // 100 == 4)[chosen],
        said,
    )


def _code(status: str | int | None) -> int:
    if isinstance(status, int):
        return status if 100 <= status <= 599 else 0
    return int(status) if status is not None and len(status) == 3 and status.isascii() and status.isdigit() else 0


def unsurt(key: str) -> str:
    """A URL for a sorted key (`org,example,www)/path?x=1`), where an index holds no more; the scheme is a guess."""
    key = key.removeprefix("http://(").removeprefix("https://(")
    names, found, path = key.partition(")")
    if not found:
        return ""
    names, _, port = names.partition(":")
    host = ".".join(reversed(names.strip(",").split(",")))
    return f"http://{host}{':' + port if port else ''}{quote(path, safe='/?&=%~+;:@!$*(),.-_') or '/'}"
