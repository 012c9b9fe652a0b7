"""What the store on disk promises besides the contract: one writer, sound files, nothing lost."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forager.clock import run_virtual
from forager.errors import StoreError
from forager.store.disk import Disk
from forager.store.protocol import AcceptedStory, Found, Version, VersionId, Visit
from forager.store.rundir import DATABASE, LOCK, MIGRATIONS, StoreSettings, connect_writer
from forager.store.store import Store
from forager.terms import Channel, Kind, Outcome, Url, UrlId, Validators


def found(page: int) -> Found:
    return Found(Url(f"https://h{page % 7}/{page}"), Channel.LINK, at=1.0, due=float(page))


def visit(id: int, text: str = "text", due: float | None = 99.0) -> Visit:
    version = Version(Kind.ARTICLE, id, id, id, title=f"page {id}", text=text, links=(UrlId(0), UrlId(id)))
    return Visit(UrlId(id), 5.0, Outcome.FETCHED, 200, due=due, version=version, validators=Validators("e", "d"))


async def told(store: Store, question: str) -> list[Any]:
    """What the connection that writes answers."""
    disk = store._archive
    assert isinstance(disk, Disk) and disk._writing is not None
    return [tuple(row) for row in await disk._writing.execute_fetchall(question)]


async def filled(directory: Path, count: int = 50) -> None:
    store = await Store.open(directory)
    await store.put([found(page) for page in range(count)])
    for id in range(0, count, 2):
        await store.ack(visit(id, text=f"text {id} " * 200))
    await store.keep("fleet", b"state" * 1000)
    await store.close()


async def test_a_directory_opened_again_is_as_it_was_but_without_leases(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "new" / "run")
    ids = await store.put([found(page) for page in range(20)])
    number = await store.ack(visit(3))
    assert number is not None
    story = AcceptedStory(UrlId(3), number, store.url(UrlId(3)), "h", "page 3", 1, "meta", 1, 5, None, Channel.LINK)
    await store.ack(visit(4))
    await store.settle(number, story)
    store.note_host("h1", b"waits")
    known, counts = [store.known(id) for id in ids], store.counts()
    assert len(await store.lease(5, now=50.0)) == 5
    await store.close()
    again = await Store.open(tmp_path / "new" / "run")
    assert [again.known(id) for id in ids] == known
    assert again.counts() == counts
    assert await again.unsettled() == [1]
    assert [one async for one in again.stories()] == [story]
    assert await again.noted_hosts() == {"h1": b"waits"}
    await again.close()


WRITING = """
    import asyncio, sys
    from pathlib import Path
    from forager.store.store import Store
    sys.path.insert(0, sys.argv[2])
    from test_store_on_disk import found, visit

    async def main():
        store = await Store.open(Path(sys.argv[1]))
        start = store.counts().known
        async def call(number):
            for page in range(start + number, 10**9, 8):
                (id,) = await store.put([found(page)])
                version = await store.ack(visit(id, text=f"text {id}"))
                sys.stdout.write(f"{page} {id} {version}\\n")
                sys.stdout.flush()
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(call(number))
    asyncio.run(main())
