"""Change logs of tapes, stays tables, capture indexes and folders; and how their cycles are cut."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forager.cli.log_input import cut_log, per_cycle, read_change_log
from forager.errors import InputError
from forager.importers.tape_logs import log_of_tape, usual_length
from forager.recrawl.change_log import ChangeLog
from forager.tape.build import TapeBuilder
from forager.tape.tape import Tape, save
from forager.terms import Kind

HOUR = 3600.0
HUB, OLD, NEWS, LATE = (f"https://paper.example/{name}" for name in ("hub", "old", "news", "late"))


def small_tape() -> Tape:
    """A hub that shows OLD, from hour 2 NEWS too, and from hour 4 NEWS alone; OLD's text changes in hour 3."""
    builder = TapeBuilder("small", "url")
    builder.add(HUB, 0.0, digest=1, links=[OLD], kind=Kind.HUB)
    builder.add(OLD, 0.0, digest=10, text_print=10, links=[HUB], kind=Kind.ARTICLE)
    builder.add(HUB, 1 * HOUR, digest=2, links=[OLD], kind=Kind.HUB)  # other bytes, no new link
    builder.add(HUB, 2 * HOUR, digest=3, links=[OLD, NEWS], kind=Kind.HUB)
    builder.add(NEWS, 2 * HOUR, digest=20, text_print=20, kind=Kind.ARTICLE)
    builder.add(OLD, 3 * HOUR, digest=11, text_print=11, links=[HUB], kind=Kind.ARTICLE)
    builder.add(HUB, 4 * HOUR, digest=4, links=[NEWS], kind=Kind.HUB)
    return builder.finish(start=0.0, end=6 * HOUR)


def test_hubs_change_by_new_links_and_articles_by_text() -> None:
    log = log_of_tape(small_tape(), HOUR)
    assert log.urls == (HUB, OLD)  # NEWS appeared after the first tenth
    assert (log.cycles, log.start, log.cycle) == (7, 0.0, HOUR)
    assert np.flatnonzero(log.changed[0]).tolist() == [2]
    assert np.flatnonzero(log.changed[1]).tolist() == [3]
    assert log.hub is not None and log.hub.tolist() == [True, False]
    assert log.inlinks is not None and log.inlinks.tolist() == [1, 1]


def test_documents_stand_from_their_first_to_their_last_cycle() -> None:
    documents = log_of_tape(small_tape(), HOUR).documents
    assert documents is not None
    assert documents.page.tolist() == [0, 0]
    stands = dict(zip(documents.document.tolist(), zip(documents.first, documents.last, strict=True), strict=True))
    assert stands == {0: (0, 3), 1: (2, 6)}  # OLD was pushed out in hour 4; NEWS stands to the end


def test_what_counts_as_a_change_and_which_pages_can_be_chosen() -> None:
    by_bytes = log_of_tape(small_tape(), HOUR, change="bytes")
    assert np.flatnonzero(by_bytes.changed[0]).tolist() == [1, 2, 4]
    assert log_of_tape(small_tape(), HOUR, pages="hubs").urls == (HUB,)
    assert log_of_tape(replace(small_tape(), identity="link"), HOUR).urls == (HUB,)  # articles are read off it
    assert log_of_tape(small_tape(), HOUR, pages="articles", settled=1.0).urls == (OLD, NEWS)
    with pytest.raises(InputError, match="no page"):
        log_of_tape(TapeBuilder("nothing", "url").finish(start=0.0, end=1.0), HOUR)


def test_a_tape_in_a_folder_is_a_log_like_any_other(tmp_path: Path) -> None:
    save(small_tape(), tmp_path / "tape")
    assert (
        read_change_log(tmp_path / "tape", cycle="1h").changed.tolist()
        == log_of_tape(small_tape(), HOUR).changed.tolist()
    )


