"""Commands that are killed at random moments, again and again: what they write is whole or not there, and in the end right."""

import json
import random
import shutil
import signal
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from os import kill
from pathlib import Path

from forager.errors import InputError
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import load_settings
from forager.tape.tape import load_tape, save
from forager.tape.tape_world import TapeClock
from tests.faults.launching import nursery
from tests.newsroom_tape import tape_of_newsroom

LIMIT = 120.0


@dataclass(frozen=True, slots=True)
class Writing:
    """A command, the file or folder it writes, and how to read that: None if it is not there."""

    name: str
    words: Callable[[Path, Path], list[str]]
    output: str
    read: Callable[[Path], object]
    grows: bool = False
    """What stands in it after a kill is the beginning of the whole."""


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _wacz(path: Path) -> object:
    """The members but for those that tell the hour of packing."""
    if not path.exists():
        return None
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return [(one.filename, one.CRC) for one in archive.infolist() if "datapackage" not in one.filename]


def _tape(path: Path) -> object:
    """What a tape holds; a folder without contents is none yet."""
    if not (path / "tape.json").exists():
        return None
    try:
        tape = load_tape(path)
    except InputError:
        return "damaged"
    return tape.pages, tape.versions, tape.links.tobytes(), tape.time.tobytes()


def _function(path: Path) -> object:
    return json.loads(path.read_text())["formula"] if path.exists() else None


def _export(option: str, name: str, read: Callable[[Path], object] = _bytes, *, grows: bool = False) -> Writing:
    return Writing(
        f"export {option} {name}",
        lambda source, out: ["export", str(source / "run"), option, str(out)],
        name,
        read,
        grows,
    )


def _settings(path: Path) -> object:
    """What a settings file sets, and its figures, but for the line that tells the hour; one that is not whole raises."""
    return (load_settings(path).settings, path.read_text().splitlines()[1:]) if path.exists() else None


TUNE = ("--trials", "8", "--budget", "30/h", "--seeds", "2", "--repeats", "1", "--processes", "1", "-q")
LEARN = ("--seeds", "1", "--generations", "6", "--population", "30", "--processes", "1", "--cycle", "1h", "--k", "2")
WRITINGS = (
    _export("-o", "stories.jsonl", grows=True),
    _export("-o", "stories.csv", grows=True),
    _export("-O", "stories.parquet"),
    _export("--wacz", "run.wacz", _wacz),
    Writing("import", lambda source, out: ["import", str(source / "run"), "-O", str(out)], "tape", _tape),
    Writing(
        "learn", lambda source, out: ["learn", str(source / "log.csv"), "-O", str(out), *LEARN], "f.json", _function
    ),
    Writing("tune", lambda source, out: ["tune", str(source / "news"), "-O", str(out), *TUNE], "tuned.yaml", _settings),
)


def write_log(path: Path) -> None:
    """A small change log: 20 pages, looked at every hour for two days."""
    rng = random.Random(1)
    rows = [f"p{page},{hour * 3600},{int(rng.random() < (page + 1) / 25)}" for hour in range(48) for page in range(20)]
    path.write_text("\n".join(["page,time,changed", *rows]) + "\n")


def write_tape(path: Path) -> None:
    """Three days of a small newsroom, to tune on."""
    settings = NewsroomSettings(days=3.0, pace=1.0, page_size=2000)
    save(tape_of_newsroom(Newsroom(settings, TapeClock(settings.start))), path)


def killed(writing: Writing, source: Path, folder: Path, kills: int, seed: int) -> list[str]:
    """Kill the command so often, then let it finish; whatever went wrong, in words."""
    rng, wrong = random.Random(seed), []
    calm, out = folder / "calm" / writing.output, folder / "out" / writing.output
    for place in (calm, out):
        shutil.rmtree(place.parent, ignore_errors=True)
        place.parent.mkdir(parents=True)
    began = time.monotonic()
    _finish(writing, source, calm, folder)
    span, whole = time.monotonic() - began, writing.read(calm)
    assert whole, f"{writing.name} wrote nothing"
    for number in range(kills):
        process = nursery().start(writing.words(source, out), folder / "errors")
        time.sleep(rng.uniform(0, span))
        with suppress(ProcessLookupError):  # it was quicker this time
            kill(process.pid, signal.SIGKILL)
        process.wait(LIMIT)
        seen = writing.read(out)
        fine = seen is None or seen == whole
        if writing.grows and isinstance(seen, bytes) and isinstance(whole, bytes):
            fine = whole.startswith(seen)
        if not fine:
            wrong.append(f"{writing.name}: after kill {number + 1} it is neither whole nor absent")
    _finish(writing, source, out, folder)
    if writing.read(out) != whole:
        wrong.append(f"{writing.name}: in the end it is not what an undisturbed run writes")
    left = sorted(path.name for path in out.parent.iterdir() if path != out)
    if len(left) > 1:
        wrong.append(f"{writing.name}: leaves {left} behind")
    return wrong


def _finish(writing: Writing, source: Path, out: Path, folder: Path) -> None:
    process = nursery().start(writing.words(source, out), folder / "errors")
    assert process.wait(LIMIT) == 0, (folder / "errors").read_text()
