"""Whatever strangers wrote, a reader copes with it, or says in one line what is wrong; and what fuzzing found stays mended."""

from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.pages.feeds import read_feed
from forager.terms import Url
from tests.fuzz_samples import SAMPLES
from tests.fuzzing import TARGETS, attempt
from tests.fuzzing_modules import MODULES

EXAMPLES = {"page": 60, "recording": 30, "warc": 30, "query": 30, "robots": 40, "tape": 40, "change_log": 30}
"""Of the slower targets; the others have 100."""

FOUND = [
    ("feed", b'{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://a.example/2","title":"caf\xe9"}]}'),
    ("change_log", b"ab\x91,time,changed\na,0,1\n"),
    ("change_log", b"url,time,changed\nab\x91,0,1\nab\x91,3600,0\n"),
    ("change_log", b"url,time,Time,changed\na,0,0,1\na,3600,3600,0\n"),
    ("tape", b"\x01\x01\x00{"),
    ("settings", b"crawl.cycle=\x80"),
    ("index", b'a b {"x":' + b"[" * 100_000),
    ("change_table", b"\0null\n"),  # it brought down the process
    ("change_table", SAMPLES["change_table"][0].replace(b'"a"', b'"\xff"')),
    ("change_table", SAMPLES["change_table"][1].replace(b"PK\1\2-\3-\0\0", b"PK\1\2-\3-\0\1")),  # says it is encrypted
    ("packed", SAMPLES["packed"][0].replace(b"archive/a.warc", b"./" * 7)),  # a member without a name
    ("tables", SAMPLES["tables"][1].replace(b"http://a", b"http://\xf4")),
    ("tables", SAMPLES["tables"][1].replace(b"digest", b"d\xf4gest")),
    ("page", b"\0<!DOCTYPE html PUBLIC><p>Published on 2 March 2026</p>"),  # its parser made no copy, so it had no date
    ("settings", b"crawl.cycle=" + b"- " * 20_000),  # its error went deeper than Python can
    ("settings", b"? " * 75_000),  # the parser brought down the process
    ("settings", b"timetable:\n  download_delay: 2s\n"),  # as an override: its error had three lines
]


def mutated(samples: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """Pieces of samples, put together anew, with some bytes between them."""
    piece = st.sampled_from(samples).flatmap(
        lambda sample: st.tuples(st.integers(0, len(sample)), st.integers(0, len(sample))).map(
            lambda cut: sample[min(cut) : max(cut)]
        )
    )
    return st.lists(piece | st.binary(max_size=6) | st.sampled_from(samples), max_size=6).map(b"".join)


@pytest.mark.parametrize("name", TARGETS)
def test_no_reader_is_brought_down(name: str) -> None:
    @given(st.binary(max_size=60) | mutated(SAMPLES[name]))
    @settings(max_examples=EXAMPLES.get(name, 100), deadline=None, database=None)
    def survives(raw: bytes) -> None:
        attempt(TARGETS[name], raw)

    survives()


@pytest.mark.parametrize(("name", "raw"), FOUND)
def test_what_brought_a_reader_down_once_does_so_no_more(name: str, raw: bytes) -> None:
    attempt(TARGETS[name], raw)


def test_every_target_has_modules_whose_coverage_guides_it() -> None:
    assert set(MODULES) == set(TARGETS)
    assert all(find_spec(f"forager.{module}") for modules in MODULES.values() for module in modules)


def test_a_json_feed_in_another_encoding_is_read_all_the_same() -> None:
    feed = read_feed(FOUND[0][1], Url("https://a.example/feed.json"))
    assert feed is not None
    assert [link.url for link in feed.links] == ["https://a.example/2"]
