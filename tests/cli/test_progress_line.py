"""How far a long work is."""

import sys

import pytest

from forager.cli import options as progress_line
from forager.cli.options import ProgressLine


def test_a_terminal_has_one_line_that_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line = ProgressLine()
    line.show("policy 1 of 2: nad")
    line.show("policy 2 of 2: " + "t + " * 100)
    line.end()
    first, second, last = capsys.readouterr().err.split("\r\x1b[K")[1:]
    assert first == "policy 1 of 2: nad"
    assert len(second) <= 100
    assert last == ""


def test_elsewhere_a_line_is_written_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: now)
    line = ProgressLine()
    for now in (1.0, 59.0, 61.0, 62.0, 120.0, 121.5):
        line.show(f"after {now} s")
    line.end()
    assert capsys.readouterr().err == "forager: after 61.0 s\nforager: after 121.5 s\n"
