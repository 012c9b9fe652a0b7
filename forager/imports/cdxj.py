"""CDXJ: capture indexes whose lines are a sorted key, a time and a JSON object: `org,example)/ 20260302000000 {…}`."""

from collections.abc import Iterator, Set
from urllib.parse import quote

import msgspec
import numpy as np
import pyarrow as pa

from forager.imports.captures import Captures
from forager.imports.cdx import RECORDED, file_name, shows
from forager.imports.lines import Block
from forager.imports.tally import Tally
from forager.imports.times import stamps
from forager.imports.values import prints

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
