"""Whenever the power goes, nothing is damaged; with `store.power_safe` nothing acknowledged is lost."""

import asyncio
import random
import shutil
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from forager.store.store import Store
from forager.warc.writer import repair, warcs_in
from tests.faults.power import Call, Disk, recorded
from tests.warc.test_warc_writing import check

VISITS = 25
PREFIXES = 40


async def opened(run: Path) -> tuple[int, list[str], bytes]:
    """How many visits a store holds, their texts, and what it knows of a host."""
    store = await Store.open(run)
    try:
        stored = store.counts().versions
        texts = [(await store.version(number))[2].text for number in range(stored)]  # type: ignore[arg-type]
        assert len([visit async for visit in store.visits()]) == stored
        return stored, texts, (await store.noted_hosts()).get("a.example", b"-1")
    finally:
        await store.close()


def lose_power(calls: list[Call], root: Path, folder: Path, power_safe: bool, prefixes: int, seed: int) -> int:
    """Look at what is left after a loss of power at several points; how many states were looked at."""
    rng, disk, looked = random.Random(seed), Disk(), 0
    points = set(rng.sample(range(len(calls)), min(prefixes, len(calls)))) | {len(calls) - 1}
    for number, call in enumerate(calls):
        disk.take(call)
        if number not in points or not any(path.endswith("/crawl.db") for path in disk.files):
            continue
        for way in ("lost", "kept", "mixed"):
            run = folder / "state"
            shutil.rmtree(run, ignore_errors=True)
            disk.put_down(run, str(root), rng if way == "mixed" else None, keep=way == "kept")
            stored, texts, host = asyncio.run(opened(run))
            assert texts == [random.Random(one).randbytes(1500).hex() for one in range(stored)]
            assert int(host) >= stored - 1  # committed with, or before, the visit
            if power_safe or way == "kept":
                assert stored >= disk.acknowledged, (number, way)
            check_recording(run / "warc", thoroughly=looked % 20 == 0)
            looked += 1
    return looked


def check_recording(folder: Path, *, thoroughly: bool) -> None:
    """Whatever a crawl finds here it mends; then fastwarc, and warcio's checker, read all of it."""
    folder.mkdir(exist_ok=True)
    repair(folder)
    for path in warcs_in(folder):
        with path.open("rb") as file:
            assert sum(1 for _ in ArchiveIterator(file)) > 0
    if thoroughly and warcs_in(folder):
        check(*warcs_in(folder))


@pytest.mark.needs("strace")  # it records the writes
@pytest.mark.parametrize("power_safe", [False, True])
def test_no_loss_of_power_damages_a_run_directory(tmp_path: Path, power_safe: bool) -> None:
    calls = recorded(tmp_path, power_safe, VISITS)
    assert sum(call.name in ("write", "pwrite64") for call in calls) > VISITS
    assert lose_power(calls, tmp_path / "run", tmp_path, power_safe, PREFIXES, 1) > PREFIXES
