"""URLs by number and numbers by URL, out of a block of text and beside it."""

import numpy as np
import pytest

from forager.store.columns import Texts
from forager.store.ledger import Addresses, Hashes
from forager.terms import Url

OLD = [Url("https://a.example/1"), Url("https://a.example/é"), Url("https://b.example/\ud800")]
NEW = Url("https://b.example/2")


def restored(urls: list[Url]) -> Addresses:
    """As from a file."""
    texts = Texts()
    texts.extend(urls)
    block = texts.joined()
    assert block is not None
    return Addresses(Texts(block, len(urls)), Hashes().joined(urls))


def test_urls_out_of_the_block_and_later_ones_are_found() -> None:
    addresses = restored(OLD)
    assert addresses.append(NEW) == 3
    assert [addresses[number] for number in range(4)] == [*OLD, NEW]  # type: ignore[index]
    assert addresses.find_all([NEW, OLD[2], Url("https://a.example/"), OLD[0], OLD[1]]) == [3, 2, None, 0, 1]
    assert addresses.find(OLD[1]) == 1
    assert addresses.find(Url("https://a.example/unknown")) is None


def test_urls_with_the_same_hash_are_told_apart() -> None:
    texts = Texts("\n".join(OLD[:2]).encode(), 2)
    own = Hashes().joined(OLD[:1]).values[0]
    addresses = Addresses(texts, Hashes(np.array([own, own]), np.array([1, 0], np.int32)))
    assert addresses.find(OLD[0]) == 0


def test_hashes_of_later_urls_join_those_before() -> None:
    by_steps, at_once = Hashes().joined(OLD).joined([NEW]), Hashes().joined([*OLD, NEW])
    np.testing.assert_array_equal(by_steps.values, at_once.values)
    np.testing.assert_array_equal(by_steps.numbers, at_once.numbers)


def test_changed_texts_stand_in_their_places_when_all_are_joined() -> None:
    texts = Texts(b"one\0\0three\0four", 4, b"\0")
    texts[1], texts[3] = "two", ""
    texts.extend(["five", "six"])
    texts[5] = "6"
    copied = texts.copied()
    texts[0] = "changed since"
    assert [copied[number] for number in range(6)] == ["one", "two", "three", "", "five", "6"]
    assert copied.joined() == b"one\0two\0three\0\0five\x006"


def test_a_single_empty_text_is_a_text() -> None:
    assert len(Texts()) == 0
    assert Texts().joined() == b""
    assert [Texts(b"", 1)[0]] == [""]


def test_a_text_that_holds_what_parts_them_cannot_be_joined() -> None:
    texts = Texts(b"one", 1)
    texts.append("two\nthree")
    assert texts.joined() is None


@pytest.mark.parametrize("count", [1, 3])
def test_a_block_of_another_number_of_texts_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"2 texts instead of {count}"):
        Texts(b"one\ntwo", count)
