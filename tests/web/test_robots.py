import asyncio
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from forager.chance import stream
from forager.clock import LoopClock, WallClock, run_virtual
from forager.pages.urls import canonical
from forager.terms import Hop, Outcome, Request, Response, Trouble, Url, Validators
from forager.web.live import Live
from forager.web.polite import Following, Polite, Retrying
from forager.web.robots import Robots, RobotsRules, RobotsVerdict
from forager.web.timetable import Timetable
from forager.web.web_settings import LiveSettings, RetryingSettings, RobotsSettings, TimetableSettings
from tests.corpora import have, robots_files
from tests.server import LOOPBACK, Seen, Served, serving

EPOCH = 1_700_000_000.0
ROBOTS = "http://a.example/robots.txt"
PAGE = Url("http://a.example/page")

# RFC 9309: a robots.txt, a path, and whether ForagerBot may fetch it.
CASES: dict[str, tuple[str, str, bool]] = {
    "an empty file allows all (2.2)": ("", "/x", True),
    "no group for us allows all (2.2.1)": ("User-agent: other\nDisallow: /", "/x", True),
    "our group holds (2.2.1)": ("User-agent: foragerbot\nDisallow: /", "/x", False),
    "names are compared without case (2.2.1)": ("uSER-aGENT: FORAGERbot\ndisALLOW: /", "/x", False),
    "the group of all holds if none is ours (2.2.1)": ("User-agent: *\nDisallow: /", "/x", False),
    "our group alone counts, not that of all (2.2.1)": (
        "User-agent: *\nDisallow: /\n\nUser-agent: foragerbot\nAllow: /",
        "/x",
        True,
    ),
    "groups of the same name are one (2.2.1)": (
        "User-agent: foragerbot\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: foragerbot\nDisallow: /b",
        "/b",
        False,
    ),
    "several names share a group (2.2)": ("User-agent: other\nUser-agent: foragerbot\nDisallow: /a", "/a", False),
    "rules before any group mean nothing (2.2)": ("Disallow: /\nUser-agent: foragerbot\nDisallow: /a", "/b", True),
    "a rule is a prefix (2.2.2)": ("User-agent: *\nDisallow: /fish", "/fish.html", False),
    "a prefix has its case (2.2.2)": ("User-agent: *\nDisallow: /fish", "/Fish", True),
    "a prefix starts at the root (2.2.2)": ("User-agent: *\nDisallow: /fish", "/cat/fish", True),
    "the longest match decides (2.2.2)": ("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/b/c", True),
    "the longest match decides, in any order (2.2.2)": ("User-agent: *\nDisallow: /a/b\nAllow: /a", "/a/b/c", False),
    "allow wins a tie (2.2.2)": ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
    "an empty disallow allows all (2.2.2)": ("User-agent: *\nDisallow:", "/x", True),
    "robots.txt itself is always allowed (2.2.2)": ("User-agent: *\nDisallow: /", "/robots.txt", True),
    "escapes are compared decoded (2.2.2)": ("User-agent: *\nDisallow: /foo/bar/%62%61%7A", "/foo/bar/baz", False),
    "non-ASCII is compared escaped (2.2.2)": ("User-agent: *\nDisallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", False),
    "an escaped slash is no slash (2.2.2)": ("User-agent: *\nDisallow: /a/b", "/a%2Fb", True),
    "the query belongs to the path (2.2.2)": ("User-agent: *\nDisallow: /*?print=", "/a?print=1", False),
    "a star is any sequence (2.2.3)": ("User-agent: *\nDisallow: /*.gif", "/pics/a.gif?x", False),
    "a dollar is the end (2.2.3)": ("User-agent: *\nDisallow: /*.gif$", "/pics/a.gif?x", True),
    "a dollar is the end, met (2.2.3)": ("User-agent: *\nDisallow: /*.gif$", "/pics/a.gif", False),
    "an escaped star is a star (2.2.3)": ("User-agent: *\nDisallow: /a%2Ab", "/aXb", True),
    "a comment ends a rule (2.2.3)": ("User-agent: * # all\nDisallow: /a # secret", "/a", False),
    "other lines do not end a group (2.2.4)": ("User-agent: *\nSitemap: http://a.example/s\nDisallow: /a", "/a", False),
    "a sitemap between names does not split them (2.2.4)": (
        "User-agent: foragerbot\nSitemap: http://a.example/s\nUser-agent: x\nDisallow: /a",
        "/a",
        False,
    ),
    "lines may end in any way (2.2)": ("User-agent: *\rDisallow: /a\r\nDisallow: /b", "/a", False),
    "a byte order mark is no part of the file (2.3)": ("\ufeffUser-agent: *\nDisallow: /a", "/a", False),
    "the RFC's own example, allowed (5.1)": (
        "User-agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n"
        "User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n"
        "User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n",
        "/publications/x",
        True,
    ),
    "the RFC's longest match (5.2)": (
        "User-Agent: foragerbot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif",
        "/example/page/disallowed.gif",
        False,
    ),
}  # fmt: skip


