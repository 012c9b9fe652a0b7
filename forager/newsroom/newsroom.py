"""The newsroom as a web: answers requests as of its clock, in process or over real HTTP on loopback, one port for each
paper. It knows what it really published."""

import socket
from bisect import bisect_left
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from email.utils import formatdate

from aiohttp import web
from isal import igzip

from forager.clock import Clock, in_thread
from forager.newsroom.article import Article
from forager.newsroom.machine_files import Files
from forager.newsroom.newsroom_settings import Honesty, NewsroomSettings
from forager.newsroom.noise import lot, token
from forager.newsroom.plan import NewsPlan, make_plan
from forager.newsroom.sheets import SheetPrinter
from forager.newsroom.site import Sheet, SheetKind, Site
from forager.terms import Request, Response, Trouble, Url, Validators
from forager.web.web import NO_SUCH_HOST, Answer, failed, http_date, judged

STATUS = {SheetKind.MOVED: 301, SheetKind.REMOVED: 410, SheetKind.NOTHING: 404}
HTML = "text/html; charset=utf-8"
_NOTHING_KNOWN = Validators()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server saw it."""

    at: float
    paper: str
    target: str
    """Path and query."""
    status: int
    """HTTP status; 0 if the connection was cut."""
    conditional: bool
    bytes: int
    """Size of the body sent, before any compression."""
    agent: str = ""
    """The user agent that asked, if it came over HTTP."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request: an answer after a delay, or a cut connection."""

    answer: Answer | None
    """The answer; None: the connection is cut."""
    wait: float


@dataclass(frozen=True, slots=True)
class _Host:
    site: Site
    pages: SheetPrinter
    files: Files


@dataclass(frozen=True, slots=True)
class Published:
    """A story: an article at its first publication."""

    url: Url
    paper: str
    section: str
    published: float
    article: Article
    copy_of: Url | None = None
    """The story of another paper that this one copies."""


class Truth:
    """What is really published, so that coverage and delay of a crawl are exact; URLs are those of the hosts that serve it."""

    def __init__(self, sites: Mapping[str, Site]) -> None:
        """`sites` by address, e.g. `http://gazette.example`."""
        bases = {site.paper.name: base for base, site in sites.items()}
        plan = next(iter(sites.values())).plan
        names = [paper.name for paper in plan.settings.papers]
        urls = [Url(bases[names[article.paper]] + article.path) for article in plan.articles]
        self.stories = tuple(
            Published(
                url,
                names[article.paper],
                plan.settings.papers[article.paper].sections[article.section].name,
                article.published,
                article,
                None if article.copy_of is None else urls[article.copy_of],
            )
            for url, article in zip(urls, plan.articles, strict=True)
        )
        self._times = [story.published for story in self.stories]
        moved = {Url(bases[names[a.paper]] + a.moved_path): a for a in plan.articles if a.moved is not None}
        self._articles = dict(zip(urls, plan.articles, strict=True)) | moved

    def published_between(self, since: float, until: float) -> tuple[Published, ...]:
        """Returns the stories published in [since, until), in order."""
        return self.stories[bisect_left(self._times, since) : bisect_left(self._times, until)]

    def article(self, url: Url) -> Article | None:
        """Returns the article at this URL at any time, before or after a move."""
        return self._articles.get(url)

    def published(self, url: Url) -> float | None:
        """Returns when the article at this URL is first published; None if there never is one."""
        article = self.article(url)
        return None if article is None else article.published


