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
    """Maximum number of pages in a weblog (reconstructed). Larger ones reach more pages, smaller ones concentrate on
    the best.
    """
    start_size: Count = 10
    """Number of best pages in the start list; used if `start.by` is `list` (stated)."""
    step: Share = 0.3
    """β: how far the value of a page moves towards what its latest path earned; from 0, never, to 1, at once (stated)."""
    penalties: bool = True
    """Whether penalties lower the value of pages, as rewards raise it (ours; the paper keeps penalties apart: false)."""
    texts: bool = False
    """Whether a weblog may hold pages that never bring news again, such as articles (the paper: true). Ours is false,
    because a weblog full of articles starves the fleet (coverage .285 instead of .872).
    """
    split_rl: bool = False
    """Whether an RL forager splits its weblog when it multiplies; otherwise parent and child keep all of it. The paper
    says that they all had the same weblog, and splitting would shrink it to nothing (reconstructed).
    """


@dataclass(frozen=True, slots=True)
class StartSettings:
    """How a forager chooses the first page of a path."""

    by: Literal["list", "draw", "best"] = "best"
    """`best`: the most promising page of the weblog, its value only breaks ties (ours). `list`: a random page of the
    start list (stated). `draw`: a random page of the weblog, weighted by (value + 1) × probability of news; it led to
    the same few lists again and again (coverage of section pages .17 instead of .89).
    """
    explore: Share = 0.02
    """Share of paths that start at a random known list instead (ours; the paper: 0). Raise it if lists are found but
    never visited.
    """
    others: Annotated[int, Field(ge=0)] = 32
    """Besides the weblog, `best` may choose among this many known pages of any kind, and four times as many known lists
    (ours). Without them a fleet alone never leaves the pages around its seeds if none of them is a list: on recorded
    teletext it made 2,246 of 43,120 downloads and found nothing.
    """


@dataclass(frozen=True, slots=True)
class LeavingSettings:
    """When a forager leaves its path. All of this is ours; in the paper only the number of steps ends a path."""

    below: Annotated[float, Field(ge=0)] = 1.0
    """Leave when the best open link is worth less than this many times the fleet's mean hits per download; 0: never. At
    equal budget coverage was .58 with it and .49 without.
    """
    memory: Count = 500
    """Number of downloads over which this mean is taken."""


@dataclass(frozen=True, slots=True)
class ExpectationSettings:
    """How the worth of a download is estimated. These are first guesses and weights, all ours; `forager tune` can
    search most of them.
    """

    main_rate: Positive = 40.0
    """Documents per hour expected of a seed, and of a feed or sitemap that a seed announces, before any was watched. It
    is high on purpose, because visits correct it soon.
    """
    hub_rate: Positive = 0.5
    """Documents per hour expected of any other list, before one with the same form of address was watched."""
    hub_weight: Positive = 0.5
    """Weight, in documents, of these first guesses. It is small because the rates of lists differ by orders of
    magnitude: a seed that brings nothing is visited again after 37 s, and then at intervals that grow by two fifths.
    """
    place_weight: Positive = 1.0
    """After this many pages with the same form of address their results count as much, for an unvisited page, as those
    of all pages.
    """
    patience: Duration = 16.0
    """A visit to a list counts fully only once its expected documents have waited for this many seconds, all together.
    Raise it to visit busy lists less often.
    """
    text_rate: Positive = 0.01
    """News per hour expected of a text before any was watched."""
    rhythm: bool = True
    """Whether a quiet hour of the week counts less than a busy one, once the crawl has learned which hours those are."""
    fresh_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Share of fresh links expected to be new documents, before any was followed."""
    backlog_worth: Positive = 0.5
    """Documents expected of a link from the first visit of a page, before any such link was followed."""
    backlog_memory: Count = 200
    """Number of visits over which the worth of backlog is averaged, so that it falls as a site becomes known."""
    list_share: Share = 0.01
    """Share of the links from the first visit of a page that are expected to lead to lists, before any was followed.
    With 0, section pages were found so slowly that the first eight days at 6 downloads an hour covered .64 instead of
    .88; with .1, a Newsroom waited for its news while old articles were tried.
    """
    prior_hours: Positive = 10.0
    """After at least this many hours of watching, the rate of a page weighs as much as the mean of its kind. On
    recorded texts a lower value finds more documents, a higher one more of those that last.
    """
    prior_links: Positive = 5.0
    """After this many followed links, the share of new documents of a page counts as much as the mean."""
    prior_weight: Positive = 10.0
    """Weight of the first guesses of the means, in pages of `prior_hours`, or of `prior_links`."""
    breadth: Annotated[float, Field(ge=0, le=1)] = 0.5
    """How lists are ordered: by new documents × K ^ breadth, where K is the delay that a visit saves per document. 0
    prefers the lists with most new documents, 1 those where a visit saves most delay. On a year of section pages ½ was
    better than both.
    """
    text_breadth: Annotated[float, Field(ge=0, le=1)] = 0.12
    """The same for texts. A few tickers write most texts, and none of these lasts: a higher value finds more of the
    lasting texts, but fewer of all.
    """
    fresh_first: Annotated[float, Field(ge=1)] = 30.0
    """Factor by which fresh links come before other pages; with 1 they compete with lists evenly."""
    lift_most: Annotated[float, Field(ge=1)] = 3.0
    """The lift, the factor for pages whose neighbours just had news, stays between 1 / this and this; 1 switches it
    off.
    """
    lift_memory: Count = 1000
    """Number of visits after news of neighbours over which the lift is averaged."""
    retry_after: Duration = 3600.0
    """How long an unvisited page is worth nothing after a request that failed; each further failure doubles it."""
    profit_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Long-term profit and the link graph (see `crawl.ordering`) change the worth of unvisited pages by up to this
    share. With 0 they only break ties.
    """
    profit_scale: Positive = 100.0
    """The long-term profit that counts as large: about one reward."""


