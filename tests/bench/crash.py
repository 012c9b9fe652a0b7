"""Kill a crawl over real HTTP with SIGKILL, resume it, again and again; then compare its store with the server's log.

python tests/bench/crash.py [--kills 100] [--commands 100] [--seed 1] [--folder DIR] [--prefixes 100]

Export, import, learn and tune are killed as often, all together, and at last the power goes at so many points of
recorded writing.

A crawl is killed 50 times, then what writes files from its run directory; then a new one begins. All crawls learn score
functions and states meanwhile and fill one WARC file after the other. Every fourth life is started as a user does, the
others are forked from a process that has all modules loaded; every fourth has a dashboard that somebody looks at, every
fourth writes Parquet or a feed. A third of the kills hits the process, a third its whole group, a third comes while the
crawl drains after SIGTERM; every fifth comes at any moment of the start, before the first request.
"""

import argparse
import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import numpy as np
import pyarrow.parquet as pq
from fastwarc.warc import ArchiveIterator

from forager.chance import stream
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.store.store import Store
from forager.warc.captures import Capture, captures
from forager.warc.writer import repair, warcs_in
from tests.faults.commands import WRITINGS, killed, write_log, write_tape
from tests.faults.crashing import BUSY, Killer, Stored, account, doubles
from tests.faults.launching import Command, nursery
from tests.faults.power import recorded
from tests.faults.restarting import _free_port
from tests.faults.test_power_loss import lose_power
from tests.served import served_newsroom

ENDS = ("kill", "group", "drain")
LONGEST = 1.5
"""Seconds that a life goes on after its first request, at most."""
EACH = 50
"""Kills of one run directory."""
LEARNING = (
    *BUSY,
    "recording.max_size=300k",
    "recrawl.retrain.after=40",
    "recrawl.retrain.population=10",
    "recrawl.retrain.generations=2",
    "forager.states.train_pages=60",
)


def kill_again_and_again(killer: Killer, kills: int, seed: int, seen: Counter[str]) -> None:
    rng = stream(seed, "moments of death")
    for number in range(kills):
        at_start = number % 5 == 4
        killer.start = Command if number % 4 == 0 else nursery().start
        whole = killer.folder / ("stories.parquet" if number % 8 == 2 else "stories.xml") if number % 4 == 2 else None
        longest = float(np.median(killer.starts)) if at_start else LONGEST
        learned = killer.live(
            ENDS[number % 3],
            wait=float(rng.uniform(0, longest)),
            after_first=not at_start,
            whole=whole,
            port=_free_port() if number % 4 == 1 else 0,
        )
        seen.update(kills=1, watched=number % 4 == 1, rewritten=whole is not None, learning=learned)
        seen["states under way"] += _learns_states(killer.run_dir)
        print(f"{number + 1} of {kills}, {len(killer.newsroom.requests)} requests", file=sys.stderr, flush=True)
    killer.finish(1, whole=killer.folder / "stories.parquet")
    facts = json.loads((killer.run_dir / "statistics.json").read_text())
    seen["stories missing in -O"] += abs(
        pq.read_metadata(killer.folder / "stories.parquet").num_rows - facts["stories"]
    )
    killer.finish(5)


def _learns_states(run_dir: Path) -> bool:
    """Whether the states of a killed crawl are not what they will be: there are pages enough, or clusters not yet in use."""
    with tempfile.TemporaryDirectory() as place, suppress(sqlite3.Error):  # killed before there was a table
        for path in run_dir.glob("crawl.db*"):
            shutil.copy(path, place)
        with closing(sqlite3.connect(f"{place}/crawl.db")) as database:
            kept = dict(database.execute("SELECT name, value FROM kept WHERE name IN ('states', 'stating')"))
        if "stating" in kept:
            held = msgspec.msgpack.decode(kept["stating"])
            return len(held["pages"]) >= 60 * 8 and held["version"] == 0
    return False


async def seconds_to_open(run_dir: Path) -> float:
    """Processor seconds in which the store is opened and all of it is in memory."""
    before = time.process_time()
    store = await Store.open(run_dir)
    spent = time.process_time() - before
    await store.close()
    return spent


def seconds_to_import() -> float:
    """Wall seconds that Python needs to load the command, before it does anything."""
    before = time.monotonic()
    subprocess.run([sys.executable, "-c", "import forager.cli.crawl"], check=True)
    return time.monotonic() - before


