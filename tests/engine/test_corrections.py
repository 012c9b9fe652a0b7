"""Second looks at young stories."""

import pytest

from forager.engine.corrections import APART, PROBABLE, YOUNG, Corrections
from forager.engine.ingest import missing_between
from forager.events import Fetched, Told
from forager.terms import NOBODY, Channel, Kind, Outcome, Trouble, Url, UrlId
from tests.virtual import Crawled, crawl_newsroom

HOST = "paper.example"
HOUR = 3600.0


def address(number: int) -> Url:
    return Url(f"http://{HOST}/{number}")


def fetched(at: float, number: int, outcome: Outcome = Outcome.FETCHED, *, changed: bool = False) -> Fetched:
    return Fetched(
        at, UrlId(number), address(number), NOBODY, outcome, 200, Trouble.NONE, "", 0.1, 9, Kind.ARTICLE, changed, 0
    )


def told(at: float, number: int) -> Told:
    return Told(at, UrlId(number), address(number), HOST, "A storm", at, "time", 0.0, Channel.FEED, NOBODY)


@pytest.fixture
def corrections() -> Corrections:
    """Two hundred requests, and the stories 0, 1 and 2 told ten seconds after each other."""
    corrections = Corrections(share=0.1)
    for number in range(100, 300):
        corrections.hear(fetched(0.0, number))
    for number in range(3):
        corrections.hear(told(10.0 * number, number))
    return corrections


def test_a_story_of_which_a_feed_says_something_else_goes_first_and_at_once(corrections: Corrections) -> None:
    assert corrections.choose(HOST, 60.0) is None  # too soon for the others
    corrections.suspect(UrlId(1), address(1))
    corrections.suspect(UrlId(55), address(55))  # no story
    assert corrections.choose(HOST, 60.0) == 1
    corrections.hear(fetched(61.0, 1, changed=True))
    assert corrections.choose(HOST, 62.0) != 1


def test_the_others_are_looked_at_in_turn(corrections: Corrections) -> None:
    looked = []
    for turn in range(6):
        now = HOUR * (1 + turn)
        id = corrections.choose(HOST, now)
        assert id is not None
        looked.append(int(id))
        corrections.hear(fetched(now, id))
    assert looked == [0, 1, 2, 0, 1, 2]


def test_no_more_than_its_share_is_spent(corrections: Corrections) -> None:
    looks = 0
    for turn in range(100):
        corrections.suspect(UrlId(turn % 3), address(turn % 3))
        id = corrections.choose(HOST, 10.0 * turn)
        if id is not None:
            corrections.hear(fetched(10.0 * turn, id))
            looks += 1
    assert looks == 22  # of 222 requests


def test_a_part_of_the_share_waits_for_signs_of_corrections(corrections: Corrections) -> None:
    for turn in range(1, 100):
        id = corrections.choose(HOST, turn * 3000.0)
        if id is None:
            break
        corrections.hear(told(turn * 3000.0, int(id)))  # it stays young
        corrections.hear(fetched(turn * 3000.0 + 1, int(id)))
    assert turn == 20  # 19 looks for 219 requests
    corrections.suspect(UrlId(1), address(1))
    assert corrections.choose(HOST, turn * 3000.0 + 9) == 1


def test_how_often_stories_change_is_learned(corrections: Corrections) -> None:
    wait = next(seconds for seconds in range(100_000) if corrections.choose(HOST, float(seconds)) is not None)
    assert wait == APART  # .3 changes in an hour at first: probable enough after four minutes
    for number in range(3):
        corrections.hear(fetched(HOUR, number))  # three hours of watching, and no change
    again = next(seconds for seconds in range(100_000) if corrections.choose(HOST, HOUR + seconds) is not None)
    assert 1 - 2.718281828 ** (-0.3 / 4 * again / HOUR) == pytest.approx(PROBABLE, rel=0.01)


def test_what_was_spent_and_learned_outlives_the_process(corrections: Corrections) -> None:
    for number in range(3):
        corrections.hear(fetched(HOUR, number, changed=True))
    resumed = Corrections(share=0.1, saved=corrections.save())
    resumed.hear(told(HOUR, 7))
    assert resumed.choose(HOST, HOUR + APART) == 7  # a new process that knew of no request would have no share to spend
    assert resumed.save() == corrections.save()


def test_old_and_removed_stories_are_left_alone(corrections: Corrections) -> None:
    corrections.hear(fetched(HOUR, 0, Outcome.GONE))
    assert corrections.choose(HOST, 2 * HOUR) == 1
    assert corrections.choose(HOST, YOUNG + 15.0) == 2
    assert corrections.choose(HOST, YOUNG + 25.0) is None
    assert corrections.choose("other.example", HOUR) is None


def second_looks(crawled: Crawled) -> int:
    stories = {story.id for story in crawled.stories}
    return sum(max(0, crawled.store.known(id).visits - 1) for id in stories)


def test_a_crawl_sees_corrections_of_its_stories() -> None:
    busy = ("newsroom.pace=4", "timetable.download_delay=3s", "newsroom.corrections=1", "newsroom.correction_delay=30m")
    with_, without = (crawl_newsroom(2.5, *busy, f"crawl.corrections={share}") for share in (0.1, 0))
    assert second_looks(with_) > second_looks(without)
    assert second_looks(with_) <= 0.1 * with_.store.counts().visits + 3 + second_looks(without)
    changed = [story for story in with_.stories if with_.store.known(story.id).changes]
    assert len(changed) > len([story for story in without.stories if without.store.known(story.id).changes])


def test_a_story_missing_from_the_middle_of_a_feed_was_taken_down() -> None:
    a, b, c, d, e = map(UrlId, range(5))
    assert missing_between([c, b, a], [d, c, a]) == [b]
    assert missing_between([c, b, a], [e, d, c]) == []  # the others fell out at the end
    assert missing_between([c, b, a], [e, d]) == []
    assert missing_between([], [a]) == []
