"""The recrawl side of a crawl or a replay: it chooses the next page, and can say why.

One object serves both. By default pages are ranked by the new documents expected of them; with a policy, pages that have
a history are ranked by its score function, and those without, which no function can score, by the documents expected.
"""

from copy import deepcopy

import numpy as np

from forager.core.candidates import Candidates, Choice
from forager.core.rules import IntArray
from forager.events import CycleDone, Event, Scheduled
from forager.measures import change_rate, ndcg
from forager.recrawl.cycle import Explanation, explain
from forager.recrawl.history import History
from forager.recrawl.policies import Policy, ScoreFunction
from forager.recrawl.recrawl_settings import WORTH


class Scheduler:
    """Told by `reveal` of the links that visits showed; `choose` gives the recrawl side its next page."""

    def __init__(self, policy: Policy, candidates: Candidates) -> None:
        self.policy, self.candidates = policy, candidates
        self.found: list[bool] = []
        """For each download of the recrawl side in the cycle under way whether it saw a change."""
        self._past: tuple[float, list[bool]] | None = None
        self.use(policy)

    def __repr__(self) -> str:
        return f"<Scheduler by {self.policy}, {self.candidates!r}, {self.history!r}>"

    @property
    def history(self) -> History:
        return self.candidates.pages.history

    @property
    def cycle(self) -> float:
        """Seconds of a cycle."""
        return float(self.candidates.turn.every)

    @property
    def done(self) -> CycleDone | None:
        """The last full cycle."""
        if self._past is None:
            return None
        at, found = self._past[0], np.array(self._past[1], dtype=np.bool_)
        changes = int(np.count_nonzero(found))
        return CycleDone(at, str(self.policy), len(found), changes, change_rate(found), ndcg(found, changes))

    @property
    def asked(self) -> ScoreFunction | None:
        """The score function for whoever only looks on: chance that is used up by asking is not the crawl's."""
        return deepcopy(self.policy.score)

    @property
    def groups(self) -> list[int]:
        """The groups that have pages to look at."""
        return list(self.candidates.pools)

    def use(self, policy: Policy) -> None:
        """From now on another policy decides."""
        self.policy = policy
        self.candidates.use(policy.score, alone=policy.name != WORTH)

    # What is told.

    def reveal(self, links: IntArray, when: float) -> None:
        """Somebody visited a page that shows these links."""
        self.candidates.reveal(links, when)

    def looked(self, page: int) -> None:
        """The recrawl side itself visited a page, whose history is kept; its first visit can show no change."""
        changed = self.history.surprise(page)
        if changed is not None:
            self.found.append(changed)

    def postpone(self, page: int, until: float) -> None:
        """A page that was chosen is not to be had before a time."""
        self.candidates.postpone(page, until)

    # What is asked.

    def choose(self, now: float, luck: float, group: int = 0) -> Choice | None:
        """The next page of a group and its worth, or None if nothing is worth a download."""
        return self.candidates.choose(now, luck, group)

    def turn(self, now: float) -> list[Event]:
        """What is to be told when a cycle has passed: how good it was, and what the next one begins with."""
        if not self.begin_cycle(now):
            return []
        done = self.done
        events: list[Event] = [] if done is None else [done]
        events.append(Scheduled(now, str(self.policy), self.candidates.known, self.candidates.wanted(now)))
        return events

    def begin_cycle(self, now: float) -> bool:
        """Whether a cycle has passed; then the next one begins."""
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
        """A cycle has ended, in which these downloads more saw a change, or not."""
        self._past, self.found = (now, self.found + found), []

    def explain(self, page: int, now: float) -> Explanation | None:
        """Why a page is looked at soon or late; None if it has no history or is ranked by expected documents."""
        score = self.asked
        if score is None or not self.history.visited(np.array([page]))[0]:
            return None
        return explain(self.history, score, now, page)
