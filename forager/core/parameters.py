"""The settings of a forager. Every reconstructed choice and every change against the paper is one of them.

The defaults are the changed fleet that replays of recorded sites recommend; `PAPER` is what to change for the paper's
mode. Coverage figures are of one such replay at equal budgets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from forager.units import Count, Duration, Share

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Identity = Literal["story", "version", "url", "text"]


class ForagerKind(StrEnum):
    """Which of its two memories a forager updates."""

    WL = "WL"  # the weblog; long-term profit stays as it was drawn
    RL = "RL"  # long-term profit; the start list is the first pages it saw
    WLRL = "WLRL"  # both
    BFS = "BFS"  # neither: breadth first from the seeds, again and again; the baseline

    @property
    def keeps_weblog(self) -> bool:
        return self in (ForagerKind.WL, ForagerKind.WLRL)

    @property
    def learns_profit(self) -> bool:
        return self in (ForagerKind.RL, ForagerKind.WLRL)


@dataclass(frozen=True, slots=True)
class WeblogSettings:
    """How a forager remembers good places to start from."""

    size: Count = 100
    """Entries kept (reconstructed)."""
    start_size: Count = 10
    """Best entries that make the start list (stated)."""
    step: Share = 0.3
    """β: how far a known entry moves towards what its latest path earned (stated)."""
    penalties: bool = True
    """Penalties lower the sums of a path, not only rewards raise them (reconstructed)."""
    texts: bool = False
    """Pages that never bring news again, such as articles, may be entries. The paper's mode: true. Ours: false,
    because a weblog full of articles starves the fleet (coverage .285 instead of .872)."""
    split_rl: bool = False
    """Multiplication splits the weblog of RL foragers too; else parent and child keep all of it. The paper says that
    they all had the same weblog, and splitting would shrink it to nothing (reconstructed)."""


@dataclass(frozen=True, slots=True)
class StartSettings:
    """How a forager picks the first page of a path."""

    by: Literal["list", "draw", "best"] = "best"
    """`list`: evenly from the start list (stated by the paper). `draw`: from the whole weblog, weighted by (value + 1)
    × chance of news. `best`: the page of the weblog that promises most new documents now (ours). The value says who
    is in the weblog, and decides between equals; as a factor it led to the same few lists again and again (coverage of
    section pages .17 instead of .89)."""
    explore: Share = 0.05
    """Share of starts drawn evenly from all known list pages instead (ours; the paper: 0)."""


@dataclass(frozen=True, slots=True)
class LeavingSettings:
    """When a forager leaves its path. All of it is ours; in the paper only the number of steps ends a path."""

    below: Annotated[float, Field(ge=0)] = 1.0
    """Leave when the best open link is worth less than this many times the fleet's mean of hits per download; 0: never.
    (Coverage .58 with, .49 without it at equal budget.)"""
    memory: Count = 500
    """Downloads over which that mean is taken."""


@dataclass(frozen=True, slots=True)
class ExpectationSettings:
    """How the worth of a download is foretold. All values are ours; the paper orders by long-term profit alone."""

    hub_rate: Positive = 0.5
    """Documents per hour expected of a list page before any was watched."""
    text_rate: Positive = 0.01
    """News per hour expected of a single text before any was watched."""
    fresh_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Share of fresh links expected to be new documents before any was followed."""
    backlog_worth: Positive = 0.5
    """What links met on the first visit of a page are expected to bring before any was followed."""
    backlog_memory: Count = 200
    """Visits over which the worth of each sort of backlog, the share of lists in it, and what a list brings in a visit are
    averaged: backlog becomes worth less as a site becomes known."""
    list_share: Share = 0.01
    """Share of the links met on the first visit of a page that are expected to lead to lists before any was followed. A list
    never seen is worth what a look at a list brings, at first `hub_rate` × `max_age`. Without that, section pages were
    found so slowly that the first eight days at 6 downloads an hour covered .64 instead of .88; more (.1) made a Newsroom
    wait for its news while old articles were tried."""
    prior_hours: Positive = 10.0
    """Hours of watching after which a page's own rate weighs as much as the mean of its kind, at least; it becomes more
    where the pages of a kind turn out to be alike. Tuned on newsrooms: 5 found stories sooner there with fewer requests
    than 24, but lost lasting texts on pages that change."""
    prior_links: Positive = 5.0
    """Links followed after which a page's own share weighs as much as the mean."""
    prior_weight: Positive = 10.0
    """How many pages of that many hours, or links, the first guesses of the means weigh."""
    breadth: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Lists of links are ordered by worth × (mean rate / own rate) ^ breadth. 0 looks where most new documents are, ½ makes
    the summed delay least if lists were independent, 1 looks at all in turn. In replays ¼ found more than 0 on section
    pages unless downloads were very few, and as much on the Newsroom."""
    text_breadth: Annotated[float, Field(ge=0, le=1)] = 0.12
    """The same for single texts. A few tickers write most texts, and none of them lasts: with more breadth more of the
    lasting texts are found, and fewer of all."""
    fresh_first: Annotated[float, Field(ge=1)] = 10.0
    """How many times as much a fresh link counts in the ordering; 1 lets it compete with list pages evenly."""
    lift_most: Annotated[float, Field(ge=1)] = 3.0
    """The lift is clipped to between one over this and this; 1 switches it off."""
    lift_memory: Count = 1000
    """Visits with a signal over which the lift is averaged."""
    retry_after: Duration = 3600.0
    """A page never seen that somebody went for, but nobody brought back, is worth nothing for so long."""
    profit_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Long-term profit of kinds that learn it, or the link graph if `crawl.ordering` says so, moves the worth of never
    visited pages by up to this share; 0 leaves profit to break ties."""
    profit_scale: Positive = 100.0
    """Long-term profit that counts as large: about one reward."""


