"""A site that is down when the crawl begins."""

from urllib.parse import urlsplit

import pytest

from forager.clock import Clock
from forager.settings import load_settings
from forager.terms import Outcome, Request, Response
from forager.web.web import Web
from tests.virtual import QUICK, Crawled


class DownAtFirst:
    """A web without one of its hosts for so many hours."""

    def __init__(self, inner: Web, clock: Clock, hours: float) -> None:
        self.inner, self.clock = inner, clock
        self.until = clock.now() + hours * 3600
        self.host = ""
        self.answered: list[float] = []

    async def fetch(self, request: Request) -> Response:
        host = urlsplit(request.url).netloc
        self.host = self.host or host
        if host == self.host and self.clock.now() < self.until:
            return Response(request.url, Outcome.FAILED, self.clock.now(), error="no route to host")
        if host == self.host:
            self.answered.append(self.clock.now() - self.until)
        return await self.inner.fetch(request)


@pytest.mark.parametrize("hours", [2, 9])
def test_it_is_crawled_once_it_is_there(hours: float) -> None:
    webs: list[DownAtFirst] = []

    def wrapped(web: Web, clock: Clock) -> Web:
        webs.append(DownAtFirst(web, clock, hours))
        return webs[0]

    crawled = Crawled(load_settings(None, QUICK).settings, wrapped).run(2 * hours + 2)
    assert webs[0].answered[0] <= hours * 3600
    assert any(webs[0].host in story.url for story in crawled.stories)
