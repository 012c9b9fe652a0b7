"""Everything that reads what strangers wrote, as targets for fuzzing: bytes in, and nothing but a `ForagerError` may come out.

`tests/properties/test_fuzz_readers.py` tries each with hypothesis, `tests/bench/fuzz.py` with atheris, for longer.
"""

import asyncio
import atexit
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np
from aiohttp.test_utils import make_mocked_request

from forager.cli.change_logs import read_change_log
from forager.cli.edge_files import read_edges, read_overlap
from forager.cli.seeds import read_seeds
from forager.clock import LoopClock
from forager.engine.texts import read_texts
from forager.errors import ForagerError
from forager.frontier.timetable import Timetable
from forager.imports.files import import_files
from forager.imports.opening import sources
from forager.pages.feeds import read_feed
from forager.pages.moments import moment
from forager.pages.reader import read
from forager.pages.sitemaps import read_sitemap
from forager.pages.urls import Joiner, canonical, host, site, words
from forager.recrawl.expression import compiled
from forager.recrawl.formula import parse, text_of
from forager.recrawl.states import States
from forager.reinforcing.focus import Focus
from forager.reinforcing.settings import FocusSettings
from forager.settings import load
from forager.terms import Outcome, Request, Response, Url
from forager.world.robots import Robots
from forager.world.rules import Rules
from forager.world.tape.columns import load as load_tape
from forager.world.tape.columns import save as save_tape
from forager.world.warc.capturing import captures
from forager.world.warc.cdxj import read_line
from tests.corpora import CorpusMissing, feed_files, newspaper_pages, robots_files
from tests.simulation.small_tape import paper

HERE = Url("https://paper.example/news/today.html")
TYPES = ("text/html", "application/xml", "application/rss+xml; charset=utf-16", "", "text/html; charset=shift_jis")
BUG = re.compile(r": \w*(?:Error|Exception|Exit|Interrupt|Iteration)\b: ?")

Target = Callable[[bytes], None]


class CaughtError(Exception):
    """The reader of pages caught an exception of its own, and says so in the trouble of the page."""


