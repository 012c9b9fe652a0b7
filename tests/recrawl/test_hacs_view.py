"""What `compare policies` tells of HACS, followed by hand on a log of four pages."""

import json
from pathlib import Path

import numpy as np
import pytest

from forager.cli.compare_policies import compare_policies


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Seven cycles: page 0 changes in each, page 1 in every second, page 2 once, page 3 never."""
    changed = np.zeros((4, 7), dtype=np.bool_)
    changed[0, 1:] = changed[1, [2, 4, 6]] = changed[2, 5] = True
    path = tmp_path / "log.npz"
    np.savez(path, changed=changed)
    return path


def test_precision_and_recall_by_window_and_threshold(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a window of one cycle, what changed just now is expected to change next, at every threshold.

    At cycles 1 … 5 that is {0}, {0 1}, {0}, {0 1}, {0 2}: 8 pages; in truth {0 1}, {0}, {0 1}, {0 2}, {0 1}: 9; right are 5.
    Precision at each time 1, 1/2, 1, 1/2, 1/2; recall 1/2, 1, 1/2, 1/2, 1/2; F1 three times 2/3, twice 1/2. As many
    pages at random: (1·2 + 2·1 + 1·2 + 2·2 + 2·2) / 4 = 3.5 right.
    """
    compare_policies(log, ["hacs"], folds=1, k="25%", json=True)
    windows = json.loads(capsys.readouterr().out)["hacs"]
    assert [one["window"] for one in windows] == [1, 2, 4]
    first = windows[0]
    for number, threshold in enumerate((0.5, 0.6, 0.7, 0.8, 0.9)):
        micro, macro, random = (first[name][number] for name in ("micro", "macro", "random_micro"))
        assert micro["threshold"] == macro["threshold"] == threshold
        assert (micro["precision"], micro["recall"]) == pytest.approx((5 / 8, 5 / 9))
        assert micro["f1"] == pytest.approx(10 / 17)
        assert (macro["precision"], macro["recall"], macro["f1"]) == pytest.approx((0.7, 0.6, 0.6))
        assert (random["precision"], random["recall"]) == pytest.approx((3.5 / 8, 3.5 / 9))
    assert first["brute_micro"]["precision"] == pytest.approx(9 / 20)
    assert first["brute_micro"]["recall"] == 1.0
    assert first["weighted_precision_random"] == pytest.approx(9 / 20)
    assert first["weighted_precision"] > first["weighted_precision_last_obs"]


def test_the_order_of_the_log_lends_no_precision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = np.zeros((4000, 4), dtype=np.bool_)
    changed[:2000, 3] = True  # nobody can foretell which, but they stand first
    np.savez(tmp_path / "log.npz", changed=changed)
    compare_policies(tmp_path / "log.npz", ["hacs"], folds=1, json=True)
    first, *_ = json.loads(capsys.readouterr().out)["hacs"]
    assert first["weighted_precision_random"] == 0.25  # half of them in one of two cycles
    assert first["weighted_precision"] == pytest.approx(0.25, abs=0.02)


def test_the_same_is_in_the_report_and_on_the_terminal(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    compare_policies(log, ["hacs", "nad"], folds=1, k="25%", output=report)
    text = report.read_text(encoding="utf-8")
    for figures in ("0.625 / 0.556 / 0.588", "0.700 / 0.600 / 0.600", "0.438 / 0.389 / 0.412", "0.450 / 1.000 / 0.621"):
        assert figures in text  # micro, macro, random, all pages
    shown = capsys.readouterr().out
    assert "0.588" in shown
    assert "…" not in shown  # nothing is cut, and everything fits into 80 columns
    assert max(len(line) for line in shown.splitlines()) <= 80
    compare_policies(log, ["nad"], folds=1, k="25%", json=True)
    assert "hacs" not in json.loads(capsys.readouterr().out)
