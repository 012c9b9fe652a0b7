"""Reading never raises and always gives the same answer, whatever the bytes."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from forager.pages.page import Page
from forager.pages.urls import canonical
from forager.terms import Outcome, Response, Url

MARKUP = """
    <html> <head> <body> <div class=nav> <a href=/x> <a href=//[> </a> <p> <table> <td> </table> <b> <!-- --> <![CDATA[
    <script> </script> <title> <link rel=canonical href=?> <base href=http://[> <meta charset=utf-16> <math><mi>
    <time datetime=x> <rss> <?xml <?xml?> <feed> <urlset> <loc> </loc> <item> <svg> <template> <select> <img alt=>
    &amp; &#0; &#xD800; text < > " ' {"version":"https://jsonfeed.org/version/1" <!DOCTYPE
"""

pieces = st.sampled_from(
    [piece.encode() for piece in MARKUP.split()] + [b"\0", b"\xff", b"\xc3", b"\x1f\x8b", b"\xef\xbb\xbf", b"\x1b$B"]
)
bodies = (
    st.binary(max_size=200) | st.lists(pieces, max_size=25).map(b" ".join) | st.lists(pieces, max_size=25).map(b"".join)
)
types = st.sampled_from(
    ["text/html", "text/html; charset=shift_jis", "application/xml", "application/rss+xml", "", "image/png", "\0;;="]
)


def answers(response: Response) -> tuple[object, ...]:
    seen: Page = Page(response)
    said = (seen.kind, seen.title, seen.canonical, seen.lang, seen.links, seen.published, seen.modified, seen.text)
    return (*said, seen.byte_print, seen.text_print, seen.simhash, seen.robots, seen.trouble, repr(seen))


@given(bodies, types)
@example(b"<!DOCTYPE [<!ENTITY", "application/xml")
@example(b"<html><template><a href=/x>", "text/html")
@example(b"\x1f\x8b\x08", "text/html")
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read_without_an_exception_and_twice_the_same(body: bytes, content_type: str) -> None:
    headers = (("content-type", content_type), ("last-modified", "nonsense"))
    response = Response(Url("https://a.example/x/y"), Outcome.FETCHED, 1.7e9, headers=headers, body=body)
    assert answers(response) == answers(response)


@given(bodies)
@settings(max_examples=100, deadline=None)
def test_every_link_is_canonical_and_listed_once(body: bytes) -> None:
    headers = (("content-type", "text/html"),)
    links = Page(Response(Url("https://a.example/x/y"), Outcome.FETCHED, 1.7e9, headers=headers, body=body)).links
    assert all(canonical(link.url) == link.url for link in links)
    assert len({link.url for link in links}) == len(links)
