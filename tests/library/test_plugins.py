"""Other people's outlets and policies: packages with entry points, found when their name is used."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import forager
from forager.cli.app import run
from forager.errors import OutputError, SettingsError
from forager.newsroom.newsroom import Newsroom
from forager.output.outlet import Mode
from forager.output.writers import writer_for
from forager.tape.tape import save
from tests.library.program import first_stories
from tests.simulation.small_tape import HOUR, paper

MODULE = """
from pathlib import Path


class Titles:
    newest = None

    def __init__(self, target, mode):
        self.name = target
        self._path = Path(target.partition("://")[2] or target)

    def open(self):
        return None

    def write(self, rows):
        with self._path.open("a") as file:
            file.writelines(row["title"] + chr(10) for row in rows)

    def close(self):
        pass

    def discard(self):
        self._path.unlink(missing_ok=True)


def oldest_first(states):
    return states.t
"""
ENTRY_POINTS = """
[forager.outlets]
titles = their_sinks:Titles

[forager.policies]
oldest = their_sinks:oldest_first
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package as pip would install it."""
    folder = tmp_path / "site"
    about = folder / "their_sinks-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "their_sinks.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-sinks\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(folder)
    yield
    sys.modules.pop("their_sinks", None)


@pytest.mark.parametrize("form", ["{}.titles", "titles://{}"])
async def test_stories_go_to_the_outlet_of_another_package(form: str, newsroom: Newsroom, tmp_path: Path) -> None:
    told = await first_stories(tmp_path / "run", newsroom, 5)
    target = form.format(tmp_path / "out")
    with pytest.raises(SystemExit) as ended:
        await _in_thread("export", str(tmp_path / "run"), "-O", target)
    assert ended.value.code == 0
    written = Path(target.removeprefix("titles://")).read_text().splitlines()
    assert written[:5] == [story.title for story in told]


async def _in_thread(*arguments: str) -> None:
    """Commands run loops of their own."""
    import asyncio

    await asyncio.to_thread(run, list(arguments))


def test_an_outlet_that_nobody_offers_is_refused_and_nothing_is_loaded() -> None:
    with pytest.raises(OutputError, match="no known format"):
        writer_for("stories.feather", Mode.APPEND)
    assert "their_sinks" not in sys.modules


def test_a_policy_of_another_package_decides(tmp_path: Path) -> None:
    save(paper(), tmp_path / "tape")
    theirs, ours = (
        forager.replay(tmp_path / "tape", budget=20, time_limit=24 * HOUR, settings={"crawl.policy": name})
        for name in ("oldest", "age")
    )
    assert theirs == ours


def test_a_policy_of_another_package_cannot_be_retrained(tmp_path: Path) -> None:
    save(paper(), tmp_path / "tape")
    wanted = {"crawl.policy": "oldest", "recrawl.retrain.any_policy": True}
    with pytest.raises(SettingsError, match="cannot learn"):
        forager.replay(tmp_path / "tape", budget=20, settings=wanted)


def test_a_policy_that_nobody_offers_is_refused(tmp_path: Path) -> None:
    save(paper(), tmp_path / "tape")
    with pytest.raises(SettingsError, match=r"expected learned, worth, one of rand"):
        forager.replay(tmp_path / "tape", settings={"crawl.policy": "youngest"})
