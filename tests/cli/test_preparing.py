"""What is compiled once after an installation, before the clock of a crawl starts."""

from pathlib import Path

import pytest

from forager.cli.preparing import once, prepare_learning
from forager.recrawl.gp.fitness import Judge
from forager.recrawl.gp.settings import GPSettings


def test_it_is_said_and_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    told = []
    for name in ("crawl-WL", "crawl-WL", "crawl-RL"):
        with once(name) as is_new:
            told.append((is_new, capsys.readouterr().err))
    line = "Preparing, once: compiling for this machine, some 30 seconds.\n"
    assert told == [(True, line), (False, ""), (True, line)]


def test_what_was_broken_off_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), once("crawl-WL", quiet=True):
        raise KeyboardInterrupt
    with once("crawl-WL", quiet=True) as is_new:
        assert is_new


def test_where_nothing_can_be_kept_it_is_done_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    for _ in range(2):
        with once("crawl-WL", quiet=True) as is_new:
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
