import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from forager.foragers.forager import Forager, known_by
from pydantic import TypeAdapter

from forager.foragers.settings import (
    PAPER,
    ForagerKind,
    ForagerSettings,
    LeavingSettings,
    StartSettings,
    StateSettings,
    WeblogSettings,
)
from forager.foragers.shared import Shared
from forager.foragers.sighting import Finding, Reinforcement, Sighting, Step

WL, RL, WLRL, BFS = ForagerKind
HOUR = 3600.0


def built(values: Mapping[str, object]) -> ForagerSettings:
    """Settings from dotted names."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *sections, last = name.split(".")
        place = nested
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    return TypeAdapter(ForagerSettings).validate_python(nested)


TWO = StateSettings(dimension=2)
DEFAULT = ForagerSettings(states=TWO, start=StartSettings(explore=0.0))
PAPERS = replace(built(PAPER), states=TWO)


def urls(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def shared_for(settings: ForagerSettings) -> Shared:
    return Shared.fresh(replace(settings, states=StateSettings(dimension=2)))


def newborn(settings: ForagerSettings, kind: ForagerKind = WL, seeds: tuple[int, ...] = (0,)) -> Forager:
    return Forager.born(0, kind, settings, urls(*seeds), np.random.default_rng(1))


def judged(findings: list[Finding], amount: float = 100.0) -> list[Reinforcement]:
    return [Reinforcement(finding, amount, amount > 0) for finding in findings]


def article(url: int, now: float, **more: Any) -> Sighting:
    return Sighting(**({"url": url, "when": now, "version": url, "text_print": url + 1, "published": now} | more))


def hub(url: int, now: float, *links: int) -> Sighting:
    return Sighting(url=url, when=now, version=url, published=now, hub=True, links=urls(*links))


def walk(forager: Forager, shared: Shared, now: float, sighting: Sighting, amount: float = 100.0) -> Step:
    """One step, expected to lead to the page of the sighting."""
    step = forager.choose(now, shared)
    assert step.url == sighting.url
    findings = forager.see(step, [sighting], now, shared)
    forager.learn(step, judged(findings, amount), now, shared)
    return step


def test_the_paper_preset_is_what_the_paper_says() -> None:
    assert (PAPERS.links, PAPERS.order, PAPERS.max_step, PAPERS.identity) == ("all", "profit", 100, "version")
    assert (PAPERS.weblog.size, PAPERS.weblog.start_size, PAPERS.weblog.step) == (100, 10, 0.3)
    assert (PAPERS.profit.discount, PAPERS.profit.rate) == (0.9, 0.1)
    assert PAPERS.start == StartSettings(by="list", explore=0.0)
    assert PAPERS.weblog.texts and PAPERS.hubs and PAPERS.credit == "visit" and PAPERS.leaving.below == 0
    assert ForagerSettings().states.dimension == 50


# Choosing (Alg 10, 11)


def test_the_first_step_starts_a_path_and_a_path_has_exactly_max_step_steps() -> None:
    settings = replace(PAPERS, max_step=3, links="one")
    forager, shared = newborn(settings), shared_for(settings)
    starts = []
    for at in range(10):
        step = forager.choose(float(at), shared)
        starts.append(step.start)
        links = urls(*range(1, 50)) if step.url == 0 else urls(*range(50, 60))
        forager.see(step, [Sighting(url=step.url, when=float(at), links=links)], float(at), shared)
        forager.learn(step, [], float(at), shared)
    assert starts == [True, False, False] * 3 + [True]


def test_a_path_without_open_links_is_over() -> None:
    forager, shared = newborn(PAPERS), shared_for(PAPERS)
    walk(forager, shared, 0.0, Sighting(url=0, when=0.0, links=urls(1)))
    walk(forager, shared, 1.0, Sighting(url=1, when=1.0, links=urls(0)))
    assert forager.choose(2.0, shared).start


def test_in_the_papers_mode_the_link_of_the_largest_profit_is_followed() -> None:
    forager, shared = newborn(PAPERS), shared_for(PAPERS)
    forager.profit.weights[:] = 1.0, -1.0
    shared.states.put(urls(1, 2, 3), np.array([[0.5, 0.4], [0.3, 0.0], [0.9, 0.8]], dtype=np.float32))  # .1, .3, .1
    step = walk(forager, shared, 0.0, Sighting(url=0, when=0.0, links=urls(1, 2, 3)))
    assert step.links and math.isnan(step.worth)
    assert forager.choose(1.0, shared).url == 2


def test_by_default_fresh_links_are_followed_and_worthless_paths_left() -> None:
    forager, shared = newborn(DEFAULT), shared_for(DEFAULT)
    shared.pace.hits, shared.pace.downloads = 150.0, 500.0
    shared.visits.record(0, 0.0, hub=True, links=urls(1))
    shared.visits.record(1, 0.0)
    first = walk(forager, shared, HOUR, hub(0, HOUR, 1, 2))
    assert first.start and not first.links
    second = walk(forager, shared, HOUR, article(2, HOUR))
    assert not second.start and second.worth == pytest.approx(0.9)
    third = forager.choose(HOUR + 60, shared)  # the old article 1 is left: .01 is less than .3
    assert third.start


def test_without_the_leaving_rule_a_path_goes_on() -> None:
    settings = replace(DEFAULT, leaving=LeavingSettings(below=0.0))
    forager, shared = newborn(settings), shared_for(settings)
    shared.pace.hits, shared.pace.downloads = 150.0, 500.0
    shared.visits.record(1, 0.0)
    walk(forager, shared, HOUR, hub(0, HOUR, 1))
    assert forager.choose(HOUR + 60, shared).url == 1


@pytest.mark.parametrize(("harvest", "length"), [(True, 6), (False, 2)])
def test_a_path_brings_in_the_harvest_before_it_ends(harvest: bool, length: int) -> None:
    settings = replace(DEFAULT, max_step=2, harvest=harvest)
    forager, shared = newborn(settings), shared_for(settings)
    shared.visits.record(0, 0.0, hub=True, links=urls(9))
    starts = []
    for at in range(length + 1):
        step = forager.choose(HOUR + at, shared)
        starts.append(step.start)
        seen = hub(0, HOUR + at, 9, 1, 2, 3, 4, 5) if step.url == 0 else article(step.url, HOUR + at)
        forager.learn(step, judged(forager.see(step, [seen], HOUR + at, shared)), HOUR + at, shared)
    assert starts == [True] + [False] * (length - 1) + [True]


def test_two_foragers_do_not_run_for_the_same_page() -> None:
    shared = shared_for(DEFAULT)
    one, other = newborn(DEFAULT, seeds=(0, 1)), newborn(DEFAULT, seeds=(0, 1))
    assert {one.choose(0.0, shared).url, other.choose(0.0, shared).url} == {0, 1}


def test_breadth_first_visits_level_by_level_and_begins_again() -> None:
    graph = {0: [1, 2], 1: [3, 0], 2: [4, 3], 3: [], 4: [1]}
    forager, shared = newborn(DEFAULT, BFS), shared_for(DEFAULT)
    visited = []
    for at in range(8):
        step = forager.choose(float(at), shared)
        visited.append(step.url)
        forager.see(step, [Sighting(url=step.url, when=float(at), links=urls(*graph[step.url]))], float(at), shared)
        forager.learn(step, [], float(at), shared)
    assert visited == [0, 1, 2, 3, 4, 0, 1, 2]


# Seeing (Alg 5)


def select(settings: ForagerSettings, *sightings: Sighting, now: float = 100 * HOUR) -> list[list[int]]:
    """The URLs selected from each sighting, one step for each."""
    forager, shared = newborn(settings), shared_for(settings)
    step = forager.choose(now, shared)
    return [[finding.url for finding in forager.see(step, [sighting], now, shared)] for sighting in sightings]


def test_young_documents_are_sent_once() -> None:
    now = 100 * HOUR
    assert select(DEFAULT, article(1, now), article(1, now)) == [[1], []]
    assert select(DEFAULT, article(1, now, published=76 * HOUR)) == [[1]]  # 24 h old
    assert select(DEFAULT, article(1, now, published=76 * HOUR - 1)) == [[]]
    assert select(DEFAULT, article(1, now, published=math.nan)) == [[]]
    assert select(DEFAULT, article(1, now, ok=False)) == [[]]


def test_lists_are_documents_only_in_the_papers_mode() -> None:
    assert select(DEFAULT, hub(1, 100 * HOUR)) == [[]]
    assert select(PAPERS, hub(1, 100 * HOUR)) == [[1]]


@pytest.mark.parametrize(
    ("identity", "sent"),
    [("version", [[1], [1], [2]]), ("url", [[1], [], [2]]), ("text", [[1], [], []])],
)
def test_a_document_is_new_by_version_url_or_text(identity: str, sent: list[list[int]]) -> None:
    now = 100 * HOUR
    first, new_bytes, copy = (
        article(1, now, version=10, text_print=5),
        article(1, now, version=11, text_print=5),
        article(2, now, version=12, text_print=5),
    )
    assert select(replace(DEFAULT, identity=identity), first, new_bytes, copy) == sent


def test_without_a_text_print_the_version_counts_and_without_a_version_the_url() -> None:
    assert known_by("text", 1, 10, 0) == known_by("version", 1, 10, 7)
    assert known_by("text", 1, -1, 0) == known_by("url", 1, 10, 7)
    assert len({known_by("text", 3, 3, 3), known_by("version", 3, 3, 3), known_by("url", 3, 3, 3)}) == 3


def test_a_document_is_credited_to_the_page_and_the_step_that_revealed_it() -> None:
    by_text = replace(DEFAULT, identity="text")
    forager, shared = newborn(by_text), shared_for(by_text)
    shared.visits.record(0, 0.0, hub=True, links=urls(9))
    first = walk(forager, shared, HOUR, hub(0, HOUR, 1))
    step = forager.choose(HOUR + 1, shared)
    (finding,) = forager.see(step, [article(1, HOUR + 1)], HOUR + 1, shared)
    assert (finding.revealed_by, finding.step, finding.sent_in) == (0, first.id, step.id)
    (again,) = forager.see(step, [article(1, HOUR + 2, text_print=99)], HOUR + 2, shared)
    assert (again.revealed_by, again.step) == (1, step.id)  # a known page changed: it revealed itself


def test_in_the_papers_mode_the_step_that_sent_a_document_is_paid() -> None:
    forager, shared = newborn(PAPERS), shared_for(PAPERS)
    step = forager.choose(HOUR, shared)
    page, linked = hub(0, HOUR, 1), article(1, HOUR)
    assert [finding.step for finding in forager.see(step, [page, linked], HOUR, shared)] == [step.id, step.id]


# Learning (Alg 4, and the weblog after a path)


def path_of_three(settings: ForagerSettings, kind: ForagerKind) -> tuple[Forager, Shared]:
    """0 → 1 → 2 with states (1, 0), (0, 1), (0, 0), weights 0; the second step earns 100, the third nothing."""
    forager, shared = newborn(settings, kind), shared_for(settings)
    forager.profit.weights[:] = 0.0
    shared.states.put(urls(0, 1), np.array([[1, 0], [0, 1]], dtype=np.float32))
    walk(forager, shared, 0.0, Sighting(url=0, when=0.0, links=urls(1)))
    walk(forager, shared, 1.0, article(1, 1.0, links=urls(2)))
    walk(forager, shared, 2.0, Sighting(url=2, when=2.0))
    return forager, shared


def test_profit_is_learned_after_every_step_but_the_first() -> None:
    # step 0 → 1 earned 100: δ = 100, w₁ = .1·100 = 10; step 1 → 2 earned 0: δ = 0 + 0 − w₂ = 0
    assert path_of_three(PAPERS, RL)[0].profit.weights == pytest.approx([10.0, 0.0])
    assert path_of_three(PAPERS, WLRL)[0].profit.weights == pytest.approx([10.0, 0.0])
    assert path_of_three(PAPERS, WL)[0].profit.weights == pytest.approx([0.0, 0.0])


def test_the_weblog_learns_when_the_path_is_over() -> None:
    forager, shared = path_of_three(PAPERS, WL)
    assert forager.weblog.entries == [(0, 0.0)]
    assert forager.choose(3.0, shared).start
    # sums 100, 100, 0; the seed was known: 0 + .3·100 = 30
    assert forager.weblog.entries == [(1, 100.0), (0, pytest.approx(30.0)), (2, 0.0)]


def test_by_default_articles_do_not_enter_the_weblog() -> None:
    forager, shared = newborn(DEFAULT), shared_for(DEFAULT)
    shared.visits.record(0, 0.0, hub=True, links=urls(9))
    walk(forager, shared, HOUR, hub(0, HOUR, 1))
    walk(forager, shared, HOUR, article(1, HOUR))
    assert forager.choose(2 * HOUR, shared).start
    assert forager.weblog.entries == [(0, pytest.approx(30.0))]


def test_penalties_lower_the_weblog_unless_switched_off() -> None:
    for penalties, value in ((True, -0.3), (False, 0.0)):  # 0 + .3·(−1)
        settings = replace(PAPERS, weblog=WeblogSettings(texts=True, penalties=penalties))
        forager, shared = newborn(settings), shared_for(settings)
        walk(forager, shared, 0.0, article(0, 0.0), amount=-1.0)
        forager.choose(1.0, shared)
        assert forager.weblog.entries == [(0, pytest.approx(value))]


def test_the_start_list_of_rl_is_the_seed_and_the_first_nine_pages_it_saw() -> None:
    settings = replace(PAPERS, links="one")
    forager, shared = newborn(settings, RL), shared_for(settings)
    for at in range(30):
        walk(forager, shared, float(at), article(at, float(at), links=urls(at + 1)))
    assert forager.weblog.entries == [(url, 0.0) for url in range(10)]


def test_reinforcements_that_come_late_teach_the_same() -> None:
    timely, _ = path_of_three(PAPERS, WLRL)
    forager, shared = newborn(PAPERS, WLRL), shared_for(PAPERS)
    forager.profit.weights[:] = 0.0
    shared.states.put(urls(0, 1), np.array([[1, 0], [0, 1]], dtype=np.float32))
    walk(forager, shared, 0.0, Sighting(url=0, when=0.0, links=urls(1)))
    step = forager.choose(1.0, shared)
    findings = forager.see(step, [article(1, 1.0, links=urls(2))], 1.0, shared)
    forager.learn(step, [], 1.0, shared)
    walk(forager, shared, 2.0, Sighting(url=2, when=2.0))
    assert forager.choose(3.0, shared).start  # the path is over, the weblog has learned
    forager.reinforce(judged(findings)[0], 4.0, shared)
    assert forager.profit.weights == pytest.approx(timely.profit.weights)
    assert forager.weblog.entries == [(1, 100.0), (0, pytest.approx(30.0)), (2, 0.0)]
    assert shared.pace.hits == pytest.approx(1.0)


# Multiplying (Alg 6)


@pytest.mark.parametrize("kind", [WL, RL, WLRL])
def test_a_child_takes_half_of_the_weblog_and_the_profit_only_of_learners(kind: ForagerKind) -> None:
    parent = newborn(PAPERS, kind, seeds=(0, 1, 2, 3))
    parent.memory.add((0, 1))
    child = parent.multiply(1, np.random.default_rng(2))
    if kind is RL:  # all have the same weblog
        assert child.weblog.entries == parent.weblog.entries and len(parent.weblog) == 4
    else:
        assert sorted(child.weblog.start_list + parent.weblog.start_list) == [0, 1, 2, 3]
        assert len(child.weblog) == 2
    assert (child.profit.weights == parent.profit.weights).all() == kind.learns_profit
    assert child.profit.weights is not parent.profit.weights
    assert not child.memory and child.kind is kind and not child.path.urls


def test_rl_weblogs_split_too_if_told_so() -> None:
    settings = replace(PAPERS, weblog=WeblogSettings(split_rl=True))
    parent = newborn(settings, RL, seeds=(0, 1, 2, 3))
    assert len(parent.multiply(1, np.random.default_rng(2)).weblog) == 2 == len(parent.weblog)
