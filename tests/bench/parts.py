"""What each part of the default crawl is worth on a recording: the whole, the whole without one part, and simple rules.

    python tests/bench/parts.py RECORDING --budget 72/h [--repeats 5] [--days 10] [--from-day 0] [--part "without TD" …]

RECORDING is a tape, or a folder of tables as `forager import --table` takes it. Every part is replayed with the same luck as
the whole; * marks a difference that a paired t-test finds (p < .05). A greedy oracle is not among them: nothing in the
program tells a replay what a page holds before it is downloaded.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from forager.cli.options import per_hour
from forager.core.parameters import ForagerKind
from forager.importers.tables import import_tables
from forager.settings import load_settings
from forager.simulation.fleet_rows import FleetRow, paired
from forager.simulation.jobs import Job, play_all
from forager.simulation.replay import default_seeds
from forager.tape.cut import cut_tape
from forager.tape.tape import CONTENTS, Tape, load_tape, save

DAY = 86_400.0
FROZEN = ["reinforcing.scores.relative_gain=1e9", "reinforcing.population.first=16"]
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
FIGURES = ("coverage", "lasting", "late_hours", "requests_per_story", "freshness", "downloaded")


def main() -> None:
    options = _options()
    with TemporaryDirectory(prefix="forager-parts-") as folder:
        tape = _tape(options.recording)
        begin = tape.start + options.from_day * DAY
        end = min(tape.end, begin + options.days * DAY) if options.days else tape.end
        part = cut_tape(tape, begin, end)
        save(part, Path(folder))
        names = ["the whole", *(name for name in options.part or PARTS if name != "the whole")]
        rows = [_played(name, Path(folder), part, options) for name in names]
    whole = rows[0]
    print(f"{options.recording.name}, {options.budget}, {(end - begin) / DAY:.1f} days, {options.repeats} repeats")
    print("| | " + " | ".join(FIGURES) + " | born | deleted | processor s |")
    print("|---" * (len(FIGURES) + 4) + "|")
    for name, row in zip(names, rows, strict=True):
        told = [f"{row.mean(figure):.4g}{_mark(row, whole, figure)}" for figure in FIGURES]
        lives = [sum(getattr(one, what) for one in row.repeats) / len(row.repeats) for what in ("born", "deleted")]
        seconds = sum(one.seconds for one in row.repeats) / len(row.repeats)
        print(f"| {name} | {' | '.join(told)} | {lives[0]:.1f} | {lives[1]:.1f} | {seconds:.1f} |")


def _played(name: str, folder: Path, tape: Tape, options: argparse.Namespace) -> FleetRow:
    """One part, replayed with every luck."""
    settings = load_settings(Path("/dev/null"), PARTS[name]).settings
    warm_up = min(DAY / 2, (tape.end - tape.start) / 4)
    kind, budget, seeds = settings.forager.kind, per_hour(options.budget), default_seeds(tape)
    assert kind is not ForagerKind.BFS
    jobs = [Job(folder, kind, budget, 1 + luck, seeds, settings, warm_up) for luck in range(options.repeats)]
    row = FleetRow(kind.value, budget, False, tuple(play_all(jobs, workers=1)))
    print(f"{name}: coverage {row.mean('coverage'):.4f} ± {row.sd('coverage'):.4f}", file=sys.stderr, flush=True)
    return row


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
    parser.add_argument("--part", action="append", choices=list(PARTS), help="may be repeated; default: all")
    return parser.parse_args()


if __name__ == "__main__":
    main()
