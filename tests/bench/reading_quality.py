"""How well and how fast we read dates, main text and feeds, beside the libraries that do the same, on public corpora.

    python tests/bench/reading_quality.py [--repeat 3]

Dates: htmldate; text: trafilatura and resiliparse; feeds: feedparser and fastfeedparser. The corpora are fetched once,
see `tests/corpora.py`. Every reader goes over all pages once before it is timed: caches and tables load at first use.
"""

import argparse
import io
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import feedparser
import htmldate

from forager.pages.dates import PageDates
from forager.pages.feeds import read_feed
from forager.pages.head import Head, PageTree
from forager.pages.text import main_text
from forager.pages.urls import canonical
from forager.terms import Dated, Url
from tests.corpora import (
    PageCase,
    feed_files,
    htmldate_pages,
    mediacloud_pages,
    newspaper_pages,
    readability_pages,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""All pages are older."""

T = TypeVar("T")

FEED_URL = Url("http://example.com/feed.xml")

_WORD = re.compile(r"[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\w")
"""Words; in scripts that write none apart, single characters."""


def is_that_day(found: Dated | None, stated: str) -> bool:
    """Whether the page's stated time falls on the day found; a stated day without a zone may lie in any zone."""
    if found is None:
        return False
    day = datetime.fromisoformat(stated)
    if day.tzinfo is not None:
        return datetime.fromtimestamp(found.time, day.tzinfo).date() == day.date()
    late = found.time - day.replace(hour=0, minute=0, second=0, tzinfo=UTC).timestamp()
    hour = timedelta(hours=1).total_seconds()  # zones reach from 14 hours ahead of UTC to 12 behind
    return -14 * hour <= late < (36 * hour if found.exact else 14 * hour)


def word_f1(found: str, wanted: str) -> float:
    """F1 of the bags of words."""
    ours, theirs = Counter(_WORD.findall(found.lower())), Counter(_WORD.findall(wanted.lower()))
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def dates_right(cases: Iterable[PageCase]) -> float:
    """Share of the dated pages whose day of publication we find."""
    dated = [case for case in cases if case.published]
    return sum(is_that_day(our_date(case), case.published) for case in dated) / len(dated)


def address(case: PageCase) -> Url:
    """The URL of a page; some corpora do not know it."""
    return canonical(case.url) or Url("http://example.com/")


def our_date(case: PageCase) -> Dated | None:
    return PageDates(Head(PageTree(case.html), address(case)), now=NOW).published()


def text_f1(cases: Iterable[PageCase], read: Callable[[PageCase], str]) -> float:
    """Mean F1 over the pages whose text is known."""
    scores = [word_f1(read(case), case.text) for case in cases if case.text]
    return sum(scores) / len(scores)


def our_text(case: PageCase) -> str:
    return main_text(PageTree(case.html))


@dataclass(frozen=True, slots=True)
class FeedAgreement:
    """Our reading of the feeds that feedparser knows the version of."""

    feeds: int
    read: int
    linking: int
    """Feeds in which either of us finds a link."""
    same: int
    """Of these, with the same links in the same order."""
    disputed: tuple[str, ...]
    """The others, by path."""


def feed_agreement() -> FeedAgreement:
    feeds = read = linking = 0
    disputed = []
    for path, body in feed_files():
        parsed = their_feed(body)
        if not parsed.get("version"):
            continue
        feeds += 1
        feed = read_feed(body, FEED_URL)
        if feed is None:
            continue
        read += 1
        found = (canonical(entry["link"], FEED_URL) for entry in parsed.entries if entry.get("link"))
        theirs, ours = list(dict.fromkeys(url for url in found if url)), [link.url for link in feed.links]
        if theirs or ours:
            linking += 1
            if theirs != ours:
                disputed.append(path)
    return FeedAgreement(feeds, read, linking, linking - len(disputed), tuple(disputed))


def their_feed(body: bytes) -> feedparser.FeedParserDict:
    headers = {"content-location": FEED_URL, "content-type": "application/xml"}
    return feedparser.parse(io.BytesIO(body), response_headers=headers, sanitize_html=False)


def milliseconds(read: Callable[[T], object], items: Sequence[T], repeat: int) -> float:
    """Processor time per item, the best of the repeats, after one that does not count."""
    best = float("inf")
    for turn in range(repeat + 1):
        start = time.process_time()
        for item in items:
            read(item)
        if turn:
            best = min(best, time.process_time() - start)
    return 1000 * best / len(items)


def show_dates(repeat: int) -> None:
    print("publication date: same day, and ms per page")
    print(
        f"{'corpus':<14}{'pages':>6}{'ours':>7}{'htmldate':>10}{'ours ms':>9}{'+parse':>8}{'htmldate':>10}{'ratio':>7}"
    )
    for name, load in (
        ("newspaper4k", newspaper_pages),
        ("mediacloud", mediacloud_pages),
        ("htmldate", htmldate_pages),
    ):
        cases = [case for case in load() if case.published]
        trees = [(PageTree(case.html), address(case)) for case in cases]
        theirs = sum(their_day(case) == case.published[:10] for case in cases) / len(cases)
        bare = milliseconds(lambda page: PageDates(Head(*page), now=NOW).published(), trees, repeat)
        whole = milliseconds(our_date, cases, repeat)
        peer = milliseconds(their_day, cases, repeat)
        print(
            f"{name:<14}{len(cases):>6}{dates_right(cases):>7.1%}{theirs:>10.1%}"
            f"{bare:>9.2f}{whole:>8.2f}{peer:>10.2f}{peer / bare:>6.1f}x"
        )
    undated = [case for case in mediacloud_pages() if not case.published]
    false = sum(our_date(case) is not None for case in undated), sum(their_day(case) is not None for case in undated)
    print(f"dates found on {len(undated)} pages that state none: ours {false[0]}, htmldate {false[1]}\n")


def their_day(case: PageCase) -> str | None:
    return htmldate.find_date(case.html, original_date=True, deferred_url_extractor=True, url=case.url or None)


def show_text(repeat: int) -> None:
    from resiliparse.extract.html2text import extract_plain_text

    readers: dict[str, Callable[[PageCase], str]] = {
        "ours": our_text,
        "resiliparse": lambda case: extract_plain_text(case.html, main_content=True, alt_texts=False),
    }
    try:
        import trafilatura
    except ImportError:
        print("trafilatura is not installed (pip install 'forager[bench]')")
    else:
        readers["trafilatura"] = lambda case: trafilatura.extract(case.html, include_comments=False) or ""
    for corpus, pages in (("newspaper4k", newspaper_pages()), ("readability", readability_pages())):
        cases = [case for case in pages if case.text]
        print(f"main text of {len(cases)} pages of {corpus}: F1 of words, and ms per page with parsing")
        for name, read in readers.items():
            print(f"{name:<14}{text_f1(cases, read):>7.3f}{milliseconds(read, cases, repeat):>9.2f}")
        print()


def show_feeds(repeat: int) -> None:
    agreement, bodies = feed_agreement(), [body for _, body in feed_files()]
    print(f"feeds: {agreement.read} of {agreement.feeds} that feedparser knows are read", end="; ")
    print(f"same links in {agreement.same} of {agreement.linking} that have any; us per feed:")
    readers: dict[str, Callable[[bytes], object]] = {
        "ours": lambda body: read_feed(body, FEED_URL),
        "feedparser": their_feed,
    }
    try:
        from fastfeedparser import parse
    except ImportError:
        print("fastfeedparser is not installed")
    else:
        readers["fastfeedparser"] = lambda body: _survived(parse, body)
    for name, read_body in readers.items():
        print(f"{name:<14}{1000 * milliseconds(read_body, bodies, repeat):>8.0f}")


def _survived(parse: Callable[[bytes], object], body: bytes) -> object:
    try:
        return parse(body)
    except Exception:  # it raises whatever it meets; here only its time counts
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="timed repeats, of which the best counts (default 3)")
    arguments = parser.parse_args()
    show_dates(arguments.repeat)
    show_text(arguments.repeat)
    show_feeds(arguments.repeat)


if __name__ == "__main__":
    main()
