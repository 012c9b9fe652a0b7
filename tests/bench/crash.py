"""Kill a crawl over real HTTP with SIGKILL, resume it, again and again; then compare its store with the server's log.

python tests/bench/crash.py [--kills 100] [--seed 1] [--folder DIR] [--prefixes 100]

Then export, import, learn and tune are killed as often, all together, and the power goes at so many points of recorded writing.

Each life is `forager crawl` as a user starts it. A third of the kills hits the process, a third its whole group, a third
comes while the crawl drains after SIGTERM; every fifth comes at any moment of the start, before the first request.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from fastwarc.warc import ArchiveIterator

from forager.chance import stream
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.store.store import Store
from forager.warc.captures import Capture, captures
from forager.warc.writer import repair, warcs_in
from tests.faults.commands import WRITINGS, killed, write_log, write_tape
from tests.faults.crashing import BUSY, Killer, Stored, account, doubles
from tests.faults.power import recorded
from tests.faults.test_power_loss import lose_power
from tests.served import served_newsroom

ENDS = ("kill", "group", "drain")
LONGEST = 1.5
"""Seconds that a life goes on after its first request, at most."""


def kill_again_and_again(killer: Killer, kills: int, seed: int) -> None:
    rng = stream(seed, "moments of death")
    for number in range(kills):
        at_start = number % 5 == 4
        longest = float(np.median(killer.starts)) if at_start else LONGEST
        killer.live(ENDS[number % 3], wait=float(rng.uniform(0, longest)), after_first=not at_start)
        print(f"{number + 1} of {kills}, {len(killer.newsroom.requests)} requests", file=sys.stderr, flush=True)
    killer.finish(5)


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


def report(killer: Killer) -> bool:
    """Print the account; whether nothing was lost and nothing doubled."""
    stored = asyncio.run(Stored.read(killer.run_dir))
    found = account(killer.newsroom, killer.lives, stored.visits)
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
        "WARC files damaged": int(checked.returncode != 0) + len(left_open),
    }
    shown = {
        "kills": len(killer.lives) - 1,
        "requests of pages in the server's log": found.requests,
        "visits, versions, stories in the store": f"{len(stored.visits)}, {len(stored.versions)}, {len(stored.stories)}",
        "under way at a kill, and asked for again": len(found.unstored),
        "exchanges recorded (of all requests)": f"{exchanges} ({exchanges / len(killer.newsroom.requests):.1%})",
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


def kill_commands(source: Path, kills: int, seed: int) -> bool:
    """Kill what writes files from the run directory `run` in this folder."""
    write_log(source / "log.csv")
    write_tape(source / "news")
    each = -(-kills // len(WRITINGS))
    wrong = [line for writing in WRITINGS for line in killed(writing, source, source / "work", each, seed)]
    print(f"| commands killed, each {each} times | {', '.join(writing.name for writing in WRITINGS)} |")
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
        killer = Killer(newsroom, folder, settings=(*BUSY, "recording.max_size=300k"))
        kill_again_and_again(killer, given.kills, given.seed)
        fine = report(killer)
        fine = kill_commands(killer.run_dir.parent, given.kills, given.seed) and fine
        fine = lose_power_again_and_again(given.prefixes, given.seed) and fine
        sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