"""


async def test_what_was_acknowledged_survives_kill_9_and_nothing_is_doubled(tmp_path: Path) -> None:
    rng, told = np.random.default_rng(5), []
    for _ in range(3):
        here = str(Path(__file__).parent)
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITING), str(tmp_path), here], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(int(rng.integers(1, 400)))]
        child.kill()
        rest = child.stdout.read()
        child.wait()
        told += [
            tuple(map(int, line.split()))
            for line in "".join([*lines, rest]).splitlines(keepends=True)
            if line[-1:] == "\n"
        ]
        store = await Store.open(tmp_path)
        for page, id, version in told:
            assert store.find(found(page).url) == id
            assert (await store.version(VersionId(version)))[2].text == f"text {id}"
        visits = [one.id async for one in store.visits()]
        assert len(visits) == len(set(visits)) == store.counts().visits == store.counts().versions
        assert all(store.known(id).visits == 1 for id in visits)
        assert store.counts().outcomes == {"fetched": len(visits)}
        await store.close()
    assert len(told) == len({id for _, id, _ in told}) > 3


async def test_a_second_process_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    code = "import asyncio, sys; from pathlib import Path; from forager.store.store import Store\n"
    code += "asyncio.run(Store.open(Path(sys.argv[1])))"
    run = [sys.executable, "-c", code, str(tmp_path)]
    refused = subprocess.run(run, capture_output=True, text=True)
    last = refused.stderr.strip().splitlines()[-1]
    assert refused.returncode != 0
    assert f"StoreError: {tmp_path}: in use by process {os.getpid()}" in last
    with pytest.raises(StoreError, match="in use"):
        await Store.open(tmp_path)
    await store.put([found(1)])
    await store.close()
    assert subprocess.run(run, capture_output=True).returncode == 0


async def test_a_forked_child_does_not_hold_the_lock(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(reader, 1)
        os._exit(0)
    try:
        await store.close()
        await (await Store.open(tmp_path)).close()
    finally:
        os.write(writer, b"x")
        os.waitpid(child, 0)


async def refusal(directory: Path) -> str:
    """The message, after a look that the file was not touched and the reader refuses too."""
    before = (directory / DATABASE).read_bytes()
    with pytest.raises(StoreError) as refused:
        await Store.open(directory)
    with pytest.raises(StoreError):
        await Store.view(directory)
    assert (directory / DATABASE).read_bytes() == before
    assert "\n" not in str(refused.value)
    return str(refused.value)


async def test_a_newer_schema_is_refused_untouched(tmp_path: Path) -> None:
    await filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert "newer Forager (schema 99); update" in await refusal(tmp_path)


async def test_a_file_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.execute("CREATE TABLE urls (x)")
    assert "not a store of Forager" in await refusal(tmp_path)


def test_a_disk_that_is_full_at_the_start_is_told_from_damage(tmp_path: Path) -> None:
    (tmp_path / "1.sql").write_text("PRAGMA max_page_count = 1; CREATE TABLE a (x)")
    with pytest.raises(StoreError, match=r"disk is full\); make room"):
        connect_writer(tmp_path, StoreSettings(), tmp_path)


@pytest.mark.parametrize("damage", ["empty", "garbage", "truncated", "odd length", "no header", "zeros inside"])
async def test_a_damaged_file_is_refused_untouched(tmp_path: Path, damage: str) -> None:
    await filled(tmp_path)
    path = tmp_path / DATABASE
    data = path.read_bytes()
    half = len(data) // 2 // 4096 * 4096
    path.write_bytes(
        {
            "empty": b"",
            "garbage": bytes(range(256)) * 100,
            "truncated": data[:half],
            "odd length": data[: half + 1000],
            "no header": bytes(100) + data[100:],
            "zeros inside": data[:4096] + bytes(8192) + data[4096 + 8192 :],
        }[damage]
    )
    assert "cannot be used" in await refusal(tmp_path)


async def test_flipped_bytes_are_refused_or_harmless_and_never_a_crash(tmp_path: Path) -> None:
    await filled(tmp_path / "good")
    data = (tmp_path / "good" / DATABASE).read_bytes()
    rng, refused = np.random.default_rng(3), 0
    for trial in range(60):
        directory = tmp_path / str(trial)
        directory.mkdir()
        damaged = bytearray(data)
        for place in rng.integers(0, 100 if trial % 3 == 0 else len(data), 20):
            damaged[place] = rng.integers(256)
        (directory / DATABASE).write_bytes(damaged)
        try:
            store = await Store.open(directory)
        except StoreError:
            refused += 1
            assert (directory / DATABASE).read_bytes() == damaged
            continue
        try:
            for version in range(store.counts().versions):
                await store.version(VersionId(version))
        except (StoreError, IndexError):
            refused += 1
        await store.close()
        shutil.rmtree(directory)
    assert refused > 20


async def test_a_log_without_its_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / (DATABASE + "-wal")).write_bytes(b"x" * 5000)
    with pytest.raises(StoreError, match=r"missing, though its log crawl\.db-wal is here"):
        await Store.open(tmp_path)


async def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot create"):
        await Store.open(tmp_path / "file" / "run")
    (tmp_path / "run" / LOCK).mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot write here"):
        await Store.open(tmp_path / "run")
    with pytest.raises(StoreError, match=r"no crawl\.db here"):
        await Store.view(tmp_path)


async def test_a_full_disk_fails_every_call_and_loses_nothing_committed(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    ((pages,),) = await told(store, "PRAGMA page_count")
    await told(store, f"PRAGMA max_page_count = {pages + 60}")
    await store.put([found(page) for page in range(10)])
    rng, acknowledged = np.random.default_rng(1), []

    async def call(id: int) -> None:
        while True:
            number = await store.ack(visit(id, text=rng.bytes(3000).hex()))
            acknowledged.append(number)

    results = []
    async with asyncio.TaskGroup() as group:
        for id in range(5):

            async def caught(id: int = id) -> None:
                with pytest.raises(StoreError, match=r"cannot write .*full"):
                    await call(id)
                results.append(id)

            group.create_task(caught())
    assert sorted(results) == [0, 1, 2, 3, 4]
    for later in (store.put([]), store.lease(1, 0.0), store.keep("a", b""), store.ack(visit(1)), store.recall("a")):
        with pytest.raises(StoreError, match="full"):
            await later
    await store.close()
    again = await Store.open(tmp_path)
    assert again.counts().known == 10
    assert again.counts().versions == len(acknowledged) > 5
    for number in acknowledged:
        assert number is not None
        await again.version(number)
    await again.close()


async def test_a_cancelled_caller_loses_and_doubles_nothing(tmp_path: Path) -> None:
    store = await Store.open(tmp_path, StoreSettings(batch_wait=0.01))
    await store.put([found(page) for page in range(40)])
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(store.ack(visit(id))) for id in range(40)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
    assert [task.cancelled() for task in tasks[:2]] == [True, False]
    assert [one.id async for one in store.visits()] == list(range(40))
    assert [await store.versions(UrlId(id)) for id in range(40)] == [[(id, 5.0)] for id in range(40)]
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.put([found(1)])
    with pytest.raises(StoreError, match="closed"):
        await store.recall("x")


async def test_a_full_batch_does_not_wait(tmp_path: Path) -> None:
    store = await Store.open(tmp_path, StoreSettings(batch_wait=3600.0, batch_rows=20))
    async with asyncio.timeout(30):
        assert len(await store.put([found(page) for page in range(20)])) == 20
        async with asyncio.TaskGroup() as group:
            for page in range(20, 40):
                group.create_task(store.put([found(page)]))
    await store.close()


async def test_a_reader_beside_a_running_crawl_sees_the_commits_before_it_opened(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await store.put([found(page) for page in range(10)])
    await store.ack(visit(3))
    await store.keep("fleet", b"one")
    reader = await Store.view(tmp_path)
    await store.put([found(10)])
    await store.ack(visit(3, text="later"))
    assert (reader.counts().known, reader.counts().visits, store.counts().known) == (10, 1, 11)
    assert reader.find(found(3).url) == 3
    assert reader.known(UrlId(3)).visits == 1
    assert await reader.versions(UrlId(3)) == [(0, 5.0)]
    assert [one.id async for one in reader.visits()] == [3]
    assert [one async for one in reader.stories()] == []
    assert (await reader.version(VersionId(0)))[2].text == "text"
    assert await reader.recall("fleet") == b"one"
    assert await reader.unsettled() == [0]
    await reader.close()
    await store.close()


async def test_a_text_that_did_not_change_is_stored_once(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await store.put([found(1)])
    for text in ("one", "one", "two", "two", "two"):
        version = Version(Kind.HUB, 1, 1, 1, text=text)
        await store.ack(Visit(UrlId(0), 5.0, Outcome.FETCHED, version=version))
    texts = [(await store.version(VersionId(number)))[2].text for number in range(5)]
    assert texts == ["one", "one", "two", "two", "two"]
    rows = await told(store, "SELECT text_of, text IS NULL FROM versions")
    assert rows == [(None, 0), (0, 1), (None, 0), (2, 1), (2, 1)]
    await store.close()


async def test_migrations_are_applied_in_order_and_once(tmp_path: Path) -> None:
    await filled(tmp_path / "run")
    steps, ours = tmp_path / "steps", len(list(MIGRATIONS.glob("*.sql")))
    shutil.copytree(MIGRATIONS, steps)
    (steps / "9001.sql").write_text("CREATE TABLE second (x); INSERT INTO second VALUES (1);")
    (steps / "9002.sql").write_text("INSERT INTO second VALUES (2);")
    for _ in range(2):
        with closing(connect_writer(tmp_path / "run", StoreSettings(), steps)) as connection:
            assert connection.execute("SELECT x FROM second").fetchall() == [(1,), (2,)]
            assert connection.execute("PRAGMA user_version").fetchone() == (ours + 2,)
    (steps / "9003.sql").write_text("DELETE FROM second; SELECT no_such_column;")
    with pytest.raises(StoreError):
        connect_writer(tmp_path / "run", StoreSettings(), steps)
    with closing(sqlite3.connect(tmp_path / "run" / DATABASE)) as connection:
        assert connection.execute("SELECT count(*) FROM second").fetchone() == (2,)
        assert connection.execute("PRAGMA user_version").fetchone() == (ours + 2,)


@pytest.mark.parametrize(("power_safe", "level"), [(False, 1), (True, 2)])
async def test_power_safety_is_a_setting(tmp_path: Path, power_safe: bool, level: int) -> None:
    store = await Store.open(tmp_path, StoreSettings(power_safe=power_safe))
    assert await told(store, "PRAGMA synchronous") == [(level,)]
    assert await told(store, "PRAGMA journal_mode") == [("wal",)]
    await store.close()


async def test_what_was_entered_is_committed_with_the_next_change(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    (first,) = await store.put([found(0)])
    store.enter([found(1), found(2)])
    await store.ack(visit(first))
    beside = await asyncio.to_thread(_urls_on_disk, tmp_path)
    await store.close()
    assert beside == 3


def _urls_on_disk(directory: Path) -> int:
    with closing(sqlite3.connect(f"file:{directory / 'crawl.db'}?mode=ro", uri=True)) as connection:
        count: int = connection.execute("SELECT count(*) FROM urls").fetchone()[0]
        return count


RAISING = """
    import asyncio, sys
    from pathlib import Path
    from forager.store.store import Store
    sys.path.insert(0, sys.argv[2])
    from test_store_on_disk import found

    async def main():
        store = await Store.open(Path(sys.argv[1]))
        await store.put([found(page) for page in range(3)])
        if sys.argv[3] == "writing":
            store.enter([found(page) for page in range(3, 5000)])
            await asyncio.sleep(0.001)
        raise SystemError("a bug")
    asyncio.run(main())
