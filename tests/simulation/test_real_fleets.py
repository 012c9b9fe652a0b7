"""Fleets on cuts of real recordings, at one budget each."""

from collections.abc import Callable
from pathlib import Path

import corpora
import pytest

from forager.core.parameters import ForagerKind
from forager.importers.tables import import_tables
from forager.settings import load_settings
from forager.simulation.jobs import Job, replay_of
from forager.simulation.replay import default_seeds
from forager.simulation.replay_account import ReplayFigures
from forager.tape.tape import Tape

Cut = Callable[[str, str, float], Tape]


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Cut:
    def make(name: str, only: str, days: float) -> Tape:
        whole = corpora.have(lambda: corpora.recording(name))
        folder = corpora.part_of_tables(whole, tmp_path_factory.mktemp("cut"), only=only, days=days)
        return import_tables(folder, origin=name).tape

    return make


def played(tape: Tape, kind: str, budget: float, *more: str) -> ReplayFigures:
    settings = load_settings(Path("/dev/null"), more).settings
    replay = replay_of(tape, Job(Path(), ForagerKind(kind), budget, 1, default_seeds(tape), settings))
    replay.run()
    return replay.figures(warm_up=0.25 * (tape.end - tape.start))


def test_the_default_fleet_finds_more_articles_of_real_section_pages_than_the_sweep_and_sooner(cut: Cut) -> None:
    tape = cut("frontpages-2022", "", 4.0)
    assert tape.identity == "link"
    ours, sweep = (played(tape, kind, 6.0).delay for kind in ("WLRL", "BFS"))
    assert ours.coverage > 1.05 * sweep.coverage
    assert ours.late < 0.8 * sweep.late


def test_the_default_fleet_finds_more_texts_of_a_real_text_service_than_the_sweep(cut: Cut) -> None:
    tape = cut("teletext-2022", "//sr.", 28.0)
    assert tape.identity == "text"
    ours, sweep = (played(tape, kind, 12.0).delay for kind in ("WLRL", "BFS"))
    assert ours.coverage > 1.2 * sweep.coverage


def test_the_default_finds_several_times_what_the_papers_mode_finds(cut: Cut) -> None:
    """A step of that downloads all links of its page, so that the next page of the path has just been seen."""
    tape = cut("ndrtext-html", "", 4.0)
    ours, papers = (played(tape, "WLRL", 72.0, *more).delay for more in ((), ("preset=paper",)))
    assert ours.coverage > 3 * papers.coverage
