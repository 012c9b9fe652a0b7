"""WARC and WACZ recordings become versions: each captured page is read for its links, date, kind and fingerprints.

Links tell the dates of their targets: when a feed says they were published, and when the link appeared.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from forager.arrays import IntArray
from forager.core.states import document
from forager.importers.collector import Collector, PageFacts, is_robots
from forager.importers.streams import ByteStream
from forager.pages.page import Page
from forager.pages.trust import Trust
from forager.pages.urls import UrlMemo, canonical, site
from forager.terms import Dated, DateSource, Kind, Link, Outcome, Response, Url
from forager.warc.captures import Capture, captures
from forager.warc.reader import Broken, WarcRecord
from forager.warc.wacz import unpack_wacz


class LinkSightings:
    """What links said of pages, by URL number; the first statement counts."""

    def __init__(self) -> None:
        self._announced: dict[int, float] = {}
        self._met = np.full(1024, np.nan)
        """When a link was first seen: nan for never, -inf if it stood there when the page was first looked at."""

    def __repr__(self) -> str:
        return f"<Sightings of {np.count_nonzero(~np.isnan(self._met))} links, {len(self._announced)} dates announced>"

    def announce(self, links: Sequence[Link], numbers: IntArray) -> None:
        """Records the dates that a feed or sitemap gives for pages."""
        for link, number in zip(links, numbers.tolist(), strict=True):
            if link.published is not None:
                self._announced.setdefault(number, link.published)

    def note(self, numbers: IntArray, now: float, *, again: bool) -> None:
        """Records that a page showed these links; `again`: it was seen before."""
        most = int(numbers.max(initial=-1)) + 1
        if most > len(self._met):
            self._met = np.append(self._met, np.full(max(most, 2 * len(self._met)) - len(self._met), np.nan))
        self._met[numbers[np.isnan(self._met[numbers])]] = now if again else -np.inf

    def dates(self, number: int) -> tuple[Dated | None, Dated | None]:
        """Returns what a feed said of a page, and when its link appeared."""
        announced = self._announced.get(number)
        met = self._met.item(number) if number < len(self._met) else np.nan
        return (
            None if announced is None else Dated(announced, DateSource.FEED),
            Dated(met, DateSource.FIRST_SEEN) if np.isfinite(met) else None,
        )


_TOLD = 1_000
"""Progress is reported after this many captures."""


class WarcReader:
    """Takes the captures of recordings; a body that was recorded once is read once."""

    def __init__(self, collector: Collector) -> None:
        self._builder, self._tally, self._text_states = collector.builder, collector.tally, collector.text_states
        self._mentions, self._spellings = collector.mentions, collector.spellings
        self._memo = UrlMemo()
        self._shown: dict[Url, PageFacts] = {}
        self._bodies: dict[str, PageFacts] = {}
        self._trust, self._sightings = Trust(), LinkSightings()
        self._waiting: list[tuple[Url, Capture]] = []
        """They repeat what no record before them showed; a file read later may."""

    def __repr__(self) -> str:
        return f"<WarcReader {self._tally.records:,} captures, {len(self._shown):,} pages>"

    def take(self, found: Capture | Broken) -> None:
        """Adds one capture to the tape, or counts why not."""
        if isinstance(found, Broken):
            self._tally.note("broken record", str(found.place), shown=found.why)
            return
        url, response = canonical(found.request.url), found.response
        if url is None:
            self._tally.note("not a URL", str(found.place), shown=found.request.url)
        elif is_robots(url):
            self._tally.left_out["robots.txt"] += 1
        elif response.outcome is Outcome.GONE:
            self._tally.records += 1
            self._builder.add(url, response.asked, gone=True, seconds=_took(found))
        elif response.outcome in (Outcome.FETCHED, Outcome.UNCHANGED):
            self._show(url, found)
        else:
            what = "redirect" if response.outcome is Outcome.MOVED else "failed request"
            self._tally.left_out[what] += 1

    def passed(self, record: WarcRecord) -> None:
        """Counts a record that holds no answer."""
        self._tally.passed[record.kind or "unnamed"] += 1

    def finish(self) -> None:
        """Completes captures that wait for the body that they repeat; if it is missing, they are broken."""
        for url, found in self._waiting:
            facts = self._repeated(url, found)
            if facts is None:
                self._tally.note("repeats an unknown capture", str(found.place), shown=url)
            else:
                self._add(url, found, facts)
        self._waiting.clear()

    def _show(self, url: Url, found: Capture) -> None:
        facts = self._known(url, found)
        if facts is None:
            self._waiting.append((url, found))
            return
        self._shown[url] = facts
        self._add(url, found, facts)

    def _add(self, url: Url, found: Capture, facts: PageFacts) -> None:
        self._tally.records += 1
        self._spellings.met(self._builder.number(url), found.request.url.encode())
        facts.add_to(self._builder, self._mentions, url, found.response.asked, _took(found))

    def _known(self, url: Url, found: Capture) -> PageFacts | None:
        """Returns what the capture shows; None if its body cannot be found."""
        if found.response.outcome is Outcome.UNCHANGED:
            return self._shown.get(url)
        if found.repeats:
            return self._repeated(url, found) or self._shown.get(url)
        key = _key(url, found)
        facts = self._bodies.get(key) if found.digest else None
        if facts is None:
            facts = self._read(url, found.response)
            if found.digest:
                self._bodies[key] = facts
                self._bodies.setdefault(found.digest, facts)
        return facts

    def _repeated(self, url: Url, found: Capture) -> PageFacts | None:
        """Returns what the same bytes showed under this URL; under another one, if never under this."""
        return self._bodies.get(_key(url, found)) or self._bodies.get(found.digest)

    def _read(self, url: Url, response: Response) -> PageFacts:
        page = Page(response, memo=self._memo)
        numbers = self._builder.numbers(page.targets)
        published = self._published(url, page, response.asked)
        if page.kind in (Kind.FEED, Kind.SITEMAP):
            self._sightings.announce(page.links, self._builder.numbers(link.url for link in page.links))
        self._sightings.note(numbers, response.asked, again=url in self._shown)
        row = self._text_states.row(document(page.title, page.text))
        links = np.unique(numbers).astype(np.int32)
        return PageFacts(page.byte_print, page.text_print, published, page.kind, links, row)

    def _published(self, url: Url, page: Page, now: float) -> Dated | None:
        """Returns the date to believe of a page, as for a crawl that saw these captures one after the other.

        A page that is no article has only the date that it states.
        """
        if page.kind is not Kind.ARTICLE:
            return page.published_but({DateSource.TEXT})
        if not page.robots.index:
            return None
        others = self._sightings.dates(self._builder.number(url))
        return self._trust.published(site(url), page, others, now, new=url not in self._shown)


def _key(url: Url, found: Capture) -> str:
    """Returns the key of a body; it includes the URL, because the same bytes may have other links under another URL."""
    return f"{found.digest} {url}"


def _took(found: Capture) -> float:
    return found.took or found.response.seconds or np.nan


def read_warc(stream: ByteStream, wacz: bool, reader: WarcReader, progress: Callable[[int], None]) -> None:
    """Takes every capture of a WARC or WACZ; what must be unpacked or came through a pipe is put in a temporary folder."""
    with ExitStack() as stack:
        path = stream.source.path
        if path is None or wacz:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forager-import-")))
        if path is None:
            path = folder / "stdin.warc"
            with path.open("wb") as file:
                shutil.copyfileobj(stream, file)
        paths: Iterable[Path] = unpack_wacz(path, folder / "unpacked") if wacz else [path]
        for count, found in enumerate(captures(paths, passed=reader.passed), 1):
            reader.take(found)
            if count % _TOLD == 0:
                progress(found.place.offset)
