"""Replays in processes: each opens a tape once, and none outlives whoever started it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from forager.core.parameters import ForagerKind
from forager.errors import InputError
from forager.settings import Settings
from forager.simulation.jobs import Crew, Job, Player, Stopped, Work
from forager.tape.tape import save
from tests.simulation.small_tape import HOME, paper

ROOT = Path(__file__).parents[2]


def job(folder: Path, seed: int = 1) -> Job:
    return Job(folder, ForagerKind.WL, 20.0, seed, (HOME,), Settings())


def test_a_tape_is_opened_once_whatever_is_played_on_it(tmp_path: Path) -> None:
    save(paper(days=1.0), tmp_path / "tape")
    player = Player()
    first = player(job(tmp_path / "tape"))
    assert first is not None
    shutil.rmtree(tmp_path / "tape")
    again = player(job(tmp_path / "tape"))
    assert again is not None
    assert again.figures == first.figures


def test_what_is_derived_from_a_tape_is_computed_once(tmp_path: Path) -> None:
    save(paper(days=1.0), tmp_path)
    player = Player()
    one, other = player.replay(job(tmp_path)), player.replay(job(tmp_path, 2))
    assert one.account.truth is other.account.truth
    assert one.world.columns.links is other.world.columns.links
    assert one.world.columns.last is not other.world.columns.last


def test_a_replay_in_pieces_is_the_replay_at_once_and_can_be_stopped(tmp_path: Path) -> None:
    save(paper(days=1.0), tmp_path)
    player = Player()
    whole, pieces = player(job(tmp_path)), player(job(tmp_path), lambda: False)
    assert whole is not None
    assert pieces is not None
    assert (pieces.figures, repr(pieces.samples)) == (whole.figures, repr(whole.samples))
    assert player(job(tmp_path), lambda: True) is None


def doubling(slow: float = 0.0) -> Work[int, int]:
    def double(number: int, stopped: Stopped | None) -> int | None:
        if number == 13:
            raise InputError("13 brings no luck")
        if number == 99:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(slow)
        return 2 * number

    return double


@pytest.mark.parametrize("size", [1, 3])
def test_results_come_in_the_order_of_the_tasks(size: int) -> None:
    heard: list[int] = []
    with Crew(size, doubling) as crew:
        assert crew.results(range(7), done=heard.append) == [0, 2, 4, 6, 8, 10, 12]
        assert heard == [1, 2, 3, 4, 5, 6, 7]
        assert crew.results([21]) == [42]


@pytest.mark.parametrize("size", [1, 2])
def test_an_error_in_a_process_is_an_error_here(size: int) -> None:
    with Crew(size, doubling) as crew, pytest.raises(InputError, match="13 brings no luck"):
        crew.results([1, 13])


def test_a_process_that_dies_is_told() -> None:
    with Crew(2, doubling) as crew, pytest.raises(RuntimeError, match="ended with code -9"):
        crew.results([1, 99])


def test_what_is_under_way_is_given_up_when_it_is_stopped() -> None:
    began = time.monotonic()
    with Crew(2, partial(doubling, 3600.0)) as crew:
        assert crew.results([1, 2], lambda: time.monotonic() > began + 1.0) == [None, None]
    assert time.monotonic() - began < 60


def working_for_ever() -> None:
    with Crew(2, partial(doubling, 3600.0)) as crew:
        crew.results([1, 2], _say_that_it_runs)


def _say_that_it_runs() -> bool:
    print("running", flush=True)
    return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_whoever_started_them_however_that_ends(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tests.simulation.test_jobs import working_for_ever\nif __name__ == '__main__': working_for_ever()\n"
    )
    started = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert started.stdout is not None
    assert [started.stdout.readline() for _ in range(3)] == ["running\n"] * 3
    started.send_signal(number)
    _, told = started.communicate(timeout=60)  # comes back when the last process that holds the other end is gone
    assert "leaked" not in told
