"""Scoring and ranking many known pages in one cycle: processor seconds, and memory beyond the history itself.

python tests/bench/schedule_scale.py            one million pages
python tests/bench/schedule_scale.py --full     ten million pages
"""

import argparse
import time
import tracemalloc

import numpy as np

from forager.recrawl.cycle import explain, top
from forager.recrawl.history import History
from forager.recrawl.policies import named
from forager.recrawl.simulate import downloads

POLICIES = ("age", "nad", "gad", "azar-rate", "t2", "t * X", "(X + 0.1) * t / (n + 1)", "log(cg + nad) * pow(t, 0.5)")


def history_of(pages: int) -> History:
    """Pages with up to six visits at irregular times, in cycles of a quarter of an hour."""
    rng = np.random.default_rng(0)
    history = History(pages, cycle=900.0)
    history.note_all(np.arange(pages), 0.0, np.zeros(pages, dtype=bool))
    for visit in range(1, 6):
        visited = np.flatnonzero(rng.random(pages) < 0.4)
        history.note_all(visited, 3600.0 * visit + 7.0, rng.random(len(visited)) < 0.2)
    return history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="ten million pages")
    parser.add_argument("--k", type=float, default=0.01, help="share of the pages taken")
    parser.add_argument("--policy", action="append", help="a policy to try; may be repeated")
    arguments = parser.parse_args()
    history = history_of(10_000_000 if arguments.full else 1_000_000)
    now, k = 25_000.0, downloads(len(history), arguments.k)
    print(f"{len(history):,} known pages, top {k:,}")
    print(f"{'policy':<30}{'whole pages, numpy':>20}{'in parts':>10}{'memory':>10}")
    for name in arguments.policy or POLICIES:
        score = named(name, np.random.default_rng(0))
        begun = time.process_time()
        states = history.states(now)
        scores = score.scores(states)
        np.lexsort((states.last, -scores))[:k]
        peer = time.process_time() - begun
        begun = time.process_time()
        schedule = top(history, score, now, k)
        ours = time.process_time() - begun
        tracemalloc.start()
        top(history, score, now, k)
        memory = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"{name:<30}{peer:>18.2f} s{ours:>8.2f} s{memory:>7.0f} MB")
    print("\n" + str(explain(history, score, now, int(schedule.pages[11]))))


if __name__ == "__main__":
    main()
