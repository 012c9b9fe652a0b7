"""What is compiled once per installation, before replays and learning begin."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forager.cli.compilation import once, prepare_learning, prepare_replays
from forager.core.parameters import ForagerKind
from forager.gp.fitness import Judge
from forager.gp.gp_settings import GPSettings
from forager.settings import Settings
from forager.simulation.jobs import Job
from forager.tape.tape import save
from forager.terms import UrlId
from tests.simulation.small_tape import paper


def test_it_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    told = []
    for name in ("replay-WL", "replay-WL", "replay-RL"):
        with once(name) as is_new:
            told.append(is_new)
    assert told == [True, False, True]


def test_how_far_it_is_is_said_while_it_compiles(tmp_path: Path) -> None:
    script = "import numpy as np; from forager.cli.compilation import once; from forager.core.page_row import highest\n"
    script += "for _ in range(2):\n    with once('x'): highest(np.array([1, 2]))"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment, timeout=120
    )
    (line,) = told.stderr.splitlines()
    assert re.fullmatch(r"forager: compiling, once per installation: 1 of at most \d+ kernels", line)


def test_the_first_process_compiles_what_its_workers_load(tmp_path: Path) -> None:
    """A job of each kind of fleet is tried for its first hours; another process then finds all that it calls."""
    save(paper(), tmp_path)
    job = Job(tmp_path, ForagerKind.BFS, 60.0, 1, (UrlId(0),), Settings())
    prepare_replays([job], quiet=True)
    script = f"""if True:
        import pickle
        from forager.compiler import compilations
        from forager.simulation.jobs import play_job
        with compilations(lambda done, most: print("compiled again")):
            print(play_job(pickle.loads({pickle.dumps(job)!r})).figures.efficiency.downloaded)
    """
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=240)
    (downloads,) = told.stdout.splitlines()
    assert int(downloads) > 100


def test_what_was_broken_off_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), once("replay-WL", quiet=True):
        raise KeyboardInterrupt
    with once("replay-WL", quiet=True) as is_new:
        assert is_new


def test_where_nothing_can_be_kept_it_is_done_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    for _ in range(2):
        with once("replay-WL", quiet=True) as is_new:
            assert is_new


def test_learning_is_prepared_by_what_it_measures_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[object] = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(Judge, "__call__", lambda judge, tree: measured.append(tree))
    for terminals, fitness in (
        ("basic", "ndcg"),
        ("all", "freshness"),
        ("extended", "ndcg"),
        ("extended", "discovery"),
    ):
        prepare_learning(GPSettings(terminals=terminals, fitness=fitness))  # type: ignore[arg-type]
    assert measured == [("t",), ("t",), ("rate",), ("t",)]  # the second found all it needs
