"""Structs are rows by name, and rows of older crawls are still read."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import zstandard

from forager.store.protocol import AcceptedStory, Found, Version, VersionId, Visit
from forager.store.rows import STORIES, RowTable
from forager.store.rundir import APPLICATION, DATABASE, MIGRATIONS, migrate
from forager.store.store import Store
from forager.terms import NOTHING, About, Channel, Dated, DateSource, ForagerId, Kind, Outcome, Url, UrlId, Validators

HOME, PAGE = Url("https://a.example/"), Url("https://a.example/1")


@dataclass(frozen=True, slots=True)
class SignedStory(AcceptedStory):
    """A story with one more field."""

    byline: str = ""


def test_a_new_field_of_a_story_needs_nothing_but_a_column() -> None:
    table = RowTable("stories", SignedStory, ["id"], named={"id": "url", "url": "address"}, without=["about"])
    story = SignedStory(
        UrlId(1), VersionId(0), PAGE, "a", "T", 1.0, "meta", 2.0, 3.0, None, Channel.LINK, byline="\ud800"
    )
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS)
        connection.execute("ALTER TABLE stories ADD COLUMN byline ANY NOT NULL DEFAULT ''")
        connection.execute(STORIES.insert, STORIES.row((1,), story))  # as a Forager that knows no bylines
        connection.execute(table.insert, table.row((2,), story))
        rows = connection.execute(f"{table.select} ORDER BY id").fetchall()
    assert [table.read(row).byline for row in rows] == ["", "\ud800"]
    assert table.read(rows[1]) == story


def old_crawl(folder: Path) -> None:
    """A run directory as the first schema had it, each row as the first Forager wrote it."""
    text, links = zstandard.compress(b"A long text."), zstandard.compress(b"\1\0\0\0")
    rows = {
        "urls": [
            (0, HOME, 1.0, "seed", None, 0, None, 1.0, ""),
            (1, PAGE, 2.0, "link", 0, 1, 1.5, 9.0, "A headline"),
            (2, b"https://b.example/\xed\xa0\x80", 3.0, "feed", 0, 1, None, None, ""),
        ],
        "states": [(1, "article", 2, 1, 6.0, 6.0, 99.0, 2, 1, -1, -(2**63), 'Fri, 17 May 2024 09:00:00 GMT\n"e"')],
        "visits": [
            (1, 1, 5.0, "fetched", 200, 0.5, 1234, "", "", 3, 0, '"d"', "", "", 7.0),
            (2, 1, 6.0, "fetched", 200, 0.5, 1234, "", "", -1, 1, '"e"', "Fri, 17 May 2024 09:00:00 GMT", "", 99.0),
        ],
        "versions": [
            (0, 1, 5.0, "article", -2, -(2**63), 7, "T", "en", None, 4.5, "json-ld", 1, None, None, None, links, None, text),
            (1, 1, 6.0, "article", -1, -(2**63), 7, "T2", "en", HOME, None, None, None, None, None, None, links, 0, None),
        ],
        "unsettled": [(1,)],
        "stories": [
            (1, 1, 0, None, "a.example", None, 4.5, "json-ld", 2.0, 5.0, HOME, "link", 3, None, -(2**63), -1),
        ],
        "blocks": [("b.example", 50.0)],
        "kept": [("fleet", b"learned")],
        "tallies": [("outcome fetched", 2)],
    }  # fmt: skip
    folder.mkdir()
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.executescript((MIGRATIONS / "0001.sql").read_text())
        connection.execute("PRAGMA user_version = 1")
        connection.execute("PRAGMA journal_mode = WAL")
        for table, cells in rows.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(cells[0]))})", cells)


async def test_a_crawl_of_the_first_schema_is_opened_and_goes_on(tmp_path: Path) -> None:
    old_crawl(tmp_path / "run")
    store = await Store.open(tmp_path / "run")
    counts = store.counts()
    assert (counts.known, counts.pending, counts.visits, counts.versions, counts.stories) == (3, 2, 2, 2, 1)
    assert store.find(Url("https://b.example/\ud800")) == 2
    known = store.known(UrlId(1))
    assert (known.kind, known.source, known.published, known.due) == (Kind.ARTICLE, 0, 1.5, 99.0)
    assert (known.version, known.byte_print, known.text_print) == (1, 2**64 - 1, 2**63)
    assert known.validators == Validators('"e"', "Fri, 17 May 2024 09:00:00 GMT")
    (first, _), (last, _) = await store.versions(UrlId(1))
    id, at, version = await store.version(first)
    assert (id, at, version.text, version.links) == (1, 5.0, "A long text.", (1,))
    assert (version.canonical, version.published) == (PAGE, Dated(4.5, DateSource.JSON_LD))
    assert (await store.version(last))[2].text == "A long text."
    assert (await store.version(last))[2].canonical == HOME
    (story,) = [one async for one in store.stories()]
    assert (story.url, story.title, story.simhash, story.forager) == (PAGE, "T", 2**64 - 1, ForagerId(3))
    assert [(visit.by, visit.outcome, visit.due) async for visit in store.visits(UrlId(1))] == [
        (3, Outcome.FETCHED, 7.0),
        (-1, Outcome.FETCHED, 99.0),
    ]
    assert (await store.unsettled(), await store.recall("fleet")) == ([1], b"learned")
    assert [lease.url for lease in await store.lease(9, now=10.0)] == [HOME]
    await store.settle(last, None)
    await store.close()
    again = await Store.open(tmp_path / "run")
    assert await again.unsettled() == []
    await again.close()


async def test_a_crawl_of_the_first_schema_is_only_looked_at_without_a_change_to_its_file(tmp_path: Path) -> None:
    old_crawl(tmp_path / "run")
    before = (tmp_path / "run" / DATABASE).read_bytes()
    store = await Store.view(tmp_path / "run")
    (story,) = [one async for one in store.stories()]
    _, _, version = await store.version(story.version)
    await store.close()
    assert (story.title, story.about, version.text, version.about) == ("T", NOTHING, "A long text.", NOTHING)
    assert (tmp_path / "run" / DATABASE).read_bytes() == before


async def test_what_is_told_of_a_story_comes_back_from_the_disk(tmp_path: Path) -> None:
    said = About(("Ann Lee", "Bo"), "A lead.", "https://a.example/i.jpg", "Sport", ("ski",), "en", False, 812)
    store = await Store.open(tmp_path / "run")
    (id,) = await store.put([Found(PAGE, Channel.SEED, 1.0)])
    number = await store.ack(Visit(id, 2.0, Outcome.FETCHED, version=Version(Kind.ARTICLE, 1, 2, 3, about=said)))
    assert number is not None
    story = AcceptedStory(id, number, PAGE, "a", "", 1.0, "meta", 1.0, 2.0, None, Channel.SEED, about=said)
    await store.settle(number, story)
    await store.close()
    again = await Store.view(tmp_path / "run")
    assert (await again.version(number))[2].about == said
    assert [one async for one in again.stories()] == [story]
    await again.close()
