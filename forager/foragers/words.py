"""Text -> words -> counts: a vocabulary learned from texts, or none at all (hashing)."""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]{{1,2}}|[^\W\d_{_IDEOGRAPHS}]{{2,}}")
_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)


def words(text: str) -> list[str]:
    """Runs of at least two letters in lower case, of any script; where words are not spaced, pairs of characters."""
    return _WORD.findall(text.lower())


def link_words(anchor: str, url: str) -> str:
    """What a link tells about its target: its anchor and the path of its URL, as one text."""
    return f"{anchor} {_HOST.sub('', url)}"


class Vocabulary:
    """The words that count, each with its column."""

    def __init__(self, known: Sequence[str]) -> None:
        self.words = tuple(known)
        self._columns = {word: column for column, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(cls, texts: Iterable[str], *, limit: int, least: int) -> "Vocabulary":
        """The `limit` words that stand in most texts, and in no fewer than `least`; alphabetically if equal."""
        spread: Counter[str] = Counter()
        for text in texts:
            spread.update(set(words(text)))
        ranked = sorted((-count, word) for word, count in spread.items() if count >= least)
        return cls([word for _, word in ranked[:limit]])

    def counts(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """How often each known word stands in each text: texts × words."""
        columns: list[int] = []
        ends = [0]
        find = self._columns.get
        for text in texts:
            columns.extend(column for word in words(text) if (column := find(word)) is not None)
            ends.append(len(columns))
        counts = sparse.csr_matrix(
            (np.ones(len(columns), dtype=np.float32), np.asarray(columns, dtype=np.int32), np.asarray(ends)),
            shape=(len(texts), len(self)),
        )
        counts.sum_duplicates()
        return counts


def hashed(texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    """States before anything is learned: a word adds ±1 to the component of its checksum; rows of length 1, or 0."""
    out = np.zeros((len(texts), dimension), dtype=np.float32)
    for row, text in zip(out, texts, strict=True):
        for word, count in Counter(words(text)).items():
            print_ = zlib.crc32(word.encode())
            row[print_ % dimension] += count if print_ & 0x8000_0000 else -count
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
    return out
