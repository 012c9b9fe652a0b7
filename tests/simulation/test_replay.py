"""Replays of a small newspaper: the engine's own steps, honest books, and the same journal for the same seed."""

import gc
import math
from dataclasses import replace
from pathlib import Path
from weakref import ref

import numpy as np
import pytest

from forager.core.addresses import SHAPES
from forager.core.judge import RELEVANT, SENT
from forager.core.parameters import ForagerKind
from forager.core.profit import profits
from forager.engine.live_fleet import take_step
from forager.events import Event, Fetched, Journal, Reinforced, Told, event_line
from forager.report.account import Account
from forager.settings import PRESETS, Settings, load_settings
from forager.simulation.bundles import RECORD, VISIT
from forager.simulation.replay import Replay, ReplayPlan
from forager.simulation.replay_account import ReplayAccount
from forager.tape.build import TapeBuilder
from forager.tape.tape import Tape
from forager.tape.tape_world import TapeClock, TapeWorld, documents
from forager.terms import NOBODY, Kind, Outcome, UrlId
from tests.simulation.small_tape import DAY, HOME, HOUR, paper


def chosen(preset: str = "", *more: str) -> Settings:
    given = [
        f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in PRESETS[preset].items()
    ]
    return load_settings(Path("/dev/null"), [*given, *more]).settings


def replay(
    tape: Tape, settings: Settings, *, budget: float = 60.0, seed: int = 1, journal: Journal | None = None
) -> Replay:
    return Replay(
        tape,
        ReplayPlan(budget, (HOME,)),
        settings.crawl,
        settings.forager,
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        seed=seed,
        tell=None if journal is None else journal.write,
    )


@pytest.mark.parametrize("preset", ["", "paper"])
@pytest.mark.parametrize("kind", list(ForagerKind))
async def test_a_step_on_a_tape_is_the_step_of_a_live_crawl(preset: str, kind: ForagerKind) -> None:
    """The loop of a replay and `take_step`, which waits in the middle, make the same moves; only who waits differs."""
    settings = chosen(preset, f"forager.kind={kind.value}", "crawl.least_worth=0", "crawl.recrawl_share=0",
                      "visits.revisit_after=0", "reinforcing.population.first=1", "reinforcing.population.most=1")  # fmt: skip
    events: list[Event] = []
    here = replay(paper(), settings, budget=12.0, journal=Journal([events.append]))
    there = replay(paper(), settings, budget=12.0)
    (forager,) = there.agent.foragers.values()
    fetched: list[tuple[int, float]] = []
    earned: list[tuple[int, float]] = []
    for _ in range(200):
        taken = await take_step(forager, there.agent, there.world, there.shared, there.clock, there.thrift)
        fetched += [(one.url, one.when) for one in taken.sightings if not one.free]
        earned += [(one.finding.url, one.amount) for one in taken.reinforcements]
    here.run(there.clock.time)
    assert [(one.id, one.at) for one in events if isinstance(one, Fetched)][: len(fetched)] == fetched
    assert [(one.url, one.amount) for one in events if isinstance(one, Reinforced)][: len(earned)] == earned
    assert len(fetched) > 50 and len(earned) > 5


@pytest.mark.parametrize("preset", ["", "paper"])
def test_the_same_seed_gives_the_same_journal(preset: str) -> None:
    def journal(seed: int) -> bytes:
        lines: list[bytes] = []
        settings = chosen(preset, "forager.kind=WLRL")
        replay(paper(), settings, seed=seed, journal=Journal([lambda event: lines.append(event_line(event))])).run()
        return b"".join(lines)

    assert journal(1) == journal(1)
    if preset == "paper":  # the default fleet leaves nothing to chance on so small a site
        assert journal(1) != journal(2)


def test_never_visited_links_have_a_state_and_a_profit_in_a_replay() -> None:
    run = replay(paper(days=0.5, every=(0.2, 0.3)), chosen(), budget=5.0)  # more links appear than it may follow
    run.run()
    mind = run.shared.mind()
    (weights, *_) = (one.weights for one in run.agent.foragers.values())
    waiting = np.flatnonzero((mind.table["visits"] == 0) & (mind.table["met"] > -np.inf))
    assert len(waiting) > 3
    assert (mind.rows[mind.table["revealer"][waiting]] > 0).all()  # they have the state of the page that shows them
    assert (profits(mind, waiting, weights, True) != 0).all() and (mind.prospects[waiting] != 0).all()


