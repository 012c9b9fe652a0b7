"""`forager why RUN_DIR URL` shows how a page was found, how often it was visited, and why it is a story or not.

`forager focus mark RUN_DIR URL yes|no` tells a focused crawl, running or not, whether a page is on its topic.
"""

import asyncio
from enum import StrEnum
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from forager.cli.options import Config, Json, RunDir, Set, settings_for
from forager.core.page_table import PageTable
from forager.core.saved import load_agent
from forager.core.shared import Shared
from forager.engine.resume import recall_waits
from forager.engine.scope import Scope
from forager.engine.topic import Mark, add_mark
from forager.engine.walls import Walls
from forager.errors import InputError
from forager.library.run_reader import viewed
from forager.library.session import given_url
from forager.pages.urls import host
from forager.report.dossier import Dossier, compile_dossier, prospect
from forager.report.phrases import shown, shown_moment, span
from forager.report.reasons import at_host, whose_page, why_again
from forager.settings import Settings
from forager.store.store import Store
from forager.terms import Channel, Dated, Url, UrlId
from forager.web.timetable import Timetable

if TYPE_CHECKING:  # few crawls have one, and it is slow to load
    from forager.core.focus import Focus

LOOKS = 10
"""Number of latest visits printed (ours); --json has more."""


def why(
    run: RunDir,
    url: Annotated[str, typer.Argument(help="The page in question.")],
    config: Config = None,
    set_: Set = None,
    json: Json = False,
) -> None:
    """Say who found a page, how and when, how often it was visited, and why it is a story or not.

    --json prints the same with more visits, as the dashboard's /api/page does: found, latest_visits, editions, stories,
    story, visiting, recrawl, copies and more.
    """
    kept = run / "config.yaml"
    settings = settings_for(config or (kept if kept.is_file() else None), set_)
    dossier = asyncio.run(_look_up(run, url, settings))
    typer.echo(msgspec.json.encode(dossier).decode() if json else told_page(dossier))


async def _look_up(run: Path, text: str, settings: Settings) -> Dossier:
    url = given_url(text)
    async with viewed(run) as reader:
        id = reader.find(url)
        if id is None:
            raise InputError(f"{run}: this run never met {shown(url)}; {_left_out(url, reader, settings)}")
        now, statistics = _end(reader), await _statistics(reader, settings)
        outlook = None if statistics is None else prospect(id, reader, statistics, now)
        return await compile_dossier(
            id,
            reader,
            now,
            max_age=settings.forager.max_age,
            least_worth=settings.crawl.least_worth,
            statistics=statistics,
            host=await _at_host(url, reader, settings, now),
            recrawl=await why_again(id, reader, now, settings.recrawl, statistics, outlook),
            focus=await _focus(reader, settings),
            territory=await _territory(id, reader, settings),
        )


async def _territory(id: UrlId, reader: Store, settings: Settings) -> str:
    """Whose start page it is, as far as the run kept its fleet."""
    saved = await reader.recall("fleet")
    return "" if saved is None else whose_page(id, load_agent(saved, settings.reinforcing, settings.forager))


def _left_out(url: Url, reader: Store, settings: Settings) -> str:
    """Why a URL is not part of the run, as far as known."""
    known = (reader.known(UrlId(id)) for id in range(reader.counts().known))
    seeds = [page.url for page in known if page.channel is Channel.SEED]
    objection = Scope(seeds, settings.scope).objection(url, 1)
    return f"a link to it stays out: {objection}" if objection else "was it linked from a page within its scope?"


async def _at_host(url: Url, reader: Store, settings: Settings, now: float) -> str:
    """Budget and delay of the page's host at the end of the run."""
    timetable = Timetable(settings.timetable)
    timetable.load(await recall_waits(reader), now)
    kept, walls = await reader.recall("walls"), Walls(settings.visits.retry_after)
    if kept is not None:
        walls.load(kept)
    wall = walls.why(url, now)
    return at_host(host(url), timetable, now) + (f" A wall: {wall}." if wall else "")


def _end(reader: Store) -> float:
    """Time of the last visit of the run, used as the current time."""
    known = (reader.known(UrlId(id)) for id in range(reader.counts().known))
    return max((page.last_visit or page.found for page in known), default=0.0)


async def _statistics(reader: Store, settings: Settings) -> PageTable | None:
    saved = await reader.recall("shared")
    return None if saved is None else Shared.load(saved, settings.forager).visits


async def _focus(reader: Store, settings: Settings) -> "Focus | None":
    """The focus as the run left it; None if every topic would do."""
    saved = await reader.recall("focus")
    if saved is None:
        return None
    from forager.core.focus import Focus

    return Focus.load(saved, settings.focus)


