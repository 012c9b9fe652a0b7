"""What must hold of canonical URLs whatever the text."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from forager.pages.urls import LONGEST, Joiner, UrlMemo, canonical, host, site, url_words

PIECES = (
    r"""a Z % %7e %2F %e4 %%34 .. . / // ? & = # ; sid=1 ;jsessionid=4 utm_source=x b=2 b=1 ä \ : @ + | ' " [ ] { ^ `"""
)
HOSTS = ["a.example", "A.Example.", "xn--mnchen-3ya.de", "münchen.de", "127.0.0.1", "[::1]", "u:p@b.example"]

tails = st.lists(st.sampled_from([*PIECES.split(), " ", "\t", "\ud800"]), max_size=12).map("".join)
schemes, hosts, ports = (
    st.sampled_from(["http", "HTTPS"]),
    st.sampled_from(HOSTS),
    st.sampled_from(["", ":80", ":8080"]),
)
addresses = st.builds(lambda scheme, name, port, tail: f"{scheme}://{name}{port}/{tail}", schemes, hosts, ports, tails)


@given(addresses | st.text())
@example("http://a.example/x/..;jsessionid=1/y")
@example("http://a.example/%%34%31")
@example("http://a.example/.%2e;sid=1")
@example("http://a.example/?&=&")
@settings(max_examples=400, deadline=None)
def test_the_canonical_form_of_a_canonical_url_is_itself(text: str) -> None:
    url = canonical(text)
    if url is not None:
        assert canonical(url) == url
        assert url.startswith(("http://", "https://"))
        assert len(url) <= LONGEST
        assert "#" not in url
        assert url.isascii()


@given(addresses, st.lists(tails | addresses, max_size=6))
@settings(max_examples=200, deadline=None)
def test_joining_with_a_memo_shared_by_pages_is_the_same_as_without(base: str, hrefs: list[str]) -> None:
    memo = UrlMemo(size=5)
    for page in (base, "http://a.example/other/page?x=1", base):
        joiner = Joiner(page, memo)
        for href in [*hrefs, *hrefs]:
            assert joiner.join(href) == canonical(href, page)


@given(addresses)
@settings(max_examples=200, deadline=None)
def test_every_canonical_url_has_a_host_that_ends_in_its_site(text: str) -> None:
    url = canonical(text)
    if url is not None:
        assert host(url) and host(url).partition(":")[0].endswith(site(url).partition(":")[0])
        assert all(word == word.lower() for word in url_words(url))
