import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from forager.compiler import kernels
from forager.core import agent
from forager.core.births import bear_child
from forager.core.findings import Sighting
from forager.core.fleet import Forager
from forager.core.judge import known_by
from forager.core.parameters import (
    PAPER_FORAGER,
    ForagerKind,
    ForagerSettings,
    LeavingSettings,
    StartSettings,
    WeblogSettings,
)
from forager.core.weblog import Weblog
from forager.kernel import as_loaded
from forager.terms import UrlId
from tests.core.lone import Lone, article, hub, urls

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


DEFAULT = ForagerSettings(start=StartSettings(explore=0.0, others=0))
PAPERS = built(PAPER_FORAGER)


def test_the_paper_preset_is_what_the_paper_says() -> None:
    assert (PAPERS.links, PAPERS.order, PAPERS.max_step, PAPERS.identity) == ("all", "profit", 100, "version")
    assert (PAPERS.weblog.size, PAPERS.weblog.start_size, PAPERS.weblog.step) == (100, 10, 0.3)
    assert (PAPERS.profit.discount, PAPERS.profit.rate) == (0.9, 0.1)
    assert PAPERS.start == StartSettings(by="list", explore=0.0)
    assert PAPERS.weblog.texts and PAPERS.hubs and PAPERS.credit == "visit" and PAPERS.leaving.below == 0
    assert ForagerSettings().states.dimension == 50


# Choosing (Alg 10, 11)


def test_the_first_step_starts_a_path_and_a_path_has_exactly_max_step_steps() -> None:
    lone, starts = Lone(replace(PAPERS, max_step=3, links="one")), []
    for at in range(10):
        step = lone.choose(float(at))
        starts.append(lone.starts)
        links = urls(*range(1, 50)) if step.url == 0 else urls(*range(50, 60))
        lone.see(step, float(at), Sighting(url=step.url, when=float(at), links=links))
    assert starts == [True, False, False] * 3 + [True]


def test_a_path_without_open_links_is_over() -> None:
    lone = Lone(PAPERS)
    lone.walk(0.0, Sighting(url=0, when=0.0, links=urls(1)))
    lone.walk(1.0, Sighting(url=1, when=1.0, links=urls(0)))
    lone.choose(2.0)
    assert lone.starts


def test_links_open_once_and_never_lead_back_but_a_new_path_may_go_where_the_last_one_was() -> None:
    lone = Lone(replace(PAPERS, max_step=2))
    lone.walk(0.0, Sighting(url=0, when=0.0, links=urls(0, 6, 7, 6)))
    assert sorted(lone.forager.path.open.tolist()) == [6, 7]
    step = lone.choose(1.0)
    lone.see(step, 1.0, Sighting(url=step.url, when=1.0, links=urls(0, 7, 8)))
    assert sorted(lone.forager.path.open.tolist()) == sorted({6, 7, 8} - {step.url})
    lone.walk(2.0, Sighting(url=0, when=2.0, links=urls(6, 7)))
    assert (lone.starts, lone.forager.path.number) == (True, 2)
    assert sorted(lone.forager.path.open.tolist()) == [6, 7]


def test_until_machine_code_is_loaded_a_step_chooses_among_the_latest_open_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent, "LEADS", 3)
    monkeypatch.setattr(agent, "awaits_code", lambda kernel: True)
    lone, left, places = Lone(replace(DEFAULT, max_step=50)), set(range(1, 21)), set()
    lone.walk(0.0, hub(0, 0.0, *range(1, 21)))
    for at in range(1, 18):
        latest = lone.forager.path.open.tolist()[-3:]
        url = lone.choose(float(at)).url
        places.add(latest.index(url))
        left.remove(url)
        assert sorted(lone.forager.path.open.tolist()) == sorted(left)
        lone.shared.visits.arrived(UrlId(url))
    assert places == {0, 1, 2}
    lone.agent.flock.state.walkers["count"] = 0  # nothing is open any more: a new path begins
    lone.choose(18.0)
    assert lone.starts


def test_in_plain_python_a_step_takes_no_longer_where_thousands_of_links_are_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kernel in kernels():
        monkeypatch.setattr(kernel, "_loaded", None)  # by another test of this process

    def seconds(links: int) -> float:
        lone, took = Lone(DEFAULT, WLRL), []
        lone.walk(0.0, hub(0, 0.0, *range(1, links + 1)))
        for at in range(1, 6):
            began = time.thread_time()
            lone.choose(float(at))
            took.append(time.thread_time() - began)
        assert not lone.starts
        return min(took)

    with as_loaded(lambda kernel, args: None):
        assert seconds(5000) < 3 * seconds(agent.LEADS)  # 16 times as long if it chose among all


def test_thousands_of_links_and_of_steps_find_room() -> None:
    lone = Lone(DEFAULT, BFS)
    lone.walk(0.0, Sighting(url=0, when=0.0, links=urls(*range(1, 5000))))
    visited = [0]
    for at in range(1, 3000):
        step = lone.choose(float(at))
        visited.append(step.url)
        lone.see(step, float(at), Sighting(url=step.url, when=float(at), links=urls(5000 + at)))
    assert visited == list(range(3000))
    assert lone.forager.path.open.tolist() == [*range(3000, 5000), *range(5001, 8000)]


