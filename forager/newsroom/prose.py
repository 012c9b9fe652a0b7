"""Writes headlines and texts: readable nonsense in which the pages of a topic, and of a section, share their
vocabulary.

A topic ranks the words of its section's theme in its own order and draws them by Zipf's law; it also has its own
people, places and institutions. The text of an article at a version is its first text with each change applied in turn.

The word lists are here too; every theme has its own vocabulary.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np

from forager.chance import stream
from forager.newsroom.article import Article, Shift


@dataclass(frozen=True, slots=True)
class Theme:
    """The words of one section; verbs are transitive and in the past tense."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _theme(nouns: str, verbs: str, adjectives: str) -> Theme:
    return Theme(_words(nouns), _words(verbs), _words(adjectives))


THEMES: dict[str, Theme] = {
    "breaking": _theme(
        "fire flood rescue blast alarm evacuation crash storm outage police suspect witness search siren"
        " ambulance shelter bridge tunnel warning emergency helicopter patrol accident collapse hostage arrest"
        " convoy barrier smoke debris landslide tremor crew roadblock hotline victim",
        "evacuated halted closed rescued injured blocked sealed stopped searched destroyed damaged reopened freed"
        " contained",
        "sudden severe unconfirmed fatal massive local overnight burning stranded missing armed urgent narrow fresh",
    ),
    "world": _theme(
        "treaty border embassy envoy summit ceasefire refugee sanction ambassador army rebel minister alliance"
        " visa truce delegation convoy province capital exile coup parliament peacekeeper garrison frontier aid"
        " famine monsoon passport consulate regime dissident accord mission neighbour corridor",
        "signed rejected condemned crossed shelled negotiated recognised expelled recalled deployed welcomed"
        " suspended brokered ratified",
        "foreign diplomatic disputed humanitarian bilateral fragile exiled eastern coastal landlocked sovereign"
        " tense regional occupied",
    ),
    "politics": _theme(
        "bill vote senate coalition ballot budget amendment cabinet poll mandate opposition caucus lobby reform"
        " debate committee constituency referendum manifesto whip motion veto speaker deputy campaign donor pledge"
        " inquiry scandal majority electorate chancellor resignation statute ombudsman quorum",
        "approved vetoed debated postponed amended defended opposed tabled repealed passed proposed criticised"
        " endorsed blocked",
        "parliamentary liberal conservative federal electoral contested marginal partisan legislative procedural"
        " independent narrow populist constitutional",
    ),
    "business": _theme(
        "share profit merger bank bond dividend quarter investor inflation loan factory tariff export deficit"
        " revenue retailer supplier auditor currency pension startup takeover stake index warehouse payroll"
        " creditor earnings shareholder subsidy commodity refinery insurer mortgage bankruptcy invoice",
        "acquired raised cut sold financed forecast merged floated downgraded outsourced restructured hedged"
        " refunded audited",
        "quarterly fiscal profitable listed wholesale bullish sluggish overseas corporate leveraged record pretax"
        " domestic volatile",
    ),
    "sport": _theme(
        "goal match coach league penalty striker final stadium season defender tournament referee medal relay"
        " sprint keeper midfield squad champion transfer semifinal podium injury derby fixture kickoff captain"
        " trophy marathon set innings serve qualifier rival substitute scoreline",
        "beat won scored signed lost defended equalised saved coached dropped outplayed trained booked celebrated",
        "unbeaten injured veteran olympic defensive dramatic late away home reigning amateur undefeated decisive"
        " junior",
    ),
    "science": _theme(
        "telescope genome vaccine particle fossil orbit enzyme asteroid experiment laboratory protein glacier"
        " species neuron satellite reactor molecule climate bacteria isotope comet probe hypothesis sample"
        " spectrum antibody reef sensor mutation quark plasma microscope dataset placebo ecosystem gravity",
        "measured observed sequenced discovered tested modelled detected isolated replicated published launched"
        " mapped simulated catalogued",
        "experimental molecular distant cosmic genetic rare fossilised statistical microscopic atmospheric"
        " ancient quantum marine neural",
    ),
    "culture": _theme(
        "novel painting festival opera gallery sculptor director orchestra premiere poet exhibition museum film"
        " theatre album ballet curator manuscript playwright soprano biennale memoir cello sonnet fresco"
        " documentary rehearsal actor audience screenplay costume portrait symphony librarian restoration choir",
        "performed staged restored painted published directed exhibited translated composed auctioned reviewed"
        " filmed curated illustrated",
        "baroque contemporary acclaimed forgotten lyrical abstract theatrical avant-garde musical classical"
        " illustrated rediscovered intimate bold",
    ),
    "technology": _theme(
        "chip software browser network server robot battery algorithm startup encryption smartphone patent update"
        " cloud developer drone interface router processor database laptop malware keyboard firmware compiler"
        " gadget sensor prototype antenna kernel password silicon pixel headset latency backup",
        "launched patched hacked upgraded encrypted licensed unveiled automated recalled benchmarked released"
        " shipped scanned deprecated",
        "wireless digital automated open-source encrypted portable faulty autonomous scalable vulnerable embedded"
        " virtual foldable modular",
    ),
    "local": _theme(
        "council school street market library bus hospital mayor playground neighbour parish bakery tram footpath"
        " allotment nursery roadworks pub station charity pensioner volunteer recycling parade churchyard crossing"
        " swimming-pool bypass town-hall fair shopkeeper landlord ferry postman cafe pavement",
        "opened repaired closed renamed funded planted painted fenced visited organised cleaned rebuilt"
        " petitioned saved",
        "derelict beloved village riverside shared noisy planned weekly listed narrow elderly friendly busy muddy",
    ),
    "opinion": _theme(
        "argument column conscience nostalgia liberty duty reader privilege truth irony manners habit consensus"
        " dissent memory optimism cynicism fairness outrage virtue folly patience courage doubt editor essay"
        " metaphor principle dogma wisdom modesty prudence rhetoric myth instinct compromise",
        "defended questioned praised mocked reconsidered misread forgave doubted excused misunderstood invoked"
        " resented admired ridiculed",
        "honest lazy fashionable moral tired stubborn quiet comfortable reasonable naive plain hollow uneasy generous",
    ),
    "garden": _theme(
        "rose tulip compost orchard seedling hedge lawn pruning bulb trellis greenhouse slug soil beetroot"
        " lavender mulch bee watering-can dahlia apple quince perennial pollinator trowel frost herb fern marrow"
        " cutting clematis nettle wheelbarrow blossom rootstock pond hawthorn",
        "planted pruned watered sowed harvested grafted weeded transplanted mulched trimmed potted dug thinned bottled",
        "fragrant hardy overgrown dormant shaded early leafy damp sunny tender wild evergreen ripe fertile",
    ),
}

