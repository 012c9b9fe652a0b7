"""The recrawl side of a crawl or a replay: chooses the next page, and can explain why.

Pages are ranked by their promise. By default, learned functions then order those that have a history, lists and texts
separately. With another policy, its score function alone ranks the pages that have a history.
"""

from copy import deepcopy

import numpy as np

from forager.arrays import IntArray
from forager.core.candidates import Candidates, Choice
from forager.events import CycleDone, Event, Scheduled
from forager.measures import change_rate, ndcg
from forager.recrawl.cycle import Explanation, explain
from forager.recrawl.history import History
from forager.recrawl.policies import Policy, ScoreFunction


class Scheduler:
    """Takes the links that visits showed with `reveal`; `choose` returns the next page of the recrawl side."""

    def __init__(self, policy: Policy, candidates: Candidates) -> None:
        self.policy, self.candidates = policy, candidates
        self.found: list[bool] = []
        """For each download of the recrawl side in the current cycle, whether it found a change."""
        self._past: tuple[float, list[bool]] | None = None
        self.use(policy)

    def __repr__(self) -> str:
        return f"<Scheduler by {self.policy}, {self.candidates!r}, {self.history!r}>"

    @property
    def history(self) -> History:
        return self.candidates.pages.history

    @property
    def cycle(self) -> float:
        """Length of a cycle in seconds."""
        return float(self.candidates.turn.every)

    @property
    def done(self) -> CycleDone | None:
        """The last complete cycle."""
        if self._past is None:
            return None
        at, found = self._past[0], np.array(self._past[1], dtype=np.bool_)
        changes = int(np.count_nonzero(found))
        return CycleDone(at, str(self.policy), len(found), changes, change_rate(found), ndcg(found, changes))

    @property
    def asked(self) -> ScoreFunction | None:
        """The score function for readers, which does not use up random numbers of the crawl."""
        return deepcopy(self.policy.score)

    @property
    def groups(self) -> list[int]:
        """The groups that have pages to visit."""
        return list(self.candidates.pools)

    def use(self, policy: Policy) -> None:
        """Switches to another policy."""
        self.policy = policy
        self.candidates.use(policy.score)

    # Input.

    def reveal(self, links: IntArray, when: float) -> None:
        """Adds links that a visited page shows."""
        self.candidates.reveal(links, when)

    def looked(self, page: int) -> None:
        """Records a visit of the recrawl side itself to a page with a history; its first visit cannot show a change."""
        changed = self.history.surprise(page)
        if changed is not None:
            self.found.append(changed)

    def postpone(self, page: int, until: float) -> None:
        """Excludes a chosen page until a given time."""
        self.candidates.postpone(page, until)

    # Output.

    def choose(self, now: float, luck: float, group: int = 0, *, closing: bool = False) -> Choice | None:
        """The next page of a group and its worth, or None if nothing is worth a download; `closing`: the crawl is about
        to end.
        """
        return self.candidates.choose(now, luck, group, closing=closing)

    def rest(self, now: float, group: int, shortest: float, longest: float) -> float:
        """How long to rest, within bounds, before something in a group is worth a request."""
        return self.candidates.rest(now, group, shortest, longest)

    def turn(self, now: float) -> list[Event]:
        """The events at the end of a cycle: how good it was, and how the next one begins."""
        if not self.begin_cycle(now):
            return []
        done = self.done
        events: list[Event] = [] if done is None else [done]
        events.append(Scheduled(now, str(self.policy), self.candidates.known, self.candidates.wanted(now)))
        return events

    def begin_cycle(self, now: float) -> bool:
        """Whether a cycle has passed; if so, begins the next one."""
        turn = self.candidates.turn
        first = turn.ends == -np.inf
        if now < turn.ends:
            return False
        turn.ends = now + turn.every
        if not first:
            self.end_cycle(now, [])
        if turn.ranked == -np.inf:
            self.candidates.rank(now)
        return True

    def end_cycle(self, now: float, found: list[bool]) -> None:
        """Ends a cycle; `found` are its other downloads and whether each found a change."""
        self._past, self.found = (now, self.found + found), []

    def explain(self, page: int, now: float) -> Explanation | None:
        """Explains the rank of a page; None if it has no history or is ranked by its promise alone."""
        score = self.asked
        if score is None or not self.history.visited(np.array([page]))[0]:
            return None
        return explain(self.history, score, now, page)
