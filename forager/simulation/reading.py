"""Documents that are read off the lists that link them: on tapes whose documents are links, nothing else is downloaded."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forager.foragers.shared import Shared
from forager.foragers.sighting import Finding, Reinforcement, Sighting
from forager.reinforcing.agent import ReinforcingAgent
from forager.terms import NOBODY
from forager.world.tape.player import TapeWorld


def read_off(page: Sighting, world: TapeWorld, shared: Shared, *, first: bool, since: float) -> list[Sighting]:
    """The documents dated at `since` or later that a page just downloaded shows and nobody had read, as copies.

    All that it shows counts as visited. `first`: the page was visited for the first time.
    """
    shown, new = _shown(page, world, shared, first)
    return world.shown_copies(shown[new], page.when, since)


def read_off_all(
    pages: Sequence[Sighting], world: TapeWorld, shared: Shared, *, first: Sequence[bool], since: float
) -> list[Sighting]:
    """The same for many pages, but also what somebody else has read: in the paper's mode foragers do not tell each other."""
    copies = []
    for page, new in zip(pages, first, strict=True):
        shown, _ = _shown(page, world, shared, new)
        copies += world.shown_copies(shown, page.when, since)
    return copies


def _shown(
    page: Sighting, world: TapeWorld, shared: Shared, first: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """What a page shows, which counts as visited from now on, and what of it nobody had read."""
    shown, new = world.shown(page.version, page.when)
    shared.visits.shown(page.url, page.when, shown, first=first)
    return shown, new


def judge_shown(page: Sighting, copies: list[Sighting], agent: ReinforcingAgent, shared: Shared) -> list[Reinforcement]:
    """Send to the agent, in nobody's name, what a page shows; what is accepted pays the page that showed it first."""
    findings = [
        Finding(NOBODY, one.url, one.version, one.text_print, one.published, -1, -1, shared.visits.revealer(one.url))
        for one in copies
    ]
    reinforcements = agent.judge(findings, page.when)
    for one in reinforcements:
        if one.relevant:
            shared.pace.hit()
            shared.credit(one.finding, page.links, page.when)
    return reinforcements
