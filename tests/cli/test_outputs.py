"""What a command writes at its end is looked after before it begins, and how far it is meanwhile."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from forager.cli import options as progress_line
from forager.cli.import_ import import_
from forager.cli.options import ProgressLine, check_place, print_result, whole, write_whole
from forager.cli.runner import screen_table
from forager.errors import Exit, OutputError
from forager.report.charts import FigureTable


def test_a_missing_folder_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no directory"):
        check_place(tmp_path / "missing" / "report.html")
    with pytest.raises(OutputError, match="it is a directory"):
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
    assert list(tmp_path.iterdir()) == [path]  # the draft is gone


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
    assert "\nNo page was read: " in ran.stderr and "127.0.0.1" in ran.stderr


def test_on_a_narrow_terminal_only_the_last_column_is_cut() -> None:
    rows = [("2026-03-02 11:54", "17 min", "127.0.0.1:51457", "How a coastal stake was hedged twice " * 3)]
    console = Console(width=80, file=StringIO())
    console.print(screen_table(("published", "delay", "site", "latest stories"), rows))
    told = console.file.getvalue().splitlines()
    assert "2026-03-02 11:54  17 min  127.0.0.1:51457  How a coastal stake" in told[1]
    assert told[1].rstrip().endswith("…")
    assert len(told) == 2


@pytest.mark.parametrize(
    ("shell", "code", "said"),
    [
        ("{} > /dev/full", Exit.OUTPUT, "forager: standard output: cannot be written: No space left on device\n"),
        ("{} >&-", Exit.OK, ""),
        ("({}; echo $? >&2) | true", Exit.OK, f"{Exit.OUTPUT}\n"),
    ],
)
def test_standard_output_that_takes_nothing_gives_no_traceback(shell: str, code: int, said: str) -> None:
    command = shell.format(f"{sys.executable} -m forager settings")
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (code, said)


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        check_place(pipe)
        write_whole(pipe, "all of it")
        assert pipe.is_fifo()
        assert os.read(reading, 100) == b"all of it"
    finally:
        os.close(reading)


def test_a_link_goes_on_pointing_to_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    link, held = tmp_path / "latest.html", tmp_path / "runs" / "report.html"
    link.symlink_to(held)
    write_whole(link, "new")
    assert link.is_symlink()
    assert held.read_text(encoding="utf-8") == "new"


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


def test_an_import_says_what_it_does_when_all_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    log = tmp_path / "log.csv"
    log.write_text("url,time,digest\n" + "".join(f"http://a.example/{n % 7},{n * 3600},{n}\n" for n in range(70)))
    import_(tmp_path / "tape", [str(log)])
    assert "100% is read; building the tape" in capsys.readouterr().err


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


def test_a_narrow_terminal_shows_no_minor_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    rows = [("2026-03-02 11:54", "17 min", "Hedged twice"), ("…", "2 more")]
    console = Console(width=50, file=StringIO())
    console.print(screen_table(("published", "delay", "latest stories"), rows, minor=("published",)))
    assert [line.split() for line in console.file.getvalue().splitlines()][:2] == [
        ["delay", "latest", "stories"],
        ["17", "min", "Hedged", "twice"],
    ]


def test_a_progress_line_is_no_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ProgressLine().show("x" * 200)
    assert capsys.readouterr().err.count("x") == 39


def test_a_terminal_breaks_a_summary_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda is_terminal=is_terminal: is_terminal)
        print_result({}, lambda: "  The Herald: 19 stories, 23 requests\nhttps://a.example/" + "long" * 9, json=False)
    piped, shown = ["  The Herald: 19 stories, 23 requests"], ["  The Herald: 19 stories, 23", "    requests"]
    link = ["https://a.example/" + "long" * 9]
    assert capsys.readouterr().out.splitlines() == [*piped, *link, *shown, *link]


def test_figures_of_a_wide_table_break_before_their_spread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = FigureTable("Fleets", "", ["figure", "WL", "RL"], [["sent", "209 ± 4.6", "210.7 ± 4.9 *"]])
    table.show()
    assert "sent    209±4.6  210.7±4.9*" in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    table.show()
    assert [line.split() for line in capsys.readouterr().out.splitlines()[-3:-1]] == [
        ["sent", "209", "210.7"],
        ["±4.6", "±4.9*"],
    ]
