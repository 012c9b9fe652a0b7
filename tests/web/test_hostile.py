"""Every way in which a server may misbehave ends in its documented outcome, within the caps."""

import asyncio

import pytest

from forager.chance import stream
from forager.clock import WallClock
from forager.terms import Outcome, Request, Trouble, Url, Validators
from forager.web.live import Guard, Live
from forager.web.polite import Following
from forager.web.web import validators_of
from forager.web.web_settings import LiveSettings
from tests.hostile import Hostile, misbehaving, send
from tests.server import Served, serving

CAPS = LiveSettings(
    body_limit=200_000, total_time=0.5, connect_time=0.3, header_count=50, allow_addresses=("127.0.0.0/8",)
)

DOCUMENTED: dict[str, tuple[Outcome, Trouble]] = {
    "/bomb/gzip": (Outcome.FAILED, Trouble.SIZE),
    "/bomb/deflate": (Outcome.FAILED, Trouble.SIZE),
    "/bomb/br": (Outcome.FAILED, Trouble.SIZE),
    "/bomb/zstd": (Outcome.FAILED, Trouble.SIZE),
    "/bomb/twice": (Outcome.FAILED, Trouble.SIZE),
    "/drip": (Outcome.FAILED, Trouble.TIMEOUT),
    "/drip/headers": (Outcome.FAILED, Trouble.TIMEOUT),
    "/endless/headers": (Outcome.FAILED, Trouble.HEADERS),
    "/endless/header": (Outcome.FAILED, Trouble.HEADERS),
    "/endless/interim": (Outcome.FAILED, Trouble.TIMEOUT),
    "/endless/body": (Outcome.FAILED, Trouble.SIZE),
    "/endless/chunks": (Outcome.FAILED, Trouble.SIZE),
    "/large": (Outcome.FAILED, Trouble.SIZE),
    "/broken/chunks": (Outcome.FAILED, Trouble.PROTOCOL),
    "/cut/chunks": (Outcome.FAILED, Trouble.PROTOCOL),
    "/length/long": (Outcome.FAILED, Trouble.PROTOCOL),
    "/length/short": (Outcome.FAILED, Trouble.PROTOCOL),
    "/length/wild": (Outcome.FAILED, Trouble.PROTOCOL),
    "/encoding/wrong": (Outcome.FAILED, Trouble.PROTOCOL),
    "/encoding/cut": (Outcome.FAILED, Trouble.PROTOCOL),
    "/encoding/unknown": (Outcome.FAILED, Trouble.PROTOCOL),
    "/encoding/charset": (Outcome.FETCHED, Trouble.NONE),
    "/encoding/stacked": (Outcome.FAILED, Trouble.PROTOCOL),
    "/empty": (Outcome.FETCHED, Trouble.NONE),
    "/reset": (Outcome.FAILED, Trouble.PROTOCOL),
    "/silence": (Outcome.FAILED, Trouble.TIMEOUT),
    "/nothing": (Outcome.FAILED, Trouble.CONNECT),
    "/garbage": (Outcome.FAILED, Trouble.PROTOCOL),
    "/ssh": (Outcome.FAILED, Trouble.PROTOCOL),
    "/location/long": (Outcome.FAILED, Trouble.HEADERS),
    "/location/none": (Outcome.FAILED, Trouble.PROTOCOL),
    "/header/bytes": (Outcome.FETCHED, Trouble.NONE),
    "/status/odd": (Outcome.FAILED, Trouble.STATUS),
    "/unasked/304": (Outcome.FAILED, Trouble.PROTOCOL),
}


@pytest.mark.parametrize("path", DOCUMENTED)
async def test_each_misdeed_ends_in_its_documented_outcome_within_the_caps(path: str) -> None:
    async with misbehaving() as server, Live(WallClock(), CAPS) as live:
        response = await live.fetch(Request(server.url(path)))
    assert (response.outcome, response.trouble) == DOCUMENTED[path], response.error
    assert len(response.body) <= CAPS.body_limit
    assert response.wire_bytes <= CAPS.body_limit + 1
    assert "\n" not in response.error
    assert bool(response.error) == (response.trouble is not Trouble.NONE)


