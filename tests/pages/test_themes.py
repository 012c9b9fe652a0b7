"""Archives and single posts as the themes of common systems write them: each told for what it is, without body classes."""

from dataclasses import dataclass

import pytest

from forager.pages.page import Page
from forager.terms import Kind, Outcome, Response, Url

SITE = "https://mountain.example"
NOW = 1_795_000_000.0
WORDS = [
    "council",
    "harbour",
    "road",
    "repairs",
    "spring",
    "farmers",
    "valley",
    "rain",
    "money",
    "bridge",
    "school",
    "mayor",
    "vote",
    "night",
    "storm",
    "train",
    "market",
    "hospital",
    "river",
    "lake",
    "museum",
    "festival",
    "police",
    "border",
    "winter",
    "budget",
    "library",
    "teacher",
    "tourists",
    "guide",
    "forest",
]


def sentence(seed: int, length: int) -> str:
    words = [WORDS[(seed * 7 + 3 * place * (1 + seed % 3)) % len(WORDS)] for place in range(length)]
    return " ".join(words).capitalize() + "."


def prose(seed: int, sentences: int) -> str:
    return " ".join(sentence(seed + part, 14) for part in range(sentences))


def headline(number: int) -> str:
    return sentence(3 * number + 1, 7).rstrip(".")


def address(number: int) -> str:
    return f"/{headline(number).lower().replace(' ', '-')}/"


@dataclass(frozen=True)
class Theme:
    """How a theme writes one entry of a list, the list, and a post; capitals stand for what differs."""

    name: str
    entry: str
    listing: str
    post: str

    def entries(self, *numbers: int) -> str:
        return "".join(
            self.entry.replace("HREF", address(n))
            .replace("HEADLINE", headline(n))
            .replace("EXCERPT", f"{prose(n, 4)} […]")
            .replace("STORY", story(n))
            .replace("DAY", f"2026-11-{n + 1:02d}")
            for n in numbers
        )


def story(seed: int) -> str:
    return "".join(f"<p>{prose(seed + 10 * part, 4)}</p>" for part in range(6))


THEMES = [
    Theme(
        "twenty twenty-three",
        """<li class="wp-block-post post type-post status-publish hentry"><figure><a href="HREF"></a></figure>
        <h2 class="wp-block-post-title"><a href="HREF" target="_self">HEADLINE</a></h2><div class="wp-block-post-excerpt">
        <p class="wp-block-post-excerpt__excerpt">EXCERPT</p></div><div class="wp-block-post-date">
        <time datetime="DAYT10:00:00+00:00">x</time></div></li>""",
        """<main class="wp-block-group"><h1 class="wp-block-query-title">Category: Sport</h1><div class="wp-block-query">
        <ul class="wp-block-post-template">ENTRIES</ul><nav class="wp-block-query-pagination">
        <a href="page/2/" class="wp-block-query-pagination-next">Next Page</a></nav></div></main>""",
        """<main><h1 class="wp-block-post-title">HEADLINE</h1><div class="entry-content wp-block-post-content">STORY</div>
        <div class="wp-block-comments"><p>Nice one, thank you for that story, dear all.</p></div></main>RELATED""",
    ),
    Theme(
        "twenty twenty-one",
        """<article class="post hentry entry"><header class="entry-header"><h2 class="entry-title default-max-width">
        <a href="HREF">HEADLINE</a></h2></header><div class="entry-content"><p>EXCERPT <a class="more-link" href="HREF">Continue
        reading</a></p></div><footer class="entry-footer"><span class="posted-on">Published
        <time class="entry-date published" datetime="DAY">x</time></span></footer></article>""",
        """<main id="main" class="site-main"><header class="page-header"><h1>Tag: <span>snow</span></h1></header>
        ENTRIES<nav class="navigation pagination"><a class="next" href="page/2/">Older</a></nav></main>""",
        """<main id="main"><article class="post hentry"><header><h1 class="entry-title">HEADLINE</h1></header>
        <div class="entry-content">STORY</div></article>RELATED</main>""",
    ),
    Theme(
        "genesis with whole posts",
        """<article class="entry"><header class="entry-header"><h2 class="entry-title"><a class="entry-title-link"
        rel="bookmark" href="HREF">HEADLINE</a></h2><p class="entry-meta"><time class="entry-time">x</time></p></header>
        <div class="entry-content">STORY</div></article>""",
        """<main class="content"><div class="archive-description"><h1 class="archive-title">Ann Lee</h1><p>Ann writes about
        snow.</p></div>ENTRIES<div class="pagination"><a href="page/2/">Next</a></div></main>""",
        """<main class="content"><article class="entry"><header><h1 class="entry-title">HEADLINE</h1></header>
        <div class="entry-content">STORY</div></article>RELATED</main>""",
    ),
    Theme(
        "blogspot",
        """<div class="date-outer"><h2 class="date-header"><span>Monday, 2 November 2026</span></h2><div class="post hentry">
        <h3 class="post-title entry-title"><a href="HREF">HEADLINE</a></h3><div class="post-body entry-content">EXCERPT
        <br><br>EXCERPT</div></div></div>""",
        """<div class="blog-posts hfeed">ENTRIES</div><div class="blog-pager">
        <a class="blog-pager-older-link" href="/search">Older</a></div>""",
        """<div class="blog-posts hfeed"><div class="post hentry"><h3 class="post-title entry-title">HEADLINE</h3>
        <div class="post-body entry-content">STORY</div></div></div>RELATED""",
    ),
    Theme(
        "ghost",
        """<article class="post-card post"><a class="post-card-image-link" href="HREF"><img src="/i.jpg" alt=""></a>
        <div class="post-card-content"><a class="post-card-content-link" href="HREF"><header><h2 class="post-card-title">
        HEADLINE</h2></header><div class="post-card-excerpt">EXCERPT</div></a></div></article>""",
        """<main class="site-main"><section class="post-card-large"><h1>Snow</h1></section>
        <div class="post-feed">ENTRIES</div></main>""",
        """<main class="site-main"><article class="article post"><header><h1 class="article-title">HEADLINE</h1></header>
        <section class="gh-content">STORY</section></article></main><aside class="read-more-wrap">RELATED</aside>""",
    ),
    Theme(
        "drupal",
        """<div class="views-row"><article class="node node--view-mode-teaser"><h2 class="node__title"><a href="HREF">
        <span>HEADLINE</span></a></h2><div class="node__content"><div class="field field--name-body"><p>EXCERPT</p></div>
        <ul class="links inline"><li><a href="HREF">Read more</a></li></ul></div></article></div>""",
        """<main><h1 class="page-title">Region</h1><div class="views-element-container">ENTRIES</div>
        <nav class="pager"><a rel="next" href="?page=1">Next</a></nav></main>""",
        """<main><h1 class="page-title"><span>HEADLINE</span></h1><article class="node node--view-mode-full">
        <div class="node__content"><div class="field field--name-body">STORY</div></div></article></main>
        <section>RELATED</section>""",
    ),
    Theme(
        "joomla",
        """<div class="item column-1"><div class="page-header"><h2><a href="HREF">HEADLINE</a></h2></div><p>EXCERPT</p>
        <p class="readmore"><a class="btn" href="HREF">Read more: HEADLINE</a></p></div>""",
        """<div class="blog" itemscope><div class="page-header"><h1>Village</h1></div>
        <div class="items-row">ENTRIES</div></div>""",
        """<div class="item-page"><div class="page-header"><h2>HEADLINE</h2></div>
        <div class="com-content-article__body">STORY</div></div>RELATED""",
    ),
    Theme(
        "typo3",
        """<div class="article articletype-0"><div class="header"><h3><a title="HEADLINE" href="HREF"><span>HEADLINE</span></a>
        </h3></div><div class="teaser-text"><p>EXCERPT <a class="more" href="HREF">More</a></p></div><div class="footer">
        <span class="news-list-date"><time datetime="DAY">02.11.2026</time></span></div></div>""",
        """<div class="news"><div class="news-list-view">ENTRIES</div></div>""",
        """<div class="news news-single"><div class="article"><div class="header"><h3>HEADLINE</h3></div>
        <div class="news-text-wrap">STORY</div></div></div>RELATED""",
    ),
    Theme(
        "no theme at all",
        """<div><a href="HREF"><b>HEADLINE</b></a><div>EXCERPT</div></div>""",
        """<div><h2>News</h2>ENTRIES</div>""",
        """<div><h2>HEADLINE</h2>STORY</div>RELATED""",
    ),
]


