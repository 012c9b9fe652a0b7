"""Documents that are read off the lists that link them: on tapes whose documents are links, nothing else is downloaded."""

from forager.foragers.shared import Shared
from forager.foragers.sighting import Reinforcement, Sighting
from forager.reinforcing.agent import ReinforcingAgent
from forager.world.tape.player import TapeWorld


def read_off(page: Sighting, world: TapeWorld, shared: Shared, *, first: bool, since: float) -> list[Sighting]:
    """The documents dated at `since` or later that a page just downloaded shows and nobody had read, as copies.

    All that it shows counts as visited. `first`: the page was visited for the first time.
    """
    shown, new = world.shown(page.version, page.when)
    shared.visits.shown(page.url, page.when, shown, first=first)
    return world.shown_copies(shown[new], page.when, since)


def judge_shown(page: Sighting, copies: list[Sighting], agent: ReinforcingAgent, shared: Shared) -> list[Reinforcement]:
    """Judge, in nobody's name, what a page shows; what is accepted pays the page that showed it first."""
    judged = [agent.judge(one, shared.visits.revealer(one.url), page.links, page.when, shared) for one in copies]
    return [one for each in judged for one in each]
