"""The World of a tape: what a page shows, when, and what a look costs."""

import pytest

from forager.tape.build import TapeBuilder
from forager.tape.cut import cut_tape, squeezed_anew
from forager.tape.tape import Tape
from forager.tape.tape_world import TapeClock, TapeWorld, documents
from forager.terms import Kind, UrlId

HUB, ARTICLE, LINKED = UrlId(0), UrlId(1), UrlId(2)


def tape(identity: str = "url") -> Tape:
    """A list and an article that appears at 100, changes at 200 and is gone at 300; and a URL never recorded."""
    builder = TapeBuilder("hand-made", identity)
    builder.add(
        "https://a.example/", 0.0, digest=1, links=["https://a.example/1", "https://a.example/2"], kind=Kind.HUB
    )
    for at, text in ((100.0, 7), (200.0, 8)):
        builder.add("https://a.example/1", at, digest=text, text_print=text, published=100.0, kind=Kind.ARTICLE)
    builder.add("https://a.example/1", 300.0, gone=True)
    return builder.finish(start=0.0, end=400.0)


def world(at: float = 0.0, revisit_after: float = 0.0) -> TapeWorld:
    return TapeWorld(tape(), TapeClock(at), seconds=10.0, revisit_after=revisit_after)


def test_a_page_shows_its_newest_version_at_the_end_of_the_download() -> None:
    assert world(95.0).look(ARTICLE).text_print == 7  # downloaded from 95 to 105
    assert world(150.0).look(ARTICLE).text_print == 7
    assert world(190.0).look(ARTICLE).text_print == 8  # from 190 to 200


def test_worlds_on_one_tape_share_what_no_visit_changes() -> None:
    one_tape = tape()
    one, other = (TapeWorld(one_tape, TapeClock(150.0), seconds=10.0, revisit_after=60.0) for _ in range(2))
    assert one.columns.links is other.columns.links
    one.look(ARTICLE)
    assert not other.look(ARTICLE).free  # each has its own visits
    assert documents(one_tape) is documents(one_tape)
    assert documents(one_tape, hubs=True) is not documents(one_tape)


def test_a_tape_made_from_another_shares_what_does_not_depend_on_what_was_changed() -> None:
    one = tape()
    truth = documents(one)
    assert documents(squeezed_anew(one, 2.0)) is truth
    assert len(documents(cut_tape(one, 0.0, 50.0))) == 0


def test_before_its_first_version_a_page_is_unrecorded() -> None:
    early = world(50.0)
    assert not early.look(ARTICLE).ok
    assert (early.downloads, early.unrecorded) == (1, 1)
    assert not early.look(LINKED).ok
    assert early.unrecorded == 2


def test_a_gone_page_is_a_download_but_not_unrecorded() -> None:
    late = world(350.0)
    assert not late.look(ARTICLE).ok
    assert (late.downloads, late.unrecorded) == (1, 0)


def test_every_download_costs_the_same_time() -> None:
    here = world(0.0)
    here.look(HUB)
    here.look(HUB)
    assert here.clock.time == 20.0


def test_what_was_downloaded_a_moment_ago_is_free() -> None:
    here = world(100.0, revisit_after=60.0)
    assert not here.look(ARTICLE).free
    assert here.look(ARTICLE).free
    assert (here.downloads, here.clock.time) == (1, 110.0)
    here.clock.time = 160.0
    assert not here.look(ARTICLE).free


def test_a_list_may_be_looked_at_again_at_once() -> None:
    """What it brings decides how soon, not a clock."""
    here = world(0.0, revisit_after=60.0)
    assert not here.look(HUB).free
    assert not here.look(HUB).free
    assert here.downloads == 2


def test_a_sighting_shows_links_kind_and_state() -> None:
    seen = world().look(HUB)
    assert seen.hub
    assert seen.links.tolist() == [ARTICLE, LINKED]
    assert seen.state_row == -1  # the tape has no states


async def test_the_world_is_visited_in_batches_like_any_other() -> None:
    here = world(150.0)
    assert [seen.ok for seen in await here.visit([HUB, ARTICLE, LINKED])] == [True, True, False]


@pytest.mark.parametrize(
    ("identity", "born"),
    [("url", [100.0]), ("text", [100.0, 200.0]), ("version", [100.0, 200.0])],
)
def test_documents_are_counted_by_the_tapes_identity(identity: str, born: list[float]) -> None:
    found = documents(tape(identity))
    assert found.born.tolist() == born
    assert found.gone.max() == 300.0
    assert (found.of_version >= 0).sum() == 2  # the list and the gone version are no documents


def test_a_version_that_was_old_when_it_appeared_is_no_document() -> None:
    assert len(documents(tape(), max_age=50.0)) == 1
    late = TapeBuilder("old", "url")
    late.add("https://a.example/1", 200.0, digest=1, published=100.0, kind=Kind.ARTICLE)
    assert len(documents(late.finish(start=0.0, end=400.0), max_age=50.0)) == 0


def test_texts_without_print_do_not_become_one_document() -> None:
    builder = TapeBuilder("bare", "text")
    for number in range(3):
        builder.add(f"https://a.example/{number}", 10.0, digest=number + 1, published=10.0, kind=Kind.ARTICLE)
    assert len(documents(builder.finish(start=0.0, end=20.0))) == 3
