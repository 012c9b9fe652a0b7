"""A run directory and a tape that version 0.1.0 wrote (schema 1) open, go on and replay; newer ones are refused untouched.

The fixture was made by `forager crawl` of a served Newsroom and `forager import`: 57 visits, 136 URLs, 12 stories.
"""

import asyncio
import hashlib
import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forager.cli.app import app
from forager.errors import InputError, StoreError
from forager.store.protocol import AcceptedStory
from forager.store.rundir import DATABASE, MIGRATIONS
from forager.store.store import Store
from forager.tape.tape import load_tape
from tests.faults.launching import nursery

FIXTURE = Path(__file__).parents[1] / "fixtures" / "version-0.1.0.tar.xz"
KNOWN, VISITS, STORIES = 136, 57, 12
NOWHERE = ("live.user_agent=Forager/0.1 (test; +http://127.0.0.1/)", "live.allow_addresses=[]")
"""The ports that the site had may be anybody's by now: nothing is asked."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def prints(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def schema(run: Path) -> int:
    with closing(sqlite3.connect(run / DATABASE)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


async def stories_in(run: Path) -> list[AcceptedStory]:
    view = await Store.view(run)
    counts = view.counts()
    assert (counts.known, counts.visits, counts.stories) == (KNOWN, VISITS, STORIES)
    assert len([visit async for visit in view.visits()]) == VISITS
    stories = [story async for story in view.stories()]
    assert len(stories) == STORIES
    assert all([(await view.version(story.version))[2].text for story in stories])
    await view.close()
    return stories


def test_an_old_run_directory_is_read_as_it_is(old: Path) -> None:
    before = prints(old / "run")
    stories = asyncio.run(stories_in(old / "run"))
    told = CliRunner().invoke(app, ["export", str(old / "run")]).stdout.splitlines()
    assert [json.loads(line)["url"] for line in told] == [story.url for story in stories]
    why = CliRunner().invoke(app, ["why", str(old / "run"), stories[0].url])
    assert "A story?  Yes" in why.output
    assert prints(old / "run") == before
    assert schema(old / "run") == 1


async def test_an_old_run_directory_is_gone_on_with(old: Path) -> None:
    chosen = [part for one in NOWHERE for part in ("-s", one)]
    words = ["crawl", str(old / "run"), *chosen, "--no-dashboard", "-q", "--time-limit", "1s"]
    process = nursery().start(words, old / "errors")
    assert process.wait(60) == 0, (old / "errors").read_text()
    assert schema(old / "run") == len(list(MIGRATIONS.glob("*.sql")))
    again = await Store.open(old / "run")
    assert again.counts().known >= KNOWN
    assert again.counts().visits >= VISITS
    assert again.counts().stories == STORIES
    assert await again.unsettled() == []
    await again.close()
    statistics = json.loads((old / "run" / "statistics.json").read_text())
    assert statistics["stories"] == STORIES


def test_an_old_tape_is_replayed(old: Path) -> None:
    told = CliRunner().invoke(app, ["replay", str(old / "tape"), "--json", "--no-dashboard", "-q"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["requests"] > 0


async def test_a_newer_run_directory_or_tape_is_refused_untouched(old: Path) -> None:
    with closing(sqlite3.connect(old / "run" / DATABASE)) as connection:
        connection.execute("PRAGMA user_version = 999")
    facts = old / "tape" / "tape.json"
    facts.write_text(facts.read_text().replace('"format": 1', '"format": 999'))
    before = prints(old)
    for opened in (Store.open, Store.view):
        with pytest.raises(StoreError, match="newer Forager"):
            await opened(old / "run")
    with pytest.raises(InputError, match="format 999"):
        load_tape(old / "tape")
    after = prints(old)
    after.pop("run/crawl.lock"), before.pop("run/crawl.lock")  # names the process that looked last
    assert after == before
