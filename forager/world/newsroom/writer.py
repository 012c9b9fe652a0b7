"""Headlines and texts: readable nonsense in which the pages of a topic, and of a section, share their vocabulary.

A topic ranks the words of its section's theme in an order of its own and draws them by Zipf's law; it also has its own
people, places and bodies. The text of an article at a version is its first text with each change applied in turn.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np

from forager.chance import stream
from forager.world.newsroom.terms import Article, Shift
from forager.world.newsroom.words import BODIES, FIRST_NAMES, LAST_NAMES, PLACE_ENDS, PLACE_STARTS, THEMES, Theme

T = TypeVar("T")

_NOT_IN_SLUGS = re.compile("[^a-z0-9]+")
_BEFORE_VOWEL = re.compile(r"\b([Aa])(?= [aeio]| u[nr])")

HEADLINES = (
    "{Noun} {verb} {adjective} {noun2} in {place}",
    "{surname} {verb} {noun} as {noun2} looms",
    "{place} {noun} {verb} the {adjective} {noun2}",
    "{body}: {adjective} {noun} “{verb} nobody”",
    "How a {noun} {verb} {place}",
    "{person} on the {noun} that {verb} a {noun2}",
    "{Adjective} {noun} {verb} {number} {noun2} plans",
    "After the {noun}, {place} waits for a {adjective} {noun2}",
    "{surname} and the {adjective} {noun} of {place}",
    "Why {body} {verb} its {noun2}",
    "{number} days of {adjective} {noun}: what {surname} {verb}",
    "{place} {verb} {adjective} {noun}, says {body}",
)
SENTENCES = (
    "{person} of the {body} said the {adjective} {noun} had {verb} the {noun2} before the end of the week.",
    "The {noun} in {place} {verb} a {adjective} {noun2}, according to {number} people who know the matter.",
    "“We never {verb} a {noun} like this,” {surname} said, pointing to the {adjective} {noun2}.",
    "Nobody in {place} had expected the {noun} to follow the {noun2} so quickly.",
    "It was the {noun} that {verb} the {noun2}, not the {adjective} {noun3}.",
    "The {body} {verb} {number} per cent of the {noun} and left the {noun2} to {surname}.",
    "Since then a {adjective} {noun} has stood between {place} and its {noun2}.",
    "{surname} had {verb} the {noun2} twice, most recently over a {adjective} {noun}.",
    "Critics call the {noun} {adjective}; the {body} calls it a {noun2}.",
    "In {place}, where the {noun} began, the {noun2} and the {noun3} are still a {adjective} sight.",
    "A spokesman for {person} declined to say whether the {noun} had {verb} any {noun2}.",
    "By evening the {adjective} {noun} had reached {place}, and with it the {noun2}.",
    "The figures show {number} cases of a {noun} that {verb} a {noun2} within a year.",
    "“A {noun} is a {noun},” said {person}, “but a {adjective} {noun2} is something else.”",
    "Officials in {place} {verb} the {noun} after the {body} had asked for a {adjective} {noun2}.",
    "That leaves the {noun2}, the {noun3} and {number} {adjective} questions about the {noun}.",
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A community of articles inside a section name, shared by all papers that have such a section."""

    number: int
    section: str
    name: str
    slug: str
    words: Theme
    people: tuple[str, ...]
    places: tuple[str, ...]
    bodies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """The main text of an article at one version; each paragraph is a tuple of sentences."""

    headline: str
    paragraphs: tuple[tuple[str, ...], ...]
    entries: tuple[str, ...] = ()
    """Of a live blog, newest first."""
    notes: tuple[str, ...] = ()
    """Notes on corrections, at the foot."""


def theme_of(section: str) -> Theme:
    """The vocabulary of a section; an unknown name is given one of the known themes."""
    return THEMES.get(section) or list(THEMES.values())[zlib.crc32(section.encode()) % len(THEMES)]


def slug(text: str) -> str:
    """The text as it stands in a URL."""
    return _NOT_IN_SLUGS.sub("-", text.lower()).strip("-")


def topics_of(seed: int, section: str, count: int, first: int) -> list[Topic]:
    """The topics of a section name, numbered from `first`."""
    rng, theme = stream(seed, f"topics of {section}"), theme_of(section)
    names: list[str] = []
    while len(names) < count:
        adjective, noun = _pick(theme.adjectives, rng.random()), _pick(theme.nouns, rng.random())
        name = f"{adjective} {noun}".capitalize()
        names.append(name if name not in names else f"{name} {len(names) + 1}")
    return [_topic(rng, theme, section, name, first + rank) for rank, name in enumerate(names)]


def _topic(rng: np.random.Generator, theme: Theme, section: str, name: str, number: int) -> Topic:
    def shuffled(words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[i] for i in rng.permutation(len(words)))

    people = tuple(f"{_pick(FIRST_NAMES, rng.random())} {_pick(LAST_NAMES, rng.random())}" for _ in range(5))
    places = tuple(_pick(PLACE_STARTS, rng.random()) + _pick(PLACE_ENDS, rng.random()) for _ in range(4))
    bodies = tuple(f"{place} {_pick(BODIES, rng.random())}" for place in places[:2])
    words = Theme(shuffled(theme.nouns), shuffled(theme.verbs), shuffled(theme.adjectives))
    return Topic(number, section, name, slug(name), words, people, places, bodies)


