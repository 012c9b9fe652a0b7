"""The settings, as the kernels of a step see them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from forager.core.parameters import ForagerSettings

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ForagerRules:
    """What the settings say, as the kernels of a step need it; most names are those of the settings."""

    max_age: float
    lists_too: bool
    all_links: bool
    """A step visits all pages that its page links to, too."""
    by_profit: bool
    """Open links are ordered by long-term profit, not by expected documents."""
    max_step: int
    harvest: bool
    below: float
    start_explore: float
    start_list: int
    """Start from the best so many of the weblog; 0: from all of it."""
    start_draw: bool
    """Start by lot, not from the best; without a start list."""
    start_size: int
    weblog_step: float
    penalties: bool
    texts: bool
    pays_revealer: bool
    profit_weight: float
    profit_scale: float
    rate: float
    discount: float
    normalised: bool
    reward: float
    penalty: float
    relative: bool
    score_relevant: float
    score_sent: float
    multiply_at: float
    delete_below: float
    least: int
    most: int


def forager_rules(walk: ForagerSettings) -> dict[str, Any]:
    """The rules that the settings of foragers make; those of the agent come on top."""
    return {
        "max_age": walk.max_age,
        "lists_too": walk.hubs,
        "all_links": walk.links == "all",
        "by_profit": walk.order == "profit",
        "max_step": walk.max_step,
        "harvest": walk.harvest,
        "below": walk.leaving.below,
        "start_explore": walk.start.explore,
        "start_list": walk.weblog.start_size if walk.start.by == "list" else 0,
        "start_draw": walk.start.by == "draw",
        "start_size": walk.weblog.start_size,
        "weblog_step": walk.weblog.step,
        "penalties": walk.weblog.penalties,
        "texts": walk.weblog.texts,
        "pays_revealer": walk.credit == "revealer",
        "profit_weight": walk.expectation.profit_weight,
        "profit_scale": walk.expectation.profit_scale,
        "rate": walk.profit.rate,
        "discount": walk.profit.discount,
        "normalised": walk.profit.normalised,
    }


class Figures(Generic[T]):
    """A dataclass of figures, and its twin: a table of one row that kernels read and change."""

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