def test_a_replay_may_begin_with_several_kinds() -> None:
    run = replay(paper(), chosen("paper", "forager.kinds={WLRL: 3, WL: 2}", "reinforcing.population.most=5"))
    run.run(3600.0)
    assert [one.kind for one in run.agent.foragers.values()] == ["WLRL"] * 3 + ["WL"] * 2


def test_rl_foragers_start_from_the_pages_that_the_recording_saw_first() -> None:
    run = replay(paper(), chosen("paper", "forager.kind=RL", "forager.weblog.size=10"))
    first = np.argsort(run.world.tape.time[run.world.tape.version_start[:-1]], kind="stable")[:10]
    for each in (True, False):
        lists = [[url for url, _ in one.weblog.entries] for one in run.agent.foragers.values()]
        assert len(lists) > 1 and all(sorted(one) == sorted(first.tolist()) for one in lists)
        if each:
            run.run(DAY)  # they stay, whatever is found


@pytest.mark.parametrize("turns", ["fixed", "random"])
def test_foragers_take_turns_in_a_fixed_or_a_random_order(turns: str) -> None:
    events: list[Event] = []
    sizes = [f"reinforcing.population.{name}=4" for name in ("first", "least", "most")]
    settings = chosen("paper", f"reinforcing.turns={turns}", *sizes)
    replay(paper(), settings, budget=600.0, journal=Journal([events.append])).run(DAY)
    by = [event.by for event in events if isinstance(event, Fetched)]
    slices = [one for one, before in zip(by, [NOBODY, *by], strict=False) if one != before]
    if turns == "fixed":
        assert slices[:12] == [0, 1, 2, 3] * 3
    else:
        # the last of a round may be the first of the next, whose slices then are one: follow rounds as they were drawn
        assert len({tuple(slices[at : at + 4]) for at in range(0, 80, 4)}) > 5
        counts = np.bincount(by)
        assert counts.max() < 1.2 * counts.min()  # still, everybody has as many slices


def test_the_journal_tells_what_the_account_counts() -> None:
    events: list[Event] = []
    figures = Account()
    run = replay(paper(), chosen(), journal=Journal([events.append, figures.hear]))
    account = run.run()
    assert sum(isinstance(event, Told) for event in events) == sum(account.accepted)
    fetched = [event for event in events if isinstance(event, Fetched)]
    assert len(fetched) == sum(account.downloads) == run.world.downloads
    assert sum(event.by == NOBODY for event in fetched) == account.downloads[1]
    assert sum(event.outcome is Outcome.UNRECORDED for event in fetched) == run.world.unrecorded
    assert figures.facts()["stories"] == sum(account.accepted)
    assert figures.facts()["budget"] == {"fleet": account.downloads[0], "recrawl": account.downloads[1]}


def test_the_budget_is_never_exceeded_but_by_the_step_under_way() -> None:
    for preset in ("", "paper"):
        run = replay(paper(), chosen(preset), budget=30.0)
        run.run()
        assert run.world.downloads <= 3 * 24 * 30 + 8  # a step downloads at most a page and its seven links


def test_the_default_fleet_finds_more_and_sooner_than_the_sweep() -> None:
    fleet, sweep = (replay(paper(), chosen("", f"forager.kind={kind}"), budget=12.0) for kind in ("WL", "BFS"))
    fleet.run()
    sweep.run()
    better, worse = fleet.figures(warm_up=DAY / 2), sweep.figures(warm_up=DAY / 2)
    assert better.delay.coverage >= worse.delay.coverage
    assert better.delay.late < worse.delay.late


def ticker() -> Tape:
    """A list that links one article from the start on; the article appears at 30 min and changes at 3 h and 5 h."""
    builder = TapeBuilder("ticker", "version")
    article = "https://a.example/1"
    builder.add("https://a.example/", 0.0, digest=1, links=[article], kind=Kind.HUB)
    for at in (0.5, 3.0, 5.0):
        builder.add(article, at * HOUR, digest=int(10 * at), text_print=int(10 * at), published=at * HOUR,
                    kind=Kind.ARTICLE, links=["https://a.example/"])  # fmt: skip
    return builder.finish(start=0.0, end=6 * HOUR)


def enter(
    account: ReplayAccount, page: int, version: int, when: float, until: float, what: int = SENT | RELEVANT
) -> None:
    """The fleet's document is accepted, or something else happened, and it is later now."""
    records = np.zeros(1, RECORD)
    records["page"], records["version"], records["at"], records["what"] = page, version, when, what
    account.enter(records, until)


