"""Whose a look of the recrawl cycle is, what becomes of the pages of the dead, and what a child inherits."""

import numpy as np
import pytest

from forager.core.agent import ReinforcingAgent
from forager.core.births import moved
from forager.core.fleet import Flock, usual_genes
from forager.core.parameters import (
    AIMS,
    INHERITED,
    ForagerKind,
    ForagerSettings,
    Identity,
    PopulationSettings,
    ReinforcingSettings,
    RelevancySettings,
    WeblogSettings,
)
from forager.core.saved import load_agent, save_agent
from forager.core.shared import Shared
from forager.core.weblog import Weblog
from forager.terms import ForagerId, UrlId
from tests.core.lone import article, hub, urls

Entries = list[tuple[int, float]]
FIRST, SECOND = ForagerId(0), ForagerId(1)


def fleet(*weblogs: Entries, size: int = 100, identity: Identity = "story") -> ReinforcingAgent:
    """Foragers with these weblogs."""
    settings = ForagerSettings(weblog=WeblogSettings(size=size))
    population = PopulationSettings(first=len(weblogs), least=1, most=len(weblogs))
    relevancy = RelevancySettings(identity=identity)
    agent = ReinforcingAgent(ReinforcingSettings(population=population, relevancy=relevancy), settings, 1)
    agent.start(urls(0), 0.0)
    for forager, entries in zip(agent.foragers.values(), weblogs, strict=True):
        forager.weblog = Weblog(forager.weblog.settings, [(UrlId(url), value) for url, value in entries])
    return agent


def work(agent: ReinforcingAgent) -> list[tuple[int, int]]:
    """Downloads and new documents of each."""
    return [(one.downloads, one.relevant) for one in agent.records.values()]


def test_a_look_counts_for_the_forager_whose_weblog_values_the_page_most() -> None:
    agent, shared = fleet([(5, 10.0), (6, 90.0)], [(5, 20.0), (6, 80.0)]), Shared.fresh(ForagerSettings())
    for page in (5, 6):
        agent.look(hub(page, 0.0), True, 0.0, shared)
    assert work(agent) == [(1, 0), (1, 0)]
    assert agent.foragers[FIRST].weblog.entries == [
        (6, pytest.approx(63.0)),
        (5, 10.0),
    ]  # 90·(1 − .3): it brought nothing


def test_an_article_counts_for_the_one_who_has_the_page_that_revealed_it() -> None:
    agent, shared = fleet([(5, 10.0)], [(6, 10.0)]), Shared.fresh(ForagerSettings())
    for at, links in ((0.0, ()), (60.0, (7,))):
        shared.note(hub(6, at, *links))
    seen = article(7, 120.0)
    (earned,) = agent.look(seen, shared.note(seen), 120.0, shared)
    assert earned.relevant and work(agent) == [(0, 0), (1, 1)]
    assert agent.foragers[SECOND].weblog.entries == [(6, 40.0)]  # 10 + .3·100: the look at it came before


def test_values_follow_what_looks_bring() -> None:
    agent, shared = fleet([(5, 10.0), (6, 9.0)]), Shared.fresh(ForagerSettings())
    agent.look(hub(5, 0.0), True, 0.0, shared)
    assert agent.foragers[FIRST].weblog.entries == [(6, 9.0), (5, pytest.approx(7.0))]  # 10·(1 − .3)


def test_a_text_that_nobody_has_becomes_a_start_page_when_it_brings_news_again() -> None:
    agent, shared = fleet([(5, 10.0)], identity="text"), Shared.fresh(ForagerSettings())
    for at in (0.0, 3600.0):
        assert 8 not in agent.foragers[FIRST].weblog  # so far it may be an article, which never changes
        seen = article(8, at, version=int(at), text_print=int(at) + 1)
        agent.look(seen, shared.note(seen), at, shared)
    assert agent.foragers[FIRST].weblog.entries == [(8, 100.0), (5, 10.0)]


def test_the_territory_of_the_deleted_is_taken_over_and_nothing_is_lost() -> None:
    agent = fleet([(1, 3.0), (2, 2.0)], [(3, 5.0), (4, 1.0), (2, 9.0)], [(5, 1.0)], size=4)
    agent.flock.state.walkers["score"][agent.foragers[SECOND].slot] = -50.0
    agent.manage(SECOND, 9.0)
    held = [entry for one in agent.foragers.values() for entry in one.weblog.entries]
    assert {url for url, _ in held} == {1, 2, 3, 4, 5}
    assert len(held) == 5 and (3, 5.0) in agent.foragers[ForagerId(2)].weblog.entries  # it had most room


