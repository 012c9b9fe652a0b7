import asyncio
import gzip
import socket

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from forager.clock import LoopClock, WallClock
from forager.terms import Outcome, Request, Response, Trouble, Url
from forager.web.live import Live
from forager.web.web import http_date, max_age, meaning, origin, product_token, retry_after, validators_of
from forager.web.web_settings import LiveSettings
from tests.server import LOOPBACK, Served, serving

SETTINGS = LiveSettings(
    user_agent="Forager/0.1 (+https://example.org/contact)", total_time=5.0, connect_time=2.0, allow_addresses=LOOPBACK
)
MEANINGS = {
    200: (Outcome.FETCHED, Trouble.NONE),
    204: (Outcome.FETCHED, Trouble.NONE),
    300: (Outcome.FAILED, Trouble.PROTOCOL),
    301: (Outcome.FAILED, Trouble.PROTOCOL),  # these four came without a Location
    302: (Outcome.FAILED, Trouble.PROTOCOL),
    307: (Outcome.FAILED, Trouble.PROTOCOL),
    308: (Outcome.FAILED, Trouble.PROTOCOL),
    304: (Outcome.FAILED, Trouble.PROTOCOL),  # we had sent no validators
    400: (Outcome.GONE, Trouble.STATUS),
    403: (Outcome.GONE, Trouble.STATUS),
    404: (Outcome.GONE, Trouble.STATUS),
    410: (Outcome.GONE, Trouble.STATUS),
    451: (Outcome.GONE, Trouble.STATUS),
    408: (Outcome.FAILED, Trouble.STATUS),
    425: (Outcome.FAILED, Trouble.STATUS),
    429: (Outcome.FAILED, Trouble.STATUS),
    500: (Outcome.FAILED, Trouble.STATUS),
    503: (Outcome.FAILED, Trouble.STATUS),
    599: (Outcome.FAILED, Trouble.STATUS),
}


@pytest.mark.parametrize("status", MEANINGS)
async def test_each_status_has_its_outcome(status: int) -> None:
    page = Served(b"" if status in (204, 304) else b"body", status)
    async with serving({"/": page}) as site, Live(WallClock(), SETTINGS) as live:
        response = await live.fetch(Request(site.url("/")))
    assert (response.outcome, response.trouble) == MEANINGS[status]
    assert response.status == status
    assert (response.error == "") == (response.outcome is Outcome.FETCHED)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_reported_and_not_followed(status: int) -> None:
    async with serving({"/old": Served(b"", status, {"Location": "/new"})}) as site:
        async with Live(WallClock(), SETTINGS) as live:
            response = await live.fetch(Request(site.url("/old")))
        assert [seen.path for seen in site.log] == ["/old"]
    assert (response.outcome, response.header("location")) == (Outcome.MOVED, "/new")


async def test_a_page_comes_with_its_facts() -> None:
    page = Served(gzip.compress(b"<p>news</p>"), headers={"Content-Encoding": "gzip", "X-Two": "a"})
    async with serving({"/p?q=%C3%A9&a=1": page}) as site, Live(LoopClock(1e9), SETTINGS) as live:
        before = LoopClock(1e9).now()
        response = await live.fetch(Request(site.url("/p?q=%C3%A9&a=1")))
    assert response.body == b"<p>news</p>"
    assert response.wire_bytes == len(page.body)
    assert response.header("x-two") == "a"
    assert response.address == "127.0.0.1"
    assert response.asked >= before
    assert 0 < response.seconds < 5
    assert response.url == site.url("/p?q=%C3%A9&a=1")


async def test_we_say_who_we_are_and_send_no_cookies() -> None:
    async with serving({"/": Served(b"hello", headers={"Set-Cookie": "id=1"})}) as site:
        async with Live(WallClock(), SETTINGS) as live:
            for _ in range(2):
                await live.fetch(Request(site.url("/")))
        for seen in site.log:
            assert seen.headers["user-agent"] == "Forager/0.1 (+https://example.org/contact)"
            assert seen.headers["accept-encoding"] == "gzip, deflate, br, zstd"
            assert "cookie" not in seen.headers


