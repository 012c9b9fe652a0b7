"""The settings of foragers, reinforcing agent and focus. Each choice that the paper leaves open, and each change to the
paper, is one of them.

The defaults are the changed fleet that did best in replays of recorded sites; `PAPER_FORAGER` and `PAPER_AGENT` change
them to the paper's mode. Coverage figures come from one such replay at equal budgets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from forager.units import Count, Duration, Positive, Share

Identity = Literal["story", "version", "url", "text"]
Aim = Literal["balanced", "late", "coverage", "lasting", "freshness"]


class ForagerKind(StrEnum):
    """Which of its two memories a forager updates."""

    WL = "WL"  # the weblog; long-term profit keeps its random first weights
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
    """How a forager remembers good start pages."""

    size: Count = 100
    """Maximum number of entries (reconstructed)."""
    start_size: Count = 10
    """Number of best entries in the start list (stated)."""
    step: Share = 0.3
    """β: how far a known entry moves towards what its latest path earned (stated)."""
    penalties: bool = True
    """Penalties lower the sums of a path, not only rewards raise them (ours; the paper keeps penalties apart: false)."""
    texts: bool = False
    """Whether pages that never bring news again, such as articles, may be entries. The paper's mode: true. Ours: false,
    because a weblog full of articles starves the fleet (coverage .285 instead of .872)."""
    split_rl: bool = False
    """Whether multiplication splits the weblog of RL foragers too; otherwise parent and child keep all of it. The paper
    says that they all had the same weblog, and splitting would shrink it to nothing (reconstructed)."""


@dataclass(frozen=True, slots=True)
class StartSettings:
    """How a forager chooses the first page of a path."""

    by: Literal["list", "draw", "best"] = "best"
    """`list`: at random from the start list (stated by the paper). `draw`: from the whole weblog, weighted by (value +
    1) × chance of news. `best`: the page of the weblog with the most expected new documents now (ours). The value
    decides which pages are in the weblog, and breaks ties; as a factor it led to the same few lists again and again
    (coverage of section pages .17 instead of .89)."""
    explore: Share = 0.02
    """Share of starts drawn at random from all known list pages instead (ours; the paper: 0)."""
    others: Annotated[int, Field(ge=0)] = 32
    """Number of known pages of any kind, evenly spread over all, that `best` may choose besides the weblog, and a quarter of
    the number of known lists that it may (ours). Without them a fleet alone never leaves the few pages around its seeds if
    none is a list: it made 2,246 of 43,120 downloads on recorded teletext, and found nothing."""


@dataclass(frozen=True, slots=True)
class LeavingSettings:
    """When a forager leaves its path. All of this is ours; in the paper only the number of steps ends a path."""

    below: Annotated[float, Field(ge=0)] = 1.0
    """Leave when the best open link is worth less than this many times the fleet's mean hits per download; 0: never.
    (Coverage .58 with, .49 without it at equal budget.)"""
    memory: Count = 500
    """Number of downloads over which that mean is taken."""


@dataclass(frozen=True, slots=True)
class ExpectationSettings:
    """How the worth of a download is estimated. All values are ours; the paper orders by long-term profit alone."""

    main_rate: Positive = 40.0
    """Documents per hour expected of a seed, and of feeds and sitemaps that a seed announces, before any of them was watched;
    then what all others bring. The value is high because it is soon corrected: see `hub_weight`."""
    hub_rate: Positive = 0.5
    """Documents per hour expected of any other list page before one with the same form of address was watched."""
    hub_weight: Positive = 0.5
    """Weight, in documents, of the first guess of a list page, and of what is known of pages with the same form of
    address. Rates differ by orders of magnitude, so it is small: a seed that brings nothing is visited after 37 s, and
    then after times that grow by two fifths."""
    place_weight: Positive = 1.0
    """Number of pages with the same form of address after which their results count as much, for a never-visited page,
    as those of all backlog."""
    patience: Duration = 16.0
    """A visit to a list counts fully only once its expected documents have waited for so many seconds, all together."""
    text_rate: Positive = 0.01
    """News per hour expected of a single text before any was watched."""
    rhythm: bool = True
    """Whether time is counted by the rhythm of the week, as far as it is learned: a quiet hour counts less."""
    fresh_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Share of fresh links expected to be new documents before any was followed."""
    backlog_worth: Positive = 0.5
    """Documents expected of a link from the first visit of a page before any such link was followed."""
    backlog_memory: Count = 200
    """Number of visits over which the worth of each sort of backlog, the share of lists in it, and what a list brings
    in a visit are averaged: backlog becomes worth less as a site becomes known."""
    list_share: Share = 0.01
    """Share of the links from the first visit of a page that are expected to lead to lists before any was followed. A
    never-visited list is worth what a visit to a list brings. Without that, section pages were found so slowly that the
    first eight days at 6 downloads an hour covered .64 instead of .88; with more (.1) a Newsroom waited for its news
    while old articles were tried."""
    prior_hours: Positive = 10.0
    """Hours of watching after which a page's own rate weighs as much as the mean of its kind, at least; it becomes more
    where the pages of a kind turn out to be alike. On recorded texts fewer find more documents, more find more of those
    that last."""
    prior_links: Positive = 5.0
    """Number of followed links after which a page's own share counts as much as the mean."""
    prior_weight: Positive = 10.0
    """Weight of the first guesses of the means, in pages of so many hours (`prior_hours`) or links (`prior_links`)."""
    breadth: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Lists of links are ordered by new documents × K ^ breadth, where K is the delay that a visit saves per document, with
    that of documents that would leave unseen. 0 looks where most new documents are, 1 where a visit saves most. On a
    year of section pages ½ was better than both."""
    text_breadth: Annotated[float, Field(ge=0, le=1)] = 0.12
    """The same for single texts. A few tickers write most texts, and none of them lasts: with more breadth more of the
    lasting texts are found, and fewer of all."""
    fresh_first: Annotated[float, Field(ge=1)] = 30.0
    """How many times as much a fresh link counts in the ordering; 1 lets it compete with list pages evenly."""
    lift_most: Annotated[float, Field(ge=1)] = 3.0
    """The lift is clipped to between one over this and this; 1 switches it off."""
    lift_memory: Count = 1000
    """Number of visits with a signal over which the lift is averaged."""
    retry_after: Duration = 3600.0
    """How long a never-visited page is worth nothing after a request for it; doubled by every failure."""
    profit_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Long-term profit, of kinds that learn it, or the link graph, as `crawl.ordering` says, changes the worth of
    never-visited pages by up to this share; at 0 it only breaks ties."""
    profit_scale: Positive = 100.0
    """Long-term profit that counts as large: about one reward."""