@dataclass(frozen=True, slots=True)
class ProfitSettings:
    """How long-term profit is learned."""

    discount: Share = 0.9
    """γ: what the profit of the next page is worth now (reconstructed; the paper only implies a value below 1)."""
    rate: Annotated[float, Field(gt=0, le=1)] = 0.1
    """α: learning rate (reconstructed)."""
    normalised: bool = False
    """Divide the learning rate by max(1, ‖s‖²): safe with any states (ours; the paper's step is not normalised)."""
    spread: Annotated[float, Field(ge=0)] = 1.0
    """First weights are drawn evenly from −spread to +spread (the paper says random; the spread is reconstructed)."""


@dataclass(frozen=True, slots=True)
class StateSettings:
    """How a text becomes a state."""

    dimension: Count = 50
    """K: text clusters, and so components of a state (stated)."""
    scale: Annotated[float, Field(gt=0)] = 10.0
    """c in tanh(c·(P − 1/(K+1))) (reconstructed; with 51 and more, learning blows up)."""
    vocabulary: Count = 30_000
    """Words kept at most, those in most texts first (ours)."""
    least_texts: Count = 2
    """Texts a word must stand in to be kept (ours)."""
    weighting: Literal["tfidf", "counts"] = "tfidf"
    """What is clustered: words by TF-IDF, or plain counts. The paper does not say, and PDDP takes either; with counts
    the commonest words decide (purity on 20 Newsgroups .21 against .42, on Reuters-21578 .66 against .75)."""
    train_pages: Count = 2000
    """Pages of the crawl after which clusters are learned, if no file is given (ours). They are read again from the
    store: with visits.keep_text off, states stay hashed words."""
    file: str = ""
    """States learned before by `forager learn states`, to be used from the first page on; empty for none (ours)."""
    link_words: Annotated[float, Field(gt=0)] = 5.0
    """Known words in anchor and URL at which they weigh as much as the linking page when a page not yet seen is
    estimated (ours)."""


@dataclass(frozen=True, slots=True)
class ForagerSettings:
    """How a forager walks."""

    kind: ForagerKind = ForagerKind.WL
    """WL, RL, WLRL (stated) or BFS, the baseline. Ours: WL; learning profit gave nothing in the changed fleet."""
    links: Literal["one", "all"] = "one"
    """Pages per step: `one`, or the page and `all` pages linked from it as in the paper. Ours: one, because the paper's
    next step lands on a page just seen, and most requests are repeats (coverage .58 against .21)."""
    order: Literal["expectation", "profit"] = "expectation"
    """Open links by expected new documents (ours) or by long-term profit (the paper), which knows where, never when."""
    max_step: Count = 10
    """Steps of a path (the paper: 100, reconstructed; short paths keep to what pays)."""
    harvest: bool = True
    """A path goes on after `max_step` while its best link is a fresh one: they would be lost (ours)."""
    max_age: Duration = 86400.0
    """Documents older than this are no news: they are neither sent nor rewarded, and a page not looked at for longer
    promises no more (stated: 24 h)."""
    identity: Identity = "story"
    """What makes a document new: its page `version` (reconstructed for the paper), its `url`, its main `text`, or both of
    these (`story`, ours: neither a corrected article nor the same text at another address is told again)."""
    hubs: bool = False
    """Lists of links count as documents too (the paper knows no difference: true; ours: false)."""
    credit: Literal["revealer", "visit"] = "revealer"
    """Which step is paid for a document: the one that showed the link (ours) or the one that sent it (the paper)."""
    weblog: WeblogSettings = field(default_factory=WeblogSettings)
    """Where good paths started."""
    start: StartSettings = field(default_factory=StartSettings)
    """Where a path starts."""
    leaving: LeavingSettings = field(default_factory=LeavingSettings)
    """When it ends."""
    expectation: ExpectationSettings = field(default_factory=ExpectationSettings)
    """What a download is worth."""
    profit: ProfitSettings = field(default_factory=ProfitSettings)
    """How long-term profit is learned."""
    states: StateSettings = field(default_factory=StateSettings)
    """How a text becomes a state."""

    @property
    def wants_states(self) -> bool:
        """Whether anybody asks for states: who learns long-term profit, or orders links by it."""
        return self.kind is not ForagerKind.BFS and (self.kind.learns_profit or self.order == "profit")


PAPER_FORAGER: Mapping[str, object] = {
    "links": "all",
    "order": "profit",
    "max_step": 100,
    "harvest": False,
    "identity": "version",
    "hubs": True,
    "credit": "visit",
    "weblog.texts": True,
    "start.by": "list",
    "start.explore": 0.0,
    "leaving.below": 0.0,
}
"""The values of `ForagerSettings` that make the paper's mode, by dotted name; all others stay."""
