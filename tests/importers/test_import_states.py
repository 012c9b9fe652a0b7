"""State vectors on a tape: from the texts of a table, a recording or a crawl, or those that a crawl learned itself."""

import asyncio
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from forager.cli.app import app
from forager.core.parameters import StateSettings
from forager.core.states import States, document, hashed
from forager.importers.collector import BATCH, TEXTS_PER_CLUSTER, TextStates
from forager.importers.runs import tape_of_run
from forager.importers.tables import import_tables
from forager.store.protocol import Found, Version, Visit
from forager.store.store import Store
from forager.tape.tape import load_tape
from forager.terms import Channel, Kind, Outcome, Url, UrlId

TOPICS = ("storm river flood rain", "goal match league coach", "bank rate share market")


def texts(count: int) -> list[str]:
    """Each about one of three topics, all different."""
    return [f"{TOPICS[number % 3]} {'abcdefgh'[number % 8] * (2 + number // 8)}" for number in range(count)]


def test_few_texts_have_states_of_hashed_words() -> None:
    given = TextStates(States(StateSettings(dimension=8)))
    assert [given.row(text) for text in ("one two", "", "three", "one two", " \n")] == [0, -1, 1, 0, -1]
    np.testing.assert_allclose(given.finish(), hashed(["one two", "three"], 8))


def test_enough_texts_have_states_of_clusters_that_tell_topics_apart() -> None:
    given = TextStates(States(StateSettings(dimension=3)))
    told = texts(3 * TEXTS_PER_CLUSTER)
    rows = [given.row(text) for text in told]
    states = given.finish()
    assert given.states.trained
    topic = [states[rows[number]].argmax() for number in range(len(told))]
    assert len(set(topic[:3])) == 3
    assert topic == topic[:3] * TEXTS_PER_CLUSTER


def test_clusters_are_learned_once_from_the_first_texts_and_all_states_are_theirs() -> None:
    settings = StateSettings(dimension=3, train_pages=60)
    given, told = TextStates(States(settings)), texts(60 + 2 * BATCH)
    for text in told:
        given.row(text)
    states = given.finish()
    np.testing.assert_allclose(states, States(settings).train(told[:60]).of(told), atol=1e-6)


def test_texts_without_common_words_keep_hashed_states() -> None:
    given = TextStates(States(StateSettings(dimension=2)))
    alone = [f"{first}{second}{third}" for first in "abc" for second in "defgh" for third in "ijk"]
    for text in alone:
        given.row(text)
    np.testing.assert_allclose(given.finish(), hashed(alone, 2))


def test_the_texts_of_a_table_become_states(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text(
        "url,time,text\nhttp://e.org/a,0,one two\nhttp://e.org/b,0,\nhttp://e.org/a,60,three\n"
    )
    tape = import_tables(tmp_path, origin="t", states=StateSettings(dimension=4)).tape
    assert tape.state.tolist() == [0, 1, -1]
    np.testing.assert_allclose(tape.states, hashed([document("", "one two"), document("", "three")], 4))


async def crawled(directory: Path, learned: States | None) -> None:
    """A page that is seen, changes, and goes; another one with the text that the first had at last."""
    store = await Store.open(directory)
    await store.put([Found(Url(f"http://e.org/{name}"), Channel.LINK, at=1.0) for name in "ab"])
    for id, at, text in ((0, 10.0, "storm river"), (0, 20.0, "goal match"), (1, 30.0, "goal match")):
        version = Version(Kind.ARTICLE, id, int(at), 3, title="", text=text)
        await store.ack(Visit(UrlId(id), at, Outcome.FETCHED, 200, version=version))
    await store.ack(Visit(UrlId(0), 40.0, Outcome.GONE, 404))
    if learned is not None:
        await store.keep("states", learned.save())
    await store.close()


async def test_a_run_that_learned_no_states_gets_them_from_its_texts(tmp_path: Path) -> None:
    await crawled(tmp_path, None)
    tape = await tape_of_run(tmp_path, states=StateSettings(dimension=4))
    assert tape.state.tolist() == [0, 1, -1, 1]  # gone pages have none, equal texts share one
    np.testing.assert_allclose(tape.states, hashed(["storm river", "goal match"], 4))


async def test_a_run_that_learned_states_hands_them_over(tmp_path: Path) -> None:
    settings = StateSettings(dimension=3)
    learned = States(settings).train(texts(30))
    await crawled(tmp_path, learned)
    tape = await tape_of_run(tmp_path, states=settings)
    np.testing.assert_allclose(tape.states, learned.of(["\nstorm river", "\ngoal match"]))


def test_the_run_itself_says_how_long_its_states_are(tmp_path: Path) -> None:
    run = tmp_path / "run"
    asyncio.run(crawled(run, States(StateSettings(dimension=3)).train(texts(30))))
    (run / "config.yaml").write_text("forager:\n  states:\n    dimension: 3\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["import", str(run), "-O", str(tmp_path / "tape")], catch_exceptions=False)
    assert ran.exit_code == 0
    assert load_tape(tmp_path / "tape").states.shape == (2, 3)