@dataclass(frozen=True, slots=True)
class ProfitSettings:
    """How long-term profit is learned."""

    learn: Literal["arrivals", "moves"] = "arrivals"
    """`moves`: the paper's TD(0), from each move of a path. `arrivals` (ours): from the first visit of each page, by
    whichever side of the crawl, so that an unvisited link is worth what following it earns and what its best new link
    promises.
    """
    discount: Share = 0.5
    """γ: the factor for the profit of the next page (the paper: 0.9, reconstructed; it only implies a value below 1)."""
    rate: Annotated[float, Field(gt=0, le=1)] = 0.2
    """α: the learning rate (the paper: 0.1, reconstructed)."""
    normalised: bool = True
    """Whether to divide the learning rate by max(1, ‖s‖²), which is safe with any states (ours; the paper: false)."""
    spread: Annotated[float, Field(ge=0)] = 1.0
    """The first weights are drawn evenly from −spread to +spread (random in the paper; the spread is reconstructed)."""


@dataclass(frozen=True, slots=True)
class StateSettings:
    """How a text becomes a state."""

    dimension: Count = 50
    """K: the number of text clusters, and so of components of a state (stated)."""
    scale: Annotated[float, Field(gt=0)] = 10.0
    """c in tanh(c·(P − 1/(K+1))) (reconstructed; from 51 on, learning diverges)."""
    vocabulary: Count = 30_000
    """Maximum number of words; those in most texts are kept (ours)."""
    least_texts: Count = 2
    """A word must occur in at least this many texts (ours)."""
    weighting: Literal["tfidf", "counts"] = "tfidf"
    """How words are weighted for clustering: `tfidf`, or plain `counts`. The paper does not say. With counts the
    commonest words decide (purity on 20 Newsgroups .21 against .42, on Reuters-21578 .66 against .75).
    """
    train_pages: Count = 2000
    """After this many pages clusters are learned, unless a file is given (ours). The texts are read from the store:
    without `visits.keep_text`, states stay hashed words.
    """
    file: str = ""
    """A file written by `forager learn states`, used from the first page on; empty for none (ours)."""
    shape: bool = True
    """Whether the address of a page is part of its state: site, section, depth, the template of its last part, and
    anchor and place of the link to it (ours; the paper: false). Before a visit, this is what tells an article from an
    imprint.
    """
    link_words: Annotated[float, Field(gt=0)] = 5.0
    """With this many known words in anchor and URL, these weigh as much as the linking page in the state of an
    unvisited page (ours).
    """