@pytest.mark.parametrize("path", ["/bomb/gzip", "/bomb/br", "/bomb/zstd", "/endless/body", "/endless/chunks"])
async def test_a_request_with_its_own_limit_keeps_what_came_until_there(path: str) -> None:
    async with misbehaving() as server, Live(WallClock(), CAPS) as live:
        response = await live.fetch(Request(server.url(path), body_limit=5_000))
    assert response.outcome is Outcome.FETCHED
    assert len(response.body) == 5_000


async def test_a_drip_feed_ends_at_the_total_time() -> None:
    async with misbehaving() as server, Live(WallClock(), CAPS) as live:
        response = await live.fetch(Request(server.url("/drip")))
    assert response.seconds >= 0.5
    assert 0 < response.wire_bytes <= 60  # a byte every 0.02 s for 0.5 s are 25


async def test_a_body_longer_than_its_length_never_becomes_the_next_answer() -> None:
    async with misbehaving() as server, Live(WallClock(), CAPS) as live:
        first = await live.fetch(Request(server.url("/smuggling")))
        second = await live.fetch(Request(server.url("/encoding/charset")))
    assert b"smuggled" not in first.body
    assert second.body == b"plain"


async def test_a_validator_that_no_header_can_carry_is_not_sent_back() -> None:
    async with misbehaving() as server, Live(WallClock(), CAPS) as live:
        response = await live.fetch(Request(server.url("/header/bytes")))
        assert response.header("etag") == '"café"'
        assert validators_of(response) == Validators()
        evil = Validators(etag='"x"\r\nX-Injected: yes', last_modified="\udce9")
        again = await live.fetch(Request(server.url("/header/bytes"), evil))
    assert again.outcome is Outcome.FETCHED


@pytest.mark.parametrize("path", ["/", "/garbage"])
async def test_a_tls_handshake_that_never_ends_is_given_up(path: str) -> None:
    async with misbehaving() as server, Live(WallClock(), CAPS) as live:
        response = await live.fetch(Request(server.url(path, scheme="https")))
        assert server.asked in (["tls"], [])
    assert (response.outcome, response.trouble) == (Outcome.FAILED, Trouble.CONNECT)


async def test_plain_text_on_an_https_port_is_tls_trouble() -> None:
    async def answer_in_clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\nyou sent TLS to a plain port")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer_in_clear, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Live(WallClock(), CAPS) as live:
        response = await live.fetch(Request(Url(f"https://127.0.0.1:{port}/")))
    assert (response.outcome, response.trouble) == (Outcome.FAILED, Trouble.TLS)


PIECES = (
    b"HTTP/1.1 200 OK", b"HTTP/1.0 204 ", b"HTTP/9.9 2x0", b"HTTP/1.1 101 Switching", b"HTTP/1.1 100 Continue\r\n\r\n",
    b"\r\n", b"\n", b"\r\n\r\n", b"Content-Length: 5", b"Content-Length: -1", b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked", b"Content-Encoding: gzip", b"Content-Encoding: br", b"Location: //",
    b"5\r\nhello\r\n", b"0\r\n\r\n", b"FFFFFFFFFFFFFFFFF\r\n", b"Upgrade: h2c", b"Connection: upgrade",
    b"\x00\xff", b": no name", b" folded", b"X\xe9: \xe9", b"\x1f\x8b\x08",
)  # fmt: skip


