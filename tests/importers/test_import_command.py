"""`forager import` as a user types it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import typer

from forager.cli.app import command
from forager.errors import InputError, OutputError
from forager.store.protocol import Found, Version, Visit
from forager.store.store import Store
from forager.tape.tape import load_tape
from forager.terms import Channel, Kind, Outcome, Url, UrlId

CDX = (
    " CDX N b a m s k r V g\n"
    "org,e)/ 20260302000000 http://e.org/ text/html 200 A - 1 a\n"
    "org,e)/ 20260304000000 http://e.org/ text/html 200 B - 1 a\n"
    "broken\n"
)


def call(*arguments: object) -> None:
    verb: Any = command("forager.cli.import_:import_", "import")
    verb.main(args=[str(one) for one in arguments], prog_name="import", standalone_mode=False)


def test_an_import_says_what_it_read_and_writes_a_tape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "index"
    path.write_text(CDX)
    call(path, "-O", tmp_path / "tape")
    output = capsys.readouterr().out
    assert "1 page, 2 versions, 0 links; 2026-03-02 00:00 to 2026-03-04 00:00 UTC, 2.0 d" in output
    assert "1 document appeared, each a new text" in output
    assert "1 broken: wrong number of fields" in output
    assert f"{path}:4: wrong number of fields: broken" in output
    assert load_tape(tmp_path / "tape").versions == 2


def test_the_json_answer_holds_the_same_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "index"
    path.write_text(CDX)
    call(path, "-O", tmp_path / "tape", "--json", "--identity", "version")
    facts = json.loads(capsys.readouterr().out)
    assert (facts["pages"], facts["versions"], facts["records"]) == (1, 2, 2)
    assert facts["broken"] == {"wrong number of fields": 1}
    assert facts["formats"] == {"CDX": 1}
    assert facts["identity"] == load_tape(tmp_path / "tape").identity == "version"


def test_tables_are_imported_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "versions.csv").write_text("url,time,digest\nhttp://e.org/,0,a\n")
    call("--table", tmp_path, "-O", tmp_path / "tape")
    assert load_tape(tmp_path / "tape").pages == 1


async def filled(directory: Path) -> None:
    store = await Store.open(directory)
    await store.put([Found(Url("http://e.org/"), Channel.SEED, at=1.0)])
    await store.ack(Visit(UrlId(0), 5.0, Outcome.FETCHED, 200, version=Version(Kind.HUB, 1, 2, 3)))
    await store.close()


def test_a_run_directory_is_known_by_its_database(tmp_path: Path) -> None:
    asyncio.run(filled(tmp_path / "run"))
    call(tmp_path / "run", "-O", tmp_path / "tape")
    assert load_tape(tmp_path / "tape").time.tolist() == [5.0]


@pytest.mark.parametrize(
    "content", ["", " CDX N b a m s k r V g\n", "no recording", "url,time,digest\n", CDX[:24] + "x\n"]
)
def test_an_import_of_nothing_is_an_error_and_writes_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "index"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        call(path, "-O", tmp_path / "tape")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "tape").exists()


def test_a_folder_with_other_things_is_never_written_to(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.write_text(CDX)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letters").write_text("dear")
    for target in (tmp_path / "mine", path):
        with pytest.raises(OutputError):
            call(path, "-O", target)
    assert [one.name for one in (tmp_path / "mine").iterdir()] == ["letters"]


def test_what_a_killed_import_left_is_written_over(tmp_path: Path) -> None:
    path, tape = tmp_path / "index", tmp_path / "tape"
    path.write_text(CDX)
    call(path, "-O", tape)
    (tape / "tape.json").unlink()  # it is written last
    call(path, "-O", tape)
    assert load_tape(tape).versions == 2


def test_files_and_tables_exclude_each_other(tmp_path: Path) -> None:
    for arguments in ([], [tmp_path, "--table", tmp_path]):
        with pytest.raises(typer.BadParameter):
            call(*arguments, "-O", tmp_path / "tape")
