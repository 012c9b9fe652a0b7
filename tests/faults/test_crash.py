"""A crawl over real HTTP is killed with SIGKILL at random moments, again and again, and goes on each time."""

import json
from collections import Counter
from pathlib import Path

import numpy as np

from forager.chance import stream
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.terms import NOBODY, Outcome
from forager.warc.captures import Capture, captures
from forager.warc.writer import repair, warcs_in
from tests.faults.crashing import BUSY, Killer, Stored, account, doubles
from tests.faults.launching import nursery
from tests.served import served_newsroom
from tests.warc.test_warc_writing import check

KILLS = 10
ENDS = ("kill", "group", "drain")
LIVELY = NewsroomSettings(pace=30.0, page_size=4000)
"""A story every twenty seconds."""


async def test_a_crawl_that_is_killed_again_and_again_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    rng = stream(1, "moments of death")
    with served_newsroom(LIVELY, backlog_hours=1.0) as newsroom:
        killer = Killer(newsroom, tmp_path, nursery().start, (*BUSY, "recording.max_size=20k"))
        for number in range(KILLS):
            # every fifth at any moment of its start
            killer.live(ENDS[number % 3], wait=float(rng.uniform(0, 1)), after_first=number % 5 != 4)
        killer.finish(2)
    stored = await Stored.read(killer.run_dir)
    check_visits(killer, stored)
    check_versions(killer, stored)
    check_stories(killer, stored)
    check_recording(killer)
    check_account(killer, stored)
    fresh, *resumed = killer.starts
    assert np.median(resumed) < 2 * fresh + 1.0


def check_visits(killer: Killer, stored: Stored) -> None:
    """Nothing acknowledged is lost, and nothing is made up."""
    found = account(killer.newsroom, killer.lives, stored.visits)
    assert found.requests > 100
    assert found.lost == []
    assert found.invented == []
    assert len(found.unstored) <= len(killer.lives) * len(killer.newsroom.bases)  # one under way at each host


def check_account(killer: Killer, stored: Stored) -> None:
    """The last life tells the figures of all."""
    facts = json.loads((killer.run_dir / "statistics.json").read_text())
    visits = [visit for _, visit in stored.visits]
    assert facts["outcomes"] == dict(Counter(visit.outcome.value for visit in visits))
    assert facts["requests"] == sum(visit.outcome is not Outcome.REFUSED for visit in visits)
    assert facts["budget"]["recrawl"] == sum(
        visit.by == NOBODY and visit.outcome is not Outcome.REFUSED for visit in visits
    )
    assert facts["changes"] == sum(visit.changed for visit in visits)
    assert facts["wire_bytes"] == sum(visit.wire_bytes for visit in visits)
    assert facts["pages"] == len({visit.id for visit in visits if visit.outcome is Outcome.FETCHED})
    delays = [story.delay for story in stored.stories if story.delay is not None]  # dates without an hour tell none
    assert facts["stories"] == len(stored.stories) == len(delays) + facts["day_only"]
    assert facts["delay_median_s"] == round(float(np.median(delays)), 3)
    assert facts["foragers"]["born"] == len(facts["foragers"]["list"])


def check_versions(killer: Killer, stored: Stored) -> None:
    """Nothing is stored twice, every version belongs to a visit, and all are decided."""
    assert doubles(stored) == []
    assert stored.unsettled == []
    moments = {(url, visit.at) for url, visit in stored.visits}
    assert all((url, at) in moments for url, at, _ in stored.versions.values())


def check_stories(killer: Killer, stored: Stored) -> None:
    """Every story is told once, in order, and was really published."""
    told = [json.loads(line) for line in killer.output.read_text().splitlines()]
    assert [story["number"] for story in told] == list(range(len(told)))
    assert [story["url"] for story in told] == [story.url for story in stored.stories]
    assert all(killer.newsroom.truth.published(story.url) is not None for story in stored.stories)
    assert len(told) > 20


def check_recording(killer: Killer) -> None:
    """The last crawl mended what the others left; the files are valid and hold only what was asked."""
    folder = killer.run_dir / "warc"
    assert repair(folder) == []
    check(*warcs_in(folder))
    assert len(warcs_in(folder)) > len(killer.lives)  # some were full
    asked = {killer.newsroom.bases[one.paper] + one.target for one in killer.newsroom.requests}
    recorded = [capture for capture in captures(warcs_in(folder)) if isinstance(capture, Capture)]
    assert {capture.request.url for capture in recorded} <= asked
    under_way = 4 * len(killer.lives)  # at each kill: one of each paper, and what was answered but not yet written
    assert len(recorded) >= len(killer.newsroom.requests) - under_way