def told_page(dossier: Dossier) -> str:
    parts = [
        [dossier.url, *([dossier.title] if dossier.title else [])],
        [*_paragraph("A story?", dossier.story), *_stories(dossier)],
        _paragraph("Topic", dossier.topic),
        _paragraph("Visits", dossier.visiting),
        _paragraph("Recrawl", dossier.recrawl),
        _paragraph("Territory", dossier.territory),
        _paragraph("Host", dossier.host),
        _found(dossier),
        _versions(dossier),
        _visits(dossier),
        _copies(dossier),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _paragraph(name: str, text: str) -> list[str]:
    """A paragraph beside its name, in lines that fit the terminal; none without text."""
    wide = min(100, max(40, get_terminal_size().columns))
    return wrap(text, wide, initial_indent=f"{name:<10}", subsequent_indent=" " * 10, break_long_words=False)


def _stories(dossier: Dossier) -> list[str]:
    return [
        f"  told {shown_moment(one.at)} UTC by {one.by}, {span(one.delay)} after publication "
        f"({shown_moment(one.published)} UTC by {one.published_source})"
        for one in dossier.stories
    ]


def _found(dossier: Dossier) -> list[str]:
    lines = ["How it was found, back to a seed"]
    for place, one in enumerate(dossier.found):
        below = place + 1 < len(dossier.found)
        by = f", which {one.by} visited" if one.by and below else ""
        way = "a seed" if one.channel == "seed" else f"by {one.channel}{' on the page below' if below else ''}{by}"
        lines += [f"  {shown_moment(one.at)}  {shown(one.url)}", f"    {way}"]
    if dossier.announced is not None:
        lines.append(f"  a feed or news sitemap says it was published {shown_moment(dossier.announced)} UTC")
    return lines


def _versions(dossier: Dossier) -> list[str]:
    lines = [f"Versions, latest {len(dossier.editions)} of {dossier.versions}"] if dossier.versions else []
    for one in dossier.editions:
        dates = [_date("published", one.published), _date("modified", one.modified)]
        facts = [one.kind, f"{one.words} words", *filter(None, dates)]
        lines.append(f"  {shown_moment(one.at)}  {one.title or '(no title)'}  [{', '.join(facts)}]")
        changes = [*one.title_changes, *one.text_changes]
        lines += [f"    {piece.mark} {shown(piece.text, 160)}" for piece in changes if piece.mark != "="]
    return lines


def _date(name: str, dated: Dated | None) -> str | None:
    if dated is None:
        return None
    return (
        f"{name} {shown_moment(dated.time) if dated.exact else shown_moment(dated.time)[:10]} by {dated.source.value}"
    )


def _visits(dossier: Dossier) -> list[str]:
    looks = dossier.latest_visits[:LOOKS]
    lines = [f"Latest visits, {len(looks)} of {dossier.visits}"] if looks else []
    for one in looks:
        ended = "changed" if one.changed else one.outcome
        status = f" {one.status}" if one.status else ""
        error = f"  {one.error}" if one.error else ""
        lines.append(f"  {shown_moment(one.at)}  {ended}{status}  by {one.by}{error}")
    return lines


def _copies(dossier: Dossier) -> list[str]:
    lines = ["Pages with nearly the same text"] if dossier.copies else []
    for one in dossier.copies:
        lines.append(
            f"  {shown_moment(one.published)}  {shown(one.url)}{'  (the first print)' if one.is_first else ''}"
        )
    return lines


class OnTopic(StrEnum):
    """Whether a page is on topic."""

    YES = "yes"
    NO = "no"


def mark_page(
    run: RunDir,
    url: Annotated[str, typer.Argument(help="A page that the run has read.")],
    answer: Annotated[OnTopic, typer.Argument(help="Whether the page is on the topic of the crawl.")],
) -> None:
    """Say whether a page is on the topic of the crawl; a running crawl learns from it within seconds.

    What the crawl could not tell of yet is decided by it; a document that it has left out stays out, but others like it do not.
    """
    asyncio.run(_check(run, url))
    add_mark(run, Mark(url, answer is OnTopic.YES))
    typer.echo(f"{shown(url)}: marked as {'on' if answer is OnTopic.YES else 'off'} topic.")


async def _check(run: Path, text: str) -> None:
    """Only a page that was read can be learned from."""
    url = given_url(text)
    async with viewed(run) as reader:
        id = reader.find(url)
        if id is None or reader.known(id).version is None:
            raise InputError(f"{run}: this run has not read {shown(url)}")
        if await reader.recall("focus") is None:
            raise InputError(f"{run}: this run has no focus; crawl with focus.query or focus.examples")
