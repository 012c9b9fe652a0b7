"""Decides whether a document is new, young and on topic (Alg 7), and which foragers multiply or are deleted (Alg 8).

Documents have numbers here, given by the caller. A document may have two: one for its address and one for its text.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np

from forager.arrays import BoolArray, IntArray
from forager.core.exploration import PaceRow, aged
from forager.core.fleet import BFS, FleetState, Tally, Walker
from forager.core.page_row import Mind
from forager.core.parameters import Identity
from forager.core.rules import ForagerRules
from forager.core.updates import note_signal, record_credit
from forager.kernel import compiled, inner

SENT, RELEVANT = 1, 2
"""What became of a document: it was sent; it was accepted."""
STAYS, MULTIPLIES, REPLACES, GOES = range(4)
"""What happens to a forager after its turn. REPLACES: it multiplies, and the poorest other forager is deleted."""

Key = tuple[int, int]
"""The identity of a document: its kind, and the value."""


def known_by(identity: Identity, url: int, version: int, text_print: int) -> tuple[Key, ...]:
    """The identities of a document: it is new if none of them is known. Identities of different kinds never collide."""
    by_url, by_text, by_version = (0, url), (1, text_print), (2, version)
    if identity == "url" or (identity == "story" and not text_print):
        return (by_url,)
    if identity == "story":
        return (by_url, by_text)
    if identity == "text" and text_print:
        return (by_text,)
    return (by_version,) if version >= 0 else (by_url,)


class Rewards(Protocol):
    """The settings of what documents earn: a row of rules in kernels, settings elsewhere."""

    @property
    def reward(self) -> float: ...
    @property
    def penalty(self) -> float: ...


def reward_for(rules: Rewards, became: int) -> float:
    """What a judged document earns."""
    return rules.reward if became & RELEVANT else rules.penalty


reward_by = compiled(reward_for)
"""`reward_for` for kernels."""


class Numbers(Protocol):
    """Gives documents their numbers."""

    def __len__(self) -> int:
        """All numbers given so far are below this."""

    def of(self, url: int, version: int, text_print: int) -> tuple[int, int]:
        """The numbers of a document; the second is -1 if it has only one."""


class KeyNumbers:
    """Numbers identities in the order in which they first occur."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.given: dict[Key, int] = {}

    def __repr__(self) -> str:
        return f"<KeyNumbers of {len(self)} documents by {self.identity}>"

    def __len__(self) -> int:
        return len(self.given)

    def of(self, url: int, version: int, text_print: int) -> tuple[int, int]:
        first, *more = (self.number(key) for key in known_by(self.identity, url, version, text_print))
        return first, more[0] if more else -1

    def number(self, key: Key) -> int:
        return self.given.setdefault(key, len(self.given))

    def marked(self, flags: BoolArray) -> list[Key]:
        """The keys whose numbers have a flag, sorted."""
        return sorted(key for key, number in self.given.items() if flags[number])


class Seen(NamedTuple):
    """A document as a visit shows it."""

    url: int
    published: float
    """nan for a page without date, which is no document."""
    hub: bool
    topical: bool
    """Whether it is on the topic of the crawl; always, if every topic counts."""
    sent_as: int
    sent_as_too: int
    """The numbers under which foragers remember that they have sent it; -1 for none."""
    known_as: int
    known_as_too: int
    """The numbers under which the agent remembers that it was accepted; -1 for none."""


@inner
def _holds(flags: BoolArray, number: int, other: int) -> bool:
    return (number >= 0 and flags[number]) or (other >= 0 and flags[other])


@inner
def _keep(flags: BoolArray, number: int, other: int) -> None:
    if number >= 0:
        flags[number] = True
    if other >= 0:
        flags[other] = True


@inner
def is_document(rules: ForagerRules, seen: Seen, now: float) -> bool:
    """Whether a page may be sent: it is young, and it is a text unless lists count too."""
    return now - seen.published <= rules.max_age and (rules.lists_too or not seen.hub)


