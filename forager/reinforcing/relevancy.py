"""Is a received document relevant: new to the agent, young enough, and on topic if there is one? (Alg 7)"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from forager.foragers.forager import known_by
from forager.foragers.settings import Identity
from forager.foragers.sighting import Finding, Reinforcement
from forager.units import Duration


@dataclass(frozen=True, slots=True)
class RelevancySettings:
    """What the reinforcing agent rewards."""

    max_age: Duration = 86400.0
    """Documents older than this are not relevant (stated: 24 h)."""
    identity: Identity = "story"
    """What makes a document new: `version` (reconstructed for the paper), `url`, `text`, or `story`: both new (ours)."""
    reward: Annotated[float, Field(gt=0)] = 100.0
    """Sent to a forager for a relevant document (reconstructed)."""
    penalty: Annotated[float, Field(le=0)] = -1.0
    """Sent for any other document; the sign is stated, the value reconstructed."""


class Relevancy:
    """The documents accepted so far; none is ever rewarded twice."""

    def __init__(self, settings: RelevancySettings, on_topic: Callable[[Finding], bool] | None = None) -> None:
        self.settings = settings
        self.on_topic = on_topic
        """The focus of the crawl; None: every topic will do."""
        self.accepted: set[tuple[int, int]] = set()

    def judge(self, finding: Finding, now: float) -> Reinforcement:
        """Reward or penalty; a relevant document is remembered."""
        settings = self.settings
        keys = known_by(settings.identity, finding.url, finding.version, finding.text_print)
        young = now - finding.published <= settings.max_age
        relevant = young and self.accepted.isdisjoint(keys) and (self.on_topic is None or self.on_topic(finding))
        if relevant:
            self.accepted.update(keys)
        return Reinforcement(finding, settings.reward if relevant else settings.penalty, relevant)