"""


@pytest.mark.parametrize("moment", ["idle", "writing"])
async def test_a_process_that_fails_without_closing_ends(tmp_path: Path, moment: str) -> None:
    code = [sys.executable, "-c", textwrap.dedent(RAISING), str(tmp_path), str(Path(__file__).parent), moment]
    failed = await asyncio.to_thread(subprocess.run, code, capture_output=True, text=True, timeout=60)
    assert failed.returncode == 1
    assert "SystemError: a bug" in failed.stderr
    store = await Store.open(tmp_path)
    assert store.counts().known in (3, 5000)
    await store.close()


def test_simulated_time_gets_no_disk(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no disk in simulated time"):
        run_virtual(Store.open(tmp_path))
    with pytest.raises(RuntimeError, match="no disk in simulated time"):
        run_virtual(Store.view(tmp_path))
    asyncio.run(filled(tmp_path))  # the refused one holds no lock


async def test_a_store_that_is_only_viewed_cannot_be_changed(tmp_path: Path) -> None:
    await filled(tmp_path, 4)
    view = await Store.view(tmp_path)
    for change in (
        view.put([found(9)]),
        view.ack(visit(1)),
        view.keep("a", b""),
        view.lease(1, 99.0),
    ):
        with pytest.raises(StoreError, match="to be read only"):
            await change
    with pytest.raises(StoreError, match="to be read only"):
        view.note_host("h", b"")
    assert view.counts().known == 4
    await view.close()
    with pytest.raises(StoreError, match="closed"):
        await view.recall("fleet")


async def test_a_close_that_is_cancelled_lets_go_of_the_directory_and_loses_nothing_acknowledged(
    tmp_path: Path,
) -> None:
    store = await Store.open(tmp_path, StoreSettings(batch_wait=0.05))
    await store.put([found(0)])
    store.enter([found(1)])
    async with asyncio.TaskGroup() as group:
        ending = group.create_task(store.close())
        await asyncio.sleep(0.01)
        ending.cancel()
    assert ending.cancelled()
    again = await Store.open(tmp_path)
    assert again.find(found(0).url) == 0
    await again.close()
