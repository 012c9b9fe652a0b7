"""Record a synthetic crawl, replay its bytes with the same seed, get the same journal."""

import asyncio
from pathlib import Path

import pytest

from forager.clock import Clock
from forager.settings import load
from forager.world.protocol import Web
from forager.world.recording import Recording
from forager.world.warc.recorder import InlineRecorder
from forager.world.warc.settings import RecordingSettings
from forager.world.warc.web import WarcWeb
from forager.world.warc.writer import WarcWriter, warcs_in
from tests.virtual import QUICK, Crawled


@pytest.mark.parametrize("kind", ["BFS", "WL"])
def test_a_recorded_crawl_replays_to_the_same_journal(kind: str, tmp_path: Path) -> None:
    settings = load(None, [*QUICK, f"forager.kind={kind}", "newsroom.errors=0.02"]).settings
    writer = WarcWriter(tmp_path, RecordingSettings(), settings.live.user_agent, None)
    recorder = InlineRecorder(writer)

    recorded = Crawled(settings, lambda web, clock: Recording(web, recorder, clock)).run(2)
    asyncio.run(recorder.close())
    replayed = Crawled(settings, lambda web, clock: _replay(tmp_path, clock)).run(2)

    lines = recorded.journal.getvalue().splitlines()
    assert len(lines) > 200
    assert replayed.journal.getvalue().splitlines() == lines


def _replay(folder: Path, clock: Clock) -> Web:
    return WarcWeb(warcs_in(folder), clock)
