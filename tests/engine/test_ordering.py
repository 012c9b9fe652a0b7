"""Never-visited pages in the order of the link graph: what it says, who listens, and that it survives an interruption."""

import asyncio

import numpy as np
import pytest

from forager.clock import WallClock, in_thread
from forager.core.agent import ReinforcingAgent
from forager.core.choice import graph_leanings
from forager.core.findings import Finding, Sighting
from forager.core.fleet import Forager
from forager.core.page_table import PageTable
from forager.core.parameters import (
    ExpectationSettings,
    ForagerSettings,
    PopulationSettings,
    ReinforcingSettings,
    ScoreSettings,
    StartSettings,
    StateSettings,
)
from forager.core.shared import Shared
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.link_order import FEWEST, Ordering
from forager.settings import load_settings
from forager.store.protocol import Found, Version, VersionId, Visit
from forager.store.store import Store
from forager.terms import Channel, ForagerId, Kind, Outcome, Url, UrlId
from tests.virtual import Crawled, crawl_newsroom

HOME, RICH, POOR = UrlId(0), UrlId(1), UrlId(2)
OF_RICH, OF_POOR = [10, 11], [20, 21]


def numbers(*urls: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(urls, dtype=np.int64)


def two_lists() -> tuple[Shared, Ordering]:
    """A home page, a list that brought five documents and one that brought none; two links of each were not followed."""
    shared = Shared.fresh(ForagerSettings(states=StateSettings(dimension=4)))
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(), seed=1)
    ordering = Ordering.arranged(CrawlSettings(ordering="rw-eg"), agent, shared)
    assert ordering is not None
    for url, links in ((HOME, [RICH, POOR]), (RICH, [HOME, *OF_RICH]), (POOR, [HOME, *OF_POOR])):
        shared.note(Sighting(url, 0.0, links=numbers(*links), hub=True))
    for version in range(5):
        shared.visits.credit(Finding(ForagerId(0), RICH, version, 0, 0.0, revealed_by=RICH))
    ordering.renew_if_due(1000.0)
    return shared, ordering


def test_links_of_a_page_that_earned_much_appeal_more():
    _, ordering = two_lists()
    assert ordering.scores[[10, 11, 20, 21]].tolist() == pytest.approx([2 / 3, 2 / 3, -2 / 3, -2 / 3])
    assert ordering.scores[[HOME, RICH]].tolist() == [0, 0]  # they were visited


@pytest.mark.parametrize("luck", range(5))
def test_a_forager_follows_the_link_of_the_page_that_earned_much(luck: int):
    shared, _ = two_lists()
    walk = ForagerSettings(states=StateSettings(dimension=4), start=StartSettings(others=0))
    agent = ReinforcingAgent(ReinforcingSettings(), walk, seed=luck)
    forager, _ = agent.start(numbers(HOME), 0.0)
    step = agent.choose(forager, 30.0, shared)
    agent.see(forager, step, [Sighting(HOME, 30.0, links=numbers(20, 10, 21), hub=True, free=True)], 30.0, shared)
    assert agent.choose(forager, 60.0, shared).url == 10


def test_the_recrawl_side_leans_to_pages_that_the_link_graph_favours():
    shared, _ = two_lists()
    # 1 + 0.5 · appeal, the appeals being 2/3 and −2/3; a page that is not in the graph is as it was
    assert graph_leanings(shared.mind(), 0.5, numbers(10, 20, 1000)).tolist() == pytest.approx([4 / 3, 2 / 3, 1.0])
    shared.note(Sighting(UrlId(10), 60.0))
    assert graph_leanings(shared.mind(), 0.5, numbers(10)).tolist() == pytest.approx([1.0])  # visited


def test_links_seen_again_do_not_make_the_graph_grow():
    ordering = Ordering("rw-eg", PageTable(ExpectationSettings()), 900.0)
    ordering.saw(HOME, numbers(1, 2))
    ordering.saw(HOME, numbers(1, 2))
    assert repr(ordering) == "<Ordering 0 links, renewed 0 times, 2 links waiting>"
    ordering.saw(HOME, numbers(1, 3))
    ordering.renew_if_due(0.0)
    assert repr(ordering) == "<Ordering 3 links, renewed 1 times, 0 links waiting>"


def test_scores_are_renewed_once_in_a_cycle_or_when_the_graph_has_grown_much():
    ordering = Ordering("rw-eg", PageTable(ExpectationSettings()), 900.0)
    assert not ordering.due(0.0)  # nothing is known
    ordering.saw(HOME, numbers(1))
    ordering.renew_if_due(0.0)
    ordering.saw(HOME, numbers(2))
    assert [ordering.due(899.0), ordering.due(900.0)] == [False, True]
    ordering.saw(RICH, np.arange(5, FEWEST + 5, dtype=np.int64))
    assert ordering.due(1.0)


