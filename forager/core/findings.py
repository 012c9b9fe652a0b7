"""The types that foragers exchange with the rest of the crawl: steps, sightings, findings, reinforcements."""

from dataclasses import dataclass, field

import numpy as np

from forager.arrays import IntArray
from forager.terms import ForagerId, UrlId

NO_LINKS: IntArray = np.empty(0, dtype=np.int64)

NOWHERE = UrlId(-1)
"""No page."""


@dataclass(frozen=True, slots=True)
class Step:
    """A move of a forager: the page that it wants to visit next."""

    url: UrlId
    links: bool
    """Whether to download the pages linked from it as well, right after it (the paper's step)."""
    worth: float
    """New documents expected of this download; nan if the ordering does not estimate them."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one visit showed of a page."""

    url: UrlId
    when: float
    ok: bool = True
    """Whether there is a page; False if it is gone, refused or failed."""
    version: int = -1
    """Number of the version seen, unique among all pages."""
    text_print: int = 0
    """Fingerprint of the main text; 0 if there is none."""
    published: float = np.nan
    """Date of the version; nan if it has none."""
    links: IntArray = field(default_factory=lambda: NO_LINKS)
    hub: bool = False
    """Whether it is a list of links (a home or section page, a feed), not a text."""
    state_row: int = -1
    """Row of its state in the state matrix; -1: unchanged."""
    free: bool = False
    """Whether this is a copy of another visit, so that nothing was downloaded."""
    gone: bool = False
    """Whether the server said definitely that there is no page, so that it is no use to try again soon."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A document that a forager sends to the reinforcing agent."""

    by: ForagerId
    url: UrlId
    version: int
    text_print: int
    published: float
    revealed_by: UrlId
    """The page whose visit revealed it: the page itself if it was known and changed, -1 for a seed."""


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """What a finding earned."""

    finding: Finding
    amount: float
    relevant: bool
