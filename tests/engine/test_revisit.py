"""Recrawl policies in a live crawl, in virtual time: they decide, they are remembered, they get better."""

import asyncio
import math
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np
import pytest

from forager import functions
from forager.chance import stream
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.core.shared import Shared
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.recrawl_view import REORDERED, recrawl, why_scheduled
from forager.dashboard.watched import Coverage, watch
from forager.engine.policy import function_source, read_policy, shipped_functions
from forager.engine.resume import LESSONS, MANY, Schedule, policy_in_use, recall_schedule, restore_histories
from forager.engine.teacher import POLITENESS, Retraining, learn_apart, learn_here
from forager.errors import SettingsError
from forager.events import Learned
from forager.recrawl.change_log import Captured
from forager.recrawl.formula import parse
from forager.recrawl.function_file import LearnedFunction as Function
from forager.recrawl.function_file import function_from_text, function_to_text
from forager.recrawl.history import History
from forager.recrawl.policies import ByKind, Formula, Policy, RuleInUse, rules_in_use
from forager.recrawl.recrawl_settings import AdaptiveSettings, HacsSettings, RecrawlSettings, RetrainSettings
from forager.recrawl.retrain import Lesson, LessonVerdict, contest, kind_of_news
from forager.recrawl.visit_log import VisitLog, Visits
from forager.report.account import Account
from forager.settings import load_settings
from forager.tape.tape_world import TapeClock
from forager.terms import Channel, Url, UrlId
from tests.virtual import Crawled, crawl_newsroom

LEARNS_ALWAYS = ("recrawl.retrain.replays=true", "recrawl.retrain.any_policy=true")
SMALL = RetrainSettings(enabled=True, after=100, terminals="basic", population=12, generations=2)


def events(crawled: Crawled, name: str) -> list[dict[str, object]]:
    lines = [msgspec.json.decode(line) for line in crawled.journal.getvalue().splitlines()]
    return [line for line in lines if line["event"] == name]


def history(crawled: Crawled) -> History:
    return crawled.crawl.scheduler.history


@pytest.mark.parametrize("policy", ["t * X", "hacs"])
def test_a_policy_drives_the_cycle(policy: str) -> None:
    crawled = crawl_newsroom(1, f"crawl.policy={policy}", "crawl.recrawl_share=1")
    assert {event["policy"] for event in events(crawled, "Scheduled")} == {policy}
    assert crawled.stories


@pytest.fixture(scope="module")
def hour() -> Crawled:
    """An hour of the default crawl."""
    return crawl_newsroom(1)


@pytest.fixture(scope="module")
def busy() -> Crawled:
    """Hours with much news, whose single visits are kept to learn from; nothing is learned from them yet."""
    learns = ("recrawl.retrain.replays=true", "recrawl.retrain.after=100000")
    return crawl_newsroom(4, "newsroom.pace=4", "timetable.download_delay=3s", *learns)


def test_every_cycle_tells_how_well_it_chose(hour: Crawled) -> None:
    done = events(hour, "CycleDone")
    assert len(done) in (3, 4)  # an hour of quarter hours; the last may be under way
    assert all(0.0 <= float(str(one["change_rate"])) <= 1.0 for one in done)
    assert sum(int(str(one["visits"])) for one in done) > 5


def test_every_visit_of_fleet_and_cycle_is_in_the_history(hour: Crawled) -> None:
    states = history(hour).states(0.0)
    known = [hour.store.known(UrlId(id)) for id in range(hour.store.counts().known)]
    seen = [page for page in known if page.version is not None]
    assert len(seen) > 50
    assert [states.n[page.id] for page in seen] == [page.visits for page in seen]
    assert [states.X[page.id] for page in seen] == [page.changes for page in seen]
    assert [states.last[page.id] * 900 for page in seen] == pytest.approx([page.last_visit for page in seen])


def test_a_history_can_be_rebuilt_from_the_visits_of_the_store(hour: Crawled, monkeypatch: pytest.MonkeyPatch) -> None:
    store, saved = hour.store, history(hour)

    async def rebuilt(forget: bool) -> PageTable:
        pages = PageTable(ExpectationSettings())
        if not forget:
            kept = await store.recall("shared")
            assert kept is not None
            pages = Shared.load(kept, hour.settings.forager).visits
        pages.keep_histories(History(cycle=900.0))
        await restore_histories(pages, store)
        return pages

    seen = np.array([id for id in range(store.counts().known) if store.known(UrlId(id)).version is not None])
    for forget, many in ((False, MANY), (True, MANY), (True, 1)):  # page by page, and all visits together
        monkeypatch.setattr("forager.engine.resume.MANY", many)
        again = asyncio.run(rebuilt(forget))
        for column in ("n", "X", "last", "first", "halved"):
            ours, theirs = (getattr(one.states(0.0, seen), column).tolist() for one in (again.history, saved))
            assert ours == pytest.approx(theirs), column


