"""`replay --bytes` on a recording of WordPress (thirty-one requests, fourteen posts) and of real sites."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corpora
import pytest

from forager.cli import options
from forager.cli.replay_bytes import crawl_bytes
from forager.errors import InputError
from forager.events import Event, Told
from forager.settings import load_settings
from forager.terms import Url

RECORDING = Path(__file__).parents[1] / "fixtures" / "wordpress.warc.gz"
DAY = datetime(2026, 11, 18, 9, tzinfo=UTC).timestamp()


def test_the_posts_are_told_and_nothing_else() -> None:
    events: list[Event] = []
    facts, _ = crawl_bytes(RECORDING, load_settings(None, []).settings, [], None, [events.append])
    told = [event for event in events if isinstance(event, Told)]
    assert len({story.url for story in told}) == len(told) == facts["stories"] == 14
    assert all("/2026/11/18/" in story.url and story.title[0].isupper() for story in told)
    assert {story.published_source for story in told} == {"time"}
    assert all(DAY < story.published < story.at for story in told)
    assert all(story.about is not None and story.about.authors for story in told)
    assert facts["requests"] <= 32


def test_it_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(options, "_RARE", 0.0)
    crawl_bytes(RECORDING, load_settings(None, []).settings, [], 60.0, [], quiet=False)
    assert "forager: 30 s of 60 s crawled again\n" in capsys.readouterr().err


HOUR = 3600.0


def crawled(path: Path, hours: float, budget: float, *seeds: str) -> dict[str, Any]:
    settings = load_settings(Path("/dev/null"), ["forager.kind=WL"]).settings
    return crawl_bytes(path, settings, [Url(seed) for seed in seeds], hours * HOUR, [], budget=budget)[0]


def test_numbered_pages_in_one_folder_are_no_trap_and_their_new_texts_are_stories() -> None:
    """A text service: pages 100 to 899 in one folder, each with another text every few hours, without a date."""
    path = corpora.have(lambda: corpora.recording("ndrtext-html", "warc", "ndr-2022-02-01.warc.gz"))
    facts = crawled(path, 8, 300, "https://www.ndr.de/public/teletext/100_01.htm")
    assert facts["recording"]["identity"] == "text"
    assert facts["pages"] > 800
    assert facts["stories"] > 100
    assert facts["requests"] <= 8 * 300 + 1
    assert not [reason for reason in facts["skipped"] if "trap" in reason]


def test_links_that_lead_out_of_a_recording_are_left_alone_and_counted() -> None:
    """The front pages of a newspaper without its articles."""
    path = corpora.have(lambda: corpora.recording("frontpages-html", "heise.de.warc.zst"))
    facts = crawled(path, 6, 60)
    recording = facts["recording"]
    assert recording["pages_out"] > 200
    assert recording["asked"] <= 6 * 60 + 1
    assert recording["unrecorded"] < 0.1 * recording["asked"]  # some pages were recorded later than others
    assert facts["changes"] > 10


def test_a_seed_that_was_never_recorded_is_refused() -> None:
    path = corpora.have(lambda: corpora.recording("frontpages-html", "heise.de.warc.zst"))
    with pytest.raises(InputError, match="is not in the recording"):
        crawled(path, 1, 60, "https://www.heise.de/nowhere")
