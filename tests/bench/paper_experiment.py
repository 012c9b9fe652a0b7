"""The experiment of the foragers paper: a Newsroom recorded by 16 foragers, and WL against RL replayed on the recording.

    python tests/bench/paper_experiment.py [--parts findings,sweep,default] [--days 18] [--repeats 3]
    python tests/bench/paper_experiment.py --recording ndrtext-html --days 6 --budget 72 [--repeats 3]

findings  WL, RL and WLRL in the paper's mode from 2 to 16 foragers, original and rewired; says which of the findings hold
sweep     the same for other values of the reconstructed constants
default   the default fleet against BFS at several budgets, 5 newsrooms

The recording is made as in the paper: 8 WLRL and 8 WL foragers walk one paper of the Newsroom for 18 days in simulated
time, in the paper's mode. The tape holds what they downloaded, when they did; links lead to recorded pages only. The
world they walk is compiled from the Newsroom's own plan, not rendered and parsed: that would take hours.
With `--recording`, findings are of a real recording of `../shared/data` ($FORAGER_DATA), its first days: all that
was recorded is there, links lead to recorded pages only, states are made of the words of addresses and of what links there, and
the default fleet, with its recrawl side, stands beside the paper's mode.

States: PrTFIDF over 50 clusters learned from the articles of another newsroom; the state of a list of links is the mean of
the states of the articles it shows.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml
from numpy.typing import NDArray

from forager.chance import stream
from forager.clock import WallClock
from forager.core.parameters import ForagerKind, StateSettings
from forager.core.states import States
from forager.events import Event, Fetched
from forager.graph.figures import graph_figures
from forager.importers.tables import import_tables
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import PRESETS, load_settings
from forager.simulation.fleet_rows import FleetRow, paired, rows_of
from forager.simulation.jobs import Job, play_all
from forager.simulation.replay import Replay, ReplayPlan, default_seeds
from forager.tape.cut import PER_VERSION, cut_tape, distinct_links, rewired
from forager.tape.tape import Tape, save
from forager.terms import Outcome, UrlId
from tests.newsroom_tape import tape_of_newsroom

KINDS = (ForagerKind.WL, ForagerKind.RL, ForagerKind.WLRL)

SWEEP: Mapping[str, Sequence[object]] = {
    "forager.weblog.size": (20, 500),
    "forager.max_step": (20, 500),
    "forager.profit.discount": (0.5, 0.99),
    "forager.profit.rate": (0.01, 0.03),
    "reinforcing.relevancy.penalty": (-10.0, -50.0),
    "reinforcing.relevancy.reward": (10.0,),
    "reinforcing.scores.sent": (0.2, 0.4),
    "forager.weblog.split_rl": (True,),
    "forager.weblog.penalties": (False,),
    "states.scale": (1.0, 30.0),
}
"""Other values of the reconstructed constants; `states.scale` is the c of the tanh."""


def newsroom(seed: int, days: float, papers: int = 3, pace: float = 1.0) -> Newsroom:
    """`pace` times as many articles as usual."""
    usual = NewsroomSettings()
    chosen = replace(usual, seed=seed, days=days, papers=usual.papers[:papers], pace=pace * usual.pace)
    return Newsroom(chosen, WallClock())


def texts(room: Newsroom) -> dict[str, str]:
    """The first text of every article by its URL."""
    written = {story.url: room.plan.writer.text(story.article, 0) for story in room.truth.stories}
    return {url: " ".join([text.headline, *map(" ".join, text.paragraphs)]) for url, text in written.items()}


def with_states(tape: Tape, of_article: Mapping[str, str], states: States) -> Tape:
    """The tape with a state for every article and every version of a list."""
    rows = dict(zip(of_article, states.of(list(of_article.values())), strict=True))
    nothing = np.zeros(states.settings.dimension, np.float32)
    of_page = np.array([rows.get(url, nothing) for url in tape.urls()])
    article: NDArray[np.bool_] = np.asarray(of_page.any(axis=1))
    owner = tape.owners()
    vectors: NDArray[np.float32] = of_page[owner]
    for version in np.flatnonzero(~article[owner]).tolist():
        shown = tape.links_of(version)
        shown = shown[article[shown]]
        if len(shown):
            vectors[version] = of_page[shown].mean(axis=0)
    return replace(tape, states=vectors, state=np.arange(tape.versions, dtype=np.int32))


RECORDERS = (ForagerKind.WLRL,) * 8 + (ForagerKind.WL,) * 8
"""The first foragers of the recording crawl; nobody multiplies or is deleted, as there are 16."""


def recorded(tape: Tape, seeds: tuple[UrlId, ...], budget: float) -> Tape:
    """What 16 foragers see of a world: the versions that they downloaded, at the time they did."""
    settings = load_settings(Path("/dev/null"), paper_settings()).settings
    rows: list[tuple[int, float, int]] = []

    def take(event: Event) -> None:
        if isinstance(event, Fetched) and event.outcome in (Outcome.FETCHED, Outcome.GONE):
            rows.append((event.id, event.at, int(run.world.held[event.id])))

    run = Replay(
        tape, ReplayPlan(budget, seeds, RECORDERS), settings.crawl, settings.forager,
        replace(settings.reinforcing, population=replace(settings.reinforcing.population, least=16)),
        revisit_after=settings.visits.revisit_after, seed=1, tell=take,
    )  # fmt: skip
    run.run()
    page, time, version = (np.array(column) for column in zip(*rows, strict=True))
    order = np.lexsort((time, page))
    page, time, version = page[order], time[order], version[order].astype(np.int64)
    changed = np.ones(len(page), np.bool_)
    changed[1:] = (page[1:] != page[:-1]) | (version[1:] != version[:-1])
    page, time, version = page[changed], time[changed], version[changed]
    columns = {name: getattr(tape, name)[version] for name in PER_VERSION} | {"time": time}
    begins = np.searchsorted(page, np.arange(tape.pages + 1)).astype(np.int64)
    return replace(_stored_links(replace(tape, **columns, version_start=begins)), origin=f"{tape.origin}, recorded")


def _stored_links(tape: Tape) -> Tape:
    """The tape with links to recorded pages only, standing from the time at which these are recorded (section 6)."""
    kept = (np.diff(tape.version_start) > 0)[tape.links]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return replace(tape, links=tape.links[kept], link_start=before[tape.link_start], waits=True)


def paper_settings(**changed: object) -> list[str]:
    values = {**PRESETS["paper"], **changed}
    return [f"{key}={yaml.safe_dump(value).splitlines()[0]}" for key, value in values.items()]


def progress(count: int, total: int) -> None:
    sys.stderr.write(f"\r{count} of {total} replays" + ("\n" if count == total else ""))


def paper_jobs(
    worlds: Sequence[Path],
    seeds: tuple[UrlId, ...],
    budget: float,
    repeats: int,
    kinds: Sequence[ForagerKind],
    changed: Mapping[str, object],
) -> list[Job]:
    settings = load_settings(Path("/dev/null"), paper_settings(**changed)).settings
    return [
        Job(world, kind, budget, 1 + repeat, seeds, settings)
        for world in worlds
        for kind in kinds
        for repeat in range(repeats)
    ]


def compared(jobs: Sequence[Job], repeats: int) -> list[FleetRow]:
    """The rows of jobs of which the first is on the original graph; the twins' folders are called twin."""
    played = play_all(jobs, done=lambda count: progress(count, len(jobs)))
    return rows_of(played, repeats, lambda one: one.job.tape.name.startswith("twin"))


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
        print(f"{name:22}" + "".join(f"{row.mean(name):>12.4g} ± {row.sd(name):<5.2g}" for row in rows))
    lives = [f"{played.born}/{played.deleted}" for row in rows for played in row.repeats]
    print(f"foragers born/deleted: {' '.join(lives)}\n")


