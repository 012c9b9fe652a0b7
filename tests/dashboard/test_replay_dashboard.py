"""The dashboard of a replay: it answers while the replay runs, and changes nothing in it."""

import asyncio
import re
import signal
import sys
from pathlib import Path

import aiohttp
import pytest

from forager.assembly import Reader
from forager.cli.replay import play_beside, watch_replay
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.recrawl_view import recrawl
from forager.dashboard.server import serve_dashboard
from forager.engine.crawl_settings import DashboardSettings
from forager.events import Event, Journal, event_line
from forager.report.account import Account
from forager.settings import load_settings
from forager.simulation.replay import Replay, ReplayPlan
from forager.simulation.replay_records import ReplayRecords
from forager.tape.tape import Tape, save
from tests.simulation.small_tape import HOME, paper

PAGES = ("api/now", "api/fleet", "api/forager?id=0", "api/sites", "api/recrawl", "metrics", "stories.atom", "healthz")


def _replay(tape: Tape, *readers: Reader, policy: str = "worth") -> Replay:
    settings = load_settings(Path("/dev/null"), [f"crawl.policy={policy}"]).settings
    return Replay(
        tape,
        ReplayPlan(60.0, (HOME,)),
        settings.crawl,
        settings.forager,
        settings.reinforcing,
        revisit_after=settings.visits.revisit_after,
        seed=1,
        tell=Journal(readers).write,
    )


async def test_a_replay_that_is_looked_at_has_the_journal_of_one_that_is_not() -> None:
    tape, alone, seen = paper(), list[Event](), list[Event]()
    _replay(tape, alone.append).run()
    chronicle, records = Chronicle(Account()), ReplayRecords(tape)
    replay = _replay(tape, seen.append, chronicle.account.hear, chronicle, records)
    watched = watch_replay(replay, records, "paper")
    async with (
        serve_dashboard(watched, chronicle, DashboardSettings()) as address,
        aiohttp.ClientSession() as client,
        asyncio.TaskGroup() as group,
    ):
        playing = group.create_task(play_beside(replay))
        asked = 0
        while not playing.done():
            async with client.get(address + PAGES[asked % len(PAGES)]) as answer:
                assert answer.status == 200
            asked += 1
    assert asked
    assert [event_line(event) for event in seen] == [event_line(event) for event in alone]


async def test_its_pages_tell_what_the_replay_knows() -> None:
    tape, chronicle = paper(), Chronicle(Account())
    records = ReplayRecords(tape)
    replay = _replay(tape, chronicle.account.hear, chronicle, records)
    watched = watch_replay(replay, records, "paper")
    async with (
        serve_dashboard(watched, chronicle, DashboardSettings()) as address,
        aiohttp.ClientSession() as client,
    ):
        await play_beside(replay)

        async def ask(path: str) -> dict[str, object]:
            async with client.get(address + path) as answer:
                assert answer.status == 200, path
                return dict(await answer.json())

        now = await ask("api/now")
        delay = replay.figures().delay
        assert now["figures"]["name"] == "replay of paper"  # type: ignore[index]
        assert now["figures"]["requests"] == replay.world.downloads  # type: ignore[index]
        coverage = now["coverage"]
        assert sum(coverage["appeared"]) == delay.stories  # type: ignore[index]
        assert sum(coverage["found"]) == delay.found  # type: ignore[index]
        story = (await ask("api/stories?limit=1"))["stories"][0]  # type: ignore[index]
        page = await ask(f"api/page?url={story['url']}")
        assert str(page["story"]).startswith("Yes") and page["visits"] and page["latest_visits"]
        assert page["editions"][0]["published"]["source"] == "tape"  # type: ignore[index]
        recrawl = await ask("api/recrawl")
        assert [one["rank"] for one in recrawl["next"]] == [*range(1, len(recrawl["next"]) + 1)]  # type: ignore[arg-type]
        assert all(one["why"] for one in recrawl["next"])  # type: ignore[attr-defined]
        async with client.get(f"{address}stories.atom") as answer:
            assert "<entry" in await answer.text()


@pytest.mark.parametrize("serve", [True, False])
async def test_the_command_serves_it_and_with_serve_goes_on_until_ctrl_c(tmp_path: Path, serve: bool) -> None:
    save(paper(days=1.0), tmp_path / "tape")
    command = [sys.executable, "-m", "forager", "replay", str(tmp_path / "tape"), "-q", *(["--serve"] if serve else [])]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    async with asyncio.timeout(120):
        found = re.search(r"http://127\.0\.0\.1:\d+/", (await process.stderr.readline()).decode())
        assert found is not None
        if serve:
            assert b"stays until" in await process.stderr.readline()
            async with aiohttp.ClientSession() as client, client.get(f"{found[0]}api/now") as answer:
                assert (await answer.json())["figures"]["stories"] > 0
            process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"stories found while young" in out


async def test_under_a_policy_the_schedule_shows_its_scores_after_what_was_never_visited() -> None:
    tape, chronicle = paper(), Chronicle(Account())
    records = ReplayRecords(tape)
    replay = _replay(tape, chronicle.account.hear, chronicle, records, policy="t * X")
    replay.run()
    facts = recrawl(watch_replay(replay, records, "paper"), chronicle)
    assert (facts["policy"], facts["formula"]) == ("t * X", "t * X")
    ranks = [one["rank"] for one in facts["next"]]
    scored = [one for one in facts["next"] if one["score"] is not None]
    assert ranks == sorted(ranks) and len(scored) >= 3
    assert all(one["visits"] == 0 for one in facts["next"] if one["score"] is None)
    assert [one["score"] for one in scored] == sorted((one["score"] for one in scored), reverse=True)
    assert any(cycle["ndcg"] is not None for cycle in facts["cycles"])
