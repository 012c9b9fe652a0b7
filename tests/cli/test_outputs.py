"""What a command is to write at its end is looked after before it begins."""

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
