"""Fleets compared on one tape: means, spreads, paired tests, and the command that prints them."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
from typer import Typer
from typer.testing import CliRunner

from forager.cli.compare_fleets import SHOWN, compare_fleets, doubt, told_figure
from forager.cli.options import per_hour
from forager.cli.replay import replay_command
from forager.core.parameters import ForagerKind
from forager.errors import InputError
from forager.output.fields import FIELDS
from forager.settings import load_settings
from forager.simulation.fleet_rows import FIGURES, FleetRow, paired, rows_of
from forager.simulation.jobs import Job, play_all, play_job
from forager.simulation.replay import default_seeds
from forager.tape.build import TapeBuilder
from forager.tape.tape import save
from forager.terms import Kind
from tests.simulation.small_tape import HOME, paper

KEYS = [
    "downloaded", "sent", "relevant", "found_urls", "download_efficiency", "sent_efficiency", "relative_found_url",
    "freshness", "age_hours", "delay_median_s", "coverage", "unrecorded_share",
]  # fmt: skip


class _Stopped(BaseException):
    """As Ctrl-C would do it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tape")
    save(paper(days=2.0), path)
    return path


def jobs(folder: Path, *kinds: ForagerKind, repeats: int = 2) -> list[Job]:
    settings = load_settings(Path("/dev/null")).settings
    return [Job(folder, kind, 20.0, seed, (HOME,), settings) for kind in kinds for seed in range(repeats)]


def test_rows_hold_mean_and_spread_over_repeats(folder: Path) -> None:
    wl, bfs = rows_of(play_all(jobs(folder, ForagerKind.WL, ForagerKind.BFS), workers=1), 2, lambda one: False)
    assert (wl.kind, bfs.kind, wl.budget, len(wl.repeats)) == ("WL", "BFS", 20.0, 2)
    a, b = wl.values("downloaded")
    assert wl.mean("downloaded") == (a + b) / 2
    assert wl.sd("downloaded") == pytest.approx(abs(a - b) / math.sqrt(2))
    assert bfs.sd("coverage") == 0.0  # the sweep knows no luck
    hours, fresh = wl.curve("freshness")
    assert len(hours) == len(fresh) == 48  # hourly, the end included
    assert hours[:2] == [1.0, 2.0]
    assert len(wl.curve("efficiency")[1]) == len(hours)


def test_a_paired_test_compares_repeats_with_the_same_luck(folder: Path) -> None:
    wl, bfs = rows_of(play_all(jobs(folder, ForagerKind.WL, ForagerKind.BFS), workers=1), 2, lambda one: False)
    difference, _ = paired(wl, bfs, "late_hours")
    assert difference == pytest.approx(wl.mean("late_hours") - bfs.mean("late_hours"))
    assert paired(wl, wl, "coverage")[0] == 0.0
    assert math.isnan(paired(wl, wl, "coverage")[1])


def test_many_processes_give_what_one_gives(folder: Path) -> None:
    work = jobs(folder, ForagerKind.RL)
    heard: list[int] = []
    together = play_all(work, workers=2, done=heard.append)
    assert [one.figures for one in together] == [play_job(job).figures for job in work]
    assert heard == [1, 2]


def command(function: object) -> Typer:
    app = Typer()
    app.command()(function)  # type: ignore[type-var]
    return app


def test_whoever_stops_a_comparison_need_not_wait_for_the_rest_of_it(folder: Path) -> None:
    def stop(count: int) -> None:
        raise _Stopped

    many = jobs(folder, ForagerKind.BFS, repeats=20_000)  # minutes of work
    began = monotonic()
    with pytest.raises(_Stopped):
        play_all(many, workers=2, done=stop)
    assert monotonic() - began < 60


