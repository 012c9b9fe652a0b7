"""Focus: by query, by examples, and by a classifier that learns from the crawl what is off topic."""

from pathlib import Path

import numpy as np
import pytest

from forager.core.agent_settings import FocusSettings
from forager.core.focus import FIRST_FIT, Focus
from forager.errors import InputError
from forager.importers.texts import read_texts
from forager.terms import UrlId
from tests.virtual import crawl_newsroom

SPORT = ["goal", "match", "coach", "striker", "league", "referee", "keeper", "stadium"]
MONEY = ["bank", "bond", "profit", "loan", "investor", "market", "dividend", "tariff"]
PLAIN = ["the", "of", "and", "in", "a", "said", "today", "after", "week", "people"]


def text_of(words: list[str], number: int) -> str:
    rng = np.random.default_rng(number)
    return " ".join([*rng.choice(words, 12), *rng.choice(PLAIN, 40)])


def test_before_anything_is_read_a_query_counts_its_words() -> None:
    focus = Focus(FocusSettings(query="goal, match: Goal striker referee"))
    assert focus.rule == "query"
    assert focus.of("The striker saw the goal") == pytest.approx(2 / 4)  # four different words, two of them here
    assert focus.of("A bond is a loan") == 0.0
    assert focus.read(7, "The referee stopped the match")
    assert not focus.read(8, "The referee stopped")
    assert [focus.on_topic(version) for version in (7, 8, 9)] == [True, False, False]


def test_a_rare_word_of_the_query_counts_more_than_a_common_one() -> None:
    focus = Focus(FocusSettings(query="today goal"))
    for number in range(FIRST_FIT):
        focus.read(number, f"said today {MONEY[number % 8]}")
    # 25 texts: idf(today) = ln(26/26) + 1 = 1; goal stands in none and counts as the rarest word, one that is in three
    # of them (8 words in turn, so each in 3 or 4): ln(26/4) + 1 = 2.872
    assert focus.of("goal") == pytest.approx(2.872 / 3.872, abs=1e-3)
    assert focus.of("today") == pytest.approx(1 / 3.872, abs=1e-3)


def test_examples_are_compared_with_what_else_the_crawl_reads() -> None:
    focus = Focus(FocusSettings(), [text_of(SPORT, number) for number in range(8)])
    assert focus.rule == "cosine"
    for number in range(100, 100 + FIRST_FIT):
        focus.read(number, text_of(MONEY, number))
    assert (focus.rule, focus.fits) == ("classifier", 1)
    sport = [focus.read(number, text_of(SPORT, number)) for number in range(200, 220)]
    money = [focus.read(number, text_of(MONEY, number)) for number in range(220, 240)]
    assert (sum(sport), sum(money)) == (20, 0)


def test_documents_that_match_the_query_teach_the_other_words_of_the_topic() -> None:
    focus = Focus(FocusSettings(query="goal striker"))
    for number in range(FIRST_FIT * 2):
        focus.read(number, text_of(SPORT if number % 2 else MONEY, number))
    assert focus.rule == "classifier or query"
    assert focus.of("the coach and the referee in the stadium of the league") > 0.5
    assert focus.of("the bank and the investor after a dividend") < 0.5


def test_a_saved_focus_gives_the_same_verdicts() -> None:
    focus = Focus(FocusSettings(query="goal"), [text_of(SPORT, number) for number in range(8)])
    texts = [text_of(SPORT if number % 2 else MONEY, number) for number in range(90)]
    for number, text in enumerate(texts[:40]):
        focus.read(number, text)
    again = Focus.load(focus.save(), focus.settings)
    assert [again.on_topic(number) for number in range(40)] == [focus.on_topic(number) for number in range(40)]
    for number, text in enumerate(texts):
        assert again.of(text) == focus.of(text)
        assert again.read(number, text) == focus.read(number, text)
    assert again.fits == focus.fits
    with pytest.raises(InputError, match="start afresh"):
        Focus.load(b"no focus", focus.settings)


def test_examples_without_a_word_match_nothing_and_half_a_surrogate_pair_is_saved() -> None:
    focus = Focus(FocusSettings(query="bridge"), ["!!", "1 2"])
    assert not focus.read(0, "Rain in the valley \ud800")
    assert focus.read(1, "A bridge")
    again = Focus.load(focus.save(), focus.settings)
    assert [again.on_topic(version) for version in (0, 1)] == [False, True]


def test_examples_come_from_a_folder_or_from_lines_of_json(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("second")
    (tmp_path / "a.html").write_text(
        f"<title>T</title><body><article><p>{'first words of a page, ' * 20}</p></article>"
    )
    (tmp_path / "c.png").write_bytes(b"no text")
    first, second = read_texts(tmp_path)
    assert first.startswith("T\n")
    assert "first words" in first
    assert second == "second"
    lines = tmp_path / "stories.jsonl"
    lines.write_text('{"url": "http://a/", "title": "One", "text": "a b"}\n\n{"text": ""}\n')
    assert list(read_texts(lines)) == ["One\na b"]
    lines.write_text('{"text": "a b"}\nnot json\n')
    with pytest.raises(InputError, match=r"stories\.jsonl:2"):
        list(read_texts(lines))
    with pytest.raises(InputError, match="no such file"):
        list(read_texts(tmp_path / "nothing"))


def test_a_focused_crawl_tells_mostly_stories_of_its_topic() -> None:
    query = "bill vote senate coalition ballot budget amendment cabinet"  # some of the words of its politics pages
    crawled = crawl_newsroom(8, "newsroom.pace=1", f"focus.query={query}")
    sections = {story.url: story.section for story in crawled.newsroom.truth.stories}
    told = {story.url for story in crawled.stories}
    about = [sections.get(url) == "politics" for url in told]
    held = range(crawled.store.counts().known)
    young = crawled.settings.newsroom.start - 12 * 3600
    there = {
        url
        for url in (crawled.store.url(UrlId(id)) for id in held if crawled.store.known(UrlId(id)).version is not None)
        if sections.get(url) == "politics" and (crawled.newsroom.truth.published(url) or 0) > young
    }
    precision, recall = sum(about) / len(about), len(told & there) / len(there)
    assert len(there) > 10  # of some 90 young stories that it fetched
    assert precision > 0.8
    assert recall > 0.8
