"""`forager fetch URL` fetches one page through all rules and shows everything that is read from it.

`forager robots URL` shows whether a URL may be fetched, and which rule decides.
"""

import asyncio
import math
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
import typer

from forager.assembly import open_wire
from forager.cli.options import Config, Json, Set, print_result, settings_for
from forager.clock import WallClock
from forager.errors import Exit
from forager.library.session import given_url
from forager.pages.page import Page
from forager.pages.urls import host
from forager.report.phrases import shown_moment
from forager.settings import Settings
from forager.terms import Dated, Outcome, Request, Response

_PATIENCE = 5.0
"""Seconds between two messages while there is no answer (ours)."""
CODES = {
    Outcome.FETCHED: Exit.OK,
    Outcome.UNCHANGED: Exit.OK,
    Outcome.MOVED: Exit.MOVED,
    Outcome.GONE: Exit.GONE,
    Outcome.REFUSED: Exit.REFUSED,
    Outcome.FAILED: Exit.FAILED,
    Outcome.UNRECORDED: Exit.UNRECORDED,
}


def fetch_command(
    url: Annotated[str, typer.Argument(help="The page to fetch.")],
    config: Config = None,
    set_: Set = None,
    json: Json = False,
) -> None:
    """Fetch one page through all rules and show what is read from it."""
    settings = settings_for(config, set_)
    response = asyncio.run(_fetch(url, settings))
    facts = described(response, settings)
    print_result(facts, lambda: _text(facts), json=json)
    raise typer.Exit(CODES[response.outcome])


async def _fetch(text: str, settings: Settings) -> Response:
    url = given_url(text)
    attempts, name = settings.retrying.retries + 1, host(url)

    def say(text: str) -> None:
        typer.echo(f"forager: {text}", err=True)

    def tell(attempt: int, response: Response, wait: float) -> None:
        trouble = f"{response.error or f'status {response.status}'} after {response.seconds:.1f} s"
        say(f"attempt {attempt} of {attempts}: {trouble}; next in {wait:.1f} s")

    async with open_wire(settings, WallClock(), tell=tell) as wire, asyncio.TaskGroup() as group:
        asking = group.create_task(wire.web.fetch(Request(url)))
        waited = 0.0
        while not (await asyncio.wait({asking}, timeout=_PATIENCE))[0]:
            waited += _PATIENCE
            say(
                f"waiting for {name} for {waited:.0f} s; no answer ends an attempt after {settings.live.total_time:g} s"
            )
    return asking.result()


def described(response: Response, settings: Settings) -> dict[str, Any]:
    """A response and the page read from it, as JSON values."""
    page = Page(response, settings=settings.pages) if response.outcome is Outcome.FETCHED else None
    return {
        "url": response.first_url,
        "final_url": response.url,
        "outcome": response.outcome.value,
        "status": response.status,
        "hops": [{"url": hop.url, "status": hop.status} for hop in response.hops],
        "address": response.address,
        "etag": response.header("etag"),
        "last_modified": response.header("last-modified"),
        "bytes": len(response.body),
        "wire_bytes": response.wire_bytes,
        "seconds": round(response.seconds, 4),
        "trouble": response.trouble.value,
        "error": response.error,
        "kind": page.kind.value if page else "",
        "title": page.title if page else "",
        "lang": page.lang if page else "",
        **(msgspec.to_builtins(page.about) if page else {}),
        "published": _moment(page.published if page else None),
        "published_source": page.published.source.value if page and page.published else None,
        "modified": _moment(page.modified if page else None),
        "canonical": page.canonical if page else None,
        "links": [
            {"url": link.url, "anchor": link.anchor, "region": link.region.value, "channel": link.channel.value}
            for link in (page.links if page else ())
        ],
        "text": page.text if page else "",
        "prints": {
            "bytes": f"{page.byte_print:016x}",
            "text": f"{page.text_print:016x}",
            "simhash": f"{page.simhash:016x}",
        }
        if page
        else {},
    }


def _moment(dated: Dated | None) -> str | None:
    """ISO 8601 in UTC; the day alone if only that is known."""
    if dated is None or not math.isfinite(dated.time):
        return None
    moment = datetime.fromtimestamp(dated.time, UTC)
    return moment.isoformat() if dated.exact else moment.date().isoformat()


def _text(facts: dict[str, Any]) -> str:
    """The same as text: short facts first, then links and text, cut to a screenful."""
    lists = ("links", "text", "hops", "prints")
    lines = [f"{name:<17}{_plain(value)}" for name, value in facts.items() if name not in lists and _plain(value)]
    lines += [f"{'hop':<17}{hop['status']} {hop['url']}" for hop in facts["hops"]]
    lines += [f"{'print of ' + name:<17}{value}" for name, value in facts["prints"].items()]
    links = facts["links"]
    if links:
        lines.append(f"\n{len(links)} links")
        lines += [f"  {link['region']:<6} {link['url']}  {link['anchor'][:60]}" for link in links[:20]]
        lines += [f"  … {len(links) - 20} more (--json shows all)"] if len(links) > 20 else []
    if facts["text"]:
        lines.append("\n" + facts["text"][:1500] + (" …" if len(facts["text"]) > 1500 else ""))
    return "\n".join(lines)


def _plain(value: object) -> str:
    """A value in words; empty if nothing is known."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else ", ".join(value) if isinstance(value, tuple | list) else str(value)


def robots(
    url: Annotated[str, typer.Argument(help="The URL in question.")],
    config: Config = None,
    set_: Set = None,
    json: Json = False,
) -> None:
    """Say whether a URL may be fetched, and which rule says so."""
    verdict = asyncio.run(_ask(url, settings_for(config, set_)))
    told = verdict | {"fetched": f"{shown_moment(verdict['fetched'])} UTC"}
    lines = [f"{name:<12} {_plain(value)}" for name, value in told.items() if value or value is False]
    print_result(verdict, lambda: "\n".join(lines), json=json)
    raise typer.Exit(Exit.OK if verdict["allowed"] else Exit.REFUSED)


async def _ask(text: str, settings: Settings) -> dict[str, Any]:
    url = given_url(text)
    async with open_wire(settings, WallClock()) as wire:
        return asdict(await wire.robots.explain(url))
