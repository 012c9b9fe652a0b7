"""One page: fetched through all rules, or read from bytes that somebody has already."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forager.errors import InputError
from forager.terms import Outcome, Request, Response, Url

if TYPE_CHECKING:
    from forager.pages.page import Page
    from forager.settings import Settings


def live_settings(values: Mapping[str, Any] | None, user_agent: str | None) -> "Settings":
    """The settings of a program that goes out to the web; without a contact, a `SettingsError`."""
    from forager.assembly import require_contact
    from forager.settings import load_values

    agent = {} if user_agent is None else {"live.user_agent": user_agent}
    settings = load_values({**(values or {}), **agent})
    require_contact(settings, 'user_agent="{}"')
    return settings


async def fetch(url: str, *, user_agent: str | None = None, settings: Mapping[str, Any] | None = None) -> "Page":
    """Fetch one page through all rules: robots.txt, politeness, redirects, retries, limits.

        page = await forager.fetch("https://example.org/news", user_agent="Mine/1.0 (+https://example.org/bot)")
        print(page.response.status, page.title, len(page.links))

    Failure is no exception: `page.response.outcome` says how it ended, and `page.trouble` why. Each call begins anew and
    knows nothing of the calls before it, so to ask a host for more than a few pages, `crawl` it.
    """
    chosen = await asyncio.to_thread(live_settings, settings, user_agent)
    from forager.assembly import open_wire
    from forager.clock import WallClock
    from forager.pages.page import read as read_page
    from forager.pages.urls import canonical

    asked = canonical(url)
    if asked is None:
        raise InputError(f"{url!r} is not an http(s) URL, such as https://example.org/news")
    async with open_wire(chosen, WallClock()) as wire:
        response = await wire.web.fetch(Request(asked))
    page = read_page(response, settings=chosen.pages)
    if response.outcome is not Outcome.FETCHED:
        page.trouble = response.error or f"{response.outcome}, status {response.status}"
    return page


def read(html: str | bytes, url: str, *, content_type: str = "", fetched: float | None = None) -> "Page":
    """Read a page, feed or sitemap that was fetched before: title, dates, text, links; each when it is asked for.

        page = forager.read("<title>Rain</title><p>It rains. <a href='/sun'>Sun</a>", "https://example.org/")
        print(page.title, page.published, page.links[0].url)

    Whatever the bytes, nothing raises: what cannot be read is empty, and `page.trouble` says why. `content_type` is what
    the server said, and `fetched` when that was, in UTC seconds: dates later than that are not believed; without it, now.
    """
    from forager.clock import WallClock
    from forager.pages.page import read as read_page
    from forager.pages.urls import canonical

    at = canonical(url)
    if at is None:
        raise InputError(f"{url!r} is not an http(s) URL, such as https://example.org/news")
    text = isinstance(html, str)
    kind = content_type or ("text/html; charset=utf-8" if text else "")
    response = Response(
        Url(at),
        Outcome.FETCHED,
        WallClock().now() if fetched is None else fetched,
        headers=(("content-type", kind),) if kind else (),
        body=html.encode("utf-8", "replace") if isinstance(html, str) else html,
    )
    return read_page(response)
