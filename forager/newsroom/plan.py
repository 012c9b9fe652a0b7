"""The plan of a newsroom: every article that will ever be published, and all its changes, made before the first
request.

The links to earlier articles form a growing scale-free small world, or its rewired twin. Each new article draws its
first target in its own topic by preferential attachment: in proportion to one plus the links received. Every further
target is mostly a neighbour of the previous target in this topic (the triad step of Holme and Kim's model), which
closes triangles. The rest go anywhere in the paper: they keep the paths between topics short, and without them the most
linked articles could not outgrow their topics, which would cut off the power law.

News is published by a Poisson process whose rate follows the hour of the day and the day of the week.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.chance import stream
from forager.newsroom.article import Article, ArticleChange, Shift
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.newsroom.prose import NewsTopic, NewsWriter, slug, topics_of

HOURLY = np.array(
    [
        [0.3, 0.2, 0.2, 0.2, 0.3, 0.6],
        [1.1, 1.6, 1.8, 1.7, 1.5, 1.5],
        [1.6, 1.5, 1.4, 1.4, 1.5, 1.6],
        [1.4, 1.2, 1.0, 0.8, 0.6, 0.4],
    ]
).ravel()
"""Relative rate of each hour (UTC): quiet nights, busy mornings, a second rise in the late afternoon."""

_MONDAY = 4 * 86400  # the first Monday after the epoch, 1970-01-05


def hourly_rates(
    per_day: float, weekend: float, since: float, until: float, rhythm: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Slots of one hour, or the part of it in [since, until), and the expected number of articles in each.

    Slots are given by their edges. The mean over a week of whole days is `per_day`. With a `rhythm` of 0 all hours of a day
    are alike.
    """
    hours = np.arange(np.floor(since / 3600), np.ceil(until / 3600) + 1) * 3600
    edges = np.clip(hours, since, until)
    weekday = ((hours[:-1] - _MONDAY) // 86400) % 7
    daily = np.where(weekday >= 5, weekend, 1.0) * 7 / (5 + 2 * weekend)
    hour = (hours[:-1] // 3600 % 24).astype(int)
    shape = rhythm * (HOURLY / HOURLY.mean()) + (1 - rhythm)
    return edges, per_day / 86400 * daily * shape[hour] * np.diff(edges)


def publication_times(
    per_day: float, weekend: float, since: float, until: float, rng: np.random.Generator, rhythm: float = 1.0
) -> FloatArray:
    """Sorted times in [since, until), in whole seconds."""
    edges, expected = hourly_rates(per_day, weekend, since, until, rhythm)
    counts = rng.poisson(expected)
    starts, lengths = np.repeat(edges[:-1], counts), np.repeat(np.diff(edges), counts)
    return np.sort(np.floor(starts + rng.random(len(starts)) * lengths))


def grow(
    topics: Sequence[int], mean: int, triads: float, strays: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Origins and targets of the links of articles 0, 1, …, given in order of publication with their topics."""
    wanted = np.clip(0.6 * mean * (1 + rng.pareto(2.5, len(topics))), 1, 8 * mean).astype(int).tolist()
    within: dict[int, list[int]] = {topic: [] for topic in topics}
    everywhere: list[int] = []
    neighbours: list[list[int]] = [[] for _ in topics]
    origins: list[int] = []
    targets: list[int] = []
    for article, topic in enumerate(topics):
        chosen = _targets(wanted[article], within[topic], everywhere, neighbours, triads, strays, rng)
        for target in chosen:
            if topics[target] == topic:  # triads stay in the topic
                neighbours[article].append(target)
                neighbours[target].append(article)
        for drawn in (article, *chosen):
            within[topics[drawn]].append(drawn)
            everywhere.append(drawn)
        origins += [article] * len(chosen)
        targets += chosen
    return np.array(origins, np.int64), np.array(targets, np.int64)


def _targets(
    wanted: int,
    own: Sequence[int],
    everywhere: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    triads: float,
    strays: float,
    rng: np.random.Generator,
) -> list[int]:
    """Returns up to `wanted` different targets in three times as many draws; fewer while there are few articles."""
    chosen: list[int] = []
    near: Sequence[int] = ()
    for kind, place in rng.random((3 * wanted, 2)).tolist():
        stray = kind >= 1 - strays or not own
        pool = everywhere if stray else near if near and kind < triads else own
        if pool and (target := pool[int(place * len(pool))]) not in chosen:
            chosen.append(target)
            near = () if stray else neighbours[target]
        if len(chosen) == wanted:
            break
    return chosen


def rewire(origins: IntArray, targets: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Returns the twin that is scale-free but no small world (foragers paper, section 6).

    It permutes the list of origins and the list of targets independently and pairs them again: every in- and out-degree
    stays the same, communities do not. Links from a page to itself and double links may occur.
    """
    return rng.permutation(origins), rng.permutation(targets)


COPY_CHANCE = 0.5
FRONT_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class NewsPlan:
    """When each article is published, and its links."""

    settings: NewsroomSettings
    topics: tuple[NewsTopic, ...]
    articles: tuple[Article, ...]
    """Articles in order of publication; the number of an article is its index."""
    related: tuple[tuple[int, ...], ...]
    """For each article, the articles of its paper it links to; a link appears once its target is published."""
    writer: NewsWriter

    def __repr__(self) -> str:
        return f"<Plan {len(self.settings.papers)} papers, {len(self.articles)} articles, {len(self.topics)} topics>"


@dataclass(frozen=True, slots=True)
class _Draft:
    published: float
    paper: int
    section: int
    turn: int
    """Order of creation, which breaks ties in sorting."""
    topic: int
    original: int | None = None
    """The `turn` of the draft that it copies."""


def make_plan(settings: NewsroomSettings) -> NewsPlan:
    names = sorted({section.name for paper in settings.papers for section in paper.sections})
    topics = [
        topic
        for place, name in enumerate(names)
        for topic in topics_of(settings.seed, name, settings.topics, place * settings.topics)
    ]
    writer = NewsWriter(settings.seed, topics)
    authors = {name: writer.authors(name) for name in names}
    drafts = _drafts(settings, names)
    number_of = {draft.turn: number for number, draft in enumerate(drafts)}
    luck = stream(settings.seed, "newsroom authors").random((len(drafts), 2)).tolist()
    articles = []
    for number, (draft, (who, front)) in enumerate(zip(drafts, luck, strict=True)):
        copy_of = None if draft.original is None else number_of[draft.original]
        section = settings.papers[draft.paper].sections[draft.section].name
        author = authors[section][int(who * len(authors[section]))]
        article = Article(
            number,
            draft.paper,
            draft.section,
            draft.topic,
            author,
            draft.published,
            "",
            copy_of=copy_of,
            front=front < FRONT_SHARE,
        )
        article = replace(article, path=_path(article, section, writer.headline(article)))
        articles.append(article)
    fated = _with_fates(articles, settings)
    return NewsPlan(settings, tuple(topics), tuple(fated), _related(fated, settings), writer)


def _drafts(settings: NewsroomSettings, names: Sequence[str]) -> list[_Draft]:
    since, until = settings.start - settings.backlog, settings.start + settings.days * 86400
    drafts: list[_Draft] = []
    weights = 1 / np.arange(1, settings.topics + 1)
    for p, paper in enumerate(settings.papers):
        for s, section in enumerate(paper.sections):
            rng = stream(settings.seed, f"newsroom {paper.name} {section.name}")
            per_day = section.per_day * settings.pace
            times = publication_times(per_day, settings.weekend, since, until, rng, settings.rhythm)
            ranks = rng.choice(settings.topics, len(times), p=weights / weights.sum())
            first = names.index(section.name) * settings.topics
            for time, rank in zip(times.tolist(), ranks.tolist(), strict=True):
                drafts.append(_Draft(time, p, s, len(drafts), first + rank))
    drafts += _copies(drafts, settings, until)
    return sorted(drafts, key=lambda draft: (draft.published, draft.turn))


def _copies(originals: Sequence[_Draft], settings: NewsroomSettings, until: float) -> list[_Draft]:
    rng = stream(settings.seed, "newsroom wire")
    places = [{section.name: s for s, section in enumerate(paper.sections)} for paper in settings.papers]
    copies: list[_Draft] = []
    for draft in originals:
        name = settings.papers[draft.paper].sections[draft.section].name
        if rng.random() >= settings.wire:
            continue
        for p, sections in enumerate(places):
            at = draft.published + 1 + np.floor(rng.exponential(settings.wire_delay))
            if p != draft.paper and name in sections and rng.random() < COPY_CHANCE and at < until:
                turn = len(originals) + len(copies)
                copies.append(_Draft(float(at), p, sections[name], turn, draft.topic, draft.turn))
    return copies


def _path(article: Article, section: str, headline: str) -> str:
    """Path of an article; three successive papers use three styles: with date and section, flat, by number."""
    day = datetime.fromtimestamp(article.published, UTC)
    return (
        f"/{section}/{day:%Y/%m/%d}/{slug(headline)}-{article.number}",
        f"/article/{slug(headline)}-{article.number}.html",
        f"/{section}/story/{article.number}/{slug(headline)}",
    )[article.paper % 3]


def _with_fates(articles: Sequence[Article], settings: NewsroomSettings) -> list[Article]:
    rng = stream(settings.seed, "newsroom fates")
    luck = rng.random((len(articles), 4))
    delays = np.floor(rng.exponential(1.0, (len(articles), 2)) * [settings.removal_delay, settings.move_delay]) + 60
    fated = []
    for article, (live, wrong, gone, moved), (gone_after, moved_after) in zip(
        articles, luck.tolist(), delays.tolist(), strict=True
    ):
        changes: dict[float, Shift] = {}
        if live < settings.live_blogs:
            changes |= dict.fromkeys(_entry_times(article.published, settings, rng), Shift.ENTRY)
        if wrong < settings.corrections:
            changes |= _corrections(article.published, settings, rng)
        removed = article.published + gone_after if gone < settings.removals else None
        ordered = tuple(ArticleChange(at, changes[at]) for at in sorted(changes) if removed is None or at < removed)
        article = replace(article, changes=ordered, live=live < settings.live_blogs, removed=removed)
        if moved < settings.moves and removed is None:
            folder, _, name = article.path.rpartition("/")
            article = replace(article, moved=article.published + moved_after, moved_path=f"{folder}/updated-{name}")
        fated.append(article)
    return fated


def _entry_times(published: float, settings: NewsroomSettings, rng: np.random.Generator) -> list[float]:
    count = rng.poisson(settings.live_for / settings.live_gap)
    return sorted(published + 1 + np.floor(float(u) * settings.live_for) for u in rng.random(count))


def _corrections(published: float, settings: NewsroomSettings, rng: np.random.Generator) -> dict[float, Shift]:
    times = published + 1 + np.floor(rng.exponential(settings.correction_delay, 1 + rng.poisson(0.5)))
    titles = rng.random(len(times)) < settings.title_changes
    return {float(at): Shift.TITLE if title else Shift.TEXT for at, title in zip(times, titles, strict=True)}


def _related(articles: Sequence[Article], settings: NewsroomSettings) -> tuple[tuple[int, ...], ...]:
    related: list[list[int]] = [[] for _ in articles]
    for p, paper in enumerate(settings.papers):
        own = [article for article in articles if article.paper == p]
        rng = stream(settings.seed, f"newsroom links of {paper.name}")
        origins, targets = grow([a.topic for a in own], settings.related, settings.triads, settings.strays, rng)
        if settings.rewired:
            origins, targets = rewire(origins, targets, stream(settings.seed, f"newsroom rewired {paper.name}"))
        for origin, target in zip(origins.tolist(), targets.tolist(), strict=True):
            related[own[origin].number].append(own[target].number)
    return tuple(map(tuple, related))
