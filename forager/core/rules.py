"""The settings as the kernels of a step see them. The parameters that each forager has of its own are in its `Walker`."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np

from forager.core.parameters import ForagerSettings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ForagerRules:
    """The settings that the kernels of a step need, mostly under the same names."""

    max_age: float
    lists_too: bool
    all_links: bool
    """Whether a step also visits all pages that its page links to."""
    by_profit: bool
    """Whether open links are ordered by long-term profit, not by promise."""
    harvest: bool
    start_list: int
    """Start from this many of the best entries of the weblog; 0: from all of it."""
    start_draw: bool
    """Whether to start from a random page, not the best, if there is no start list."""
    start_others: int
    """Number of known lists, and of other known pages, to start from besides the weblog."""
    start_size: int
    penalties: bool
    texts: bool
    pays_revealer: bool
    profit_scale: float
    arrivals: bool
    """Whether long-term profit is learned from first visits of pages, not from the moves of a path."""
    shaped: bool
    """Whether the shape of its address belongs to the state of a page."""
    normalised: bool
    reward: float
    penalty: float
    relative: bool
    score_relevant: float
    score_sent: float
    multiply_at: float
    delete_below: float
    score_keep: float
    """The share of a forager's latest downloads that still counts after one more document of the fleet."""
    least: int
    most: int
    usual_size: int
    beyond_chance: float
    first_score: float
    """Score at birth."""
    mutation: float
    split_rl: bool
    weights_spread: float
    """The first weights of long-term profit are drawn evenly from minus to plus this."""


def forager_rules(walk: ForagerSettings) -> dict[str, Any]:
    """The rules that come from the settings of foragers; the agent adds its own."""
    return {
        "max_age": walk.max_age,
        "lists_too": walk.hubs,
        "all_links": walk.links == "all",
        "by_profit": walk.order == "profit",
        "harvest": walk.harvest,
        "start_list": walk.weblog.start_size if walk.start.by == "list" else 0,
        "start_draw": walk.start.by == "draw",
        "start_others": walk.start.others,
        "start_size": min(walk.weblog.start_size, walk.weblog.size),
        "penalties": walk.weblog.penalties,
        "texts": walk.weblog.texts,
        "pays_revealer": walk.credit == "revealer",
        "profit_scale": walk.expectation.profit_scale,
        "arrivals": walk.profit.learn == "arrivals",
        "shaped": walk.states.shape,
        "normalised": walk.profit.normalised,
        "split_rl": walk.weblog.split_rl,
        "weights_spread": walk.profit.spread,
    }


class Figures(Generic[T]):
    """A dataclass of figures, and the same as a table of one row that kernels read and change."""

    def __init__(self, of: type[Any]) -> None:
        names = [one.name for one in fields(of)]
        kinds: dict[object, type[np.generic]] = {float: np.float64, int: np.int64, bool: np.bool_}
        self._names = names
        self._values: Callable[[T], tuple[object, ...]] = attrgetter(*names)
        self.row = np.zeros(1, dtype=[(one.name, kinds[one.type]) for one in fields(of)])

    def write(self, figures: T) -> None:
        self.row[0] = self._values(figures)

    def read(self, figures: T) -> None:
        for name, value in zip(self._names, self.row.item(), strict=True):
            setattr(figures, name, value)