def test_a_crawl_that_goes_on_knows_which_visits_revealed_documents(busy: Crawled) -> None:
    before, again = busy.crawl.shared.visits.log, VisitLog()
    pages = PageTable(ExpectationSettings())
    pages.keep_histories(History(cycle=900.0), again)
    asyncio.run(restore_histories(pages, busy.store))
    assert before is not None
    assert before.visits.brought.sum() > 10
    assert again.visits.brought.tolist() == before.visits.brought.tolist()


def test_after_a_sudden_end_the_page_table_is_what_the_stored_visits_made_it(busy: Crawled) -> None:
    known, before = busy.store.counts().known, busy.crawl.shared.visits
    again = PageTable(ExpectationSettings())  # as if it had never been saved
    asyncio.run(restore_histories(again, busy.store))
    mine, its = again.mind().table[:known], before.mind().table[:known]
    last = busy.store.last_visits()
    fetched = (last > -np.inf) & (its["failures"] == 0)
    assert fetched.sum() > 300
    assert mine["last"][fetched] == pytest.approx(last[fetched])
    assert (mine["hub"] == its["hub"]).all()
    assert mine["hits"].tolist() == its["hits"].tolist()
    assert its["hits"].sum() > 5


def test_a_crawl_that_goes_on_knows_the_histories() -> None:
    crawled = crawl_newsroom(1, "crawl.policy=t2")
    before = history(crawled).states(0.0).n.sum()
    crawled.run(0.5, store=crawled.store, start=1.0)
    assert history(crawled).states(0.0).n.sum() > before
    assert crawled.crawl.scheduler.policy.name == "t2"


def test_a_page_seen_once_is_hoped_to_change_once_in_two_days() -> None:
    score = read_policy("t2", stream(1, "test"), RecrawlSettings(), 900.0).score
    assert score is not None
    history = History(cycle=900.0)
    history.note(0, 0.0, False)
    assert score.scores(history.states(1800.0)).tolist() == [2**2 * 0.5 / 96]  # t = 2 of the 96 cycles of a day


def test_what_a_policy_may_be() -> None:
    rng = stream(1, "test")
    for name in (
        "rand",
        "age",
        "cg",
        "nad",
        "sad",
        "aad",
        "gad",
        "hacs",
        "last-obs",
        "azar",
        "azar-rate",
        "t2",
        "adaptive",
    ):
        assert read_policy(name, rng, RecrawlSettings(), 900.0).score is not None
    assert read_policy("worth", rng, RecrawlSettings(), 900.0).score is None
    for wrong in ("crawl.policy=nope", "crawl.policy=t *", "crawl.policy=__import__('os')"):
        with pytest.raises(SettingsError, match=r"crawl\.policy: expected learned, worth, one of rand age"):
            load_settings(Path("/dev/null"), [wrong])


def test_a_learned_function_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "function.json"
    rng = stream(1, "test")
    with pytest.raises(SettingsError, match=r"function.json cannot be read \(No such file"):
        read_policy(str(path), rng, RecrawlSettings(), 900.0)
    path.write_text("{}")
    with pytest.raises(SettingsError, match="not a score function written by `forager learn`"):
        read_policy(str(path), rng, RecrawlSettings(), 900.0)
    path.write_text(function_to_text(Function(parse("t * X"), "basic", "ndcg", 0.5, 0.4)))
    assert str(read_policy(str(path), rng, RecrawlSettings(), 900.0)) == "t * X"


def test_every_policy_can_be_improved() -> None:
    rng = stream(1, "test")
    for name in ("worth", "t2", "adaptive", "t * X"):
        lists, texts = rules_in_use(read_policy(name, rng, RecrawlSettings(retrain=SMALL), 900.0))
        assert lists.rule == texts.rule == name
    lists, texts = rules_in_use(Policy.by_kind("learned", ByKind(Formula.of(parse("t * X"), (), 60.0))))
    assert (lists, texts) == (RuleInUse("t * X", 60.0), RuleInUse("worth"))


