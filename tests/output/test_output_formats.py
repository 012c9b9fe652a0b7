"""Every format is read back by somebody else's reader."""

import csv
import json
import os
from pathlib import Path

import feedparser
import pyarrow.parquet
import pytest

from forager.errors import OutputError
from forager.output import writers
from forager.output.fields import FIELDS, Row, row
from forager.output.outlet import Mode, Outlet
from forager.output.writers import writer_for
from forager.store.store import Store
from forager.terms import About
from tests.output.press import HOSTILE, NOON, objects, tell_one

SUFFIXES = ("jsonl", "csv", "parquet", "xml", "atom")
FORMULA = tuple("=+-@\t\r＝＋－＠")


async def rows_of(titles: tuple[str, ...]) -> list[Row]:
    store = Store()
    return [await row(number, await tell_one(store, title, title), store) for number, title in enumerate(titles)]


def put(path: Path, rows: list[Row], mode: Mode = Mode.REPLACE, newest: int = 100) -> None:
    writer = writer_for(path, mode, newest=newest)
    writer.open()
    writer.write([])
    writer.write(rows[:2])
    writer.write(rows[2:])
    writer.close()


async def test_json_lines_give_back_every_title_as_it_was(tmp_path: Path) -> None:
    rows = await rows_of(HOSTILE)
    put(tmp_path / "s.jsonl", rows)
    assert objects(tmp_path / "s.jsonl") == rows
    assert [tuple(one) for one in objects(tmp_path / "s.jsonl")] == [FIELDS] * len(HOSTILE)


async def test_json_lines_hold_nothing_that_steers_a_terminal_or_ends_a_line(tmp_path: Path) -> None:
    put(tmp_path / "s.jsonl", await rows_of(HOSTILE))
    text = (tmp_path / "s.jsonl").read_text(encoding="utf-8")
    assert len(text.splitlines()) == len(HOSTILE)
    assert {character for character in text if not character.isprintable()} == {"\n"}


async def test_no_cell_of_a_csv_file_can_become_a_formula(tmp_path: Path) -> None:
    put(tmp_path / "s.csv", await rows_of(HOSTILE))
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        head, *table = list(csv.reader(file, strict=True))
    assert tuple(head) == FIELDS
    assert [int(cells[0]) for cells in table] == list(range(len(HOSTILE)))
    assert all(len(cells) == len(FIELDS) for cells in table)
    assert not any(cell.lstrip(" \ufeff").startswith(FORMULA) for cells in table for cell in cells)


async def test_a_csv_file_gives_back_quotes_and_line_ends(tmp_path: Path) -> None:
    title = 'quote " comma , line\nfeed\r\nend ""'
    put(tmp_path / "s.csv", await rows_of((title, "=1", "plain")))
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [one["title"] for one in table] == [title, "'=1", "plain"]
    assert [one["forager"] for one in table] == ["", "7", ""]


async def test_a_parquet_file_has_types_and_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "_GROUP_ROWS", 8)
    rows = await rows_of(HOSTILE)
    put(tmp_path / "s.parquet", rows)
    file = pyarrow.parquet.ParquetFile(tmp_path / "s.parquet")
    assert file.metadata.num_row_groups == 3  # 8 + 8 + 3 of 19
    table = file.read()
    assert tuple(table.column_names) == FIELDS
    assert table["title"].to_pylist() == [one["title"] for one in rows]
    assert table["fetched"].to_pylist()[1].timestamp() == NOON + 1
    assert table["forager"].to_pylist()[:3] == [None, 7, None]


async def test_a_feed_holds_the_newest_stories_newest_first(tmp_path: Path) -> None:
    rows = await rows_of(tuple(f"Story {number}" for number in range(9)))
    put(tmp_path / "s.atom", rows, newest=3)
    feed = feedparser.parse((tmp_path / "s.atom").read_bytes())
    assert not feed.bozo
    assert feed.version == "atom10"
    assert [entry.title for entry in feed.entries] == ["Story 8", "Story 7", "Story 6"]
    assert feed.entries[0].link == "https://news.example/8"
    assert feed.entries[0].published == "2026-01-01T11:59:08.000+00:00"
    assert feed.entries[0].author == "news.example"
    assert feed.feed.updated == "2026-01-01T12:00:08.000+00:00"


async def test_a_feed_of_hostile_stories_is_well_formed_and_without_markup(tmp_path: Path) -> None:
    put(tmp_path / "s.xml", await rows_of(HOSTILE))
    content = (tmp_path / "s.xml").read_bytes()
    feed = feedparser.parse(content, sanitize_html=False)
    assert not feed.bozo
    assert len(feed.entries) == len(HOSTILE)
    assert b"<script" not in content
    titles = {entry.title for entry in feed.entries}
    assert '<script>alert("1")</script> & co' in titles
    assert "right to left \u202e gpj.exe" in titles
    assert "nul  bell  escape [2J csi 1m" in titles


