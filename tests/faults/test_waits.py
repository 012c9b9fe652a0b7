"""What a host asked for holds although the crawl is killed with SIGKILL and resumed; the server's log is the judge."""

from pathlib import Path

from typer.testing import CliRunner

from forager.cli.app import app
from tests.faults.waits import HOURLY, KINDS, kill_and_resume, served_waits


def test_no_wait_is_forgotten_by_a_crawl_that_is_killed_again_and_again(tmp_path: Path) -> None:
    with served_waits() as waits:
        kill_and_resume(waits, tmp_path, 5, 1, longest=4.0)
    assert waits.broken() == []
    assert set(waits.log) == set(KINDS)
    asked_to_wait = {
        kind for kind, log in waits.log.items() if any(heard.wait for heard in log if waits.is_heard(heard))
    }
    assert asked_to_wait == {kind for kind in KINDS if kind[0] in "45"}
    log = (tmp_path / "run" / "crawl.log").read_text()
    waiting = waits.seeds[KINDS.index("429, seconds")]
    assert f"{waiting.split('/')[2]} is left alone until" in log
    why = CliRunner().invoke(app, ["why", str(tmp_path / "run"), waiting]).output
    assert "it answered with status 429 and Retry-After, so it is left alone until" in " ".join(why.split())


def test_a_budget_that_is_spent_stays_spent(tmp_path: Path) -> None:
    with served_waits(("free",)) as waits:
        quick = "timetable.download_delay=50ms"
        kill_and_resume(waits, tmp_path, 4, 2, f"timetable.requests_per_hour={HOURLY}", quick, longest=0.4)
        assert 4 < len(waits.log["free"]) <= HOURLY
