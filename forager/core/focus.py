"""The focus: decides whether a document is on the topic of the crawl.

A query, examples, what people mark, or several of these give the topic; `topic_lesson` learns it from them and from the
documents of the crawl.

The verdict is "cannot tell yet" while there are too few examples or documents, or while two halves of the examples
disagree on what passes. Such a document is rewarded like any new one, so that the crawl goes on as if it had no topic
instead of starving; but it is reported as a story only if a later verdict accepts it.

Once verdicts are possible, the words of a link change the odds that it leads to a document on topic (see `topic_map`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from forager.arrays import FloatArray
from forager.core.packed import array_text, pack, text_array, unpack
from forager.core.parameters import FocusSettings
from forager.core.topic_lesson import (
    FEWEST_EXAMPLES,
    TERMS,
    WIDTH,
    FocusLesson,
    Topic,
    count_documents,
    count_terms,
    no_documents,
    rarities,
)
from forager.terms import Verdict

FIRST_FIT = 50
"""Documents needed for the first fit."""
MORE = 0.25
"""The next fit comes when there are more documents by this share, but by no more than half of the background."""
MOST_MATCHES = 60
"""Only this many documents, those that match the query best, are taken as examples."""
GOOD_MATCH = 0.6
"""The share of the query's words, weighted by rarity, that makes a document an example."""
_FORM = 4
_OLDER = (2, 3)  # what these formats hold is learned again
_ORDER = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The present verdict on a text, and which of its words speak for (+) or against (−) it."""

    verdict: Verdict
    probability: float | None
    """None while nothing was learned."""
    words: list[tuple[str, float]]
    doubt: str
    """Why there is no verdict yet; empty if there is one."""


class Focus:
    """Judges documents as they are read, and learns from them what is off topic.

    A verdict stays, unless it was "cannot tell yet" or people mark the document.
    """

    def __init__(self, settings: FocusSettings, examples: Sequence[str] = (), refused: Sequence[str] = ()) -> None:
        self.settings = settings
        self.topic: Topic | None = None
        """What was learned last."""
        self.share = 1.0
        """Of the documents of the crawl, as far as it can tell which are on topic."""
        self.lessons = 0
        self.read_so_far = 0
        self.verdicts: dict[int, Verdict] = {}
        """Of all documents that were read, by version."""
        self._query = np.unique(count_terms([settings.query]).indices)
        self._given, self._refused = _with_words(examples), _with_words(refused)
        self._marked: dict[int, tuple[bool, sparse.csr_matrix]] = {}
        """What people say, by version."""
        self._documents: dict[int, sparse.csr_matrix] = {}
        """The latest of the crawl, by version."""
        self._next = FIRST_FIT
        """The next lesson is due when this many documents were read."""

    def __repr__(self) -> str:
        said = self.doubt or "can tell"
        return f"<Focus {self.count(Verdict.ON)} of {len(self.verdicts)} documents on topic; {said}>"

    @property
    def doubt(self) -> str:
        """Why no verdicts are possible yet; empty if they are."""
        if self.topic is not None:
            return self.topic.doubt
        if self.read_so_far < FIRST_FIT:
            return f"it has read {self.read_so_far} documents, and needs {FIRST_FIT}"
        if len(self._query):
            return (
                f"fewer than {FEWEST_EXAMPLES} of {self.read_so_far} documents have most words of the query; fewer or "
                "commoner words would help, or examples"
            )
        examples = self._given.shape[0] + sum(is_yes for is_yes, _ in self._marked.values())
        return f"it has {examples} examples, and needs {FEWEST_EXAMPLES}"

    @property
    def can_tell(self) -> bool:
        return self.topic is not None and not self.topic.doubt

    def count(self, verdict: Verdict) -> int:
        return sum(one is verdict for one in self.verdicts.values())

    def on_topic(self, version: int) -> bool:
        """Whether a document is rewarded: it is on topic, or there is no verdict yet."""
        return self.verdicts.get(version, Verdict.OFF) is not Verdict.OFF

    def odds(self, heads: Sequence[str]) -> FloatArray:
        """The factor by which the words of each link change the odds that it leads to a document on topic."""
        return np.ones(len(heads)) if self.topic is None else self.topic.odds(heads)

    def judge(self, text: str) -> Judgement:
        """The present verdict on a text; nothing is learned from it."""
        if self.topic is None:
            return Judgement(Verdict.UNSURE, None, [], self.doubt)
        (score,) = self.topic.scores(count_terms([text]))
        return Judgement(
            self.topic.verdict(score), self.topic.probability(score), self.topic.telling(text), self.topic.doubt
        )

    def read(self, version: int, text: str, share: float = 0.0) -> Verdict:
        """Judges a document, and learns from it at the next lesson. `share` is that of the list where it was found."""
        return self.take(version, count_documents([text]), share)

    def take(self, version: int, counts: sparse.csr_matrix, share: float = 0.0) -> Verdict:
        """Like `read`, for a document whose terms were counted already."""
        self.verdicts[version] = verdict = self._verdict(counts, share)
        self.read_so_far += 1
        self._documents[version] = counts
        if len(self._documents) > self.settings.background:
            del self._documents[next(iter(self._documents))]
        return verdict

    def judge_again(self, version: int, text: str, share: float = 0.0) -> Verdict:
        """Judges a document again on which there was no verdict."""
        self.verdicts[version] = verdict = self._verdict(count_documents([text]), share)
        return verdict

    def mark(self, version: int, text: str, yes: bool) -> None:
        """Records what people say of a document; the next lesson is due at once."""
        self._marked[version] = yes, count_documents([text])
        self.verdicts[version] = Verdict.ON if yes else Verdict.OFF
        self._next = min(self._next, max(FIRST_FIT, self.read_so_far))

    def _verdict(self, counts: sparse.csr_matrix, share: float) -> Verdict:
        if self.topic is None:
            return Verdict.UNSURE
        (score,) = self.topic.scores(counts)
        return self.topic.verdict(score, share)

    # Learning.

    @property
    def is_due(self) -> bool:
        """Whether there is a lesson to learn."""
        return self.read_so_far >= self._next

    def lesson(self) -> FocusLesson | None:
        """What is to be learned now; None if there are too few examples. No other lesson is due before the next
        documents.
        """
        half = max(FIRST_FIT, self.settings.background // 2)
        self._next = self.read_so_far + max(1, min(int(MORE * self.read_so_far), half))
        plain = [counts for version, counts in self._documents.items() if version not in self._marked]
        documents = sparse.vstack(plain).tocsr() if plain else no_documents()
        yes = [counts for is_yes, counts in self._marked.values() if is_yes]
        no = [counts for is_yes, counts in self._marked.values() if not is_yes]
        examples = sparse.vstack([self._given, *yes]).tocsr()
        few = examples.shape[0]
        hidden = np.zeros(0, dtype=np.int64)
        if few < FEWEST_EXAMPLES and len(self._query):
            match = self._matches(documents)
            best = np.argsort(-match, kind="stable")[:MOST_MATCHES]
            best = np.sort(best[match[best] >= GOOD_MATCH])
            examples = sparse.vstack([examples, documents[best]]).tocsr()
            documents = documents[np.setdiff1d(np.arange(documents.shape[0]), best)]
            hidden = self._query
        if examples.shape[0] < FEWEST_EXAMPLES or documents.shape[0] < FIRST_FIT // 2:
            return None
        marked = np.zeros(examples.shape[0], dtype=np.bool_)
        marked[self._given.shape[0] : few] = True
        refused = sparse.vstack([self._refused, *no]).tocsr()
        return FocusLesson(examples, refused, documents, marked, hidden, self.settings.precision, self.can_tell)

    def adopt(self, topic: Topic) -> None:
        """Judges by this topic from now on."""
        self.topic = topic
        self.lessons += 1

    def _matches(self, documents: sparse.csr_matrix) -> FloatArray:
        """For each document the share of the query's words in it, weighted by rarity."""
        asked = self._query[self._query < WIDTH]
        weights = rarities(documents[:, :TERMS])[asked].astype(np.float64)
        return np.asarray((documents[:, asked] > 0) @ weights / weights.sum(), dtype=np.float64).ravel()

    # Saving.

    def saving(self) -> Callable[[], bytes]:
        """Verdicts and everything that decides the next ones; packed when the result is called."""
        held = [self._given, self._refused, *(counts for _, counts in self._marked.values()), *self._documents.values()]
        arrays: dict[str, NDArray[np.generic]] = {
            "versions": np.array(list(self.verdicts), dtype=np.int64),
            "verdicts": np.array([_ORDER.index(one) for one in self.verdicts.values()], dtype=np.int8),
            "marked": np.array(list(self._marked), dtype=np.int64),
            "yes": np.array([is_yes for is_yes, _ in self._marked.values()], dtype=np.bool_),
            "documents": np.array(list(self._documents), dtype=np.int64),
            "sizes": np.array([self._given.shape[0], self._refused.shape[0]], dtype=np.int64),
            "counted": np.array([self.lessons, self.read_so_far, self._next], dtype=np.int64),
            "share": np.array([self.share]),
            "query": text_array(self.settings.query),
        }
        topic = self.topic
        if topic is not None:
            figures = [topic.intercept, topic.threshold, *topic.curve, *topic.head_curve]
            arrays |= {"rarity": topic.rarity, "slopes": topic.slopes, "lines": np.array(figures)}
            arrays["doubt"] = text_array(topic.doubt)
        return lambda: pack("focus", _FORM, arrays | _columns(held))

    def save(self) -> bytes:
        return self.saving()()

    @classmethod
    def load(cls, saved: bytes, settings: FocusSettings) -> "Focus":
        """Restores a focus with the examples it had. The verdicts stay even if query or precision have changed."""
        held = unpack("focus", _FORM, saved, older=_OLDER)
        focus = cls(settings)
        ends = np.concatenate([[0], np.asarray(held["ends"], dtype=np.int64)])
        terms = np.asarray(held["terms"], dtype=np.int32), np.asarray(held["counts"], dtype=np.float32)
        rows = sparse.csr_matrix((terms[1], terms[0], ends), shape=(len(ends) - 1, 2 * TERMS))
        given, refused = np.asarray(held["sizes"]).tolist()
        marked, documents = (np.asarray(held[name], dtype=np.int64).tolist() for name in ("marked", "documents"))
        focus._given, focus._refused, rest = rows[:given], rows[given : given + refused], given + refused
        says = zip(marked, np.asarray(held["yes"]).tolist(), strict=True)
        focus._marked = {version: (yes, rows[rest + place]) for place, (version, yes) in enumerate(says)}
        rest += len(marked)
        focus._documents = {version: rows[rest + place] for place, version in enumerate(documents)}
        verdicts = zip(np.asarray(held["versions"]).tolist(), np.asarray(held["verdicts"]).tolist(), strict=True)
        focus.verdicts = {version: _ORDER[verdict] for version, verdict in verdicts}
        focus.lessons, focus.read_so_far, focus._next = np.asarray(held["counted"]).tolist()
        focus.share = float(held["share"][0]) if "share" in held else 1.0
        if "lines" in held:
            intercept, threshold, *curves = np.asarray(held["lines"]).tolist()
            rarity, slopes = (np.asarray(held[name], dtype=np.float32) for name in ("rarity", "slopes"))
            doubt = array_text(held["doubt"])
            curve, head_curve = (curves[0], curves[1]), (curves[2], curves[3])
            focus.topic = Topic(rarity, slopes, intercept, threshold, curve, head_curve, doubt)
        if "figures" in held or array_text(held["query"]) != settings.query:
            focus._next = focus.read_so_far
        return focus


def _with_words(texts: Sequence[str]) -> sparse.csr_matrix:
    """The counts of texts, without texts that have no words."""
    counts = count_documents(texts) if texts else no_documents()
    return counts[np.diff(counts.indptr) > 0]


def _columns(held: Sequence[sparse.csr_matrix]) -> dict[str, NDArray[np.generic]]:
    """The counts of all documents in one sequence."""
    return {
        "ends": np.concatenate([np.diff(one.indptr) for one in held]).cumsum(dtype=np.int64),
        "terms": np.concatenate([one.indices for one in held]).astype(np.int32),
        "counts": np.minimum(np.concatenate([one.data for one in held]), 255).astype(np.uint8),
    }
