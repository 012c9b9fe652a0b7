"""Canonical URLs, joining, hosts and sites."""

import pytest

from forager.pages.urls import LONGEST, Joiner, UrlMemo, canonical, host, site, url_words
from forager.terms import Url


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("HTTP://WWW.Example.COM/A", "http://www.example.com/A"),
        ("http://a.example:80/", "http://a.example/"),
        ("https://a.example:443/", "https://a.example/"),
        ("https://a.example:8443/", "https://a.example:8443/"),
        ("http://a.example", "http://a.example/"),
        ("http://a.example/x/../y/./z", "http://a.example/y/z"),
        ("http://a.example/%7euser/%e4%2f", "http://a.example/~user/%E4%2F"),
        ("http://a.example/100%", "http://a.example/100%25"),
        ("http://a.example/%%34%31", "http://a.example/%2541"),
        ("http://münchen.de/ä", "http://xn--mnchen-3ya.de/%C3%A4"),
        ("http://a.example./x", "http://a.example/x"),
        ("  http://a.example/x\n", "http://a.example/x"),
        ("http://a.example/?", "http://a.example/"),
        ("http://a.example/?b=2&a=1", "http://a.example/?a=1&b=2"),
        ("http://a.example/?b=2&a=1&b=1", "http://a.example/?a=1&b=2&b=1"),
        ("http://a.example/x#part", "http://a.example/x"),
        ("http://a.example/#!/x", "http://a.example/"),
        ("http://user:secret@a.example/x", "http://a.example/x"),
        ("http://bank.example@evil.example/", "http://evil.example/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
    ],
)
def test_a_url_has_one_spelling(raw: str, expected: str) -> None:
    assert canonical(raw) == expected


@pytest.mark.parametrize(
    "query",
    [
        "utm_source=rss&UTM_Medium=x",
        "fbclid=1",
        "gclid=1&msclkid=2",
        "PHPSESSID=abc",
        "jsessionid=1",
        "xtor=RSS-1",
        "sid=0123456789abcdef0123456789abcdef",
        "&&",
    ],
)
def test_parameters_that_only_track_or_hold_a_session_are_removed(query: str) -> None:
    assert canonical(f"http://a.example/x?{query}") == "http://a.example/x"
    assert canonical(f"http://a.example/x?{query}&id=7") == "http://a.example/x?id=7"


def test_a_short_sid_is_kept_because_it_names_a_story_on_some_sites() -> None:
    assert canonical("http://a.example/article.php?sid=4711") == "http://a.example/article.php?sid=4711"


def test_a_session_in_the_path_is_removed() -> None:
    assert canonical("http://a.example/x;jsessionid=0A1B?y=1") == "http://a.example/x?y=1"
    assert canonical("http://a.example/a/..;jsessionid=1/b") == "http://a.example/b"


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "x",
        "/x",
        "mailto:a@b.example",
        "javascript:void(0)",
        "data:text/html,x",
        "ftp://a.example/",
        "http://",
        "tel:1",
        "http://a b/",
        "http://[::1",
        "http://a..example/",
        "http://./",
        "http://.:8000/",
        "http://1.2.3.4.5/",
        "\ud800",
        "http://a.example/\ud800",
    ],
)
def test_what_is_no_http_url_is_none(raw: str) -> None:
    assert canonical(raw) is None


def test_a_url_longer_than_the_limit_is_none() -> None:
    root = "http://a.example/"
    assert canonical(root + "x" * (LONGEST - len(root))) is not None
    assert canonical(root + "x" * (LONGEST - len(root) + 1)) is None
    assert canonical(root + "ä" * (LONGEST // 3)) is None  # six characters each when percent-encoded


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("story.html", "https://a.example/news/story.html"),
        ("../sport/", "https://a.example/sport/"),
        ("/top", "https://a.example/top"),
        ("//b.example/x", "https://b.example/x"),
        ("?page=2", "https://a.example/news/today?page=2"),
        ("", "https://a.example/news/today"),
        ("#top", "https://a.example/news/today"),
        ("http://c.example/", "http://c.example/"),
        ("mailto:x@a.example", None),
    ],
)
def test_hrefs_are_joined_to_their_page(href: str, expected: str | None) -> None:
    base = "https://a.example/news/today"
    assert canonical(href, base) == expected
    assert Joiner(base).join(href) == expected


