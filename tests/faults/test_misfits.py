"""Hosts that misbehave in ten ways do not hold up the good ones beside them."""

from functools import cache

import numpy as np

from forager.clock import Clock
from forager.measures import Delay, delay
from forager.settings import load_settings
from forager.web.web import Web
from tests.faults.misfits import KINDS, Misfit, MisfitWeb
from tests.virtual import QUICK, Crawled

HOURS = 6.0
SEEDS = (1, 2, 3, 4)
"""Four newsrooms, because single delays of the forty stories of one differ by more than what is tested."""


@cache
def crawled(misfits: int, seed: int = SEEDS[0]) -> tuple[Delay, MisfitWeb, Crawled]:
    """How late the good hosts' stories were told, beside so many misfits."""
    webs: list[MisfitWeb] = []

    def wrap(web: Web, clock: Clock) -> Web:
        webs.append(MisfitWeb(web, clock, misfits))
        return webs[0]

    done = Crawled(load_settings(None, [*QUICK, "newsroom.pace=4", f"newsroom.seed={seed}"]).settings, wrap)
    papers = [f"http://{paper.name}.example/" for paper in done.settings.newsroom.papers]
    done.homes = [*papers, *MisfitWeb(None, None, misfits).homes]  # type: ignore[arg-type, list-item]
    done.run(HOURS)
    start, told = done.settings.newsroom.start, {story.url: story.at for story in reversed(done.stories)}
    truth = done.newsroom.truth.published_between(start + 3600, start + HOURS * 3600 - 900)
    times = np.array([told.get(story.url, np.nan) for story in truth])
    return delay(np.array([story.published for story in truth]), times), webs[0], done


def test_good_hosts_are_told_of_as_soon_as_without_the_bad_ones() -> None:
    alone = [crawled(0, seed)[0] for seed in SEEDS]
    beside = [crawled(5 * len(KINDS), seed)[0] for seed in SEEDS]
    assert all(one.coverage > 0.9 for one in alone)
    assert all(one.coverage >= 0.95 * other.coverage for one, other in zip(beside, alone, strict=True))
    assert sum(one.late for one in beside) <= 1.1 * sum(one.late for one in alone)
    _, web, done = crawled(5 * len(KINDS))
    assert set(web.asked) == {"good", *KINDS}
    assert min(web.asked.values()) > 50
    assert done.account.facts()["errors"]


def test_pages_that_are_not_there_but_say_they_are_become_no_stories() -> None:
    _, web, done = crawled(5 * len(KINDS))
    soft = [story.url for story in done.stories if "/p/" in story.url]
    assert len(soft) <= 5 * 2  # of five such hosts; each repeats the address in its text, and every page had its own
    assert web.asked[Misfit.SOFT] < 5 * 200  # it was one a minute and host, for ever
