"""Histories from archives: a warm start of a crawl, and why a page is looked at."""

import asyncio
from pathlib import Path

import msgspec
import numpy as np
import pytest

from forager.core.packed import pack
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.engine.crawl import warm_up
from forager.engine.resume import SCHEDULE, Schedule, restore_histories
from forager.engine.scope import Scope
from forager.errors import InputError
from forager.events import CycleDone, Learned
from forager.importers.files import histories
from forager.recrawl.change_log import changes
from forager.recrawl.history import History
from forager.recrawl.policies import RuleInUse
from forager.recrawl.recrawl_settings import RecrawlSettings
from forager.report.reasons import why_again
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import Channel, Url, UrlId
from forager.web.web_settings import ScopeSettings

DAY = 86_400.0
FIRST = 1_772_323_200.0  # 2026-03-01 00:00 UTC
CDX = """ CDX N b a m s k r M S V g
org,example)/ 20260301000000 https://example.org/ text/html 200 AAAA - - 100 1 x.warc.gz
org,example)/ 20260302000000 https://example.org/ text/html 200 AAAA - - 100 2 x.warc.gz
org,example)/ 20260303000000 https://example.org/ text/html 200 BBBB - - 100 3 x.warc.gz
org,example)/news 20260301000000 https://example.org/news text/html 200 CCCC - - 100 4 x.warc.gz
org,example)/news 20260304000000 https://example.org/news text/html 200 DDDD - - 100 5 x.warc.gz
com,elsewhere)/ 20260301000000 https://elsewhere.com/ text/html 200 EEEE - - 100 6 x.warc.gz
"""


@pytest.fixture
def archive(tmp_path: Path) -> str:
    path = tmp_path / "captures.cdx"
    path.write_text(CDX)
    return str(path)


class Warm:
    """A crawl of example.org that was given an archive before it began."""

    def __init__(self, archive: str, times: int = 1) -> None:
        self.store = Store()
        self.statistics = PageTable(ExpectationSettings())
        self.statistics.keep_histories(History(cycle=DAY))
        self.scope = Scope([Url("https://example.org/")], ScopeSettings())
        for _ in range(times):
            self.told = asyncio.run(self._enter(archive))

    async def _enter(self, archive: str) -> tuple[int, int]:
        return await warm_up(histories(archive), self.store, self.statistics, self.scope)

    def page(self, url: str) -> UrlId:
        id = self.store.find(Url(url))
        assert id is not None
        return id


def test_a_digest_unlike_the_last_one_is_a_change() -> None:
    digest, gone = np.array([5, 5, 6, 0, 6, 9, 6], np.uint64), np.array([0, 0, 0, 0, 0, 1, 0], np.bool_)
    assert changes(digest, gone).tolist() == [False, False, True, False, False, False, False]


def test_captures_are_visits_and_other_digests_changes(archive: str) -> None:
    warm = Warm(archive)
    home, news = warm.page("https://example.org/"), warm.page("https://example.org/news")
    states = warm.statistics.history.states(FIRST + 4 * DAY)
    assert (states.n[home], states.X[home], states.t[home]) == (3, 1, 2)
    assert (states.n[news], states.X[news], states.t[news]) == (2, 1, 1)
    assert warm.told == (2, 5)
    assert warm.store.find(Url("https://elsewhere.com/")) is None  # out of scope
    assert warm.store.known(home).channel is Channel.ARCHIVE


def test_the_visit_statistics_foresee_news_of_pages_that_changed(archive: str) -> None:
    statistics = Warm(archive).statistics
    before = ExpectationSettings()
    # home: 48 hours watched, 1 change; drawn towards the mean of texts by at least 10 hours
    most = (1 + before.prior_hours * before.text_rate) / (48 + before.prior_hours)
    rate = statistics.rate(np.array([0]))[0]
    assert before.text_rate < rate < most
    worth, fresh = statistics.worth(np.array([0]), FIRST + 4 * DAY)
    assert worth[0] == pytest.approx(1 - np.exp(-rate * 24))
    assert not fresh[0]
    assert not statistics.visited(np.array([0]))[0]


def test_the_same_archive_twice_changes_nothing(archive: str) -> None:
    once, twice = Warm(archive), Warm(archive, times=2)
    assert twice.told == (2, 0)
    assert once.statistics.history.states(0.0).n.tolist() == twice.statistics.history.states(0.0).n.tolist()
    assert once.statistics.rate(np.arange(2)).tolist() == twice.statistics.rate(np.arange(2)).tolist()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam")
    with pytest.raises(InputError, match=r"letter\.txt: looks like no WARC"):
        list(histories(str(path)))