class FakeWeb:
    """Serves responses by URL (a page if unknown), after a while; logs what it was asked."""

    def __init__(self, answers: dict[str, Response | str], seconds: float = 0.0) -> None:
        self.answers, self.seconds = answers, seconds
        self.log: list[Request] = []

    def asked(self) -> list[str]:
        return [request.url for request in self.log]

    async def fetch(self, request: Request) -> Response:
        self.log.append(request)
        await asyncio.sleep(self.seconds)
        answer = self.answers.get(request.url, "page")
        return answer if isinstance(answer, Response) else fetched(request.url, answer)


def fetched(url: str, text: str, **headers: str) -> Response:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Response(Url(url), Outcome.FETCHED, 0.0, status=200, body=text.encode(), headers=named)


def answered(status: int, outcome: Outcome, trouble: Trouble = Trouble.STATUS, location: str = "") -> Response:
    headers = (("location", location),) if location else ()
    return Response(Url(ROBOTS), outcome, 0.0, status=status, trouble=trouble, error=f"E{status}", headers=headers)


def robots(web: FakeWeb, settings: RobotsSettings | None = None, timetable: Timetable | None = None) -> Robots:
    return Robots(web, timetable or Timetable(), LoopClock(EPOCH), "ForagerBot", settings)


def fetch(answers: dict[str, Response | str], url: Url = PAGE) -> tuple[Response, list[str]]:
    web = FakeWeb(answers)
    return run_virtual(robots(web).fetch(Request(url))), web.asked()


@pytest.mark.parametrize("name", CASES)
def test_rfc_9309(name: str) -> None:
    text, path, allowed = CASES[name]
    url = canonical(f"http://a.example{path}")
    assert url is not None
    web = FakeWeb({ROBOTS: text})
    gate = robots(web)
    response = run_virtual(gate.fetch(Request(url)))
    assert (response.outcome is Outcome.FETCHED) == allowed
    verdict = run_virtual(gate.explain(url))
    assert verdict.allowed == allowed


def test_a_refusal_names_the_rule() -> None:
    response, asked = fetch({ROBOTS: "User-agent: *\n# our archive\nDisallow: /page # please"})
    assert (response.outcome, response.trouble) == (Outcome.REFUSED, Trouble.ROBOTS)
    assert response.error == "Disallow: /page # please (line 3 of http://a.example/robots.txt)"
    assert asked == [ROBOTS]


def test_explain_tells_rule_group_source_time_and_delay() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: foragerbot\nCrawl-delay: 7\nDisallow: /p\nAllow: /page"
    verdict = run_virtual(robots(FakeWeb({ROBOTS: text})).explain(PAGE))
    assert verdict == RobotsVerdict(
        PAGE, True, "Allow: /page", 7, "foragerbot", Url(ROBOTS), EPOCH, crawl_delay=7.0, trouble=Trouble.NONE
    )


UNAVAILABLE = [(status, Outcome.GONE) for status in (400, 401, 403, 404, 410)]


@pytest.mark.parametrize(("status", "outcome"), UNAVAILABLE)
def test_without_a_robots_file_everything_is_allowed(status: int, outcome: Outcome) -> None:
    response, asked = fetch({ROBOTS: answered(status, outcome)})
    assert response.outcome is Outcome.FETCHED
    assert asked == [ROBOTS, PAGE]


