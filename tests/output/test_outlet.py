"""Stories come out while the crawl runs; trouble with the output never stops it."""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest

from forager.errors import OutputError
from forager.output.lines import Replacing
from forager.output.outlet import BATCH, Mode, Outlet
from forager.output.writers import writer_for
from forager.store.store import Store
from tests.output.press import numbers, tell


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mode", [Mode.APPEND, Mode.REWRITE])
async def test_stories_are_written_in_order_while_they_come(tmp_path: Path, mode: Mode) -> None:
    store, path, stopping = await Store.open(tmp_path / "run"), tmp_path / "s.jsonl", asyncio.Event()
    try:
        async with Outlet(store, writer_for(path, mode), pytest.fail) as outlet, asyncio.TaskGroup() as group:
            group.create_task(outlet.follow(stopping))
            for count in (1, 4, BATCH + 5):
                await tell(store, count)
                outlet.wake()
                await until(lambda: len(numbers(path)) == store.counts().stories)
            stopping.set()
    finally:
        await store.close()
    assert numbers(path) == list(range(BATCH + 10))
    assert (outlet.written, outlet.failed) == (BATCH + 10, False)


async def test_stories_are_written_within_seconds_if_nobody_wakes_the_outlet(tmp_path: Path) -> None:
    store, path, stopping = Store(), tmp_path / "s.jsonl", asyncio.Event()
    async with Outlet(store, writer_for(path, Mode.APPEND), pytest.fail) as outlet, asyncio.TaskGroup() as group:
        group.create_task(outlet.follow(stopping))
        await asyncio.sleep(0.05)
        await tell(store, 1)
        await until(lambda: numbers(path) == [0])
        stopping.set()


async def test_stories_stored_after_the_stop_are_written_at_the_end(tmp_path: Path) -> None:
    store, stopping = Store(), asyncio.Event()
    for suffix in ("jsonl", "csv", "parquet", "xml"):
        async with Outlet(store, writer_for(tmp_path / f"s.{suffix}", Mode.APPEND), pytest.fail) as outlet:
            stopping.set()
            await outlet.follow(stopping)
            await tell(store, 1)
    assert numbers(tmp_path / "s.jsonl") == [0]
    assert (tmp_path / "s.csv").read_text().count("Story") == 2
    assert pyarrow.parquet.read_table(tmp_path / "s.parquet")["number"].to_pylist() == [0, 1, 2]
    assert (tmp_path / "s.xml").read_text().count("<entry") == 4


async def test_a_feed_is_brought_up_to_date_while_the_crawl_runs(tmp_path: Path) -> None:
    store, path = Store(), tmp_path / "s.atom"
    await tell(store, 5)
    async with Outlet(store, writer_for(path, Mode.REWRITE, newest=3), pytest.fail) as outlet:
        await outlet.catch_up()
        assert [f"Story {number}<" in path.read_text() for number in range(5)] == [False, False, True, True, True]
        await tell(store, 1)
        await outlet.catch_up()
        assert [f"Story {number}<" in path.read_text() for number in range(2, 6)] == [False, True, True, True]


async def test_a_disk_that_is_full_from_the_start_is_told_before_the_crawl_begins(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.symlink_to("/dev/full")
    with pytest.raises(OutputError, match="No space left on device"):
        async with Outlet(Store(), writer_for(path, Mode.REWRITE), pytest.fail):
            pytest.fail("the head of the table cannot have been written")


async def test_a_disk_that_fills_up_is_told_once_and_the_crawl_goes_on(tmp_path: Path) -> None:
    store, path, said, stopping = Store(), tmp_path / "s.jsonl", list[str](), asyncio.Event()
    path.symlink_to("/dev/full")
    async with Outlet(store, writer_for(path, Mode.REWRITE), said.append) as outlet, asyncio.TaskGroup() as group:
        group.create_task(outlet.follow(stopping))
        await tell(store, 1)
        outlet.wake()
        await until(lambda: outlet.failed)
        await tell(store, 300)
        outlet.wake()
        await asyncio.sleep(0.05)
        stopping.set()
    assert len(said) == 1
    assert "No space left on device" in said[0]
    assert "\n" not in said[0]
    assert store.counts().stories == 301
    await everything_is_still_there(store, tmp_path)


async def everything_is_still_there(store: Store, tmp_path: Path) -> None:
    async with Outlet(store, writer_for(tmp_path / "later.jsonl", Mode.REPLACE), pytest.fail):
        pass
    assert numbers(tmp_path / "later.jsonl") == list(range(store.counts().stories))


async def test_a_reader_that_goes_away_is_told_once_and_the_crawl_goes_on(tmp_path: Path) -> None:
    store, path, said = Store(), tmp_path / "pipe.jsonl", list[str]()
    os.mkfifo(path)
    await tell(store, 1)
    with subprocess.Popen(["head", "-n", "1", str(path)], stdout=subprocess.PIPE) as reader:
        async with Outlet(store, writer_for(path, Mode.APPEND), said.append) as outlet:
            await outlet.catch_up()
            assert json.loads(reader.communicate(timeout=20)[0])["number"] == 0
            await tell(store, 2)
            await outlet.catch_up()
            await tell(store, 2)
            await outlet.catch_up()
    assert isinstance(outlet.error, BrokenPipeError)
    assert len(said) == 1
    assert "Broken pipe" in said[0]
    await everything_is_still_there(store, tmp_path)


async def test_a_slow_reader_does_not_hold_up_the_crawl(tmp_path: Path) -> None:
    store, path, stopping = Store(), tmp_path / "pipe.jsonl", asyncio.Event()
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    async with Outlet(store, writer_for(path, Mode.APPEND), lambda line: None) as outlet, asyncio.TaskGroup() as group:
        group.create_task(outlet.follow(stopping))
        await tell(store, 20, text="x" * 100_000)  # a pipe holds 64 kB
        outlet.wake()
        await asyncio.sleep(0.1)
        await tell(store, 1)
        assert (store.counts().stories, outlet.failed) == (21, False)
        os.close(reader)
        stopping.set()
    assert outlet.failed


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "xml"])
async def test_a_file_that_may_not_grow_fails_and_leaves_no_half_file_behind(tmp_path: Path, suffix: str) -> None:
    """A limit on the size of files stands for a full disk; it holds for this process while the test runs."""
    store, path, said = Store(), tmp_path / f"s.{suffix}", list[str]()
    await tell(store, 400, text="".join(chr(33 + (7 * place) % 90) for place in range(3000)) + "{}")
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, before[1]))
    try:
        async with Outlet(store, writer_for(path, Mode.REPLACE), said.append) as outlet:
            await outlet.catch_up()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, old_handler)
    assert outlet.failed
    assert len(said) == 1
    assert "File too large" in said[0]
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


