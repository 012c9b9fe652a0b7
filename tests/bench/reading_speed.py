"""How long it takes to read one page: links only and everything, against bare parsing, with a profile.

    python tests/bench/reading_speed.py [--pages 300] [--profile]

The page is made up, of the size of a real article page: 41 KB, 79 links (56 of them are the same on all pages, the
others are new on each, and one teaser in five has a tracker), a long article, inline script and style.
"""

import argparse
import cProfile
import pstats
import statistics
import time
from collections.abc import Callable

import can_ada
from selectolax.lexbor import LexborHTMLParser

from forager.pages.page import Page
from forager.pages.urls import Joiner, UrlMemo, canonical
from forager.terms import Outcome, Response, Url

PROSE = (
    "the council said on Monday that a new bridge over the river would open next year after long talks about money and "
    "land while farmers in the valley wait for rain and the harbour master counts ships from many countries"
)
WORDS = PROSE.split()
NOON = 1_714_564_800.0  # 1 May 2024, the day of the stories


def sentence(number: int, length: int = 18) -> str:
    words = [WORDS[(number * 7 + place * (number % 5 + 1)) % len(WORDS)] for place in range(length)]
    return " ".join(words).capitalize() + "."


def teased(number: int) -> list[str]:
    """53 stories, the last 13 only on this page; every fifth with a tracker."""
    hrefs = [f"/news/2024/05/{item % 28 + 1:02d}/story-{number * (item > 39)}-{item}" for item in range(53)]
    return [href + "?utm_source=box&amp;id=7" * (item % 5 == 0) for item, href in enumerate(hrefs)]


def page(number: int = 0) -> bytes:
    """An article page of about 41 KB with 79 links."""
    section = ["world", "business", "sport", "culture", "science", "local", "opinion", "travel"]
    top = "".join(f'<li class="menu__item"><a href="/{name}/">{name.title()}</a></li>' for name in section)
    low = "".join(f'<li><a href="https://www.gazette.example/about/{name}">About {name}</a></li>' for name in section)
    teasers = "".join(
        f'<div class="teaser teaser--small" data-id="{item}"><a class="teaser__link" href="{href}">'
        f'<img class="teaser__image" src="/i/{item}.jpg" alt="Picture {item}" loading="lazy" width="320" height="180">'
        f'<h3 class="teaser__title">{sentence(number + item, 9)}</h3></a>'
        f'<p class="teaser__kicker">{sentence(item, 12)}</p></div>'
        for item, href in enumerate(teased(number))
    )
    paragraphs = "".join(
        f'<p class="article__paragraph">{" ".join(sentence(number + 3 * part + i) for i in range(4))}'
        + (f' <a href="topic-{part}.html">more on {WORDS[part % len(WORDS)]}</a>' if part < 10 else "")
        + "</p>"
        for part in range(16)
    )
    script = "window.dataLayer=window.dataLayer||[];" + "".join(f"dataLayer.push({{k{i}:'v{i}'}});" for i in range(210))
    style = "".join(f".c{i}{{margin:{i}px;padding:0 {i}px;color:#333}}" for i in range(110))
    return (
        f'<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8"><title>{sentence(number, 8)} | Gazette</title>'
        f'<link rel="canonical" href="https://www.gazette.example/world/2024/05/01/story-{number}">'
        '<link rel="alternate" type="application/rss+xml" title="Gazette" href="/feed.xml">'
        '<meta property="og:type" content="article"><meta property="og:site_name" content="Gazette">'
        '<meta property="article:published_time" content="2024-05-01T08:00:00Z"><meta name="robots" content="index">'
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle",'
        '"datePublished":"2024-05-01T08:00:00Z","dateModified":"2024-05-01T09:30:00Z"}</script>'
        f"<style>{style}</style><script>{script}</script></head><body>"
        f'<header class="site-header"><nav class="menu"><ul>{top}</ul></nav></header>'
        f'<main><article class="article"><h1>{sentence(number, 8)}</h1>'
        f'<time datetime="2024-05-01T08:00:00Z">1 May 2024</time>{paragraphs}</article></main>'
        f'<aside class="related">{teasers}</aside><footer class="site-footer"><ul>{low}</ul></footer></body></html>'
    ).encode()


