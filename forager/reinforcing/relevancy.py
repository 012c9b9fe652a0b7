"""Is a received document relevant: new to the agent, young enough, and on topic if there is one? (Alg 7)"""

from collections.abc import Callable

from forager.foragers.forager import known_by
from forager.foragers.sighting import Finding, Reinforcement
from forager.reinforcing.settings import RelevancySettings


class Relevancy:
    """The documents accepted so far; none is ever rewarded twice."""

    def __init__(
        self, settings: RelevancySettings, max_age: float, on_topic: Callable[[Finding], bool] | None = None
    ) -> None:
        self.settings, self.max_age = settings, max_age
        self.on_topic = on_topic
        """The focus of the crawl; None: every topic will do."""
        self.accepted: set[tuple[int, int]] = set()

    def judge(self, finding: Finding, now: float) -> Reinforcement:
        """Reward or penalty; a relevant document is remembered."""
        settings = self.settings
        keys = known_by(settings.identity, finding.url, finding.version, finding.text_print)
        young = now - finding.published <= self.max_age
        relevant = young and self.accepted.isdisjoint(keys) and (self.on_topic is None or self.on_topic(finding))
        if relevant:
            self.accepted.update(keys)
        return Reinforcement(finding, settings.reward if relevant else settings.penalty, relevant)