def test_start_pages_are_lists_and_unvisited_pages_each_given_once():
    shared, ordering = two_lists()
    shared.note(Sighting(UrlId(10), 0.0))  # an article, visited since: not among the start pages of the next renewal
    ordering.saw(UrlId(10), numbers(HOME))
    ordering.renew_if_due(5000.0)
    first = ordering.starts(2)
    rest = ordering.starts(10)
    assert sorted([*first, *rest]) == [HOME, RICH, POOR, 11, 20, 21]
    assert first[0] == HOME  # every page links there
    assert ordering.starts(3) == []


def multiplied(starts: int, *, ordering: str = "rw-eg") -> Forager:
    """The child of a forager that had two pages in its weblog, in a crawl that knows the two lists."""
    settings = ReinforcingSettings(
        population=PopulationSettings(first=1, starts=starts), scores=ScoreSettings(relative=False, multiply_at=0.0)
    )
    agent = ReinforcingAgent(settings, ForagerSettings(), seed=1)
    (parent,) = agent.start(numbers(HOME, 30), 0.0)
    _, known = two_lists()
    if ordering != "td":
        agent.suggest = known.starts
    agent.manage(parent.id, 0.0)
    return agent.foragers[ForagerId(1)]


def test_a_child_with_a_small_weblog_gets_start_pages_on_top():
    child = multiplied(4)
    best = two_lists()[1].starts(3)
    assert set(best) <= set(child.weblog.urls.tolist())
    assert len(child.weblog) <= 4  # one of its parent's, three suggested, of which one may be the same


@pytest.mark.parametrize(("starts", "ordering"), [(0, "rw-eg"), (1, "rw-eg"), (10, "td")])
def test_a_child_gets_none_if_its_half_will_do_or_nobody_ranks(starts: int, ordering: str):
    assert len(multiplied(starts, ordering=ordering).weblog) == 1


@pytest.mark.parametrize("changed", ["preset=paper", "forager.kind=BFS", "crawl.ordering=td"])
def test_no_graph_is_kept_where_nobody_asks_for_it(changed: str):
    settings = load_settings(None, ["crawl.ordering=mixed", changed]).settings
    agent = ReinforcingAgent(settings.reinforcing, settings.forager, seed=1)
    shared = Shared.fresh(ForagerSettings(states=StateSettings(dimension=4)))
    assert Ordering.arranged(settings.crawl, agent, shared) is None
    assert shared.order is None


def test_a_crawl_in_this_order_makes_other_visits():
    crawled = crawl_newsroom(1.5, "crawl.ordering=rw-eg")
    assert crawled.journal.getvalue() != crawl_newsroom(1.5).journal.getvalue()
    assert crawled.crawl.ordering is not None
    assert crawled.crawl.ordering.renewals > 3


def test_after_a_restart_the_graph_is_that_of_all_stored_versions():
    before = crawl_newsroom(1, "crawl.ordering=rw-eg")
    after = Crawled(before.settings).run(0.3, store=before.store, start=1.0)
    ordering = after.crawl.ordering
    assert ordering is not None
    assert ordering.ranking is not None
    versions = [version.links for _, _, version in asyncio.run(every_version(before.store))]
    linked = sorted({link for links in versions for link in links})
    assert len(linked) > 100
    assert (ordering.ranking.scores[linked] > 0).all()


async def every_version(store: Store) -> list[tuple[UrlId, float, Version]]:
    return [await store.version(VersionId(number)) for number in range(store.counts().versions)]


async def test_scores_are_worked_out_beside_the_crawl():
    store, ordering = Store(), Ordering("rw-eg", PageTable(ExpectationSettings()), 900.0, in_thread)
    ids = await store.put([Found(Url(f"https://a.example/{n}"), Channel.SEED, 0.0) for n in range(3)])
    version = Version(Kind.HUB, 1, 1, 0, links=(ids[1], ids[2]))
    await store.ack(Visit(ids[0], 1.0, Outcome.FETCHED, version=version))
    stopping = asyncio.Event()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(ordering.run(store, WallClock(), stopping))
        while ordering.ranking is None:
            await asyncio.sleep(0.01)
        stopping.set()
    assert ordering.ranking.scores.tolist() == pytest.approx([0.05, 0.067, 0.067])  # 0.05 + 0.85 · 0.8 · 0.05 / 2