def report(killer: Killer, since: int) -> bool:
    """Print the account of what happened after so many requests; whether nothing was lost and nothing doubled."""
    stored = asyncio.run(Stored.read(killer.run_dir))
    found = account(killer.newsroom, killer.lives, stored.visits)
    rewritten = pq.read_table(killer.folder / "stories.parquet", columns=["url"])["url"].to_pylist()
    told = [json.loads(line)["url"] for line in killer.output.read_text().splitlines()]
    folder = killer.run_dir / "warc"
    left_open = repair(folder)
    checked = subprocess.run([sys.executable, "-m", "warcio.cli", "check", *warcs_in(folder)], capture_output=True)
    for path in warcs_in(folder):
        with path.open("rb") as file:
            assert sum(1 for _ in ArchiveIterator(file)) > 0, f"fastwarc reads nothing of {path}"
    exchanges = sum(isinstance(one, Capture) for one in captures(warcs_in(folder)))
    fresh, *resumed = killer.starts
    fine = {
        "acknowledged, then lost": len(found.lost),
        "stored, but never asked": len(found.invented),
        "stored twice": len(doubles(stored)),
        "versions undecided": len(stored.unsettled),
        "stories missing or double in -o": abs(len(told) - len(set(told))) + (told != [s.url for s in stored.stories]),
        "stories missing or double in -O": int(rewritten != [s.url for s in stored.stories[: len(rewritten)]]),
        "WARC files damaged": int(checked.returncode != 0) + len(left_open),
    }
    requests = len(killer.newsroom.requests) - since
    shown = {
        "kills": len(killer.lives) - 2,
        "requests of pages in the server's log": found.requests,
        "visits, versions, stories in the store": f"{len(stored.visits)}, {len(stored.versions)}, {len(stored.stories)}",
        "under way at a kill, and asked for again": len(found.unstored),
        "exchanges recorded (of all requests)": f"{exchanges} ({exchanges / requests:.1%})",
        "WARC files, all read by fastwarc": len(warcs_in(folder)),
        **fine,
        "start to first request, new crawl, s": f"{fresh:.2f}",
        "start to first request, resumed, median (longest), s": f"{np.median(resumed):.2f} ({max(resumed):.2f})",
        "of it Python loading the command, s": f"{seconds_to_import():.2f}",
        "opening the store at the end, processor s": f"{asyncio.run(seconds_to_open(killer.run_dir)):.3f}",
    }
    print("| | |\n|---|---|")
    for name, value in shown.items():
        print(f"| {name} | {value} |")
    return not any(fine.values())


def kill_commands(source: Path, kills: int, seed: int, seen: Counter[str]) -> bool:
    """Kill what writes files from the run directory `run` in this folder."""
    write_log(source / "log.csv")
    write_tape(source / "news")
    each = -(-kills // len(WRITINGS))
    wrong = [line for writing in WRITINGS for line in killed(writing, source, source / "work", each, seed)]
    seen.update({f"kills of {writing.name}": each for writing in WRITINGS})
    print(f"| outputs that were half-written or wrong | {len(wrong)} |", *wrong, sep="\n")
    return not wrong


def lose_power_again_and_again(prefixes: int, seed: int) -> bool:
    for power_safe in (False, True):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            calls = recorded(folder, power_safe, 100)
            states = lose_power(calls, folder / "run", folder, power_safe, prefixes, seed)
            print(
                f"| states after power loss, power_safe={power_safe}, none damaged | {states} of {len(calls)} calls |"
            )
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commands", type=int, help="kills of other commands; as many if not given")
    parser.add_argument("--folder", type=Path, help="keep the run directory here")
    parser.add_argument("--prefixes", type=int, default=100, help="points at which the power goes")
    given = parser.parse_args()
    lively = NewsroomSettings(pace=60.0, page_size=5000)
    with tempfile.TemporaryDirectory() as aside, served_newsroom(lively, backlog_hours=0.5) as newsroom:
        folder = given.folder or Path(aside)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # modules compiled once, as installers do it
        os.environ["PYTHONPYCACHEPREFIX"] = f"{aside}/compiled"
        seconds_to_import()
        nursery().start(["--help"], Path(aside) / "errors").wait(600)  # it is ready now
        fine, seen = True, Counter[str]()
        for first in range(0, given.kills, EACH):
            place, since = folder / str(first), len(newsroom.requests)
            place.mkdir()
            killer, kills = Killer(newsroom, place, settings=LEARNING), min(EACH, given.kills - first)
            kill_again_and_again(killer, kills, given.seed + first, seen)
            fine = report(killer, since) and fine
            more = kills if given.commands is None else given.commands * kills // given.kills
            fine = (not more or kill_commands(place, more, given.seed + first, seen)) and fine
            print(f"| so far | {dict(seen)} |", flush=True)
        fine = fine and not seen["stories missing in -O"]
        fine = lose_power_again_and_again(given.prefixes, given.seed) and fine
        sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
