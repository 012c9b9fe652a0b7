"""Looking at pages without a forager: the visits of the recrawl cycle and of the breadth-first sweep.

What they find is judged by the same agent, and what they learn is shared with the fleet.
"""

from forager.engine.step import Taken
from forager.foragers.shared import Shared
from forager.foragers.sighting import Finding, Sighting
from forager.reinforcing.agent import ReinforcingAgent
from forager.terms import NOBODY, ForagerId


def judge_sighting(
    sighting: Sighting, agent: ReinforcingAgent, shared: Shared, now: float, by: ForagerId = NOBODY
) -> Taken:
    """Take in one visit: its document, if it shows one, is sent to the agent, and pays the page that revealed it."""
    first = shared.note(sighting)
    reinforcements = agent.judge([_finding(sighting, first, shared, by)], now) if _sends(sighting, agent, now) else []
    for reinforcement in reinforcements:
        if reinforcement.relevant:
            shared.pace.hit()
            shared.credit(reinforcement.finding, sighting.links, now)
    shared.pace.downloaded(not sighting.free)
    return Taken([sighting], reinforcements)


def _sends(sighting: Sighting, agent: ReinforcingAgent, now: float) -> bool:
    young = now - sighting.published <= agent.relevancy.max_age  # false without a date
    return sighting.ok and not sighting.free and young and (agent.forager_settings.hubs or not sighting.hub)


def _finding(sighting: Sighting, first: bool, shared: Shared, by: ForagerId) -> Finding:
    return Finding(
        by=by,
        url=sighting.url,
        version=sighting.version,
        text_print=sighting.text_print,
        published=sighting.published,
        sent_in=-1,
        step=-1,
        revealed_by=shared.visits.revealer(sighting.url) if first else sighting.url,
    )
