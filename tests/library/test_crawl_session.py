"""The live web from a program: a crawl beside it, one page, and a run directory looked into."""

import asyncio
import gc
import logging
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

import forager
from forager.errors import InputError, SettingsError, StoreError
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.pages.page import Page
from forager.store.store import Store
from forager.terms import Outcome
from tests.library.program import LOOPBACK, WHO, crawling, first_stories
from tests.served import served_newsroom
from tests.server import Served, serving


class OwnError(Exception):
    """Of the program."""


async def ended_by(how: str, run_dir: Path, newsroom: Newsroom) -> list[forager.Story]:
    """The stories of a crawl that comes to this end after a few of them."""
    told: list[forager.Story] = []
    enough = asyncio.Event()

    async def program() -> None:
        async with crawling(run_dir, newsroom) as crawl:
            async for story in crawl.stories():
                told.append(story)
                if len(told) < 5:
                    continue
                if how == "break":
                    break
                if how == "raise":
                    raise OwnError
                enough.set()
                await asyncio.sleep(60)

    if how == "raise":
        with pytest.raises(OwnError):
            await program()
    elif how == "cancel":
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            task = group.create_task(program())
            await enough.wait()
            task.cancel()
        assert task.cancelled()
    else:
        await program()
    return told


@pytest.mark.parametrize("how", ["break", "raise", "cancel"])
async def test_however_the_block_ends_the_run_directory_goes_on(how: str, newsroom: Newsroom, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    before = await ended_by(how, run_dir, newsroom)
    kept = await Store.view(run_dir)
    assert await kept.recall("fleet") is not None, "what was learned is saved"
    await kept.close()
    after = await first_stories(run_dir, newsroom, 40, after=before[-1].number)
    told = before + after
    assert [story.number for story in told] == list(range(len(told)))
    assert max(Counter(story.url for story in told).values()) == 1
    assert all(newsroom.truth.published(story.url) is not None and story.title and story.text for story in told)


async def test_a_slow_reader_holds_nothing_up_and_misses_nothing(newsroom: Newsroom, tmp_path: Path) -> None:
    numbers: list[int] = []
    async with asyncio.timeout(60), crawling(tmp_path / "run", newsroom) as crawl:
        async for story in crawl.stories():
            numbers.append(story.number)
            while crawl.counts().stories < 60:  # meanwhile the reader takes nothing
                await asyncio.sleep(0.05)
            if len(numbers) == 60:
                break
    assert numbers == list(range(60))


async def test_stop_and_the_time_limit_bring_the_stories_to_their_end(newsroom: Newsroom, tmp_path: Path) -> None:
    async with asyncio.timeout(60), crawling(tmp_path / "a", newsroom) as crawl:
        async for _ in crawl.stories():
            crawl.stop()
        stored = crawl.counts().stories
        told = [story.number async for story in crawl.stories()]
    assert told == list(range(stored))
    assert stored
    async with asyncio.timeout(60), crawling(tmp_path / "b", newsroom, time_limit=0.5) as crawl:
        async for _ in crawl.stories():
            pass


async def test_hooks_see_every_page_and_decide_what_becomes_a_story(newsroom: Newsroom, tmp_path: Path) -> None:
    pages: list[Page] = []
    refused: list[forager.Story] = []

    def accept(story: forager.Story) -> bool:
        if len(refused) < 5:
            refused.append(story)
            return False
        return True

    told: list[forager.Story] = []
    async with crawling(tmp_path / "run", newsroom, on_page=pages.append, accept=accept) as crawl:
        async for story in crawl.stories():
            told.append(story)
            if len(told) == 10:
                break
    urls = {page.url for page in pages}
    assert {story.url for story in told + refused} <= urls
    assert set(newsroom.homes) <= urls
    assert all(story.text and story.number == -1 for story in refused)
    assert not {story.url for story in refused} & {story.url for story in told}
    assert [story.number for story in told] == list(range(10))


@pytest.mark.parametrize("hook", ["on_page", "accept"])
async def test_a_hook_that_raises_ends_the_crawl_and_leaving_the_block_says_so(
    hook: str, newsroom: Newsroom, tmp_path: Path
) -> None:
    seen: list[object] = []

    def fail(what: object) -> bool:
        seen.append(what)
        if len(seen) == 3:
            raise OwnError(hook)
        return True

    with pytest.raises(OwnError, match=hook):
        async with asyncio.timeout(60), crawling(tmp_path / "run", newsroom, **{hook: fail}) as crawl:
            async for _ in crawl.stories():
                pass  # they come to their end
    assert await first_stories(tmp_path / "run", newsroom, 5)


async def test_an_error_of_the_program_goes_before_that_of_a_hook_and_names_it(
    newsroom: Newsroom, tmp_path: Path
) -> None:
    def fail(page: Page) -> None:
        raise ValueError("a bad hook")

    with pytest.raises(OwnError) as raised:
        async with asyncio.timeout(60), crawling(tmp_path / "run", newsroom, on_page=fail) as crawl:
            async for _ in crawl.stories():
                pass
            raise OwnError
    assert "a bad hook" in raised.value.__notes__[0]


async def test_a_program_must_name_a_contact_and_what_to_crawl(newsroom: Newsroom, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match='no contact; add one, such as user_agent="'):
        async with forager.crawl(tmp_path / "run", seeds=newsroom.homes):
            pass
    with pytest.raises(SettingsError, match="did you mean timetable"):
        async with forager.crawl(tmp_path / "run", user_agent=WHO, settings={"timetable.download_dely": 1}):
            pass
    with pytest.raises(InputError, match=r"seeds\[0\]: 'nowhere' is not"):
        async with forager.crawl(tmp_path / "run", seeds=["nowhere"], user_agent=WHO):
            pass
    with pytest.raises(InputError, match="needs seeds"):
        async with forager.crawl(tmp_path / "run", user_agent=WHO):
            pass
    assert not (tmp_path / "run" / "config.yaml").exists()


async def test_a_run_directory_in_use_is_refused(newsroom: Newsroom, tmp_path: Path) -> None:
    async with crawling(tmp_path / "run", newsroom):
        with pytest.raises(StoreError, match="in use"):
            async with crawling(tmp_path / "run", newsroom):
                pass


async def test_the_current_folder_the_environment_signals_and_logging_are_left_alone(
    newsroom: Newsroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.yaml").write_text("nonsense: 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORAGER_NONSENSE", "1")

    def state() -> list[object]:
        handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
        return [*handlers, logging.root.handlers[:], logging.root.level, logging.getLogger("forager").handlers[:]]

    before = state()
    async with crawling(tmp_path / "run", newsroom) as crawl:
        async for _ in crawl.stories():
            assert state() == before
            break
    assert state() == before
    assert {path.name for path in tmp_path.iterdir()} == {"config.yaml", "run"}


async def longest_hold(run_dir: Path, newsroom: Newsroom) -> float:
    """Longest processor time that the loop's thread took between two turns of another task."""
    held: list[float] = []

    async def watch() -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.002)
            now = time.thread_time()
            held.append(now - last)
            last = now

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        await first_stories(run_dir, newsroom, 40)
        watching.cancel()
    assert len(held) > 100
    return max(held)


async def test_the_loop_is_never_held_for_long(tmp_path: Path) -> None:
    """Held by our own work, in a process that has crawled before; the best of three, should anything else disturb.

    What other tests have left in memory is no work of the crawl, so the collector of garbage does not look at it.
    """
    with served_newsroom(NewsroomSettings(pace=2.0)) as newsroom:
        await first_stories(tmp_path / "before", newsroom, 10)
        gc.collect()
        gc.freeze()
        try:
            held = [await longest_hold(tmp_path / "run 1", newsroom)]
            while min(held) >= 0.05 and len(held) < 3:
                held.append(await longest_hold(tmp_path / f"run {len(held) + 1}", newsroom))
        finally:
            gc.unfreeze()
    assert min(held) < 0.05, held


async def test_a_crawl_goes_on_with_its_own_seeds(newsroom: Newsroom, tmp_path: Path) -> None:
    before = await first_stories(tmp_path / "run", newsroom, 5)
    async with forager.crawl(tmp_path / "run", user_agent=WHO, settings=LOOPBACK) as crawl:
        async for story in crawl.stories(after=before[-1].number):
            assert story.number == 5
            break


PAGE = (
    b"<html lang=en><title>Rain</title><meta property='article:published_time' content='2024-05-01T10:00:00Z'>"
    b"<p>It rains in the valley, and it will go on raining until the evening. <a href='/sun'>Sun</a></p></html>"
)


async def test_a_page_is_fetched_by_all_rules() -> None:
    site = {
        "/robots.txt": Served(b"User-agent: *\nDisallow: /private"),
        "/news": Served(PAGE, headers={"Content-Type": "text/html"}),
        "/old": Served(status=301, headers={"Location": "/news"}),
        "/private": Served(PAGE),
    }
    async with serving(site) as served:
        moved = await forager.fetch(served.url("/old"), user_agent=WHO, settings=LOOPBACK)
        private = await forager.fetch(served.url("/private"), user_agent=WHO, settings=LOOPBACK)
        gone = await forager.fetch(served.url("/nothing"), user_agent=WHO, settings=LOOPBACK)
    assert (moved.title, moved.url, moved.response.first_url) == ("Rain", served.url("/news"), served.url("/old"))
    assert (private.response.outcome, gone.response.outcome) == (Outcome.REFUSED, Outcome.GONE)
    assert "robots" in private.trouble
    assert "404" in gone.trouble
    assert not served.asked("/private")
    assert {seen.headers["user-agent"] for seen in served.log} == {WHO}


async def test_whoever_fetches_names_a_contact_and_a_page() -> None:
    with pytest.raises(SettingsError, match="names no contact"):
        await forager.fetch("https://example.org/", user_agent="Mine/1.0")
    with pytest.raises(InputError, match="not an http"):
        await forager.fetch("somewhere", user_agent=WHO)


@pytest.mark.parametrize("html", [PAGE, PAGE.decode()], ids=["bytes", "text"])
def test_a_page_is_read_without_any_web(html: str | bytes) -> None:
    page = forager.read(html, "https://example.org/rain")
    assert isinstance(page, forager.Page)
    assert (page.title, page.lang, page.trouble) == ("Rain", "en", "")
    assert [link.url for link in page.links] == ["https://example.org/sun"]
    assert page.published is not None
    assert page.published.time == 1714557600
    assert "rains in the valley" in page.text


def test_dates_later_than_the_fetch_are_not_believed() -> None:
    page = forager.read(PAGE, "https://example.org/rain", fetched=1704110400)
    assert page.published is None or page.published.time < 1704110400


def test_text_in_any_alphabet_stays_what_it_is() -> None:
    assert forager.read("<title>Москва – 東京</title>", "https://example.org/").title == "Москва – 東京"


async def test_stories_versions_and_visits_of_a_run(newsroom: Newsroom, tmp_path: Path) -> None:
    told = await first_stories(tmp_path / "run", newsroom, 10)
    async with forager.open_run(tmp_path / "run") as run:
        assert [story async for story in run.stories()][:10] == told
        assert [story.number async for story in run.stories(after=7)][:2] == [8, 9]
        versions = [version async for _, version in run.versions(told[0].url)]
        assert versions[0].text == told[0].text
        assert told[0].version == 1
        assert (told[0].language, told[0].word_count) == ("en", len(told[0].text.split()))
        assert {run.url(id) for id in versions[0].links} & set(newsroom.homes)
        visits = [visit async for visit in run.visits()]
        assert len(visits) == run.counts().visits
        assert {run.url(visit.id) for visit in visits} >= set(newsroom.homes)
        (visit, *_) = [visit async for visit in run.visits(told[0].url)]
        assert (visit.outcome, visit.at) == (Outcome.FETCHED, told[0].fetched)
        with pytest.raises(InputError, match="knows no such page"):
            run.visits("https://example.org/nowhere")


async def test_a_running_crawl_is_looked_into_without_disturbing_it(newsroom: Newsroom, tmp_path: Path) -> None:
    async with crawling(tmp_path / "run", newsroom) as crawl:
        async for story in crawl.stories():
            if story.number == 4:
                break
        async with forager.open_run(tmp_path / "run") as run:
            assert [story.number async for story in run.stories()][:5] == [0, 1, 2, 3, 4]


async def test_what_is_no_run_directory_and_what_was_not_entered_say_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="name the directory of a crawl"):
        async with forager.open_run(tmp_path):
            pass
    with pytest.raises(RuntimeError, match="async with"):
        forager.open_run(tmp_path).stories()