def page(path: str, title: str, body: str) -> Page:
    menu = "".join(f'<li><a href="/{word}/">{word.title()}</a></li>' for word in WORDS[:8])
    recent = "".join(f'<li><a href="{address(n)}">{headline(n)}</a></li>' for n in range(20, 25))
    head = f"<head><title>{title} – The Mountain Times</title></head>"
    aside = f"<aside><h2>Recent Posts</h2><ul>{recent}</ul></aside><footer><p>Proudly powered by itself.</p></footer>"
    html = f'<html lang="en">{head}<body><header><nav><ul>{menu}</ul></nav></header>{body}{aside}</body></html>'
    headers = (("content-type", "text/html"),)
    return Page(Response(Url(SITE + path), Outcome.FETCHED, NOW, status=200, headers=headers, body=html.encode()))


LISTS = [
    "/category/sport/",
    "/tag/snow/",
    "/author/ann/",
    "/2026/11/",
    "/sport/",
    "/?cat=3",
    "/news/all-the-news-of-our-valley/",
]
POSTS = [address(0), f"/2026/11/02{address(0)}", "/?p=1234", "/index.php/sport/1234-short"]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("path", LISTS)
def test_an_archive_is_a_list(theme: Theme, path: str) -> None:
    for count in (4, 10):
        listing = theme.listing.replace("ENTRIES", theme.entries(*range(count)))
        assert page(path, "Sport", listing).kind is Kind.HUB


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("path", POSTS)
def test_a_post_is_an_article_whatever_is_teased_below_it(theme: Theme, path: str) -> None:
    for count in (0, 3, 6):
        teasing = THEMES[1] if "STORY" in theme.entry else theme
        related = "<h2>Related</h2>" * bool(count) + teasing.entries(*range(1, count + 1))
        body = theme.post.replace("HEADLINE", headline(0)).replace("STORY", story(0)).replace("RELATED", related)
        seen = page(path, headline(0), body)
        assert seen.kind is Kind.ARTICLE
        assert seen.title == headline(0)
        assert seen.text.startswith(prose(0, 4))
        assert headline(2) not in seen.text
