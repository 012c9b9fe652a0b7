"""Hosts that misbehave in ten ways do not hold up the good ones beside them."""

from functools import cache

import numpy as np

from forager.clock import Clock
from forager.measures import Delay, delay
from forager.settings import load_settings
from forager.web.web import Web
from tests.faults.misfits import KINDS, MisfitWeb
from tests.virtual import QUICK, Crawled

HOURS = 6.0


@cache
def crawled(misfits: int) -> tuple[Delay, MisfitWeb, Crawled]:
    """How late the good hosts' stories were told, beside so many misfits."""
    webs: list[MisfitWeb] = []

    def wrap(web: Web, clock: Clock) -> Web:
        webs.append(MisfitWeb(web, clock, misfits))
        return webs[0]

    done = Crawled(load_settings(None, [*QUICK, "newsroom.pace=4"]).settings, wrap)
    papers = [f"http://{paper.name}.example/" for paper in done.settings.newsroom.papers]
    done.homes = [*papers, *MisfitWeb(None, None, misfits).homes]  # type: ignore[arg-type, list-item]
    done.run(HOURS)
    start, told = done.settings.newsroom.start, {story.url: story.at for story in reversed(done.stories)}
    truth = done.newsroom.truth.published_between(start + 3600, start + HOURS * 3600 - 900)
    times = np.array([told.get(story.url, np.nan) for story in truth])
    return delay(np.array([story.published for story in truth]), times), webs[0], done


def test_good_hosts_are_told_of_as_soon_as_without_the_bad_ones() -> None:
    alone, _, _ = crawled(0)
    beside, web, done = crawled(5 * len(KINDS))
    assert alone.coverage > 0.9
    assert beside.coverage >= 0.95 * alone.coverage
    assert beside.median <= 1.1 * alone.median
    assert set(web.asked) == {"good", *KINDS}
    assert min(web.asked.values()) > 50
    assert done.account.facts()["errors"]
