"""The compiled page-by-page crawl, against the readable one."""

import numpy as np
import pytest

from forager.gp.fitness import Judge, PagewiseSimulation, terminal_set
from forager.gp.gp_settings import GPSettings
from forager.gp.grouped import GroupedSimulation
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.formula import parse
from forager.recrawl.policies import Formula
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.recrawl.simulate import simulate


def hub_log(seed: int, pages: int = 40, cycles: int = 60, documents: int = 300) -> ChangeLog:
    """Hubs that show documents for a while; many documents stand on two of them."""
    rng = np.random.default_rng(seed)
    entries = 2 * documents
    document = np.concatenate([np.arange(documents), rng.integers(documents, size=documents)])
    page, first = rng.integers(pages, size=entries), rng.integers(cycles, size=entries)
    shown = ShownDocuments(document, page, first, first + rng.integers(1, 20, size=entries))
    changed = np.zeros((pages, cycles), dtype=bool)
    changed[page, first] = True
    changed[:, 0] = False
    hub, inlinks = rng.random(pages) < 0.5, rng.integers(4, size=pages)
    return ChangeLog(changed, (), shown, start=7200.0, cycle=3600.0, hub=hub, inlinks=inlinks)


FORMULAS = [
    "t",
    "t * X",
    "rate * t",
    "docs * t",
    "pace * t ^ 2",
    "gad + since",
    "azar",
    "hub * t + inlinks",
    "t * (hour - 12) + X",
    "rate",
    "hacs",
    "pace * busy",
    "haz + len",
    "wlate * (0.1 + elsewhere) ^ (0 - 0.3)",
    "(rate * busy * wlate) ^ 0.5",
]
RHYTHM = tuple(1.0 + 0.75 * np.sin(np.arange(168.0) / 12.0 * np.pi))


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_compiled_crawl_visits_what_the_readable_one_visits(formula: str) -> None:
    log, tree = hub_log(1), parse(formula)
    readable = simulate(log, Formula.of(tree, RHYTHM), RecrawlSettings(k=0.1), young=12.0)
    compiled = PagewiseSimulation(log, 0.1, 2, RHYTHM)
    rows, _ = compiled.run(tree)
    assert readable.discovery is not None
    assert compiled.worth(tree, 12.0) == pytest.approx(readable.discovery.worth, abs=1e-12)
    assert rows[:, 0].tolist() == readable.change_rate.tolist()
    assert rows[:, 1].tolist() == pytest.approx(readable.ndcg.tolist(), rel=1e-12)
    assert rows[:, 2].tolist() == pytest.approx(readable.freshness.tolist(), rel=1e-12)


@pytest.mark.parametrize(
    "formula", ["hub * t + inlinks", "t * (hour - 12) + X", "hub + 0.1 * inlinks * t", "lam * busy"]
)
def test_groups_know_kind_links_and_hour_of_their_pages(formula: str) -> None:
    log, tree = hub_log(2), parse(formula)
    readable = simulate(log, Formula.of(tree, RHYTHM), RecrawlSettings(k=0.1))
    rates, _, fresh = GroupedSimulation(log, 0.1, 2, RHYTHM).curves(tree)
    assert rates.tolist() == readable.change_rate.tolist()
    assert fresh.tolist() == pytest.approx(readable.freshness.tolist(), rel=1e-12)


def test_only_what_a_log_can_tell_is_offered_to_trees() -> None:
    extended = GPSettings(terminals="extended")
    assert {"docs", "pace", "hour", "hub", "inlinks", "rate"} <= set(terminal_set(extended, hub_log(1)))
    daily = ChangeLog(hub_log(1).changed)
    assert not {"docs", "pace", "hour", "hub", "inlinks", "elsewhere", "len"} & set(terminal_set(extended, daily))
    assert "rate" in terminal_set(extended, daily)
    assert "busy" in terminal_set(extended, daily, RHYTHM)
    assert "busy" not in terminal_set(extended, daily)
    large = ChangeLog(np.zeros((40_001, 100), dtype=bool))
    assert "hacs" not in terminal_set(extended, large)


def test_discovery_pays_early_finds_more() -> None:
    # One hub, visited in every cycle; a document of cycle 3 is found at once, worth 1; visits to the other bring nothing.
    shown = ShownDocuments(np.array([0]), np.array([0]), np.array([3]), np.array([9]))
    log = ChangeLog(np.zeros((2, 10), dtype=bool), (), shown, hub=np.array([True, False]))
    judge = Judge(log, GPSettings(fitness="discovery", k=0.5, young=10.0))
    assert judge(("hub",)) == 1.0
    assert judge(("t",)) == pytest.approx(0.9)  # pages 0, 1, 0 … from cycle 2 on: found in cycle 4, one cycle late
    assert judge(("-", 0.0, "hub")) == 0.0


def test_what_a_list_showed_when_it_was_seen_first_is_no_pace() -> None:
    """List 0 begins with ten documents and brings no more; list 1 brings one an hour, each gone within the hour."""
    hours = np.arange(1, 6)
    document, page = np.arange(15), np.repeat([0, 1], [10, 5])
    first, last = np.concatenate([np.zeros(10, dtype=np.int64), hours]), np.concatenate([np.full(10, 5), hours])
    changed = np.zeros((2, 6), dtype=np.bool_)
    changed[1, 1:] = True
    log = ChangeLog(changed, documents=ShownDocuments(document, page, first, last))
    by_pace = ("pace",)
    found = simulate(log, Formula.of(by_pace), RecrawlSettings(k=0.5, warmup=2)).discovery
    assert found is not None
    assert (found.documents, len(found.delays)) == (4, 4)  # those of hours 2 to 5; by the backlog it would be list 0
    assert PagewiseSimulation(log, 0.5, 2).worth(by_pace, 24.0) == 1.0
