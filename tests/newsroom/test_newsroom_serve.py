"""The newsroom over real HTTP on loopback."""

from dataclasses import replace

import aiohttp
import pytest

from forager.clock import FastClock
from forager.newsroom.newsroom import Newsroom, serve
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.newsroom.plan import make_plan
from forager.terms import Request

SETTINGS = NewsroomSettings(days=1, backlog=86400.0, latency=0.0)
PLAN = make_plan(SETTINGS)
NOON = SETTINGS.start + 43200


class Still:
    """A clock that stands."""

    def now(self) -> float:
        return NOON

    async def sleep(self, seconds: float) -> None:
        pass


def newsroom(settings: NewsroomSettings = SETTINGS) -> Newsroom:
    return Newsroom(settings, Still(), plan=PLAN)


async def test_a_served_page_is_the_page_of_the_web_in_process_byte_for_byte():
    async with serve(newsroom(), Still()) as served, aiohttp.ClientSession() as session:
        twin = Newsroom(served.settings, Still(), served.bases, plan=served.plan)
        for url in (
            *served.homes,
            served.truth.stories[30].url,
            f"{served.homes[0]}feed.xml",
            f"{served.homes[1]}sitemap.xml",
        ):
            async with session.get(url) as response:
                body = await response.read()
            expected = await twin.fetch(Request(url))
            assert (response.status, body) == (200, expected.body)
            assert response.headers["Date"] == "Mon, 02 Mar 2026 12:00:00 GMT"
            assert response.headers["Content-Type"] == expected.header("content-type")


async def test_each_paper_has_its_own_port_and_its_pages_link_to_it():
    async with serve(newsroom(), Still()) as served, aiohttp.ClientSession() as session:
        assert len(set(served.bases.values())) == 3
        for base in served.bases.values():
            async with session.get(f"{base}/") as response:
                assert f'<link rel="canonical" href="{base}/">' in await response.text()


async def test_conditional_requests_redirects_and_removals_work_over_http():
    settings = replace(SETTINGS, moves=1.0, move_delay=0.0)
    room = Newsroom(settings, Still())
    async with serve(room, Still()) as served, aiohttp.ClientSession() as session:
        async with session.get(served.homes[0]) as response:
            etag = response.headers["ETag"]
        async with session.get(served.homes[0], headers={"If-None-Match": etag}) as response:
            assert response.status == 304 and await response.read() == b""
        moved = next(s for s in served.truth.stories if s.article.moved)
        async with session.get(moved.url) as response:
            assert response.status == 200 and response.history[0].status == 301
            assert str(response.url) == served.bases[moved.paper] + moved.article.moved_path
        assert [asked.status for asked in served.requests] == [200, 304, 301, 200]
        assert [asked.conditional for asked in served.requests] == [False, True, False, False]
        assert not room.requests  # the log belongs to the served newsroom


async def test_pages_travel_compressed_to_those_who_accept_it():
    async with serve(newsroom(), Still()) as served, aiohttp.ClientSession(auto_decompress=False) as session:
        async with session.get(served.homes[0], headers={"Accept-Encoding": "gzip"}) as response:
            assert response.headers["Content-Encoding"] == "gzip"
            assert len(await response.read()) < served.requests[-1].bytes
        async with session.get(served.homes[0], headers={"Accept-Encoding": "identity"}) as response:
            assert len(await response.read()) == served.requests[-1].bytes


async def test_a_cut_connection_is_an_error_of_the_client():
    async with serve(newsroom(replace(SETTINGS, resets=1.0)), Still()) as served, aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get(served.homes[0])
        assert served.requests[0].status == 0


async def test_an_hour_of_news_passes_in_a_blink_on_a_fast_clock():
    clock = FastClock(NOON, 360_000.0)  # an hour in ten milliseconds
    async with serve(newsroom(), clock) as served, aiohttp.ClientSession() as session:
        async with session.get(served.homes[0]) as response:
            first = await response.text()
        await clock.sleep(3 * 3600)
        async with session.get(served.homes[0]) as response:
            second = await response.text()
        assert first != second
        before, after = served.requests
        assert after.at - before.at >= 3 * 3600
