"""Which links of front pages the crawl downloads first: news, or navigation, tags, ads and login?

    python tests/bench/list_links.py [--budget 60] [--hours 24] [--site heise.de]

The section pages of each site of `frontpages-html` are crawled from their recorded bytes, in simulated time, by all rules of
a live crawl. What they link to was not recorded; in its place stands an invented page: an article, dated when its link
was first seen, if the address has the form of that publisher's articles, else a page without a story. The forms
(`ARTICLES`) are gold written by hand; the crawl does not know them. An article is *new* if its link first appeared after
the first look at the page that shows it.

For each site: downloads of lists, of linked pages once more, and of linked pages for the first time; how many of these
are articles (precision), the same of the first 50, and of the first 50 on the main host; the precision of links taken in
the order of the page, of the first 50 and of all; and of the new articles those that were downloaded (recall).
Data: `../shared/data`, or $FORAGER_DATA.
"""

import argparse
import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow.parquet as parquet

from forager.assembly import make_crawl, wire
from forager.chance import stream
from forager.clock import LoopClock, run_virtual
from forager.engine.crawl import stop_after
from forager.pages.page import Page
from forager.pages.urls import canonical, host, site
from forager.report.account import Account
from forager.settings import Settings
from forager.store.store import Store
from forager.terms import Outcome, Request, Response, Url
from forager.warc.replay_web import WarcWeb
from tests.bench.kinds_quality import DATA

ARTICLES = {
    "bild.de": r"-\d{6,}(?:,[^/]*)?\.bild\.html",
    "faz.net": r"-\d{7,}(?:-p\d+)?\.html",
    "fr.de": r"-\d{6,}\.html",
    "gmx.net": r"/magazine/.*-\d{7,}$",
    "heise.de": r"-\d{6,}\.html",
    "spiegel.de": r"-a-[0-9a-f-]{10,}",
    "sueddeutsche.de": r"-\d\.\d{6,}|urn-newsml",
    "t-online.de": r"/id_\d+/",
    "volksstimme.de": r"-\d{6,}$",
    "web.de": r"/magazine/.*-\d{7,}$",
    "welt.de": r"/(?:article|plus|video|live)\d{6,}",
    "zeit.de": r"/\d{4}(?:-\d\d|/\d\d)/",
}
"""What the addresses of articles look like; the eleven articles of zeitfuerdieschule.de hardly change, it is left out."""
FIRST = 50
WORDS = """council bridge river money harbour winter market school doctor engine border budget forest island letter minister
museum orchard people police railway refugee season server station strike summit teacher theatre tunnel valley village
voter wagon weather window witness worker yacht"""


@dataclass(slots=True)
class Judged:
    """What was asked for on one site."""

    asked: list[Url] = field(default_factory=list)
    """Linked pages in the order of their downloads, each once."""
    lists: int = 0
    """Downloads of recorded pages."""
    again: int = 0
    """Downloads of linked pages that were downloaded before."""


class Invented:
    """The recorded pages of a site, and an invented one wherever else they link to."""

    def __init__(self, recording: WarcWeb, form: re.Pattern[str], first: dict[Url, float], judged: Judged) -> None:
        self.recording, self.form, self.first, self.judged = recording, form, first, judged

    async def fetch(self, request: Request) -> Response:
        url, now = request.url, self.recording.clock.now()
        if self.recording.holds(url):
            self.judged.lists += 1
            return await self.recording.fetch(request)
        if url.endswith("/robots.txt"):
            return Response(url, Outcome.GONE, now, status=404)
        self.judged.asked.append(url)
        body = _article(url, self.first.get(url, now)) if self.form.search(url) else _other(url)
        headers = (("content-type", "text/html; charset=utf-8"),)
        return Response(url, Outcome.FETCHED, now, status=200, headers=headers, body=body)


def _article(url: Url, published: float) -> bytes:
    story = f'{{"@type": "NewsArticle", "headline": "{url}", "datePublished": "{int(published)}"}}'
    words = stream(1, url).choice(WORDS.split(), 200)  # of its own: pages that say the same everywhere are no stories
    return (
        f'<html><head><title>{url}</title><script type="application/ld+json">{story}</script></head><body><article>'
        f"<h1>{url}</h1><p>{url}</p><p>{', '.join(words)}.</p></article></body></html>"
    ).encode()


