"""Everything that reads what strangers wrote, as targets for fuzzing: bytes in, and nothing but a `ForagerError` may come out.

`tests/properties/test_fuzz_readers.py` tries each with hypothesis, `tests/bench/fuzz.py` with atheris, for longer.
"""

import asyncio
import atexit
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np
from aiohttp.test_utils import make_mocked_request

from forager.cli.log_input import read_change_log
from forager.clock import LoopClock
from forager.core.focus import Focus
from forager.core.parameters import FocusSettings
from forager.errors import ForagerError
from forager.importers.edge_files import read_edges, read_overlap
from forager.importers.files import import_files
from forager.importers.streams import sources
from forager.importers.tables import import_tables
from forager.importers.texts import read_texts
from forager.library.session import read_seeds
from forager.pages.feeds import read_feed, told_by
from forager.pages.head import lazily
from forager.pages.moments import read_moment
from forager.pages.page import Page
from forager.pages.sitemaps import read_sitemap
from forager.pages.urls import Joiner, canonical, host, site, url_words
from forager.recrawl.formula import formula_text, parse
from forager.recrawl.policies import Formula
from forager.recrawl.terminals import PageStates
from forager.settings import load_settings
from forager.tape.tape import load_tape
from forager.tape.tape import save as save_tape
from forager.terms import Outcome, Request, Response, Url
from forager.warc.captures import captures
from forager.warc.index import read_line
from forager.warc.wacz import unpack_wacz
from forager.web.inflate import InflateError, Inflater
from forager.web.robots import Robots, RobotsRules
from forager.web.timetable import Timetable
from tests.simulation.small_tape import paper

HERE = Url("https://paper.example/news/today.html")
TYPES = ("text/html", "application/xml", "application/rss+xml; charset=utf-16", "", "text/html; charset=shift_jis")
ANSWERS = [name for name, kind in vars(Page).items() if isinstance(kind, property | lazily) and name[0] != "_"]
"""All that can be asked of a page."""
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
    seen = Page(Response(HERE, Outcome.FETCHED, 1.7e9, headers=headers, body=raw[1:]))
    for target in seen.targets:
        seen.link(target)
        if (entry := seen.announced(target)) is not None:
            told_by(entry)
    for answer in ANSWERS:  # each is worked out when it is asked for
        getattr(seen, answer)
    if BUG.search(seen.trouble):
        raise CaughtError(seen.trouble)


def url(raw: bytes) -> None:
    text = text_of_bytes(raw)
    tidy = canonical(text)
    joined = Joiner(HERE).join(text)
    for one in (tidy, joined):
        if one is not None:
            assert canonical(one) == one, (text, one, canonical(one))
            assert host(one) and site(one) and url_words(one) is not None


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
    rules = RobotsRules.read(raw.decode("utf-8", "replace"))
    for agent in ("Forager", "*", ""):
        rules.deciding(HERE, agent)


def feed(raw: bytes) -> None:
    read_feed(raw, HERE, "application/rss+xml")


def sitemap(raw: bytes) -> None:
    read_sitemap(raw, HERE)


def date(raw: bytes) -> None:
    found = read_moment(text_of_bytes(raw))
    assert found is None or np.isfinite(found.time)


def warc(raw: bytes) -> None:
    for suffix in (".warc", ".warc.gz"):
        for _ in islice(captures([file_of(raw, f"x{suffix}")]), 1000):
            pass


def packed(raw: bytes) -> None:
    unpack_wacz(file_of(raw, "x.wacz"), folder() / "unpacked")


def body(raw: bytes) -> None:
    """The first byte chooses how a body is compressed; the rest arrives in pieces."""
    coding = ("gzip", "deflate", "br", "zstd", "gzip, br")[raw[0] % 5] if raw else ""
    inflater = Inflater(coding, 10_000)
    with suppress(InflateError):
        for start in range(1, len(raw), 100):
            if not inflater.full:
                inflater.feed(raw[start : start + 100])
        inflater.finish()
    assert len(inflater.body) <= 10_000


def index(raw: bytes) -> None:
    for line in text_of_bytes(raw).splitlines():
        read_line(line)


def recording(raw: bytes) -> None:
    import_files(sources([str(file_of(raw, "recording"))]), origin="fuzz")


def change_log(raw: bytes) -> None:
    read_change_log(file_of(raw, "log.csv"))


def change_table(raw: bytes) -> None:
    """The first byte chooses the kind of table."""
    kind = (".jsonl", ".npz", ".parquet")[raw[0] % 3] if raw else ".jsonl"
    read_change_log(file_of(raw[1:], f"log{kind}"))


def tables(raw: bytes) -> None:
    """The first byte chooses the kind of the table of versions; the other is sound."""
    kind = ("csv", "parquet")[raw[0] % 2] if raw else "csv"
    (folder() / kind).mkdir(exist_ok=True)
    file_of(b"url,target,first_time,last_time\nhttp://a.example/,http://a.example/1,0,60\n", f"{kind}/stays.csv")
    file_of(raw[1:], f"{kind}/versions.{kind}")
    import_tables(folder() / kind, origin="fuzz")


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
    names = [name for name in PageStates.__slots__ if name not in ("now", "day", "phase", "rhythm")]
    scores = Formula.of(tree).scores(PageStates(2.0, **dict.fromkeys(names, ones)))
    assert len(scores) == 3
    assert parse(formula_text(tree)) == tree


def settings(raw: bytes) -> None:
    with suppress(ForagerError):
        load_settings(file_of(raw, "config.yaml"))
    load_settings(None, [text_of_bytes(raw)])


def seeds(raw: bytes) -> None:
    read_seeds(file_of(raw, "seeds.txt"))


@cache
def _dashboard() -> Callable[[str], int]:
    """What asks a dashboard for a path, and gives the status."""
    from forager.assembly import make_crawl, wire
    from forager.clock import WallClock
    from forager.dashboard.chronicle import Chronicle
    from forager.dashboard.server import Dashboard
    from forager.dashboard.views import Views
    from forager.dashboard.watched import watch
    from forager.engine.crawl_settings import DashboardSettings
    from forager.newsroom.newsroom import Newsroom
    from forager.report.account import Account
    from forager.store.store import Store

    chosen, clock = load_settings(None, ["newsroom.days=1", "newsroom.backlog=1h"]).settings, WallClock()
    newsroom, account = Newsroom(chosen.newsroom, clock), Account()
    chronicle = Chronicle(account)
    rules = wire(chosen, clock, newsroom)
    crawl = runner().run(make_crawl(chosen, clock, rules, Store(), newsroom.homes, account, [chronicle]))
    dashboard = Dashboard(Views(watch("fuzz", crawl, chronicle.account, rules), chronicle))
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
        *(query, focus, rankings, packed, body, change_table, tables),
    )
}


def attempt(target: Target, raw: bytes) -> None:
    """Run a target; trouble that the operator can mend is fine, if it is told in one line."""
    try:
        target(raw)
    except ForagerError as error:
        assert "\n" not in str(error), error
