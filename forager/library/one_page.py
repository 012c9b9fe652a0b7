"""Fetches one page through all rules, or reads a page from bytes."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forager.errors import InputError
from forager.terms import Outcome, Request, Response, Url

if TYPE_CHECKING:
    from forager.pages.page import Page
    from forager.settings import Settings


def live_settings(values: Mapping[str, Any] | None, user_agent: str | None) -> "Settings":
    """Settings of a program that uses the live web; raises `SettingsError` without a contact."""
    from forager.assembly import require_contact
    from forager.settings import load_values

    agent = {} if user_agent is None else {"live.user_agent": user_agent}
    settings = load_values({**(values or {}), **agent})
    require_contact(settings, 'user_agent="{}"')
    return settings


async def fetch(url: str, *, user_agent: str | None = None, settings: Mapping[str, Any] | None = None) -> "Page":
    """Fetches one page through all rules: robots.txt, politeness, redirects, retries, limits.

        page = await forager.fetch("https://example.org/news", user_agent="Mine/1.0 (+https://example.org/bot)")
        print(page.response.status, page.title, len(page.links))

    A failed fetch raises no exception: `page.response.outcome` says how it ended, and `page.trouble` why. Calls share no
    state, so to request more than a few pages of a host, use `crawl`.
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
    """Reads a page, feed or sitemap from bytes: title, dates, text, links; each is parsed when first used.

        page = forager.read("<title>Rain</title><p>It rains. <a href='/sun'>Sun</a>", "https://example.org/")
        print(page.title, page.published, page.links[0].url)

    No input raises an exception: what cannot be read is empty, and `page.trouble` says why. `content_type` is the header
    of the response. `fetched` is its time in UTC seconds, by default now; dates after it are ignored.
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
