"""Real recordings by other tools (wget, wpull, a browser recorder) and their indices are read as their makers meant."""

from pathlib import Path

import corpora
import pytest

from forager.importers.files import Imported, import_files
from forager.importers.streams import sources
from forager.pages.urls import canonical
from forager.tape.tape import Tape
from forager.terms import Url


@pytest.fixture(scope="module")
def samples() -> Path:
    return corpora.have(corpora.archive_samples)


def imported(path: Path) -> Imported:
    return import_files(sources([str(path)]), origin="t")


def first_times(tape: Tape) -> dict[str, float]:
    """When each page that has a version was first seen."""
    first, after = tape.version_start[:-1], tape.version_start[1:]
    return {url: float(tape.time[at]) for url, at, end in zip(tape.urls(), first, after, strict=True) if at < end}


def pages_by_warcio(path: Path) -> set[Url | None]:
    """The addresses that answered 200 or were seen again, as the reference reader has them."""
    iterating = pytest.importorskip("warcio.archiveiterator")
    shown = set()
    with path.open("rb") as file:
        for record in iterating.ArchiveIterator(file):
            url = record.rec_headers.get_header("WARC-Target-URI")
            if record.rec_type in ("response", "revisit") and record.http_headers.get_statuscode() == "200":
                shown.add(canonical(url))
    return shown


@pytest.mark.parametrize(
    "name", ["iana", "example", "example2", "example-wget-1-14", "example-wpull", "example-url-agnostic-orig"]
)
def test_every_page_of_a_recording_is_on_the_tape(samples: Path, name: str) -> None:
    path = samples / "warcs" / f"{name}.warc.gz"
    found = imported(path)
    assert set(first_times(found.tape)) == pages_by_warcio(path)
    assert not found.tally.broken


def test_what_repeats_a_body_of_another_file_is_found_in_any_order(samples: Path) -> None:
    """`dupes` is read before `iana`, whose pages and files its eight revisits repeat."""
    found = imported(samples / "warcs")
    assert "repeats an unknown capture" not in found.tally.broken


def test_both_forms_of_an_index_and_its_recording_agree(samples: Path) -> None:
    plain, json = imported(samples / "cdx" / "iana.cdx"), imported(samples / "cdxj" / "iana.cdxj")
    assert first_times(plain.tape) == first_times(json.tape)
    recorded = first_times(imported(samples / "warcs" / "iana.warc.gz").tape)
    assert set(first_times(plain.tape)) == set(recorded)


@pytest.mark.parametrize("form", ["arc", "arc.gz"])
def test_an_arc_file_shows_its_page(samples: Path, form: str) -> None:
    found = imported(samples / "warcs" / f"example.{form}")
    assert first_times(found.tape) == {"http://example.com/": 1392526941}  # 2014-02-16 05:02:21 UTC
