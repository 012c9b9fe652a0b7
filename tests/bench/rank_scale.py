"""Time per iteration and peak memory of the walks on graphs of 10⁶ to 10⁸ links (10⁹ on demand), beside two peers.

Each size and each program runs in a process of its own, on the same random links: 12 a page, a quarter of the pages
frontier, popular targets drawn more often. Peak memory is that of the whole process so far, Python and link
generation included. The time of a step is the whole run less a run stopped after its first step, over the steps
between; with few steps on a busy machine that is noise. igraph solves PageRank by PRPACK, which has no such steps:
compare whole times. networkx's tolerance is per page, so it stops at the same summed change as we do.

    python tests/bench/rank_scale.py                       # 10⁶ and 10⁷
    python tests/bench/rank_scale.py --sizes 6 7 8
    python tests/bench/rank_scale.py --sizes 9 --only ours --limit 10800   # on a quiet machine with 20 GB

Memory of ours, by arithmetic: the links twice, by target and by source, at 4 bytes; RW-EG holds 11 numbers of 8 bytes for
each page (two rows of starts, impact, two degrees, a, b, x, y, votes, a buffer), a twelfth of the links: 15.3 bytes per
link, 15.3 GB at 10⁹ and some 300 MB for Python. Links are generated twice, chunk by chunk, straight into place: the build
holds 8 bytes per link and 5 numbers per page (11.3 GB). From 10⁹ on each solution is timed once, not twice.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

LINKS_PER_PAGE = 12
FRONTIER_SHARE = 0.25
CHUNK = 4_000_000
TOLERANCE = 1e-9
ONCE = 10**9
"""Graphs of so many links are solved once."""


def chunks(links: int, seed: int = 0):
    """The links of a synthetic crawl, a few million at a time."""
    rng = np.random.default_rng(seed)
    pages = links // LINKS_PER_PAGE
    downloaded = int(pages * (1 - FRONTIER_SHARE))
    spread = 2654435761 % pages | 1  # neighbours in popularity are no neighbours in memory
    for begin in range(0, links, CHUNK):
        count = min(CHUNK, links - begin)
        sources = rng.integers(0, downloaded, count, dtype=np.int32)
        popularity = (pages * rng.random(count) ** 3).astype(np.int64)
        yield sources, (popularity * spread % pages).astype(np.int32)


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_ours(links: int) -> list[dict]:
    from forager.graph.graph import GrowingGraph
    from forager.graph.walks import WalkSettings, enriched_walk, page_rank, random_walk

    warm_up = GrowingGraph()
    warm_up.add_page(0, [1])
    enriched_walk(warm_up.graph(), np.ones(2), WalkSettings())  # compile, or load what was compiled

    began = time.perf_counter()
    growing = GrowingGraph()
    for sources, targets in chunks(links):
        growing.add_links(sources, targets)
    graph = growing.graph()
    built = time.perf_counter() - began
    rng = np.random.default_rng(1)
    impact = np.where(rng.random(graph.pages) < 0.0014, 10 * rng.pareto(1.2, graph.pages) + 1, 0.0)
    rows = []
    for name, solve in (
        ("PageRank", lambda settings: page_rank(graph, settings)),
        ("RW", lambda settings: random_walk(graph, impact, settings)),
        ("RW-EG", lambda settings: enriched_walk(graph, impact, settings)),
    ):
        if name == "RW-EG":
            graph.out  # noqa: B018  links by source, made once and kept
        times = 1 if links >= ONCE else 2
        once, _ = timed(lambda solve=solve: solve(WalkSettings(max_iterations=1)), times)
        seconds, ranking = timed(lambda solve=solve: solve(WalkSettings(tolerance=TOLERANCE)), times)
        rows.append(row(f"forager {name}", graph.links, built, seconds, ranking.iterations, once))
        if name == "PageRank":
            rows[-1]["top"] = top(ranking.scores)
    return rows


def timed(call, repeats: int = 2):
    """The shortest time of some calls in seconds, and what the last returned."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - began)
    return min(times), answer


