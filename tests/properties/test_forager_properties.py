"""What holds for every fleet, whatever happens to it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from forager.core.agent import ReinforcingAgent
from forager.core.best_pages import best
from forager.core.births import bear_child
from forager.core.findings import Finding, Sighting
from forager.core.fleet import Forager
from forager.core.page_table import PageTable
from forager.core.parameters import (
    ExpectationSettings,
    ForagerSettings,
    PopulationSettings,
    ReinforcingSettings,
    RelevancySettings,
    ScoreSettings,
    WeblogSettings,
)
from forager.core.shared import Shared
from forager.core.states import PrTFIDF, pddp, words
from forager.core.weblog import Weblog, learned
from forager.terms import ForagerId, UrlId

unhurried = settings(deadline=None)  # the first call of a kernel compiles it
amounts = st.floats(-1e3, 1e3)
entries = st.dictionaries(st.integers(0, 60), amounts, max_size=40)
paths = st.lists(st.tuples(st.integers(0, 60), amounts, st.booleans()), max_size=12)


@given(entries, st.lists(paths, max_size=5), st.integers(1, 30))
@unhurried
def test_a_weblog_stays_bounded_sorted_and_free_of_what_may_not_enter(
    start: dict[int, float], walks: list[list[tuple[int, float, bool]]], size: int
) -> None:
    weblog = Weblog(WeblogSettings(size=size, start_size=min(3, size)), start.items())
    for walk in walks:
        known = {url for url, _ in weblog.entries}
        kinds = np.int64, np.float64, np.bool_
        path = (np.array([step[place] for step in walk], kind) for place, kind in enumerate(kinds))
        urls, values = learned(weblog.urls, weblog.values, *path, weblog.settings.step)
        weblog = Weblog(weblog.settings, zip(urls.tolist(), values.tolist(), strict=True))
        allowed = known | {url for url, _, may in walk if may}
        assert {url for url, _ in weblog.entries} <= allowed
        assert len(weblog) <= size
        assert (weblog.values[:-1] >= weblog.values[1:]).all()
        assert weblog.start_list == [url for url, _ in weblog.entries[: weblog.settings.start_size]]


@given(entries, st.integers(0, 1000))
@unhurried
def test_splitting_a_weblog_loses_nothing_and_doubles_nothing(start: dict[int, float], seed: int) -> None:
    agent = ReinforcingAgent(ReinforcingSettings(mutation=0.0), ForagerSettings(), seed)
    parent, _ = agent.start(np.array([0]), 0.0)
    parent.weblog = Weblog(WeblogSettings(), start.items())
    child = Forager(agent.flock, bear_child(agent.rules[0], agent.flock.state, parent.slot, 0.0))
    assert dict(parent.weblog.entries) | dict(child.weblog.entries) == start
    assert len(parent.weblog) + len(child.weblog) == len(start)
    assert 0 <= len(parent.weblog) - len(child.weblog) <= 1


@given(st.lists(st.lists(st.integers(0, 3000), max_size=20), max_size=10), st.integers(0, 1000))
@unhurried
def test_the_open_links_of_a_path_are_what_it_met_and_has_not_taken(pages: list[list[int]], seed: int) -> None:
    agent = ReinforcingAgent(ReinforcingSettings(), ForagerSettings(order="profit", max_step=100), seed)
    shared = Shared.fresh(ForagerSettings())
    forager, _ = agent.start(np.array([0]), 0.0)
    met: set[int] = set()
    taken: set[int] = set()
    for now, links in enumerate(pages):
        step = agent.choose(forager, float(now), shared)
        if len(forager.path.urls) == 1:
            met, taken = set(), set()
        seen = Sighting(step.url, float(now), links=np.array(links, dtype=np.int64))
        agent.see(forager, step, [seen], float(now), shared)
        met |= {step.url, *links}
        taken.add(step.url)
        assert sorted(forager.path.open.tolist()) == sorted(met - taken)


moves = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["sends", "is managed", "works"]), st.integers(0, 25)), max_size=300
)


@given(moves, st.booleans())
@unhurried
def test_the_economy_holds_the_population_stays_in_bounds_and_nobody_is_rewarded_twice(
    moves: list[tuple[int, str, int]], relative: bool
) -> None:
    scores = ScoreSettings(
        initial=2, sent=0.5, relevant=1, multiply_at=4, delete_below=1, relative=relative, relative_gain=2
    )
    agent = ReinforcingAgent(
        ReinforcingSettings(
            scores=scores, population=PopulationSettings(2, 2, 5, usual=4), relevancy=RelevancySettings(identity="url")
        ),
        ForagerSettings(),
        seed=1,
    )
    agent.start(np.arange(6), 0.0)
    shared = Shared.fresh(ForagerSettings())
    rewarded: list[int] = []
    for at, (who, what, number) in enumerate(moves):
        id = list(agent.foragers)[who % len(agent.foragers)]
        record = agent.records[id]
        if what == "sends":
            seen = Sighting(UrlId(number), float(at), version=0, published=float(at))
            alive = [agent.records[other] for other in agent.foragers]
            before, fleet, worked = record.score, sum(one.score for one in alive), any(one.recent for one in alive)
            (one,) = agent.judge(seen, UrlId(-1), float(at), shared, id)
            rewarded += [number] if one.relevant else []
            if relative:  # what a document pays to one, all who worked of late pay together
                cost = one.relevant * len(alive) / 4 if worked else 0.0
                assert (
                    abs(sum(agent.records[other].score for other in agent.foragers) - fleet - one.relevant + cost)
                    < 1e-9
                )
            else:
                assert abs(agent.records[id].score - before - one.relevant + 0.5) < 1e-9
            assert one.amount == (100.0 if one.relevant else -1.0)
        elif what == "works":
            agent.worked(id, number)
        else:
            agent.manage(id, float(at))
        assert 2 <= len(agent.foragers) <= 5
    assert len(set(rewarded)) == len(rewarded)
    assert sum(record.relevant for record in agent.records.values()) == len(rewarded)
    assert [record.id for record in agent.records.values()] == [ForagerId(i) for i in range(len(agent.records))]
    assert {id for id, record in agent.records.items() if record.deleted is None} == set(agent.foragers)


visits = st.lists(
    st.tuples(
        st.integers(0, 30), st.floats(0, 1e6), st.booleans(), st.booleans(), st.lists(st.integers(0, 30), max_size=6)
    ),
    max_size=60,
)


@given(visits)
@unhurried
def test_expectations_are_finite_and_never_negative(happened: list[tuple[int, float, bool, bool, list[int]]]) -> None:
    statistics = PageTable(ExpectationSettings())
    now, every = 0.0, np.arange(31)
    for url, pause, ok, hub, links in happened:
        now += pause
        statistics.going(url, now)
        shown = np.array(links if ok else [], dtype=np.int64)
        first, _ = statistics.record(url, now, ok=ok, hub=hub, links=shown)
        if ok and not hub:
            source = statistics.revealer(url) if first else url
            statistics.credit(Finding(ForagerId(0), url, 0, 0, now, source))
            statistics.signal(shown, now)
        for later in (0.0, 60.0, 1e7):
            worth, fresh = statistics.worth(every, now + later)
            chance = statistics.chance(every, now + later)
            assert np.isfinite(worth).all() and (worth >= 0).all()
            assert ((chance >= 0) & (chance <= 1)).all()
            index, its, its_fresh, most = statistics.pick(every, now + later, np.empty(0), 0.99)
            assert (its, its_fresh, most) == (worth[index], fresh[index], worth.max())


@given(
    arrays(np.float64, st.integers(1, 40), elements=st.sampled_from([0.0, 1.0, 2.0])), st.floats(0, 1, exclude_max=True)
)
@unhurried
def test_the_best_is_one_of_the_largest_and_luck_reaches_each(values: np.ndarray, luck: float) -> None:
    ties = np.flatnonzero(values == values.max())
    assert best(values, luck) == ties[int(luck * len(ties))]


counts = arrays(np.float64, st.tuples(st.integers(1, 12), st.just(6)), elements=st.integers(0, 3).map(float))


@given(counts, st.integers(1, 5))
@unhurried
def test_clusters_are_few_enough_and_shares_of_classes_sum_to_one(documents: np.ndarray, count: int) -> None:
    rows = sparse.csr_matrix(documents)
    labels = pddp(rows, count)
    used = sorted(set(labels.tolist()))
    assert used == list(range(len(used))) and len(used) <= count
    model = PrTFIDF.with_general(rows, labels, count, None)
    shares = model.posteriors(rows)
    assert (shares >= 0).all()
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-5)


@given(st.text(max_size=200))
@unhurried
def test_words_are_the_same_however_often_a_text_is_read(text: str) -> None:
    found = words(text)
    assert words(" ".join(found)) == found