async def test_an_unchanged_page_costs_a_304_and_validators_go_back_verbatim() -> None:
    headers = {"ETag": 'W/"a, b"', "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"}
    async with serving({"/": Served(b"page", headers=headers)}) as site, Live(WallClock(), SETTINGS) as live:
        first = await live.fetch(Request(site.url("/")))
        second = await live.fetch(Request(site.url("/"), validators_of(first)))
        assert site.log[1].headers["if-none-match"] == 'W/"a, b"'
        assert site.log[1].headers["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT"
    assert (second.outcome, second.status, second.body) == (Outcome.UNCHANGED, 304, b"")


async def test_a_connection_is_kept_for_the_next_request() -> None:
    ports = []

    async def remember_port(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ports.append(writer.get_extra_info("peername")[1])
        while await reader.readline():
            while (await reader.readline()).strip():
                pass
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(remember_port, "127.0.0.1", 0)
    url = Url(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    async with Live(WallClock(), SETTINGS) as live:
        for _ in range(3):
            assert (await live.fetch(Request(url))).body == b"ok"
    server.close()
    assert len(ports) == 1


async def test_one_fetch_is_one_request_even_if_a_kept_connection_breaks() -> None:
    asked = []

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            while (await reader.readline()).strip():
                pass
            asked.append(len(asked))
            if len(asked) > 1:
                break
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(answer_once, "127.0.0.1", 0)
    url = Url(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    async with Live(WallClock(), SETTINGS) as live:
        await live.fetch(Request(url))
        broken = await live.fetch(Request(url))
    server.close()
    assert (broken.outcome, broken.trouble) == (Outcome.FAILED, Trouble.CONNECT)
    assert len(asked) == 2


async def test_a_closed_port_is_connect_trouble() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        async with Live(WallClock(), SETTINGS) as live:
            response = await live.fetch(Request(Url(f"http://127.0.0.1:{port}/")))
    assert (response.outcome, response.trouble) == (Outcome.FAILED, Trouble.CONNECT)


@pytest.mark.parametrize(
    "url",
    [
        "http:///",
        "ftp://example.org/",
        "http://[::1",
        "nonsense",
        "http://a b/",
        "http://x:99999/",
        "http://x/\r\nHost: y",
    ],
)
async def test_what_is_no_url_is_refused(url: str) -> None:
    async with Live(WallClock(), SETTINGS) as live:
        response = await live.fetch(Request(Url(url)))
    assert (response.outcome, response.trouble) == (Outcome.REFUSED, Trouble.URL)


async def test_a_broken_error_page_does_not_hide_its_status() -> None:
    page = Served(b"not gzip", 404, {"Content-Encoding": "gzip"})
    async with serving({"/": page}) as site, Live(WallClock(), SETTINGS) as live:
        response = await live.fetch(Request(site.url("/")))
    assert (response.outcome, response.status) == (Outcome.GONE, 404)


async def test_a_cancelled_fetch_is_cancelled_and_the_web_still_works() -> None:
    pages = {"/slow": Served(b"late", pause=5.0), "/": Served(b"ok")}
    async with serving(pages) as site, Live(WallClock(), SETTINGS) as live:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await live.fetch(Request(site.url("/slow")))
        assert (await live.fetch(Request(site.url("/")))).body == b"ok"


async def test_a_web_can_be_closed_twice_and_used_again() -> None:
    async with serving({"/": Served(b"ok")}) as site:
        live = Live(WallClock(), SETTINGS)
        await live.fetch(Request(site.url("/")))
        await live.close()
        await live.close()
        assert repr(live) == "<Live 1 asked, closed>"
        assert (await live.fetch(Request(site.url("/")))).body == b"ok"
        await live.close()


def test_it_works_on_uvloop() -> None:
    async def main() -> tuple[Outcome, Outcome, str]:
        async with serving({"/": Served(b"ok")}) as site, Live(WallClock(), SETTINGS) as live:
            allowed = await live.fetch(Request(site.url("/")))
            async with Live(WallClock()) as guarded:
                refused = await guarded.fetch(Request(site.url("/")))
            return allowed.outcome, refused.outcome, allowed.address

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()) == (Outcome.FETCHED, Outcome.REFUSED, "127.0.0.1")


@given(st.integers(0, 2000), st.booleans(), st.booleans())
def test_every_status_means_something(status: int, moved: bool, conditional: bool) -> None:
    outcome, trouble = meaning(status, moved=moved, conditional=conditional)
    assert (trouble is Trouble.NONE) == (outcome in (Outcome.FETCHED, Outcome.UNCHANGED, Outcome.MOVED))


def with_header(name: str, value: str) -> Response:
    return Response(Url("http://x/"), Outcome.FAILED, asked=0.0, headers=((name, value),))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 97.0),  # 784111777 - 784111680
        ("Sunday, 06-Nov-94 08:49:37 GMT", 97.0),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),  # past
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(value: str, seconds: float | None) -> None:
    assert retry_after(with_header("retry-after", value), now=784111680.0) == seconds


@given(st.text(max_size=60))
def test_any_header_value_is_read_without_an_exception(value: str) -> None:
    response = with_header("retry-after", value)
    wait = retry_after(response, now=0.0)
    assert wait is None or wait >= 0
    http_date(value)
    max_age(with_header("cache-control", value))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("max-age=60", 60.0), ("public, Max-Age = 5", 5.0), ("no-store", 0.0), ("s-maxage=9", None), ("", None)],
)
def test_max_age_is_read_from_cache_control(value: str, seconds: float | None) -> None:
    assert max_age(with_header("cache-control", value)) == seconds


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("Forager/0.1 (+https://example.org)", "Forager"),
        ("Mozilla/5.0 (compatible; NewsBot/2.0; +https://example.org)", "NewsBot"),
        ("my-crawler", "my-crawler"),
        ("123", "*"),
    ],
)
def test_the_product_token_is_the_name_robots_files_know(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


def test_the_origin_of_a_url_is_what_one_robots_file_speaks_for() -> None:
    assert origin(Url("https://a.example:8443/x?y=//z")) == "https://a.example:8443"
    assert origin(Url("http://a.example")) == "http://a.example"