def micros(work: Callable[[int], object], rounds: int) -> tuple[float, float]:
    """The best and the median of the rounds, in microseconds of processor time."""
    spent = []
    for number in range(rounds):
        begun = time.thread_time()
        work(number)
        spent.append(time.thread_time() - begun)
    return min(spent) * 1e6, statistics.median(spent) * 1e6


def answer(body: bytes, number: int = 0) -> Response:
    url = Url(f"https://www.gazette.example/world/2024/05/01/story-{number}")
    headers = (("content-type", "text/html; charset=utf-8"),)
    return Response(url, Outcome.FETCHED, NOON, status=200, headers=headers, body=body)


def everything(response: Response, memo: UrlMemo) -> object:
    seen = Page(response, memo=memo)
    named = (seen.title, seen.lang, seen.canonical, seen.robots, seen.published, seen.modified)
    return seen.links, seen.kind, named, seen.text, seen.byte_print, seen.text_print, seen.simhash


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pages", type=int, default=300, help="pages to read for each line")
    options.add_argument("--profile", action="store_true", help="also print where the time goes")
    chosen = options.parse_args()
    answers = [answer(page(number), number) for number in range(chosen.pages)]
    sizes = [len(each.body) for each in answers]
    memo = UrlMemo()
    bare = micros(lambda number: LexborHTMLParser(answers[number].body), chosen.pages)
    anchors = micros(lambda number: LexborHTMLParser(answers[number].body).css("a[href]"), chosen.pages)
    links = micros(lambda number: Page(answers[number], memo=memo).links, chosen.pages)
    whole = micros(lambda number: everything(answers[number], memo), chosen.pages)
    print(f"{chosen.pages} pages of {statistics.mean(sizes) / 1000:.1f} kB, {len(Page(answers[0]).links)} links each")
    print(f"{'µs/page':32}{'best':>9}{'median':>9}{'× parse':>9}")
    rows = {"parse": bare, "parse, select anchors": anchors, "links only": links, "everything": whole}
    for name, (best, median) in rows.items():
        print(f"{name:32}{best:9.0f}{median:9.0f}{best / bare[0]:9.1f}")
    urls()
    if chosen.profile:
        profiled("links only", lambda each: Page(each, memo=memo).links, answers)
        profiled("everything", lambda each: everything(each, memo), answers)


def profiled(name: str, work: Callable[[Response], object], answers: list[Response]) -> None:
    print(f"\n{name}")
    profile = cProfile.Profile()
    profile.enable()
    for each in answers:
        work(each)
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(18)


def urls() -> None:
    """Joining one href: a memo hit, misses, and the bare parser as the peer."""
    home = "https://www.gazette.example/world/"
    memo = UrlMemo()
    joiner = Joiner(home, memo)
    hrefs = [f"/world/2024/05/01/story-{number}" for number in range(20_000)]
    tracked = [f"{href}?utm_source=rss&id=7#top" for href in hrefs]
    base = can_ada.parse(home)

    def timed(work: Callable[[str], object], over: list[str]) -> float:
        begun = time.thread_time()
        for href in over:
            work(href)
        return (time.thread_time() - begun) / len(over) * 1e6

    print(f"\n{'one href':32}{'µs':>9}")
    print(f"{'bare join':32}{timed(lambda href: (base + href).href, hrefs):9.2f}")
    print(f"{'miss':32}{timed(joiner.join, hrefs):9.2f}")
    print(f"{'hit':32}{timed(joiner.join, hrefs):9.2f}")
    print(f"{'miss with tracker and query':32}{timed(joiner.join, tracked):9.2f}")
    print(f"{'canonical, no base':32}{timed(canonical, [f'https://www.gazette.example{href}' for href in hrefs]):9.2f}")


if __name__ == "__main__":
    main()
