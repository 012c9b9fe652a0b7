"""What each part of the default crawl is worth on a recording: the whole, the whole without one part, and simple rules.

    python tests/bench/parts.py RECORDING --budget 72/h [--repeats 5] [--days 10] [--from-day 0] [--part "without TD" …]
    python tests/bench/parts.py RECORDING --budget 72/h --first-hours

RECORDING is a tape, or a folder of tables as `forager import --table` takes it. Every part is replayed with the same luck as
the whole; * marks a difference that a paired t-test finds (p < .05). `without selection` begins and ends with the number of
foragers about which the fleet settles. The greedy oracle looks at the tape: every download goes to the page that shows
most unseen documents at the time; where a page shows one at most, to the one whose document goes first.

`--first-hours`: what is found of the first 24 and 48 hours of an unknown site, nothing being known at the start, by orders of
links never followed. `expected documents` is what WL does: fresh links first, then by the form of addresses; `all links
alike` does not put fresh ones first; `breadth first` takes links in the order they were seen in.
"""

import argparse
import heapq
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.cli.options import per_hour
from forager.importers.tables import import_tables
from forager.measures import Delay, delay
from forager.settings import load_settings
from forager.simulation.fleet_rows import FleetRow, paired, rows_of
from forager.simulation.jobs import Job, play_all
from forager.simulation.replay import default_seeds
from forager.tape.cut import cut_tape
from forager.tape.tape import CONTENTS, Tape, load_tape, save
from forager.tape.tape_world import TapeClock, TapeWorld, documents

DAY = 86_400.0
FROZEN = ["reinforcing.scores.relative_gain=1e9", "reinforcing.population.first=6"]
ORACLE = "greedy oracle"
NO_ROWS = np.empty(0, np.int64)
PARTS: dict[str, list[str]] = {
    "the whole": [],
    "without TD": ["forager.kind=WL"],
    "without selection": FROZEN,
    "without mutation": ["reinforcing.mutation=0"],
    "without learned function": ["crawl.policy=worth", "recrawl.retrain.enabled=false"],
    "without fleet": ["crawl.recrawl_share=1"],
    "fleet alone": ["crawl.recrawl_share=0"],
    "index rule (azar-rate)": ["crawl.recrawl_share=1", "crawl.policy=azar-rate"],
    "sweep (oldest first)": ["crawl.recrawl_share=1", "crawl.policy=age"],
}
ORDERS: dict[str, list[str]] = {
    "the whole": [],
    "expected documents": ["forager.kind=WL"],
    "profit weighs 1": ["forager.expectation.profit_weight=1"],
    "profit, all links alike": ["forager.expectation.fresh_first=1"],
    "all links alike": ["forager.kind=WL", "forager.expectation.fresh_first=1"],
    "breadth first": ["forager.kind=BFS"],
}
FIGURES = ("coverage", "lasting", "late_hours", "requests_per_story", "freshness", "downloaded")


def main() -> None:
    options = _options()
    tape = _tape(options.recording)
    begin = tape.start + options.from_day * DAY
    if options.first_hours:
        for days in (1.0, 2.0):
            chosen = {name: ORDERS[name] for name in ("the whole", *(options.part or ORDERS)) if name in ORDERS}
            _show_parts(tape, begin, begin + days * DAY, chosen, 0.0, options)
        return
    end = min(tape.end, begin + options.days * DAY) if options.days else tape.end
    chosen = {name: PARTS[name] for name in ("the whole", *(options.part or PARTS)) if name in PARTS}
    _show_parts(tape, begin, end, chosen, min(DAY / 2, (end - begin) / 4), options)


def _show_parts(
    tape: Tape, begin: float, end: float, parts: dict[str, list[str]], warm_up: float, options: argparse.Namespace
) -> None:
    with TemporaryDirectory(prefix="forager-parts-") as folder:
        part, path = tape, options.recording
        if (begin, end) != (tape.start, tape.end) or not (path / CONTENTS).exists():
            part, path = cut_tape(tape, begin, end), Path(folder)
            save(part, path)
        rows = _played(parts, path, part, warm_up, options)
    print(f"{options.recording.name}, {options.budget}, {(end - begin) / DAY:.1f} days, {options.repeats} repeats")
    print("| | " + " | ".join(FIGURES) + " | born | deleted | seconds |")
    print("|---" * (len(FIGURES) + 4) + "|")
    for name, row in zip(parts, rows, strict=True):
        told = [f"{row.mean(figure):.4g}{_mark(row, rows[0], figure)}" for figure in FIGURES]
        lives = [sum(getattr(one, what) for one in row.repeats) / len(row.repeats) for what in ("born", "deleted")]
        seconds = sum(one.seconds for one in row.repeats) / len(row.repeats)
        print(f"| {name} | {' | '.join(told)} | {lives[0]:.1f} | {lives[1]:.1f} | {seconds:.1f} |")
    if not options.first_hours and (not options.part or ORACLE in options.part):
        found, downloads = _oracle(part, 3600 / per_hour(options.budget), warm_up)
        told = [found.coverage, found.lasting, found.late / 3600, downloads / max(1, found.found)]
        print(f"| {ORACLE} | {' | '.join(f'{figure:.4g}' for figure in told)} | | {downloads} | | | |", flush=True)


