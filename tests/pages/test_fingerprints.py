"""Fingerprints of bytes and texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.chance import stream
from forager.pages.fingerprints import byte_print, distance, simhash, text_print, without_address


def article(rng: np.random.Generator, words: int = 400) -> list[str]:
    return [f"word{number}" for number in rng.zipf(1.3, words) % 5000]


def test_the_byte_print_sees_every_byte() -> None:
    assert byte_print(b"a b") != byte_print(b"a  b")
    assert 0 <= byte_print(b"") < 2**64


def test_the_text_print_sees_words_but_not_case_and_white_space() -> None:
    assert text_print("The  Bridge\n opens") == text_print("the bridge opens ")
    assert text_print("the bridge opens") != text_print("the bridge opened")


def test_distance_counts_bits() -> None:
    assert distance(0b1011, 0b0010) == 2  # bits 0 and 3 differ


def test_the_simhash_is_a_number_of_64_bits_and_0_for_no_words() -> None:
    assert simhash("") == simhash(" \n.,") == 0
    assert 0 < simhash("one") < 2**64
    assert simhash("One, TWO") == simhash("one two") != simhash("two one")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one", 0x08591D61130E36A1),
        ("One, TWO", 0x021E8471FFCD0E24),
        ("The council said on Monday that a new bridge would open next year.", 0x501FE2F40AE401A5),
        ("市議会は来年、川に新しい橋を架ける Straße", 0xDA5FF7B785EBFE62),
        ("word " * 500 + "end " * 300 + "alpha beta gamma " * 40, 0x55B3FA3338896FC4),
    ],
    ids=["a word", "two words", "a sentence", "characters", "hundreds of words"],
)
def test_the_simhash_stays_what_stored_stories_have(text: str, expected: int) -> None:
    assert simhash(text) == expected


def test_nearly_equal_articles_differ_in_few_bits() -> None:
    # One of 400 words changed touches 3 of 398 shingles: s = 0.0075, 64 arccos(1 - s) / π = 2.5 bits expected.
    rng = stream(1, "prints")
    gaps = []
    for _ in range(40):
        words = article(rng)
        edited = list(words)
        edited[int(rng.integers(400))] = "changed"
        gaps.append(distance(simhash(" ".join(words)), simhash(" ".join(edited))))
    assert 1.5 < np.mean(gaps) < 3.5
    assert max(gaps) <= 10


def test_half_equal_articles_lie_in_between() -> None:
    # s = 0.5: 64 arccos(0.5) / π = 64 / 3 = 21.3 bits expected.
    rng = stream(2, "prints")
    gaps = []
    for _ in range(40):
        common, one, other = article(rng, 200), article(rng, 200), article(rng, 200)
        gaps.append(distance(simhash(" ".join(common + one)), simhash(" ".join(common + other))))
    assert 17 < np.mean(gaps) < 25


def test_words_are_found_alike_in_ascii_and_other_texts() -> None:
    text = "Don't stop: 3.5 million e-mails (so_far)!"
    assert distance(simhash(text * 20), simhash(text * 20 + " é")) <= 4


def test_texts_without_spaces_are_compared_character_by_character() -> None:
    # Two of 45 characters changed touch 3 or 4 of 43 shingles: 64 arccos(1 - 4/43) / π = 8.9 bits; unrelated: 32 ± 4.
    text = "市議会は来年、川に新しい橋を架けることを決定した。工事は春に始まり、費用は五億円の見込みである。"
    assert distance(simhash(text), simhash(text.replace("来年", "今年"))) <= 16
    assert (
        distance(simhash(text), simhash("台風は週末に九州へ近づく恐れがあり、気象庁は早めの避難を呼びかけている。"))
        > 16
    )


def test_unrelated_articles_differ_in_about_half_of_the_bits() -> None:
    rng = stream(3, "prints")
    hashes = [simhash(" ".join(f"w{number}" for number in rng.integers(0, 10**6, 400))) for _ in range(40)]
    gaps = [distance(one, other) for place, one in enumerate(hashes) for other in hashes[:place]]
    assert 31 < np.mean(gaps) < 33  # 780 pairs of 32 ± 4 bits: the mean is 32 ± 0.5 even if pairs hang together
    assert min(gaps) > 12


@given(st.text())
def test_every_text_has_prints(text: str) -> None:
    assert 0 <= simhash(text) < 2**64
    assert 0 <= text_print(text) < 2**64


def test_an_address_that_a_page_repeats_does_not_make_another_text_of_it() -> None:
    said = "Page not found: {} is not here; did you look for {}?"
    one, other, third = (
        text_print(without_address(said.format(path, path.rpartition("/")[2]), path))
        for path in ("/p/1234", "/news/bridge-opens", "/p/9999")
    )
    assert one == other == third
    assert without_address("The news of today", "/news") == "The news of today"  # a word of the language
