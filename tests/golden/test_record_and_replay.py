"""Record a synthetic crawl, replay its bytes with the same seed, get the same journal."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from forager.cli.app import app
from forager.cli.replay_bytes import crawl_bytes
from forager.clock import Clock
from forager.errors import Exit, InputError
from forager.settings import load_settings
from forager.warc.recorder import Recording
from forager.warc.replay_web import WarcWeb
from forager.warc.writer import WarcWriter, warcs_in
from forager.web.web import Web
from forager.web.web_settings import RecordingSettings
from tests.virtual import QUICK, Crawled, InlineRecorder


@pytest.mark.parametrize("kind", ["BFS", "WL"])
def test_a_recorded_crawl_replays_to_the_same_journal(kind: str, tmp_path: Path) -> None:
    settings = load_settings(None, [*QUICK, f"forager.kind={kind}", "newsroom.errors=0.02"]).settings
    writer = WarcWriter(tmp_path, RecordingSettings(), settings.live.user_agent, None)
    recorder = InlineRecorder(writer)

    recorded = Crawled(settings, lambda web, clock: Recording(web, recorder, clock)).run(2)
    asyncio.run(recorder.close())
    replayed = Crawled(settings, lambda web, clock: _replay(tmp_path, clock)).run(2)

    lines = recorded.journal.getvalue().splitlines()
    assert len(lines) > 200
    # Every line has its time; of two hosts that answer at the same instant either may be noted first.
    assert sorted(replayed.journal.getvalue().splitlines()) == sorted(lines)


def _replay(folder: Path, clock: Clock) -> Web:
    return WarcWeb(warcs_in(folder), clock)


def test_the_command_crawls_recorded_bytes_again_to_the_same_journal(tmp_path: Path) -> None:
    settings = load_settings(None, QUICK).settings
    recorder = InlineRecorder(WarcWriter(tmp_path / "warc", RecordingSettings(), settings.live.user_agent, None))
    recorded = Crawled(settings, lambda web, clock: Recording(web, recorder, clock)).run(2)
    asyncio.run(recorder.close())
    seeds = [word for home in recorded.newsroom.homes for word in ("--seed", home)]
    overrides = [word for one in QUICK for word in ("-s", one)]
    stories, journal = tmp_path / "stories.jsonl", tmp_path / "journal.jsonl"

    words = ["replay", str(tmp_path), "--bytes", "--json", "-O", str(stories), "--journal", str(journal)]
    words += ["--time-limit", "2h"]  # the last capture may have begun before the end and waited for its turn
    told = CliRunner().invoke(app, [*words, *seeds, *overrides])

    assert told.exit_code == 0, told.output
    facts = json.loads(told.stdout)
    lines, again = recorded.journal.getvalue().splitlines(), journal.read_bytes().splitlines()
    assert 200 < len(again) <= len(lines)  # it ends with the last capture
    assert again == lines[: len(again)]
    assert facts["stories"] == len(stories.read_text().splitlines()) > 10
    assert facts["recording"]["unrecorded"] == 0 == facts["recording"]["broken"]


def test_recorded_bytes_are_crawled_within_a_budget_and_after_a_warm_up(tmp_path: Path) -> None:
    settings = load_settings(None, QUICK).settings
    recorder = InlineRecorder(WarcWriter(tmp_path / "warc", RecordingSettings(), settings.live.user_agent, None))
    recorded = Crawled(settings, lambda web, clock: Recording(web, recorder, clock)).run(2)
    asyncio.run(recorder.close())
    seeds = [word for home in recorded.newsroom.homes for word in ("--seed", home)]
    words = ["replay", str(tmp_path), "--bytes", "--json", *seeds, *(word for one in QUICK for word in ("-s", one))]

    def facts(*more: str) -> dict[str, Any]:
        told = CliRunner().invoke(app, [*words, *more])
        assert told.exit_code == 0, told.output
        return dict(json.loads(told.stdout))

    free, scarce = facts(), facts("--budget", "40/h")
    hours = scarce["recording"]["seconds"] / 3600
    assert free["recording"]["asked"] > 2 * 40 * hours
    assert 0.9 * 40 * hours <= scarce["recording"]["asked"] <= 40 * hours + 1
    late = facts("--warm-up", "20m")
    assert late["recording"]["asked"] == free["recording"]["asked"]  # the same crawl, less of it counted
    assert 0 < late["stories"] < free["stories"]
    assert 0 < late["requests"] < free["requests"]
    assert late["recording"]["warm_up_s"] == 1200.0
    ended = CliRunner().invoke(app, [*words, "--serve"])
    assert (type(ended.exception), "has no dashboard" in str(ended.exception)) == (InputError, True)
    assert CliRunner().invoke(app, [*words, "--warm-up", "9h"]).exit_code == Exit.USAGE


def test_what_holds_no_recording_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.warc").write_bytes(b"")
    for path, trouble in ((tmp_path / "none", "no WARC in it"), (tmp_path / "empty.warc", "no capture")):
        with pytest.raises(InputError, match=trouble):
            crawl_bytes(path, load_settings(None, []).settings, [], None, [])