@pytest.mark.parametrize(
    ("status", "trouble"),
    [(500, Trouble.STATUS), (503, Trouble.STATUS), (429, Trouble.STATUS), (0, Trouble.TIMEOUT), (0, Trouble.DNS)],
)
def test_a_robots_file_that_cannot_be_had_disallows_everything(status: int, trouble: Trouble) -> None:
    response, asked = fetch({ROBOTS: answered(status, Outcome.FAILED, trouble)})
    assert (response.outcome, response.trouble) == (Outcome.REFUSED, Trouble.ROBOTS)
    assert f"E{status}" in response.error
    assert asked == [ROBOTS]


@pytest.mark.parametrize("trouble", [Trouble.ADDRESS, Trouble.BUDGET])
def test_a_robots_file_that_we_may_not_ask_for_refuses_the_page_for_the_same_reason(trouble: Trouble) -> None:
    response, _ = fetch({ROBOTS: answered(0, Outcome.REFUSED, trouble)})
    assert (response.outcome, response.trouble) == (Outcome.REFUSED, trouble)


def test_five_redirects_are_followed_across_hosts() -> None:
    answers: dict[str, Response | str] = {ROBOTS: answered(301, Outcome.MOVED, location="http://h1.example/robots.txt")}
    for n in range(1, 5):
        answers[f"http://h{n}.example/robots.txt"] = answered(
            302, Outcome.MOVED, location=f"http://h{n + 1}.example/robots.txt"
        )
    answers["http://h5.example/robots.txt"] = "User-agent: *\nDisallow: /page"
    response, asked = fetch(answers)
    assert response.trouble is Trouble.ROBOTS
    assert len(asked) == 6
    answers["http://h5.example/robots.txt"] = answered(302, Outcome.MOVED, location="http://h6.example/robots.txt")
    response, asked = fetch(answers)
    assert response.outcome is Outcome.FETCHED  # a sixth is not followed: as if there were none
    assert len(asked) == 7


def test_a_redirect_to_nowhere_is_as_good_as_no_file() -> None:
    response, _ = fetch({ROBOTS: answered(301, Outcome.MOVED, location="mailto:x")})
    assert response.outcome is Outcome.FETCHED


def test_each_scheme_and_port_has_its_own_file() -> None:
    web = FakeWeb({ROBOTS: "User-agent: *\nDisallow: /"})
    gate = robots(web)

    async def outcomes() -> list[Outcome]:
        urls = ["http://a.example/x", "https://a.example/x", "http://a.example:8080/x"]
        return [(await gate.fetch(Request(Url(url)))).outcome for url in urls]

    assert run_virtual(outcomes()) == [Outcome.REFUSED, Outcome.FETCHED, Outcome.FETCHED]
    assert "https://a.example/robots.txt" in web.asked()
    assert "http://a.example:8080/robots.txt" in web.asked()


def test_half_a_megabyte_is_read() -> None:
    web = FakeWeb({})
    run_virtual(robots(web).fetch(Request(PAGE)))
    assert web.log[0].body_limit == 524_288 >= 500 * 1024


def asked_times(first: Response | str, later: Response | str, hours: list[float]) -> int:
    """How often robots.txt is asked for when pages are fetched at these hours."""
    web = FakeWeb({ROBOTS: first})
    gate = robots(web)

    async def main() -> None:
        for before, after in zip([0.0, *hours], hours, strict=False):
            await asyncio.sleep((after - before) * 3600)
            await gate.fetch(Request(PAGE))
            web.answers[ROBOTS] = later

    run_virtual(main())
    return web.asked().count(ROBOTS)


def test_a_file_is_kept_for_a_day() -> None:
    assert asked_times("", "", [0.0, 1.0, 23.9]) == 1
    assert asked_times("", "", [0.0, 24.0]) == 2


def test_cache_control_shortens_that_within_bounds_and_never_lengthens_it() -> None:
    hour = fetched(ROBOTS, "", cache_control="max-age=3600")
    year = fetched(ROBOTS, "", cache_control="max-age=31536000")
    never = fetched(ROBOTS, "", cache_control="no-store")
    assert asked_times(hour, hour, [0.0, 0.9, 1.0]) == 2
    assert asked_times(year, year, [0.0, 24.0]) == 2
    assert asked_times(never, never, [0.0, 0.08, 0.09]) == 2  # five minutes are 0.083 hours


def test_a_failure_is_asked_again_after_five_minutes() -> None:
    failed = answered(503, Outcome.FAILED)
    assert asked_times(failed, failed, [0.0, 0.08, 0.09]) == 2


