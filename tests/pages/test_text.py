"""The main text of a page."""

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from forager.pages.text import main_text

FIRST = "The council voted on Monday, after a long debate, to build a bridge over the river near the old mill."
SECOND = "Work begins in spring. The mayor said the bridge would cost nine million, most of it paid by the region."
THIRD = "Residents of the quarter, who have asked for a crossing since 1987, welcomed the decision of the council."
STORY = "\n".join((FIRST, SECOND, THIRD))


def text_of(body: str) -> str:
    return main_text(LexborHTMLParser(f"<html><body>{body}</body></html>"))


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


def test_a_page_of_links_has_no_main_text() -> None:
    links = "".join(f"<li><a href=/{number}>Headline number {number}</a></li>" for number in range(50))
    assert text_of(f"<ul>{links}</ul>") == ""
    assert main_text(LexborHTMLParser("")) == ""


def test_teasers_in_links_do_not_outvote_the_story() -> None:
    cards = "".join(f"<a href=/{n}><p>{SECOND} Read on, dear reader, in part {n}.</p></a>" for n in range(9))
    assert text_of(f"<div>{paragraphs(FIRST, SECOND, THIRD)}</div><div>{cards}</div>") == STORY


def test_a_clock_and_an_advertisement_do_not_change_the_text() -> None:
    def page(clock: str, advert: str) -> str:
        return f"<div><time>{clock}</time><div class=ad-slot>{advert}</div>{paragraphs(FIRST, SECOND, THIRD)}</div>"

    assert (
        text_of(page("10:20", "Shoes")) == text_of(page("10:21", "Hats, more hats, and all of them for sale.")) == STORY
    )


def test_reading_leaves_the_tree_as_it_was() -> None:
    tree = LexborHTMLParser(f"<nav>Home</nav><div>{paragraphs(FIRST, SECOND)}</div><footer>End</footer>")
    before = tree.html
    main_text(tree)
    assert tree.html == before


def test_nesting_without_end_is_survived() -> None:
    nested = "<div>some words that make up a paragraph, " * 20_000
    assert isinstance(text_of(nested), str)


@given(st.text(alphabet=st.sampled_from("<>/pdivaspn =\"'!-. abcé中"), max_size=400))
def test_no_markup_raises(markup: str) -> None:
    main_text(LexborHTMLParser(markup))