def _pick(words: Sequence[T], u: float) -> T:
    return words[int(u * len(words))]


def _zipf(words: Sequence[T], u: float) -> T:
    """The word of rank r (from 0) with probability in proportion to 1/(r + 4), nearly: Zipf's law with a flat head."""
    return words[int(4 * (1 + len(words) / 4) ** u) - 4]


def _different(words: Sequence[str], *us: float) -> list[str]:
    """Words drawn by Zipf's law, none twice."""
    left, drawn = list(words), []
    for u in us:
        drawn.append(_zipf(left, u))
        left.remove(drawn[-1])
    return drawn


def _uniforms(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(256).tolist()


def _fill(template: str, topic: Topic, u: Iterator[float]) -> str:
    words, person = topic.words, _zipf(topic.people, next(u))
    noun, noun2, noun3 = _different(words.nouns, next(u), next(u), next(u))
    adjective = _zipf(words.adjectives, next(u))
    sentence = template.format(
        noun=noun,
        Noun=noun.capitalize(),
        noun2=noun2,
        noun3=noun3,
        verb=_zipf(words.verbs, next(u)),
        adjective=adjective,
        Adjective=adjective.capitalize(),
        person=person,
        surname=person.rpartition(" ")[2],
        place=_zipf(topic.places, next(u)),
        body=_zipf(topic.bodies, next(u)),
        number=2 + int(97 * next(u)),
    )
    return _BEFORE_VOWEL.sub(r"\1n", sentence)


def _headline(topic: Topic, u: Iterator[float]) -> str:
    return _fill(_pick(HEADLINES, next(u)), topic, u)


def _sentence(topic: Topic, u: Iterator[float]) -> str:
    return _fill(_pick(SENTENCES, next(u)), topic, u)


def _minute(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%H:%M on %-d %B %Y")


class Writer:
    """Writes every text of a newsroom; the same article and version always give the same text."""

    def __init__(self, seed: int, topics: Sequence[Topic]) -> None:
        self.seed, self.topics = seed, topics

    def headline(self, article: Article, title_version: int = 0) -> str:
        """The headline that the change number `title_version` brought; 0 is the first."""
        topic = self.topics[article.topic]
        if title_version:
            return _headline(topic, self._of(f"change {article.number} {title_version}"))
        return ("Live: " if article.live else "") + _headline(topic, self._of(f"article {_source(article)}"))

    def authors(self, section: str) -> list[str]:
        """The six people who write for a section name."""
        rng = stream(self.seed, f"newsroom authors of {section}")
        return [f"{_pick(FIRST_NAMES, rng.random())} {_pick(LAST_NAMES, rng.random())}" for _ in range(6)]

    def text(self, article: Article, version: int) -> Text:
        """The text after the first `version` changes."""
        text = self._first(article)
        for turn, change in enumerate(article.changes[:version], start=1):
            u = self._of(f"change {article.number} {turn}")
            topic, when = self.topics[article.topic], _minute(change.at)
            if change.shift is Shift.ENTRY:
                entry = f"{when}, entry {turn}: {_sentence(topic, u)} {_sentence(topic, u)}"
                text = Text(text.headline, text.paragraphs, (entry, *text.entries), text.notes)
                continue
            headline = _headline(topic, u) if change.shift is Shift.TITLE else text.headline
            note = f"This article was amended at {when} (correction {turn})."
            text = Text(headline, _edited(text.paragraphs, topic, u), text.entries, (*text.notes, note))
        return text

    def _first(self, article: Article) -> Text:
        topic = self.topics[article.topic]
        u = self._of(f"article {_source(article)}")
        headline = ("Live: " if article.live else "") + _headline(topic, u)
        paragraphs = tuple(
            tuple(_sentence(topic, u) for _ in range(3 + int(3 * next(u)))) for _ in range(7 + int(7 * next(u)))
        )
        if article.copy_of is not None:
            paragraphs = (*_edited(paragraphs, topic, self._of(f"copy {article.number}")), ("With wire reports.",))
        return Text(headline, paragraphs)

    def _of(self, name: str) -> Iterator[float]:
        return _uniforms(stream(self.seed, f"newsroom {name}"))


def _source(article: Article) -> int:
    return article.number if article.copy_of is None else article.copy_of


def _edited(paragraphs: tuple[tuple[str, ...], ...], topic: Topic, u: Iterator[float]) -> tuple[tuple[str, ...], ...]:
    """The same paragraphs with one sentence written anew."""
    where = int(next(u) * len(paragraphs))
    sentences = list(paragraphs[where])
    sentences[int(next(u) * len(sentences))] = _sentence(topic, u)
    return (*paragraphs[:where], tuple(sentences), *paragraphs[where + 1 :])