def child_of(
    genes: dict[str, float], usual: dict[str, float], share: float, rng: np.random.Generator
) -> dict[str, float]:
    return {
        key: moved(genes[key], usual[key], which, share, rng.standard_normal()) for which, key in enumerate(INHERITED)
    }


def test_a_child_inherits_with_small_changes_within_the_bounds() -> None:
    usual, rng = usual_genes(ForagerSettings()), np.random.default_rng(1)
    genes = usual
    for _ in range(2000):
        genes = child_of(genes, usual, 0.15, rng)
        assert all(bounds.low <= genes[key] <= bounds.high for key, bounds in INHERITED.items())
    assert genes != usual
    assert child_of(genes, usual, 0.0, rng) == usual


def test_what_a_crawl_looks_for_is_not_inherited() -> None:
    sought = {key.removeprefix("forager.") for changes in AIMS.values() for key in changes}
    assert sought and not sought & set(INHERITED)


def test_without_selection_parameters_do_not_wander_off() -> None:
    usual, rng = usual_genes(ForagerSettings()), np.random.default_rng(1)
    genes, steps = usual, []
    for _ in range(5000):
        genes = child_of(genes, usual, 0.15, rng)
        steps.append(np.log(genes["weblog.step"] / usual["weblog.step"]))
    assert np.std(steps) < 0.5  # .15/√(1 − .9²) = .34


def test_the_parameters_of_all_foragers_are_a_view_of_their_rows_however_many_there_are() -> None:
    flock = Flock(ForagerSettings(), 1)
    for id in range(3):
        genes = {key: usual + id for key, usual in flock.usual.items()}
        flock.enter(id, ForagerKind.WL, urls(0), Weblog(WeblogSettings()), np.zeros(1), genes)
    flock.state.walkers["rate"][1] = 7.0
    usual = list(flock.usual.values())
    assert flock.state.genes[2].tolist() == [value + 2 for value in usual]
    assert flock.state.genes[1].tolist() == [*(value + 1 for value in usual[:-1]), 7.0]


def test_parameters_are_saved_and_kept() -> None:
    agent = fleet([(1, 1.0)], [(2, 1.0)])
    agent.flock.state.walkers["score"][0] = 50.0
    agent.manage(FIRST, 1.0)
    child = list(agent.foragers.values())[-1]
    assert child.genes != agent.flock.usual
    again = load_agent(save_agent(agent), agent.settings, agent.forager_settings)
    assert again.foragers[child.id].genes == child.genes == again.records[child.id].genes


def test_a_fleet_may_begin_with_several_kinds() -> None:
    settings = ForagerSettings(kinds={ForagerKind.WLRL: 2, ForagerKind.WL: 1})
    agent = ReinforcingAgent(ReinforcingSettings(), settings, 1)
    assert [one.kind.value for one in agent.start(urls(0), 0.0)] == ["WLRL", "WLRL", "WL"]
    assert settings.wants_states and not ForagerSettings(kinds={ForagerKind.WL: 3}).wants_states


def test_all_rl_foragers_share_one_start_list() -> None:
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(kind=ForagerKind.RL), 1)
    one, other = agent.start(urls(0), 0.0)
    shared = Shared.fresh(ForagerSettings())
    for at in range(3):
        step = agent.choose(one, float(at), shared)
        agent.see(one, step, [hub(step.url, float(at), 1, 2, 3)], float(at), shared)
    assert one.weblog.entries == other.weblog.entries and len(one.weblog) > 1


def test_rl_foragers_start_alike_even_with_more_seeds_than_a_weblog_holds() -> None:
    settings = ForagerSettings(kinds={ForagerKind.RL: 2, ForagerKind.WL: 2}, weblog=WeblogSettings(size=10))
    agent = ReinforcingAgent(ReinforcingSettings(), settings, 1)
    first, second, *others = ([url for url, _ in one.weblog.entries] for one in agent.start(urls(*range(30)), 0.0))
    assert first == second == list(range(10))
    assert not set(others[0]) & set(others[1])