def _other(url: Url) -> bytes:
    return f"<html><head><title>{url}</title></head><body><h1>Overview</h1><ul><li>{url}</ul></body></html>".encode()


def sightings() -> tuple[dict[Url, float], set[Url]]:
    """When each link was first seen, and which of them are new."""
    folder = DATA / "frontpages-html" / "tables"
    versions, links = parquet.read_table(folder / "versions.parquet"), parquet.read_table(folder / "links.parquet")
    begun: dict[str, float] = {}
    for url, time in zip(versions["url"].to_pylist(), versions["time"].to_pylist(), strict=True):
        begun[url] = min(begun.get(url, time.timestamp()), time.timestamp())
    rows = zip(links["time"].to_pylist(), links["url"].to_pylist(), links["target"].to_pylist(), strict=True)
    first: dict[Url, float] = {}
    new: set[Url] = set()
    for time, page, target in sorted(rows):
        url = canonical(target)
        if url is not None and url not in first:
            first[url] = time.timestamp()
            if time.timestamp() > begun[page]:
                new.add(url)
    return first, new


def crawl(path: Path, form: re.Pattern[str], first: dict[Url, float], budget: float, hours: float) -> Judged:
    """Crawl one site; all its recorded pages are known from the beginning."""
    clock, judged = LoopClock(0.0), Judged()
    settings = replace(Settings(), timetable=replace(Settings().timetable, download_delay=3600 / budget))
    recording = WarcWeb([path], clock)
    assert recording.period is not None
    clock.epoch = recording.period[0]
    seconds = min(3600 * hours, recording.period[1] - recording.period[0])
    web = Invented(recording, form, first, judged)
    seeds = [url for url in recording.urls if not url.endswith("/robots.txt")][:1]

    async def main() -> None:
        made = await make_crawl(settings, clock, wire(settings, clock, web), Store(), seeds, Account(), [])
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(clock, seconds, stopping))
            group.create_task(made.run(seeds, stopping))

    run_virtual(main())
    once = list(dict.fromkeys(judged.asked))
    judged.again, judged.asked = len(judged.asked) - len(once), once
    return judged


def in_order(path: Path, own: str) -> list[Url]:
    """The links of the recorded pages to their own site in the order of the pages, each once."""
    recording = WarcWeb([path], LoopClock(0.0))
    found: dict[Url, None] = {}
    for url in recording.urls:
        for capture in recording.read(url, 1):
            found.update(dict.fromkeys(target for target in Page(capture.response).targets if site(target) == own))
    return [url for url in found if not recording.holds(url)]


def share(urls: Sequence[Url], form: re.Pattern[str]) -> float:
    return sum(form.search(url) is not None for url in urls) / max(1, len(urls))


def main(names: Iterable[str], budget: float, hours: float) -> None:
    first, new = sightings()
    heads = ("precision", "first 50", "own host", "in order", "all", "recall")
    print(f"{'site':18}{'lists':>7}{'again':>7}{'links':>7}" + "".join(f"{head:>10}" for head in heads) + "    of")
    for name in names:
        path, form = DATA / "frontpages-html" / f"{name}.warc.zst", re.compile(ARTICLES[name])
        judged, ordered = crawl(path, form, first, budget, hours), in_order(path, name)
        begun = WarcWeb([path], LoopClock(0.0)).period
        assert begun is not None
        until = begun[0] + 3600 * hours
        wanted = [url for url in new if site(url) == name and form.search(url) and first[url] < until]
        home = [url for url in judged.asked if host(url).removeprefix("www.") == name]
        got = len(set(wanted) & set(judged.asked))
        shares = (judged.asked, judged.asked[:FIRST], home[:FIRST], ordered[:FIRST], ordered)
        print(
            f"{name:18}{judged.lists:7}{judged.again:7}{len(judged.asked):7}"
            + "".join(f"{share(urls, form):10.2f}" for urls in shares)
            + f"{got / max(1, len(wanted)):10.2f}{len(wanted):6}",
            flush=True,
        )


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--budget", type=float, default=60.0, help="requests an hour for each host")
    options.add_argument("--hours", type=float, default=24.0)
    options.add_argument("--site", action="append", choices=sorted(ARTICLES), help="only this one; may be repeated")
    chosen = options.parse_args()
    main(chosen.site or sorted(ARTICLES), chosen.budget, chosen.hours)
