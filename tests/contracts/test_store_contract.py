"""What every store promises, checked on every store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from forager.store.protocol import AcceptedStory, Counts, Found, Lease, Version, VersionId, Visit
from forager.store.store import Store
from forager.terms import Channel, Dated, DateSource, ForagerId, Kind, Outcome, Trouble, Url, UrlId, Validators

BIG = (1 << 64) - 1


@pytest.fixture(params=["memory", "disk"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store = Store() if request.param == "memory" else await Store.open(tmp_path / "run")
    yield opened
    await opened.close()


def at(host: str, page: int, due: float | None = 0.0) -> Found:
    return Found(Url(f"https://{host}/{page}"), Channel.LINK, at=1.0, due=due)


def fetched(id: UrlId, when: float = 5.0, due: float | None = None, version: Version | None = None) -> Visit:
    return Visit(id, when, Outcome.FETCHED, status=200, due=due, version=version)


def version(**changes: object) -> Version:
    return replace(Version(Kind.ARTICLE, BIG, 1 << 63, 7, title="T", text="Long text. " * 50), **changes)  # type: ignore[arg-type]


def pages(leases: list[Lease]) -> list[str]:
    return [lease.url.removeprefix("https://") for lease in leases]


async def test_numbers_are_dense_and_in_the_order_of_meeting(store: Store) -> None:
    assert await store.put([at("a", 1), at("b", 1), at("a", 1)]) == [0, 1, 0]
    assert await store.put([at("c", 1), at("b", 1)]) == [2, 1]
    assert store.counts().known == 3


async def test_find_url_and_known_agree(store: Store) -> None:
    one = replace(at("a", 1, due=9.0), source=UrlId(0), depth=3, published=4.0, channel=Channel.FEED, anchor="x")
    (id,) = await store.put([one])
    known = store.known(id)
    assert store.find(one.url) == id
    assert store.url(id) == known.url == one.url
    assert (known.found, known.channel, known.source, known.depth, known.published) == (1.0, Channel.FEED, 0, 3, 4.0)
    assert (known.due, known.visits, known.last_visit, known.version) == (9.0, 0, None, None)
    assert store.find(Url("https://a/2")) is None


async def test_an_unknown_number_is_an_error(store: Store) -> None:
    for number in (0, -1):
        with pytest.raises(IndexError):
            store.url(UrlId(number))
        with pytest.raises(IndexError):
            store.known(UrlId(number))
        with pytest.raises(IndexError):
            await store.ack(fetched(UrlId(number)))
        with pytest.raises(IndexError):
            await store.version(VersionId(number))
        with pytest.raises(IndexError):
            await store.settle(VersionId(number), None)
    assert store.counts() == Counts()


async def test_a_second_put_changes_nothing(store: Store) -> None:
    (id,) = await store.put([at("a", 1, due=9.0)])
    before = store.known(id)
    await store.put([replace(at("a", 1, due=1.0), depth=5, channel=Channel.SEED)])
    assert store.known(id) == before
    assert await store.lease(1, now=8.0) == []


async def test_a_url_without_due_time_is_done(store: Store) -> None:
    await store.put([at("a", 1, due=None), at("a", 2, due=3.0)])
    counts = store.counts()
    assert (counts.known, counts.pending, counts.leased, counts.done) == (2, 1, 0, 1)
    assert pages(await store.lease(9, now=1e9)) == ["a/2"]


async def test_within_a_host_the_earliest_due_goes_first(store: Store) -> None:
    await store.put([at("a", 1, due=3.0), at("a", 2, due=1.0), at("a", 3, due=2.0), at("a", 4, due=11.0)])
    assert pages(await store.lease(9, now=10.0)) == ["a/2", "a/3", "a/1"]


async def test_hosts_take_turns_within_one_call_and_over_many(store: Store) -> None:
    await store.put([at("a", page) for page in range(3)] + [at("b", page, due=1.0) for page in range(3)])
    assert pages(await store.lease(4, now=10.0)) == ["a/0", "b/0", "a/1", "b/1"]
    assert pages(await store.lease(1, now=10.0)) == ["a/2"]
    assert pages(await store.lease(1, now=10.0)) == ["b/2"]


async def test_the_host_visited_longest_ago_has_the_next_turn(store: Store) -> None:
    await store.put([at("a", page) for page in range(3)] + [at("b", page, due=1.0) for page in range(3)])
    order = []
    for _ in range(6):
        (lease,) = await store.lease(1, now=10.0)
        order += pages([lease])
        await store.ack(fetched(lease.id))
    assert order == ["a/0", "b/0", "a/1", "b/1", "a/2", "b/2"]


async def test_a_lease_carries_what_the_visit_needs(store: Store) -> None:
    (id,) = await store.put([replace(at("a", 1), depth=2)])
    validators = Validators('"e"', "Fri, 17 May 2024 09:00:00 GMT")
    await store.ack(replace(fetched(id, due=6.0), validators=validators))
    assert await store.lease(1, now=7.0, seconds=30.0) == [Lease(id, Url("https://a/1"), validators, 2, until=37.0)]


async def test_nobody_else_gets_a_leased_url_until_the_lease_is_over(store: Store) -> None:
    (id,) = await store.put([at("a", 1)])
    assert len(await store.lease(1, now=0.0, seconds=10.0)) == 1
    assert await store.lease(1, now=9.0) == []
    assert await store.lease(1, now=9.0, only=[id]) == []
    assert store.next_due(9.0) is None
    assert store.next_due(10.0) == 10.0
    assert pages(await store.lease(1, now=10.0)) == ["a/1"]


async def test_only_leases_exactly_those_asked_for_due_or_done_or_not(store: Store) -> None:
    first, later, done, _ = await store.put([at("a", 1), at("a", 2, due=99.0), at("a", 3, due=None), at("b", 1)])
    leases = await store.lease(9, now=1.0, only=[done, later, done])
    assert [lease.id for lease in leases] == [done, later]
    assert store.counts().leased == 2
    assert [lease.id for lease in await store.lease(9, now=1.0, only=[later, first])] == [first]
    assert pages(await store.lease(9, now=1.0)) == ["b/1"]


async def test_released_leases_are_as_before(store: Store) -> None:
    ids = await store.put([at("a", 1, due=4.0), at("a", 2, due=None)])
    before = store.counts()
    await store.release(await store.lease(9, now=1.0, only=ids))
    assert store.counts() == before
    assert store.next_due(0.0) == 4.0
    assert pages(await store.lease(9, now=4.0)) == ["a/1"]


async def test_releasing_a_lease_that_went_to_somebody_else_changes_nothing(store: Store) -> None:
    await store.put([at("a", 1)])
    old = await store.lease(1, now=0.0, seconds=5.0)
    new = await store.lease(1, now=5.0, seconds=5.0)
    await store.release(old)
    assert store.counts().leased == len(new) == 1


async def test_an_ack_ends_the_lease_and_plans_the_next_visit(store: Store) -> None:
    (id,) = await store.put([at("a", 1)])
    await store.lease(1, now=0.0)
    await store.ack(fetched(id, when=5.0, due=8.0))
    assert store.next_due(6.0) == 8.0
    await store.lease(1, now=8.0)
    await store.ack(fetched(id, when=8.0, due=None))
    assert store.next_due(9.0) is None
    assert store.counts().done == 1


async def test_hosts_and_last_visits_come_by_number(store: Store) -> None:
    first, second, third = await store.put([at("a", 1), at("b", 1), at("a", 2)])
    await store.ack(fetched(second, when=7.0))
    assert store.hosts().tolist() == [0, 1, 0]
    assert store.hosts(1).tolist() == [1, 0]
    assert store.urls_of("a") == [store.url(first), store.url(third)]
    assert store.urls_of("nobody") == []
    never, visited, neither = store.last_visits().tolist()
    assert (visited, never == never, neither == neither) == (7.0, False, False)  # NaN: it never was


async def test_an_ack_without_a_lease_is_recorded(store: Store) -> None:
    (id,) = await store.put([at("a", 1, due=3.0)])
    await store.ack(fetched(id, when=1.0, due=50.0))
    assert store.known(id).visits == 1
    assert await store.lease(1, now=49.0) == []
    assert len(await store.lease(1, now=50.0)) == 1


async def test_everything_learned_from_a_visit_is_known(store: Store) -> None:
    (id,) = await store.put([at("a", 1)])
    number = await store.ack(replace(fetched(id, when=5.0, version=version()), changed=True))
    await store.ack(Visit(id, 6.0, Outcome.FAILED, trouble=Trouble.DNS, error="no such host", due=9.0))
    known = store.known(id)
    assert (known.visits, known.changes, known.last_visit, known.last_change) == (2, 1, 6.0, 5.0)
    assert (known.kind, known.version, known.byte_print, known.text_print) == (Kind.ARTICLE, number, BIG, 1 << 63)
    counts = store.counts()
    assert (counts.visits, counts.versions) == (2, 1)
    assert counts.outcomes == {"fetched": 1, "failed": 1}
    assert counts.troubles == {"dns": 1}


async def test_what_was_noted_last_of_a_host_is_known(store: Store) -> None:
    assert await store.noted_hosts() == {}
    store.note_host("b:8080", b"waits")
    store.note_host("\ud800", b"\x00")
    store.note_host("b:8080", b"waits longer")
    await store.commit()
    assert await store.noted_hosts() == {"b:8080": b"waits longer", "\ud800": b"\x00"}


async def test_asking_changes_nothing(store: Store) -> None:
    await store.put([at("a", 1), at("b", 1, due=5.0)])
    before = store.counts(), store.known(UrlId(0))
    assert store.next_due(0.0) == 0.0
    assert store.next_due(9.0) == 9.0
    assert (store.counts(), store.known(UrlId(0))) == before
    assert pages(await store.lease(9, now=0.0)) == ["a/1"]


async def test_a_version_comes_back_as_it_was(store: Store) -> None:
    ids = await store.put([at("a", page) for page in range(5)])
    dated = Dated(3.5, DateSource.JSON_LD), Dated(4.0, DateSource.URL, exact=False)
    rich = version(lang="de", canonical="https://a/0", published=dated[0], modified=dated[1], links=(ids[4], ids[1]))
    hostile = version(title="lone \ud800 surrogate", text="\udfff\0", canonical="https://ä/\ud800")
    for number, one in enumerate((rich, hostile, version(text=""), replace(rich, title="same text"))):
        assert await store.ack(fetched(ids[0], when=number, version=one)) == number
        assert await store.version(VersionId(number)) == (ids[0], number, one)
    assert await store.versions(ids[0]) == [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]
    assert await store.versions(ids[1]) == []


async def test_visits_come_back_in_the_order_of_acknowledgement(store: Store) -> None:
    first, second = await store.put([at("a", 1), at("b", 1)])
    made = [
        Visit(
            first, 9.0, Outcome.FETCHED, 200, 0.5, 1234, by=ForagerId(3), changed=True, final_url="https://a/x", due=1.0
        ),
        Visit(
            second, 8.0, Outcome.GONE, 404, trouble=Trouble.STATUS, error="404 \ud800", validators=Validators("é", "d")
        ),
        Visit(first, 7.0, Outcome.UNCHANGED, 304),
    ]
    await store.ack(replace(made[0], version=version()))
    await store.ack(made[1])
    await store.ack(made[2])
    assert [visit async for visit in store.visits()] == made
    assert [visit async for visit in store.visits(first)] == [made[0], made[2]]
    assert [visit async for visit in store.visits(UrlId(77))] == []


async def test_a_long_answer_is_complete_and_ends_where_it_began(store: Store) -> None:
    (id,) = await store.put([at("a", 1)])
    for when in range(600):
        await store.ack(fetched(id, when=float(when)))
    times = []
    async for visit in store.visits(id):
        times.append(visit.at)
        if len(times) < 3:
            await store.ack(fetched(id, when=-1.0))
    assert times == [float(when) for when in range(600)]


def story(id: UrlId, number: VersionId, title: str = "T") -> AcceptedStory:
    return AcceptedStory(
        id, number, Url("https://a/1"), "a", title, 1.0, "meta", 2.0, 3.0, None, Channel.FEED, simhash=BIG
    )


async def test_versions_wait_for_a_decision_and_stories_come_in_order(store: Store) -> None:
    (id,) = await store.put([at("a", 1)])
    numbers = [await store.ack(fetched(id, version=version())) for _ in range(4)]
    zero, one, two, three = (number for number in numbers if number is not None)
    assert await store.unsettled() == [0, 1, 2, 3]
    second = replace(
        story(id, two, "Other"), url=Url("https://b/1"), discovered_from=Url("https://c"), forager=ForagerId(4)
    )
    third = replace(story(id, three), duplicate_of=Url("https://d"), text_print=1 << 63)
    await store.settle(two, second)
    await store.settle(zero, None)
    await store.settle(three, third)
    await store.settle(zero, story(id, zero))  # the first decision counts
    assert await store.unsettled() == [one]
    assert [accepted async for accepted in store.stories()] == [second, third]
    assert [accepted async for accepted in store.stories(after=1)] == [third]
    assert store.counts().stories == 2


async def test_kept_states_are_replaced_and_recalled(store: Store) -> None:
    assert await store.recall("fleet") is None
    await store.keep("fleet", b"\0one")
    await store.keep("agent", b"")
    await store.keep("fleet", b"two")
    assert (await store.recall("fleet"), await store.recall("agent")) == (b"two", b"")


async def test_a_url_leased_and_visited_a_thousand_times_by_name_keeps_its_place(store: Store) -> None:
    """Entries of old plans are many by then; the heaps are built anew several times on the way."""
    ids = await store.put([at("a", 1, due=1e6), at("b", 1, due=5.0)])
    for when in range(1000):
        await store.release(await store.lease(1, now=4.0, only=[ids[0]]))
        if when % 10 == 0:
            await store.ack(fetched(ids[0], due=1e6 + when))
        assert store.next_due(4.0) == 5.0
    assert pages(await store.lease(9, now=5.0)) == ["b/1"]
    assert store.next_due(5.0) == 1e6 + 990


async def test_urls_entered_without_waiting_are_known_at_once(store: Store) -> None:
    one, other = at("a", 1, due=1.0), at("a", 2, due=2.0)
    assert store.enter([one, other, one]) == [0, 1, 0]
    assert store.find(other.url) == 1
    assert await store.put([other]) == [1]
    assert store.counts().known == 2
    assert pages(await store.lease(9, now=5.0)) == ["a/1", "a/2"]