def test_the_functions_that_come_with_the_program_say_where_they_come_from() -> None:
    for kind in ("lists", "texts"):
        learned = function_from_text((files(functions) / f"{kind}.json").read_text("utf-8"))
        origin = learned.provenance
        assert learned.fitness == "late"
        assert origin.log and origin.period and origin.command.startswith("forager learn ") and origin.date
        assert origin.cycle == 3600.0
        assert learned.in_force == (getattr(shipped_functions(), kind) is not None)
    assert shipped_functions().lists is not None


def test_the_default_crawl_goes_by_a_learned_function_from_the_first_minute() -> None:
    crawled = crawl_newsroom(0.2)
    policy = crawled.crawl.scheduler.policy
    assert (policy.name, policy.score) == ("learned", shipped_functions())
    assert crawled.crawl.retraining is None  # in simulated time nothing is learned unless asked for
    assert function_source(policy, []) == "forager/functions"
    by_hand = crawl_newsroom(0.2, "crawl.policy=worth").crawl
    assert by_hand.scheduler.policy.score is None
    assert function_source(by_hand.scheduler.policy, []) == "hand-made rule"


def test_a_lesson_is_about_the_pages_that_bring_the_news() -> None:
    one = lesson("worth", brought=True)
    assert kind_of_news(one.visits, np.arange(90)) == "lists"
    assert kind_of_news(one.visits, np.arange(20)) == "texts"
    verdict = contest(replace(one, lists=np.arange(60)))
    assert verdict is not None
    assert (verdict.kind, verdict.fitness) == ("lists", "late")
    verdict = contest(replace(one, lists=np.arange(20)))
    assert verdict is not None
    assert (verdict.kind, verdict.fitness) == ("texts", "late")


def test_a_lesson_begins_with_the_function_in_use() -> None:
    # Nothing can be learned in one generation of two but the first rules: the one in use is the first of them.
    one = lesson("n * t", brought=True)
    small = replace(SMALL, population=2, generations=1)
    verdict = contest(replace(one, settings=replace(one.settings, retrain=small)))
    assert verdict is not None
    assert not verdict.won


def lesson(current: str = "0 - t * X", brought: bool = False) -> Lesson:
    """90 pages, visited every cycle for 30 cycles; each changes every 2 to 10 cycles. The function in use is the worst.

    If they brought anything, every change is a document on a list, and there are 160 cycles.
    """
    cycles = 160 if brought else 30
    page, cycle = np.tile(np.arange(90), cycles), np.repeat(np.arange(cycles), 90)
    changed = (cycle + page) % (page % 9 + 2) == 0
    documents = (changed * brought).astype(np.int32)
    visits = Visits(page, (cycle * 900.0).astype(np.float64), changed, documents)
    settings = RecrawlSettings(k=0.1, retrain=SMALL)
    rule, by_kind = RuleInUse(current), current == "worth"
    return Lesson(visits, np.arange(90 * brought), 900.0, (rule, rule), by_kind, settings, seed=3)


@pytest.mark.parametrize(("brought", "fitness"), [(False, "ndcg"), (True, "late")])
def test_what_is_learned_is_better_on_held_out_pages_than_a_bad_function(brought: bool, fitness: str) -> None:
    verdict = contest(lesson(brought=brought))
    assert verdict is not None
    assert verdict.fitness == fitness
    assert verdict.won
    assert verdict.new > verdict.old
    assert verdict.visits == (14_400 if brought else 2700)


def test_the_default_rule_is_not_given_up_for_what_is_as_good() -> None:
    verdict = contest(lesson("worth", brought=True))
    assert verdict is not None
    assert not verdict.won
    assert abs(verdict.new - verdict.old) < 0.05


def test_a_function_in_use_is_judged_by_its_own_rhythm_of_the_week() -> None:
    in_use = lesson("0 - busy * X")
    alike, asleep = contest(in_use), contest(replace(in_use, rhythm=(0.0,) * 160 + (21.0,) * 8))
    assert alike is not None
    assert asleep is not None
    assert alike.old != asleep.old  # the log lies in hours that the second one takes for dead: all pages are equal


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("adaptive", RecrawlSettings(adaptive=AdaptiveSettings(initial=2.0, increase=0.9))),
        ("hacs", RecrawlSettings(hacs=HacsSettings(window=3.0))),
    ],
)
def test_a_rule_in_use_is_judged_by_its_own_settings(name: str, other: RecrawlSettings) -> None:
    usual = lesson(name)
    set_so = replace(usual, settings=replace(other, k=usual.settings.k, retrain=SMALL))
    alike, its_own = contest(usual), contest(set_so)
    assert alike is not None
    assert its_own is not None
    assert alike.old != its_own.old