@dataclass(frozen=True, slots=True)
class ProfitSettings:
    """How long-term profit is learned."""

    learn: Literal["arrivals", "moves"] = "arrivals"
    """`moves`: the paper's TD(0), from each move of a path, so that a page is worth what comes after it. `arrivals` (ours):
    from each first look at a page, by the fleet or by the recrawl cycle, so that a link never followed is worth what
    following it earns and what the best of the new links there promises."""
    discount: Share = 0.5
    """γ: what the profit of the next page is worth now (the paper: 0.9, reconstructed; it only implies a value below 1)."""
    rate: Annotated[float, Field(gt=0, le=1)] = 0.2
    """α: learning rate (the paper: 0.1, reconstructed)."""
    normalised: bool = True
    """Divide the learning rate by max(1, ‖s‖²): safe with any states (ours; the paper's step is not normalised: false)."""
    spread: Annotated[float, Field(ge=0)] = 1.0
    """First weights are drawn evenly from −spread to +spread (the paper says random; the spread is reconstructed)."""


@dataclass(frozen=True, slots=True)
class StateSettings:
    """How a text becomes a state."""

    dimension: Count = 50
    """K: number of text clusters, and so of components of a state (stated)."""
    scale: Annotated[float, Field(gt=0)] = 10.0
    """c in tanh(c·(P − 1/(K+1))) (reconstructed; with 51 and more, learning diverges)."""
    vocabulary: Count = 30_000
    """Maximum number of words, those in most texts first (ours)."""
    least_texts: Count = 2
    """Minimum number of texts that contain a word (ours)."""
    weighting: Literal["tfidf", "counts"] = "tfidf"
    """What is clustered: words by TF-IDF, or plain counts. The paper does not say, and PDDP takes either; with counts
    the commonest words decide (purity on 20 Newsgroups .21 against .42, on Reuters-21578 .66 against .75)."""
    train_pages: Count = 2000
    """Number of pages of the crawl after which clusters are learned, if no file is given (ours). Their texts are read
    again from the store: with visits.keep_text off, states stay hashed words."""
    file: str = ""
    """File written by `forager learn states`, used from the first page on; empty for none (ours)."""
    shape: bool = True
    """The shape of a page's address belongs to its state too: site, section, depth, the template of its last part, and the
    anchor and the place of the link where they are known (ours; the paper: false). Without having seen a page, this is
    what tells an article from an imprint."""
    link_words: Annotated[float, Field(gt=0)] = 5.0
    """Known words in anchor and URL at which they weigh as much as the linking page when a page not yet seen is
    estimated (ours)."""


