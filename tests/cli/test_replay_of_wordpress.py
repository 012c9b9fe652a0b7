"""A recording of a short crawl of WordPress (its classic theme, texts of made-up words), crawled again from its bytes.

Thirty-one requests in two and a half minutes; the crawl told fourteen posts and nothing else.
"""

from datetime import UTC, datetime
from pathlib import Path

from forager.cli.replay_bytes import crawl_bytes
from forager.events import Event, Told
from forager.settings import load_settings

RECORDING = Path(__file__).parents[1] / "fixtures" / "wordpress.warc.gz"
DAY = datetime(2026, 11, 18, 9, tzinfo=UTC).timestamp()


def test_the_posts_are_told_and_nothing_else() -> None:
    events: list[Event] = []
    facts, _ = crawl_bytes(RECORDING, load_settings(None, []).settings, [], None, [events.append])
    told = [event for event in events if isinstance(event, Told)]
    assert len({story.url for story in told}) == len(told) == facts["stories"] == 14
    assert all("/2026/11/18/" in story.url and story.title[0].isupper() for story in told)
    assert {story.published_source for story in told} == {"time"}
    assert all(DAY < story.published < story.at for story in told)
    assert all(story.about is not None and story.about.authors for story in told)
    assert facts["requests"] <= 32
