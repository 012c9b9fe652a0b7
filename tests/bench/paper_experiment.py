"""The experiment of the foragers paper on a real recording: WL against RL and WLRL, as recorded and rewired.

    python tests/bench/paper_experiment.py ndrtext-html --days 6 --budget 72 [--repeats 20] [--populations]
    python tests/bench/paper_experiment.py teletext-2022 --only //ndr. --days 42 --budget 24
    python tests/bench/paper_experiment.py ndrtext-html --begin 12.4 --days 6 --budget 72 -s forager.profit.discount=.5

The recordings are those of `../shared/data` ($FORAGER_DATA), or a part: pages whose address holds some text (`--only`), and
some days. All that was recorded is there, links lead to recorded pages only; RL foragers start from the pages that the
recording saw first. Fleets of the paper's mode begin with 2 foragers and may grow to 16; `-s` sets anything else. The default
fleet, with its recrawl side, stands beside them.

`--populations`: fleets of 2, 4, 8 and 16 foragers that neither multiply nor are deleted, and the 8 WLRL with 8 WL of the
paper's run on the web.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))
import corpora

from forager.chance import stream
from forager.core.parameters import ForagerKind
from forager.graph.figures import graph_figures
from forager.importers.tables import import_tables
from forager.settings import PRESETS, Settings, load_settings
from forager.simulation.fleet_rows import FleetRow, paired, rows_of
from forager.simulation.jobs import Job, play_all
from forager.simulation.replay import default_seeds
from forager.tape.cut import cut_tape, distinct_links, rewired
from forager.tape.tape import Tape, load_tape, save

KINDS = (ForagerKind.WL, ForagerKind.RL, ForagerKind.WLRL)
IDENTITIES = {"ndrtext-html": "text", "teletext-2022": "text", "frontpages-html": "link"}
DAY = 86_400.0


def part_of(name: str, only: str, begin: float, days: float) -> Tape:
    """Some days of the pages of a recording whose addresses hold this text, with links between them alone."""
    place = corpora.recording(name, "tables") if name == "frontpages-html" else corpora.recording(name)
    with TemporaryDirectory() as folder:
        corpora.part_of_tables(place, Path(folder), only=only, days=begin + days)
        whole = import_tables(Path(folder), origin=name, identity=IDENTITIES[name]).tape
    tape = cut_tape(whole, whole.start + begin * DAY, whole.end)
    kept = (np.diff(tape.version_start) > 0)[tape.links]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return replace(tape, links=tape.links[kept], link_start=before[tape.link_start], waits=True)


def paper_settings(changed: Mapping[str, object], given: Sequence[str]) -> Settings:
    values = {**PRESETS["paper"], **changed}
    own = [f"{key}={yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}" for key, value in values.items()]
    return load_settings(Path("/dev/null"), [*own, *given]).settings


def compared(
    worlds: Sequence[Path], settings: Settings, asked: argparse.Namespace, kinds: Sequence[ForagerKind] = KINDS
) -> list[FleetRow]:
    """The rows of these kinds on the recorded graph and on its twin, which is the second."""
    seeds = default_seeds(load_tape(worlds[0]))
    jobs = [
        Job(world, kind, asked.budget, 1 + repeat, seeds, settings)
        for world in worlds
        for kind in kinds
        for repeat in range(asked.repeats)
    ]
    return rows_of(
        play_all(jobs, done=progress, workers=asked.processes), asked.repeats, lambda one: one.job.tape == worlds[1]
    )


def progress(count: int) -> None:
    sys.stderr.write(f"\r{count} replays")


def verdicts(rows: Sequence[FleetRow]) -> list[tuple[str, bool, str]]:
    """The paper's findings, whether they hold here, and by which figures."""
    of = {(row.kind, row.rewired): row for row in rows}
    wl, rl = of["WL", False], of["RL", False]
    wl_twin, rl_twin = of["WL", True], of["RL", True]

    def told(name: str, one: FleetRow = wl, other: FleetRow = rl) -> str:
        p = paired(one, other, name)[1]
        return f"{one.kind} {one.mean(name):.4g}, {other.kind} {other.mean(name):.4g} (p {p:.2g})"

    equal = abs(wl.mean("download_efficiency") / rl.mean("download_efficiency") - 1) <= 0.15
    found = [
        ("download efficiency about equal (within 15 %)", equal, told("download_efficiency")),
        *(
            (f"{name} {'lower' if sign < 0 else 'higher'} for {'WL' if name != 'relative_found_url' else 'RL'}",
             sign * (wl.mean(name) - rl.mean(name)) * (-1 if name == "relative_found_url" else 1) > 0, told(name))
            for name, sign in (("sent_efficiency", 1), ("freshness", 1), ("age_hours", -1), ("relative_found_url", 1))
        ),
        ("rewired: RL better than WL by download efficiency",
         rl_twin.mean("download_efficiency") > wl_twin.mean("download_efficiency"),
         told("download_efficiency", wl_twin, rl_twin)),
    ]  # fmt: skip
    for twin in (False, True):
        if ("WLRL", twin) in of:
            best = max(of[kind, twin].mean("download_efficiency") for kind in ("WL", "RL", "WLRL"))
            own = of["WLRL", twin].mean("download_efficiency")
            name = f"{'rewired: ' if twin else ''}WLRL within 10 % of the best by download efficiency"
            found.append((name, own >= 0.9 * best, f"WLRL {own:.4g}, best {best:.4g}"))
    return found


