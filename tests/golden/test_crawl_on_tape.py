"""A synthetic crawl, compiled to a tape: the tape shows what the crawl saw, visit for visit, and a run directory replays."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from forager.cli.app import app
from forager.importers.runs import tape_of_store
from forager.settings import load_settings
from forager.store.protocol import Found, Version, VersionId, Visit
from forager.store.store import Store
from forager.tape.tape import Tape
from forager.tape.tape_world import TapeClock, TapeWorld
from forager.terms import Channel, Outcome, UrlId
from tests.virtual import QUICK, Crawled

SHOWN = (Outcome.FETCHED, Outcome.UNCHANGED)


@pytest.fixture(scope="module")
def crawled() -> Crawled:
    return Crawled(load_settings(None, [*QUICK]).settings).run(5)


async def seen(store: Store) -> list[tuple[Visit, Version | None]]:
    """Every visit of a crawl, with the version that its page showed then."""
    versions = [await store.version(VersionId(number)) for number in range(store.counts().versions)]
    at = {(id, when): version for id, when, version in versions}
    shows: dict[UrlId, Version] = {}
    told = []
    async for visit in store.visits():
        if (visit.id, visit.at) in at:
            shows[visit.id] = at[visit.id, visit.at]
        told.append((visit, shows.get(visit.id)))
    return told


async def tape_of(store: Store) -> Tape:
    return await tape_of_store(store, "crawl")


def test_at_every_visit_the_tape_shows_what_the_crawl_saw(crawled: Crawled) -> None:
    tape = asyncio.run(tape_of(crawled.store))
    world = TapeWorld(tape, TapeClock(tape.start), seconds=0.0)
    visits = asyncio.run(seen(crawled.store))
    assert {visit.outcome for visit, _ in visits} >= {*SHOWN}
    visited = {visit.id for visit, _ in visits if visit.outcome in (*SHOWN, Outcome.GONE)}
    for visit, version in visits:
        world.clock.time = visit.at
        page = world.look(visit.id)
        if visit.outcome in SHOWN:
            assert version is not None
            assert page.ok
            assert int(tape.digest[page.version]) == version.byte_print
            assert page.text_print == version.text_print
            assert sorted(page.links.tolist()) == sorted(set(version.links) & visited)
            date = np.nan if version.published is None else version.published.time
            np.testing.assert_equal(page.published, date)
        elif visit.outcome is Outcome.GONE:
            assert not page.ok
    assert world.unrecorded <= sum(visit.outcome not in (*SHOWN, Outcome.GONE) for visit, _ in visits)


async def stored(crawled: Crawled, directory: Path) -> None:
    """What the crawl holds in memory, as a run directory."""
    store = await Store.open(directory)
    count = crawled.store.counts().known
    await store.put([Found(crawled.store.url(UrlId(id)), Channel.LINK, at=1.0) for id in range(count)])
    versions = [await crawled.store.version(VersionId(number)) for number in range(crawled.store.counts().versions)]
    at = {(id, when): version for id, when, version in versions}
    async for visit in crawled.store.visits():
        await store.ack(replace(visit, version=at.get((visit.id, visit.at))))
    await store.close()


def test_a_run_directory_replays_like_its_tape(crawled: Crawled, tmp_path: Path) -> None:
    run, tape = tmp_path / "run", tmp_path / "tape"
    asyncio.run(stored(crawled, run))
    runner = CliRunner()
    assert runner.invoke(app, ["import", str(run), "-O", str(tape), "-q"], catch_exceptions=False).exit_code == 0
    told = []
    for source in (run, tape):
        asked = ["replay", str(source), "--budget", "60/h", "-q", "--json", "--no-dashboard"]
        ran = runner.invoke(app, asked, catch_exceptions=False)
        assert ran.exit_code == 0
        told.append(json.loads(ran.stdout))
    for one in told:
        one["tape"].pop("origin")
    assert told[0] == told[1]
    assert told[0]["stories"] > 0
    assert told[0]["requests"] <= 5 * 60 + 1
