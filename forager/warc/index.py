"""The index beside a recording: one line per capture, `key timestamp {json}`, sorted, as replay tools read it.

Keys are URLs in the sort order of web archives: `com,example)/news?a=1`. The host is reversed, so that all pages of a
site and its subdomains are together. Scheme, `www`, user, default port, fragment, case, dots and a final slash are
dropped and the query is sorted, so that different spellings of one page share a key. Long session ids are removed too.
"""

import heapq
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

_WWW = re.compile(r"www\d*\.")
_SESSION = re.compile(r"(^|&)(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24})(?:&|$)")
_DEFAULT = {"http": "80", "https": "443"}
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!$&'()*+,-./:;<=>?@[]^_`{|}~\"\\")


def surt(url: str) -> str:
    """Makes the key of a URL; anything else is its own key, in lower case and without blanks."""
    try:
        parts = urlsplit(url.strip())
        host, _, port = parts.netloc.rpartition("@")[2].lower().partition(":")
        if host.startswith("["):
            host, _, port = parts.netloc.rpartition("@")[2].lower().removeprefix("[").replace("]", "").rpartition(":")
    except ValueError:
        host = ""
    if not host:
        return re.sub(r"\s", "", url.lower())
    key = _place(parts.scheme, host, port) + _path(parts.path)
    query = "&".join(sorted(_SESSION.sub(r"\1", _escaped(parts.query).lower()).split("&")))
    return f"{key}?{query}" if query else key


def _place(scheme: str, host: str, port: str) -> str:
    is_said = port and port != _DEFAULT.get(scheme)
    return f"{_turned(host)}:{port})" if is_said else f"{_turned(host)})"


def _turned(host: str) -> str:
    if ":" in host:
        return host  # IPv6
    www = _WWW.match(host)
    return ",".join(reversed(host[www.end() if www else 0 :].rstrip(".").split(".")))


def _path(path: str) -> str:
    parts: list[str] = []
    for part in _escaped(path).lower().split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _escaped(text: str) -> str:
    """Normalizes percent codes: decodes those that are not needed."""
    if "%" not in text and text.isascii() and " " not in text:
        return text
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in unquote_to_bytes(text))


SUFFIX = ".cdxj"

REVISIT = "warc/revisit"
"""Media type in indexes for captures that refer to an earlier body."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """Index entry of a capture; numbers are text, as is usual."""

    url: str
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: str = ""
    offset: str = ""
    filename: str = ""
    stamp: str = msgspec.field(default="", name="timestamp")


def media_type(content_type: str) -> str:
    """Returns the media type in an index, of a Content-Type."""
    return content_type.partition(";")[0].strip().lower().replace(" ", "") or "unk"


_decode = msgspec.json.Decoder(Line).decode


def format_line(line: Line) -> str:
    """Makes an index line without line end; key and timestamp come first."""
    rest = msgspec.json.encode(msgspec.structs.replace(line, stamp=""))
    return f"{surt(line.url)} {line.stamp} {rest.decode()}"


def read_line(text: str) -> Line | None:
    """Parses a line of any CDXJ; None for comments and invalid lines."""
    _, _, rest = text.partition(" ")
    stamp, _, json = rest.partition(" ")
    try:
        return msgspec.structs.replace(_decode(json.encode()), stamp=stamp)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def write_index(path: Path, index: Iterable[str]) -> None:
    """Writes the lines, sorted by their bytes, into a new file: a link in its place would lead elsewhere."""
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in sorted(index))


def lines_of(path: Path) -> Iterator[str]:
    """Yields the lines of an index, without their line ends."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            yield line.rstrip("\n")


def merged_index(paths: Iterable[Path]) -> Iterator[str]:
    return heapq.merge(*map(lines_of, paths))