def test_a_stays_table_is_a_discovery_log(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text(
        "url,target,first_time,last_time\n"
        "h,a,2022-01-01T00:00:00Z,2022-01-01T03:00:00Z\nh,b,2022-01-01T02:00:00Z,2022-01-01T02:00:00Z\n"
        "i,a,2022-01-01T01:00:00Z,2022-01-01T05:00:00Z\nh,a,2022-01-01T05:00:00Z,2022-01-01T05:00:00Z\n"
    )
    log = read_change_log(path, cycle="1h")
    assert log.urls == ("h", "i")
    assert np.argwhere(log.changed).tolist() == [[0, 2], [1, 1]]  # a is not new to h when it comes back in hour 5
    assert log.documents is not None
    assert log.documents.first.tolist() == [0, 2, 1, 5]
    assert log.documents.last.tolist() == [3, 2, 5, 5]


def test_a_capture_index_is_a_change_log(tmp_path: Path) -> None:
    path = tmp_path / "captures.cdx"
    rows = [("20220101000000", "AAAA"), ("20220102000000", "AAAA"), ("20220103000000", "BBBB")]
    line = "example,paper)/ {} https://paper.example/ text/html 200 {} 100"
    path.write_text("".join(line.format(*row) + "\n" for row in rows))
    log = read_change_log(path, cycle="1d")
    assert log.changed.tolist() == [[False, False, True]]


def test_the_usual_cycle_follows_the_rhythm_of_the_rows_and_stays_within_bounds() -> None:
    hourly = np.arange(100) * HOUR
    assert usual_length(hourly, np.zeros(100), 1) == HOUR
    assert usual_length(hourly * 24, np.zeros(100), 1) == 24 * HOUR
    year = np.arange(8760) * HOUR
    assert usual_length(year, np.zeros(8760), 130) == HOUR
    assert usual_length(year, np.zeros(8760), 15_000) == 8 * HOUR  # 131 million cells by the hour, 16 million so
    assert usual_length(np.arange(12_000) * HOUR, np.zeros(12_000), 1) == 8 * HOUR  # 12,000 cycles are too many


def test_time_is_cut_by_share_cycle_or_date() -> None:
    log = ChangeLog(np.zeros((3, 10), dtype=bool), start=1_640_995_200.0, cycle=86_400.0)  # from 2022-01-01 on
    assert [cut_log(log, text, "--from") for text in ("50%", "0.3", "4", "2022-01-08")] == [5, 3, 4, 7]
    for wrong, complaint in (
        ("soon", "give a share"),
        ("2023-01-01", "outside"),
        ("100%", "outside"),
        ("10", "outside"),
    ):
        with pytest.raises(InputError, match=complaint):
            cut_log(log, wrong, "--from")
    with pytest.raises(InputError, match="knows no times"):
        cut_log(ChangeLog(log.changed), "2022-01-08", "--from")


def test_a_span_is_a_log_of_its_own() -> None:
    tape_log = log_of_tape(small_tape(), HOUR)
    later = tape_log.span(2, 7)
    assert later.start == 2 * HOUR
    assert np.argwhere(later.changed).tolist() == [[1, 1]]  # the hub's change falls into its first cycle
    assert later.documents is not None
    assert sorted(later.documents.first.tolist()) == [-2, 0]  # what was there before is not new
    earlier = tape_log.span(0, 2)
    assert earlier.documents is not None
    assert earlier.documents.first.tolist() == [0]


def test_a_budget_is_a_share_or_a_number_of_pages() -> None:
    log = ChangeLog(np.zeros((130, 4), dtype=bool))
    assert [per_cycle(text, log) for text in ("5%", "0.05", "6", "1", "100%")] == [0.05, 0.05, 6 / 130, 1 / 130, 1.0]
    for wrong, advice in (("200", "of the 130 pages"), ("1.5", "whole number"), ("0", "a share"), ("nan", "a share")):
        with pytest.raises(InputError, match=f"--k {wrong}: .*{advice}"):
            per_cycle(wrong, log)
