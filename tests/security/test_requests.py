"""No page, header or setting makes us say to a server what we did not mean to, or talk to whom we must not.

The rest of the security review stands where its parts do:

server-side requests   addresses in test_guard; redirects, names and kept connections in tests/web/test_hostile; rebinding here
header values          here
injection              CSV, feeds and terminals by every field in test_injection; the report in tests/report/test_run_report,
                       the dashboard in tests/dashboard/test_dashboard_in_browser
traversal, bombs       tests/warc/test_warc_wacz, tests/importers/test_import_files; gzip in tests/web/test_inflate and
                       tests/pages/test_sitemaps, XML in tests/pages/test_feeds
dashboard              rebinding and token in tests/dashboard/test_dashboard_api; CSRF and WebSocket here
run directories        secrets, cookies, permissions, pickles and links in test_run_directory
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from forager.clock import WallClock
from forager.engine.crawl_settings import DashboardSettings
from forager.errors import SettingsError
from forager.pages.urls import canonical
from forager.settings import load_settings
from forager.terms import Outcome, Request, Url, Validators
from forager.web.live import Live
from forager.web.web_settings import LiveSettings
from tests.dashboard.crawling import crawling, lively
from tests.server import LOOPBACK

INJECTED = "x\r\nX-Injected: 1\r\n\r\nGET /stolen HTTP/1.1\r\nHost: a"


@asynccontextmanager
async def listening(host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A port and the bytes that came in on each connection."""
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 204 No\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hear, host, port)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


@pytest.mark.parametrize("path", [INJECTED, INJECTED.replace("\r\n", "\n"), "a b", "\x00", "é\u2028"])
async def test_no_url_puts_a_line_into_a_request(path: str) -> None:
    async with listening() as (port, heard), Live(WallClock(), LiveSettings(allow_addresses=LOOPBACK)) as live:
        await live.fetch(Request(Url(f"http://127.0.0.1:{port}/{path}")))
        made = canonical(f"http://127.0.0.1:{port}/{path}")
        if made is not None:
            await live.fetch(Request(made))
    for request in heard:
        first, *headers = request.split(b"\r\n")
        assert first.count(b" ") == 2
        names = [line.partition(b":")[0] for line in headers if line]
        assert names == [b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"]


@pytest.mark.parametrize("value", [INJECTED, "a\nb", "a\rb", "\x00", "x" * 100_000])
async def test_no_validator_puts_a_line_into_a_request(value: str) -> None:
    async with listening() as (port, heard), Live(WallClock(), LiveSettings(allow_addresses=LOOPBACK)) as live:
        await live.fetch(Request(Url(f"http://127.0.0.1:{port}/"), Validators(value, value)))
    assert len(heard) == 1
    assert b"If-" not in heard[0] and b"Injected" not in heard[0]


@pytest.mark.parametrize("agent", [INJECTED, "a\nb", "\x00", ""])
def test_no_setting_puts_a_line_into_a_request(agent: str) -> None:
    try:
        loaded = load_settings(None, [f"live.user_agent={agent}"]).settings.live.user_agent
    except SettingsError:
        return
    assert loaded.isprintable() and loaded  # YAML makes a blank of a lone line end


async def test_a_name_that_points_to_a_forbidden_address_too_is_asked_at_the_other_one_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: what a name meant when it was looked at says nothing of the address that a socket is made for."""

    async def rebound(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("127.0.0.1", "127.0.0.2")]

    async with listening() as (port, stolen), listening(host="127.0.0.2", port=port) as (_, heard):
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", rebound)
        async with Live(WallClock(), LiveSettings(allow_addresses=("127.0.0.2",), total_time=5.0)) as live:
            response = await live.fetch(Request(Url(f"http://rebound.example:{port}/")))
        assert stolen == []
        assert len(heard) == (response.outcome is Outcome.FETCHED)


async def test_the_dashboard_tells_another_origin_nothing_and_changes_nothing() -> None:
    """A page elsewhere can send requests to us, but must not read answers, change anything or open a socket."""
    async with crawling(lively(), run=False) as running, aiohttp.ClientSession() as client:
        foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        for path in ("", "api/now", "api/stream", "stories.atom", "metrics"):
            async with client.get(running.address + path, headers=foreign) as answer:
                assert "Access-Control-Allow-Origin" not in answer.headers
                assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            async with client.request(method, f"{running.address}api/now", headers=foreign, data=b"x") as answer:
                assert answer.status == 405
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        async with client.get(f"{running.address}api/now", headers={**foreign, **upgrade, **key}) as answer:
            assert answer.status != 101


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/%5Cevil.example/", "/\\evil.example/", "/\t/evil.example/", "/%0d%0aX:1"]
)
async def test_the_door_with_a_token_leads_to_no_other_site(path: str) -> None:
    token = "a-long-enough-secret"
    async with crawling(lively(), dashboard=DashboardSettings(token=token), run=False) as running:
        port = int(running.address.rstrip("/").rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path}?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.close()
        assert "Location: /\r\n" in head or head.split(" ")[1] == "400", head
