"""The log of a crawl: which events give a line, in which form, and where."""

import asyncio
import json
import math
import subprocess
import sys
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from forager.assembly import OpenCrawl
from forager.cli.log import FILE, CrawlLog, Level
from forager.cli.options import LogFormat
from forager.cli.runner import run_crawl
from forager.clock import WallClock
from forager.events import Born, CycleDone, Event, Fetched, Learned, Reinforced, Scheduled, Told
from forager.terms import NOBODY, Channel, ForagerId, Kind, Outcome, Trouble, Url, UrlId

AT = 1_772_409_600.0  # 2026-03-02 00:00 UTC


def fetched(outcome: Outcome, *, status: int = 200, error: str = "", by: int = NOBODY) -> Fetched:
    trouble = Trouble.STATUS if outcome in (Outcome.FAILED, Outcome.GONE) else Trouble.NONE
    url = Url("https://paper.example/a")
    return Fetched(
        AT, UrlId(0), url, ForagerId(by), outcome, status, trouble, error, 0.25, 10, Kind.HUB, False, new_links=2
    )


STORY = Told(
    AT,
    UrlId(1),
    Url("https://paper.example/b"),
    "paper.example",
    "Flood\x1b[2J\u202e",
    AT - 60,
    "meta",
    60.0,
    Channel.FEED,
    ForagerId(0),
)
EVENTS: tuple[Event, ...] = (
    Born(AT, ForagerId(1), "WL", ForagerId(0)),
    fetched(Outcome.FETCHED),
    fetched(Outcome.GONE, status=410),
    fetched(Outcome.FAILED, status=503, error="503; asks to wait 20 s"),
    Reinforced(AT, ForagerId(1), UrlId(1), 1.0),
    STORY,
    Scheduled(AT, "expected new documents", known=9, chosen=4),
    CycleDone(AT, "expected new documents", visits=4, changes=1, change_rate=0.25, ndcg=0.5),
    CycleDone(AT, "expected new documents", visits=0, changes=0, change_rate=0.0, ndcg=0.0),  # it did nothing
)


