"""Whatever a page says, in whatever field, no output becomes a program: spreadsheets, browsers, terminals, feeds."""

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import forager
from forager.cli.log import CrawlLog
from forager.cli.options import print_result
from forager.events import AskedToWait, Fetched, Told
from forager.output.fields import FIELDS, Row, encodable
from forager.output.outlet import Mode
from forager.output.writers import writer_for
from forager.terms import Channel, ForagerId, Kind, Outcome, Trouble, Url, UrlId
from tests.output.press import HOSTILE
from tests.output.test_output_formats import FORMULA, rows_of

TEXTS = [name for name in FIELDS if name not in ("number", "delay", "forager", "version")]


async def hostile_rows(text: str) -> list[Row]:
    """Stories each of which has the text in one field, and one with it in all of them."""
    (kind,) = await rows_of(("Kind title",))
    text = encodable(text)  # as every row is made
    one_each = [kind | {"number": place, name: text} for place, name in enumerate(TEXTS)]
    return [*one_each, kind | dict.fromkeys(TEXTS, text) | {"number": len(TEXTS)}]


def write(path: Path, rows: list[Row]) -> None:
    writer = writer_for(path, Mode.REPLACE, newest=1000)
    writer.open()
    writer.write(rows)
    writer.close()


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_field_becomes_a_formula_in_a_spreadsheet(tmp_path: Path, text: str) -> None:
    write(tmp_path / "s.csv", await hostile_rows(text))
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        _, *table = list(csv.reader(file, strict=True))
    assert len(table) == len(TEXTS) + 1
    assert not any(cell.lstrip(" \ufeff").startswith(FORMULA) for cells in table for cell in cells)


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_field_becomes_markup_in_a_feed(tmp_path: Path, text: str) -> None:
    write(tmp_path / "s.xml", [row | {"published": None} for row in await hostile_rows(text)])
    tree = ElementTree.parse(tmp_path / "s.xml")
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert "script" not in tags
    assert all(not name.lower().startswith("on") for element in tree.iter() for name in element.attrib)


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd"]
)
def test_no_address_that_a_page_gives_is_a_script_or_a_file(address: str) -> None:
    """Addresses become links in feeds, reports and the dashboard."""
    html = f"""<html><head><link rel=canonical href="{address}"><base href="{address}"></head>
    <body><a href="{address}">x</a><a href="/y">y</a></body></html>"""
    page = forager.read(html.encode(), "http://a.example/")
    given = [*(link.url for link in page.links), *filter(None, [page.canonical])]
    assert all(one.startswith("http://a.example/") for one in given)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("json", [False, True])
def test_no_result_of_a_command_steers_the_terminal(text: str, json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """As that of `forager fetch`, which shows titles and headers, and of `forager robots`, which shows lines of the file."""
    print_result({"title": text}, lambda: f"title  {text}\nrule   {text}", json=json)
    told = capsys.readouterr().out
    assert "rule" in told or json
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_field_of_an_event_steers_the_terminal(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    log, url = CrawlLog(verbose=True), Url(f"http://a.example/{text}")
    log(Told(0.0, UrlId(1), url, "a.example", text, 0.0, "meta", 1.0, Channel.LINK, ForagerId(1)))
    log(Fetched(0.0, UrlId(1), url, ForagerId(1), Outcome.FAILED, 0, Trouble.DNS, text, 0.0, 0, Kind.OTHER, False, 0))
    log(AskedToWait(0.0, f"a.example{text}", 10.0, "it answered with status 429"))
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 3
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told)