FIRST_NAMES = _words(
    "Ada Bruno Clara Dario Elena Felix Greta Hugo Irene Jonas Karin Leo Mira Nils Olga Pavel Quinn Rosa Stefan"
    " Tilda Ugo Vera Walter Xenia Yara Zoltan Amira Boris Celeste Dmitri Edith Farid Gemma Harald"
)
LAST_NAMES = _words(
    "Abel Brandt Castell Dorne Eckhart Falk Granger Holm Ivers Jansen Kessler Lindqvist Moreau Novak Ostrow"
    " Pelling Quist Renner Sandoval Thorne Ulrich Varga Winther Yates Zeller Ashdown Bellamy Corwin Draper Ellery"
    " Fenwick Garrow Hadley Ingram Jessop Kirkby Larkin Marlowe"
)
PLACE_STARTS = _words("Ash Bel Carr Dun Elm Fair Glen Har Ing Kel Lang Mar Nor Oak Pen Red Stan Thorn Ul West")
PLACE_ENDS = _words("bridge mouth field haven ford stead wick burgh minster dale holm port gate cliffe moor")
BODIES = _words("Council Group Institute Union Agency Trust Commission Society Partners Federation Board Works")


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
    """The vocabulary of a section; an unknown name gets one of the known themes."""
    return THEMES.get(section) or list(THEMES.values())[zlib.crc32(section.encode()) % len(THEMES)]


def slug(text: str) -> str:
    """The text in the form used in URLs."""
    return _NOT_IN_SLUGS.sub("-", text.lower()).strip("-")


def topics_of(seed: int, section: str, count: int, first: int) -> list[NewsTopic]:
    """The topics of a section name, numbered from `first`."""
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


def _minute(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%H:%M on %-d %B %Y")


class NewsWriter:
    """Writes every text of a newsroom; the same article and version always give the same text."""

    def __init__(self, seed: int, topics: Sequence[NewsTopic]) -> None:
        self.seed, self.topics = seed, topics

    def headline(self, article: Article, title_version: int = 0) -> str:
        """The headline that change number `title_version` introduced; 0 is the first."""
        topic = self.topics[article.topic]
        if title_version:
            return _headline(topic, self._of(f"change {article.number} {title_version}"))
        return ("Live: " if article.live else "") + _headline(topic, self._of(f"article {_source(article)}"))

    def authors(self, section: str) -> list[str]:
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


def _edited(
    paragraphs: tuple[tuple[str, ...], ...], topic: NewsTopic, u: Iterator[float]
) -> tuple[tuple[str, ...], ...]:
    """The paragraphs with one sentence rewritten."""
    where = int(next(u) * len(paragraphs))
    sentences = list(paragraphs[where])
    sentences[int(next(u) * len(sentences))] = _sentence(topic, u)
    return (*paragraphs[:where], tuple(sentences), *paragraphs[where + 1 :])