async def test_no_answer_whatever_its_bytes_makes_a_fetch_raise() -> None:
    rng = stream(7, "fuzz")
    answers = [b"".join(PIECES[i] for i in rng.integers(len(PIECES), size=rng.integers(1, 14))) for _ in range(400)]
    deeds = {f"/{number}": send(answer) for number, answer in enumerate(answers)}
    async with misbehaving(deeds) as server, Live(WallClock(), CAPS) as live:
        outcomes = {(await live.fetch(Request(server.url(path)))).outcome for path in deeds}
    assert outcomes <= set(Outcome)
    assert {Outcome.FETCHED, Outcome.FAILED} <= outcomes


async def follow(server: Hostile, path: str, settings: LiveSettings = CAPS) -> tuple[Outcome, Trouble, int]:
    async with Live(WallClock(), settings) as live:
        response = await Following(live).fetch(Request(server.url(path)))
    return response.outcome, response.trouble, len(response.hops)


async def test_a_redirect_loop_ends_when_it_closes() -> None:
    async with misbehaving() as server:
        assert await follow(server, "/loop/a") == (Outcome.FAILED, Trouble.REDIRECTS, 1)
        assert server.asked == ["/loop/a", "/loop/b"]


async def test_endless_redirects_end_after_ten_hops() -> None:
    async with misbehaving() as server:
        assert await follow(server, "/hop/0") == (Outcome.FAILED, Trouble.REDIRECTS, 10)
        assert server.asked == [f"/hop/{n}" for n in range(11)]


@pytest.mark.parametrize(
    "target", ["ftp://example.org/", "javascript:alert(1)", "http://", "http://[::1", "http://" + "a" * 5000]
)
async def test_a_redirect_to_no_web_page_is_broken_protocol(target: str) -> None:
    async with misbehaving() as server:
        assert await follow(server, f"/to/{target}") == (Outcome.FAILED, Trouble.PROTOCOL, 0)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.2",
        "10.0.0.1",
        "169.254.169.254",
        "[::1]",
        "[::ffff:127.0.0.2]",
        "[64:ff9b::7f00:2]",
        "2130706434",  # 127.0.0.2 as one decimal number
        "0x7f000002",  # in hexadecimal
        "0177.0.0.2",  # in octal
        "127.2",  # shortened
        "0",  # 0.0.0.0
    ],
)
async def test_a_redirect_to_an_address_that_is_not_public_is_refused(host: str) -> None:
    only_this = LiveSettings(total_time=2.0, allow_addresses=("127.0.0.1",))
    async with misbehaving() as server:
        path = f"/to/http://{host}:{server.port}/encoding/charset"
        assert await follow(server, path, only_this) == (Outcome.REFUSED, Trouble.ADDRESS, 1)
        assert server.asked == [path]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
async def test_a_name_or_literal_that_leads_to_this_machine_is_refused_before_a_byte_is_sent(host: str) -> None:
    async with misbehaving() as server, Live(WallClock(), LiveSettings(total_time=2.0)) as live:
        response = await live.fetch(Request(server.url("/encoding/charset", host=host)))
        assert (response.outcome, response.trouble) == (Outcome.REFUSED, Trouble.ADDRESS), response.error
        assert "allow_addresses" in response.error
        assert server.asked == []


async def test_the_peer_of_a_kept_connection_is_looked_at_before_each_request() -> None:
    async with serving({"/": Served(b"ok")}) as site, Live(WallClock(), CAPS) as live:
        assert (await live.fetch(Request(site.url("/")))).outcome is Outcome.FETCHED
        live.guard = Guard()  # from now on nothing but public addresses; the connection is still open
        refused = await live.fetch(Request(site.url("/")))
        assert (refused.outcome, refused.trouble) == (Outcome.REFUSED, Trouble.ADDRESS)
        assert len(site.log) == 1


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1"])
async def test_odd_spellings_of_an_address_that_were_not_made_canonical_lead_nowhere(host: str) -> None:
    async with misbehaving() as server, Live(WallClock(), CAPS) as live:
        response = await live.fetch(Request(server.url("/encoding/charset", host=host)))
        assert response.outcome in (Outcome.REFUSED, Outcome.FAILED)  # no such URL, or no such host
        assert server.asked == []
