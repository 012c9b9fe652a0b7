"""What a stranger writes is read in a time that grows with its length, whatever stands in it.

Each of these once took minutes or longer: a page of so many bytes held the event loop of the whole crawl for that time.
"""

import gzip
import json
import time
from collections.abc import Callable

import pytest

from forager.pages.page import Page, load_slow_parts
from forager.pages.sitemaps import EVENT_CAP
from forager.terms import Outcome, Response, Url
from forager.web.robots import RobotsRules
from tests.fuzzing import TARGETS

LONGEST = 5.0
"""Seconds of processor time on a slow machine; all take less than half a second on a usual one."""


def linked_data(text: str) -> bytes:
    return f'\0<html><script type="application/ld+json">{text}</script><p>Text</p>'.encode()


def named_by_each_other(generations: int) -> str:
    """An author whose name are thirty others, whose names are thirty others …"""
    people = [{"@id": str(one), "name": [{"@id": str(one + 1)}] * 30} for one in range(generations)]
    return json.dumps([{"@type": "NewsArticle", "headline": "A", "author": {"@id": "0"}}, *people])


SLOW_ONCE: dict[str, tuple[str, bytes]] = {
    "names of JSON-LD": ("page", linked_data(named_by_each_other(8))),
    "blank lines in broken JSON": ("page", linked_data("{" + "\n" * 300_000)),
    "comments in broken JSON": ("page", linked_data("[//" * 100_000 + '"')),
    "headlines deep in a page": ("page", b"\0<!doctype html>" + b"<div>" * 500 + b"<h1></h1>" * 100_000),
    "annotations in each other": ("page", b"\0<!doctype html><body>" + b"<rt>" * 60_000),
    "options of a select": ("page", b"\0<!doctype html><body><select>" + b"<option>1</option>" * 22_000),
    "tags of a sitemap without end": (
        "sitemap",
        b"<urlset><url><loc>https://" + b"a<u8" * 100_000 + b"</loc></url></urlset>",
    ),
    "agents of robots.txt": ("robots", b"User-agent: a\n" * 36_000),
}


@pytest.mark.parametrize("what", SLOW_ONCE)
def test_no_reader_takes_long(what: str) -> None:
    load_slow_parts()
    name, raw = SLOW_ONCE[what]
    assert seconds(lambda: TARGETS[name](raw)) < LONGEST


def test_a_packed_sitemap_of_millions_of_elements_is_read_beside_the_loop_and_in_part() -> None:
    elements = b"<urlset><url><loc>/1</loc></url>" + b"<a/>" * (EVENT_CAP // 2) + b"<url><loc>/2</loc></url>"
    packed = gzip.compress(elements, 9)
    page = Page(Response(Url("https://a.example/sitemap.xml.gz"), Outcome.FETCHED, 1.7e9, body=packed))
    assert len(packed) < 10_000 and page.is_long
    assert page.targets == ("https://a.example/1",)


def test_rules_for_many_agents_are_kept_once() -> None:
    rules = RobotsRules.read(
        "".join(f"User-agent: a{number}\n" for number in range(10_000)) + "Disallow: /x\n" * 20_000
    )
    assert not rules.allows("https://a.example/x", "a17")
    assert rules.allows("https://a.example/x", "b")
    assert sum(len({id(group) for group in groups}) for groups in rules.groups.values()) == 10_000
    assert len({id(group) for groups in rules.groups.values() for group in groups}) == 1


def seconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before