class Unread(StringIO):
    """A pipe whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_crawl_goes_on_when_nobody_reads_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Unread())
    log = CrawlLog(verbose=True)
    with log.kept_in(tmp_path):
        for event in EVENTS:
            log(event)
    assert len((tmp_path / FILE).read_text().splitlines()) == len(EVENTS)


@pytest.mark.parametrize(
    ("quiet", "verbose", "names"),
    [
        (False, False, ["born", "gone", "failed", "story", "cycle"]),
        (True, False, ["failed"]),
        (False, True, ["born", "fetched", "gone", "failed", "earned", "story", "schedule", "cycle", "cycle"]),
    ],
)
def test_each_level_shows_its_events_and_the_file_at_least_what_is_shown_by_default(
    quiet: bool, verbose: bool, names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = CrawlLog(quiet=quiet, verbose=verbose)
    with log.kept_in(tmp_path):
        for event in EVENTS:
            log(event)
    shown = [line.split()[3] for line in capsys.readouterr().err.splitlines()]
    kept = [line.split()[3] for line in (tmp_path / FILE).read_text().splitlines()]
    assert shown == names
    assert kept == (names if verbose else ["born", "gone", "failed", "story", "cycle"])


def test_a_line_is_one_line_of_harmless_text(capsys: pytest.CaptureFixture[str]) -> None:
    log = CrawlLog()
    log(STORY)
    log(fetched(Outcome.FAILED, status=503, error="503; asks to wait 20 s", by=3))
    assert capsys.readouterr().err.splitlines() == [
        "2026-03-02 00:00:00 INFO    story     Flood [2J (paper.example, 60 s after publication, found by feed) "
        "https://paper.example/b",
        "2026-03-02 00:00:00 WARNING failed    https://paper.example/a (503) for forager 3 in 0.25 s, 2 new links: "
        "503; asks to wait 20 s",
    ]


def test_a_cycle_and_a_learned_function_are_told_with_how_good_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    log = CrawlLog()
    log(CycleDone(AT, "t * X", visits=4, changes=1, change_rate=0.25, ndcg=0.5))
    log(Learned(AT, "t * X", "ndcg", new=0.7, old=0.6, replaced=True, visits=5000))
    log(Learned(AT, "t * n", "ndcg", new=0.7, old=0.6, replaced=False, visits=5000))
    log(Learned(AT, "n", "ndcg", new=0.5, old=0.6, replaced=False, visits=5000))
    cycle, learned, better, worse = capsys.readouterr().err.splitlines()
    assert cycle.endswith("4 visits to pages seen before, 1 change, ChangeRate 0.25, NDCG 0.50")
    assert learned.endswith("t * X: ndcg 0.700 on held-out pages, the present one 0.600; in use from now on")
    assert better.endswith("0.700 on held-out pages, the present one 0.600; perhaps chance, so not used")
    assert worse.endswith("0.500 on held-out pages, the present one 0.600; not better, so not used")


def test_as_json_every_line_is_an_object_with_all_fields(capsys: pytest.CaptureFixture[str]) -> None:
    log = CrawlLog(form=LogFormat.JSON, verbose=True)
    for event in EVENTS:
        log(event)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines][:3] == ["born", "fetched", "gone"]
    assert {line["level"] for line in lines} == {level.name for level in Level}
    assert lines[5]["title"] == STORY.title and lines[5]["time"] == "2026-03-02T00:00:00.000+00:00"
    assert lines[2]["status"] == 410


def test_a_log_file_that_cannot_be_written_does_not_stop_the_crawl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = CrawlLog()
    with log.kept_in(tmp_path / "nowhere"):
        log(STORY)
    first, second = capsys.readouterr().err.splitlines()
    assert "crawl.log cannot be written" in first
    assert "story" in second


def test_a_demo_leaves_its_log_and_its_final_figures_in_the_run_directory(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "forager", "demo", "--time-limit", "4s", "--json", "--log-format", "json"]
    overrides = ["-s", f"demo.folder={run}", "-s", "newsroom.days=2", "-s", "newsroom.page_size=3000"]
    ended = subprocess.run(
        [*command, *overrides], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert lines[0]["event"] == "dashboard" and lines[0]["address"].startswith("http://127.0.0.1:")
    assert {"born"} <= {line["event"] for line in lines}
    assert [json.loads(line) for line in (run / FILE).read_text().splitlines()] == lines
    assert json.loads((run / "statistics.json").read_text()) == json.loads(ended.stdout)


async def test_a_crawl_is_told_when_its_time_limit_ends_it() -> None:
    known: list[float] = []

    async def run(seeds: list[str], stopping: asyncio.Event, ends: float) -> None:
        known.append(ends)
        stopping.set()

    for limit in (60.0, None):
        crawl = SimpleNamespace(clock=WallClock(lambda: 1000.0), run=run)
        await run_crawl(
            cast("OpenCrawl", SimpleNamespace(crawl=crawl, seeds=[], account=None)), CrawlLog(quiet=True), limit
        )
    assert known == [pytest.approx(1060.0, abs=30.0), math.inf]


async def test_a_crawl_that_stops_says_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    async def run(seeds: list[str], stopping: asyncio.Event, ends: float) -> None:
        stopping.set()

    crawl = SimpleNamespace(clock=WallClock(lambda: 1000.0), run=run)
    for log in (CrawlLog(), CrawlLog(quiet=True), CrawlLog(form=LogFormat.JSON)):
        await run_crawl(cast("OpenCrawl", SimpleNamespace(crawl=crawl, seeds=[], account=None)), log, None)
    assert capsys.readouterr().err == "forager: finishing what is under way; Ctrl-C ends it at once\n"
