"""A fleet without a recrawl side finds its way, too: it neither locks itself in nor starts at the same few pages for ever."""

from pathlib import Path

import corpora
import pytest

from forager.core.parameters import ForagerKind
from forager.importers.tables import import_tables
from forager.settings import load_settings
from forager.simulation.jobs import Job, replay_of
from forager.simulation.replay import default_seeds
from forager.tape.cut import cut_tape
from tests.simulation.recorded_like import HubWorld, PageWorld, write_hubs, write_pages

HOUR = 3600.0


def coverage(folder: Path, identity: str, budget: float, share: float, days: float = 365.0) -> float:
    tape = import_tables(folder, origin="test", identity=identity).tape
    tape = cut_tape(tape, tape.start, tape.start + days * 24 * HOUR)
    settings = load_settings(Path("/dev/null"), [f"crawl.recrawl_share={share}"]).settings
    job = Job(Path(), ForagerKind.WL, budget, 1, default_seeds(tape), settings)
    replay = replay_of(tape, job)
    replay.run()
    return replay.figures(warm_up=48 * HOUR).delay.coverage


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sections")
    write_hubs(folder, HubWorld(seed=3, papers=5, hours=144, articles_per_hour=40.0), articles=False)
    return folder


def test_on_section_pages_it_finds_about_as_much_as_with_a_recrawl_side(sections: Path) -> None:
    alone, usual = (coverage(sections, "link", 4.0, share) for share in (0.0, 0.8))
    assert alone > 0.9 * usual  # it was a quarter while paths always started where most had been found


def test_on_pages_that_hardly_ever_change_it_goes_on_exploring(tmp_path: Path) -> None:
    write_pages(tmp_path, PageWorld(seed=3, pages=300, steps=168, texts_per_step=13.0, sections=4))
    assert coverage(tmp_path, "text", 15.0, 0.0) > 0.2  # it was 0: no page known seemed worth a request


def test_on_recorded_teletext_it_finds_about_as_much_as_with_a_recrawl_side() -> None:
    pages = corpora.have(lambda: corpora.recording("ndrtext-html"))
    alone, usual = (coverage(pages, "text", 72.0, share, days=6) for share in (0.0, 0.8))
    assert alone > 0.8 * usual  # it was 0: nothing there is a list, and its weblog held nothing but its seed