def test_too_little_is_no_lesson() -> None:
    few = lesson()
    assert contest(replace(few, visits=few.visits.at(few.visits.page < 20))) is None
    unchanged = replace(few.visits, changed=np.zeros_like(few.visits.changed))
    assert contest(replace(few, visits=unchanged)) is None
    asked = replace(few.settings, retrain=replace(SMALL, fitness="discovery"))
    assert contest(replace(few, settings=asked)) is None  # nothing was brought
    early = few.visits.at(few.visits.when < 900.0 * 10)
    assert contest(replace(few, visits=early)) is None


def test_a_process_of_its_own_learns_the_same() -> None:
    assert asyncio.run(learn_apart(lesson())) == contest(lesson())


def test_the_process_that_learns_ends_with_a_crawl_that_was_killed() -> None:
    """Its lesson may come from somebody who lives on, so that it is at work until then; here the lesson never ends."""
    crawl = (
        "import os, subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-m', 'forager.engine.teacher', str(os.getpid())]); "
        "print(child.pid, flush=True); child.wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", crawl], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        while os.getpriority(os.PRIO_PROCESS, child) < POLITENESS:  # it is being loaded
            time.sleep(0.05)
        parent.kill()
        until = time.monotonic() + 60
        while _is_at_work(child):
            assert time.monotonic() < until
            time.sleep(0.05)


