"""Stories for tests of exports, kind ones and hostile ones, in any store."""

import json
from pathlib import Path
from typing import Any

from forager.store.protocol import AcceptedStory, Found, Version
from forager.store.protocol import Visit as StoreVisit
from forager.store.store import Store
from forager.terms import NOBODY, NOTHING, About, Channel, Dated, DateSource, ForagerId, Kind, Outcome, Url, UrlId

NOON = 1_767_225_600.0 + 43_200
"""2026-01-01T12:00:00Z: 2026 began 1,767,225,600 seconds after 1970."""

HOSTILE = (
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\x00=HYPERLINK(1)",
    "\ufeff=1+1",
    " ＝1",
    '<script>alert("1")</script> & co',
    "]]><!-- &amp; -->",
    "nul \x00 bell \x07 escape \x1b[2J csi \x9b1m",
    "right to left \u202e gpj.exe",
    "next\x85line\u2028separator\u2029end",
    'quote " comma , line\nfeed\r\nend ""',
    "half a pair \ud83d and one \U0001f600",
    "not a character \uffff",
    "ж" * 10_000,
    "",
)


async def tell(store: Store, count: int, title: str = "Story {}", text: str = "Line one.\nLine two, {}.") -> None:
    """Accept `count` more stories."""
    first = store.counts().stories
    for number in range(first, first + count):
        await tell_one(store, title.format(number), text.format(number))


async def tell_one(
    store: Store, title: str, text: str = "Text.", *, host: str = "news.example", about: About = NOTHING
) -> AcceptedStory:
    """Accept one story, published a minute before it is fetched; story n is fetched n seconds after noon."""
    number = store.counts().stories
    fetched = NOON + number
    home = Url(f"https://{host}/")
    (source, id) = await store.put(
        [Found(home, Channel.SEED, NOON), Found(Url(f"{home}{number}"), Channel.LINK, NOON - 5, UrlId(0))]
    )
    version = Version(
        Kind.ARTICLE,
        1,
        255,
        16,
        title,
        text,
        "en",
        modified=Dated(fetched - 30, DateSource.META),
        canonical=store.url(id),
        about=about,
    )
    stored = await store.ack(StoreVisit(id, fetched, Outcome.FETCHED, 200, version=version))
    assert stored is not None
    story = AcceptedStory(
        id=id,
        version=stored,
        url=store.url(id),
        site=host,
        title=title,
        published=fetched - 60,
        published_source="meta",
        first_seen=NOON - 5,
        fetched=fetched,
        discovered_from=store.url(source),
        discovered_via=Channel.LINK,
        forager=ForagerId(7) if number % 2 else NOBODY,
        text_print=version.text_print,
        simhash=version.simhash,
        about=about,
    )
    await store.settle(stored, story)
    return story


def objects(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSONL file."""
    return [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]


def numbers(path: Path) -> list[int]:
    return [one["number"] for one in objects(path)]
