"""WACZ 1.1.1: recordings with index and page list in one zip file, as replay tools in the browser read them.

Packing stores the WARC files unchanged. Unpacking trusts nothing: it checks names, sizes, ratios, links and digests,
and writes only the WARC files, under plain names, into the target directory.
"""

import hashlib
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from forager import __version__
from forager.errors import InputError, OutputError
from forager.warc.index import lines_of, merged_index, read_line
from forager.warc.records import warc_date, warc_moment
from forager.warc.writer import index_name, warcs_in

WACZ_VERSION = "1.1.1"
UNPACK_LIMIT = 20_000_000_000
"""Maximum number of bytes unpacked from a WACZ."""

_MOST_MEMBERS = 100_000
_RATIO = 200  # deflate reaches 1032 on nothing but zeros; WARC text stays far below
_JSON_LIMIT = 16_000_000
_WARC = re.compile(r"[A-Za-z0-9][\w.+-]{0,200}\.warc(\.gz|\.zst)?", re.ASCII)
_HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
_BLOCK = 2**20
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, ValueError)


def pack_wacz(directory: Path, target: Path, *, now: float, title: str = "") -> int:
    """Packs the closed WARC files of a directory, with a list of every HTML page. Returns the file count."""
    warcs = [path for path in warcs_in(directory) if index_name(path).exists() and not path.name.endswith(".open")]
    if not warcs:
        raise InputError(f"{directory}: no closed WARC files with an index here; name the warc directory of a crawl")
    indexes = [index_name(path) for path in warcs]
    part = target.with_name(target.name + ".part")
    try:
        part.unlink(missing_ok=True)
        with zipfile.ZipFile(part, "x", zipfile.ZIP_DEFLATED) as wacz:
            packing = _Packing(wacz)
            for path in warcs:
                with path.open("rb") as file:
                    packing.add(f"archive/{path.name}", _blocks(file), compress=False)
            packing.add("indexes/index.cdxj", (f"{line}\n".encode() for line in merged_index(indexes)))
            packing.add("pages/pages.jsonl", _page_lines(indexes))
            packing.finish(title, now)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(f"{target}: cannot be written ({error.strerror}); choose another place") from error
    return len(warcs)


class _Packing:
    """Adds members and lists them for the data package."""

    def __init__(self, wacz: zipfile.ZipFile) -> None:
        self._wacz = wacz
        self._resources: list[dict[str, object]] = []

    def add(self, name: str, blocks: Iterable[bytes], *, compress: bool = True) -> str:
        """Adds a member; returns its digest."""
        entry = zipfile.ZipInfo(name)  # with zip's earliest date: the same recording gives the same file
        entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        entry.external_attr = 0o644 << 16
        with self._wacz.open(entry, "w", force_zip64=True) as member:
            digest, size = _copy(blocks, member)
        self._resources.append({"name": PurePosixPath(name).name, "path": name, "hash": digest, "bytes": size})
        return digest

    def finish(self, title: str, now: float) -> None:
        package = {
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "software": f"Forager/{__version__}",
            "created": warc_date(now)[:19] + "Z",
            **({"title": title} if title else {}),
            "resources": self._resources,
        }
        written = msgspec.json.format(msgspec.json.encode(package), indent=2)
        digest = self.add("datapackage.json", [written])
        self.add("datapackage-digest.json", [msgspec.json.encode({"path": "datapackage.json", "hash": digest})])


def _page_lines(indexes: Iterable[Path]) -> Iterator[bytes]:
    """Yields every HTML page in some indexes, once, with its first capture."""
    yield msgspec.json.encode(_HEADER) + b"\n"
    seen = set[str]()
    for line in (line for index in indexes for line in map(read_line, lines_of(index)) if line is not None):
        if line.mime in ("text/html", "application/xhtml+xml") and line.status == "200" and line.url not in seen:
            when = warc_date(warc_moment(line.stamp) or 0.0)[:19] + "Z"
            yield msgspec.json.encode({"id": str(len(seen)), "url": line.url, "ts": when}) + b"\n"
            seen.add(line.url)


