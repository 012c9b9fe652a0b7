"""Follows redirects hop by hop; every hop passes the whole inner web: robots, politeness, address guard.

- A Location is resolved against the page that sent it and made canonical, so its fragment is dropped. One that is no
  http(s) URL is a protocol failure. The step down from https to http is followed; `hops` shows it.
- A repeated URL is a loop, and more than `redirects` hops are too many: both are FAILED with REDIRECTS.
- Validators belong to the page that gave them. If a URL redirected last time, they belong to the target, and are sent
  when (and only when) we reach that page again; otherwise they go with the first hop. So a redirect that now leads to
  another page can never be answered by "unchanged" for the old one. The targets of the last `remembered` redirects
  are remembered.
"""

from collections import OrderedDict
from dataclasses import replace

from forager.pages.urls import canonical
from forager.terms import Hop, Outcome, Request, Response, Trouble, Url, Validators
from forager.web.web import Web, one_line
from forager.web.web_settings import FollowingSettings


class Following:
    """Returns the page at the end of the redirects, with the hops."""

    def __init__(self, inner: Web, settings: FollowingSettings | None = None) -> None:
        self.inner = inner
        self.settings = settings or FollowingSettings()
        self._led_to: OrderedDict[Url, Url] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Following remembers where {len(self._led_to)} URLs led>"

    async def fetch(self, request: Request) -> Response:
        owner = self._led_to.get(request.url, request.url)
        hops: tuple[Hop, ...] = ()
        url = request.url
        while True:
            if url != request.url or owner != url:
                validators = request.validators if url == owner else Validators()
                response = await self.inner.fetch(replace(request, url=url, validators=validators))
            else:
                response = await self.inner.fetch(request)
            if response.outcome is not Outcome.MOVED:
                self._remember(request.url, response)
                return replace(response, hops=hops) if hops else response
            hops = (*hops, Hop(url, response.status, response.asked))
            location = response.header("location")
            target = canonical(location, url)
            if target is None:
                error = f"redirected to no URL we can ask for: {one_line(location, 120)!r}"
                return _stopped(response, hops, Trouble.PROTOCOL, error)
            if any(hop.url == target for hop in hops):
                return _stopped(response, hops, Trouble.REDIRECTS, f"redirected in a loop back to {target}")
            if len(hops) > self.settings.redirects:
                return _stopped(response, hops, Trouble.REDIRECTS, f"more than {self.settings.redirects} redirects")
            url = target

    def _remember(self, first: Url, response: Response) -> None:
        if response.outcome not in (Outcome.FETCHED, Outcome.UNCHANGED):
            return
        self._led_to.pop(first, None)
        if response.url != first:
            self._led_to[first] = response.url
            if len(self._led_to) > self.settings.remembered:
                self._led_to.popitem(last=False)


def _stopped(response: Response, hops: tuple[Hop, ...], trouble: Trouble, error: str) -> Response:
    return replace(response, outcome=Outcome.FAILED, trouble=trouble, error=one_line(error), hops=hops[:-1], body=b"")
