"""A run directory, looked into from a program."""

from pathlib import Path

import pytest

import forager
from forager.errors import InputError, StoreError
from forager.newsroom.newsroom import Newsroom
from forager.terms import Outcome
from tests.library.program import crawling, first_stories


async def test_stories_versions_and_visits_of_a_run(newsroom: Newsroom, tmp_path: Path) -> None:
    told = await first_stories(tmp_path / "run", newsroom, 10)
    async with forager.open_run(tmp_path / "run") as run:
        assert [story async for story in run.stories()][:10] == told
        assert [story.number async for story in run.stories(after=7)][:2] == [8, 9]
        versions = [version async for _, version in run.versions(told[0].url)]
        assert versions[0].text == told[0].text
        assert told[0].version == 1
        assert (told[0].language, told[0].word_count) == ("en", len(told[0].text.split()))
        assert {run.url(id) for id in versions[0].links} & set(newsroom.homes)
        visits = [visit async for visit in run.visits()]
        assert len(visits) == run.counts().visits
        assert {run.url(visit.id) for visit in visits} >= set(newsroom.homes)
        (visit, *_) = [visit async for visit in run.visits(told[0].url)]
        assert (visit.outcome, visit.at) == (Outcome.FETCHED, told[0].fetched)
        with pytest.raises(InputError, match="knows no such page"):
            run.visits("https://example.org/nowhere")


async def test_a_running_crawl_is_looked_into_without_disturbing_it(newsroom: Newsroom, tmp_path: Path) -> None:
    async with crawling(tmp_path / "run", newsroom) as crawl:
        async for story in crawl.stories():
            if story.number == 4:
                break
        async with forager.open_run(tmp_path / "run") as run:
            assert [story.number async for story in run.stories()][:5] == [0, 1, 2, 3, 4]


async def test_what_is_no_run_directory_and_what_was_not_entered_say_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="name the directory of a crawl"):
        async with forager.open_run(tmp_path):
            pass
    with pytest.raises(RuntimeError, match="async with"):
        forager.open_run(tmp_path).stories()
