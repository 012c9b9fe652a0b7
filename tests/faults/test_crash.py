"""A crawl over real HTTP is killed with SIGKILL at random moments, again and again, and goes on each time."""

import json
from collections import Counter
from pathlib import Path

import numpy as np

from forager.chance import stream
from forager.clock import WallClock
from forager.newsroom.newsroom import Asked, Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.store.protocol import Visit
from forager.terms import NOBODY, Outcome, Url, UrlId
from forager.warc.captures import Capture, captures
from forager.warc.writer import repair, warcs_in
from tests.faults.crashing import BUSY, Killer, Life, Stored, account, doubles
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


# Who judges the crawl, judged

DEAD, ALIVE = Life("dead", began=0.0, ended=10.0, first=1.0), Life("alive", began=11.0, ended=20.0, first=12.0)


def judged(asked: list[tuple[float, str, Life]], stored: list[tuple[float, str]]) -> list[str]:
    """Which requests count as lost, by path; every answer takes half a second."""
    newsroom = Newsroom(NewsroomSettings(), WallClock())
    paper, base = next(iter(newsroom.bases.items()))
    newsroom.requests.extend(Asked(at, paper, path, 200, False, 1, life.agent) for at, path, life in asked)
    visits = [(Url(base + path), Visit(UrlId(0), at, Outcome.FETCHED, 200, seconds=0.5)) for at, path in stored]
    return [one.target for one in account(newsroom, [DEAD, ALIVE], visits).lost]


def test_what_is_missing_before_a_stored_visit_of_the_same_life_is_lost() -> None:
    asked = [(1.0, "/a", DEAD), (2.0, "/b", DEAD), (3.0, "/c", DEAD), (12.0, "/b", ALIVE)]
    assert judged(asked, [(1.0, "/a"), (3.0, "/c"), (12.0, "/b")]) == ["/b"]
    assert judged(asked, [(1.0, "/a"), (2.0, "/b"), (12.0, "/b")]) == []


def test_a_request_of_a_dead_crawl_that_the_server_took_up_late_is_not_lost() -> None:
    asked = [(1.0, "/a", DEAD), (12.0, "/b", DEAD), (12.1, "/c", ALIVE), (12.2, "/b", DEAD)]
    assert judged(asked, [(1.0, "/a"), (12.1, "/c")]) == []


def test_a_late_request_of_a_dead_crawl_takes_no_visit_of_the_next() -> None:
    asked = [(12.0, "/a", ALIVE), (12.3, "/a", DEAD), (13.0, "/b", ALIVE)]
    assert judged(asked, [(11.9, "/a"), (13.0, "/b")]) == []
    assert judged(asked, [(13.0, "/b")]) == ["/a"]