@dataclass(frozen=True, slots=True)
class ForagerSettings:
    """How a forager walks."""

    kind: ForagerKind = ForagerKind.WLRL
    """WL, RL, WLRL (stated) or BFS, the baseline."""
    kinds: Mapping[ForagerKind, Count] = field(default_factory=dict)
    """A fleet that begins with several kinds, and how many of each, such as {WLRL: 8, WL: 8} as in the paper's run on the
    web; none: `kind` alone. Children are of their parent's kind."""
    links: Literal["one", "all"] = "one"
    """Pages per step: `one`, or the page and `all` pages linked from it as in the paper. Ours: one, because the paper's
    next step lands on a page just visited, and most requests are repeats (coverage .58 against .21)."""
    order: Literal["expectation", "profit"] = "expectation"
    """Order of open links: by expected new documents (ours), or by long-term profit (the paper), which knows where to
    look but not when."""
    max_step: Count = 10
    """Maximum number of steps of a path (the paper: 100, reconstructed; short paths keep to what pays)."""
    harvest: bool = True
    """Whether a path continues after `max_step` while its best link is a fresh one, which would be lost (ours)."""
    max_age: Duration = 86400.0
    """Maximum age of a story: older documents are neither sent nor rewarded, and the expected documents of a page stop
    growing this long after its last visit (stated: 24 h)."""
    identity: Identity = "story"
    """What makes a document new: its page `version` (reconstructed for the paper), its `url`, its main `text`, or both
    of these (`story`, ours: neither a corrected article nor the same text at another address is reported again)."""
    hubs: bool = False
    """Whether lists of links count as documents too (the paper makes no difference: true; ours: false)."""
    credit: Literal["revealer", "visit"] = "revealer"
    """Which step is rewarded for a document: the one that showed the link (ours) or the one that sent it (the paper)."""
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
        """Whether states are needed: to learn long-term profit, or to order links by it."""
        if self.kind is ForagerKind.BFS:
            return False
        return self.order == "profit" or any(kind.learns_profit for kind in (self.kinds or [self.kind]))

    @property
    def foresees(self) -> bool:
        """Whether long-term profit tells the recrawl cycle which unvisited links to visit first."""
        return self.wants_states and self.order == "expectation" and self.profit.learn == "arrivals"

    @property
    def label(self) -> str:
        """The kinds of its foragers."""
        return "+".join(kind.value for kind in (self.kinds or [self.kind]))

    @property
    def first_kinds(self) -> list[ForagerKind]:
        """The kinds of the first foragers, one entry each; empty if `kind` alone decides."""
        return [kind for kind, count in self.kinds.items() for _ in range(count)]


class Bounds(NamedTuple):
    """The range of a setting."""

    low: float
    high: float
    log: bool = False
    """The setting changes by factors, not by differences."""
    whole: bool = False


INHERITED: Mapping[str, Bounds] = {
    "max_step": Bounds(2, 200, log=True, whole=True),
    "weblog.size": Bounds(10, 500, log=True, whole=True),
    "weblog.step": Bounds(0.02, 1.0, log=True),
    "start.explore": Bounds(0.0, 0.3),
    "leaving.below": Bounds(0.0, 3.0),
    "expectation.profit_weight": Bounds(0.0, 1.0),
    "profit.discount": Bounds(0.3, 0.99),
    "profit.rate": Bounds(0.003, 0.5, log=True),
}
"""The settings that each forager has of its own and a child inherits; `tune` keeps to the same ranges.

Not `breadth`, because the user decides what a crawl looks for (`crawl.aim`). Foragers that inherited it turned to
tickers and busy lists, which score best, and found lasting texts and the documents of quiet lists later.
"""


_ALL: Mapping[str, float | str] = {"crawl.least_worth": 0.0}  # spend every request that is allowed
_BY_HAND: Mapping[str, float | str] = {**_ALL, "crawl.policy": "worth"}  # functions are learned to find documents soon
AIMS: Mapping[str, Mapping[str, float | str]] = {
    "balanced": {},
    "late": {**_ALL, "forager.expectation.text_breadth": 0.0},
    "coverage": {**_BY_HAND, "forager.expectation.breadth": 1.0, "forager.expectation.text_breadth": 0.0},
    "lasting": {**_BY_HAND, "forager.expectation.breadth": 1.0, "forager.expectation.text_breadth": 0.45},
    "freshness": {**_BY_HAND, "forager.expectation.breadth": 0.0, "forager.expectation.text_breadth": 0.8},
}
"""The settings for each value of `crawl.aim`, by dotted name; chosen on the first halves of recordings."""


PAPER_FORAGER: Mapping[str, object] = {
    "links": "all",
    "order": "profit",
    "max_step": 100,
    "harvest": False,
    "identity": "version",
    "hubs": True,
    "credit": "visit",
    "weblog.texts": True,
    "weblog.penalties": False,
    "start.by": "list",
    "start.explore": 0.0,
    "leaving.below": 0.0,
    "profit.learn": "moves",
    "profit.discount": 0.9,
    "profit.rate": 0.1,
    "profit.normalised": False,
    "states.shape": False,
}
"""The changes to `ForagerSettings` that make the paper's mode, by dotted name."""