def test_old_rules_hold_while_the_file_cannot_be_had() -> None:
    web = FakeWeb({ROBOTS: "User-agent: *\nDisallow: /private"})
    gate = robots(web)

    async def main() -> list[Outcome]:
        await gate.fetch(Request(PAGE))
        web.answers[ROBOTS] = answered(503, Outcome.FAILED)
        await asyncio.sleep(90_000)
        urls = [PAGE, Url("http://a.example/private")]
        return [(await gate.fetch(Request(url))).outcome for url in urls]

    assert run_virtual(main()) == [Outcome.FETCHED, Outcome.REFUSED]


def test_an_old_file_is_asked_for_conditionally_and_kept_if_unchanged() -> None:
    web = FakeWeb({ROBOTS: fetched(ROBOTS, "User-agent: *\nDisallow: /page", etag='"r1"')})
    gate = robots(web)

    async def main() -> Response:
        await gate.fetch(Request(PAGE))
        web.answers[ROBOTS] = Response(Url(ROBOTS), Outcome.UNCHANGED, 0.0, status=304)
        await asyncio.sleep(90_000)
        return await gate.fetch(Request(PAGE))

    assert run_virtual(main()).trouble is Trouble.ROBOTS
    assert [request.validators for request in web.log] == [Validators(), Validators(etag='"r1"')]


def test_many_first_callers_make_one_request_for_the_file() -> None:
    web = FakeWeb({ROBOTS: "User-agent: *\nDisallow: /0"}, seconds=1.0)
    gate = robots(web)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for n in range(20):
                group.create_task(gate.fetch(Request(Url(f"http://a.example/{n}"))))

    run_virtual(main())
    assert web.asked().count(ROBOTS) == 1
    assert len(web.asked()) == 20  # the file and nineteen pages


def test_a_cancelled_first_caller_does_not_break_the_others() -> None:
    web = FakeWeb({ROBOTS: "User-agent: *\nAllow: /"}, seconds=1.0)
    gate = robots(web)

    async def main() -> list[Outcome]:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(gate.fetch(Request(PAGE)))
            others = [group.create_task(gate.fetch(Request(PAGE))) for _ in range(3)]
            await asyncio.sleep(0.5)
            first.cancel()
        return [task.result().outcome for task in others]

    assert run_virtual(main()) == [Outcome.FETCHED] * 3
    assert web.asked().count(ROBOTS) == 2  # the one that was broken off, and the next caller's


def test_the_crawl_delay_is_told_to_the_timetable_up_to_a_cap() -> None:
    timetable = Timetable()
    gate = robots(FakeWeb({ROBOTS: "User-agent: *\nCrawl-delay: 12.5"}), timetable=timetable)
    run_virtual(gate.fetch(Request(PAGE)))
    assert timetable.delay("a.example") == 12.5
    gate = robots(FakeWeb({ROBOTS: "User-agent: *\nCrawl-delay: 86400"}), timetable=timetable)
    run_virtual(gate.fetch(Request(PAGE)))
    assert timetable.delay("a.example") == 60.0


def test_sitemap_lines_are_known_once_the_file_is() -> None:
    gate = robots(FakeWeb({ROBOTS: "Sitemap: https://a.example/news.xml\nUser-agent: *\nsitemap: /b.xml"}))
    assert gate.sitemaps("a.example") == ()
    run_virtual(gate.fetch(Request(PAGE)))
    assert gate.sitemaps("a.example") == ("https://a.example/news.xml", "/b.xml")


def test_no_more_files_are_kept_than_allowed() -> None:
    gate = robots(FakeWeb({}), RobotsSettings(remembered=2))

    async def main() -> None:
        for n in range(5):
            await gate.fetch(Request(Url(f"http://h{n}.example/")))

    run_virtual(main())
    assert repr(gate) == "<Robots for ForagerBot: 2 files, 0 of them without rules>"


async def test_on_a_real_server_the_file_is_fetched_politely_before_the_page() -> None:
    pages = {"/robots.txt": Served(b"User-agent: *\nDisallow: /no"), "/yes": Served(b"yes"), "/no": Served(b"no")}
    async with serving(pages) as site, Live(WallClock(), LiveSettings(allow_addresses=LOOPBACK)) as live:
        timetable = Timetable(TimetableSettings(download_delay=0.2))
        gate = Robots(Polite(live, timetable, WallClock()), timetable, WallClock(), "ForagerBot")
        outcomes = [(await gate.fetch(Request(site.url(path)))).outcome for path in ("/no", "/yes")]
        assert [seen.path for seen in site.log] == ["/robots.txt", "/yes"]
        assert site.log[1].at - site.log[0].at >= 0.15
    assert outcomes == [Outcome.REFUSED, Outcome.FETCHED]