def findings(worlds: Sequence[Path], seeds: tuple[UrlId, ...], budget: float, repeats: int) -> None:
    rows = compared(paper_jobs(worlds, seeds, budget, repeats, KINDS, {}), repeats)
    print(f"\n{budget:g} downloads per hour, {repeats} repeats, mean ± standard deviation; r: rewired")
    show(rows)
    for name, holds, by in verdicts(rows):
        print(f"{'holds' if holds else 'FAILS':6} {name}: {by}")


def sweep(
    worlds: Sequence[Path],
    scaled: Mapping[float, Sequence[Path]],
    seeds: tuple[UrlId, ...],
    budget: float,
    repeats: int,
) -> None:
    print(f"\nsweep at {budget:g} downloads per hour, {repeats} repeats: which findings hold")
    short = ("dl≈", "sent", "fresh", "age", "found", "rewired")
    print(f"{'':38}" + "".join(f"{name:>9}" for name in short))
    variants: list[tuple[str, Sequence[Path], dict[str, object]]] = [("as reconstructed", worlds, {})]
    for key, values in SWEEP.items():
        for value in values:
            if key == "states.scale":
                variants.append((f"{key} {value}", scaled[float(str(value))], {}))
            else:
                variants.append((f"{key} {value}", worlds, {key: value}))
    jobs = [
        job for _, where, changed in variants for job in paper_jobs(where, seeds, budget, repeats, KINDS[:2], changed)
    ]
    rows = compared(jobs, repeats)
    for place, (name, _, _) in enumerate(variants):
        held = verdicts(rows[4 * place : 4 * place + 4])  # WL and RL on both graphs
        print(f"{name:38}" + "".join(f"{'holds' if one[1] else '-':>9}" for one in held), flush=True)


