"""The settings of a forager. Every reconstructed choice and every change against the paper is one of them.

The defaults are the changed fleet that replays of recorded sites recommend; `PAPER` is what to change for the paper's
mode. Coverage figures are of one such replay at equal budgets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from forager.foragers.expectation import ExpectationSettings
from forager.foragers.leaving import LeavingSettings
from forager.foragers.starts import StartSettings
from forager.foragers.states import StateSettings
from forager.foragers.td import ProfitSettings
from forager.foragers.weblog import WeblogSettings
from forager.units import Count, Duration

Identity = Literal["story", "version", "url", "text"]


class ForagerKind(StrEnum):
    """Which of its two memories a forager updates."""

    WL = "WL"  # the weblog; long-term profit stays as it was drawn
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
class ForagerSettings:
    """How a forager walks."""

    kind: ForagerKind = ForagerKind.WL
    """WL, RL, WLRL (stated) or BFS, the baseline. Ours: WL; learning profit gave nothing in the changed fleet."""
    links: Literal["one", "all"] = "one"
    """Pages per step: `one`, or the page and `all` pages linked from it as in the paper. Ours: one, because the paper's
    next step lands on a page just seen, and most requests are repeats (coverage .58 against .21)."""
    order: Literal["expectation", "profit"] = "expectation"
    """Open links by expected new documents (ours) or by long-term profit (the paper), which knows where, never when."""
    max_step: Count = 10
    """Steps of a path (the paper: 100, reconstructed; short paths keep to what pays)."""
    harvest: bool = True
    """A path goes on after `max_step` while its best link is a fresh one: they would be lost (ours)."""
    max_age: Duration = 86400.0
    """Documents older than this are not sent (stated: 24 h)."""
    identity: Identity = "story"
    """What makes a document new: its page `version` (reconstructed for the paper), its `url`, its main `text`, or both of
    these (`story`, ours: neither a corrected article nor the same text at another address is told again)."""
    hubs: bool = False
    """Lists of links count as documents too (the paper knows no difference: true; ours: false)."""
    credit: Literal["revealer", "visit"] = "revealer"
    """Which step is paid for a document: the one that showed the link (ours) or the one that sent it (the paper)."""
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


PAPER: Mapping[str, object] = {
    "links": "all",
    "order": "profit",
    "max_step": 100,
    "harvest": False,
    "identity": "version",
    "hubs": True,
    "credit": "visit",
    "weblog.texts": True,
    "start.by": "list",
    "start.explore": 0.0,
    "leaving.below": 0.0,
}
"""The values of `ForagerSettings` that make the paper's mode, by dotted name; all others stay."""
