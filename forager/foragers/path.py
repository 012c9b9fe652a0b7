"""A path: a walk from a start page, what each of its steps earned, and the links still open (Alg 10, Alg 11)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled
from forager.foragers.kernels import highest
from forager.terms import UrlId


@compiled
def admitted(links: NDArray[np.int64], met: NDArray[np.int64], path: int, out: NDArray[np.int64], count: int) -> int:
    """Append the links that this path has not met yet; how many are open then."""
    for url in links:
        if met[url] != path:
            met[url] = path
            out[count] = url
            count += 1
    return count


class Path:
    """The walk a forager is on. Before the first `begin` it is over, so that the first step starts a path (Alg 10)."""

    def __init__(self) -> None:
        self.number = 0
        """Counts paths; the first one is 1."""
        self.first_step = 0
        """The id of its first step; the others follow without gaps."""
        self.urls: list[UrlId] = []
        self.earned: list[float] = []
        self.before: list[int] = []
        """For each step the row of the state it came from; -1 for the first."""
        self._met = np.zeros(1024, dtype=np.int64)  # the last path that had this URL among its visited or open pages
        self._open = np.empty(256, dtype=np.int64)
        self._head = self._count = 0

    def __repr__(self) -> str:
        return f"<Path {self.number}: {len(self.urls)} steps, {len(self.open)} open links>"

    @property
    def next_step(self) -> int:
        """The id of the step to come."""
        return self.first_step + len(self.urls)

    @property
    def open(self) -> NDArray[np.int64]:
        """Links that it may follow next, oldest first as long as only the oldest are taken; a view."""
        return self._open[self._head : self._count]

    def begin(self) -> None:
        """Forget the finished path and start a new one: nothing visited, nothing open."""
        self.first_step = self.next_step
        self.number += 1
        self.urls, self.earned, self.before = [], [], []
        self._head = self._count = 0

    @property
    def room(self) -> int:
        """URL numbers on this path are below this."""
        return len(self._met)

    def admit(self, links: NDArray[np.int64]) -> None:
        """Open the links that were neither visited nor open on this path."""
        self._make_room(highest(links) + 1, len(links))
        self._count = admitted(links, self._met, self.number, self._open, self._count)

    def take(self, index: int) -> UrlId:
        """Remove an open link; its index in `open`. The last one takes its place, unless it was the first."""
        place = self._head + index
        url = UrlId(int(self._open[place]))
        if index == 0:
            self._head += 1
        else:
            self._count -= 1
            self._open[place] = self._open[self._count]
        return url

    def go(self, url: UrlId, before: int) -> int:
        """Make a step to a page; the id of the step. `before` is the row of the state that it comes from."""
        self._make_room(url + 1, 0)
        self._met[url] = self.number
        self.urls.append(url)
        self.earned.append(0.0)
        self.before.append(before)
        return self.next_step - 1

    def book(self, step: int, amount: float) -> bool:
        """Note what a step earned; False if the step is not of this path (any more)."""
        index = step - self.first_step
        if not 0 <= index < len(self.earned):
            return False
        self.earned[index] += amount
        return True

    def step_to(self, url: UrlId) -> int | None:
        """The step of this path that visited the page."""
        return self.first_step + self.urls.index(url) if url in self.urls else None

    def restore(
        self,
        number: int,
        first_step: int,
        steps: Sequence[tuple[UrlId, float, int]],
        open_links: NDArray[np.int64],
    ) -> None:
        """Stand where a saved path stood; `steps` are its pages with what each earned and the state it came from."""
        self.number, self.first_step = number, first_step
        self.urls, self.earned, self.before = [], [], []
        self._head = self._count = 0
        for url, earned, before in steps:
            self.go(url, before)
            self.earned[-1] = earned
        self.admit(open_links)

    def _make_room(self, urls: int, links: int) -> None:
        if urls > len(self._met):
            self._met = np.concatenate([self._met, np.zeros(max(urls, len(self._met)), dtype=np.int64)])
        if self._count + links > len(self._open):
            waiting = self.open
            self._open = np.empty(2 * (len(waiting) + links), dtype=np.int64)
            self._open[: len(waiting)] = waiting
            self._head, self._count = 0, len(waiting)
