"""From an accepted document to a story."""

import asyncio
from dataclasses import replace

from forager.core.findings import Finding, Reinforcement, Sighting
from forager.engine.stories import Taken, Teller
from forager.events import Event
from forager.pages.fingerprints import simhash
from forager.store.protocol import AcceptedStory, Found, Version, Visit
from forager.store.store import Store
from forager.terms import NOBODY, Channel, Dated, DateSource, Kind, Outcome, Url, UrlId

TEXT = "The council said on Monday that a new bridge over the river would open next year after long talks."


def stories_of(*versions: Version) -> list[AcceptedStory]:
    """The stories told of versions, each on a page of its own, all of them accepted."""

    async def tell() -> list[AcceptedStory]:
        store = Store()
        events: list[Event] = []
        teller = Teller(store, events.append)
        for place, version in enumerate(versions):
            (id,) = await store.put([Found(Url(f"https://a.example/{place}"), Channel.LINK, 0.0, due=0.0)])
            number = await store.ack(Visit(id, 1.0, Outcome.FETCHED, version=version))
            assert number is not None
            finding = Finding(NOBODY, id, number, version.text_print, 0.5, UrlId(-1))
            await teller.settle(Taken([Sighting(id, 1.0, version=number)], [Reinforcement(finding, 1.0, True)]))
        assert len(events) == len(versions)
        return [story async for story in store.stories()]

    return asyncio.run(tell())


def kept(number: int, text: str = "", simhash: int = 0) -> Version:
    return Version(Kind.ARTICLE, byte_print=number, text_print=number, simhash=simhash, text=text)


def test_a_date_without_an_hour_gives_no_delay() -> None:
    by_day, by_hour = (
        replace(kept(number), published=Dated(0.5, DateSource.URL, exact=exact))
        for number, exact in ((1, False), (2, True))
    )
    assert [story.delay for story in stories_of(by_day, by_hour)] == [None, 0.5]


def test_copies_are_told_by_the_text_that_was_kept() -> None:
    first, second, other = stories_of(kept(1, TEXT), kept(2, TEXT + " "), kept(3, "Rain is expected in the valley."))
    assert first.simhash == second.simhash == simhash(TEXT)
    assert (first.duplicate_of, second.duplicate_of, other.duplicate_of) == (None, first.url, None)


def test_copies_are_told_by_the_fingerprint_where_no_text_was_kept() -> None:
    first, second = stories_of(kept(1, simhash=77), kept(2, simhash=77))
    assert second.simhash == 77
    assert second.duplicate_of == first.url


def test_a_version_without_text_and_fingerprint_is_a_copy_of_nothing() -> None:
    assert [story.duplicate_of for story in stories_of(kept(1), kept(2))] == [None, None]