def text_of_bytes(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


@cache
def folder() -> Path:
    """A place for files, in memory if there is one."""
    made = Path(mkdtemp(prefix="forager-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    atexit.register(rmtree, made, ignore_errors=True)
    return made


def file_of(raw: bytes, name: str) -> Path:
    path = folder() / name
    path.write_bytes(raw)
    return path


def page(raw: bytes) -> None:
    kind = TYPES[raw[0] % len(TYPES)] if raw else ""
    headers = (("content-type", kind), ("last-modified", text_of_bytes(raw[:40])))
    seen = read(Response(HERE, Outcome.FETCHED, 1.7e9, headers=headers, body=raw[1:]))
    if seen.text is None or BUG.search(seen.trouble):
        raise CaughtError(seen.trouble)


def url(raw: bytes) -> None:
    text = text_of_bytes(raw)
    tidy = canonical(text)
    joined = Joiner(HERE).join(text)
    for one in (tidy, joined):
        if one is not None:
            assert canonical(one) == one, (text, one, canonical(one))
            assert host(one) and site(one) and words(one) is not None


class Echo:
    """A web that answers everything with the same bytes."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    async def fetch(self, request: Request) -> Response:
        return Response(request.url, Outcome.FETCHED, 1.7e9, status=200, body=self.body)


@cache
def runner() -> asyncio.Runner:
    return asyncio.Runner()


def robots(raw: bytes) -> None:
    gate = Robots(Echo(raw), Timetable(), LoopClock(1.7e9), "Forager")
    verdict = runner().run(gate.explain(HERE))
    assert verdict is not None
    gate.sitemaps(host(HERE))
    rules = Rules.read(raw.decode("utf-8", "replace"))
    for agent in ("Forager", "*", ""):
        rules.deciding(HERE, agent)


def feed(raw: bytes) -> None:
    read_feed(raw, HERE, "application/rss+xml")


def sitemap(raw: bytes) -> None:
    read_sitemap(raw, HERE)


def date(raw: bytes) -> None:
    found = moment(text_of_bytes(raw))
    assert found is None or np.isfinite(found.time)


def warc(raw: bytes) -> None:
    for suffix in (".warc", ".warc.gz"):
        for _ in islice(captures([file_of(raw, f"x{suffix}")]), 1000):
            pass


def index(raw: bytes) -> None:
    for line in text_of_bytes(raw).splitlines():
        read_line(line)


def recording(raw: bytes) -> None:
    import_files(sources([str(file_of(raw, "recording"))]), origin="fuzz")


def change_log(raw: bytes) -> None:
    read_change_log(file_of(raw, "log.csv"))


@cache
def _tape() -> Path:
    save_tape(paper(days=0.5), folder() / "small.tape")
    return folder() / "small.tape"


def tape(raw: bytes) -> None:
    """The first byte chooses a file of a tape, the next two a place in it; the rest is written there."""
    files = sorted(path for path in _tape().iterdir() if path.is_file())
    chosen = files[raw[0] % len(files)] if raw else files[0]
    sound = chosen.read_bytes()
    at = int.from_bytes(raw[1:3]) % (len(sound) + 1)
    try:
        chosen.write_bytes(sound[:at] + raw[3:] + sound[at + len(raw[3:]) :])
        load_tape(_tape())
    finally:
        chosen.write_bytes(sound)


def formula(raw: bytes) -> None:
    tree = parse(text_of_bytes(raw))
    ones = np.ones(3)
    names = [name for name in States.__slots__ if name != "now"]
    scores = compiled(tree).scores(States(2.0, **dict.fromkeys(names, ones)))
    assert len(scores) == 3
    assert parse(text_of(tree)) == tree


def settings(raw: bytes) -> None:
    with suppress(ForagerError):
        load(file_of(raw, "config.yaml"))
    load(None, [text_of_bytes(raw)])


def seeds(raw: bytes) -> None:
    read_seeds(file_of(raw, "seeds.txt"))


@cache
def _dashboard() -> Callable[[str], int]:
    """What asks a dashboard for a path, and gives the status."""
    from forager.assembly import make_crawl, wire
    from forager.cli.running import live_view
    from forager.clock import WallClock
    from forager.dashboard.app import Dashboard
    from forager.dashboard.chronicle import Chronicle
    from forager.dashboard.settings import DashboardSettings
    from forager.dashboard.views import Views
    from forager.store.memory import MemoryStore
    from forager.world.newsroom.newsroom import Newsroom

    chosen, clock = load(None, ["newsroom.days=1", "newsroom.backlog=1h"]).settings, WallClock()
    newsroom, chronicle = Newsroom(chosen.newsroom, clock), Chronicle()
    rules = wire(chosen, clock, newsroom)
    crawl = runner().run(make_crawl(chosen, clock, rules, MemoryStore(), newsroom.homes, [chronicle]))
    dashboard = Dashboard(Views(live_view("fuzz", crawl, chronicle, rules), chronicle))
    app = dashboard.app(DashboardSettings(), {"localhost:1"})

    async def ask(target: str) -> int:
        request = make_mocked_request("GET", target, headers={"Host": "localhost:1"}, app=app)
        return (await app._handle(request)).status

    app.freeze()
    return lambda target: runner().run(ask(target))


PATHS = ("api/now", "api/stories", "api/fleet", "api/forager", "api/sites", "api/recrawl", "api/page", "metrics")


def query(raw: bytes) -> None:
    """The first byte chooses what is asked for, the rest is the query."""
    from aiohttp import web

    text = re.sub(rb"[^!-~]", b"%20", raw[1:]).decode()
    try:
        status = _dashboard()(f"/{PATHS[raw[0] % len(PATHS) if raw else 0]}?{text}")
    except web.HTTPException as answer:
        status = answer.status
    assert status < 500, status


def focus(raw: bytes) -> None:
    """The first line is the query, the others are examples; then a text is judged, and all is saved and loaded."""
    asked, _, examples = raw.partition(b"\n")
    settings = FocusSettings(query=text_of_bytes(asked))
    judge = Focus(settings, list(islice(read_texts(file_of(examples, "examples.jsonl")), 20)))
    for version, text in enumerate((text_of_bytes(raw), "A new bridge over the river", "")):
        judge.read(version, text)
    Focus.load(judge.save(), settings)


def rankings(raw: bytes) -> None:
    """Links, then texts of links, then queries, parted by zeros."""
    links, anchors, asked = (raw + b"\0\0").split(b"\0")[:3]
    edges = read_edges(file_of(links, "links.csv"))
    pages = edges.growing.graph().pages
    read_overlap(file_of(anchors, "anchors.csv"), file_of(asked, "queries.csv"), edges, pages).ranking(pages)


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        *(page, url, robots, feed, sitemap, date, warc, index, recording, change_log, tape, formula, settings, seeds),
        *(query, focus, rankings),
    )
}


def attempt(target: Target, raw: bytes) -> None:
    """Run a target; trouble that the operator can mend is fine, if it is told in one line."""
    try:
        target(raw)
    except ForagerError as error:
        assert "\n" not in str(error), error


SAMPLES: dict[str, tuple[bytes, ...]] = {
    "page": (
        b"\0<!doctype html><html lang=en><head><title>A</title><link rel=canonical href=/x>"
        b"<meta property=og:type content=article>"
        b'<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2026-03-02T10:00:00Z"}</script></head>'
        b"<body><nav><a href=/a>A</a></nav><article><h1>T</h1>"
        b"<time datetime=2026-03-02>2 March</time><p>Some text.</p></article>",
    ),
    "url": (b"http://user@a.example:80/b/../c;jsessionid=1?utm_source=x&b=2&a=1#f", b"//[::1]/%7e", b"?page=2"),
    "robots": (b"User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 3\nSitemap: https://a.example/s.xml\n",),
    "feed": (
        b'<rss version="2.0"><channel><title>N</title><item><title>A</title><link>https://a.example/1</link>'
        b"<pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate></item></channel></rss>",
        b'{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://a.example/2","date_published":"2026-03-02"}]}',
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/3"/>'
        b'<updated>2026-03-02T10:00:00Z</updated></entry></feed>',
    ),
    "sitemap": (
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/1</loc>'
        b"<lastmod>2026-03-02</lastmod></url></urlset>",
        b"https://paper.example/a\nhttps://paper.example/b\n",
    ),
    "date": (b"Mon, 02 Mar 2026 10:00:00 +0100", b"2026-03-02T10:00:00.5Z", b"2. M\xc3\xa4rz 2026, 10:15 Uhr", b"1772409600"),
    "warc": (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\nWARC-Date: 2026-03-02T10:00:00Z\r\n"
        b"Content-Type: application/http;msgtype=response\r\nContent-Length: 44\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n",
    ),
    "index": (b'org,example)/ 20260302000000 {"url": "http://example.org/", "offset": "0", "filename": "a.warc.gz"}\n',),
    "recording": (
        b" CDX N b a m s k r M S V g\norg,example)/ 20260302000000 http://example.org/ text/html 200 AAAA - - 1 1 a\n",
        b'org,example)/ 20260302000000 {"url": "http://example.org/", "status": "200", "digest": "sha1:AAAA"}\n',
        b'<http://example.org/>; rel="original",\n<http://web.example/2026/http://example.org/>; rel="memento"; '
        b'datetime="Mon, 02 Mar 2026 10:00:00 GMT"\n',
        b"url,time,digest\nhttp://example.org/,2026-03-02T10:00:00Z,a\n",
        b'{"url": "http://example.org/", "time": 1772409600, "digest": "a"}\n',
    ),
    "change_log": (b"url,time,changed\na,0,1\na,3600,0\nb,0,1\nb,3600,1\n",),
    "tape": (b"\0\0\0{", b"\x03\0\x10\xff\xff\xff\xff"),
    "formula": (b"t * (X + 0.1) / (n + 1)", b"log(t) - -X", b"exp(min(t, 2))"),
    "settings": (b"timetable:\n  download_delay: 2s\n", b"crawl.cycle=15m", b"a: &x [*x]\n"),
    "seeds": (b"# papers\nhttps://a.example/\n\nhttps://b.example/news # best\n",),
    "focus": (b'bridge "river" OR rain\n{"title": "A bridge", "text": "A bridge opens over the river"}\n{"text": "Rain"}\n',),
    "rankings": (b"source,target\na,b\nb,c\n\0target,anchor\nb,Rain today\n\0query,count\nrain,3\n",),
    "query": (b"\1after=1&limit=2", b"\3id=0", b"\6url=https://paper.example/"),
}  # fmt: skip
"""Something to begin with, for each target."""


def real_samples(name: str) -> Iterator[bytes]:
    """Files from the wild, where they are at hand."""
    try:
        match name:
            case "page":
                yield from (b"\0" + case.html.encode() for case in newspaper_pages()[:20])
            case "robots":
                yield from (body for _, body in robots_files()[::40])
            case "feed":
                yield from (body for _, body in feed_files()[::10])
    except CorpusMissing:
        return
