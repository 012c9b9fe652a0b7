"""Hub or article."""

import pytest

from forager.pages.head import Head, PageTree
from forager.pages.kinds import kind_of
from forager.pages.links import PageLinks
from forager.pages.text import main_text
from forager.terms import Kind, Url

SITE = "https://gazette.example"
PROSE = (
    "<p>" + "The council said on Monday that a new bridge over the river would open next year after long talks. " * 3
)
TEASERS = "".join(
    f"<h3><a href=/news/2024/05/0{n}/s{n}>Council votes for bridge number {n} at last</a></h3><p>Short."
    for n in range(1, 10)
)
LONG = "".join(PROSE.replace("Monday", f"Monday {number}") for number in range(6))
ARTICLE = f"<main><article><h1>Bridge</h1>{LONG}</article></main>"
SECTION = f"<main>{TEASERS}</main>"
NEWS_ARTICLE = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
COLLECTION = (
    '<script type="application/ld+json">{"@type":"CollectionPage","hasPart":[{"@type":"NewsArticle"}]}</script>'
)
OG_ARTICLE = '<meta property="og:type" content="article">'
OG_WEBSITE = '<meta property="og:type" content="website">'


def kind(path: str, markup: str) -> Kind:
    tree, url = PageTree(markup), Url(SITE + path)
    head = Head(tree, url)
    return kind_of(head, PageLinks(head).all, lambda: main_text(tree))


@pytest.mark.parametrize(
    ("path", "markup"),
    [
        ("/news/2024/05/01/bridge-opens", NEWS_ARTICLE + ARTICLE),
        (
            "/story/4179",
            NEWS_ARTICLE + "<nav><a href=/usa>usa</a></nav><article><h1>Split</h1><p>Paid in April.</article>",
        ),
        ("/news/2024/05/01/bridge-opens", ARTICLE),
        ("/a/12345678.html", ARTICLE),
        ("/bridge", OG_ARTICLE + ARTICLE),
        ("/story.php?id=5", ARTICLE),
        ("/news/bridge-opens-after-long-talks", OG_WEBSITE + ARTICLE + f"<aside>{TEASERS}</aside>"),
        ("/news/2024/05/01/video-of-the-bridge", NEWS_ARTICLE + "<main><video></video></main>"),
        ("/blog/an-open-bridge", "<h1>Bridge</h1><p>It is open."),
        ("/news/%D8%A8%D8%B9-%D8%A8%D8%B9-%D8%A8%D8%B9-%D8%A8%D8%B9", ARTICLE),
    ],
)
def test_one_long_text_is_an_article(path: str, markup: str) -> None:
    assert kind(path, markup) is Kind.ARTICLE


@pytest.mark.parametrize(
    ("path", "markup"),
    [
        ("/", SECTION),
        ("/", OG_ARTICLE + ARTICLE),
        ("/index.html", SECTION),
        ("/sport/", OG_WEBSITE + SECTION),
        ("/news/world", SECTION),
        ("/news/world", COLLECTION + SECTION),
        ("/2024/05/01/", SECTION),
        ("/news/world", OG_ARTICLE + SECTION),
        ("/author/ann-van-lee", f"<article><h2><a href=/s>The bridge is open</a></h2>{PROSE}</article>"),
        ("/search?q=bridge", "<form></form>"),
        ("/empty", ""),
    ],
)
def test_a_list_of_headlines_is_a_hub(path: str, markup: str) -> None:
    assert kind(path, markup) is Kind.HUB
