"""Whoever shows figures of a run shows the same ones: summary, statistics, report, dashboard, metrics and JSON."""

import json
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer import Typer
from typer.testing import CliRunner

from forager.cli import crawl as crawl_command
from forager.cli.replay import replay_command, watch_replay
from forager.cli.runner import FILE, progress_line, run_facts, write_statistics
from forager.clock import run_virtual
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.views import Views, metrics
from forager.dashboard.watched import Coverage, Watched, watch
from forager.events import Journal
from forager.report.account import KEPT, Account, recall_account
from forager.report.phrases import span
from forager.report.run import read_run, run_report
from forager.settings import load_settings
from forager.simulation.replay import Replay, ReplayPlan
from forager.simulation.replay_records import ReplayRecords
from forager.store.store import Store
from forager.tape.tape import save
from forager.tape.tape_world import TapeClock
from tests.simulation.small_tape import HOME, paper
from tests.virtual import Crawled, crawl_newsroom

EVER = ("visits", "stories", "pages", "fetched", "told", "sites", "examples")
"""What every stored visit and story tells."""


@pytest.fixture(scope="module")
def crawled() -> Crawled:
    return crawl_newsroom(8.0, "newsroom.errors=0.02", "reinforcing.scores.multiply_at=104")


def _facts(crawled: Crawled) -> dict[str, Any]:
    crawl = crawled.crawl
    return run_facts(crawled.account, crawl, crawl.world.ingest.skipped)


def _watched(crawled: Crawled) -> Watched:
    """As it stands at its end, when its own clock runs no more."""
    coverage = Coverage("nothing", lambda: (np.empty(0), np.empty(0, dtype=np.bool_)))
    return replace(
        watch("virtual", crawled.crawl, crawled.account, None, coverage), clock=TapeClock(crawled.account.ended or 0.0)
    )


def _metrics(watched: Watched, chronicle: Chronicle) -> dict[str, dict[str, float]]:
    """Each metric, summed for each value of its labels, and altogether."""
    sums: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for family in text_string_to_metric_families(metrics(watched, chronicle)):
        for sample in family.samples:
            for label in ("", *sample.labels.values()):
                sums[sample.name][label] += sample.value
    return sums


def _check_dashboard(watched: Watched, account: Account, facts: dict[str, Any]) -> None:
    chronicle = Chronicle(account)
    views, metrics = Views(watched, chronicle), _metrics(watched, chronicle)
    shown = views.figures()
    same = (facts.keys() & shown.keys()) - {"errors"}
    assert same >= {
        "stories",
        "requests",
        "delay_median_s",
        "delay_p90_s",
        "not_modified",
        "pages",
        "visits",
        "on_topic",
    }
    assert {name: shown[name] for name in same} == {name: facts[name] for name in same}
    assert shown["errors"] == sum(facts["errors"].values())
    lives = {name: facts["foragers"][name] for name in ("alive", "born", "deleted")}
    assert {name: shown[name] for name in lives} == {name: views.fleet()[name] for name in lives} == lives
    sites = {one["site"]: one for one in views.sites()["sites"]}
    for name, site in facts["sites"].items():
        assert sites[name] | site == sites[name]
    assert views.recrawl()["turns"] == facts["budget"]
    fetches = metrics["forager_fetches_total"]
    assert fetches[""] == facts["visits"]
    assert fetches[""] - fetches["refused"] == facts["requests"]
    assert {name: fetches[name] for name in facts["outcomes"]} == facts["outcomes"]
    assert metrics["forager_stories_total"][""] == metrics["forager_story_delay_seconds_count"][""] == facts["stories"]
    assert metrics["forager_wire_bytes_total"][""] == facts["wire_bytes"]
    assert metrics["forager_errors_total"][""] == sum(facts["errors"].values())
    assert metrics["forager_foragers"][""] == lives["alive"]
    assert metrics["forager_pages_total"][""] == facts["pages"]
    assert metrics["forager_recrawl_cycles_total"][""] == facts["cycles"]["done"]


def test_all_who_show_figures_of_a_crawl_show_the_same_ones(crawled: Crawled, tmp_path: Path) -> None:
    facts, account = _facts(crawled), crawled.account
    assert (facts["stories"], facts["visits"]) == (len(crawled.stories), crawled.store.counts().visits)
    assert facts["delay_median_s"] == round(float(np.median([story.delay for story in crawled.stories])), 3)
    assert facts["foragers"]["born"] == len(facts["foragers"]["list"]) > 2
    assert facts["cycles"]["done"] > 5
    write_statistics(facts, tmp_path)
    assert json.loads((tmp_path / FILE).read_text()) == json.loads(json.dumps(facts))
    _check_dashboard(_watched(crawled), account, facts)
    summary = crawl_command._text(facts, tmp_path)
    delay = span(facts["delay_median_s"])
    line = f"{facts['stories']:,} stories, median delay {delay}, {facts['requests']:,} requests"
    assert summary.startswith(line) and progress_line(account).startswith(line)


