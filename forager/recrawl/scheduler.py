"""The recrawl side of a crawl or a replay: it chooses the next page, and can say why.

One object serves both. By default pages are ranked by the new documents expected of them; with a policy, pages that have
a history are ranked by its score function, and those without, which no function can score, by the documents expected.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.events import CycleDone, Event, Scheduled
from forager.measures.ranking import change_rate, ndcg
from forager.recrawl.choosing import Choice, Choosing, Surroundings
from forager.recrawl.cycle import Explanation, explain
from forager.recrawl.history import History
from forager.recrawl.policies import Formula, ScoreFunction
from forager.recrawl.preferences import ByPolicy, ByWorth, Preference, Reordered
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.settings import WORTH

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EXPECTED = "expected new documents"
"""What the policy `worth` ranks by, in words."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What orders the pages that have a history."""

    name: str = WORTH
    """As in the settings: a name, a formula, or a file."""
    score: ScoreFunction | None = None
    """None: the new documents expected. With the name `worth`, it orders what is worth a request; else it decides alone."""
    formula: str = ""
    """What a file or a learned function computes."""

    def __str__(self) -> str:
        return self.formula or (EXPECTED if self.name == WORTH else self.name)


def rhythm_in(policy: Policy) -> Rhythm:
    """The rhythm of the week that a function goes by, if it has one."""
    return policy.score.rhythm if isinstance(policy.score, Formula) else ()


class Scheduler:
    """Told by `reveal` of the links that visits showed; `choose` gives the recrawl side its next page."""

    def __init__(
        self,
        policy: Policy,
        history: History,
        around: Surroundings,
        *,
        leaning: Callable[[IntArray], FloatArray],
        cycle: float,
        seeds: IntArray,
    ) -> None:
        """`leaning` gives a factor for each never-visited page, or nothing."""
        self.policy, self.history, self.cycle = policy, history, cycle
        self._worth = ByWorth(around.expecting, leaning, around.thrift)
        self.choosing = Choosing(self._preference(), around, every=cycle, seeds=seeds)
        self.ends = -np.inf
        """When the cycle under way ends."""
        self.found: list[bool] = []
        """For each download of the recrawl side in it whether it saw a change."""
        self._past: tuple[float, list[bool]] | None = None

    def __repr__(self) -> str:
        return f"<Scheduler by {self.policy}, {self.choosing!r}, {self.history!r}>"

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
        return list(self.choosing.pools)

    def use(self, policy: Policy) -> None:
        """From now on another policy decides."""
        self.policy = policy
        self.choosing.prefer = self._preference()
        self.choosing.ranked = -np.inf

    # What is told.

    def reveal(self, links: IntArray, when: float) -> None:
        """Somebody visited a page that shows these links."""
        self.choosing.reveal(links, when)

    def looked(self, page: int) -> None:
        """The recrawl side itself visited a page, whose history is kept; its first visit can show no change."""
        changed = self.history.surprise(page)
        if changed is not None:
            self.found.append(changed)

    def postpone(self, page: int, until: float) -> None:
        """A page that was chosen is not to be had before a time."""
        self.choosing.postpone(page, until)

    # What is asked.

    def choose(self, now: float, luck: float, group: int = 0) -> Choice | None:
        """The next page of a group and its worth, or None if nothing is worth a download."""
        return self.choosing.choose(now, luck, group)

    def turn(self, now: float) -> list[Event]:
        """What is to be told when a cycle has passed: how good it was, and what the next one begins with."""
        if not self.begin_cycle(now):
            return []
        done = self.done
        events: list[Event] = [] if done is None else [done]
        events.append(Scheduled(now, str(self.policy), self.choosing.known, self.choosing.wanted(now)))
        return events

    def begin_cycle(self, now: float) -> bool:
        """Whether a cycle has passed; then the next one begins."""
        if now < self.ends:
            return False
        if self.ends > -np.inf:
            self._past = now, self.found
        self.ends, self.found = now + self.cycle, []
        if self.choosing.ranked == -np.inf:
            self.choosing.rank(now)
        return True

    def explain(self, page: int, now: float) -> Explanation | None:
        """Why a page is looked at soon or late; None if it has no history or is ranked by expected documents."""
        score = self.asked
        if score is None or not self.history.visited(np.array([page]))[0]:
            return None
        return explain(self.history, score, now, page)

    def _preference(self) -> Preference:
        score, history = self.policy.score, self.history
        if score is None:
            return self._worth
        if self.policy.name == WORTH:
            return Reordered(score, history, self._worth)
        return ByPolicy(score, history, self._worth)