def _is_at_work(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_crawl_holds_lessons_and_tells_what_came_of_them() -> None:
    crawled = crawl_newsroom(
        1.5,
        "crawl.cycle=5m",
        "crawl.policy=0 - t * X",
        *LEARNS_ALWAYS,
        "recrawl.retrain.after=150",
        "recrawl.retrain.population=12",
        "recrawl.retrain.generations=2",
        "recrawl.retrain.terminals=basic",
    )
    learned = events(crawled, "Learned")
    assert learned
    assert all(float(str(one["new"])) > float(str(one["old"])) for one in learned if one["replaced"])
    assert {one["fitness"] for one in learned} == {"late"}  # its lists showed documents


def test_a_better_function_takes_over_and_a_crawl_that_goes_on_uses_it() -> None:
    crawled = crawl_newsroom(0.5, "crawl.policy=t2", *LEARNS_ALWAYS)
    retraining = crawled.crawl.retraining
    assert retraining is not None
    told = retraining.take(LessonVerdict("t * X", "ndcg", 0.6, 0.5, True, 10), now=7.0)
    assert told.replaced
    assert str(crawled.crawl.scheduler.policy) == "t * X"
    asyncio.run(crawled.crawl.save())
    crawled.run(0.1, store=crawled.store, start=0.5)
    assert str(crawled.crawl.scheduler.policy) == "t * X"
    kept = asyncio.run(recall_schedule(crawled.store))
    assert kept is not None
    assert (kept.setting, kept.formula, kept.learned, kept.lessons) == ("t2", "t * X", True, [told])


def test_a_learned_function_stays_however_often_none_was_better_since() -> None:
    crawled = crawl_newsroom(0.5, "crawl.policy=t2", *LEARNS_ALWAYS)
    retraining = crawled.crawl.retraining
    assert retraining is not None
    told = [retraining.take(LessonVerdict("t * X", "ndcg", 0.6, 0.5, True, 10), now=7.0)]
    told += [retraining.take(LessonVerdict("n", "ndcg", 0.4, 0.5, False, 10), now=8.0 + n) for n in range(LESSONS)]
    asyncio.run(crawled.crawl.save())
    for hours in (0.5, 0.6):
        crawled.run(0.1, store=crawled.store, start=hours)
        assert str(crawled.crawl.scheduler.policy) == "t * X"
    kept = asyncio.run(recall_schedule(crawled.store))
    assert kept is not None
    assert kept.lessons == [told[0], *told[2:]]


def test_a_function_that_is_not_better_is_not_used() -> None:
    crawled = crawl_newsroom(0.5, "crawl.policy=t2", *LEARNS_ALWAYS)
    scheduler = crawled.crawl.scheduler
    retraining = Retraining(scheduler, VisitLog(), RecrawlSettings(retrain=SMALL), 1, [], learn_here)
    told = retraining.take(
        LessonVerdict("t * X", "ndcg", 0.6, 0.5, False, 10), now=7.0
    )  # better, but perhaps by chance
    assert told == Learned(7.0, "t * X", "ndcg", 0.6, 0.5, replaced=False, visits=10)
    assert scheduler.policy.name == "t2"
    assert scheduler.policy.formula == ""


def test_a_function_learned_from_the_default_orders_only_what_is_worth_a_request() -> None:
    crawled = crawl_newsroom(0.5, "recrawl.retrain.replays=true")
    scheduler, retraining = crawled.crawl.scheduler, crawled.crawl.retraining
    assert retraining is not None
    now = crawled.settings.newsroom.start + 1.5 * 3600.0
    candidates = scheduler.candidates
    candidates.thrift.explored = candidates.thrift.spent  # it owes no page never seen, which would come first
    candidates.rank(now)
    usual = candidates.wanted(now)
    retraining.take(LessonVerdict("0 - n", "late", 0.6, 0.5, True, 10, "lists"), now)
    assert str(scheduler.policy).startswith("lists: 0 - n")
    host = max(scheduler.groups, key=lambda group: len(candidates.pools[group].pages))
    page, worth = scheduler.choose(now, 0.0, host) or (-1, 0.0)
    assert candidates.wanted(now) == usual > 1
    pages = candidates.pools[host].all
    pages = pages[scheduler.history.visited(pages) & (candidates.pages.about(pages).hub > 0)]
    worths, least = candidates.pages.worth(pages, now)[0], candidates.thrift.least_worth
    visits = scheduler.history.states(now, pages).n
    assert worth == pytest.approx(worths[pages == page][0])
    assert worth >= least
    assert visits[pages == page][0] == visits[worths >= least].min()  # the function's choice among them
    asyncio.run(crawled.crawl.save())
    crawled.run(0.1, store=crawled.store, start=0.5)
    assert str(crawled.crawl.scheduler.policy).startswith("lists: 0 - n")


def test_the_dashboard_says_what_a_function_learned_from_the_default_orders() -> None:
    crawled = crawl_newsroom(0.5, "recrawl.retrain.replays=true")
    scheduler, now = crawled.crawl.scheduler, crawled.settings.newsroom.start + 3600.0
    scheduler.use(Policy.by_kind("learned", ByKind(Formula.of(parse("t")), Formula.of(parse("n")))))
    nothing = Coverage("nothing", lambda: (np.empty(0), np.empty(0, dtype=np.bool_)))
    watched = replace(watch("a crawl", crawled.crawl, crawled.account, None, nothing), clock=TapeClock(now))
    shown = recrawl(watched, Chronicle(Account()))
    assert (shown["policy"], shown["formula"], shown["meaning"]) == ("learned", "lists: t; texts: n", REORDERED)
    assert shown["from"] == "forager/functions"
    told = np.array([crawled.store.find(one["url"]) for one in shown["next"] if one["score"] is not None])
    candidates = scheduler.candidates
    assert len(told)
    assert candidates.pages.worth(told, now)[0].min() >= candidates.thrift.least_worth  # the others are not asked for
    lists = candidates.pages.about(told).hub > 0
    for page, rule in zip(told.tolist(), np.where(lists, "t", "n").tolist(), strict=True):
        assert why_scheduled(UrlId(page), watched).startswith(f"By {rule}: n=")  # not by the function of the other kind


def test_another_setting_wins_over_what_was_learned_before() -> None:
    kept = Schedule("t2", "t * X", learned=True)
    assert policy_in_use(Policy("age"), kept).name == "age"
    assert str(policy_in_use(Policy("t2"), kept)) == "t * X"
    assert math.isclose(kept.cycle, 900.0)


def test_an_archive_does_not_make_a_seed_anything_else() -> None:
    crawled = crawl_newsroom(0.05)
    home = crawled.newsroom.homes[0]
    captured = [Captured(url, np.array([0.0, 900.0]), np.array([False, True])) for url in (home, f"{home}old")]
    again = Crawled(crawled.settings).run(0.05)
    pages, captures = asyncio.run(again.crawl.warm_up([home], captured))
    assert (pages, captures) == (2, 2)  # the home page was visited since: its captures are too old to count
    channels = [again.store.known(UrlId(again.store.find(url) or 0)).channel for url in (home, Url(f"{home}old"))]
    assert channels == [Channel.SEED, Channel.ARCHIVE]


def test_a_page_that_moved_is_not_asked_for_again_and_again() -> None:
    crawled = crawl_newsroom(3, "newsroom.backlog=3d", "newsroom.moves=0.9")
    moved = Counter(event["url"] for event in events(crawled, "Fetched") if event["outcome"] == "moved")
    assert len(moved) > 10
    assert max(moved.values()) == 1  # it was asked for once an hour
