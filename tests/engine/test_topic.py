"""The focus in a crawl: what cannot be told yet is held, and what people mark is learned."""

import asyncio
from pathlib import Path

import aiohttp
import pytest
from virtual import Crawled, crawl_newsroom

from forager.cli.app import run
from forager.engine.topic import MARKS, Mark, TopicDesk, add_mark
from forager.errors import InputError
from forager.store.store import Store
from forager.terms import Url, Verdict
from tests.dashboard.crawling import crawling, lively

QUERY = "bill vote senate coalition ballot budget amendment cabinet"


@pytest.fixture(scope="module")
def crawled() -> Crawled:
    return crawl_newsroom(8, "newsroom.pace=1", f"focus.query={QUERY}")


def desk_of(crawled: Crawled) -> TopicDesk:
    assert crawled.crawl.topic is not None
    return crawled.crawl.topic


def test_documents_wait_untold_until_the_focus_can_tell() -> None:
    crawled = crawl_newsroom(2, "newsroom.pace=0.3", f"focus.query={QUERY}")
    focus = desk_of(crawled).focus
    assert focus.doubt  # it has read too little
    assert set(focus.verdicts.values()) == {Verdict.UNSURE}
    assert crawled.stories == []
    held = desk_of(crawled).teller.held
    assert held
    assert set(held) <= set(asyncio.run(crawled.store.unsettled()))
    assert crawled.account.facts()["cannot_tell"] == len(focus.verdicts)
    assert sum(record.relevant for record in crawled.crawl.agent.records.values()) > 0  # but rewarded


def test_what_was_held_is_told_or_dropped_once_it_can_tell(crawled: Crawled) -> None:
    desk = desk_of(crawled)
    assert not desk.focus.doubt
    assert desk.teller.held == {}
    assert crawled.account.topics["cannot tell yet"] < len(desk.focus.verdicts)
    versions = {story.version for story in asyncio.run(_stories(crawled.store))}
    assert versions
    assert {desk.focus.verdicts[version] for version in versions} == {Verdict.ON}


def test_what_was_held_when_the_crawl_ended_is_held_on_and_told_later() -> None:
    before = crawl_newsroom(0.1, "newsroom.pace=1", f"focus.query={QUERY}")
    held = set(desk_of(before).teller.held)
    assert held
    after = Crawled(before.settings).run(6, store=before.store, start=0.1)
    desk = desk_of(after)
    assert not desk.focus.doubt
    told = {story.version for story in asyncio.run(_stories(after.store))}
    on_topic = {version for version in held if desk.focus.verdicts[version] is Verdict.ON}
    assert on_topic
    assert on_topic <= told
    assert not (held - on_topic) & told


async def _stories(store: Store) -> list:  # type: ignore[type-arg]
    return [story async for story in store.stories()]


def test_marks_in_the_run_directory_are_taken_in_once(crawled: Crawled, tmp_path: Path) -> None:
    desk = desk_of(crawled)
    desk._run = tmp_path
    (story, *_) = asyncio.run(_stories(crawled.store))
    before = dict(crawled.account.topics)
    add_mark(tmp_path, Mark(story.url, False))
    add_mark(tmp_path, Mark("http://nowhere.example/", True))
    with (tmp_path / MARKS).open("ab") as file:
        file.write(b"no mark\n" + b'{"url": "half a li')
    lessons = desk.focus.lessons
    asyncio.run(desk.look())
    assert desk.focus.verdicts[story.version] is Verdict.OFF
    assert crawled.account.topics["off topic"] >= before["off topic"] + 1
    assert desk.focus.lessons == lessons + 1
    asyncio.run(desk.look())
    assert desk.focus.lessons == lessons + 1
    desk.mark(Url(story.url), True)
    assert (tmp_path / MARKS).read_bytes().endswith(b'"on_topic":true}\n')


def test_only_a_page_that_a_focused_run_has_read_can_be_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def make() -> None:
        store = await Store.open(tmp_path)
        await store.close()

    asyncio.run(make())
    with pytest.raises(SystemExit) as ended:
        run(["focus", "mark", str(tmp_path), "http://a.example/", "yes"])
    assert ended.value.code == InputError("").exit
    assert "has not read http://a.example/" in capsys.readouterr().err
    assert not (tmp_path / MARKS).exists()


async def test_the_dashboard_marks_pages_but_only_for_its_own_pages(tmp_path: Path) -> None:
    async with crawling(lively("focus.query=bill vote"), tmp_path, run=False) as running:
        desk = running.crawl.topic
        assert desk is not None
        desk._run = tmp_path
        (seed,) = (await running.crawl._plant([Url("http://127.0.0.1/a")]),)
        assert seed
        place, mark = f"{running.address}api/mark", {"url": "http://127.0.0.1/a", "on_topic": True}
        own = running.address.rstrip("/")
        async with aiohttp.ClientSession() as client:
            for origin, body, status in (
                (own, mark, 200),
                ("https://evil.example", mark, 403),
                ("null", mark, 403),
                (own, {"url": "http://127.0.0.1/unknown", "on_topic": True}, 404),
                (own, {"url": 7}, 400),
            ):
                async with client.post(place, json=body, headers={"Origin": origin}) as answer:
                    assert answer.status == status, (origin, body)
            async with client.post(place, data=b'{"url": "http://127.0.0.1/a", "on_topic": true}') as answer:
                assert answer.status == 403  # as a form of another site could send it
            async with client.post(place, json=mark, headers={"Host": "rebound.example"}) as answer:
                assert answer.status == 421
    assert (tmp_path / MARKS).read_bytes() == b'{"url":"http://127.0.0.1/a","on_topic":true}\n'