def test_compare_fleets_prints_the_promised_json(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    arguments = [str(folder), "--kind", "WL", "--kind", "BFS", "--repeats", "2", "--budget", "20/h", "--rewired", "--json",
                 "--processes", "1", "-q", "-O", str(page)]  # fmt: skip
    ran = CliRunner().invoke(command(compare_fleets), arguments, catch_exceptions=False)
    assert ran.exit_code == 0
    told_figure = json.loads(ran.stdout)
    assert {"clustering", "mean_path", "in_exponent", "out_exponent"} <= set(told_figure["graph"])
    assert told_figure["tape"]["pages"] == paper(days=2.0).pages
    assert [(one["kind"], one["rewired"]) for one in told_figure["fleets"]] == [
        ("WL", False), ("BFS", False), ("WL", True), ("BFS", True)]  # fmt: skip
    for one in told_figure["fleets"]:
        assert one["repeats"] == 2
        assert {*KEYS, *(f"{key}_sd" for key in KEYS)} <= set(one)
    assert set(KEYS) <= set(FIGURES)
    written = page.read_text(encoding="utf-8")
    charts = re.findall(r'aria-label="(.*?)"', written)
    assert charts == ["New documents per download (3 h windows)", "Freshness"] * 2  # as recorded, and rewired
    assert written.count('class="line l1"') == 2 * len(charts)  # of the second fleet, drawn and in the legend
    assert "<title>BFS: " in written  # its values can be pointed at
    assert "<script" not in written and len(written) < 300_000


def test_compare_fleets_prints_a_table_for_people(folder: Path) -> None:
    arguments = [str(folder), "--kind", "WL", "--kind", "RL", "--repeats", "1", "--preset", "paper", "--processes", "1"]
    ran = CliRunner().invoke(command(compare_fleets), arguments, catch_exceptions=False)
    assert ran.exit_code == 0
    assert "clustering" in ran.output
    assert "WL" in ran.output
    assert all(name in ran.output for name in SHOWN)
    assert "nan" not in ran.output


def test_a_short_recording_has_a_short_warm_up_and_all_its_figures(tmp_path: Path) -> None:
    tape = paper(days=0.5)
    save(tape, tmp_path / "short")
    arguments = [str(tmp_path / "short"), "--kind", "WL", "--repeats", "1", "--processes", "1", "-q"]
    ran = CliRunner().invoke(command(compare_fleets), [*arguments, "--json"], catch_exceptions=False)
    told_figure = json.loads(ran.stdout)
    assert told_figure["warm_up_s"] == (tape.end - tape.start) / 4
    assert None not in [told_figure["fleets"][0][key] for key in KEYS]
    refused = CliRunner().invoke(command(compare_fleets), [*arguments, "--warm-up", "1d"])
    assert refused.exit_code == 2
    assert "leaves nothing" in refused.output


def test_it_is_said_when_fleets_asked_for_much_that_was_not_recorded(folder: Path) -> None:
    played = play_job(jobs(folder, ForagerKind.BFS)[0])
    shares = [replace(played, figures=replace(played.figures, unrecorded_share=share)) for share in (0.1, 0.3)]
    assert doubt([FleetRow("BFS", 20.0, False, (shares[0],))]) == ""
    assert "BFS 30%" in doubt([FleetRow("BFS", 20.0, False, (shares[1],))])
    nothing = replace(played.figures.delay, stories=0)
    played = replace(played, figures=replace(played.figures, delay=nothing))
    assert "No document appeared" in doubt([FleetRow("BFS", 20.0, False, (played,))])


def test_replay_prints_a_summary_like_that_of_a_crawl(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    arguments = [str(folder), "--budget", "20/h", "--json", "-q", "--journal", str(file)]
    ran = CliRunner().invoke(command(replay_command), arguments, catch_exceptions=False)
    told_figure = json.loads(ran.stdout)
    assert {"stories", "requests", "delay_median_s", "sites", "foragers", "budget", "tape", "replay"} <= set(
        told_figure
    )
    assert told_figure["requests"] == sum(told_figure["budget"].values())
    assert sum(b'"event":"Fetched"' in line for line in file.read_bytes().splitlines()) == told_figure["requests"]


def test_what_is_no_tape_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a tape"):
        CliRunner().invoke(command(replay_command), [str(tmp_path)], catch_exceptions=False)
    assert CliRunner().invoke(command(replay_command), [str(tmp_path), "--budget", "fast"]).exit_code != 0


def test_a_seed_that_is_not_on_the_tape_is_told(folder: Path) -> None:
    with pytest.raises(InputError, match="not on the tape"):
        CliRunner().invoke(
            command(replay_command), [str(folder), "--seed", "https://b.example/"], catch_exceptions=False
        )


def test_budgets_are_read_per_hour() -> None:
    assert [per_hour(text) for text in ("60/h", "60", "1/s", "2/min", "48/d")] == [60.0, 60.0, 3600.0, 120.0, 2.0]


def test_a_budget_may_be_the_pace_of_the_recording(tmp_path: Path) -> None:
    timed = replace(paper(days=1.0), seconds=np.full(paper(days=1.0).versions, 2.5, np.float32))
    assert per_hour("recorded", timed) == 1440.0  # 3600 s / 2.5 s
    with pytest.raises(InputError, match="no download times"):
        per_hour("recorded", paper(days=1.0))
    save(timed, tmp_path)
    arguments = [
        str(tmp_path),
        "--kind",
        "BFS",
        "--repeats",
        "1",
        "--budget",
        "recorded",
        "--json",
        "--processes",
        "1",
        "-q",
    ]
    said = CliRunner().invoke(command(compare_fleets), arguments, catch_exceptions=False)
    assert json.loads(said.stdout)["fleets"][0]["budget"] == 1440.0


def test_default_seeds_are_the_largest_pages_of_each_site_at_the_start() -> None:
    builder = TapeBuilder("sites", "url")
    builder.add("https://a.example/small", 0.0, digest=1, links=["https://a.example/x"], kind=Kind.HUB)
    builder.add(
        "https://a.example/", 0.0, digest=2, links=["https://a.example/x", "https://a.example/y"], kind=Kind.HUB
    )
    builder.add("https://b.example/", 0.0, digest=3, links=["https://a.example/"], kind=Kind.HUB)
    builder.add("https://c.example/late", 90_000.0, digest=4, links=["https://a.example/"] * 9, kind=Kind.HUB)
    tape = builder.finish()
    assert [tape.url(seed) for seed in default_seeds(tape)] == ["https://a.example/", "https://b.example/"]


def test_lists_to_which_no_page_leads_are_started_from_too() -> None:
    builder = TapeBuilder("sections", "url")
    for name in ("", "sport", "arts"):
        for hour in range(2):
            articles = [f"https://a.example/{name}{hour + number}" for number in range(3 if name else 4)]
            builder.add(f"https://a.example/{name}", 3600.0 * hour, digest=hour, links=articles, kind=Kind.HUB)
    builder.add("https://a.example/late", 90_000.0, digest=4, links=["https://a.example/below"], kind=Kind.HUB)
    builder.add("https://a.example/late", 93_600.0, digest=5, links=["https://a.example/below"], kind=Kind.HUB)
    for time in (90_000.0, 93_600.0):
        builder.add("https://a.example/below", time, digest=int(time))
    builder.add("https://a.example/once", 0.0, digest=6, links=["https://a.example/"])  # never changes
    tape = builder.finish()
    found = [tape.url(seed).removeprefix("https://a.example/") for seed in default_seeds(tape)]
    assert found == ["", "sport", "arts", "late"]


def test_no_fleet_starts_at_what_lists_show_elsewhere_on_the_web() -> None:
    """On tapes whose documents are links, those are read off; a front page's link to some terms of use is no site."""
    builder = TapeBuilder("front page", "link")
    builder.add("https://a.example/", 0.0, digest=1, links=["https://b.example/terms"], kind=Kind.HUB)
    builder.add("https://b.example/terms", 0.0, kind=Kind.ARTICLE)
    tape = builder.finish()
    assert [tape.url(seed) for seed in default_seeds(tape)] == ["https://a.example/"]


def test_a_tape_without_links_starts_everywhere() -> None:
    builder = TapeBuilder("log", "url")
    for number in range(3):
        builder.add(f"https://a.example/{number}", 0.0, digest=1)
    assert len(default_seeds(builder.finish(end=10.0))) == 3


def test_replay_writes_stories_like_a_crawl_and_ends_at_its_time_limit(folder: Path, tmp_path: Path) -> None:
    file, short = tmp_path / "stories.jsonl", tmp_path / "short.csv"
    common = [str(folder), "--budget", "20/h", "--json", "-q", "--no-dashboard"]
    ran = CliRunner().invoke(command(replay_command), [*common, "-O", str(file)], catch_exceptions=False)
    told_figure = json.loads(ran.stdout)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [row["number"] for row in rows] == list(range(told_figure["stories"]))
    assert all(row["url"].startswith("https://paper.example/") and row["delay"] >= 0 for row in rows)
    assert list(rows[0]) == list(FIELDS)
    CliRunner().invoke(command(replay_command), [*common, "-o", str(file)], catch_exceptions=False)
    assert json.loads(file.read_text(encoding="utf-8").splitlines()[-1])["number"] == 2 * told_figure["stories"] - 1
    ran = CliRunner().invoke(
        command(replay_command), [*common, "-O", str(short), "--time-limit", "6h"], catch_exceptions=False
    )
    assert json.loads(ran.stdout)["requests"] <= 6 * 20 + 1
    assert CliRunner().invoke(command(replay_command), [*common, "-o", "a.csv", "-O", "b.csv"]).exit_code != 0


@pytest.mark.parametrize(
    ("options", "shown"), [(["-v"], " DEBUG   fetched "), (["--log-format", "json"], '"event":"story"')]
)
def test_replay_logs_as_a_crawl_does(folder: Path, options: list[str], shown: str) -> None:
    ran = CliRunner().invoke(command(replay_command), [str(folder), "--no-dashboard", *options], catch_exceptions=False)
    assert shown in ran.stderr


def test_a_replay_that_logs_json_says_in_json_where_its_dashboard_is(folder: Path) -> None:
    options = ["--log-format", "json", "-s", "dashboard.port=0", "--time-limit", "2h"]
    ran = CliRunner().invoke(command(replay_command), [str(folder), *options], catch_exceptions=False)
    (told_figure,) = [line for line in map(json.loads, ran.stderr.splitlines()) if line["event"] == "dashboard"]
    assert told_figure["address"].startswith("http://127.0.0.1:")


def test_where_nothing_is_known_the_summary_of_a_replay_says_so(tmp_path: Path) -> None:
    builder = TapeBuilder("t")
    builder.add("https://a.example/", 0.0)
    save(builder.finish(end=600.0), tmp_path / "empty")
    ran = CliRunner().invoke(
        command(replay_command), [str(tmp_path / "empty"), "--no-dashboard"], catch_exceptions=False
    )
    assert "No story appeared" in ran.output
    assert "nan" not in ran.output


def test_stories_on_standard_output_stand_there_alone(folder: Path) -> None:
    ran = CliRunner().invoke(
        command(replay_command), [str(folder), "--no-dashboard", "-q", "-O", "-"], catch_exceptions=False
    )
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {tuple(row) for row in rows} == {FIELDS}
    assert "stories found" in ran.stderr


def test_figures_are_told_whole_from_a_thousand_on_and_equal_repeats_have_no_spread() -> None:
    class Given:
        def __init__(self, *values: float) -> None:
            self.values = values

        def mean(self, name: str) -> float:
            return float(np.mean(self.values))

        def sd(self, name: str) -> float:
            return float(np.std(self.values, ddof=1))

    for values, shown in (
        ((19_176, 19_178), "19,177 ± 1"),  # √2
        ((0.1, 0.1, 0.1), "0.1 ± 0"),  # as floats they have a mean of .10000000000000002
        ((0.25, 0.75), "0.5 ± 0.35"),  # √.125
        ((800.0, 1000.0), "900 ± 141"),  # √20,000, not 1.4e+02
    ):
        row = Given(*values)
        assert told_figure(row, row, "coverage") == shown