def test_in_the_papers_mode_the_link_of_the_largest_profit_is_followed() -> None:
    lone = Lone(PAPERS)
    lone.forager.weights[:2] = 1.0, -1.0
    states = np.array([[0.5, 0.4], [0.3, 0.0], [0.9, 0.8]], dtype=np.float32)  # .1, .3, .1
    lone.shared.states.put(urls(1, 2, 3), states)
    step = lone.walk(0.0, Sighting(url=0, when=0.0, links=urls(1, 2, 3)))
    assert step.links and math.isnan(step.worth)
    assert lone.choose(1.0).url == 2


def test_by_default_fresh_links_are_followed_and_worthless_paths_left() -> None:
    lone = Lone(DEFAULT)
    lone.shared.pace.hits, lone.shared.pace.downloads = 150.0, 500.0
    lone.shared.visits.record(0, 0.0, hub=True, links=urls(1))
    lone.shared.visits.record(1, 0.0)
    first = lone.walk(HOUR, hub(0, HOUR, 1, 2))
    assert lone.starts and not first.links
    second = lone.walk(HOUR, article(2, HOUR))
    assert not lone.starts and second.worth == pytest.approx(0.9)
    lone.choose(HOUR + 60)  # the old article 1 is left: .01 is less than .3
    assert lone.starts


def test_without_the_leaving_rule_a_path_goes_on() -> None:
    lone = Lone(replace(DEFAULT, leaving=LeavingSettings(below=0.0)))
    lone.shared.pace.hits, lone.shared.pace.downloads = 150.0, 500.0
    lone.shared.visits.record(1, 0.0)
    lone.walk(HOUR, hub(0, HOUR, 1))
    assert lone.choose(HOUR + 60).url == 1


@pytest.mark.parametrize(("harvest", "length"), [(True, 6), (False, 2)])
def test_a_path_brings_in_the_harvest_before_it_ends(harvest: bool, length: int) -> None:
    lone = Lone(replace(DEFAULT, max_step=2, harvest=harvest))
    lone.shared.visits.record(0, 0.0, hub=True, links=urls(9))
    starts = []
    for at in range(length + 1):
        step = lone.choose(HOUR + at)
        starts.append(lone.starts)
        seen = hub(0, HOUR + at, 9, 1, 2, 3, 4, 5) if step.url == 0 else article(step.url, HOUR + at)
        lone.see(step, HOUR + at, seen)
    assert starts == [True] + [False] * (length - 1) + [True]


def test_two_foragers_do_not_run_for_the_same_page() -> None:
    one = Lone(DEFAULT, seeds=(0, 1))
    other = Lone(DEFAULT, seeds=(0, 1), agent=one.agent, shared=one.shared)
    assert {one.choose(0.0).url, other.choose(0.0).url} == {0, 1}


def test_breadth_first_visits_level_by_level_and_begins_again() -> None:
    graph = {0: [1, 2], 1: [3, 0], 2: [4, 3], 3: [], 4: [1]}
    lone, visited = Lone(DEFAULT, BFS), []
    for at in range(8):
        step = lone.choose(float(at))
        visited.append(step.url)
        lone.see(step, float(at), Sighting(url=step.url, when=float(at), links=urls(*graph[step.url])))
    assert visited == [0, 1, 2, 3, 4, 0, 1, 2]


# Seeing (Alg 5)


def select(settings: ForagerSettings, *sightings: Sighting, now: float = 100 * HOUR) -> list[list[int]]:
    """The URLs sent from each sighting, one step for each."""
    lone = Lone(settings)
    step = lone.choose(now)
    return [[one.finding.url for one in lone.see(step, now, sighting)] for sighting in sightings]


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
    [("version", [[1], [1], [2]]), ("url", [[1], [], [2]]), ("text", [[1], [], []]), ("story", [[1], [], []])],
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
    lone = Lone(replace(DEFAULT, identity="text"))
    lone.shared.visits.record(0, 0.0, hub=True, links=urls(9))
    lone.walk(HOUR, hub(0, HOUR, 1))
    step = lone.choose(HOUR + 1)
    (earned,) = lone.see(step, HOUR + 1, article(1, HOUR + 1))
    assert earned.finding.revealed_by == 0
    assert lone.forager.path.earned == [100.0, 0.0]
    (again,) = lone.see(step, HOUR + 2, article(1, HOUR + 2, text_print=99))
    assert again.finding.revealed_by == 1  # a known page changed: it revealed itself
    assert lone.forager.path.earned == [100.0, -1.0]  # the agent knows it by its address


def test_in_the_papers_mode_the_step_that_sent_a_document_is_paid() -> None:
    lone = Lone(PAPERS)
    lone.walk(HOUR - 1, Sighting(url=0, when=HOUR - 1, links=urls(1)))
    lone.see(lone.choose(HOUR), HOUR, hub(1, HOUR, 2), article(2, HOUR))
    assert lone.forager.path.earned == [0.0, 200.0]


