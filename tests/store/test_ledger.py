"""URLs by number and numbers by URL; the order of leases against a plain statement of the rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.store.known_urls import Addresses, Hashes, Texts
from forager.store.turns import Turns
from forager.terms import Url, UrlId

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
    assert addresses.extend([NEW]) == [3]
    assert [addresses.url(UrlId(number)) for number in range(4)] == [*OLD, NEW]
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


HOSTS = 4


@given(
    st.lists(st.tuples(st.integers(0, HOSTS - 1), st.integers(0, 5)), min_size=1, max_size=20),
    st.lists(st.integers(0, 8), min_size=1, max_size=25),
)
def test_the_choice_is_the_least_by_leases_then_due_even_if_the_clock_goes_back(
    urls: list[tuple[int, int]], times: list[int]
) -> None:
    turns = Turns()
    for number, (host, due) in enumerate(urls):
        turns.enter(str(host))
        turns.plan(UrlId(number), float(due))
    pending, leases = dict(enumerate(urls)), [0] * HOSTS
    for now in times:
        heads = {}
        for id, (host, due) in sorted(pending.items(), key=lambda item: (item[1][1], item[0])):
            if due <= now:
                heads.setdefault(host, (leases[host], due, id))
        chosen = turns.choose(float(now))
        assert chosen == (min(heads.values())[2] if heads else None)
        if chosen is not None:
            turns.lend(chosen)
            leases[pending.pop(chosen)[0]] += 1
        assert turns.pending == len(pending)


def test_a_hundred_thousand_hosts_with_nothing_due_cost_nothing_per_lease() -> None:
    """Counted in heap entries looked at, not in seconds: after the first look only the ready host moves."""
    turns = Turns()
    for host in range(100_000):
        turns.enter(f"h{host}")
        turns.plan(UrlId(host), 1e9)
    for extra in range(100):
        turns.enter("free")
        turns.plan(UrlId(100_000 + extra), float(extra))
    chosen = []
    for _ in range(100):
        id = turns.choose(1000.0)
        assert id is not None
        turns.lend(id)
        chosen.append(id)
        assert len(turns._touched) == 1
        assert len(turns._ready) <= 2
    assert chosen == [UrlId(100_000 + extra) for extra in range(100)]
    assert turns.next(1000.0) == 1e9