def run_networkx(links: int) -> list[dict]:
    import networkx as nx

    began = time.perf_counter()
    peer = nx.DiGraph()
    for sources, targets in chunks(links):
        own = sources != targets
        peer.add_edges_from(zip(sources[own].tolist(), targets[own].tolist(), strict=True))
    built = time.perf_counter() - began
    steps, once = iterations_of_networkx(nx, peer)
    seconds, scores = timed(lambda: nx.pagerank(peer, alpha=0.85, tol=TOLERANCE / len(peer), max_iter=1000))
    dense = np.zeros(max(scores) + 1)
    dense[list(scores)] = list(scores.values())
    return [row("networkx PageRank", peer.number_of_edges(), built, seconds, steps, once) | {"top": top(dense)}]


def iterations_of_networkx(nx, peer) -> tuple[int, float]:
    """The smallest limit at which networkx does not give up, as it does not tell its steps; and the time of one."""

    def enough(limit: int) -> bool:
        try:
            nx.pagerank(peer, alpha=0.85, tol=TOLERANCE / len(peer), max_iter=limit)
        except nx.PowerIterationFailedConvergence:
            return False
        return True

    once, _ = timed(lambda: enough(1))
    low, high = 1, 128
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low, once


def run_igraph(links: int) -> list[dict]:
    import igraph

    began = time.perf_counter()
    pairs = np.concatenate([np.stack(chunk, axis=1) for chunk in chunks(links)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    peer = igraph.Graph(n=links // LINKS_PER_PAGE, edges=pairs, directed=True)
    del pairs
    peer.simplify()
    built = time.perf_counter() - began
    seconds, scores = timed(lambda: np.array(peer.pagerank(damping=0.85)))
    return [row("igraph PageRank", peer.ecount(), built, seconds) | {"top": top(scores)}]


def top(scores: np.ndarray) -> list[int]:
    """The ten best pages, to see that all solve the same problem."""
    return np.argsort(-scores, kind="stable")[:10].tolist()


def row(name: str, links: int, built: float, seconds: float, steps: int = 0, once: float = 0.0) -> dict:
    """One line of the table; `once` is the time of a run stopped after its first step."""
    step = (seconds - once) / (steps - 1) if steps > 1 else None
    return {"name": name, "links": links, "built": built, "seconds": seconds, "steps": steps, "step": step} | {
        "peak": peak_mb()
    }


RUNS = {"ours": run_ours, "igraph": run_igraph, "networkx": run_networkx}
LARGEST = {"ours": 9, "igraph": 7, "networkx": 6}
"""The power of ten each program is asked for at most: igraph took 190 bytes a link at 10⁷, networkx 500 at 10⁶."""


def measured(program: str, size: int, limit: float) -> list[dict] | str:
    """The rows of one program at one size, from a process of its own; or why there are none."""
    command = [sys.executable, __file__, "--child", program, str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"not done in {limit:.0f} s"
    if done.returncode:
        return f"failed ({done.returncode}): {(done.stderr.strip().splitlines() or ['killed'])[-1][:80]}"
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sizes", type=int, nargs="+", default=[6, 7], help="powers of ten: links")
    options.add_argument("--only", choices=RUNS, nargs="+", default=list(RUNS))
    options.add_argument("--limit", type=float, default=900, help="seconds for one process")
    options.add_argument("--child", nargs=2, metavar=("PROGRAM", "SIZE"), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.child:
        program, size = chosen.child
        print(json.dumps(RUNS[program](10 ** int(size))))
        return
    print(f"{'':18} {'links':>13} {'build s':>8} {'solve s':>8} {'steps':>6} {'s/step':>8} {'peak MB':>8}  top 10")
    for size in chosen.sizes:
        best = None
        for program in chosen.only:
            if size > LARGEST[program]:
                continue
            rows = measured(program, size, chosen.limit)
            if isinstance(rows, str):
                print(f"{program:18} 10^{size}: {rows}")
                continue
            for found in rows:
                if "top" in found:
                    best = best or found["top"]
                print(line(found, best), flush=True)


def line(found: dict, best: list[int] | None) -> str:
    step = "–" if found["step"] is None else f"{found['step']:.4f}" if found["step"] > 0 else "noise"
    same = "" if "top" not in found else "same" if found["top"] == best else "differs"
    return (
        f"{found['name']:18} {found['links']:13,} {found['built']:8.2f} {found['seconds']:8.3f} "
        f"{found['steps'] or '–':>6} {step:>8} {found['peak']:8,}  {same}"
    )


if __name__ == "__main__":
    main()
