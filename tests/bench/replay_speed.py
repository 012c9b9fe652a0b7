"""Simulated downloads per second on one core, at 10⁴, 10⁵ and 10⁶ page versions, and memory per version.

    python tests/bench/replay_speed.py [--sizes 10000,100000,1000000] [--downloads 200000]

A synthetic site: lists of 40 links and articles, six versions of each list for every hundred articles. Every size is
played with the same number of downloads; seconds are those of the processor, so that a busy machine counts less. The
default mode leaves downloads that promise too little; `all spent` makes it use every one. `read off` is a tape on which
articles are not downloaded but read off the lists. `growth` is the time of a
download against that at the smallest size: on a tape n times as large, n log n allows it to grow with the logarithm.
"""

import argparse
import math
import resource
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from forager.settings import PRESETS, Settings, load_settings
from forager.simulation.replay import Replay, ReplayPlan
from forager.tape.tape import KINDS, Tape
from forager.terms import Kind, UrlId

DAYS = 18
LINKS = 40


def site(versions: int, seed: int = 1) -> Tape:
    """Half of the versions are lists, half of them articles; list i shows its 40 newest articles at each of its versions."""
    rng = np.random.Generator(np.random.PCG64(seed))
    lists, each = max(4, versions // 200), 100
    articles = lists * each
    begin, end = 0.0, DAYS * 86_400.0
    born = np.sort(rng.uniform(begin, end, (lists, each)), axis=1)
    shown = np.arange(each)[:, None] - np.arange(LINKS - 4)[None, :]
    newest = np.where(shown < 0, 0, shown)[None] + lists + each * np.arange(lists)[:, None, None]
    others = rng.integers(0, lists, (lists, each, 4))
    links = np.concatenate([others, newest], axis=2).reshape(-1).astype(np.int32)
    home = np.repeat(np.arange(lists), each).astype(np.int32)[:, None]
    back = np.concatenate([home, rng.integers(lists, lists + articles, (articles, 3))], axis=1).astype(np.int32)
    start = np.concatenate([np.arange(lists * each) * LINKS, lists * each * LINKS + 4 * np.arange(articles + 1)])
    times = born.copy()
    times[:, 0] = begin
    pages, total = lists + articles, 2 * lists * each
    names = [f"https://site.example/{page}".encode() for page in range(pages)]
    kinds = np.full(pages, KINDS.index(Kind.ARTICLE), np.uint8)
    kinds[:lists] = KINDS.index(Kind.HUB)
    return Tape(
        url_text=np.frombuffer(b"".join(names), np.uint8),
        url_start=np.concatenate([[0], np.cumsum([len(name) for name in names])]).astype(np.int64),
        url_kind=kinds,
        version_start=np.concatenate([np.arange(lists) * each, lists * each + np.arange(articles + 1)]).astype(
            np.int64
        ),
        time=np.concatenate([times.reshape(-1), born.reshape(-1)]),
        published=np.concatenate([np.full(lists * each, np.nan), born.reshape(-1)]),
        digest=np.arange(1, total + 1, dtype=np.uint64),
        text_print=np.arange(1, total + 1, dtype=np.uint64),
        gone=np.zeros(total, np.bool_),
        seconds=np.ones(total, np.float32),
        state=np.full(total, -1, np.int32),
        link_set=np.arange(total, dtype=np.int32),
        link_start=start.astype(np.int64),
        links=np.concatenate([links, back.reshape(-1)]),
        states=np.empty((0, 0), np.float32),
        start=begin,
        end=end,
        origin=f"synthetic {total:,}",
        identity="url",
    )


def settings_of(preset: str, kind: str, share: float, least_worth: float | None = None) -> Settings:
    given = {**PRESETS[preset], "forager.kind": kind, "crawl.recrawl_share": share}
    if least_worth is not None:
        given["crawl.least_worth"] = least_worth
    return load_settings(
        Path("/dev/null"), [f"{key}={yaml.safe_dump(value).splitlines()[0]}" for key, value in given.items()]
    ).settings


def play(tape: Tape, settings: Settings, downloads: int) -> tuple[int, float]:
    """How many downloads were simulated, and in how many seconds of the processor."""
    budget = downloads / (DAYS * 24)
    plan = ReplayPlan(budget, tuple(UrlId(id) for id in range(4)))
    run = Replay(tape, plan, settings.crawl, settings.forager, settings.reinforcing,
                 revisit_after=settings.visits.revisit_after, seed=1)  # fmt: skip
    began = time.process_time()
    run.run()
    return run.world.downloads, time.process_time() - began


def _as_played(tape: Tape, mode: str) -> Tape:
    return replace(tape, identity="link") if mode == "read off" else tape


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--downloads", type=int, default=100_000)
    asked = parser.parse_args()
    modes = {
        "paper, WL": settings_of("paper", "WL", 0.0),
        "paper, RL": settings_of("paper", "RL", 0.0),
        "default": settings_of("", "WL", 0.8),
        "default, all spent": settings_of("", "WL", 0.8, 0.0),
        "default, RL": settings_of("", "RL", 0.8),
        "read off": settings_of("", "WL", 0.8, 0.0),
        "BFS": settings_of("", "BFS", 0.0),
    }
    for name, settings in modes.items():
        play(_as_played(site(2_000), name), settings, 2_000)  # compiles the kernels
    print(f"{'mode':20}{'versions':>12}{'downloads':>12}{'per second':>12}{'growth':>8}{'log':>6}{'bytes/version':>15}")
    first: dict[str, tuple[int, float]] = {}
    for size in map(int, asked.sizes.split(",")):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        tape = site(size)
        for name, settings in modes.items():
            count, took = play(_as_played(tape, name), settings, asked.downloads)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / tape.versions
            least, cost = first.setdefault(name, (tape.versions, took / count))
            growth, logarithm = took / count / cost, math.log(tape.versions) / math.log(least)
            speed = f"{count / took:>12,.0f}{growth:>8.2f}{logarithm:>6.2f}"
            print(f"{name:20}{tape.versions:>12,}{count:>12,}{speed}{grown:>15,.0f}", flush=True)


if __name__ == "__main__":
    main()