# Learning (Alg 4, and the weblog after a path)


def path_of_three(settings: ForagerSettings, kind: ForagerKind) -> Lone:
    """0 → 1 → 2 with states (1, 0), (0, 1), (0, 0), weights 0; the second step earns 100, the third nothing."""
    lone = Lone(settings, kind)
    lone.forager.weights[:] = 0.0
    lone.shared.states.put(urls(0, 1), np.array([[1, 0], [0, 1]], dtype=np.float32))
    lone.walk(0.0, Sighting(url=0, when=0.0, links=urls(1)))
    lone.walk(1.0, article(1, 1.0, links=urls(2)))
    lone.walk(2.0, Sighting(url=2, when=2.0))
    return lone


def test_profit_is_learned_after_every_step_but_the_first() -> None:
    # step 0 → 1 earned 100: δ = 100, w₁ = .1·100 = 10; step 1 → 2 earned 0: δ = 0 + 0 − w₂ = 0
    assert path_of_three(PAPERS, RL).forager.weights[:2] == pytest.approx([10.0, 0.0])
    assert path_of_three(PAPERS, WLRL).forager.weights[:2] == pytest.approx([10.0, 0.0])
    weights = path_of_three(PAPERS, WL).forager.weights
    assert weights[:2] == pytest.approx([0.0, 0.0])


def test_the_weblog_learns_when_the_path_is_over() -> None:
    lone = path_of_three(PAPERS, WL)
    assert lone.forager.weblog.entries == [(0, 0.0)]
    lone.choose(3.0)
    assert lone.starts
    # sums 100, 100, 0; the seed was known: 0 + .3·100 = 30
    assert lone.forager.weblog.entries == [(1, 100.0), (0, pytest.approx(30.0)), (2, 0.0)]


def test_by_default_articles_do_not_enter_the_weblog() -> None:
    lone = Lone(DEFAULT)
    lone.shared.visits.record(0, 0.0, hub=True, links=urls(9))
    lone.walk(HOUR, hub(0, HOUR, 1))
    lone.walk(HOUR, article(1, HOUR))
    lone.choose(2 * HOUR)
    assert lone.starts
    assert lone.forager.weblog.entries == [(0, pytest.approx(30.0))]


def test_penalties_lower_the_weblog_unless_switched_off() -> None:
    for penalties, value in ((True, -0.3), (False, 0.0)):  # 0 + .3·(−1)
        lone = Lone(replace(PAPERS, weblog=WeblogSettings(texts=True, penalties=penalties)))
        lone.agent.accepts(0, 0, 1)
        lone.walk(0.0, article(0, 0.0))
        lone.choose(1.0)
        assert lone.forager.weblog.entries == [(0, pytest.approx(value))]


def test_the_start_list_of_rl_is_the_seed_and_the_first_nine_pages_it_saw() -> None:
    lone = Lone(replace(PAPERS, links="one"), RL)
    for at in range(30):
        lone.walk(float(at), article(at, float(at), links=urls(at + 1)))
    assert lone.forager.weblog.entries == [(url, 0.0) for url in range(10)]


# Multiplying (Alg 6)


def child_of(lone: Lone) -> Forager:
    flock = lone.agent.flock
    return Forager(flock, bear_child(lone.agent.rules[0], flock.state, lone.forager.slot, 0.0))


@pytest.mark.parametrize("kind", [WL, RL, WLRL])
def test_a_child_takes_half_of_the_weblog_and_the_profit_only_of_learners(kind: ForagerKind) -> None:
    lone = Lone(PAPERS, kind, seeds=(0, 1, 2, 3))
    parent, now = lone.forager, 100 * HOUR
    step = lone.choose(now)
    lone.see(step, now, article(step.url, now))
    child = child_of(lone)
    if kind is RL:  # all have the same weblog
        assert child.weblog.entries == parent.weblog.entries and len(parent.weblog) == 4
    else:
        assert sorted(child.weblog.start_list + parent.weblog.start_list) == [0, 1, 2, 3]
        assert len(child.weblog) == 2
    assert (child.weights == parent.weights).all() == kind.learns_profit
    assert not np.shares_memory(child.weights, parent.weights)
    sent = lone.agent.flock.state.sent
    assert sent[parent.slot].any() and not sent[child.slot].any()
    assert child.kind is kind and not child.path.urls


def test_rl_weblogs_split_too_if_told_so() -> None:
    lone = Lone(replace(PAPERS, weblog=WeblogSettings(split_rl=True)), RL, seeds=(0, 1, 2, 3))
    assert len(child_of(lone).weblog) == 2 == len(lone.forager.weblog)


def test_an_odd_entry_of_the_weblog_stays_and_values_go_along() -> None:
    entries = [(UrlId(url), float(-url)) for url in range(5)]
    lone = Lone(DEFAULT)
    lone.forager.weblog = Weblog(WeblogSettings(), entries)
    child = child_of(lone)
    assert (len(lone.forager.weblog), len(child.weblog)) == (3, 2)
    assert sorted(lone.forager.weblog.entries + child.weblog.entries) == sorted(entries)
