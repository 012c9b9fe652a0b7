"""Keys of URLs in indexes; the expected ones are those of the tools that web archives use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.warc.index import surt

KEYS = {
    "http://www.Example.com/Foo/": "com,example)/foo",
    "https://www2.example.com:443/a?b=2&a=1": "com,example)/a?a=1&b=2",
    "http://127.0.0.1:8080/x": "1,0,0,127:8080)/x",
    "http://example.com:8080/": "com,example:8080)/",
    "http://example.com/?": "com,example)/",
    "http://example.com/a?x&y=": "com,example)/a?x&y=",
    "http://example.com/a//b/": "com,example)/a/b",
    "http://example.com/%7Efoo": "com,example)/~foo",
    "http://[::1]:80/a": "::1)/a",
    "https://a.b.co.uk/a?jsessionid=ABCDEF0123456789ABCDEF0123456789": "uk,co,b,a)/a",
    "http://www.example.com": "com,example)/",
    "http://example.com/a?A=B&a=C#f": "com,example)/a?a=b&a=c",
    "http://user:pw@example.com/a": "com,example)/a",
    "http://example.com/a?q=a+b%20c": "com,example)/a?q=a+b%20c",
    "http://example.com./": "com,example)/",
    "http://sub.www.example.com/a/./b/../c": "com,example,www,sub)/a/c",
    "http://example.com/a?p=1&sid=0123456789abcdef0123456789abcdef": "com,example)/a?&p=1",
    "https://xn--bcher-kva.example/ü": "example,xn--bcher-kva)/%c3%bc",
}


@pytest.mark.parametrize("url", KEYS)
def test_a_key_is_what_other_tools_make_of_the_url(url: str) -> None:
    assert surt(url) == KEYS[url]


@given(st.text(max_size=60))
def test_whatever_is_no_url_still_has_a_key_without_blanks(text: str) -> None:
    assert not any(character.isspace() for character in surt(text))
    assert surt(f"http://example.com/{text}").startswith("com,example)/")
