"""What a command is to write at its end is looked after before it begins."""

import subprocess
import sys
from pathlib import Path

import pytest

from forager.cli.outputs import check_place, whole, write_whole
from forager.errors import OutputError


def test_a_missing_folder_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no such folder"):
        check_place(tmp_path / "missing" / "report.html")
    with pytest.raises(OutputError, match="no such folder"):
        check_place(tmp_path)
    check_place(tmp_path / "report.html")
    check_place(None)


def test_a_file_that_could_not_be_finished_keeps_what_it_held(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_whole(path, "first")
    with pytest.raises(OutputError, match="cannot be written"), whole(path) as draft:
        draft.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")
    assert path.read_text(encoding="utf-8") == "first"


def test_where_the_stories_of_a_crawl_go_to_standard_output_nothing_else_does(tmp_path: Path) -> None:
    words = ["crawl", str(tmp_path / "run"), "--seed", "http://127.0.0.1:9/", "--time-limit", "1s", "-q", "-O", "-"]
    agent = "live.user_agent=Forager/0.1 (+https://example.org/bot)"
    ran = subprocess.run(
        [sys.executable, "-m", "forager", *words, "--no-dashboard", "-s", agent],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""  # there were none
    assert "0 stories" in ran.stderr
