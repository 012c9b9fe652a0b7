"""The main text of a page."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.pages.head import Head, PageTree
from forager.pages.text import main_text, story_text
from forager.terms import Url

FIRST = "The council voted on Monday, after a long debate, to build a bridge over the river near the old mill."
SECOND = "Work begins in spring. The mayor said the bridge would cost nine million, most of it paid by the region."
THIRD = "Residents of the quarter, who have asked for a crossing since 1987, welcomed the decision of the council."
STORY = "\n".join((FIRST, SECOND, THIRD))


def text_of(body: str) -> str:
    return main_text(PageTree(f"<html><body>{body}</body></html>"))


def paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def test_the_story_is_kept_and_the_furniture_dropped() -> None:
    body = f"""
    <header><nav><a href=/>Home</a> <a href=/politics>Politics</a></nav>
      <div class="clock">Monday, 14 March, 10:20</div></header>
    <div id="cookie-consent"><p>We use cookies to make this site better, safer and faster, please agree.</p></div>
    <main><article><h1>A bridge at last</h1><div class="byline">By Jane Doe</div>
      <div class="share-bar"><p>Share this story with friends, family, colleagues and whoever else may care.</p></div>
      <div class="body">{paragraphs(FIRST)}
      <div class="advert"><p>Buy two, get one free, only today, in all our shops.</p></div>
      {paragraphs(SECOND, THIRD)}</div></article>
      <div class="related"><p>Related: the mill, the river, and why the ferry was given up in the year 1970.</p></div>
      <section id="comments"><p>I have said it for years, and nobody, wanted to listen to me!</p></section></main>
    <footer><p>Copyright 2022 The Gazette, all rights reserved, no reproduction without permission.</p></footer>"""
    assert text_of(body) == STORY


def test_paragraphs_in_wrappers_of_their_own_are_all_found() -> None:
    body = "".join(f"<div class=chunk><div>{paragraphs(text)}</div></div>" for text in (FIRST, SECOND, THIRD))
    assert text_of(f"<div class=page><div class=article>{body}</div></div>") == STORY


def test_text_between_line_breaks_is_read_as_paragraphs() -> None:
    assert text_of(f"<div>{FIRST}<br><br>{SECOND}<br>{THIRD}</div>") == STORY


def test_text_in_spans_is_found_when_there_are_no_paragraphs() -> None:
    body = "".join(f"<div><span>{text}</span></div>" for text in (FIRST, SECOND, THIRD))
    assert text_of(f"<div>{body}</div>") == STORY


def test_words_are_not_torn_by_inline_elements_nor_glued_by_blocks() -> None:
    body = f"<div><p>The co<b>unc</b>il voted <i>yes</i>, at last, on Monday.</p>{paragraphs(SECOND, THIRD)}</div>"
    assert text_of(body).splitlines()[0] == "The council voted yes, at last, on Monday."


def test_a_line_of_links_is_left_out_but_a_link_in_a_sentence_stays() -> None:
    linked = SECOND.replace("the bridge", "<a href=/b>the bridge</a>")
    navigation = "<p><a href=/x>Read also: what the ferry cost us</a></p>"
    assert text_of(f"<div>{paragraphs(FIRST, linked)}{navigation}{paragraphs(THIRD)}</div>") == STORY


def test_a_story_inside_an_element_with_a_suspicious_name_is_still_found() -> None:
    assert text_of(f'<div class="content-with-sidebar-widget">{paragraphs(FIRST, SECOND, THIRD)}</div>') == STORY


LONGER = tuple(f"{text} That was part {number}." for number in range(6) for text in (FIRST, SECOND, THIRD))


@pytest.mark.parametrize(
    "around",
    [
        '<form id="aspnetForm"><h1>A bridge</h1>{}</form>',
        '<div class="has-comments related-on"><h1>A bridge</h1>{}</div>',
        '<div class="teaser_blog_text"><div>{}</div></div>',
        "<noscript><div>{}</div></noscript>",
        '<div class="paywall">{}</div><p>Subscribe now, and read all of it, on all your devices, for one month.</p>',
    ],
)
def test_furniture_that_holds_the_prose_of_the_page_is_none(around: str) -> None:
    for texts in ((FIRST, SECOND, THIRD), LONGER):
        assert text_of(around.format(paragraphs(*texts))).startswith("\n".join(texts))


def test_a_row_of_teasers_is_furniture_however_long_it_is() -> None:
    teasers = "".join(f"<article><p>{text}</p></article>" for text in LONGER)
    body = f"<div>{paragraphs(FIRST, SECOND, THIRD)}</div><aside class=widget>{teasers}</aside>"
    assert text_of(body) == STORY


def test_a_notice_that_says_more_than_the_story_does_not_outvote_its_body() -> None:
    notice = "Your browser, which is old, tries to print this page, and that, as you may know, costs ink, paper, trees."
    body = f'<div class="entry-content">{paragraphs(FIRST, SECOND, THIRD)}</div><div>{paragraphs(notice, notice)}</div>'
    assert text_of(body) == STORY


def test_the_body_of_a_story_ends_where_its_element_ends() -> None:
    others = "".join(f"<div><p>{text}</p></div>" for text in (SECOND[:80], FIRST[:80]))
    body = f'<div><div class="article-body">{paragraphs(FIRST, SECOND, THIRD)}</div><div>{others}</div></div>'
    assert text_of(body) == STORY


def test_of_several_whole_stories_on_a_page_that_which_the_title_names_is_read() -> None:
    other = [
        f"The ferry, which leaves at {hour}, is full of people, goods, and news of the valley." for hour in range(9)
    ]
    stories = (("A bridge is built at the old mill", [FIRST, SECOND, THIRD]), ("The ferry is full again", other))
    body = "".join(f'<article class="story"><h2>{name}</h2>{paragraphs(*text)}</article>' for name, text in stories)
    markup = "<html><head><title>{} | The Gazette</title></head><body>" + body
    assert main_text(PageTree(markup.format("A bridge is built at the old mill"))) == STORY
    assert FIRST not in main_text(PageTree(markup.format("Today")))


def test_paragraphs_in_a_form_are_found_beside_a_menu_of_long_names() -> None:
    names = [f"Councils of the valley, towns and villages, part {number}" for number in range(9)]
    menu = "<table><tr>" + "".join(f"<td>{name}</td>" for name in names) + "</tr></table>"
    story = f"<div>{paragraphs(FIRST, SECOND, THIRD)}</div><div>{paragraphs(names[0] + ', asked for more time.')}</div>"
    assert STORY in text_of(f"<form>{menu}{story}</form>")


def test_the_row_of_a_table_is_a_line() -> None:
    row = "<tr><td>{}</td><td>19{}</td><td><b>{}</b></td></tr>"
    rows = "".join(row.format(name, year, year) for name, year in (("Mill bridge", 87), ("Ferry", 70)))
    found = text_of(f"<article>{paragraphs(FIRST)}<table>{rows}</table>{paragraphs(SECOND)}</article>")
    assert found == "\n".join((FIRST, "Mill bridge 1987 87", "Ferry 1970 70", SECOND))


def test_a_calendar_of_short_lines_is_left_whole() -> None:
    lines = [f"{number}. Lauf: {number}. Mai, Halle {number}" for number in range(1, 21)]
    assert text_of(f"<div><p>{'<br>'.join(lines)}</p><p>Das ist der ganze Kalender.</p></div>").startswith(lines[0])


def test_a_table_of_repeated_lines_keeps_its_repetitions() -> None:
    days = "".join(f"<p>Tag {day}</p><p>{FIRST}</p><p>{SECOND}</p>" for day in range(1, 8))
    assert text_of(f"<div>{days}</div>").count(FIRST) == 7


def test_the_stated_text_counts_where_the_page_hardly_shows_it() -> None:
    said = json.dumps({"@type": "NewsArticle", "articleBody": "\n".join(LONGER)})
    tree = PageTree(f'<script type="application/ld+json">{said}</script><p>{FIRST}</p>')
    assert story_text(Head(tree, Url("https://a.example/"))) == "\n".join(LONGER)
    tree = PageTree(f'<script type="application/ld+json">{said}</script><div>{paragraphs(*LONGER[:12])}</div>')
    assert story_text(Head(tree, Url("https://a.example/"))) == "\n".join(LONGER[:12])


def test_the_stated_text_counts_where_the_page_shows_more_of_something_else() -> None:
    said = json.dumps({"@type": "NewsArticle", "articleBody": f"<p>{FIRST}</p><p>{SECOND}</p><p>{THIRD}</p>"})
    notice = paragraphs(*["Our archive keeps copies of pages, old or lost, for everybody, and asks you for money."] * 9)
    tree = PageTree(f'<script type="application/ld+json">{said}</script>{notice}')
    assert story_text(Head(tree, Url("https://a.example/"))).split("\n") == [FIRST, SECOND, THIRD]


def test_a_page_of_links_has_no_main_text() -> None:
    links = "".join(f"<li><a href=/{number}>Headline number {number}</a></li>" for number in range(50))
    assert text_of(f"<ul>{links}</ul>") == ""
    assert main_text(PageTree("")) == ""


def test_teasers_in_links_do_not_outvote_the_story() -> None:
    cards = "".join(f"<a href=/{n}><p>{SECOND} Read on, dear reader, in part {n}.</p></a>" for n in range(9))
    assert text_of(f"<div>{paragraphs(FIRST, SECOND, THIRD)}</div><div>{cards}</div>") == STORY


def test_a_clock_and_an_advertisement_do_not_change_the_text() -> None:
    def page(clock: str, advert: str) -> str:
        return f"<div><time>{clock}</time><div class=ad-slot>{advert}</div>{paragraphs(FIRST, SECOND, THIRD)}</div>"

    assert (
        text_of(page("10:20", "Shoes")) == text_of(page("10:21", "Hats, more hats, and all of them for sale.")) == STORY
    )


def test_a_clock_and_a_slogan_are_no_text_of_a_page_that_has_none() -> None:
    clock = '<header><span class="clock">Monday 14 March 2022, 10:20:00</span></header>'
    links = "".join(f"<li><a href=/{number}>Headline number {number}</a></li>" for number in range(9))
    assert text_of(f"{clock}<aside><p>Fly to Bonn before Friday, for less.</p></aside><ul>{links}</ul>") == ""


def test_reading_leaves_the_tree_as_it_was() -> None:
    tree = PageTree(f"<nav>Home</nav><div>{paragraphs(FIRST, SECOND)}</div><footer>End</footer>")
    before = tree.html
    main_text(tree)
    assert tree.html == before


def test_nesting_without_end_is_survived() -> None:
    nested = "<div>some words that make up a paragraph, " * 20_000
    assert isinstance(text_of(nested), str)


@given(st.text(alphabet=st.sampled_from("<>/pdivaspn =\"'!-. abcé中"), max_size=400))
def test_no_markup_raises(markup: str) -> None:
    main_text(PageTree(markup))
