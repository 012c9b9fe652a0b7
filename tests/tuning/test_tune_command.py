"""`forager tune` as a user types it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forager.cli.app import run
from forager.cli.tune import verdict
from forager.errors import Exit
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import Settings, changed_keys, load_settings
from forager.tape.tape import save
from forager.tuning.goals import GOALS
from forager.tuning.held_out import Chosen, judge_held_out
from forager.tuning.report import tuned_yaml, tuning_report
from forager.tuning.search import Tuning, TuningOutcome, Wishes
from forager.tuning.space import Point, Space
from forager.tuning.study import JOURNAL, Study
from tests.served import served_newsroom
from tests.simulation.small_tape import paper
from tests.tuning.fake_split import figures, orders, replays

ROOT = Path(__file__).parents[2]
BASE = Settings()
CHANGES = {"crawl.least_worth": 0.4, "forager.kind": "RL", "forager.weblog.size": 40, "forager.harvest": False}


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tape")
    save(paper(days=4.0, every=(1.0, 1.5)), folder)
    return folder


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests run in the background of a shell, which lets them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No config.yaml is lying about."""
    monkeypatch.chdir(tmp_path)


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run([str(one) for one in arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def outcome(changes: Point, *, better: bool, base: Settings = BASE) -> TuningOutcome:
    """What came of a tuning that never ran."""
    wishes = Wishes((GOALS["late"],), 20.0, 10, 0.5, 3, 1, 1)
    new = changed_keys(base, changes)
    part = orders(Path()).parts[0]
    played = replays(lambda settings: figures(late=1.0 if better and settings == new else 2.0))
    judged = judge_held_out(part, wishes.goals, base, new, (1, 2, 3), played)
    assert judged is not None
    tuning = Tuning(paper(days=2.0), Path(), Space(base), wishes)
    return TuningOutcome(tuning, Chosen(changes, 7, (2.0,), (1.0,)), judged)


def interrupt_after(trials: int, folder: Path) -> None:
    """Press Ctrl-C when so many trials are kept."""
    journal, deadline = folder / JOURNAL, time.monotonic() + 300
    while time.monotonic() < deadline and not (journal.exists() and journal.read_bytes().count(b'"ticket"') >= trials):
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("heard")
def test_a_tuning_is_stopped_goes_on_and_writes_settings_report_and_the_promised_json(
    tape: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("space.yaml").write_text("crawl.policy: false\ncrawl.ordering: false\nforager.links: false\n")
    options = ["--budget", "6/h", "--repeats", 1, "--seeds", 2, "--processes", 1, "--space", "space.yaml", "--json"]
    options += ["-O", "tuned.yaml", "-O", "tuned.html"]
    stopping = threading.Thread(target=interrupt_after, args=(3, Path("tuned.tuning").absolute()))
    stopping.start()
    code, out, err = call(capsys, "tune", tape, *options, "--trials", 9999)
    stopping.join()
    facts = json.loads(out)
    assert (code, facts["held_out"]) == (Exit.INTERRUPTED, None)
    assert facts["trials"] >= 3
    assert not Path("tuned.yaml").exists()

    code, out, err = call(capsys, "tune", tape, *options, "--trials", 12)
    assert code == 0, err
    assert f"going on after {facts['trials']} trials in tuned.tuning" in err
    facts = json.loads(out)
    assert facts["trials"] == 12
    assert set(facts) >= {"trials", "best", "held_out"}
    held = facts["held_out"]
    assert set(held) >= {"before", "after", "difference_ci"}
    low, high = held["difference_ci"]["late_hours"]
    assert low <= held["after"]["late_hours"] - held["before"]["late_hours"] <= high
    assert load_settings(Path("tuned.yaml")).settings == changed_keys(BASE, facts["best"])
    page = Path("tuned.html").read_text()
    for title in ("Old against new on the held-out part", "The search: late_hours", "Changes"):
        assert f"<h2>{title}</h2>" in page
    assert "<script" not in page

    code, out, err = call(capsys, "tune", tape, *options, "--for", "coverage")
    assert code == Exit.INPUT
    assert err.startswith("forager: tuned.tuning: holds another search (differing: --for)")


def test_the_judgement_is_part_of_the_time_limit(tape: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--budget", "6/h", "--repeats", 1, "--seeds", 3, "--processes", 1, "--json", "--trials", 9999]
    call(capsys, "tune", tape, *options, "--trials", 1)  # what must be compiled is compiled
    began = time.monotonic()
    code, out, err = call(capsys, "tune", tape, *options, "--time-limit", "15s")
    assert time.monotonic() - began < 15 + 3
    facts = json.loads(out)
    assert 0 < facts["trials"] < 9999
    if code == 0:  # else the machine was too busy to judge in time, and nothing was written
        assert facts["held_out"]["seeds"] >= 2
    else:
        assert code == Exit.INTERRUPTED and facts.get("held_out") is None, err
    for phase in ("replaying the settings as they are", "judging on the held-out part"):
        assert f"forager: {phase}: 0 of" in err


def test_a_time_limit_that_leaves_no_time_to_judge_is_told(tape: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "tune", tape, "--budget", "6/h", "--processes", 1, "--trials", 1, "-O", "tuned.yaml", "-q")
    Path("tuned.yaml").unlink()
    code, out, err = call(
        capsys, "tune", tape, "--budget", "6/h", "--processes", 1, "--time-limit", "1ms", "-O", "tuned.yaml"
    )
    assert code == Exit.INTERRUPTED, err
    assert "The time was over before the held-out part was judged; 1 trials are kept in tuned.tuning" in out
    assert not Path("tuned.yaml").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_everything_at_once(number: signal.Signals, tape: Path) -> None:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from forager.cli import main\nif __name__ == '__main__': main()\n"
    )
    Path("script.py").write_text(code)
    arguments = ["tune", str(tape), "--budget", "6/h", "--repeats", "1", "--processes", "2", "-O", "tuned.yaml"]
    started = subprocess.Popen(
        [sys.executable, "script.py", *arguments, "--trials", "99999"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    journal, deadline = Path("tuned.tuning") / JOURNAL, time.monotonic() + 240
    while time.monotonic() < deadline and not (journal.exists() and journal.read_bytes().count(b'"ticket"') >= 2):
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    began = time.monotonic()
    started.send_signal(number)
    out, err = started.communicate(timeout=60)  # comes back when the last process that holds the other end is gone
    assert time.monotonic() - began < 10
    assert started.returncode == Exit.INTERRUPTED
    assert out.startswith("Stopped; ")
    assert "leaked" not in err
    assert "Traceback" not in err


def test_tuned_settings_are_few_explained_and_read_back(tmp_path: Path) -> None:
    text = tuned_yaml(outcome(CHANGES, better=True), now=1_700_000_000.0)
    (tmp_path / "tuned.yaml").write_text(text)
    loaded = load_settings(tmp_path / "tuned.yaml")
    assert loaded.settings == changed_keys(BASE, CHANGES)
    assert {key for key, origin in loaded.origins.items() if origin != "default"} == set(CHANGES)
    assert "least_worth: 0.4  # was 0.2" in text
    assert "# Tuned by `forager tune` on 2023-11-14 22:13:20 UTC." in text
    assert "# Recording: paper, 1970-01-01 00:00:00 to 1970-01-03 00:00:00; 20 downloads per hour." in text
    assert "late_hours: 2 before, 1 after: -1 [-1, -1]" in text


def test_where_nothing_was_gained_nothing_differing_is_written(tmp_path: Path) -> None:
    same = outcome(CHANGES, better=False)
    text = tuned_yaml(same, now=0.0)
    (tmp_path / "tuned.yaml").write_text(text)
    assert load_settings(tmp_path / "tuned.yaml").settings == BASE
    assert "No better than the settings as they were" in text
    assert verdict(same).startswith("No better than the settings as they are on the held-out part")


def test_what_was_given_before_is_kept_beside_the_changes(tmp_path: Path) -> None:
    given = changed_keys(BASE, {"crawl.cycle": 300.0, "crawl.least_worth": 0.5})
    text = tuned_yaml(outcome({"crawl.least_worth": 0.2}, better=True, base=given), now=0.0)
    (tmp_path / "tuned.yaml").write_text(text)
    assert load_settings(tmp_path / "tuned.yaml").settings == changed_keys(
        BASE, {"crawl.cycle": 300.0, "crawl.least_worth": 0.2}
    )
    assert "cycle: 300.0  # as it was given" in text


def test_a_crawl_takes_the_tuned_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tuned.yaml").write_text(tuned_yaml(outcome(CHANGES, better=True), now=time.time()))
    with served_newsroom(NewsroomSettings(pace=40.0)) as newsroom:
        code, out, err = call(
            capsys, "crawl", tmp_path / "run", "--seed", newsroom.homes[0], "--config", "tuned.yaml", "--time-limit", "3s",
            "-s", "live.allow_addresses=[127.0.0.0/8]", "-s", "timetable.download_delay=10ms",
            "-s", "live.user_agent=Forager/0.1 (+https://example.org/bot)", "--no-dashboard", "-q", "--json",
        )  # fmt: skip
    assert code == 0, err
    facts = json.loads(out)
    assert facts["pages"] > 0
    assert {one["kind"] for one in facts["foragers"]["list"]} == {"RL"}


def test_the_space_is_shown_as_the_file_that_narrows_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "tune", "--show-space")
    assert code == 0
    assert "crawl.least_worth:                 [0, 0.9]\n" in out
    Path("space.yaml").write_text(out)
    assert call(capsys, "tune", "--show-space", "--space", "space.yaml") == (0, out, "")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], Exit.INPUT, "which recording?"),
        (["nowhere"], Exit.INPUT, "nowhere: neither a tape"),
        (["TAPE", "--for", "delays"], Exit.INPUT, "--for delays: no such goal; did you mean delay?"),
        (["TAPE", "-O", "no/such/tuned.yaml"], Exit.OUTPUT, "no/such/tuned.yaml: there is no directory no/such"),
        (["TAPE", "-O", "tuned.txt"], Exit.OUTPUT, "ends in .yaml (settings) or .html (report)"),
        (["TAPE", "--space", "none.yaml"], Exit.INPUT, "none.yaml: cannot be read"),
        (["TAPE", "--held-out", "90%", "-q"], Exit.INPUT, "too short to tune on: its first part has 12 new stories"),
        (["TAPE", "--held-out", "0%"], Exit.INPUT, "--held-out 0%: give a share such as 5% or 0.05"),
        (["TAPE", "--budget", "many"], Exit.USAGE, "expected downloads per hour"),
    ],
)
def test_bad_input_is_told_in_a_line(
    arguments: list[str], code: Exit, said: str, tape: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, out, err = call(capsys, "tune", *(tape if one == "TAPE" else one for one in arguments))
    assert (ended, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


def test_the_report_of_several_goals_has_a_front(tmp_path: Path) -> None:
    goals = (GOALS["late"], GOALS["requests"])
    asked = orders(tmp_path, goals=goals)
    study = Study(tmp_path, goals)
    for ticket in range(12):
        study.attempt(asked, ticket, lambda: False)
    wishes = Wishes(goals, 20.0, 10, 0.5, 3, 1, 1)
    tuning = Tuning(paper(days=2.0), tmp_path, asked.space, wishes)
    tuning.study = study
    study.note("start", {"values": [1.18, 4.0], "coverage": 1.0})
    judged = judge_held_out(
        asked.parts[0], goals, BASE, changed_keys(BASE, CHANGES), (1, 2), replays(lambda settings: figures())
    )
    assert judged is not None
    page = tuning_report(TuningOutcome(tuning, Chosen(CHANGES, 7, (1.18, 4.0), (1.0, 4.0)), judged), now=0.0)
    assert "<h2>Pareto front</h2>" in page
    assert "<h2>The search: requests_per_story</h2>" in page
    assert "not borne out by the held-out part" in page
