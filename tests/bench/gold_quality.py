"""How well and how fast pages with gold are read: main text, day of publication, and time beside bare parsing.

    python tests/bench/gold_quality.py [--show]

The pages of `news-html-gold`, by two halves of a hash of their names; failures of both were seen while rules were
written. Time is
that of 143 articles of at least 150 kB, and of the sections of `frontpages-html`. Data: `../shared/data`, or
$FORAGER_DATA. Whoever has trafilatura installed sees its texts beside ours.
"""

import argparse
import gzip
import hashlib
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import htmldate
from selectolax.lexbor import LexborHTMLParser

from forager.pages.page import Page, load_slow_parts
from forager.pages.urls import canonical
from forager.terms import Dated, Outcome, Response, Url
from tests.bench.kinds_quality import DATA, lists
from tests.bench.reading_quality import NOW, is_that_day, word_f1

Case = dict[str, Any]
LARGE = 150_000


def gold() -> Iterator[tuple[Case, bytes]]:
    """Every gold page: what is known of it, and its bytes."""
    folder = DATA / "news-html-gold"
    for case in json.loads((folder / "gold.json").read_text()):
        yield case, gzip.decompress((folder / case["file"]).read_bytes())


def is_first_half(case: Case) -> bool:
    return int(hashlib.md5(case["file"].encode(), usedforsecurity=False).hexdigest(), 16) % 2 == 0


def seen(url: str, body: bytes) -> Page:
    """The page as if it had been fetched when all pages were old."""
    address = canonical(url) or Url("http://example.com/")
    return Page(
        Response(address, Outcome.FETCHED, NOW, status=200, headers=(("content-type", "text/html"),), body=body)
    )


def text_scores(cases: Sequence[tuple[Case, bytes]], text: Callable[[Case, bytes], str]) -> list[float]:
    return [word_f1(text(case, body), case["text"]) for case, body in cases if "text" in case]


def day_in_its_zone(found: Dated | None) -> str:
    """The day on which a page says that it was published, in the zone that it states."""
    return "" if found is None else datetime.fromtimestamp(found.time + (found.zone or 0), UTC).date().isoformat()


def their_days_right(cases: Sequence[tuple[Case, bytes]]) -> int:
    """Days that htmldate finds; it was developed on most of these pages."""
    dated = [(case, body) for case, body in cases if "published" in case]
    return sum(_their_day(case, body) == case["published"][:10] for case, body in dated)


def _their_day(case: Case, body: bytes) -> str | None:
    try:
        return htmldate.find_date(body.decode(errors="replace"), original_date=True, url=case["url"])
    except (ValueError, TypeError, AttributeError):
        return None


def days_right(cases: Sequence[tuple[Case, bytes]]) -> tuple[int, int, int]:
    """Pages with a gold day; right in the zone of the page; right in some zone."""
    dated = [(case["published"], seen(case["url"], body).published) for case, body in cases if "published" in case]
    own = sum(day_in_its_zone(found) == day[:10] for day, found in dated)
    return len(dated), own, sum(is_that_day(found, day[:10]) for day, found in dated)


def everything(page: Page) -> object:
    named = (page.title, page.lang, page.canonical, page.robots, page.published, page.modified, page.about)
    return named, page.links, page.kind, page.text, page.byte_print, page.text_print, page.simhash


def as_a_list(page: Page) -> object:
    """What a crawl asks of a list."""
    return page.title, page.robots, page.kind, page.links, page.text_print, page.byte_print


def timed(pages: Sequence[tuple[str, bytes]], work: Callable[[Page], object]) -> str:
    """Milliseconds of processor time beside those of bare parsing, the best of three for each page."""
    ours, bare = [], []
    for url, body in pages:
        ours.append(min(_spent(work, seen(url, body)) for _ in range(3)))
        bare.append(min(_spent(LexborHTMLParser, body) for _ in range(3)))
    size = statistics.mean(len(body) for _, body in pages) / 1000
    return (
        f"{len(pages)} pages of {size:.0f} kB: mean {statistics.mean(ours):.2f} ms, median {statistics.median(ours):.2f}, "
        f"longest {max(ours):.0f}; parsing {statistics.mean(bare):.2f}, ratio of means "
        f"{statistics.mean(ours) / statistics.mean(bare):.1f}"
    )


def _spent(work: Callable[[Any], object], on: object) -> float:
    begun = time.process_time()
    work(on)
    return 1000 * (time.process_time() - begun)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="name the pages that are read badly")
    show = parser.parse_args().show
    load_slow_parts()
    cases = list(gold())
    for name, half in (("first", True), ("second", False)):
        part = [(case, body) for case, body in cases if is_first_half(case) is half]
        scores = text_scores(part, lambda case, body: seen(case["url"], body).text)
        pages, own, any_zone = days_right(part)
        print(
            f"{name} half: {len(scores)} texts, F1 {statistics.mean(scores):.3f}, {sum(s < 0.5 for s in scores)} below .5; "
            f"{pages} days, {own} right in the zone of the page, {any_zone} in some zone, "
            f"{their_days_right(part)} by htmldate"
        )
        if show:
            texts = [case["file"] for case, _ in part if "text" in case]
            print(
                "".join(f"    {score:.3f} {file}\n" for file, score in zip(texts, scores, strict=True) if score < 0.8)
            )
    try:
        from trafilatura import extract
    except ImportError:
        print("trafilatura is not installed")
    else:
        scores = text_scores(cases, lambda _, body: extract(body, include_comments=False) or "")
        print(
            f"trafilatura: {len(scores)} texts, F1 {statistics.mean(scores):.3f}, {sum(s < 0.5 for s in scores)} below .5"
        )
    print("articles, everything:", timed([(c["url"], b) for c, b in cases if len(b) >= LARGE], everything))
    print("sections, as lists:  ", timed([(url, body) for _, url, body in lists()], as_a_list))


if __name__ == "__main__":
    main()
