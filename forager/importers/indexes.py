"""Capture indexes: CDX, CDXJ and Memento TimeMaps. They tell when a URL was captured, and mostly by a digest what it showed.

CDX lines have 7 (CDX server), 9, 10 or 11 fields, or those that their header names. The header
` CDX N b a m s k r M S V g` names the fields by letters: N sorted key, b time, a URL, m MIME type, s status, k digest,
r redirect, M robot flags, S size, V offset, g file.

CDXJ lines are a sorted key, a time and a JSON object: `org,example)/ 20260302000000 {…}`.

TimeMaps (RFC 7089, section 5) come as link format or JSON. They do not tell whether a memento differs from the one before
it: each counts as a version. The JSON forms are the one of MemGator (`original_uri`, `mementos.list`) and the table of the CDX
server (an array of rows, the first with names).
"""

import re
from collections.abc import Iterator, Sequence, Set
from io import BytesIO
from urllib.parse import quote

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv

from forager.arrays import IntArray
from forager.importers.collector import Captures
from forager.importers.streams import Block, ByteStream, ImportTally
from forager.importers.table_columns import believed, http_moment, mapped, prints, stamps

_LINE_END, _SPACE = ord("\n"), ord(" ")
FIELDS = {7: "NbamskS", 9: "NbamskrVg", 10: "NbamskrMVg", 11: "NbamskrMSVg"}
"""The letters of an index without a header, by the number of its fields."""
COMMENTS = (b"!", b"@", b"#", b" CDXJ", b" !")
"""How lines of CDXJ begin that speak about the index itself."""
_RECORDED = "index of a recording read too"


class CdxReader:
    """Reads the blocks of one index in order; a header anywhere changes the fields from there on.

    Entries for recordings that are read `beside` the index (by name) are left out, because those recordings say more.
    """

    def __init__(self, tally: ImportTally, beside: Set[str] = frozenset()) -> None:
        self._tally, self._beside, self._fields = tally, beside, ""

    def read(self, block: Block) -> Iterator[Captures]:
        for part in _parts(block):
            letters = cdx_header(part.content)
            if letters:
                self._fields = letters
                part = Block(part.content.partition(b"\n")[2], part.place, part.first + 1)
            if not self._fields:
                self._fields = _counted(part)
            if part.content and self._fields:
                yield self._captures(part)

    def _captures(self, block: Block) -> Captures:
        table, line = self._without_known(*_split(block, self._fields, self._tally))
        missing = pa.nulls(len(line), pa.binary())
        column = {letter: table.column(letter).combine_chunks() for letter in table.column_names}
        url, time, status, digest = (column.get(letter, missing) for letter in "absk")
        return _shown(block.place, line, url, time, digest, status, self._tally)

    def _without_known(self, table: pa.Table, line: IntArray) -> tuple[pa.Table, IntArray]:
        if not self._beside or "g" not in table.column_names:
            return table, line
        files = table.column("g").combine_chunks()
        known = mapped(files, lambda raw: file_name(raw.decode("utf-8", "replace")) in self._beside, False, np.bool_)
        self._tally.left_out[_RECORDED] += int(known.sum())
        return table.filter(pa.array(~known)), line[~known]


def file_name(place: str) -> str:
    """Returns the name of a file without its folder."""
    return place.replace("\\", "/").rpartition("/")[2]


def cdx_header(content: bytes) -> str:
    """Returns the letters of the header that the content begins with; empty if there is none."""
    first = content.partition(b"\n")[0]
    words = first.split()
    if len(words) < 4 or words[0] != b"CDX" or not all(len(word) == 1 and word.isalpha() for word in words[1:]):
        return ""
    letters = b"".join(words[1:]).decode("ascii")
    return letters if "a" in letters and "b" in letters else ""


def _parts(block: Block) -> Iterator[Block]:
    """Cuts the block before each header, because joined indexes have several."""
    begin, line = 0, block.first
    while True:
        mark = block.content.find(b"\n CDX ", begin)
        if mark < 0:
            yield Block(block.content[begin:], block.place, line)
            return
        part = block.content[begin : mark + 1]
        yield Block(part, block.place, line)
        begin, line = mark + 1, line + part.count(b"\n")


def _counted(block: Block) -> str:
    """Returns the fields, judged by the first line that has a known number of them."""
    known = (FIELDS.get(line.count(b" ") + 1) for _, line in block.lines())
    return next(filter(None, known), FIELDS[11])