def _oracle(tape: Tape, seconds: float, warm_up: float) -> tuple[Delay, int]:
    """What a schedule finds that knows what every page shows now, and in how many downloads."""
    columns, truth = TapeWorld(tape, TapeClock(tape.start), seconds=seconds).columns, documents(tape)
    read_off = len(columns.shown_start) > 0
    page_of = tape.owners()
    row_of = np.full(tape.pages, -1)
    row_of[page_of[truth.of_version >= 0]] = truth.of_version[truth.of_version >= 0]
    found, young_until = np.full(len(truth), np.nan), truth.born + DAY
    order, place, downloads, now = np.argsort(tape.time, kind="stable"), 0, 0, tape.start
    shows: dict[int, IntArray] = {}
    lists: list[tuple[int, int]] = []  # how many unseen documents a list shows at most, negative, and the list
    texts: list[tuple[float, int]] = []  # when the document of a version goes, and the version
    current = np.full(tape.pages, -1)
    while now < tape.end:
        while place < len(order) and tape.time[order[place]] <= now:
            version, place = int(order[place]), place + 1
            page = int(page_of[version])
            current[page] = version
            if truth.of_version[version] >= 0 and not read_off:
                heapq.heappush(texts, (truth.gone[truth.of_version[version]], version))
            elif read_off and columns.is_list[page]:
                at = columns.link_set[version]
                rows = row_of[columns.shown[columns.shown_start[at] : columns.shown_start[at + 1]]]
                shows[page] = rows[(rows >= 0) & ~columns.gone[version]]
                heapq.heappush(lists, (-len(_unseen(shows[page], found, young_until, now)), page))
        unseen = NO_ROWS
        while lists and len(unseen) < -lists[0][0]:  # a list shows fewer with time until it changes
            page = lists[0][1]
            unseen = _unseen(shows[page], found, young_until, now)
            if len(unseen) < -lists[0][0]:
                heapq.heapreplace(lists, (-len(unseen), page))
        while texts and not len(unseen):
            version = heapq.heappop(texts)[1]
            if current[page_of[version]] == version:
                unseen = _unseen(truth.of_version[version : version + 1], found, young_until, now)
        now += seconds
        found[unseen] = now
        downloads += len(unseen) > 0
    counted = truth.born >= tape.start + warm_up
    return delay(truth.born[counted], found[counted], vanished=truth.gone[counted]), downloads


def _unseen(rows: IntArray, found: FloatArray, young_until: FloatArray, now: float) -> IntArray:
    """The documents that nobody has found and that are still young."""
    return rows[np.isnan(found[rows]) & (now <= young_until[rows])]


def _played(
    parts: dict[str, list[str]], path: Path, tape: Tape, warm_up: float, options: argparse.Namespace
) -> list[FleetRow]:
    """Every part, replayed with every luck; one process opens the tape once."""
    seeds, jobs = default_seeds(tape), []
    for changes in parts.values():
        settings = load_settings(Path("/dev/null"), changes).settings
        for luck in range(options.repeats):
            job = Job(path, settings.forager.kind, per_hour(options.budget), 1 + luck, seeds, settings, warm_up)
            jobs.append(job)
    played = play_all(jobs, workers=1, done=lambda count: print(f"{count} of {len(jobs)}", file=sys.stderr, flush=True))
    return rows_of(played, options.repeats, lambda one: False)


def _mark(row: FleetRow, whole: FleetRow, figure: str) -> str:
    return "*" if row is not whole and paired(row, whole, figure)[1] < 0.05 else ""


def _tape(path: Path) -> Tape:
    if (path / CONTENTS).exists():
        return load_tape(path, check=False)
    return import_tables(path, origin=path.name).tape


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=Path)
    parser.add_argument("--budget", required=True, help="downloads per hour, such as 72/h")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--days", type=float, default=0.0, help="length of the part that is replayed; 0: to the end")
    parser.add_argument("--from-day", type=float, default=0.0)
    parser.add_argument("--first-hours", action="store_true")
    parser.add_argument(
        "--part",
        action="append",
        choices=[*dict.fromkeys([*PARTS, *ORDERS]), ORACLE],
        help="may be repeated; default: all",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
