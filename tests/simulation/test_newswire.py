"""Ten real days of a news agency, laid out as a site of lists: the default fleet finds more than the sweep, and sooner."""

from pathlib import Path

import pytest
from corpora import have
from newswire_corpora import FIRST, stories, write_tables

from forager.core.parameters import ForagerKind
from forager.importers.tables import import_tables
from forager.settings import Settings
from forager.simulation.jobs import Job, play_job
from forager.simulation.replay import default_seeds
from forager.tape.tape import load_tape, save
from forager.tape.tape_world import documents

DAYS = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    have(stories)
    folder = tmp_path_factory.mktemp("newswire")
    write_tables(folder / "tables", articles=False, days=DAYS)
    save(import_tables(folder / "tables", origin="newswire").tape, folder / "tape")
    return folder


def test_every_story_is_a_document_of_its_time(folder: Path) -> None:
    told = [story.time for story in stories() if story.time < FIRST + 86_400 * DAYS]
    assert documents(load_tape(folder / "tape")).born.tolist() == told


def test_the_default_fleet_finds_more_than_the_sweep_and_sooner(folder: Path) -> None:
    seeds = default_seeds(load_tape(folder / "tape"))
    kinds = (ForagerKind.WL, ForagerKind.BFS)
    jobs = [Job(folder / "tape", kind, 12.0, 1, seeds, Settings(), 172_800.0) for kind in kinds]
    fleet, sweep = (play_job(job).figures.delay for job in jobs)
    assert fleet.coverage > sweep.coverage
    assert fleet.late < sweep.late
