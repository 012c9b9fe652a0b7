"""Kernels as machine code and as plain Python: the same results bit for bit, whichever runs."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from forager.events import Journal, event_line
from forager.kernel import compiled, inner, interpreted
from forager.settings import load_settings
from forager.simulation.replay import Replay, ReplayPlan
from tests.simulation.small_tape import DAY, HOME, paper
from tests.virtual import crawl_newsroom

ROW = np.dtype([("count", np.int32), ("share", np.float32), ("worth", np.float64), ("hub", np.bool_)])


class Bundle(NamedTuple):
    rows: NDArray[np.void]
    factor: float


@inner
def _grow(row: NDArray[np.void], by: float) -> float:
    row.count += row.hub + 1  # type: ignore[attr-defined]
    row.share = row.share * by  # type: ignore[attr-defined]
    row.worth = row.share / (row.worth - row.worth) + math.exp(row.share)  # type: ignore[attr-defined]
    return row.share * 3  # type: ignore[attr-defined, no-any-return]


@compiled
def _grow_all(bundle: Bundle, hashes: NDArray[np.uint64]) -> tuple[float, bool, int, float]:
    """By a row that is changed in place, a division by zero, an overflow and numbers of several widths."""
    total, large = 0, hashes[0]
    for i in range(len(bundle.rows)):
        total += _grow(bundle.rows[i], bundle.factor)
        large = large * hashes[0] ^ large >> np.uint64(3)
    hashes[0] = large
    return total, bundle.rows[0].hub, bundle.rows[0].count, math.log(bundle.factor - bundle.factor)


def grown() -> tuple[object, ...]:
    rows = np.array([(1, 0.1, 2.0, True), (2, 1e30, 0.0, False)], ROW)
    hashes = np.array([0x9E3779B97F4A7C15], np.uint64)
    result = _grow_all(Bundle(rows, 1.7), hashes)
    return repr(result), rows.tobytes(), hashes.tolist()


def test_a_kernel_gives_and_changes_the_same_as_plain_python() -> None:
    machine = grown()
    with interpreted():
        assert grown() == machine
    assert grown() == machine


def test_a_record_that_is_an_argument_is_changed_in_place_by_both() -> None:
    def changed() -> tuple[float, bytes]:
        rows = np.array([(1, 0.1, 2.0, True)], ROW)
        return _grow(rows[0], 2.0), rows.tobytes()

    machine = changed()
    with interpreted():
        assert changed() == machine


def replayed(*overrides: str, told: bool) -> tuple[bytes, bytes]:
    """The journal of a replay of a small newspaper, and what was learned of its pages; untold it plays by kernels alone."""
    settings, lines = load_settings(Path("/dev/null"), list(overrides)).settings, list[bytes]()
    replay = Replay(
        paper(),
        ReplayPlan(60.0, (HOME,), end=1.5 * DAY),
        settings.crawl,
        settings.forager,
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        seed=1,
        tell=Journal([lambda event: lines.append(event_line(event))]).write if told else None,
    )
    account = replay.run()
    return b"".join([*lines, account.found.tobytes()]), replay.shared.visits.save()


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("kind", ["WL", "WLRL", "BFS"])
def test_a_replay_is_the_same_compiled_and_interpreted(kind: str, told: bool) -> None:
    machine = replayed(f"forager.kind={kind}", told=told)
    with interpreted():
        assert replayed(f"forager.kind={kind}", told=told) == machine


@pytest.mark.parametrize("kind", ["WL", "RL"])
def test_a_crawl_is_the_same_compiled_and_interpreted(kind: str) -> None:
    machine = crawl_newsroom(1.5, f"forager.kind={kind}").journal.getvalue()
    assert len(machine.splitlines()) > 200
    with interpreted():
        assert crawl_newsroom(1.5, f"forager.kind={kind}").journal.getvalue() == machine


def test_numbas_own_switch_is_obeyed() -> None:
    script = "import sys; from tests.virtual import crawl_newsroom\n"
    script += "sys.stdout.buffer.write(crawl_newsroom(0.5).journal.getvalue()); assert 'numba' not in sys.modules"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, env=environment)
    assert told.stdout == crawl_newsroom(0.5).journal.getvalue()


def test_score_functions_are_learned_with_numbas_own_switch_off() -> None:
    script = "from tests.virtual import crawl_newsroom; from forager.gp import grouped, machine\n"
    script += "assert grouped._evaluate is machine.evaluate.plain()"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