@inner
def is_unsent(fleet: FleetState, slot: int, seen: Seen) -> bool:
    """Whether a forager has not sent a document before; marks it as sent."""
    mine, number, other = fleet.walkers[slot].id + 1, seen.sent_as, seen.sent_as_too
    if (number >= 0 and fleet.sent[slot, number] == mine) or (other >= 0 and fleet.sent[slot, other] == mine):
        return False
    if number >= 0:
        fleet.sent[slot, number] = mine
    if other >= 0:
        fleet.sent[slot, other] = mine
    return True


@inner
def judge(
    rules: ForagerRules, mind: Mind, fleet: FleetState, seen: Seen, revealer: int, links: IntArray, now: float
) -> int:
    """Judges a young document that was sent. If it is new, on topic or not, credits the page that revealed it.

    `links` are those of the visited page: they belong to its neighbours, which may have news too.
    """
    if _holds(fleet.accepted, seen.known_as, seen.known_as_too):
        return SENT
    _keep(fleet.accepted, seen.known_as, seen.known_as_too)
    credited = revealer >= 0 and record_credit(mind, seen.url, revealer, seen.published)
    note_signal(mind, links, now)
    if not seen.topical:
        return SENT
    pace: PaceRow = mind.pace[0]
    pace.hits += 1
    if credited:
        pace.age = aged(pace.age, pace.ages, now - seen.published, rules.max_age)
        pace.ages += 1
    return SENT | RELEVANT


@inner
def count_judged(rules: ForagerRules, fleet: FleetState, slot: int, relevant: bool) -> None:
    """Updates the score of a forager after one of its documents was judged."""
    me: Walker = fleet.walkers[slot]
    me.sent += 1
    me.relevant += relevant
    if not rules.relative:
        me.score += rules.score_relevant * relevant - rules.score_sent
    elif relevant:
        me.score += 1.0
        me.batch += 1
        tally: Tally = fleet.tally[0]
        tally.found += 1
        tally.squares += 2 * me.batch - 1  # the difference between two squares in succession
        _share_cost(rules, fleet)


@inner
def _share_cost(rules: ForagerRules, fleet: FleetState) -> None:
    """Divides the cost of a new document among the foragers, by their part of the latest downloads.

    With the usual number of foragers, a document costs the fleet as much as it pays. With fewer it costs less, so that
    they multiply; with more it costs more, so that the poor are deleted. However good or bad the time of day, scores
    compare a forager with the others only.
    """
    alive, all_work = fleet.tally[0].alive, 0.0
    for i in range(alive):
        all_work += fleet.walkers[fleet.order[i]].recent
    if all_work <= 0.0:
        return
    for i in range(alive):
        one: Walker = fleet.walkers[fleet.order[i]]
        part = one.recent / all_work
        one.score -= part * alive / rules.usual_size
        one.expected += part
        one.recent *= rules.score_keep


@inner
def count_work(rules: ForagerRules, fleet: FleetState, slot: int, downloads: int) -> None:
    """Counts downloads of a forager; copies shared with others are no work."""
    me: Walker = fleet.walkers[slot]
    me.downloads += downloads
    me.recent += downloads
    me.batch = 0


@inner
def fate_of(rules: ForagerRules, fleet: FleetState, me: Walker) -> int:
    """What the score of a forager means for it. The baseline always stays as it is.

    A relative score must exceed chance. Downloads that bring documents come at random, so the number of documents
    varies by its root, times the root of how many a download brings at once (the mean of squares over the mean).
    """
    if me.kind == BFS:
        return STAYS
    tally: Tally = fleet.tally[0]
    alive, chance = tally.alive, -np.inf
    if rules.relative:
        chance = rules.beyond_chance * math.sqrt(me.expected * tally.squares / max(1, tally.found))
    if me.score >= max(rules.multiply_at, chance):
        if alive < rules.most:
            return MULTIPLIES
        return REPLACES if rules.relative and alive > 1 else STAYS
    return GOES if me.score < min(rules.delete_below, -chance) and alive > rules.least else STAYS
