"""The site of real pages that the throughput bench serves leads nowhere else."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.bench import recorded_site

PAGE = b"""<base href="https://elsewhere.example/"><link rel="canonical" href="https://elsewhere.example/story">
<a class=big href="https://elsewhere.example/one">1</a><A HREF='/two'>2</A><a href=three.html>3</a>
<a title="a > b" href="//elsewhere.example/four">4</a><a href="mailto:us@elsewhere.example">5</a><a name="six">6</a>"""
BROKEN = b"""<a title="odd"quote" href="https://elsewhere.example/one">1</a>"""


def test_links_of_recorded_pages_lead_to_recorded_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_site, "articles", lambda: [("", "", PAGE), ("", "", BROKEN)])
    monkeypatch.setattr(recorded_site, "lists", lambda: [("", "", PAGE)])
    documents = dict(recorded_site.recorded_documents())
    assert len(documents) == 3, "the start page and two pages; of the broken one no link can be told"
    targets = [node.attributes["href"] for body in documents.values() for node in LexborHTMLParser(body).css("[href]")]
    assert len(targets) == 2 + 2 * 5, "five links on each page; no base, nothing canonical"
    assert set(targets) <= {*documents, "#"}
