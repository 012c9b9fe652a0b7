"""Trouble with the run directory: full, read-only, in use, locked, damaged. One line, an exit code, and nothing lost."""

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from forager.errors import Exit
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.warc.writer import warcs_in
from tests.faults.crashing import Killer, Stored, account, doubles
from tests.faults.launching import nursery
from tests.served import served_newsroom

LIVELY = NewsroomSettings(pace=20.0, page_size=20_000)


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with served_newsroom(LIVELY, backlog_hours=1.0) as newsroom:
        yield newsroom


def one_line(errors: str) -> str:
    """What the command said, if it was one line of it; the log may have filled the disk before the store did."""
    lines = [line for line in errors.splitlines() if "the crawl goes on without it" not in line]
    assert len(lines) == 1 and lines[0].startswith("forager: "), errors
    return lines[0]


async def check_nothing_lost(killer: Killer) -> None:
    stored = await Stored.read(killer.run_dir)
    found = account(killer.newsroom, killer.lives, stored.visits)
    assert (found.lost, found.invented, doubles(stored), stored.unsettled) == ([], [], [], [])
    told = killer.output.read_text().splitlines()
    assert len(told) == len(stored.stories) > 5


# A full disk: a tmpfs of a few megabytes where it may be mounted, and files that may not grow anywhere.


@contextmanager
def mounted(folder: Path) -> Iterator[Callable[[int], None]]:
    """A small disk at `folder`; yields what gives it another size."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", folder], check=True, capture_output=True)
    try:
        yield lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True) and None
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def may_mount(tmp: Path) -> bool:
    try:
        with mounted(tmp / "trial"):
            return True
    except (subprocess.CalledProcessError, FileNotFoundError, PermissionError):
        return False


async def test_when_a_file_cannot_grow_the_crawl_ends_in_one_line_and_goes_on_later(
    newsroom: Newsroom, tmp_path: Path
) -> None:
    small = Killer(newsroom, tmp_path, partial(nursery().start, largest_file=500_000))
    assert "cannot write" in one_line(small.finish(None, Exit.STORE))
    roomy = Killer(newsroom, tmp_path, nursery().start, lives=small.lives)
    roomy.finish(2)
    await check_nothing_lost(roomy)


async def test_when_the_disk_is_full_the_crawl_ends_in_one_line_and_goes_on_later(
    newsroom: Newsroom, tmp_path: Path
) -> None:
    if not may_mount(tmp_path):
        return  # the test above has filled what can be filled without mounting
    since = len(newsroom.requests)
    with mounted(tmp_path / "disk") as grow:
        killer = Killer(newsroom, tmp_path, nursery().start, place=tmp_path / "disk" / "run")
        said = one_line(killer.finish(None, Exit.STORE, Exit.OUTPUT))
        assert "full" in said or "No space" in said
        assert len(newsroom.requests) > since
        grow(100_000_000)
        killer.finish(2)
        await check_nothing_lost(killer)


# Others at the same directory


def test_a_second_crawl_is_turned_away_and_the_first_goes_on(newsroom: Newsroom, tmp_path: Path) -> None:
    first = Killer(newsroom, tmp_path)
    asked = len(newsroom.requests)
    process = first.start(first.arguments(), tmp_path / "first")
    while len(newsroom.requests) == asked:
        time.sleep(0.01)
        assert process.is_alive(), (tmp_path / "first").read_text()
    second = Killer(newsroom, tmp_path, nursery().start)
    assert f"in use by process {process.pid}" in one_line(second.finish(1, Exit.STORE))
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(60) == 0


async def test_a_database_that_somebody_locks_ends_the_crawl_in_one_line(newsroom: Newsroom, tmp_path: Path) -> None:
    killer = Killer(newsroom, tmp_path, nursery().start)
    killer.finish(1)
    with sqlite3.connect(killer.run_dir / "crawl.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "database is locked" in one_line(killer.finish(30, Exit.STORE))
    other.close()
    killer.finish(2)
    await check_nothing_lost(killer)


def test_a_directory_that_cannot_be_written_is_refused_at_once(newsroom: Newsroom, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    if os.geteuid() == 0:  # to whom modes mean nothing
        folder = Path("/sys/kernel")
    asked = len(newsroom.requests)
    killer = Killer(newsroom, tmp_path, nursery().start, place=folder)
    assert "choose another" in one_line(killer.finish(5, Exit.STORE))
    assert len(newsroom.requests) == asked


def test_a_copy_of_the_settings_that_cannot_be_written_is_told_in_one_line(newsroom: Newsroom, tmp_path: Path) -> None:
    killer = Killer(newsroom, tmp_path, nursery().start)
    (killer.run_dir / "config.yaml").mkdir(parents=True)  # as bad as a disk that is full just then
    assert "config.yaml: cannot be written" in one_line(killer.finish(1, Exit.OUTPUT))


# A damaged database


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    for place in range(5000, len(raw), 4099):
        raw[place] ^= 0xFF
    path.write_bytes(bytes(raw))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "bytes flipped": flip,
    "cut in the middle": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "another file": lambda path: path.write_text("a shopping list\n" * 1000),
}


def test_a_damaged_database_is_named_in_one_line_and_the_recording_stays(newsroom: Newsroom, tmp_path: Path) -> None:
    killer = Killer(newsroom, tmp_path, nursery().start)
    killer.finish(2)
    database, sound = killer.run_dir / "crawl.db", (killer.run_dir / "crawl.db").read_bytes()
    recorded = {path.name: path.read_bytes() for path in warcs_in(killer.run_dir / "warc")}
    for name, damage in DAMAGES.items():
        database.write_bytes(sound)
        damage(database)
        left = database.read_bytes()
        for arguments in (killer.arguments("--time-limit", "1s"), ["export", str(killer.run_dir), "-O", "-"]):
            code = nursery().start(arguments, tmp_path / "errors").wait(60)
            assert code == Exit.STORE, (name, arguments[0])
            assert "crawl.db" in one_line((tmp_path / "errors").read_text())
        assert database.read_bytes() == left
    assert {path.name: path.read_bytes() for path in warcs_in(killer.run_dir / "warc")} == recorded
    database.write_bytes(sound)
    killer.finish(1)