def unpack_wacz(source: Path, target: Path, limit: int = UNPACK_LIMIT) -> list[Path]:
    """Writes the WARC files of a WACZ, and nothing else, into a directory, which it creates if needed."""
    try:
        with zipfile.ZipFile(source) as wacz:
            chosen = _checked(source, wacz, limit)
            digests = _digests(source, wacz)
            target.mkdir(parents=True, exist_ok=True)
            return [_extract(source, wacz, entry, target, digests.get(entry.filename, "")) for entry in chosen]
    except _BAD_ZIP as error:
        raise InputError(f"{source}: not a WACZ that can be read ({error}); get it again") from None
    except OSError as error:
        raise InputError(f"{source}: cannot be unpacked into {target} ({error.strerror or error})") from None


def _checked(source: Path, wacz: zipfile.ZipFile, limit: int) -> list[zipfile.ZipInfo]:
    """Returns the members to unpack, after every check that needs no reading."""
    entries = wacz.infolist()
    if len(entries) > _MOST_MEMBERS:
        raise InputError(f"{source}: {len(entries)} members, more than {_MOST_MEMBERS}; this is no recording")
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or any(":" in part for part in path.parts[:1]):
            raise InputError(f"{source}: a member named {entry.filename!r} points outside; do not use this file")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise InputError(f"{source}: member {entry.filename!r} is a link; do not use this file")
    chosen = [
        e for e in entries if e.filename.startswith("archive/") and _WARC.fullmatch(PurePosixPath(e.filename).name)
    ]
    names = [PurePosixPath(entry.filename).name for entry in chosen]
    if not chosen:
        raise InputError(f"{source}: no WARC files in it; name a WACZ")
    if len(set(names)) < len(names):
        raise InputError(f"{source}: two members have the same name; do not use this file")
    if sum(entry.file_size for entry in chosen) > limit:
        raise InputError(f"{source}: would unpack to more than {limit} bytes; unpack it by hand if you trust it")
    for entry in chosen:
        if entry.file_size > _RATIO * max(entry.compress_size, _BLOCK // _RATIO):
            raise InputError(f"{source}: member {entry.filename!r} grows absurdly when unpacked; do not use this file")
    return chosen


def _digests(source: Path, wacz: zipfile.ZipFile) -> dict[str, str]:
    """SHA-256 of the members by path, as far as the data package has them."""
    try:
        entry = wacz.getinfo("datapackage.json")
    except KeyError:
        return {}
    if entry.file_size > _JSON_LIMIT:
        raise InputError(f"{source}: datapackage.json is absurdly long; do not use this file")
    with wacz.open(entry) as member:
        package = msgspec.json.decode(member.read(_JSON_LIMIT))
    resources = package.get("resources") if isinstance(package, dict) else None
    said = [item for item in resources if isinstance(item, dict)] if isinstance(resources, list) else []
    return {str(item.get("path")): str(item.get("hash", "")) for item in said}


def _extract(source: Path, wacz: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, digest: str) -> Path:
    """Writes a member under its plain name; deletes the file if it turns out damaged."""
    path = target / PurePosixPath(entry.filename).name
    try:
        with wacz.open(entry) as member, path.open("xb") as file:
            found, _ = _copy(_blocks(member), file)
    except FileExistsError:
        raise InputError(f"{path}: exists already; choose an empty directory") from None
    except _BAD_ZIP:
        path.unlink(missing_ok=True)
        raise
    if digest.startswith("sha256:") and digest != found:
        path.unlink()
        raise InputError(f"{source}: member {entry.filename!r} is damaged (its digest is wrong); get the file again")
    return path


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yields what a file holds; zipfile itself never returns more than the declared size."""
    return iter(lambda: file.read(_BLOCK), b"")


def _copy(blocks: Iterable[bytes], file: IO[bytes]) -> tuple[str, int]:
    """Writes the blocks; their SHA-256 and size."""
    digest, size = hashlib.sha256(), 0
    for block in blocks:
        file.write(block)
        digest.update(block)
        size += len(block)
    return f"sha256:{digest.hexdigest()}", size
