"""`forager export`, as people call it."""

import asyncio
import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from forager.cli.export import _moment, export
from forager.clock import WallClock
from forager.errors import Exit, InputError, OutputError, StoreError
from forager.store.store import Store
from tests.output.press import NOON, numbers, tell, tell_one

app = typer.Typer()
app.command()(export)

COMMAND = [sys.executable, "-c", "from forager.cli.export import export; import typer; typer.run(export)"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
async def run_dir(tmp_path: Path) -> Path:
    """Five stories of news.example, then one of example.org."""
    store = await Store.open(tmp_path / "run")
    await tell(store, 5)
    await tell_one(store, "Elsewhere", host="example.org")
    await store.close()
    return tmp_path / "run"


def test_stories_come_as_json_lines_on_standard_output(run_dir: Path) -> None:
    lines = run(run_dir).stdout.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [0, 1, 2, 3, 4, 5]


def test_a_file_is_written_and_its_stories_counted(run_dir: Path, tmp_path: Path) -> None:
    result = run(run_dir, "-O", tmp_path / "s.csv")
    assert result.exit_code == 0
    assert f"6 stories written to {tmp_path / 's.csv'}" in result.stderr
    with (tmp_path / "s.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 6


async def test_a_feed_says_how_many_stories_it_holds(run_dir: Path, tmp_path: Path) -> None:
    store = await Store.open(run_dir)
    await tell(store, 100)
    await store.close()
    result = await asyncio.to_thread(run, run_dir, "-O", tmp_path / "s.xml")
    assert "the newest 100 stories written" in result.stderr


def test_a_choice_that_leaves_nothing_says_so(run_dir: Path) -> None:
    result = run(run_dir, "--since", "2099-01-01")
    assert (result.stdout, result.stderr) == ("", "0 stories written to standard output\n")


def test_appending_twice_adds_nothing(run_dir: Path, tmp_path: Path) -> None:
    for expected in ("6 stories", "0 stories"):
        assert expected in run(run_dir, "-o", tmp_path / "s.jsonl").stderr
    assert numbers(tmp_path / "s.jsonl") == [0, 1, 2, 3, 4, 5]


def test_stories_can_be_chosen_by_site(run_dir: Path, tmp_path: Path) -> None:
    for name in ("example.org", "https://WWW.Example.org/news"):
        run(run_dir, "-O", tmp_path / "s.jsonl", "--site", name)
        assert numbers(tmp_path / "s.jsonl") == [5]
    run(run_dir, "-O", tmp_path / "s.jsonl", "--site", "example.org", "--site", "news.example")
    assert numbers(tmp_path / "s.jsonl") == [0, 1, 2, 3, 4, 5]


def test_stories_can_be_chosen_by_time(run_dir: Path, tmp_path: Path) -> None:
    run(run_dir, "-O", tmp_path / "s.jsonl", "--since", "2026-01-01T12:00:03")  # story n came n seconds after noon
    assert numbers(tmp_path / "s.jsonl") == [3, 4, 5]


def test_a_time_is_a_date_or_a_duration_ago() -> None:
    assert _moment("2026-01-01T12:00") == NOON
    assert _moment("2026-01-01T13:00+01:00") == NOON
    assert _moment("2026-01-02") == NOON + 43_200
    assert _moment("6h") == pytest.approx(WallClock().now() - 21_600, abs=60)


@pytest.mark.parametrize("arguments", [("--since", "yesterday"), ("-o", "a.jsonl", "-O", "b.jsonl")])
def test_wrong_options_are_a_matter_of_usage(run_dir: Path, arguments: tuple[str, ...]) -> None:
    assert run(run_dir, *arguments).exit_code == Exit.USAGE


def test_trouble_that_can_be_mended_is_named(run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no crawl\.db here"):
        run(tmp_path)
    with pytest.raises(OutputError, match="no known format"):
        run(run_dir, "-O", tmp_path / "s.doc")
    with pytest.raises(OutputError, match="there is no directory"):
        run(run_dir, "-O", tmp_path / "no" / "s.csv")
    with pytest.raises(InputError, match="not a host name"):
        run(run_dir, "--site", "a b")
    with pytest.raises(InputError, match="no recording in it"):
        run(run_dir, "--wacz", tmp_path / "s.wacz")
    (tmp_path / "full.jsonl").symlink_to("/dev/full")
    with pytest.raises(OutputError, match="No space left"):
        run(run_dir, "-O", tmp_path / "full.jsonl")


async def test_an_export_works_beside_the_running_crawl(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "run")
    try:
        for count in (2, 4):
            await tell(store, 2)
            told = subprocess.run([*COMMAND, str(tmp_path / "run")], capture_output=True, timeout=60)
            assert [json.loads(line)["number"] for line in told.stdout.splitlines()] == list(range(count))
    finally:
        await store.close()


async def test_a_reader_that_has_seen_enough_gets_no_traceback(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "run")
    await tell(store, 40, text="x" * 20_000)
    await store.close()
    with subprocess.Popen([*COMMAND, str(tmp_path / "run")], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reading:
        assert reading.stdout is not None and reading.stderr is not None
        assert json.loads(reading.stdout.readline())["number"] == 0
        reading.stdout.close()
        assert reading.stderr.read() == b""
        assert reading.wait(timeout=60) == Exit.OUTPUT
