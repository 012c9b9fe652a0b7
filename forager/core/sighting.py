"""What travels between a forager and the rest: steps, sightings, findings, reinforcements."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forager.terms import ForagerId, UrlId

NO_LINKS: NDArray[np.int64] = np.empty(0, dtype=np.int64)

NOWHERE = UrlId(-1)
"""No page."""


@dataclass(frozen=True, slots=True)
class Step:
    """One move of a forager: the page it wants to see next."""

    url: UrlId
    links: bool
    """Download the pages linked from it too (the paper's step), right after it."""
    worth: float
    """New documents expected of this download; nan where the ordering does not say."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one visit shows of a page."""

    url: UrlId
    when: float
    ok: bool = True
    """There is a page; False if it is gone, refused or failed."""
    version: int = -1
    """The number of the page version seen; numbers are unique among all pages."""
    text_print: int = 0
    """Fingerprint of the main text; 0 if there is none."""
    published: float = np.nan
    """The date of the version; nan if it has none."""
    links: NDArray[np.int64] = field(default_factory=lambda: NO_LINKS)
    hub: bool = False
    """It is a list of links (a home or section page, a feed), not a text."""
    state_row: int = -1
    """Where its state stands in the state matrix; -1 leaves what is known of it."""
    free: bool = False
    """Somebody else's visit is shared: nothing was downloaded."""
    gone: bool = False
    """The server says for certain that there is no page here: trying again soon is of no use."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A document that a forager sends to the reinforcing agent."""

    by: ForagerId
    url: UrlId
    version: int
    text_print: int
    published: float
    revealed_by: UrlId
    """The page whose visit revealed it: itself if a known page changed; -1 if nobody did (a seed)."""


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """What a finding earned."""

    finding: Finding
    amount: float
    relevant: bool