def against_bfs(folder: Path, days: float, budgets: Sequence[float], rooms: int) -> None:
    """The default fleet and the sweep on several newsrooms."""
    settings = load_settings(Path("/dev/null")).settings
    jobs = []
    for seed in range(1, rooms + 1):
        room = newsroom(seed, days)
        save(tape_of_newsroom(room), folder / f"room{seed}")
        seeds = tuple(UrlId(id) for id in range(len(room.homes)))
        jobs += [
            Job(folder / f"room{seed}", kind, budget, seed, seeds, settings, warm_up=43_200.0)
            for budget in budgets
            for kind in (ForagerKind.WL, ForagerKind.BFS)
        ]
    played = play_all(jobs, done=lambda count: progress(count, len(jobs)))
    print(f"\ndefault fleet (with the recrawl side) against BFS, {rooms} newsrooms of {days:g} days, mean ± sd")
    print(f"{'budget':>8} {'fleet':>6}{'coverage':>18}{'late h':>18}{'requests/story':>18}{'downloaded':>18}")
    for budget in budgets:
        for kind in (ForagerKind.WL, ForagerKind.BFS):
            row = FleetRow(
                kind.value, budget, False, tuple(p for p in played if (p.job.budget, p.job.kind) == (budget, kind))
            )
            cells = [f"{row.mean(name):.4g} ± {row.sd(name):.2g}"
                     for name in ("coverage", "late_hours", "requests_per_story", "downloaded")]  # fmt: skip
            print(f"{budget:>8g} {kind.value:>6}" + "".join(f"{cell:>18}" for cell in cells))


DATA = Path(os.environ.get("FORAGER_DATA", "../shared/data"))
IDENTITIES = {"ndrtext-html": "text", "teletext-2022": "text", "frontpages-html": "link"}


def on_recording(name: str, folder: Path, days: float, budget: float, repeats: int) -> None:
    """WL, RL and WLRL in the paper's mode on a real recording and its rewired twin, then the default fleet."""
    place = DATA / name / "tables" if (DATA / name / "tables").exists() else DATA / name
    whole = import_tables(place, origin=name, identity=IDENTITIES[name]).tape
    tape = _stored_links(cut_tape(whole, whole.start, whole.start + days * 86_400))
    seeds, worlds = default_seeds(tape), [folder / "tape", folder / "twin"]
    for world, one in zip(worlds, (tape, rewired(tape, stream(1, "rewiring"))), strict=True):
        graph = graph_figures(*distinct_links(one), stream(1, "mean path"))
        print(f"{world.name}: {one!r}\n  clustering {graph.clustering:.4f}, mean path {graph.mean_path:.3f}, "
              f"exponents in {graph.in_exponent:.2f}, out {graph.out_exponent:.2f}", flush=True)  # fmt: skip
        save(one, world)
    findings(worlds, seeds, budget, repeats)
    settings = load_settings(Path("/dev/null")).settings
    jobs = [
        Job(world, kind, budget, 1 + repeat, seeds, settings)
        for world in worlds
        for kind in KINDS
        for repeat in range(repeats)
    ]
    print("\nthe default, with its recrawl side")
    show(compared(jobs, repeats))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="findings,sweep,default")
    parser.add_argument("--days", type=float, default=18.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=600.0, help="downloads per hour in the paper's mode")
    parser.add_argument("--pace", type=float, default=4.0, help="articles, as a multiple of a usual paper's")
    parser.add_argument("--recording", choices=sorted(IDENTITIES), help="a real one instead of the Newsroom")
    asked = parser.parse_args()
    began = time.perf_counter()
    with TemporaryDirectory() as name:
        folder = Path(name)
        if asked.recording:
            on_recording(asked.recording, folder, asked.days, asked.budget, asked.repeats)
            return
        if {"findings", "sweep"} & set(asked.parts.split(",")):
            room = newsroom(1, asked.days, papers=1, pace=asked.pace)  # the paper's recording is of one site
            whole, of_article = tape_of_newsroom(room), texts(room)
            seeds = tuple(UrlId(id) for id in range(len(room.homes)))
            corpus = list(texts(newsroom(101, 4.0)).values())
            worlds: dict[float, list[Path]] = {}
            for scale in (10.0, 1.0, 30.0) if "sweep" in asked.parts else (10.0,):
                stated = with_states(whole, of_article, States(StateSettings(scale=scale)).train(corpus))
                tape = recorded(stated, seeds, asked.budget)
                worlds[scale] = [folder / f"tape{scale:g}", folder / f"twin{scale:g}"]
                twin = rewired(tape, stream(1, "rewiring"))
                save(tape, worlds[scale][0])
                save(twin, worlds[scale][1])
                if scale == 10.0:
                    for label, one in (("original", tape), ("rewired", twin)):
                        graph = graph_figures(*distinct_links(one), stream(1, "mean path"))
                        print(f"{label}: {one!r}\n  clustering {graph.clustering:.4f}, mean path {graph.mean_path:.3f}, "
                              f"exponents in {graph.in_exponent:.2f}, out {graph.out_exponent:.2f}", flush=True)  # fmt: skip
            if "findings" in asked.parts:
                findings(worlds[10.0], seeds, asked.budget, asked.repeats)
            if "sweep" in asked.parts:
                sweep(worlds[10.0], worlds, seeds, asked.budget / 2, 2)
        if "default" in asked.parts:
            against_bfs(folder, 6.0, (20.0, 40.0, 80.0, 160.0), 5)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