LINES = st.sampled_from(
    ["User-agent: *", "User-agent: ForagerBot", "user-agent: forager*", "User-agent: bot", "User agent foragerbot",
     "Disallow: /", "Allow: /a", "Disallow: /a*b$", "Disallow /x", "Allow: /*.html$", "Disallow: /a%2fb", "Allow: /$",
     "Disallow: http://a.example/a", "Allow: /index.html", "dissalow: /b", "Disallow:", "Crawl-delay: 3", "Sitemap: /s",
     "Crawl-delay: -1", "crawl delay 1.5", "Crawl-delay: soon", "Crawl-delay: inf", "sitemap:",
     "Noindex: /a", "# note", "", "rubbish", "Disallow: /é", "Disallow: /a$b", "Disallow: *", "Allow: **a",
     "User-agent:"]
)  # fmt: skip
PATHS = st.text(alphabet="/ab.$*%2Fé?=", max_size=8)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=12), PATHS, st.sampled_from(["ForagerBot", "bot", "Forager", "other"]))
def test_rules_agree_with_protego(lines: list[str], path: str, agent: str) -> None:
    text, url = "\n".join(lines), f"http://a.example/{path}"
    rules, peer = RobotsRules.read(text), Protego.parse(text)
    rule = rules.deciding(url, agent)
    assert rules.allows(url, agent) == (rule is None or rule.allow) == peer.can_fetch(url, agent)
    assert rules.crawl_delay(agent) == (peer.crawl_delay(agent) or 0.0)
    assert rules.sitemaps == list(peer.sitemaps)
    assert rule is None or lines[rule.line - 1].strip() == rule.text


def test_rules_agree_with_protego_on_real_files() -> None:
    files = have(robots_files)[::25]
    verdicts = 0
    for name, raw in files:
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
        parsed, rules = Protego.parse(text), RobotsRules.read(text)
        written = re.findall(r"(?im)^\s*(?:dis)?allow\s*:\s*(\S+)", text)[:20]
        paths = {"/", "/index.html", *(f"/{value.replace('*', 'x').replace('$', '').lstrip('/')}" for value in written)}
        for path in sorted(paths):
            for agent in ("ForagerBot", "Googlebot", "GPTBot"):
                url = f"https://{name}{path}"
                assert rules.allows(url, agent) == parsed.can_fetch(url, agent), (name, path)
                assert rules.crawl_delay(agent) == (parsed.crawl_delay(agent) or 0.0), name
                verdicts += 1
        assert rules.sitemaps == list(parsed.sitemaps)
    assert verdicts > 1000


async def test_the_whole_stack_follows_retries_and_obeys_on_every_hop() -> None:
    answers = iter([Served(b"", 503), Served(b"at last")])
    pages: dict[str, Served | Callable[[Seen], Served]] = {
        "/robots.txt": Served(b"User-agent: *\nDisallow: /no"),
        "/old": Served(b"", 301, {"Location": "/new"}),
        "/new": lambda seen: next(answers),
        "/trap": Served(b"", 302, {"Location": "/no"}),
    }
    clock = WallClock()
    async with serving(pages) as site, Live(clock, LiveSettings(allow_addresses=LOOPBACK)) as live:
        timetable = Timetable(TimetableSettings(download_delay=0.0))
        gate = Robots(Polite(live, timetable, clock), timetable, clock, "ForagerBot")
        web = Following(Retrying(gate, clock, stream(1, "retrying"), RetryingSettings(backoff=0.01)))
        found = await web.fetch(Request(site.url("/old")))
        refused = await web.fetch(Request(site.url("/trap")))
        assert [seen.path for seen in site.log] == ["/robots.txt", "/old", "/new", "/new", "/trap"]
    assert (found.outcome, found.body, found.hops) == (Outcome.FETCHED, b"at last", (Hop(site.url("/old"), 301),))
    assert (refused.outcome, refused.trouble) == (Outcome.REFUSED, Trouble.ROBOTS)
    assert refused.hops == (Hop(site.url("/trap"), 302),)
