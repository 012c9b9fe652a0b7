"""The focus in a crawl: what cannot be told yet is held, and what people mark is learned."""

import asyncio
from pathlib import Path

import aiohttp
import numpy as np
import pytest
from virtual import Crawled, crawl_newsroom

from forager.cli.app import run
from forager.cli.runner import topic_lines
from forager.clock import LoopClock, inline
from forager.core.exploration import Pace, Thrift
from forager.core.focus import Focus
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings, FocusSettings
from forager.engine.stories import Teller
from forager.engine.topic import MARKS, Mark, TopicDesk, add_mark
from forager.errors import InputError
from forager.events import Event
from forager.report.dossier import compile_dossier
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import Channel, Url, UrlId, Verdict
from tests.core.test_focus import MONEY, SPORT, sporty, text_of
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


async def test_the_words_of_links_are_judged_when_found_and_after_every_lesson() -> None:
    table, store, clock = PageTable(ExpectationSettings()), Store(), LoopClock(0.0)
    thrift = Thrift(0.2, 0.05, Pace(100), 86_400.0)
    focus = Focus(FocusSettings(), [f"{head}\n{head} {text}" for head, text in zip(HEADS, sporty(), strict=True)])
    noted: list[Event] = []
    desk = TopicDesk(focus, store, Teller(store, noted.append), noted.append, clock, inline, table, thrift)
    links = ("Striker and referee at the stadium", "Bank and investor on the bond", "more"), ("", "", "")
    desk.found([UrlId(number) for number in range(3)], [link(*one) for one in zip(*links, strict=True)])
    assert [table.topical(UrlId(number)) for number in range(3)] == [1, 1, 1]
    for number in range(200):
        own = MONEY if number % 5 else SPORT
        text = f"{' '.join(own[number % 4 : number % 4 + 5])}\n{text_of(own, 1000 + number)}"
        desk.read(UrlId(10 + number), number, text, 0.0)
        if number in (99, 199):
            await desk.look()
            assert focus.doubt == ""
    sport, money, more = (table.topical(UrlId(number)) for number in range(3))
    assert sport > 3 * more > 6 * money
    assert 0.1 < more < 0.3  # it says nothing: a fifth of all documents are on topic
    assert desk.focus.share == pytest.approx(more)
    assert thrift.topical**2 == pytest.approx(more)  # the rarer, the more requests is one worth
    desk.found([UrlId(3)], [link("", "striker-and-referee-at-the-stadium")])  # its address says it
    assert table.topical(UrlId(3)) > 3 * more
    desk.shown(UrlId(4), np.array([0, 3]))
    desk.shown(UrlId(5), np.array([1]))
    assert table.topical(UrlId(4)) > more > table.topical(UrlId(5))
    assert table.topical(UrlId(0)) > sport  # it stands where the topic is
    read = [UrlId(number) for number in range(10, 210)]
    desk.shown(UrlId(6), np.array([*(id for id in read if desk.focus.verdicts[id - 10] is Verdict.ON), 300]))
    halves = [text_of(SPORT[:3] + MONEY[3:], number) for number in range(40)]
    for number, text in enumerate(halves):
        for id, first in ((300, 1000), (301, 2000)):
            desk.read(UrlId(id), first + number, text, 0.0)
    listed, alone = (
        sum(focus.verdicts[first + number] is Verdict.ON for number in range(40)) for first in (1000, 2000)
    )
    assert listed > alone  # the list where it stands speaks for it


HEADS = [" ".join(SPORT[place : place + 4]) for place in range(5)] * 2


def link(anchor: str, path: str) -> Found:
    return Found(Url(f"http://a.example/{path}"), Channel.LINK, 0.0, None, anchor, 1, None, 0.0)


async def test_why_says_what_the_words_of_a_link_not_followed_say() -> None:
    table, store = PageTable(ExpectationSettings()), Store()
    (id,) = store.enter([link("Striker and referee at the stadium", "a")])
    for chance, said in ((1.0, "says nothing of its topic"), (0.05, "it is on topic with a chance of 5.0%")):
        table.lean_to_topic(np.array([id]), np.array([chance]))
        assert said in (await compile_dossier(id, store, 0.0, statistics=table, focus=Focus(FocusSettings()))).topic
    assert (await compile_dossier(id, store, 0.0, statistics=table)).topic == ""


async def _stories(store: Store) -> list:  # type: ignore[type-arg]
    return [story async for story in store.stories()]


def test_the_summary_counts_what_was_left_out(crawled: Crawled) -> None:
    topics = {name: crawled.account.facts()[name] for name in ("on_topic", "off_topic", "cannot_tell")}
    (line,) = topic_lines(topics | {"topic_doubt": ""})
    assert f"{topics['on_topic']} documents on it" in line
    assert f"{topics['off_topic']} off it" in line
    (line,) = topic_lines({"on_topic": 0, "off_topic": 0, "cannot_tell": 3, "topic_doubt": "it has read 3 documents"})
    assert "of 3 it cannot tell yet because it has read 3 documents" in line
    assert topic_lines(dict.fromkeys(topics, 0) | {"topic_doubt": ""}) == []


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