class Newsroom:
    """Several newspapers under one clock; `bases` says where each is served, by paper name, without a final slash."""

    def __init__(
        self,
        settings: NewsroomSettings,
        clock: Clock,
        bases: Mapping[str, str] | None = None,
        *,
        plan: NewsPlan | None = None,
    ) -> None:
        self.settings, self.clock = settings, clock
        self.plan = plan or make_plan(settings)
        self.bases = dict(bases or {paper.name: f"http://{paper.name}.example" for paper in settings.papers})
        self.requests: deque[Asked] = deque(maxlen=settings.log)
        self.sites = {self.bases[paper.name]: Site(self.plan, p) for p, paper in enumerate(settings.papers)}
        self._hosts = {
            base: _Host(site, SheetPrinter(site, base), Files(site, base)) for base, site in self.sites.items()
        }
        self.truth = Truth(self.sites)

    def __repr__(self) -> str:
        return f"<Newsroom {', '.join(self.bases)}: {len(self.plan.articles)} articles, {len(self.requests)} requests>"

    @property
    def homes(self) -> list[Url]:
        """The home page of each paper, as seeds."""
        return [Url(f"{base}/") for base in self.bases.values()]

    async def fetch(self, request: Request) -> Response:
        asked = self.clock.now()
        scheme, _, rest = request.url.partition("://")
        authority, _, target = rest.partition("/")
        if f"{scheme}://{authority}" not in self._hosts:
            return failed(request, Trouble.DNS, f"{NO_SUCH_HOST} {authority}", asked=asked)
        reply = self.reply(f"{scheme}://{authority}", f"/{target}", asked, request.validators)
        await self.clock.sleep(reply.wait)
        seconds = self.clock.now() - asked
        if reply.answer is None:
            return failed(request, Trouble.CONNECT, "the connection was reset", asked=asked, seconds=seconds)
        answer = reply.answer
        if request.body_limit is not None and len(answer.body) > request.body_limit:
            body = answer.body[: request.body_limit]
            answer = Answer(answer.status, answer.headers, body, len(body), answer.address)
        return judged(request, answer, asked=asked, seconds=seconds)

    def reply(
        self, base: str, target: str, now: float, validators: Validators = _NOTHING_KNOWN, agent: str = ""
    ) -> Reply:
        """Returns the reply of the paper at `base` to a GET of `target`, a path with its query; logs the request."""
        host = self._hosts[base]
        key = (host.site.paper.name, target, f"{now:.3f}")
        wait = self.settings.latency * (0.5 + lot(self.settings.seed, "latency", *key))
        answer, late = self._troubled(lot(self.settings.seed, "trouble", *key), host, target, now, validators)
        status, length = (0, 0) if answer is None else (answer.status, len(answer.body))
        conditional = validators != _NOTHING_KNOWN
        self.requests.append(Asked(now, host.site.paper.name, target, status, conditional, length, agent))
        return Reply(answer, wait + late)

    def _troubled(
        self, luck: float, host: _Host, target: str, now: float, validators: Validators
    ) -> tuple[Answer | None, float]:
        """Returns the answer, or server trouble depending on `luck`, a random number; and its delay in seconds."""
        settings = self.settings
        if luck < (bound := settings.resets):
            return None, 0.0
        if luck < (bound := bound + settings.errors):
            return _plain(500, "Something went wrong.", now), 0.0
        if luck < (bound := bound + settings.busy):
            return _plain(503, "Too busy.", now, ("retry-after", str(round(settings.retry_after)))), 0.0
        late = settings.slow_for if luck < bound + settings.slow else 0.0
        return self._answer(host, target, now, validators), late

    def _answer(self, host: _Host, target: str, now: float, validators: Validators) -> Answer:
        sheet = host.site.sheet(target, now)
        if sheet.kind is SheetKind.MOVED:
            base = self.bases[host.site.paper.name]
            return _plain(301, "It has moved.", now, ("location", f"{base}{sheet.path}"))
        if sheet.kind in STATUS:
            return _plain(STATUS[sheet.kind], "It is not here.", now)
        if sheet.article is not None and self.is_walled(sheet.article):
            return _plain(403, "For subscribers.", now)
        marks = self._validators(host.site, sheet, target, now)
        date = ("date", formatdate(now, usegmt=True))
        if host.site.paper.validators is Honesty.HONEST and _unchanged(marks, validators, sheet.modified):
            return Answer(304, (date, *marks))
        if sheet.kind in (SheetKind.FEED, SheetKind.SITEMAP, SheetKind.SITEMAP_INDEX, SheetKind.ROBOTS):
            mime, body = host.files.render(sheet, now)
        else:
            mime, body = HTML, host.pages.render(sheet, now)
        return Answer(200, (date, ("content-type", mime), *marks), body, len(body))

    def is_walled(self, article: Article) -> bool:
        """Whether an article is not for us."""
        return lot(self.settings.seed, "wall", article.paper, article.section) < self.settings.wall

    def _validators(self, site: Site, sheet: Sheet, target: str, now: float) -> tuple[tuple[str, str], ...]:
        if site.paper.validators is Honesty.ABSENT:
            return ()
        if site.paper.validators is Honesty.USELESS:
            return (("etag", f'"{token(self.settings.seed, "etag", target, f"{now:.3f}")}"'),)
        return (("etag", f'W/"{sheet.key}"'), ("last-modified", formatdate(sheet.modified, usegmt=True)))


def _unchanged(marks: tuple[tuple[str, str], ...], asked: Validators, modified: float) -> bool:
    """Whether the client's copy is current; an ETag, if given, decides alone (RFC 9110, section 13.2.2)."""
    if asked.etag:
        return dict(marks)["etag"] in asked.etag
    since = http_date(asked.last_modified) if asked.last_modified else None
    return since is not None and modified <= since


def _plain(status: int, text: str, now: float, *headers: tuple[str, str]) -> Answer:
    body = f"<!DOCTYPE html><title>{status}</title><p>{text}</p>\n".encode()
    return Answer(status, (("date", formatdate(now, usegmt=True)), ("content-type", HTML), *headers), body, len(body))


@asynccontextmanager
async def serve(newsroom: Newsroom, clock: Clock) -> AsyncIterator[Newsroom]:
    """Serve the same news on free ports of 127.0.0.1 until left.

    Yields the newsroom as served: its `bases` and `homes` are real URLs, its `truth` speaks of them, and its `requests`
    log what came in. Pages carry their real host and port, so the ports are taken before anything is rendered.
    """
    async with AsyncExitStack() as stack:
        doors = {paper.name: _door(stack) for paper in newsroom.settings.papers}
        bases = {name: f"http://127.0.0.1:{door.getsockname()[1]}" for name, door in doors.items()}
        served = await in_thread(lambda: Newsroom(newsroom.settings, clock, bases, plan=newsroom.plan))
        for name, door in doors.items():
            server = web.Server(_handler(served, bases[name]), access_log=None)
            runner = web.ServerRunner(server)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.SockSite(runner, door).start()
        yield served


def _door(stack: AsyncExitStack) -> socket.socket:
    door = stack.enter_context(socket.socket())
    door.bind(("127.0.0.1", 0))
    return door


def _handler(newsroom: Newsroom, base: str) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        headers = request.headers
        validators = Validators(headers.get("If-None-Match", ""), headers.get("If-Modified-Since", ""))
        agent = headers.get("User-Agent", "")
        reply = newsroom.reply(base, request.raw_path, newsroom.clock.now(), validators, agent)
        await newsroom.clock.sleep(reply.wait)
        if reply.answer is None:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        sent, body = dict(reply.answer.headers), reply.answer.body
        if body and "gzip" in headers.get("Accept-Encoding", ""):
            sent["content-encoding"], body = "gzip", igzip.compress(body, 1)
        return web.Response(status=reply.answer.status, headers=sent, body=body)

    return handle
