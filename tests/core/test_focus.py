"""Focus: by query, by examples, by marks; it learns from the crawl what is off topic, and says when it cannot tell."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from virtual import crawl_newsroom

from forager.core import topic_lesson
from forager.core.focus import FIRST_FIT, Focus
from forager.core.packed import pack, unpack
from forager.core.parameters import FocusSettings
from forager.core.topic_lesson import MOST, PLAIN, FocusLesson, count_terms
from forager.errors import InputError
from forager.importers.texts import read_examples, read_texts
from forager.terms import UrlId, Verdict

SPORT = ["goal", "match", "striker", "league", "referee", "keeper", "penalty", "coach", "stadium", "season"]
MONEY = ["bank", "share", "bond", "market", "profit", "dividend", "investor", "loan", "rate", "currency"]
COMMON = [
    "said",
    "today",
    "people",
    "year",
    "city",
    "new",
    "first",
    "last",
    "many",
    "time",
    "week",
    "house",
    "report",
    "plan",
]


def text_of(own: list[str], number: int) -> str:
    """A text of ten words of its topic and twenty of any."""
    rng = np.random.default_rng(number)
    return " ".join([*rng.choice(own, 10), *rng.choice(COMMON, 20)])


def taught(focus: Focus, count: int = 200, every: int = 5) -> Focus:
    """Has read so many documents, each fifth of sport, with all lessons learned."""
    for number in range(count):
        focus.read(number, text_of(MONEY if number % every else SPORT, 1000 + number))
        learn(focus)
    return focus


def learn(focus: Focus) -> None:
    lesson = focus.lesson() if focus.is_due else None
    if lesson is not None:
        focus.adopt(lesson.learn())


def sporty(count: int = 10) -> list[str]:
    return [text_of(SPORT, number) for number in range(count)]


def test_it_cannot_tell_before_it_has_something_to_compare_with() -> None:
    focus = Focus(FocusSettings(), sporty())
    verdicts = [focus.read(number, text_of(SPORT, number)) for number in range(FIRST_FIT - 1)]
    assert set(verdicts) == {Verdict.UNSURE}
    assert not focus.is_due
    assert focus.on_topic(3)  # rewarded meanwhile, as in a crawl without a topic
    assert not focus.on_topic(FIRST_FIT)  # never read
    assert "needs 50" in focus.doubt


def test_it_says_that_hardly_a_document_matches_the_query() -> None:
    focus = Focus(FocusSettings(query="zeppelin quagga harpsichord"))
    for number in range(2 * FIRST_FIT):
        focus.read(number, text_of(SPORT, number))
        if focus.is_due:
            assert focus.lesson() is None
    assert "words of the query" in focus.doubt


def test_a_classifier_learned_from_examples_tells_topics_apart() -> None:
    focus = taught(Focus(FocusSettings(), sporty()))
    assert focus.doubt == ""
    sport = [focus.read(number, text_of(SPORT, number)) for number in range(300, 340)]
    money = [focus.read(number, text_of(MONEY, number)) for number in range(340, 380)]
    assert sport.count(Verdict.ON) > 30
    assert money.count(Verdict.ON) == 0
    assert money.count(Verdict.UNSURE) == 0
    assert not focus.on_topic(350)


def test_a_list_that_is_on_topic_speaks_for_what_it_shows_but_not_for_everything() -> None:
    focus = taught(Focus(FocusSettings(), sporty()))
    texts = [text_of(SPORT[:weak] + MONEY[weak:], 500 + 20 * weak + n) for weak in range(11) for n in range(20)]
    passed = [
        [focus.read(1000 + 300 * place + number, text, share) is Verdict.ON for number, text in enumerate(texts)]
        for place, share in enumerate((0.0, PLAIN, 0.35, MOST, 1.0))
    ]
    unknown, plain, some, most, all_of_it = (sum(one) for one in passed)
    assert unknown == plain < some < most == all_of_it
    assert not any(passed[-1][:20])  # nothing of sport in them
    assert all(late or not early for early, late in zip(passed[0], passed[-1], strict=True))


def test_a_query_learns_the_words_that_come_with_it() -> None:
    focus = taught(Focus(FocusSettings(query="goal striker")), every=3)
    assert focus.doubt == ""
    without = "the coach and the referee in the stadium of the league saw a penalty of the season"
    assert focus.judge(without).verdict is Verdict.ON
    assert focus.judge("the bank and the investor after a dividend").verdict is Verdict.OFF


def test_a_query_whose_matches_have_nothing_in_common_is_not_guessed() -> None:
    focus = taught(Focus(FocusSettings(query="today report")))
    assert focus.topic is not None
    assert focus.doubt
    assert focus.judge("a report of today").verdict is Verdict.UNSURE


def test_character_n_grams_know_inflected_words_and_scripts_without_spaces() -> None:
    german = ["Der Bundestag debattiert das Gesetz", "Ein Gesetzentwurf des Bundestages", "Bundestagswahl und Gesetze"]
    focus = Focus(FocusSettings(), german * 3)
    for number in range(100):
        focus.read(number, f"Wetter Regen Sonne {text_of(MONEY, number)}")
        learn(focus)
    assert focus.topic is not None
    near, far = focus.topic.scores(count_terms(["Gesetzgebung, Bundestagsdebatte", "Regenwetter, Bankdaten"]))
    assert near > focus.topic.intercept > far  # neither has a word of any text that was read
    first, second, third = count_terms(["北京奥运会开幕", "奥运会在北京", "股票市场下跌"]) > 0
    assert first.multiply(second).nnz > 3
    assert first.multiply(third).nnz == 0


def test_marks_turn_the_verdict_on_what_is_alike() -> None:
    focus = taught(Focus(FocusSettings(), sporty()), count=300)
    rugby = "goal match striker league referee keeper rugby scrum ruck maul hooker " * 2
    assert focus.read(900, rugby) is Verdict.ON
    focus.mark(900, rugby, yes=False)
    assert focus.verdicts[900] is Verdict.OFF
    assert focus.is_due
    for number in range(901, 906):
        focus.mark(number, f"{rugby} {COMMON[number - 901]}", yes=False)
    learn(focus)
    assert focus.judge(rugby).verdict is not Verdict.ON
    for number in range(10):
        focus.mark(950 + number, text_of(SPORT, 400 + number), yes=True)
    learn(focus)
    assert focus.judge(text_of(SPORT, 777)).verdict is Verdict.ON


def test_documents_it_could_not_tell_of_wait_until_it_can() -> None:
    focus = Focus(FocusSettings(), sporty())
    assert focus.read(7777, text_of(SPORT, 5)) is Verdict.UNSURE
    taught(focus)
    assert focus.verdicts[7777] is Verdict.UNSURE
    assert focus.judge_again(7777, text_of(SPORT, 5)) is Verdict.ON
    assert focus.verdicts[7777] is Verdict.ON


def test_the_words_of_a_verdict_add_up_to_its_score() -> None:
    focus = taught(Focus(FocusSettings(), sporty()))
    assert focus.topic is not None
    text = text_of(SPORT, 31)
    words = focus.topic.telling(text, most=1000)
    (score,) = focus.topic.scores(count_terms([text]))
    assert sum(share for _, share in words) + focus.topic.intercept == pytest.approx(score, abs=1e-6)
    assert {word for word, _ in words[:3]} <= set(SPORT)
    assert focus.judge("").words == []


def test_more_precision_asked_for_lets_fewer_pass() -> None:
    mild, strict = (taught(Focus(FocusSettings(precision=asked), sporty())) for asked in (0.5, 0.99))
    assert mild.topic is not None
    assert strict.topic is not None
    assert strict.topic.threshold >= mild.topic.threshold


def test_examples_that_have_nothing_in_common_are_not_guessed() -> None:
    focus = taught(
        Focus(FocusSettings(), [text_of(SPORT if number % 5 == 0 else MONEY, number) for number in range(10)])
    )
    assert focus.topic is not None
    assert "too little in common" in focus.doubt


def test_a_topic_that_is_common_in_the_crawl_can_be_told() -> None:
    focus = taught(Focus(FocusSettings(), sporty()), every=2)
    assert focus.doubt == ""
    assert focus.judge(text_of(SPORT, 900)).verdict is Verdict.ON
    assert focus.judge(text_of(MONEY, 900)).verdict is Verdict.OFF


def test_once_it_can_tell_it_takes_more_disagreement_to_doubt_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_lesson, "CLEARLY", np.inf)  # so that the halves of the examples decide
    focus = Focus(FocusSettings(), sporty())
    for agreement, can_tell in ((0.7, False), (0.85, True), (0.7, True), (0.6, False), (0.7, False)):
        monkeypatch.setattr(FocusLesson, "_agreement", lambda lesson, rows, found=agreement: found)
        while not focus.is_due:
            number = focus.read_so_far
            focus.read(number, text_of(MONEY if number % 5 else SPORT, 1000 + number))
        learn(focus)
        assert focus.can_tell is can_tell


def test_it_learns_again_when_a_quarter_more_was_read_and_believes_what_it_learned_last() -> None:
    focus = taught(Focus(FocusSettings(), sporty()))
    assert focus.lessons == 7  # at 50, 62, 77, 96, 120, 150 and 187 documents
    assert focus.topic is not None
    focus.adopt(replace(focus.topic, doubt="two halves disagree"))
    assert not focus.can_tell


def test_what_an_older_form_had_learned_is_learned_anew() -> None:
    focus = taught(Focus(FocusSettings(), sporty()))
    held = unpack("focus", 4, focus.save())
    held["figures"] = held.pop("lines")
    again = Focus.load(pack("focus", 3, held), focus.settings)
    assert again.verdicts == focus.verdicts
    assert again.topic is None
    learn(again)
    assert again.can_tell


def test_headlines_change_the_odds_of_links_once_it_can_tell() -> None:
    focus = Focus(FocusSettings(), [f"{' '.join(text.split()[:5])}\n{text}" for text in sporty()])
    heads = ["Striker and referee at the stadium", "Bank and investor on the bond", "more", "第一"]
    assert focus.odds(heads).tolist() == [1, 1, 1, 1]  # it cannot tell yet
    for number in range(200):
        text = text_of(MONEY if number % 5 else SPORT, 1000 + number)
        focus.read(number, f"{' '.join(text.split()[:5])}\n{text}")
        learn(focus)
    assert focus.doubt == ""
    sport, money, short, other = focus.odds(heads)
    assert sport > 3
    assert money < 0.5
    assert short == other == 1  # too few words to say anything
    assert Focus.load(focus.save(), focus.settings).odds(heads).tolist() == [sport, money, short, other]


def test_a_saved_focus_gives_the_same_verdicts() -> None:
    focus = taught(Focus(FocusSettings(query="goal"), sporty(), [text_of(MONEY, 5)]), count=120)
    focus.mark(60, text_of(SPORT, 60), yes=True)
    again = Focus.load(focus.save(), focus.settings)
    assert again.verdicts == focus.verdicts
    assert again.is_due
    learn(focus)
    learn(again)
    for number in range(200, 330):
        text = text_of(SPORT if number % 3 else MONEY, number)
        assert again.judge(text) == focus.judge(text)
        assert again.read(number, text) == focus.read(number, text)
        learn(focus)
        learn(again)
    assert again.lessons == focus.lessons
    with pytest.raises(InputError):
        Focus.load(b"no focus", focus.settings)


def test_texts_without_words_do_no_harm() -> None:
    focus = Focus(FocusSettings(query="!!"), ["!!", "1 2", "\ud800", "", "-"])
    for number in range(60):
        focus.read(number, "Rain in the valley \ud800" if number % 2 else "")
        learn(focus)
    assert focus.judge("Rain").verdict is Verdict.UNSURE
    assert Focus.load(focus.save(), replace(focus.settings, query="rain")).is_due


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
    lines.write_text(
        '{"url": "http://a/", "title": "One", "text": "a b"}\n\n{"text": ""}\n{"url": "http://b/", "on_topic": false}\n'
    )
    assert list(read_texts(lines)) == ["One\na b"]
    assert [(one.url, one.on_topic) for one in read_examples(lines)] == [("http://a/", True), ("http://b/", False)]
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
    topics = crawled.account.topics
    assert crawled.account.facts()["off_topic"] == topics["off topic"] > len(told)
    assert sum(topics.values()) == len(crawled.crawl.topic.focus.verdicts)  # type: ignore[union-attr]
