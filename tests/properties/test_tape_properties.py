"""What holds for every tape, and for every import, however odd."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forager.chance import stream
from forager.errors import InputError
from forager.importers.files import import_files
from forager.importers.streams import sources
from forager.importers.table_columns import stamps, time_of
from forager.importers.tables import import_tables
from forager.tape.build import TapeBuilder
from forager.tape.cut import distinct_links, rewired
from forager.tape.lookup import reach
from forager.tape.tape import Tape, load_tape, save
from forager.tape.tape_world import documents

Row = tuple[int, float, int, bool, list[int]]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.integers(0, 8).map(float),
        st.integers(0, 3),
        st.booleans(),
        st.lists(st.integers(0, 9), max_size=4),
    ),
    max_size=40,
)


def built(rows: list[Row], **options: bool) -> Tape:
    builder = TapeBuilder("test", "url")
    for page, time, digest, gone, links in rows:
        builder.add(f"http://e.org/{page}", time, digest=digest, gone=gone, links=[f"http://e.org/{n}" for n in links])
    return builder.finish(**options)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_a_tape_holds_every_version_with_its_links(rows: list[Row]) -> None:
    tape = built(rows)
    urls = list(tape.urls())
    found = []
    for page in range(tape.pages):
        for version in range(int(tape.version_start[page]), int(tape.version_start[page + 1])):
            links = tuple(sorted(urls[link] for link in tape.links_of(version)))
            found.append((urls[page], float(tape.time[version]), int(tape.digest[version]), links))
    told = [
        (f"http://e.org/{page}", time, digest, tuple(sorted({f"http://e.org/{n}" for n in links})))
        for page, time, digest, _, links in rows
    ]
    assert sorted(found) == sorted(told)


@given(ROWS)
@settings(max_examples=60, deadline=None)
@example([(0, 0.0, 1, True, []), (0, 1.0, 0, False, []), (0, 2.0, 1, False, [])])  # what a page gone is said to be
def test_merging_repeats_never_changes_what_a_page_shows(rows: list[Row]) -> None:
    """At any moment the merged tape shows the same digest (0: as before), links and goneness as the whole one."""
    whole, merged = built(rows), built(rows, merge_repeats=True)
    for page in range(whole.pages):
        for now in np.arange(-0.5, 9, 0.5):
            assert _shown(whole, page, now) == _shown(merged, page, now)


def _shown(tape: Tape, page: int, now: float) -> object:
    begin, end = int(tape.version_start[page]), int(tape.version_start[page + 1])
    past = [v for v in range(begin, end) if tape.time[v] <= now]
    last_of_moment = [v for v in past if v + 1 not in past or tape.time[v + 1] > tape.time[v]]
    if not past:
        return None
    if tape.gone[past[-1]]:
        return "gone"
    digests = [int(tape.digest[v]) for v in last_of_moment if tape.digest[v] and not tape.gone[v]]
    return digests[-1] if digests else 0, tape.links_of(past[-1]).tolist()


@given(ROWS)
@settings(max_examples=20, deadline=None)
def test_a_tape_survives_being_stored(rows: list[Row]) -> None:
    tape = built(rows, merge_repeats=True)
    with tempfile.TemporaryDirectory() as folder:
        save(tape, Path(folder) / "tape")
        again = load_tape(Path(folder) / "tape")
        for name in set(Tape.__slots__) - {"derived"}:
            np.testing.assert_array_equal(getattr(again, name), getattr(tape, name))
        for one, other in zip(again.forms, tape.forms, strict=True):
            np.testing.assert_array_equal(one, other)


@given(ROWS, st.sampled_from(["url", "text", "version"]))
@settings(max_examples=100, deadline=None)
def test_documents_are_those_that_counting_them_one_by_one_gives(rows: list[Row], identity: str) -> None:
    builder = TapeBuilder("test", identity)
    for page, time, digest, gone, _ in rows:
        builder.add(
            f"http://e.org/{page}", time, digest=digest, text_print=digest % 4, published=time - digest, gone=gone
        )
    tape = builder.finish()
    born: dict[int, float] = {}
    ends: dict[int, float] = {}
    of_version: dict[int, int] = {}
    for page in range(tape.pages):
        for version in range(int(tape.version_start[page]), int(tape.version_start[page + 1])):
            time, text = float(tape.time[version]), int(tape.text_print[version])
            if tape.gone[version] or time - tape.published[version] > 3:
                continue
            key = page if identity == "url" else text if identity == "text" and text else version
            until = float(tape.time[version + 1]) if version + 1 < tape.version_start[page + 1] else tape.end
            born[key], ends[key] = min(born.get(key, np.inf), time), max(ends.get(key, 0.0), until)
            of_version[version] = key
    found = documents(tape, max_age=3.0)
    keys = found.key.tolist()
    assert sorted(keys) == sorted(born)
    assert found.born.tolist() == sorted(born.values()) == [born[key] for key in keys]
    assert found.gone.tolist() == [ends[key] for key in keys]
    assert [None if row < 0 else keys[row] for row in found.of_version.tolist()] == [
        of_version.get(version) for version in range(tape.versions)
    ]


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_pages_are_reached_over_all_links_that_ever_stood(rows: list[Row]) -> None:
    tape = built(rows)
    wanted, waiting = {0} if tape.pages else set(), [0] if tape.pages else []
    while waiting:
        page = waiting.pop()
        for version in range(int(tape.version_start[page]), int(tape.version_start[page + 1])):
            new = set(tape.links_of(version).tolist()) - wanted
            wanted |= new
            waiting += new
    reached, read = np.zeros(tape.pages, np.bool_), np.zeros(len(tape.link_start) - 1, np.bool_)
    for _ in range(2):  # what was reached before does not matter
        pages, room = np.arange(min(1, tape.pages)), np.empty(tape.pages, np.int64)
        reach(pages, tape.version_start, tape.link_set, tape.link_start, tape.links, reached, read, room)
        assert set(np.flatnonzero(reached).tolist()) == wanted


@given(ROWS, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_rewiring_keeps_the_number_of_links_of_every_version(rows: list[Row], seed: int) -> None:
    tape = built(rows)
    twin = rewired(tape, stream(seed, "rewire"))
    lengths = [[len(one.links_of(version)) for version in range(one.versions)] for one in (tape, twin)]
    assert lengths[0] == lengths[1]
    assert np.isin(distinct_links(twin)[1], distinct_links(tape)[1]).all()


LINES = st.lists(
    st.one_of(
        st.binary(max_size=80),
        st.sampled_from(
            [
                b" CDX N b a m s k r M S V g",
                b"org,e)/ 20260302000000 http://e.org/ text/html 200 A - - 1 1 a",
                b'org,e)/ 20260302000000 {"url": "http://e.org/", "digest": "A"}',
                b'{"url": "http://e.org/", "time": 5, "changed": 1}',
                b"url,time,digest",
                b"http://e.org/,2026-03-02T00:00:00Z,a",
                b'<http://e.org/>;rel="original",',
                b'<http://x/20260302000000/http://e.org/>;rel="memento";datetime="Mon, 02 Mar 2026 00:00:00 GMT",',
                b"\x1f\x8b\x08",
                b"\x28\xb5\x2f\xfd",
                b"PAR1",
                b"WARC/1.0",
                b"[[",
            ]
        ),
    ),
    max_size=12,
)


@given(LINES)
@settings(max_examples=100, deadline=None)
def test_no_bytes_bring_an_import_down(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(b"\n".join(lines))
        try:
            tape = import_files(sources([str(path)]), origin="x").tape
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert np.isfinite(tape.time).all()


@given(st.text(max_size=30))
@settings(deadline=None)
@example("noon-ish")  # a dash where ISO 8601 has its first one
def test_any_text_is_a_time_or_nan(text: str) -> None:
    assert isinstance(time_of(text), float)
    assert len(stamps(pa.array([text.encode("utf-8", "replace")]))) == 1


STAYS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 9), st.integers(0, 4)), max_size=15)
SEEN = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=10)


@given(SEEN, STAYS)
@settings(max_examples=60, deadline=None)
def test_whenever_a_page_was_seen_it_shows_exactly_the_links_that_stand(
    seen: list[tuple[int, int, int]], stays: list[tuple[int, int, int, int]]
) -> None:
    rows = [(f"p{page}", f"t{target}", first, first + long) for page, target, first, long in stays]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = "".join(f"p{page},{time},{digest}\n" for page, time, digest in seen)
        (folder / "versions.csv").write_text("url,time,digest\n" + lines)
        lines = "".join(f"{page},{target},{first},{last}\n" for page, target, first, last in rows)
        (folder / "stays.csv").write_text("url,target,first_time,last_time\n" + lines)
        tape = import_tables(folder, origin="x").tape
    urls = list(tape.urls())
    for id, url in enumerate(urls):
        span = range(int(tape.version_start[id]), int(tape.version_start[id + 1]))
        own = {time for page, time, _ in seen if f"p{page}" == url}
        own |= {time for page, _, first, last in rows if page == url for time in (first, last)}
        for now in sorted(own):
            past = [version for version in span if tape.time[version] <= now]
            shown = {urls[link] for link in tape.links_of(past[-1])} if past else set()
            assert shown == {target for page, target, first, last in rows if page == url and first <= now <= last}
