"""Writes headlines and texts: readable nonsense in which the pages of a topic, and of a section, share their
vocabulary.

A topic ranks the words of its section's theme in its own order and draws them by Zipf's law; it also has its own
people, places and institutions. The text of an article at a version is its first text with each change applied in turn.

The words are in `prose.yaml`; every theme has its own vocabulary.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import yaml

from forager.chance import stream
from forager.newsroom.article import Article, Shift


@dataclass(frozen=True, slots=True)
class Theme:
    """The words of one section."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]


_WORDS = yaml.load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
THEMES = {
    name: Theme(*(tuple(theme[kind].split()) for kind in ("nouns", "verbs", "adjectives")))
    for name, theme in _WORDS["themes"].items()
}
FIRST_NAMES, LAST_NAMES, PLACE_STARTS, PLACE_ENDS, BODIES = (
    _WORDS[kind].split() for kind in ("first_names", "last_names", "place_starts", "place_ends", "bodies")
)
HEADLINES, SENTENCES = _WORDS["headlines"], _WORDS["sentences"]

T = TypeVar("T")

_NOT_IN_SLUGS = re.compile("[^a-z0-9]+")
_BEFORE_VOWEL = re.compile(r"\b([Aa])(?= [aeio]| u[nr])")


@dataclass(frozen=True, slots=True)
class NewsTopic:
    """A community of articles within a section name, shared by all papers that have such a section."""

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
    """Entries of a live blog, newest first."""
    notes: tuple[str, ...] = ()
    """Notes on corrections, at the end."""


def theme_of(section: str) -> Theme:
    """Returns the vocabulary of a section; an unknown name gets one of the known themes."""
    return THEMES.get(section) or list(THEMES.values())[zlib.crc32(section.encode()) % len(THEMES)]


def slug(text: str) -> str:
    """Returns the text in the form used in URLs."""
    return _NOT_IN_SLUGS.sub("-", text.lower()).strip("-")


def topics_of(seed: int, section: str, count: int, first: int) -> list[NewsTopic]:
    """Returns the topics of a section name, numbered from `first`."""
    rng, theme = stream(seed, f"topics of {section}"), theme_of(section)
    names: list[str] = []
    while len(names) < count:
        adjective, noun = _pick(theme.adjectives, rng.random()), _pick(theme.nouns, rng.random())
        name = f"{adjective} {noun}".capitalize()
        names.append(name if name not in names else f"{name} {len(names) + 1}")
    return [_topic(rng, theme, section, name, first + rank) for rank, name in enumerate(names)]


def _topic(rng: np.random.Generator, theme: Theme, section: str, name: str, number: int) -> NewsTopic:
    def shuffled(words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[i] for i in rng.permutation(len(words)))

    people = tuple(f"{_pick(FIRST_NAMES, rng.random())} {_pick(LAST_NAMES, rng.random())}" for _ in range(5))
    places = tuple(_pick(PLACE_STARTS, rng.random()) + _pick(PLACE_ENDS, rng.random()) for _ in range(4))
    bodies = tuple(f"{place} {_pick(BODIES, rng.random())}" for place in places[:2])
    words = Theme(shuffled(theme.nouns), shuffled(theme.verbs), shuffled(theme.adjectives))
    return NewsTopic(number, section, name, slug(name), words, people, places, bodies)


def _pick(words: Sequence[T], u: float) -> T:
    return words[int(u * len(words))]


def _zipf(words: Sequence[T], u: float) -> T:
    """The word of rank r (from 0) with probability nearly in proportion to 1/(r + 4): Zipf's law with a flat head."""
    return words[int(4 * (1 + len(words) / 4) ** u) - 4]


def _different(words: Sequence[str], *us: float) -> list[str]:
    """Different words drawn by Zipf's law."""
    left, drawn = list(words), []
    for u in us:
        drawn.append(_zipf(left, u))
        left.remove(drawn[-1])
    return drawn


def _uniforms(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(256).tolist()


def _fill(template: str, topic: NewsTopic, u: Iterator[float]) -> str:
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


def _headline(topic: NewsTopic, u: Iterator[float]) -> str:
    return _fill(_pick(HEADLINES, next(u)), topic, u)


def _sentence(topic: NewsTopic, u: Iterator[float]) -> str:
    return _fill(_pick(SENTENCES, next(u)), topic, u)


class NewsWriter:
    """Writes every text of a newsroom; the same article and version always give the same text."""

    def __init__(self, seed: int, topics: Sequence[NewsTopic]) -> None:
        self.seed, self.topics = seed, topics

    def headline(self, article: Article, title_version: int = 0) -> str:
        """Returns the headline that change number `title_version` introduced; 0 is the first."""
        topic = self.topics[article.topic]
        if title_version:
            return _headline(topic, self._of(f"change {article.number} {title_version}"))
        return ("Live: " if article.live else "") + _headline(topic, self._of(f"article {_source(article)}"))

    def authors(self, section: str) -> list[str]:
        rng = stream(self.seed, f"newsroom authors of {section}")
        return [f"{_pick(FIRST_NAMES, rng.random())} {_pick(LAST_NAMES, rng.random())}" for _ in range(6)]

    def text(self, article: Article, version: int) -> Text:
        """Returns the text after the first `version` changes."""
        text = self._first(article)
        for turn, change in enumerate(article.changes[:version], start=1):
            u = self._of(f"change {article.number} {turn}")
            topic, when = self.topics[article.topic], f"{datetime.fromtimestamp(change.at, UTC):%H:%M on %-d %B %Y}"
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


def _edited(
    paragraphs: tuple[tuple[str, ...], ...], topic: NewsTopic, u: Iterator[float]
) -> tuple[tuple[str, ...], ...]:
    """Returns the paragraphs with one sentence rewritten."""
    where = int(next(u) * len(paragraphs))
    sentences = list(paragraphs[where])
    sentences[int(next(u) * len(sentences))] = _sentence(topic, u)
    return (*paragraphs[:where], tuple(sentences), *paragraphs[where + 1 :])
