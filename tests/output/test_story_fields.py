"""What is told of a story."""

import math
from dataclasses import replace

from forager.output.fields import FIELDS, defused, iso_moment, row
from forager.store.protocol import Version, Visit
from forager.store.store import Store
from forager.terms import Kind, Outcome
from tests.output.press import NOON, tell, tell_one


async def test_a_story_has_all_its_fields_in_their_order() -> None:
    store = Store()
    await tell(store, 1)
    story = await tell_one(store, "Title", "Body")
    told = await row(1, story, store)
    assert tuple(told) == FIELDS
    assert told == {
        "number": 1,
        "url": "https://news.example/1",
        "final_url": "https://news.example/1",
        "canonical": "https://news.example/1",
        "site": "news.example",
        "title": "Title",
        "authors": [],
        "lead": None,
        "text": "Body",
        "word_count": 1,
        "section": None,
        "tags": [],
        "language": "en",
        "image": None,
        "paywalled": None,
        "published": "2026-01-01T11:59:01.000+00:00",  # fetched one second after noon, published a minute before
        "published_source": "meta",
        "modified": "2026-01-01T11:59:31.000+00:00",
        "first_seen": "2026-01-01T11:59:55.000+00:00",
        "fetched": "2026-01-01T12:00:01.000+00:00",
        "delay": 60.0,
        "discovered_from": "https://news.example/",
        "discovered_via": "link",
        "forager": 7,
        "version": 1,
        "text_hash": "00000000000000ff",
        "simhash": "0000000000000010",
        "duplicate_of": None,
    }


async def test_the_version_of_a_story_counts_the_versions_of_its_own_page() -> None:
    store = Store()
    await tell(store, 3)
    story = await tell_one(store, "Title")
    again = Visit(story.id, NOON + 99, Outcome.FETCHED, 200, version=Version(Kind.ARTICLE, 8, 9, 10))
    number = await store.ack(again)
    assert number is not None and number > 3
    assert (await row(3, story, store))["version"] == 1
    assert (await row(3, replace(story, version=number), store))["version"] == 2


async def test_a_story_that_no_forager_brought_names_none() -> None:
    store = Store()
    assert (await row(0, await tell_one(store, "Title"), store))["forager"] is None


async def test_a_time_that_no_calendar_has_is_left_out() -> None:
    store = Store()
    story = replace(await tell_one(store, "Title"), published=math.nan, first_seen=1e20)
    told = await row(0, story, store)
    assert (told["published"], told["first_seen"], told["delay"]) == (None, None, 0.0)


def test_moments_are_kept_to_the_millisecond() -> None:
    assert iso_moment(0.25) == "1970-01-01T00:00:00.250+00:00"


def test_only_cells_that_could_become_formulas_get_an_apostrophe() -> None:
    assert defused("a=1") == "a=1"
    assert defused("https://news.example/") == "https://news.example/"
    assert [defused(cell)[0] for cell in ("=1", "+1", "-1", "@a", "\ta", "\ra", "\u200b=1")] == ["'"] * 7
