"""The states of a live crawl: hashed words first, clusters of its own pages later, for pages read and pages only found."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forager.cli.learn import learn_states
from forager.clock import Offload, WallClock, in_thread, inline
from forager.core.agent import ReinforcingAgent
from forager.core.parameters import ForagerKind, ForagerSettings, ProfitSettings, ReinforcingSettings, StateSettings
from forager.core.shared import StateMatrix
from forager.core.states import States
from forager.engine.page_states import PIECE, LiveStates
from forager.errors import InputError, OutputError, SettingsError
from forager.pages.page import Page
from forager.pages.urls import url_words
from forager.store.protocol import Found, Version, Visit
from forager.store.store import Store
from forager.terms import Channel, Kind, Outcome, Response, Url, UrlId
from tests.virtual import crawl_newsroom

TOPICS = ("bank bond profit loan investor", "goal match coach striker league", "storm rain flood wind coast")
SMALL = StateSettings(dimension=3, train_pages=12, least_texts=2)
WALK = ForagerSettings(kind=ForagerKind.RL, states=SMALL)


def text_of(number: int) -> str:
    """Pages 0, 3, 6 … are about money, 1, 4, 7 … about sport, the others about weather."""
    return " ".join([TOPICS[number % 3]] * (8 + number))


def page_of(url: Url, text: str) -> Page:
    body = f"<html><body><article><p>{text}</p></article></body></html>".encode()
    return Page(Response(url, Outcome.FETCHED, 0.0, status=200, headers=(("content-type", "text/html"),), body=body))


async def enter(states: LiveStates, store: Store, number: int) -> UrlId:
    """A page is fetched, stored and read, as the world does it."""
    url = Url(f"http://example.org/{number}")
    (id,) = await store.put([Found(url, Channel.SEED, 0.0)])
    kept = Version(Kind.ARTICLE, byte_print=number, text_print=number, simhash=0, text=text_of(number))
    await store.ack(Visit(id, 1.0, Outcome.FETCHED, version=kept))
    states.read(id, page_of(url, text_of(number)))
    return id


def fleet(walk: ForagerSettings = WALK) -> ReinforcingAgent:
    agent = ReinforcingAgent(ReinforcingSettings(), walk, seed=1)
    agent.start(np.array([0]), 0.0)
    return agent


async def opened(
    store: Store,
    walk: ForagerSettings = WALK,
    matrix: StateMatrix | None = None,
    agent: ReinforcingAgent | None = None,
    offload: Offload = inline,
) -> LiveStates:
    matrix = matrix or StateMatrix(walk.states.dimension)
    return await LiveStates.open(walk, matrix, store, agent or fleet(walk), offload)


async def test_a_link_is_estimated_until_its_page_is_read() -> None:
    store = Store()
    states = await opened(store)
    source = await enter(states, store, 0)
    link = Found(Url("http://example.org/goal-match.html"), Channel.LINK, 2.0, source, "Coach and striker")
    (target,) = await store.put([link])
    states.found(source, [target], [link], ["main"])
    states.settle()
    linking = states.states.of([page_of(store.url(source), text_of(0)).text])
    told = f"Coach and striker {' '.join(url_words(link.url))}"
    estimate = states.states.estimate([told], linking)
    assert states.matrix.of(np.array([target])) == pytest.approx(estimate, abs=1e-6)
    row = states.matrix.row(target)
    states.read(target, page_of(link.url, text_of(1)))
    states.found(source, [target], [link], ["main"])  # met again: what is known is not estimated any more
    states.settle()
    assert states.matrix.row(target) == row  # steps that came from here still find its state
    assert states.matrix.of(np.array([target])) == pytest.approx(states.states.of([text_of(1)]), abs=1e-6)


async def test_states_of_very_many_links_are_worked_out_in_pieces() -> None:
    store = Store()
    states = await opened(store, offload=in_thread)
    source = await enter(states, store, 0)
    links = [
        Found(Url(f"http://example.org/goal-{number}.html"), Channel.LINK, 2.0, source, "Coach and striker")
        for number in range(PIECE + 2)
    ]
    targets = await store.put(links)
    states.found(source, targets, links, ["main"] * len(links))
    assert states.settle()
    assert [states.matrix.row(target) > 0 for target in targets[-3:]] == [True, False, False]
    assert not states.settle()
    assert all(states.matrix.row(target) > 0 for target in targets)


async def trained(store: Store, agent: ReinforcingAgent, offload: Offload = inline) -> LiveStates:
    states = await opened(store, agent=agent, offload=offload)
    link = Found(Url("http://example.org/flood"), Channel.LINK, 2.0, UrlId(2), "Storm and rain")
    for number in range(12):
        await enter(states, store, number)
    states.found(UrlId(2), await store.put([link]), [link], ["main"])
    states.settle()
    await states.run(WallClock(), asyncio.Event())
    return states


@pytest.mark.parametrize("offload", [inline, in_thread])
async def test_clusters_of_the_crawls_own_pages_replace_hashed_words(offload: Offload) -> None:
    store = Store()
    states = await trained(store, fleet(), offload)
    assert (states.states.trained, states.states.version) == (True, 1)
    held = states.matrix.of(np.arange(12))
    assert held == pytest.approx(states.states.of([text_of(number) for number in range(12)]), abs=1e-6)
    same = held @ held.T > 0  # pages of one topic lie on one side, those of others on the other
    assert (same == (np.arange(12)[:, None] % 3 == np.arange(12) % 3)).all()
    flood = states.matrix.of(np.array([12]))[0]
    assert flood @ held[2] > max(flood @ held[0], flood @ held[1])  # only its link is known: weather


async def test_weights_that_were_learned_with_other_states_are_drawn_anew() -> None:
    learner, walker = fleet(), fleet(replace(WALK, kind=ForagerKind.WL, order="profit"))
    before = [agent.foragers[0].weights.copy() for agent in (learner, walker)]
    await trained(Store(), learner)
    await trained(Store(), walker)
    after = [agent.foragers[0].weights for agent in (learner, walker)]
    size = SMALL.dimension
    assert (before[0] != after[0])[:size].all() and not after[0][size:].any()
    assert (before[1] == after[1]).all()
    assert np.abs(after[0]).max() <= 1.0  # as at birth: evenly from -1 to 1


async def test_a_crawl_goes_on_with_the_states_it_had() -> None:
    store = Store()
    states = await trained(store, fleet())
    await store.keep("stating", states.save())
    again = await opened(store, matrix=StateMatrix.load(states.matrix.save()))
    assert again.pages == states.pages
    assert (again.states.version, again.states.trained) == (1, True)
    assert (again.states.of([text_of(1)]) == states.states.of([text_of(1)])).all()


async def test_states_that_were_learned_but_not_yet_used_are_used_after_a_sudden_end() -> None:
    store = Store()
    hashed = await opened(store)
    for number in range(12):
        await enter(hashed, store, number)
    hashed.settle()
    await store.keep("stating", hashed.save())
    await store.keep("states", States(SMALL).train([text_of(number) for number in range(12)]).save())
    again = await opened(store, matrix=StateMatrix.load(hashed.matrix.save()))
    assert not again.states.trained
    await again.run(WallClock(), asyncio.Event())
    assert again.states.trained
    assert again.matrix.of(np.arange(12)) == pytest.approx(again.states.of([text_of(n) for n in range(12)]), abs=1e-6)


async def test_states_from_a_file_are_used_from_the_first_page_on(tmp_path: Path) -> None:
    file = tmp_path / "states.npz"
    file.write_bytes(States(SMALL).train([text_of(number) for number in range(12)]).save())
    walk = replace(WALK, states=replace(SMALL, file=str(file)))
    store = Store()
    assert (await opened(store, walk)).states.trained
    file.unlink()
    assert (await opened(store, walk)).states.trained  # the run directory has a copy
    with pytest.raises(InputError, match="forager learn states"):
        await opened(Store(), walk)


def test_learned_states_are_written_to_a_file_that_a_crawl_can_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, file = tmp_path / "stories.jsonl", tmp_path / "states.npz"
    corpus.write_text("".join(f'{{"title": "", "text": "{text_of(number)}"}}\n' for number in range(12)))
    learn_states(corpus, file, limit=100, set_=["forager.states.dimension=3"], json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["texts"], told["clusters"], told["words"]) == (12, 3, 15)
    assert States.load(file.read_bytes(), SMALL).trained
    with pytest.raises(InputError, match="too few for 50 clusters"):
        learn_states(corpus, file, limit=100)
    with pytest.raises(OutputError, match="cannot be written"):
        learn_states(tmp_path / "missing", tmp_path, limit=100)  # told before anything is read


async def test_states_with_which_learning_would_blow_up_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "states.npz"
    loud = replace(SMALL, scale=500.0)  # components near -1 and 1: mean square length near 3
    file.write_bytes(States(loud).train([text_of(number) for number in range(12)]).save())
    walk = replace(WALK, states=replace(loud, file=str(file)), profit=ProfitSettings(rate=0.5, normalised=False))
    with pytest.raises(SettingsError, match=r"profit\.normalised"):
        await opened(Store(), walk)


async def test_pages_without_words_leave_states_hashed() -> None:
    store = Store()
    states = await opened(store, replace(WALK, states=replace(SMALL, least_texts=50)))
    for number in range(12):
        await enter(states, store, number)
    await states.run(WallClock(), asyncio.Event())
    assert not states.states.trained


def test_a_fleet_that_orders_by_profit_gets_states_and_the_same_journal_twice() -> None:
    options = (
        "preset=paper",
        "forager.kind=RL",
        "forager.states.dimension=8",
        "forager.states.train_pages=25",
        "timetable.download_delay=5s",
        "newsroom.pace=4",
    )
    first, again = crawl_newsroom(2, *options), crawl_newsroom(2, *options)
    assert first.journal.getvalue() == again.journal.getvalue()
    states, matrix = first.crawl.states, first.crawl.shared.states
    assert states is not None
    assert states.states.version == 1
    assert len(states.pages) >= 25
    assert (np.abs(matrix.vectors[1 : matrix.count]).sum(axis=1) > 0).mean() > 0.5
    assert max(np.abs(forager.weights).max() for forager in first.crawl.agent.foragers.values()) > 1.0  # learned


def test_a_fleet_that_never_asks_for_states_does_not_pay_for_them() -> None:
    crawled = crawl_newsroom(0.5, "forager.kind=WL")
    assert crawled.crawl.states is None
    assert crawled.crawl.shared.states.count == 1