def test_a_shared_memo_keeps_relative_hrefs_of_different_pages_apart() -> None:
    memo = UrlMemo()
    here, there = Joiner("https://a.example/x/", memo), Joiner("https://a.example/y/", memo)
    assert (here.join("1.html"), there.join("1.html")) == ("https://a.example/x/1.html", "https://a.example/y/1.html")
    assert (here.join("?p=1"), there.join("?p=1")) == ("https://a.example/x/?p=1", "https://a.example/y/?p=1")


def test_a_name_on_a_page_at_the_top_of_a_site_means_something_else_in_a_folder() -> None:
    memo = UrlMemo()
    for page, expected in {
        "https://a.example/": "https://a.example/1.html",
        "https://a.example/x/": "https://a.example/x/1.html",
        "https://a.example": "https://a.example/1.html",
    }.items():
        assert Joiner(page, memo).join("1.html") == expected


@pytest.mark.parametrize("base", [r"http:\\a.example\x", "http:a.example/x", "HTTP://A.example/x", "http://a.example"])
def test_a_shared_memo_knows_bases_that_are_written_oddly(base: str) -> None:
    memo = UrlMemo()
    assert Joiner(r"http:\\b.example\x", memo).join("/y") == "http://b.example/y"
    assert Joiner(base, memo).join("/y") == "http://a.example/y"


def test_a_shared_memo_keeps_the_same_path_on_different_origins_apart() -> None:
    memo = UrlMemo()
    pages = ["https://a.example/", "http://a.example/", "https://a.example:8443/", "https://b.example/"]
    joined = [Joiner(page, memo).join("/x") for page in pages]
    assert joined == [f"{page}x" for page in pages]
    assert [Joiner(page, memo).join("//c.example/") for page in pages[:2]] == [
        "https://c.example/",
        "http://c.example/",
    ]


def test_a_memo_never_holds_more_than_its_size() -> None:
    memo = UrlMemo(size=10)
    joiner = Joiner("https://a.example/", memo)
    for number in range(95):
        assert joiner.join(f"/{number}") == f"https://a.example/{number}"
        assert memo.entries <= 10
    assert repr(memo).startswith("<UrlMemo ")


def test_a_base_that_is_no_url_still_lets_absolute_hrefs_through() -> None:
    joiner = Joiner("nonsense")
    assert joiner.join("http://a.example/x") == "http://a.example/x"
    assert joiner.join("/x") is None


def test_the_host_keeps_its_port() -> None:
    assert host(Url("https://www.a.example:8443/x")) == "www.a.example:8443"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://news.spiegel.de:8080/", "spiegel.de"),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000"),
        ("http://localhost:8000/", "localhost:8000"),
        ("http://[::1]:9/", "[::1]:9"),
        ("http://someone.blogspot.com/", "someone.blogspot.com"),
        ("https://news.blatt.xn--55qx5d.cn/", "blatt.xn--55qx5d.cn"),
        ("https://www.blatt.xn--p1ai/", "blatt.xn--p1ai"),
    ],
)
def test_the_site_is_the_registrable_domain(url: str, expected: str) -> None:
    assert site(Url(url)) == expected


def test_the_words_of_a_path_are_lower_case_and_without_numbers_and_extension() -> None:
    url = Url("https://x.example/News/2024/Big-storm_hits%20the-K%C3%BCste.html?q=ignored")
    assert url_words(url) == ["news", "big", "storm", "hits", "the", "küste"]
