"""Markup that is cheap to send and dear to read is cut."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from forager.pages.markup import within_depth

MANY = 200_000
HOSTILE = {
    "div": "<div>" * MANY,
    "div and back": "<div>" * MANY + "</div>" * MANY,
    "div with stray end tags": "<div></x>" * MANY,
    "div with an end tag in quotes": '<div title="</div>">' * MANY,
    "div with a bracket and an end tag in quotes": "<div title='></div>'>" * MANY,
    "div with an end tag in a script": "<div><SCRIPT></div></SCRIPT>" * MANY,
    "list": "<ul><li>" * MANY,
    "table": "<table><tr><td>" * MANY,
    "link in block": "<a href=x><div>" * MANY,
    "link": "<a href=x>" * MANY,
    "bold": "<b>" * MANY,
    "fonts in a small page": "<p>" + "".join(f"<font color={number}>" for number in range(1000)) + "<p>x" * 1000,
    "attributes": "<a " + " ".join(f"a{number}=1" for number in range(MANY)) + ">",
    "attributes, never closed": "<a " + " ".join(f"a{number}" for number in range(MANY)),
    "attributes with brackets": "<a " + " ".join(f'a{number}=">"' for number in range(MANY)) + ">",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_cut_before_it_costs_much(name: str) -> None:
    body = b"<title>t</title>" + HOSTILE[name].encode()
    kept = within_depth(body, 512)
    assert body.startswith(kept)
    assert b"<title>t</title>" in kept
    assert len(kept) < 20_000
    LexborHTMLParser(kept)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<",
        b"<a",
        b"<div>" * 500 + b"</div>" * 500,
        b"<p>paragraph" * 20_000,
        b"<ul>" + b"<li>item" * 20_000,
        b"<div><span>never closed</div>" * 10_000,
        b"<p><b>never closed<p>" * 10_000,
        b"<div><img src=x><br></div>" * 10_000,
        b"<script>" + b"if (a<b) x = '<div>';" * 10_000 + b"</script><p>x",
        b"<!-- " + b"<div>" * 10_000 + b"--><p>x",
        b'<a href="' + b"x" * 1_000_000 + b'">t</a>',
        b"<p title=it's>don't</p>" * 10_000,
    ],
)
def test_long_but_honest_markup_is_handed_on_whole(body: bytes) -> None:
    assert within_depth(body, 512) == body


def test_a_page_is_cut_where_it_goes_too_deep() -> None:
    deep = b"<div>" * 5001
    assert within_depth(b"<p>kept</p>" + deep, 100) == b"<p>kept</p>" + b"<div>" * 100