@dataclass(frozen=True, slots=True)
class ForagerSettings:
    """How a forager walks."""

    kind: ForagerKind = ForagerKind.WLRL
    """What foragers learn: `WL` good start pages, `RL` long-term profit, `WLRL` both (stated); `BFS` nothing, the
    baseline that sweeps.
    """
    kinds: Mapping[ForagerKind, Count] = field(default_factory=dict)
    """A fleet that begins with several kinds, and how many of each, such as {WLRL: 8, WL: 8} as in the paper's run on
    the web; none: `kind` alone. Children are of the kind of their parent.
    """
    links: Literal["one", "all"] = "one"
    """Pages per step: `one`, or the page and `all` pages linked from it, as in the paper. With all, the next step
    mostly lands on a page just visited (coverage .58 with one, .21 with all).
    """
    order: Literal["expectation", "profit"] = "expectation"
    """How open links are ordered: by `expectation` of new documents (ours), or by long-term `profit` (the paper), which
    knows where to look but not when.
    """
    max_step: Count = 10
    """Maximum number of steps of a path (the paper: 100, reconstructed). Shorter paths keep to what pays."""
    harvest: bool = True
    """Whether a path goes on after `max_step` while its best link is fresh, because that link would be lost otherwise
    (ours).
    """
    max_age: Duration = 86400.0
    """Maximum age of a story (stated: 24 h). Older documents are neither sent nor rewarded, and a page gains no worth
    this long after its last visit.
    """
    identity: Identity = "story"
    """What makes a document new to a forager: its `version` (reconstructed for the paper), its `url`, its main `text`,
    or both of these (`story`, ours: neither a corrected article nor the same text at another address is reported
    again).
    """
    hubs: bool = False
    """Whether lists count as documents too (the paper makes no difference: true; ours: false)."""
    credit: Literal["revealer", "visit"] = "revealer"
    """Which step is rewarded for a document: the `revealer` that showed its link (ours), or the `visit` that sent it
    (the paper).
    """
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
    """What makes a document new to the agent: `version` (reconstructed for the paper), `url`, `text`, or `story`: new
    by both (ours).
    """
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
    """A forager is deleted when its score falls below this (reconstructed)."""
    relative: bool = True
    """Whether scores compare a forager with the rest of the fleet, at equal downloads, and a good one takes the place
    of the poorest when the fleet is full (ours). With the paper's rule (false) every document pays more than it costs,
    and nobody is ever deleted.
    """
    relative_gain: Annotated[float, Field(gt=0)] = 4.0
    """With relative scores: documents above the fleet's mean at which a forager multiplies, and below it at which it is
    deleted (ours).
    """
    beyond_chance: Annotated[float, Field(ge=0)] = 1.0
    """The same must also exceed this many times what chance gives: the root of the documents that the mean would have
    found, times the root of how many a download brings at once (ours).
    """
    memory: Count = 20
    """Number of the fleet's documents over which a download fades from that mean, so that a night is compared with the
    night (ours).
    """


@dataclass(frozen=True, slots=True)
class PopulationSettings:
    """How many foragers there may be. For a fixed fleet, set first, least and most to the same number."""

    first: Count = 2
    """Number of foragers at the start (stated)."""
    least: Count = 2
    """Minimum number of foragers (stated)."""
    most: Count = 16
    """Maximum number of foragers (stated)."""
    usual: Count = 6
    """Number of foragers around which a fleet with relative scores settles: there its downloads cost as much as they
    find. A smaller fleet pays less and multiplies, a larger one pays more and the poor are deleted (ours).
    """
    starts: Annotated[int, Field(ge=0)] = 10
    """If `crawl.ordering` is `rw-eg` or `mixed`: a child whose half of the weblog is smaller than this also gets the
    best pages of the link graph. 0: none, as in the paper (ours).
    """


@dataclass(frozen=True, slots=True)
class ReinforcingSettings:
    """The reinforcing agent."""

    slice: Duration = 180.0
    """How long a forager works before the next one, where foragers take turns (stated: 3 min)."""
    turns: Literal["fixed", "random"] = "fixed"
    """The order of time slices in a round: `fixed` (stated), or `random`, as the paper thinks may be needed on faster
    machines. In a live crawl all foragers work at once.
    """
    relevancy: RelevancySettings = field(default_factory=RelevancySettings)
    """What is rewarded."""
    scores: ScoreSettings = field(default_factory=ScoreSettings)
    """What it does to scores."""
    population: PopulationSettings = field(default_factory=PopulationSettings)
    """How many foragers there may be."""
    mutation: Share = 0.15
    """How far the parameters of a child move from those of its parent, as a share of their value or of a quarter of
    their range: path length, weblog size and step, leaving, exploring, and weight, discount and rate of long-term
    profit. They are also drawn a tenth of the way back to the settings, so that they do not wander off. 0: a child has
    the settings, as in the paper (ours).
    """


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
    """Documents of the topic, separated by spaces: URLs, folders of .txt and .html files, or JSON lines with a `text`
    or `url` each, and `on_topic: false` for what is not meant (ours).
    """
    precision: Share = 0.8
    """The share of the reported stories that should be on topic (ours). Higher values report fewer stories."""
    background: Count = 1000
    """Number of latest documents of the crawl that examples are compared with (ours)."""

    @property
    def wanted(self) -> bool:
        return bool(self.query.strip() or self.examples)
