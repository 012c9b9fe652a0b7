"""Fleets on tapes made by `import --table` from tables shaped like recordings of real sites; the tables are synthetic."""

from pathlib import Path

import numpy as np
import pytest

from forager.core.parameters import ForagerKind
from forager.importers.tables import import_tables
from forager.settings import load_settings
from forager.simulation.jobs import Job, replay_of
from forager.simulation.replay import Replay, default_seeds
from forager.simulation.replay_account import ReplayFigures
from forager.tape.tape import Tape
from forager.tape.tape_world import documents
from tests.simulation.recorded_like import HubWorld, PageWorld, write_hubs, write_pages

PAGES = PageWorld(pages=240, steps=160, texts_per_step=11.0, sections=6)
HUBS = HubWorld(papers=3, hubs=8, hours=160, articles_per_hour=8.0)
WARM_UP = 36 * 3600.0


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Tape:
    folder = tmp_path_factory.mktemp("pages")
    write_pages(folder, PAGES)
    return import_tables(folder, origin="synthetic pages", identity="text").tape


@pytest.fixture(scope="module")
def hubs(tmp_path_factory: pytest.TempPathFactory) -> Tape:
    folder = tmp_path_factory.mktemp("hubs")
    write_hubs(folder, HUBS, articles=False)
    return import_tables(folder, origin="synthetic hubs", identity="link").tape


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> Tape:
    folder = tmp_path_factory.mktemp("articles")
    write_hubs(folder, HUBS, articles=True)
    return import_tables(folder, origin="synthetic articles", identity="url").tape


def run(tape: Tape, kind: str, budget: float, *more: str) -> Replay:
    settings = load_settings(Path("/dev/null"), more).settings
    replay = replay_of(tape, Job(Path("none"), ForagerKind(kind), budget, 1, default_seeds(tape), settings))
    replay.run()
    return replay


def figures(tape: Tape, kind: str, budget: float) -> ReplayFigures:
    return run(tape, kind, budget).figures(warm_up=WARM_UP)


def test_a_few_tickers_write_most_texts_of_the_page_world(pages: Tape) -> None:
    versions = np.sort(np.diff(pages.version_start))[::-1]
    assert versions[: PAGES.pages // 10].sum() > versions.sum() / 2
    assert pages.states.shape[1] == 50


def test_where_pages_are_the_documents_the_fleet_does_not_lock_itself_in_and_beats_the_sweep(pages: Tape) -> None:
    """On the first visits nothing is new: whoever then asks for promising pages only never asks again."""
    fleet, sweep = figures(pages, "WL", 9), figures(pages, "BFS", 9)
    assert fleet.delay.coverage > 1.3 * sweep.delay.coverage
    assert fleet.delay.late < sweep.delay.late


def test_articles_are_found_before_the_sweep_finds_them(articles: Tape) -> None:
    fleet, sweep = figures(articles, "WL", 12), figures(articles, "BFS", 12)
    assert fleet.delay.coverage > sweep.delay.coverage
    assert fleet.delay.late < sweep.delay.late


def test_documents_that_lists_show_are_read_off_and_never_downloaded(hubs: Tape) -> None:
    for kind in ("WL", "BFS"):
        replay = run(hubs, kind, 4, "crawl.explore=0")
        found = int(np.isfinite(replay.account.found).sum())
        assert replay.world.downloads <= 4 * HUBS.hours + 1
        assert found > replay.world.downloads  # several articles on a page
        assert not np.isfinite(replay.world.columns.last[~replay.world.columns.is_list]).any()


def test_what_stood_on_a_list_at_its_first_visit_is_no_merit_of_the_list(hubs: Tape) -> None:
    replay = run(hubs, "WL", 4)
    table = replay.shared.visits._table[: hubs.pages]
    lists = np.flatnonzero(replay.world.columns.is_list)
    documents_in_all = int((documents(hubs, identity="url").born > hubs.start).sum())
    assert 0 < table["hits"][lists].sum() <= documents_in_all
    assert (table["paid"] <= table["followed"]).all()


def test_every_list_is_looked_at(hubs: Tape) -> None:
    replay = run(hubs, "WL", 4)
    assert replay.shared.visits.visited(np.flatnonzero(replay.world.columns.is_list)).all()
