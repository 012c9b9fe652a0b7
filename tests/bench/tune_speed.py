"""Trials per minute of `forager tune`, on one process and on two.

    python tests/bench/tune_speed.py [--trials 100] [--days 4] [--budget 25] [--processes 1 2]

A Newsroom of three papers, trained on its first half, one replay per trial. Trials per minute of wall time depend on what else
the machine does, and are counted from the end of the first trial to that of the last: processes take some seconds to start.
Beside them stands the processor time of a trial, all processes together, their start included.
"""

import argparse
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from forager.clock import WallClock
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import Settings
from forager.tuning.goals import goals_named
from forager.tuning.search import search
from forager.tuning.space import Space
from forager.tuning.study import Orders, Study, laid_out
from tests.newsroom_tape import tape_of_newsroom


def spent() -> float:
    """Processor seconds of this process and of those that ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--days", type=float, default=4.0)
    parser.add_argument("--budget", type=float, default=25.0)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    asked = parser.parse_args()
    base, goals = Settings(), goals_named(["late"])
    with TemporaryDirectory() as name:
        folder = Path(name)
        room = Newsroom(replace(NewsroomSettings(), seed=41, days=asked.days), WallClock())
        course = laid_out(tape_of_newsroom(room), folder, base, held_out=0.5, budget=asked.budget)
        list(course.training.watched(base, 1))  # compile before anything is measured
        began = time.process_time()
        downloads = list(course.training.watched(base, 1))[-1].efficiency.downloaded
        alone = time.process_time() - began
        print(
            f"a replay of the training part at its defaults: {downloads:,} downloads, {alone:.2f} s of processor time"
        )
        print(
            f"{'processes':>10}{'trials':>8}{'given up':>10}{'wall s':>9}{'trials/min':>12}{'CPU s/trial':>13}{'ratio':>8}"
        )
        first = 0.0
        for processes in asked.processes:
            place = folder / f"search{processes}"
            place.mkdir()
            space = Space(base).without_states()
            orders = Orders(place, (course.training,), (1,), space, goals, 1.0, 1)
            ended: list[float] = []
            cpu = spent()
            search(orders, 0, asked.trials, processes=processes, expired=lambda: False,
                   tell=lambda one, ended=ended: ended.append(time.perf_counter()) if one else None)  # fmt: skip
            wall, cpu = ended[-1] - ended[0], spent() - cpu
            done = Study(place, goals).trials()
            rate = 60 * (len(done) - 1) / wall
            first = first or rate
            print(f"{processes:>10}{len(done):>8}{sum(one.pruned for one in done):>10}{wall:>9.1f}{rate:>12.1f}"
                  f"{cpu / len(done):>13.2f}{rate / first:>8.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