def test_freshness_and_age_follow_the_version_accepted_last() -> None:
    """Accepted at 1 h: version 1 (from 0:30). At 4 h nothing newer was accepted, though it changed at 3 h."""
    run = replay(ticker(), chosen("paper"), budget=60.0)
    account = run.account
    enter(account, 1, 1, 1 * HOUR, until=4 * HOUR)
    assert [sample.freshness for sample in account.samples] == [1.0, 1.0, 0.0, 0.0]  # outdated at 3 h sharp
    assert [sample.age for sample in account.samples] == [0.0, 0.0, 0.0, HOUR]
    enter(account, 1, 2, 4.5 * HOUR, until=6 * HOUR)
    assert [sample.age for sample in account.samples[4:]] == [0.0, HOUR]


def test_where_updates_are_no_documents_the_version_downloaded_last_counts() -> None:
    tape = replace(ticker(), identity="url")
    account = replay(tape, chosen(), budget=60.0).account
    enter(account, 1, 1, 1 * HOUR, until=3 * HOUR)
    enter(account, 1, 2, 3.5 * HOUR, until=4 * HOUR, what=VISIT)
    assert [sample.freshness for sample in account.samples] == [1.0, 1.0, 0.0, 1.0]


def test_copies_of_pages_that_never_change_say_nothing_of_freshness() -> None:
    """The list has one version, so that our copy of it cannot go out of date."""
    account = replay(replace(ticker(), identity="url"), chosen(), budget=60.0).account
    enter(account, 0, 0, 1 * HOUR, until=4 * HOUR, what=VISIT)
    assert all(math.isnan(sample.freshness) for sample in account.samples)


def test_news_of_the_warm_up_does_not_count() -> None:
    run = replay(ticker(), chosen("paper"), budget=60.0)
    run.run()
    assert run.figures().delay.stories == 3
    assert run.figures(warm_up=4 * HOUR).delay.stories == 1


def test_a_replay_in_pieces_counts_the_same_stories_though_a_download_takes_longer_than_all_of_them() -> None:
    whole, pieces = (replay(ticker(), chosen(), budget=1 / 240) for _ in range(2))
    whole.run()
    pieces.run(pieces.clock.time + 60.0)
    assert pieces.clock.time > pieces.end
    assert pieces.figures().delay.stories == whole.figures().delay.stories > 0


def test_documents_there_at_the_start_do_not_count() -> None:
    tape = replace(ticker(), start=0.5 * HOUR)
    run = replay(tape, chosen("paper"), budget=60.0)
    run.run()
    assert run.figures().delay.stories == 2


def test_pages_before_their_first_version_are_counted_as_unrecorded() -> None:
    """At 6 downloads an hour BFS asks for list and article in turn: three times each in the first hour."""
    run = replay(ticker(), chosen("", "forager.kind=BFS"), budget=6.0)
    run.run()
    # downloads end at 10, 20, 30 … min; the article, asked for at the even ones, is there from 30 min on
    assert run.world.downloads == 36
    assert run.figures().unrecorded_share == 1 / 36


def test_the_tape_says_what_makes_a_document_new() -> None:
    settings = chosen()
    for identity in ("url", "text", "version"):
        run = replay(paper(identity=identity), settings)
        assert run.agent.forager_settings.identity == identity
        assert run.agent.settings.relevancy.identity == identity
    assert replay(paper(), chosen("paper")).agent.settings.relevancy.identity == "version"


def test_states_of_the_tape_reach_the_fleet() -> None:
    tape = paper()
    run = replay(tape, chosen("paper", "forager.kind=RL"))
    run.run()
    row = run.shared.states.row(HOME)
    assert np.array_equal(run.shared.states.vectors[row], tape.states[tape.state[tape.version_start[HOME]]])
    assert all(len(forager.weights) == 8 + SHAPES for forager in run.agent.foragers.values())


def test_without_a_share_the_recrawl_side_does_nothing_and_with_all_of_it_the_fleet() -> None:
    for share, side in ((0.0, 1), (1.0, 0)):
        run = replay(paper(), chosen("", f"crawl.recrawl_share={share}"))
        assert run.run().downloads[side] == 0
        assert run.figures().delay.coverage > 0.5


def test_a_link_that_just_appeared_is_visited_next() -> None:
    events: list[Event] = []
    run = replay(paper(days=1.0), chosen("", "crawl.recrawl_share=1"), journal=Journal([events.append]))
    run.run()
    stories = [event for event in events if isinstance(event, Told) and event.published > 12 * HOUR]
    fetched = {(event.id, event.at): place for place, event in enumerate(events) if isinstance(event, Fetched)}
    places = sorted(fetched.values())
    for story in stories:
        before = events[places[places.index(fetched[story.id, story.at]) - 1]]
        assert isinstance(before, Fetched)
        assert before.new_links or before.id > UrlId(2)  # the list that showed it, or another fresh link