async def test_every_story_in_a_feed_has_an_identifier_of_its_own(tmp_path: Path) -> None:
    (one,) = await rows_of(("Title",))
    put(tmp_path / "s.xml", [one, one | {"version": 9}])
    ids = [entry.id for entry in feedparser.parse((tmp_path / "s.xml").read_bytes()).entries]
    assert len(set(ids)) == 2


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_output_without_stories_is_still_a_sound_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"s.{suffix}"
    put(path, [])
    content = path.read_bytes()
    match suffix:
        case "jsonl":
            assert content == b""
        case "csv":
            assert next(csv.reader([content.decode()])) == list(FIELDS)
        case "parquet":
            assert pyarrow.parquet.read_table(path).num_rows == 0
        case _:
            feed = feedparser.parse(content)
            assert (feed.bozo, feed.version, feed.entries) == (False, "atom10", [])


@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_an_export_that_is_given_up_leaves_the_old_file_alone(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"s.{suffix}"
    path.write_text("old")
    writer = writer_for(path, Mode.REPLACE)
    writer.open()
    writer.write(await rows_of(("Title",)))
    writer.discard()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "old"


@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_a_replaced_file_keeps_its_permissions_and_its_link(tmp_path: Path, suffix: str) -> None:
    real, link = tmp_path / f"real.{suffix}", tmp_path / f"link.{suffix}"
    real.write_text("old")
    real.chmod(0o604)
    link.symlink_to(real)
    put(link, await rows_of(("Title",)))
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o604
    assert b"Title" in real.read_bytes() or suffix == "parquet"


def test_an_unknown_suffix_names_the_known_ones() -> None:
    with pytest.raises(OutputError, match=r"s\.docx.*\.jsonl, \.csv, \.parquet, \.xml or \.atom"):
        writer_for("s.docx", Mode.REPLACE)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_a_missing_directory_is_named(tmp_path: Path, suffix: str, mode: Mode) -> None:
    with pytest.raises(OutputError, match=r"there is no directory .*missing;"):
        await Outlet(Store(), writer_for(tmp_path / "missing" / f"s.{suffix}", mode), pytest.fail).__aenter__()


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_a_directory_is_no_output_file(tmp_path: Path, suffix: str, mode: Mode) -> None:
    path = tmp_path / f"s.{suffix}"
    path.mkdir()
    with pytest.raises(OutputError):
        await Outlet(Store(), writer_for(path, mode), pytest.fail).__aenter__()
    assert list(tmp_path.iterdir()) == [path]


async def test_a_device_is_written_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "null.jsonl"
    path.symlink_to(os.devnull)
    put(path, await rows_of(("Title",)))
    assert Path(os.devnull).is_char_device()
    with pytest.raises(OutputError, match="not a regular file"):
        (tmp_path / "null.parquet").symlink_to(os.devnull)
        writer_for(tmp_path / "null.parquet", Mode.REPLACE).open()


async def test_the_json_of_a_story_is_one_line_whatever_its_text(tmp_path: Path) -> None:
    put(tmp_path / "s.jsonl", await rows_of(("a\nb\r\nc",)))
    content = (tmp_path / "s.jsonl").read_bytes()
    assert content.count(b"\n") == 1
    assert json.loads(content)["text"] == "a\nb\r\nc"


async def test_every_format_tells_who_wrote_a_story_and_what_it_is_about(tmp_path: Path) -> None:
    about = About(("Ann Lee", "=Bo"), "A lead.", "https://a.example/i.jpg", "Sport", ("ski", "ice"), "de-at", True, 812)
    store = Store()
    rows = [await row(0, await tell_one(store, "T", about=about), store)]
    for suffix in ("jsonl", "csv", "parquet", "atom"):
        put(tmp_path / f"s.{suffix}", rows)
    (told,) = objects(tmp_path / "s.jsonl")
    assert (told["authors"], told["tags"], told["lead"]) == (["Ann Lee", "=Bo"], ["ski", "ice"], "A lead.")
    assert (told["section"], told["language"], told["paywalled"], told["word_count"]) == ("Sport", "de-at", True, 812)
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        (cells,) = csv.DictReader(file)
    assert (cells["authors"], cells["tags"], cells["paywalled"]) == ("Ann Lee; =Bo", "ski; ice", "True")
    (kept,) = pyarrow.parquet.read_table(tmp_path / "s.parquet").to_pylist()
    assert {name: kept[name] for name in ("authors", "tags", "paywalled", "word_count")} == {
        "authors": ["Ann Lee", "=Bo"],
        "tags": ["ski", "ice"],
        "paywalled": True,
        "word_count": 812,
    }
    (entry,) = feedparser.parse((tmp_path / "s.atom").read_bytes()).entries
    assert [one["name"] for one in entry.authors] == ["Ann Lee", "=Bo"]
    assert [one["term"] for one in entry.tags] == ["Sport", "ski", "ice"]
    assert (entry.summary, entry.enclosures[0]["href"]) == ("A lead.", "https://a.example/i.jpg")
