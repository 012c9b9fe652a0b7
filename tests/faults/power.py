"""Power loss, played: every write to a folder is recorded by strace, and cut off at any point.

What was written and not synced by then may be there, be gone, or be there in part and in any order; names change in order,
as journaling file systems do it. Run as a program this is the writing that is recorded: visits into a store and exchanges
into WARC files, each acknowledged by a line in the file `acknowledged`.
"""

import asyncio
import os
import random
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from forager.store.protocol import Found, Version, Visit
from forager.store.rundir import StoreSettings
from forager.store.store import Store
from forager.terms import Channel, Kind, Outcome, Url
from forager.warc.writer import WarcWriter
from forager.web.web_settings import RecordingSettings

CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,lseek"
ACKNOWLEDGED = "acknowledged"
_LINE = re.compile(r"(\d+\.\d+) (\w+)\((.*)\)\s+= (-?\d+)(?:<([^>]*)>)?")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_OWN = re.compile(r"\d+<((?:\\x[0-9a-f]{2})*)>")


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that changes a file."""

    at: float
    name: str
    path: str
    data: bytes = b""
    number: int = 0
    """The offset, size or flag."""
    other: str = ""


@dataclass(slots=True)
class Image:
    """A file: as it is on the disk for sure, and what may be added to that."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Offset and bytes; None: cut off there."""
    place: int = 0

    def shown(self, keep: "list[bool] | None" = None) -> bytes:
        content = bytearray(self.synced)
        for number, (offset, data) in enumerate(self.pending):
            if keep is None or keep[number]:
                _apply(content, offset, data)
        return bytes(content)

    def sync(self) -> None:
        self.synced, self.pending = bytearray(self.shown()), []


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


class Disk:
    """The files of a folder, as far as the calls have got."""

    def __init__(self) -> None:
        self.files: dict[str, Image] = {}
        self.acknowledged = 0

    def take(self, call: Call) -> None:
        if call.name in ("fsync", "fdatasync") and call.path not in self.files:
            return  # a folder: names are kept in order anyhow
        file = self.files.setdefault(call.path, Image())
        match call.name:
            case "openat":
                file.place = len(file.shown()) if call.number & os.O_APPEND else 0
                if call.number & os.O_TRUNC:
                    file.pending.append((0, None))
            case "write":
                if call.path.endswith(ACKNOWLEDGED):
                    self.acknowledged += 1
                file.pending.append((file.place, call.data))
                file.place += len(call.data)
            case "pwrite64":
                file.pending.append((call.number, call.data))
            case "lseek":
                file.place = call.number
            case "ftruncate":
                file.pending.append((call.number, None))
            case "fsync" | "fdatasync":
                file.sync()
            case "unlink" | "unlinkat":
                del self.files[call.path]
            case _:
                self.files[call.other] = self.files.pop(call.path)

    def put_down(self, target: Path, root: str, rng: random.Random | None, *, keep: bool = False) -> None:
        """Write the files as a loss of power may leave them: unsynced writes lost, kept, or some of each by chance."""
        for path, file in self.files.items():
            if path.endswith("-shm"):  # memory that is shared, not a file
                continue
            kept = [keep if rng is None else rng.random() < 0.5 for _ in file.pending]
            place = target / Path(path).relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.shown(kept))


def recorded(folder: Path, power_safe: bool, visits: int) -> list[Call]:
    """Every call of the writing below that changes a file of the folder, in order."""
    trace = folder / "trace"
    command = ["strace", "-ff", "-ttt", "-y", "-xx", "-s", "100000000", "-e", f"trace={CALLS}", "-e", "signal=none"]
    script = [sys.executable, "-m", "tests.faults.power", str(folder / "run"), str(int(power_safe)), str(visits)]
    subprocess.run([*command, "-o", str(trace), *script], check=True, cwd=Path(__file__).parents[2])
    calls = [call for path in folder.glob("trace.*") for call in _calls(path, str(folder / "run"))]
    return sorted(calls, key=lambda call: call.at)


def _calls(trace: Path, root: str) -> list[Call]:
    found = []
    for line in trace.read_text(encoding="ascii").splitlines():
        match = _LINE.match(line)
        if match is None or int(match[4]) < 0:
            continue
        call = _call(float(match[1]), match[2], match[3], int(match[4]), match[5] or "")
        if call is not None and call.path.startswith(root):
            found.append(call)
    return found


def _call(at: float, name: str, words: str, result: int, opened: str) -> Call | None:
    texts = [_bytes(text) for text in _TEXT.findall(words)]
    own = _OWN.match(words)
    path = _bytes(own[1]).decode() if own else ""
    if name == "openat":
        flags = sum(getattr(os, flag) for flag in ("O_APPEND", "O_TRUNC") if flag in words)
        written = any(flag in words for flag in ("O_WRONLY", "O_RDWR"))
        return Call(at, name, _bytes(opened).decode(), number=flags) if written else None
    if name.startswith(("rename", "unlink")):
        names = [text.decode() for text in texts]
        return Call(at, name, names[0], other=names[-1])
    if name == "pwrite64":
        return Call(at, name, path, texts[0], int(words.rpartition(",")[2]))
    if name == "ftruncate":
        return Call(at, name, path, number=int(words.rpartition(",")[2]))
    return Call(at, name, path, texts[0] if name == "write" else b"", result)


def _bytes(hexed: str) -> bytes:
    return bytes.fromhex(hexed.replace("\\x", ""))


async def _write(run: Path, power_safe: bool, visits: int) -> None:
    from tests.warc.test_warc_writing import AGENT, exchange

    store = await Store.open(run, StoreSettings(power_safe=power_safe))
    writer = WarcWriter(run / "warc", RecordingSettings(max_size=20_000), AGENT, {})
    done = os.open(run / ACKNOWLEDGED, os.O_CREAT | os.O_WRONLY)
    for number in range(visits):
        url = Url(f"http://a.example/{number}")
        (id,) = await store.put([Found(url, Channel.LINK, 1.0)])
        text = random.Random(number).randbytes(1500).hex()
        version = Version(Kind.ARTICLE, number, number, 0, f"page {number}", text)
        store.note_host("a.example", b"%d" % number)
        await store.ack(Visit(id, 2.0 + number, Outcome.FETCHED, 200, version=version))
        os.write(done, b"x")
        writer.write([exchange(url, text.encode(), 1e9 + number)])
    writer.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(_write(Path(sys.argv[1]), bool(int(sys.argv[2])), int(sys.argv[3])))