async def test_a_feed_whose_directory_goes_away_does_not_stop_the_crawl(tmp_path: Path) -> None:
    store, said = Store(), list[str]()
    (tmp_path / "feeds").mkdir()
    async with Outlet(store, writer_for(tmp_path / "feeds" / "s.xml", Mode.REWRITE), said.append) as outlet:
        (tmp_path / "feeds").rmdir()
        for _ in range(2):
            await tell(store, 1)
            await outlet.catch_up()
    assert outlet.failed
    assert len(said) == 1


async def test_a_bug_in_the_crawl_discards_an_unfinished_export(tmp_path: Path) -> None:
    store, path = Store(), tmp_path / "s.parquet"
    await tell(store, 1)
    with pytest.raises(ZeroDivisionError):
        async with Outlet(store, writer_for(path, Mode.APPEND), pytest.fail) as outlet:
            await outlet.catch_up()
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


async def test_a_follower_that_is_cancelled_writes_nothing_twice(tmp_path: Path) -> None:
    store, path, stopping = Store(), tmp_path / "s.jsonl", asyncio.Event()
    async with Outlet(store, writer_for(path, Mode.APPEND), pytest.fail) as outlet:
        for rounds in range(12):
            await tell(store, 30)
            async with asyncio.TaskGroup() as group:
                following = group.create_task(outlet.follow(stopping))
                for _ in range(rounds):
                    await asyncio.sleep(0)
                following.cancel()
    assert numbers(path) == list(range(360))


CRAWL = """
    import asyncio, sys
    from pathlib import Path
    from forager.output.writers import writer_for
    from forager.output.outlet import Outlet
    from forager.output.outlet import Mode
    from forager.store.store import Store
    from tests.output.press import tell

    async def main(folder):
        store = await Store.open(folder / "run")
        outlets = [Outlet(store, writer_for(folder / name, Mode.APPEND), print) for name in ("s.jsonl", "s.csv")]
        async with outlets[0], outlets[1], asyncio.TaskGroup() as group:
            for outlet in outlets:
                group.create_task(outlet.follow(asyncio.Event()))
            print("begun", flush=True)
            while True:
                await tell(store, 1, text='A "long" text,\\n' * 3000)
                for outlet in outlets:
                    outlet.wake()

    asyncio.run(main(Path(sys.argv[1])))
"""


async def test_a_crawl_killed_again_and_again_loses_no_story_and_tells_none_twice(tmp_path: Path) -> None:
    for wait in (0.05, 0.21, 0.13):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CRAWL), str(tmp_path)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        ) as crawl:
            assert crawl.stdout is not None
            assert crawl.stdout.readline() == b"begun\n"
            await asyncio.sleep(wait)
            crawl.kill()
    store = await Store.open(tmp_path / "run")
    try:
        for name in ("s.jsonl", "s.csv"):
            for folder, mode in ((tmp_path, Mode.APPEND), (tmp_path / "run", Mode.REPLACE)):
                async with Outlet(store, writer_for(folder / name, mode), pytest.fail):
                    pass
            assert (tmp_path / name).read_bytes() == (tmp_path / "run" / name).read_bytes()
        assert numbers(tmp_path / "s.jsonl") == list(range(store.counts().stories))
        assert store.counts().stories > 3
    finally:
        await store.close()


def test_what_a_killed_writer_left_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    place = tmp_path / "stories.parquet"
    left = [tmp_path / f".stories.parquet.{process}.part" for process in (killed.pid, os.getppid())]
    for one in left:
        one.write_bytes(b"half")
    file = Replacing(place)
    file.open()
    file.write(b"whole")
    file.close()
    assert [one.exists() for one in left] == [False, True]
    assert place.read_bytes() == b"whole"