def test_a_story_whose_date_has_no_hour_does_not_spoil_the_sum_of_delays(crawled: Crawled) -> None:
    account, (first, *_) = Account(), crawled.stories
    for delay in (60.0, None, 30.0):
        account.hear(replace(first, delay=delay))
    told = _metrics(_watched(crawled), Chronicle(account))
    assert told["forager_story_delay_seconds_sum"][""] == 90.0
    assert told["forager_story_delay_seconds_count"][""] == 2


def test_the_report_shows_the_figures_of_the_statistics(crawled: Crawled) -> None:
    facts = _facts(crawled)

    async def read() -> str:
        return run_report(await read_run(crawled.store), "run")

    page = run_virtual(read())
    tiles = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd><dd class=note>(.*?)</dd>", page)
    assert dict((name, value) for name, value, _ in tiles) == {
        "Stories": f"{facts['stories']:,}",
        "Median delay": span(facts["delay_median_s"]),
        "Requests": f"{facts['requests']:,}",
        "Cost": f"{facts['requests_per_story']:.2f}",
        "Pages": f"{facts['pages']:,}",
        "Versions": f"{crawled.store.counts().versions:,}",
        "Foragers": f"{facts['foragers']['alive']:,}",
        "Errors": f"{sum(facts['errors'].values()):,}",
    }
    for outcome, count in facts["outcomes"].items():
        assert f"<span class=tag>{outcome} {count:,}</span>" in page
    for side, count in facts["budget"].items():
        assert re.search(
            rf"<td>{side.capitalize()}[^<]*</td><td class=number>[\d,]+</td><td class=number>{count:,}</td>", page
        )
    assert f"{facts['cycles']['change_rate']:.1%} in {facts['cycles']['done']:,} cycles" in page


def test_all_who_show_figures_of_a_replay_show_the_same_ones(tmp_path: Path) -> None:
    tape, account = paper(), Account()
    records, settings = ReplayRecords(tape), load_settings(Path("/dev/null")).settings
    run = Replay(
        tape,
        ReplayPlan(60.0, (HOME,)),
        settings.crawl,
        settings.forager,
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        seed=settings.seed,
        tell=Journal([account.hear, records]).write,
    )
    run.run()
    facts, figures = run_facts(account, run), run.figures()
    watched = watch_replay(run, records, "paper")
    _check_dashboard(watched, account, facts)
    assert (facts["requests"], facts["stories"]) == (figures.efficiency.downloaded, figures.efficiency.relevant)
    assert facts["requests_per_story"] == round(figures.efficiency.requests_per_story, 2)
    assert facts["budget"]["recrawl"] / facts["requests"] == figures.recrawl_share
    assert account.total.fleet.stories / facts["budget"]["fleet"] == figures.fleet_hits
    assert account.total.recrawl.stories / facts["budget"]["recrawl"] == figures.recrawl_hits
    assert facts["outcomes"].get("unrecorded", 0) / facts["requests"] == figures.unrecorded_share
    assert watched.coverage.over_time()["share"] == round(figures.delay.coverage, 4)
    save(tape, tmp_path / "tape")
    arguments = [str(tmp_path / "tape"), "--seed", tape.url(HOME), "--budget", "60/h", "--json", "-q"]
    app = Typer()
    app.command()(replay_command)
    ran = CliRunner().invoke(app, [*arguments, "--no-dashboard"])
    printed = json.loads(ran.stdout)
    assert {name: printed[name] for name in facts} == json.loads(json.dumps(facts))


class Mortal(Store):
    """A store that keeps no state any more once the crawl is doomed: what it keeps then is cut off by a sudden end."""

    is_doomed = False

    async def keep(self, name: str, value: bytes) -> None:
        if not self.is_doomed:
            await super().keep(name, value)


def test_a_killed_crawl_that_goes_on_has_the_figures_of_both_its_lives() -> None:
    settings, store = crawl_newsroom(0.0).settings, Mortal()
    first = Crawled(settings).run(3.0, store=store)
    store.is_doomed = True
    second = Crawled(settings).run(4.0, store=store, start=3.0)  # the first two hours have two stories
    assert second.account.stories == len(first.stories) + len(second.stories) > len(first.stories)
    store.is_doomed = False
    third = Crawled(settings).run(2.0, store=store, start=7.0)
    facts, told = third.account.facts(), [*first.stories, *second.stories, *third.stories]
    assert (facts["stories"], facts["visits"]) == (len(told), store.counts().visits)
    assert facts["outcomes"] == dict(sorted(store.counts().outcomes.items(), key=lambda item: (-item[1], item[0])))
    assert facts["delay_median_s"] == round(float(np.median([story.delay for story in told])), 3)
    assert sum(site["stories"] for site in facts["sites"].values()) == len(told)
    assert facts["foragers"]["born"] == len(third.crawl.agent.records)
    assert facts["foragers"]["alive"] == len(third.crawl.agent.foragers)
    assert sum(third.account.timeline.counts["requests"]) == facts["requests"]


def test_an_account_that_was_lost_is_made_again_from_what_is_stored(crawled: Crawled) -> None:
    store = crawled.store

    async def read() -> Account:
        kept = store._archive._states.pop(KEPT)
        try:
            return await recall_account(store)
        finally:
            await store.keep(KEPT, kept)

    again = run_virtual(read())
    for name in EVER:
        assert getattr(again, name) == getattr(crawled.account, name), name