@dataclass(frozen=True, slots=True)
class RelevancySettings:
    """What the reinforcing agent rewards."""

    identity: Identity = "story"
    """What makes a document new: `version` (reconstructed for the paper), `url`, `text`, or `story`: both new (ours)."""
    reward: Annotated[float, Field(gt=0)] = 100.0
    """Reward of a forager for a relevant document (reconstructed)."""
    penalty: Annotated[float, Field(le=0)] = -1.0
    """Penalty for any other document; the sign is stated, the value reconstructed."""


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """How foragers gain and lose score."""

    initial: float = 100.0
    """Score of a new forager, and of parent and child after multiplication (reconstructed)."""
    sent: Annotated[float, Field(ge=0)] = 0.05
    """Cost of every document sent, relevant or not (reconstructed)."""
    relevant: Annotated[float, Field(gt=0)] = 1.0
    """Gain for a relevant document (reconstructed)."""
    multiply_at: float = 200.0
    """Score at which a forager multiplies (reconstructed)."""
    delete_below: float = 0.0
    """A forager whose score falls below this is deleted (reconstructed)."""
    relative: bool = True
    """Count documents against what the whole fleet finds with as many downloads (see `population.usual`), and let a good
    forager take the place of the poorest when the fleet is full (ours). With the paper's rule (false) every document pays more
    than it costs, and nobody is ever deleted."""
    relative_gain: Annotated[float, Field(gt=0)] = 4.0
    """Documents above the fleet's mean at which a forager multiplies, and below it at which it is deleted (ours)."""
    beyond_chance: Annotated[float, Field(ge=0)] = 1.0
    """The same must be so many times what chance gives: the root of the documents that the mean would have found, times that
    of how many a download brings at once (ours)."""
    memory: Count = 20
    """Documents of the fleet over which a download fades from that mean, so that a night is measured against the night
    (ours)."""


@dataclass(frozen=True, slots=True)
class PopulationSettings:
    """How many foragers there may be. For a fixed fleet, set first, least and most to the same number."""

    first: Count = 2
    """Number of foragers at the start (stated)."""
    least: Count = 2
    """Minimum number of foragers: no deletions below it (stated)."""
    most: Count = 16
    """Maximum number of foragers: no multiplication beyond it (stated)."""
    usual: Count = 6
    """Number of foragers about which the fleet settles with relative scores: then its downloads cost what they find; fewer pay
    less and multiply, more pay more and the poor are deleted (ours)."""
    starts: Annotated[int, Field(ge=0)] = 10
    """A child whose half of the weblog has fewer pages than this also gets the best pages of the link graph, lists and
    never-visited pages, if `crawl.ordering` is `rw-eg` or `mixed`; 0: none, as in the paper (ours)."""


@dataclass(frozen=True, slots=True)
class ReinforcingSettings:
    """The reinforcing agent."""

    slice: Duration = 180.0
    """How long a forager works before the next one, where they take turns (stated: 3 min)."""
    turns: Literal["fixed", "random"] = "fixed"
    """The order of time slices in a round: always the same (stated), or random, as the paper thinks may be needed on faster
    machines. In a live crawl foragers take no turns, they work at once."""
    relevancy: RelevancySettings = field(default_factory=RelevancySettings)
    """What is rewarded."""
    scores: ScoreSettings = field(default_factory=ScoreSettings)
    """What it does to scores."""
    population: PopulationSettings = field(default_factory=PopulationSettings)
    """How many foragers there may be."""
    mutation: Share = 0.15
    """How far the parameters of a child move from its parent's: path length, weblog size and step, leaving, exploring,
    weight, discount and rate of long-term profit. About this share of a value, or of a quarter of its range;
    they are drawn a tenth of the way back to the settings, so that without selection they do not wander off. 0: a
    child's are the settings', as in the paper (ours)."""


PAPER_AGENT: Mapping[str, object] = {
    "relevancy.identity": "version",
    "scores.relative": False,
    "mutation": 0.0,
}
"""The changes to `ReinforcingSettings` that make the paper's mode, by dotted name."""


@dataclass(frozen=True, slots=True)
class FocusSettings:
    """The topic of the crawl; without query and examples every topic counts."""

    query: str = ""
    """Words of the topic, in any order (ours)."""
    examples: str = ""
    """Documents of the topic: a URL, a folder of .txt and .html files, or JSON lines with a `text` or `url` each, and
    `on_topic: false` for what is not meant; several with spaces between them (ours)."""
    precision: Share = 0.8
    """The share of the stories told that shall be on topic (ours)."""
    background: Count = 1000
    """The latest documents of the crawl that examples are compared with (ours)."""

    @property
    def wanted(self) -> bool:
        return bool(self.query.strip() or self.examples)