def explained(schedule: Schedule, page: int = 1) -> str:
    """Pages 0 … 3; page p has had p changes in 4 visits, a cycle of 900 seconds apart; the present is a cycle later."""

    async def answer() -> str:
        store, pages = Store(), PageTable(ExpectationSettings())
        await store.put([Found(Url(f"https://example.org/{p}"), Channel.SEED, 0.0) for p in range(5)])
        for visit in range(4):
            pages.recall(np.arange(4), np.full(4, visit * 900.0), (visit > 0) & (visit <= np.arange(4)))
        await store.keep(SCHEDULE, _encoded(schedule))
        return await why_again(UrlId(page), store, 3600.0, RecrawlSettings(), pages, None)

    return asyncio.run(answer())


def _encoded(schedule: Schedule) -> bytes:
    return msgspec.json.encode(schedule)


def test_a_decision_is_explained_with_rank_and_next_visit() -> None:
    done = CycleDone(3600.0, "t * X", 2, 1, 0.5, 1.0)
    text = explained(Schedule("t * X", done=done))
    # t · X is 1, 2 and 3 for the pages 1, 2 and 3: page 1 is third of four, and two are visited in a cycle
    assert text == (
        "By t * X: n=4 X=1 t=1 → 1.00, rank 3 of 4. The last cycle looked at 2 such pages in 15 min; "
        "at that pace its turn comes in 30 min."
    )


def test_a_function_learned_beside_the_default_says_nothing_of_when_a_page_has_its_turn() -> None:
    in_use = (RuleInUse("worth"), RuleInUse("t * X", 900.0))
    done = CycleDone(3600.0, "texts: t * X", 2, 1, 0.5, 1.0)
    text = explained(Schedule("learned", "texts: t * X", learned=True, done=done, by_kind=in_use))
    assert text == (
        "By t * X: n=4 X=1 t=1 → 1.00, rank 3 of 4. Of the pages of its kind seen before, it orders those that "
        "promise documents enough for a request."
    )


def test_a_function_that_goes_by_the_rhythm_of_the_week_is_explained_by_it() -> None:
    rhythm = (3.0, *(1.0 - 2.0 / 167.0 for _ in range(167)))  # the first hour of the week is three times as busy
    text = explained(Schedule("function.json", "busy * X", rhythm=rhythm))
    assert text.startswith("By busy * X: n=4 X=1 t=1 busy=3 → 3.00, rank 3 of 4.")


def test_a_page_without_history_and_a_rule_without_ranks_are_explained_too() -> None:
    assert explained(Schedule("t2"), page=4) == ("By t2: without a history, it is ranked by the documents it promises.")
    assert explained(Schedule("worth")) == "By expected new documents: n=4 X=1 t=1."


def test_what_was_learned_is_told() -> None:
    lessons = [
        Learned(1000.0, "X", "ndcg", 0.4, 0.3, replaced=True, visits=100),
        Learned(2000.0, "X + t", "ndcg", 0.4, 0.5, replaced=False, visits=200),
    ]
    text = explained(Schedule("t2", "X", learned=True, lessons=lessons))
    assert text.startswith("By X: n=4 X=1 t=1 → 1.00, rank 3 of 4.")
    assert "Functions learned: 2, of which 1 took over; the last one, X + t, had ndcg 0.400 against 0.500" in text


def test_histories_that_an_earlier_version_kept_by_themselves_are_taken_over() -> None:
    before, store = PageTable(ExpectationSettings()), Store()
    for visit, version in enumerate((4, 4, 6, 6)):
        before.record(UrlId(1), visit * 900.0, version=version)
    old = before.history.columns() | {"held": before.mind().held}

    async def restored(pages: PageTable) -> PageTable:
        await store.keep("history", pack("history", 1, old))
        await restore_histories(pages, store)
        return pages

    again = asyncio.run(restored(PageTable(ExpectationSettings())))
    assert (again.history.states(0.0).n[1], again.history.states(0.0).X[1]) == (4, 1)
    assert again.mind().held[1] == 6
    known = PageTable(ExpectationSettings())
    known.record(UrlId(0), 0.0)  # a table that has histories of its own keeps to them
    assert asyncio.run(restored(known)).history.states(0.0, np.array([0, 1])).n.tolist() == [1, 0]
