"""The rewired twin of a tape."""

from dataclasses import replace

import numpy as np

from forager.chance import stream
from forager.tape.build import TapeBuilder
from forager.tape.cut import distinct_links, rewired
from forager.tape.tape import Tape
from forager.tape.tape_world import TapeClock, TapeWorld


def linked(pages: int = 60, versions: int = 5) -> Tape:
    rng = stream(1, "test")
    builder = TapeBuilder("test")
    for page in range(pages):
        standing = rng.choice(pages, 12, replace=False)
        for version in range(versions):
            shown = standing[version : version + 6]  # links come and go
            links = [f"http://e.org/{link}" for link in shown if link != page]
            builder.add(f"http://e.org/{page}", float(version), digest=version + 1, links=links)
    return builder.finish()


def test_every_page_keeps_its_in_and_out_degree() -> None:
    tape = linked()
    before, after = distinct_links(tape), distinct_links(rewired(tape, stream(2, "rewire")))
    for end in (0, 1):
        assert np.array_equal(np.bincount(before[end], minlength=60), np.bincount(after[end], minlength=60))
    assert set(zip(*before, strict=True)) != set(zip(*after, strict=True))
    assert (after[0] != after[1]).all()


def test_a_link_keeps_its_place_in_the_versions_of_its_page() -> None:
    """How many links two versions of a page share does not change, as each link stands where it stood."""
    tape = linked()
    twin = rewired(tape, stream(2, "rewire"))
    for page in range(60):
        first = int(tape.version_start[page])
        for one in range(first, first + 5):
            for other in range(first, one + 1):
                shared = np.intersect1d(tape.links_of(one), tape.links_of(other))
                assert len(np.intersect1d(twin.links_of(one), twin.links_of(other))) == len(shared)


def test_the_same_chance_gives_the_same_twin() -> None:
    tape = linked()
    one, other = (rewired(tape, stream(5, "rewire")) for _ in range(2))
    assert np.array_equal(one.links, other.links)
    assert not np.array_equal(one.links, rewired(tape, stream(6, "rewire")).links)


def test_a_tape_without_links_stays_as_it_is() -> None:
    builder = TapeBuilder("test")
    builder.add("http://e.org/", 1.0)
    assert rewired(builder.finish(), stream(1, "rewire")).links.size == 0


def test_a_link_of_the_twin_waits_until_the_page_it_leads_to_is_there() -> None:
    """The home page links `late` from the start, but `late` appears at 100 only."""
    builder = TapeBuilder("test")
    builder.add("http://e.org/", 0.0, digest=1, links=["http://e.org/late", "http://e.org/soon"])
    builder.add("http://e.org/late", 100.0, digest=2)
    builder.add("http://e.org/soon", 0.0, digest=3)
    recorded = builder.finish(end=300.0)
    for waits, seen in ((False, [2, 2]), (True, [1, 2])):
        tape = replace(recorded, waits=waits)
        world = TapeWorld(tape, TapeClock(0.0), seconds=60.0)
        assert [len(world.look(0).links) for _ in range(2)] == seen
    assert rewired(recorded, stream(1, "x")).waits