def show(rows: Sequence[FleetRow]) -> None:
    """The measures of the paper, and ours, of each fleet."""
    names = ("downloaded", "sent", "relevant", "found_urls", "download_efficiency", "sent_efficiency",
             "relative_found_url", "freshness", "age_hours", "delay_median_s", "coverage")  # fmt: skip
    print(f"{'':22}" + "".join(f"{row.kind + (' r' if row.rewired else ''):>20}" for row in rows))
    for name in names:
        cells = [f"{row.mean(name):.4g} ± {row.sd(name):.2g}{_star(row, rows, name)}" for row in rows]
        print(f"{name:22}" + "".join(f"{cell:>20}" for cell in cells))
    lives = [f"{played.born}/{played.deleted}" for row in rows for played in row.repeats]
    print(f"foragers born/deleted: {' '.join(lives)}\n")


def _star(row: FleetRow, rows: Sequence[FleetRow], name: str) -> str:
    """A star if it differs from the first fleet on the same graph in a paired t-test."""
    first = next(one for one in rows if one.rewired == row.rewired)
    return "*" if row is not first and paired(row, first, name)[1] < 0.05 else ""


def populations(worlds: Sequence[Path], asked: argparse.Namespace) -> None:
    """Fleets of a fixed size, and the mixed one."""
    for count in (2, 4, 8, 16):
        sizes: dict[str, object] = {f"reinforcing.population.{name}": count for name in ("first", "least", "most")}
        print(f"\n{count} foragers all the time")
        show(compared(worlds, paper_settings(sizes, asked.set), asked))
    print("8 WLRL and 8 WL all the time")
    mixed = {**sizes, "forager.kinds": {"WLRL": 8, "WL": 8}}
    show(compared(worlds, paper_settings(mixed, asked.set), asked, KINDS[2:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", choices=sorted(IDENTITIES))
    parser.add_argument("--only", default="", help="pages whose address holds this")
    parser.add_argument("--begin", type=float, default=0.0, help="day on which the part begins")
    parser.add_argument("--days", type=float, default=6.0)
    parser.add_argument("--budget", type=float, default=72.0, help="downloads per hour")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--populations", action="store_true", help="only fleets of fixed sizes")
    parser.add_argument("--processes", type=int, default=0, help="0: one per core")
    parser.add_argument(
        "-s", "--set", action="append", default=[], help="a setting of the paper's mode, section.key=value"
    )
    asked = parser.parse_args()
    began = time.process_time()
    with TemporaryDirectory() as name:
        worlds = [Path(name, "tape"), Path(name, "twin")]
        tape = part_of(asked.recording, asked.only, asked.begin, asked.days)
        for world, one in zip(worlds, (tape, rewired(tape, stream(1, "rewiring"))), strict=True):
            graph = graph_figures(*distinct_links(one), stream(1, "mean path"))
            print(f"{world.name}: {one!r}\n  clustering {graph.clustering:.4f}, mean path {graph.mean_path:.3f}, "
                  f"exponents in {graph.in_exponent:.2f}, out {graph.out_exponent:.2f}", flush=True)  # fmt: skip
            save(one, world)
        if asked.populations:
            return populations(worlds, asked)
        rows = compared(worlds, paper_settings({}, asked.set), asked)
        print(f"\n{asked.budget:g} downloads per hour, {asked.repeats} repeats, mean ± standard deviation; r: rewired")
        show(rows)
        for finding, holds, by in verdicts(rows):
            print(f"{'holds' if holds else 'FAILS':6} {finding}: {by}")
        print("\nthe default, with its recrawl side")
        show(compared(worlds, load_settings(Path("/dev/null")).settings, asked))
    print(f"{time.process_time() - began:.0f} s in this process")


if __name__ == "__main__":
    main()
