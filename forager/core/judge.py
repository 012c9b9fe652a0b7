"""Is a document new, young and on topic (Alg 7)? And who multiplies, who is deleted (Alg 8)?

Documents have numbers here; whoever sends them says which. One may be known by two: its address and its text.
"""

from typing import NamedTuple, Protocol

from forager.compiling import inner
from forager.core.fleet import BFS, FleetState, Tally, Walker
from forager.core.pace import PaceRow, aged
from forager.core.parameters import Identity
from forager.core.rules import BoolArray, ForagerRules, IntArray
from forager.core.updates import Mind, note_signal, record_credit

SENT, RELEVANT = 1, 2
"""What became of a document: it was sent; it was accepted."""
STAYS, MULTIPLIES, REPLACES, GOES = range(4)
"""What becomes of a forager after its turn. REPLACES: it multiplies, and the poorest other one makes room."""


Key = tuple[int, int]
"""By what a document is known: the kind of that, and which one."""


def known_by(identity: Identity, url: int, version: int, text_print: int) -> tuple[Key, ...]:
    """By what a document is known: it is new if none of these is. Kinds of identity never collide."""
    by_url, by_text, by_version = (0, url), (1, text_print), (2, version)
    if identity == "url" or (identity == "story" and not text_print):
        return (by_url,)
    if identity == "story":
        return (by_url, by_text)
    if identity == "text" and text_print:
        return (by_text,)
    return (by_version,) if version >= 0 else (by_url,)


class Numbers(Protocol):
    """Gives documents their numbers."""

    def __len__(self) -> int:
        """All numbers given so far are below this."""

    def of(self, url: int, version: int, text_print: int) -> tuple[int, int]:
        """The numbers of a document; the second is -1 if it has one."""


class KeyNumbers:
    """Numbers for whatever documents are known by, given as they come."""

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
        """The keys whose numbers have a flag, rising."""
        return sorted(key for key, number in self.given.items() if flags[number])


class Seen(NamedTuple):
    """A document, as a visit shows it."""

    url: int
    published: float
    """nan for a page without date, which is no document."""
    hub: bool
    topical: bool
    """It is on the topic of the crawl, or every topic will do."""
    sent_as: int
    sent_as_too: int
    """The numbers by which a forager remembers that it has sent it; -1 for none, as …"""
    known_as: int
    known_as_too: int
    """… those by which the agent remembers that it was accepted."""


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
    """Whether a page may be sent: it is young, and no list unless these count too."""
    return now - seen.published <= rules.max_age and (rules.lists_too or not seen.hub)


@inner
def is_unsent(fleet: FleetState, slot: int, seen: Seen) -> bool:
    """Whether a forager has not sent a document; from now on it has."""
    flags = fleet.sent[slot]
    if _holds(flags, seen.sent_as, seen.sent_as_too):
        return False
    _keep(flags, seen.sent_as, seen.sent_as_too)
    return True


@inner
def judge(
    rules: ForagerRules, mind: Mind, fleet: FleetState, seen: Seen, revealer: int, links: IntArray, now: float
) -> int:
    """Judge a young document that was sent; if nobody had found it, it pays the page that revealed it.

    `links` are those of the page that was visited for it: its neighbours may have news, too.
    """
    if not seen.topical or _holds(fleet.accepted, seen.known_as, seen.known_as_too):
        return SENT
    _keep(fleet.accepted, seen.known_as, seen.known_as_too)
    pace: PaceRow = mind.pace[0]
    pace.hits += 1
    if revealer >= 0 and record_credit(mind, seen.url, revealer):
        pace.age = aged(pace.age, now - seen.published)
    note_signal(mind.table, links, now)
    return SENT | RELEVANT


@inner
def count_judged(rules: ForagerRules, fleet: FleetState, slot: int, relevant: bool) -> None:
    """A document of this forager was judged: what it does to its score."""
    me: Walker = fleet.walkers[slot]
    tally: Tally = fleet.tally[0]
    me.sent += 1
    me.relevant += relevant
    tally.relevant += relevant
    me.score += 1.0 * relevant if rules.relative else rules.score_relevant * relevant - rules.score_sent


@inner
def count_work(rules: ForagerRules, fleet: FleetState, slot: int, downloads: int) -> None:
    """This forager has downloaded so many pages; shared copies are not work."""
    me: Walker = fleet.walkers[slot]
    tally: Tally = fleet.tally[0]
    me.downloads += downloads
    tally.worked += downloads
    if rules.relative:
        me.score -= downloads * tally.relevant / max(1, tally.worked)


@inner
def fate_of(rules: ForagerRules, alive: int, me: Walker) -> int:
    """What the score of a forager means when so many are alive. The baseline always stays as it is."""
    if me.kind == BFS:
        return STAYS
    if me.score >= rules.multiply_at:
        if alive < rules.most:
            return MULTIPLIES
        return REPLACES if rules.relative and alive > 1 else STAYS
    return GOES if me.score < rules.delete_below and alive > rules.least else STAYS
