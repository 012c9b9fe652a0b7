"""The hashes of words are those of the library."""

from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from forager.pages.word_hashes import word_hashes


def test_words_of_every_length_are_hashed_as_the_library_does() -> None:
    words = [bytes(97 + (place * length) % 26 for place in range(length)) for length in range(1, 60)]
    assert word_hashes(b"  ".join(words) + b" ").tolist() == [xxh3_64_intdigest(word) for word in words]


@given(st.binary(max_size=200))
def test_any_bytes_are_hashed_as_the_library_does(text: bytes) -> None:
    assert word_hashes(text).tolist() == [xxh3_64_intdigest(word) for word in text.split(b" ") if word]