def two_papers() -> Tape:
    """Two sites without a link between them; each home page shows an article that appears every two hours."""
    builder = TapeBuilder("two papers", "url")
    homes = ["https://a.example/", "https://b.example/"]
    builder.numbers(homes)
    for home in homes:
        builder.add(home, 0.0, digest=1, links=[f"{home}about"], kind=Kind.HUB)
        builder.add(f"{home}about", 0.0, digest=1, links=[home])
        for count in range(1, 36):
            at = count * 2 * HOUR
            shown = [f"{home}{number}" for number in range(max(1, count - 5), count + 1)]
            builder.add(home, at, digest=count + 1, links=shown, kind=Kind.HUB)
            builder.add(
                f"{home}{count}", at, digest=count, text_print=count, published=at, kind=Kind.ARTICLE, links=[home]
            )
    return builder.finish(start=0.0, end=3 * DAY)


def test_the_recrawl_side_alone_leaves_no_site_unseen() -> None:
    tape = two_papers()
    settings = chosen("", "crawl.recrawl_share=1")
    run = Replay(
        tape, ReplayPlan(20.0, (UrlId(0), UrlId(1))), settings.crawl, settings.forager, settings.reinforcing,
        revisit_after=settings.visits.revisit_after, seed=1,
    )  # fmt: skip
    run.run()
    assert run.figures(warm_up=DAY / 2).delay.coverage > 0.9


def test_what_is_not_worth_a_download_is_left_and_time_passes() -> None:
    run = replay(ticker(), chosen(), budget=3600.0)
    run.run()
    assert run.clock.time >= 6 * HOUR
    assert run.world.downloads < 6 * 3600 / 10


def test_figures_of_an_empty_replay_are_nan_not_errors() -> None:
    run = replay(ticker(), chosen("paper"))
    assert math.isnan(run.figures().freshness)
    assert math.isnan(run.figures().efficiency.download)


def test_the_memory_of_a_replay_is_free_once_nobody_has_it() -> None:
    run = replay(ticker(), chosen(), budget=60.0)
    run.run(run.clock.time + HOUR)
    pages = ref(run.shared.visits)
    gc.disable()  # the collector of cycles would come too late: the next replay needs that memory
    try:
        del run
        assert pages() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("preset", ["", "paper"])
def test_documents_are_read_off_lists_in_every_mode(preset: str) -> None:
    builder = TapeBuilder("lists", "link")
    home, sport = "https://e.org/", "https://e.org/sport"
    builder.numbers([home, sport])
    for hour in range(48):
        at, news = hour * HOUR, f"https://e.org/{hour}"
        builder.add(home, at, digest=hour + 1, links=[sport], kind=Kind.HUB)
        builder.add(sport, at, digest=hour + 1, links=[home, news], kind=Kind.HUB)
        builder.add(news, at, digest=hour + 1, published=at, kind=Kind.ARTICLE)
    run = replay(builder.finish(start=0.0, end=2 * DAY), chosen(preset), budget=12.0)
    account = run.run()
    assert sum(account.accepted) > 40  # each stands for an hour, and both lists are seen several times in it
    assert run.world.held[:2].min() >= 0
    assert sum(account.downloads) == run.world.downloads  # the documents cost nothing


def test_where_documents_are_links_freshness_is_that_of_the_lists_that_show_them() -> None:
    """A list changes every hour from 1 h on; its first version is held from 1.6 h on. Its articles have one version each."""
    builder = TapeBuilder("lists", "link")
    builder.add("hub", 0.0, digest=1, links=["a0"], kind=Kind.HUB)
    for hour in range(1, 6):
        builder.add("hub", hour * HOUR, digest=hour + 1, links=[f"a{hour}"], kind=Kind.HUB)
    for hour in range(6):
        builder.add(f"a{hour}", hour * HOUR, published=hour * HOUR, kind=Kind.ARTICLE)
    tape = builder.finish(start=0.0, end=6 * HOUR)
    world = TapeWorld(tape, TapeClock(0.5 * HOUR), seconds=0.0)
    account = ReplayAccount(world, documents(tape), updates=False, max_age=DAY)
    enter(account, 0, 0, 1.6 * HOUR, until=4 * HOUR, what=VISIT)
    taken = [(sample.at / HOUR, sample.freshness, sample.age / HOUR) for sample in account.samples if sample.age >= 0]
    assert taken == [(2.5, 0.0, 1.5), (3.5, 0.0, 2.5)]  # outdated since 1 h; nothing was held at 1.5 h
