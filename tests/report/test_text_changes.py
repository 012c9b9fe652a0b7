"""Word-level differences of texts."""

from hypothesis import given
from hypothesis import strategies as st

from forager.report.dossier import MOST, Piece, word_difference
from forager.report.phrases import TITLE, shown, span

WORDS = st.lists(st.sampled_from(["the", "minister", "said", "no", "yes", "\n", "budget"]), max_size=40).map(" ".join)


def test_a_corrected_number_is_marked_and_nothing_else() -> None:
    pieces = word_difference("Police counted 300 people on Monday.", "Police counted 3,000 people on Monday.")
    assert pieces == [
        Piece("=", "Police counted"),
        Piece("-", " 300"),
        Piece("+", " 3,000"),
        Piece("=", " people on Monday."),
    ]


def test_an_added_sentence_is_put_in_and_nothing_taken_out() -> None:
    pieces = word_difference("It rained.", "It rained. The match was called off.")
    assert [piece.mark for piece in pieces] == ["=", "+"]


@given(WORDS, WORDS)
def test_both_texts_can_be_read_from_the_pieces(before: str, after: str) -> None:
    pieces = word_difference(before, after)
    assert "".join(piece.text for piece in pieces if piece.mark != "+") == before
    assert "".join(piece.text for piece in pieces if piece.mark != "-") == after
    assert all(piece.text for piece in pieces)


def test_very_long_rewritten_texts_count_as_replaced() -> None:
    before, after = " ".join(f"a{n}" for n in range(MOST + 2)), " ".join(f"b{n}" for n in range(MOST + 2))
    assert [piece.mark for piece in word_difference(before, after)] == ["-", "+"]


def test_titles_cannot_turn_steer_or_fill_the_screen() -> None:
    assert shown("a\u202eb\x1b[31mc\u2066d\x00e\nf\ud800g") == "a b [31mc d e f g"
    assert len(shown("A" * 10_000)) == TITLE
    assert shown("مرحبا بالعالم 日本語 Zürich") == "مرحبا بالعالم 日本語 Zürich"


@given(st.text())
def test_whatever_is_shown_can_be_encoded_and_stands_on_one_line(text: str) -> None:
    harmless = shown(text)
    harmless.encode("utf-8")
    assert len(harmless.splitlines()) <= 1
    assert len(harmless) <= TITLE


def test_spans_are_said_as_people_say_them() -> None:
    said = [span(seconds) for seconds in (None, float("nan"), 5.0, 600.0, 7200.0, 259_200.0)]
    assert said == ["–", "–", "5 s", "10 min", "2.0 h", "3.0 d"]


def test_a_stray_equal_word_between_two_changes_is_part_of_the_change() -> None:
    pieces = word_difference("one two three four five six", "one 2 three 4 five six")
    assert [(piece.mark, piece.text) for piece in pieces] == [
        ("=", "one"),
        ("-", " two three four"),
        ("+", " 2 three 4"),
        ("=", " five six"),
    ]
