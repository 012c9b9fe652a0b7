"""Everything known about one page: how it was found, visits, versions, stories, copies, and expected documents.

Two versions of a text are compared word by word: what was removed, added and kept.
"""

import asyncio
import re
from collections import deque
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal

import numpy as np

from forager.core.page_table import PageTable
from forager.pages.language import words_in
from forager.pages.urls import site
from forager.report.phrases import shown, visitor
from forager.report.reasons import Prospect, why_link, why_story, why_topic, why_visited
from forager.store.protocol import AcceptedStory, Known, RunRecords, Version, VersionId, Visit
from forager.terms import Dated, Trouble, Url, UrlId

if TYPE_CHECKING:  # few crawls have one, and it is slow to load
    from forager.core.focus import Focus

_WORDS = re.compile(r"\s*\S+|\s+$")
MOST = 3000
"""A changed region with more words than this counts as replaced as a whole, so that the comparison stays fast (ours)."""

STRAY = 3
"""Two changes with fewer equal words between them are merged, because a stray equal word explains nothing (ours)."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words that was kept (`=`), removed (`-`) or added (`+`)."""

    mark: Literal["=", "-", "+"]
    text: str


def word_difference(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in order; without `-` they form `after`, without `+` they form `before`."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    pieces = [Piece("=", "".join(old[:head]))]
    pieces += _compared(old[head : len(old) - tail], new[head : len(new) - tail])
    pieces.append(Piece("=", "".join(old[len(old) - tail :])))
    return [piece for piece in pieces if piece.text]


def _common(one: list[str], other: list[str]) -> int:
    """Number of words that both lists begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _compared(old: list[str], new: list[str]) -> list[Piece]:
    if len(old) > MOST or len(new) > MOST:
        return [Piece("-", "".join(old)), Piece("+", "".join(new))]
    pieces: list[Piece] = []
    out, put = "", ""
    for step, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if step == "equal" and b - a >= STRAY:
            pieces += [Piece("-", out), Piece("+", put), Piece("=", "".join(old[a:b]))]
            out, put = "", ""
        else:
            out, put = out + "".join(old[a:b]), put + "".join(new[c:d])
    return [*pieces, Piece("-", out), Piece("+", put)]


VISITS, VERSIONS, STEPS, COPIES = 50, 10, 12, 50
"""Limits (ours): latest visits and versions shown, steps back to a seed, copies listed."""
OPENING = 400
"""Characters of a text shown if nothing changed in it (ours)."""
TEXT = 200_000
"""Characters of a text that are compared (ours)."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A step on the way from a seed to the page."""

    url: Url
    at: float
    channel: str
    by: str
    """The visitor of the page that linked to it; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Look:
    """One visit."""

    at: float
    outcome: str
    status: int
    by: str
    changed: bool
    seconds: float
    trouble: str
    error: str


@dataclass(frozen=True, slots=True)
class Edition:
    """A version with its changes against the one before; no changes if it is the first shown."""

    number: int
    """Number of the version, from 1."""
    at: float
    kind: str
    title: str
    lang: str
    words: int
    authors: list[str]
    section: str
    lead: str
    published: Dated | None
    modified: Dated | None
    opening: str
    """The beginning of its text."""
    title_changes: list[Piece]
    text_changes: list[Piece]


@dataclass(frozen=True, slots=True)
class Copy:
    """A page with nearly the same text."""

    url: Url
    site: str
    published: float
    is_first: bool


@dataclass(frozen=True, slots=True)
class ToldStory:
    """A story on the page."""

    at: float
    version: int
    published: float
    published_source: str
    delay: float | None
    by: str


@dataclass(frozen=True, slots=True)
class Dossier:
    url: Url
    site: str
    kind: str
    title: str
    found: list[Origin]
    """The way from the page back towards a seed."""
    announced: float | None
    """When the page was published, according to a feed or news sitemap."""
    visits: int
    changes: int
    last_visit: float | None
    due: float | None
    latest_visits: list[Look]
    versions: int
    editions: list[Edition]
    stories: list[ToldStory]
    story: str
    """Explains whether it is a story and why."""
    copies: list[Copy]
    visiting: str
    """Explains why it was visited or not, and what is planned."""
    prospect: Prospect | None
    robots: str
    """The robots.txt rule that refused it, if any."""
    recrawl: str
    """Explains when the recrawl cycle will visit it; empty if unknown."""
    territory: str
    """Says whose start page it is; empty if nobody's."""
    host: str
    """Describes the rules of its host: budget, delay and robots.txt; empty if the world has no hosts to spare."""
    topic: str
    """Whether it is on the topic of the crawl, and which of its words say so; empty if every topic will do."""


async def compile_dossier(
    id: UrlId,
    records: RunRecords,
    now: float,
    *,
    max_age: float = 86_400.0,
    least_worth: float = 0.0,
    statistics: PageTable | None = None,
    host: str = "",
    recrawl: str = "",
    focus: "Focus | None" = None,
    territory: str = "",
) -> Dossier:
    """Collects everything known about one page.

    A document older than `max_age` seconds is no story; `least_worth` is the least number of new documents to expect of
    a visit.
    """
    page = records.known(id)
    looks, refused = await _looks(id, records)
    numbers = await records.versions(id)
    editions, latest = await _editions([number for number, _ in numbers], records)
    stories, copies = await _stories(page, [number for number, _ in numbers], records)
    outlook = None if statistics is None else prospect(id, records, statistics, now)
    undecided = page.version is not None and page.version in await records.unsettled()
    return Dossier(
        url=page.url,
        site=site(page.url),
        kind=page.kind.value,
        title=shown(latest.title) if latest else "",
        found=await _trail(page, records),
        announced=page.published,
        visits=page.visits,
        changes=page.changes,
        last_visit=page.last_visit,
        due=page.due,
        latest_visits=looks[::-1],
        versions=len(numbers),
        editions=editions[::-1][:VERSIONS],
        stories=stories,
        story=why_story(
            page,
            latest,
            numbers[-1][1] if numbers else 0.0,
            bool(stories),
            undecided,
            max_age,
            "" if focus is None or page.version is None else focus.verdicts.get(page.version, ""),
        ),
        copies=copies,
        visiting=why_visited(page, looks[-1].outcome if looks else "", refused, outlook, least_worth, now),
        prospect=outlook,
        robots=refused,
        recrawl=recrawl,
        territory=territory,
        host=host,
        topic=_topic(id, page, latest, statistics, focus),
    )


def _topic(id: UrlId, page: Known, latest: Version | None, statistics: PageTable | None, focus: "Focus | None") -> str:
    if focus is None:
        return ""
    if latest is not None:
        return why_topic(focus, page.version, latest)
    return "" if statistics is None else why_link(statistics.topical(id))


def prospect(id: UrlId, records: RunRecords, statistics: PageTable, now: float) -> Prospect:
    """What a visit now is expected to bring, and the page's rank among all known pages."""
    known = np.arange(records.counts().known, dtype=np.int64)
    worth, fresh = statistics.worth(known, now)
    order = np.where(fresh, worth + 1e3, worth)  # ranks as the recrawl cycle does: links not yet followed come first
    (rate,) = statistics.rate(known[id : id + 1])
    rank = 1 + int((order > order[id]).sum())
    return Prospect(float(worth[id]), bool(fresh[id]), rank, len(known), float(rate))


async def _looks(id: UrlId, records: RunRecords) -> tuple[list[Look], str]:
    """The latest visits, oldest first, and the last refusal by robots.txt."""
    kept: deque[Visit] = deque(maxlen=VISITS)
    refused = ""
    async for visit in records.visits(id):
        kept.append(visit)
        if visit.trouble is Trouble.ROBOTS:
            refused = shown(visit.error)
    looks = [
        Look(
            at=one.at,
            outcome=one.outcome.value,
            status=one.status,
            by=visitor(one.by),
            changed=one.changed,
            seconds=round(one.seconds, 3),
            trouble=one.trouble.value,
            error=shown(one.error or (f"redirected to {one.final_url}" if one.final_url else "")),
        )
        for one in kept
    ]
    return looks, refused


async def _trail(page: Known, records: RunRecords) -> list[Origin]:
    steps: list[Origin] = []
    while True:
        by = "" if page.source is None else await _finder(page, records)
        steps.append(Origin(page.url, page.found, page.channel.value, by))
        if page.source is None or len(steps) == STEPS:
            return steps
        page = records.known(page.source)


async def _finder(page: Known, records: RunRecords) -> str:
    """Who visited the linking page when this one was found."""
    by = ""
    async for visit in records.visits(page.source):
        if visit.at > page.found + 1e-6:
            break
        by = visitor(visit.by)
    return by


async def _editions(numbers: list[VersionId], records: RunRecords) -> tuple[list[Edition], Version | None]:
    """The latest versions with their differences, oldest first, and the last one as stored."""
    editions: list[Edition] = []
    before: Version | None = None
    first = max(0, len(numbers) - VERSIONS - 1)
    for place, number in enumerate(numbers[first:], start=first + 1):
        _, at, version = await records.version(number)
        editions.append(await asyncio.to_thread(_edition, place, at, version, before))  # slow for long texts
        before = version
    return editions, before


def _edition(number: int, at: float, version: Version, before: Version | None) -> Edition:
    return Edition(
        number=number,
        at=at,
        kind=version.kind.value,
        title=shown(version.title),
        lang=shown(version.about.language or version.lang, 20),
        words=version.about.word_count or words_in(version.text),
        authors=[shown(name) for name in version.about.authors],
        section=shown(version.about.section),
        lead=shown(version.about.lead, OPENING),
        published=version.published,
        modified=version.modified,
        opening=shown(version.text[: 4 * OPENING], OPENING),
        title_changes=_differs(shown(before.title), shown(version.title)) if before else [],
        text_changes=_differs(_readable(before.text), _readable(version.text)) if before else [],
    )


def _differs(before: str, after: str) -> list[Piece]:
    return [] if before == after else word_difference(before, after)


def _readable(text: str) -> str:
    """Makes every line safe to show; keeps the line breaks."""
    return "\n".join(shown(line, TEXT) for line in text[:TEXT].splitlines())


async def _stories(page: Known, numbers: list[VersionId], records: RunRecords) -> tuple[list[ToldStory], list[Copy]]:
    """The stories of the page, and copies of its text: the first published one and those that refer to it."""
    own: list[AcceptedStory] = []
    others: list[AcceptedStory] = []
    async for story in records.stories():
        (own if story.id == page.id else others).append(story)
    first = next((story.duplicate_of for story in own if story.duplicate_of), page.url if own else None)
    told = [
        ToldStory(
            one.fetched,
            1 + sum(number < one.version for number in numbers),
            one.published,
            one.published_source,
            one.delay,
            visitor(one.forager),
        )
        for one in own
    ]
    copies = [
        Copy(one.url, one.site, one.published, one.url == first)
        for one in others
        if first is not None and first in (one.url, one.duplicate_of)
    ]
    return told, copies[:COPIES]
