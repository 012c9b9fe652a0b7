"""The settings of the reinforcing agent and of the focus."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from forager.core.parameters import Identity
from forager.units import Count, Duration, Share


@dataclass(frozen=True, slots=True)
class RelevancySettings:
    """What the reinforcing agent rewards."""

    identity: Identity = "story"
    """What makes a document new: `version` (reconstructed for the paper), `url`, `text`, or `story`: both new (ours)."""
    reward: Annotated[float, Field(gt=0)] = 100.0
    """Sent to a forager for a relevant document (reconstructed)."""
    penalty: Annotated[float, Field(le=0)] = -1.0
    """Sent for any other document; the sign is stated, the value reconstructed."""


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """The economy of the fleet."""

    initial: float = 100.0
    """The score of a new forager, and of parent and child after multiplication (reconstructed)."""
    sent: Annotated[float, Field(ge=0)] = 0.05
    """Taken for every document sent, relevant or not (reconstructed)."""
    relevant: Annotated[float, Field(gt=0)] = 1.0
    """Given for a relevant one (reconstructed)."""
    multiply_at: float = 200.0
    """A forager that reaches this score multiplies (reconstructed)."""
    delete_below: float = 0.0
    """A forager whose score falls below this is deleted (reconstructed)."""
    relative: bool = False
    """Count documents against what the whole fleet finds with as many downloads, and let a good forager take the place
    of the poorest when the fleet is full. Ours, off: with the paper's rule nobody is ever deleted, but relative scores
    gained nothing in replays and hurt on list pages."""
    relative_gain: Annotated[float, Field(gt=0)] = 20.0
    """Documents above the fleet's mean at which a forager multiplies, and below it at which it is deleted (ours)."""


@dataclass(frozen=True, slots=True)
class PopulationSettings:
    """How many foragers there may be. A fixed fleet has all three equal."""

    first: Count = 2
    """Foragers at the start (stated)."""
    least: Count = 2
    """No forager is deleted when there are only so many (stated)."""
    most: Count = 16
    """No forager multiplies when there are so many (stated)."""
    starts: Annotated[int, Field(ge=0)] = 10
    """A child whose half of the weblog holds fewer pages gets the best of the link graph on top, lists and pages nobody
    has visited, if `crawl.ordering` is `rw-eg` or `mixed`; 0: none, as in the paper (ours)."""


@dataclass(frozen=True, slots=True)
class ReinforcingSettings:
    """The reinforcing agent."""

    slice: Duration = 180.0
    """How long a forager works before the next one has its turn, where they take turns (stated: 3 min)."""
    relevancy: RelevancySettings = field(default_factory=RelevancySettings)
    """What is rewarded."""
    scores: ScoreSettings = field(default_factory=ScoreSettings)
    """What it does to scores."""
    population: PopulationSettings = field(default_factory=PopulationSettings)
    """How many foragers there may be."""


PAPER_AGENT: Mapping[str, object] = {"relevancy.identity": "version"}
"""The values of `ReinforcingSettings` that make the paper's mode, by dotted name; all others stay."""


@dataclass(frozen=True, slots=True)
class FocusSettings:
    """The topic of the crawl; without query and examples every topic will do."""

    query: str = ""
    """Words of the topic, in any order (ours)."""
    examples: str = ""
    """Documents of the topic: a folder of .txt and .html files, or JSON lines with a `text` (ours)."""
    threshold: Share = 0.5
    """How sure the classifier must be, or the share of the query's words a document must have (ours)."""
    background: Count = 400
    """Documents of the crawl that examples are compared with at most (ours)."""

    @property
    def wanted(self) -> bool:
        return bool(self.query.strip() or self.examples)