def _split(block: Block, fields: str, tally: ImportTally) -> tuple[pa.Table, IntArray]:
    """Returns the fields of each line with the right number of fields, and the numbers of these lines."""
    content, line = _sound_lines(block, len(fields), tally)
    # if a letter occurs twice, the last field counts: wget writes the URL twice
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


def _sound_lines(block: Block, fields: int, tally: ImportTally) -> tuple[bytes, IntArray]:
    """Returns the lines with this many fields, as bytes, and their numbers; drops empty lines, counts others."""
    content = block.content
    if b"\r" in content:  # Arrow ends a line at every carriage return
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
    return b"\n".join(line for line in lines if line), np.delete(number, wrong)


def _shown(
    place: str, line: IntArray, url: pa.Array, time: pa.Array, digest: pa.Array, status: pa.Array, tally: ImportTally
) -> Captures:
    """Returns the captures that show a version of their page, or that it is gone; counts redirects and failures."""
    code = mapped(status, lambda one: int(one) if one.isdigit() and len(one) == 3 else 0, 0, np.int64)
    redirect = (code // 100 == 3) & (code != 304)
    failed = np.isin(code // 100, (1, 5)) | (code == 429)
    tally.left_out["redirect"] += int(redirect.sum())
    tally.left_out["failed request"] += int(failed.sum())
    content = prints(digest)
    content[code == 304] = 0
    chosen = np.flatnonzero(~redirect & ~failed)
    said = time.take(pa.array(chosen))
    urls = url.take(pa.array(chosen))
    return Captures(place, line[chosen], urls, stamps(said), content[chosen], (code // 100 == 4)[chosen], said)


class _Fields(msgspec.Struct):
    url: str = ""
    status: str | int | None = None
    digest: str | None = None
    filename: str | None = None


_decode_fields = msgspec.json.Decoder(_Fields).decode


def read_cdxj(block: Block, tally: ImportTally, beside: Set[str] = frozenset()) -> Iterator[Captures]:
    """Yields the captures of a block, without those in recordings that are read `beside` it; counts broken lines."""
    rows: list[tuple[int, str, bytes, str | None, str]] = []
    for number, line in block.lines():
        if line.startswith(COMMENTS):
            continue
        key, _, rest = line.partition(b" ")
        time, _, body = rest.partition(b" ")
        try:
            fields = _decode_fields(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            tally.note("not a CDXJ line", block.place, number, line)
            continue
        if beside and file_name(fields.filename or "") in beside:
            tally.left_out[_RECORDED] += 1
            continue
        url = fields.url or unsurt(key.decode("utf-8", "replace"))
        rows.append((number, url, time, fields.digest, str(fields.status)))
    lines, urls, times, digests, codes = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    yield _shown(
        block.place,
        np.asarray(lines, np.int64),
        pa.array(urls, pa.string()),
        pa.array(times, pa.binary()),
        pa.array(digests, pa.string()),
        pa.array(codes, pa.string()),
        tally,
    )


def unsurt(key: str) -> str:
    """Makes a URL from a sorted key (`org,example,www)/path?x=1`), for an index that has only the key; the scheme is a
    guess.
    """
    key = key.removeprefix("http://(").removeprefix("https://(")
    names, found, path = key.partition(")")
    if not found:
        return ""
    names, _, port = names.partition(":")
    host = ".".join(reversed(names.strip(",").split(",")))
    return f"http://{host}{':' + port if port else ''}{quote(path, safe='/?&=%~+;:@!$*(),.-_') or '/'}"


_LONGEST = 64 << 20
"""Bytes; a JSON TimeMap cannot be read piece by piece, so a longer one is refused."""
_LINK = re.compile(rb"<([^<>\s]{1,8000})>([^<]*)")
_RELATION = re.compile(rb"""\brel\s*=\s*(?:"([^"]*)"|([\w-]+))""", re.IGNORECASE)
_DATETIME = re.compile(rb"""\bdatetime\s*=\s*"([^"]*)\"""", re.IGNORECASE)
_WITHIN = re.compile(rb"/\d{4,14}(?:[a-z]{2}_)?/(https?:/.*)", re.DOTALL)
_PIECE = 1 << 20


class _Memento(msgspec.Struct):
    datetime: str
    uri: str = ""


class _Mementos(msgspec.Struct):
    list: list[_Memento]


class _TimeMap(msgspec.Struct):
    original_uri: str
    mementos: _Mementos


_ServerRow = list[str | int | None]
_decode_timemap = msgspec.json.Decoder(_TimeMap | list[_ServerRow]).decode


def read_link_timemap(stream: ByteStream, tally: ImportTally) -> Iterator[Captures]:
    """Yields the mementos of one TimeMap, or of several joined ones, piece by piece."""
    original, kept, line = b"", b"", 1
    while piece := stream.read(_PIECE):
        content = kept + piece
        cut = max(content.rfind(b"<"), 0)
        captures, original = _linked_mementos(content[:cut], stream.source.name, line, tally, original)
        yield captures
        line += content.count(b"\n", 0, cut)
        kept = content[cut:]
        if len(kept) > _PIECE:
            tally.note("link too long", stream.source.name, line, kept[:40])
            kept = b""
    yield _linked_mementos(kept, stream.source.name, line, tally, original)[0]


def _linked_mementos(
    content: bytes, place: str, line: int, tally: ImportTally, original: bytes
) -> tuple[Captures, bytes]:
    """Returns the mementos in complete links, and the URL that the following links are about."""
    rows: list[tuple[int, bytes, bytes, bytes]] = []
    at = 0
    for link in _LINK.finditer(content):
        line, at = line + content.count(b"\n", at, link.start()), link.start()
        found = _RELATION.search(link[2])
        relations = (found[1] or found[2] or b"").lower().split() if found else []
        if b"original" in relations:
            original = link[1]
        elif b"memento" in relations:
            said, within = _DATETIME.search(link[2]), _WITHIN.search(link[1])
            rows.append((line, original or (within[1] if within else b""), said[1] if said else b"", link[1]))
        elif not relations:
            tally.note("link without rel", place, line, link[0])
    return _mementos(place, rows), original


def _mementos(place: str, rows: Sequence[tuple[int, bytes, bytes, bytes]]) -> Captures:
    """Makes captures from line, URL, time as written, and what distinguishes the content."""
    lines, urls, times, contents = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Captures(
        place,
        np.asarray(lines, np.int64),
        pa.array(urls, pa.binary()),
        believed(np.asarray([http_moment(time.decode("utf-8", "replace")) for time in times], np.float64)),
        prints(pa.array(contents, pa.binary())),
        np.zeros(len(lines), np.bool_),
        pa.array(times, pa.binary()),
    )


def read_json_timemap(stream: ByteStream, tally: ImportTally) -> Iterator[Captures]:
    """Yields the mementos of a JSON TimeMap."""
    place = stream.source.name
    content = stream.filled(_LONGEST + 1)
    if len(content) > _LONGEST:
        tally.note("JSON TimeMap too long", place)
        return
    try:
        found = _decode_timemap(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        tally.note("not a JSON TimeMap", place, shown=error)
        return
    if isinstance(found, list):
        yield from _server_rows(found, place, tally)
        return
    original = _encoded(found.original_uri)
    texts = [(_encoded(memento.datetime), _encoded(memento.uri)) for memento in found.mementos.list]
    yield _mementos(place, [(line, original, time, uri or time) for line, (time, uri) in enumerate(texts, 1)])


def _server_rows(rows: list[_ServerRow], place: str, tally: ImportTally) -> Iterator[Captures]:
    """Reads the rows of a CDX server; the first names the columns."""
    names = [str(name) for name in rows[0]] if rows else []
    if not {"timestamp", "original"} <= set(names):
        tally.note("not a JSON TimeMap", place, shown="its first row must name timestamp and original")
        return
    sound = [(number, row) for number, row in enumerate(rows[1:], 2) if len(row) == len(names)]
    if len(sound) < len(rows) - 1:
        tally.note("wrong number of fields", place, count=len(rows) - 1 - len(sound))

    def column(name: str) -> pa.Array:
        at = names.index(name) if name in names else None
        texts = [None if at is None or row[at] is None else _encoded(str(row[at])) for _, row in sound]
        return pa.array(texts, pa.binary())

    lines = np.asarray([number for number, _ in sound], np.int64)
    time, digest = column("timestamp"), column("digest" if "digest" in names else "timestamp")
    yield _shown(place, lines, column("original"), time, digest, column("statuscode"), tally)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
