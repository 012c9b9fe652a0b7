"""The columns beside crawl.db: a store opened with them is the store that its rows tell of."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import forager.store.snapshot as snapshot
from forager.store.disk import Disk
from forager.store.protocol import Found, Version, Visit
from forager.store.store import Store
from forager.terms import Channel, Kind, Outcome, Url, UrlId, Validators


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is written for few URLs as well."""
    monkeypatch.setattr(snapshot, "MUCH", 0)


def found(number: int) -> Found:
    published = 5.0 if number % 2 else None
    url = Url(
        f"https://{number % 3}.example/é/{number}\ud800" if number == 4 else f"https://{number % 3}.example/{number}"
    )
    return Found(url, Channel.LINK, float(number), UrlId(0) if number else None, f"Story {number}", 1, published, 10.0)


def visit(id: int, at: float) -> Visit:
    version = Version(Kind.ARTICLE, 2**64 - 1 - id, id, 0, title="t") if id % 2 else None
    validators = Validators(f'"{id}"', "") if id % 3 else Validators()
    return Visit(UrlId(id), at, Outcome.FETCHED, 200, validators=validators, due=at + id, version=version)


async def renewed(store: Store) -> None:
    """Wait for the columns that were due at the last commit."""
    disk = store._archive
    assert isinstance(disk, Disk)
    await disk._snapshot


async def filled(folder: Path, urls: range, visits: range) -> None:
    store = await Store.open(folder)
    await store.put([found(number) for number in urls])
    for number in visits:
        await store.ack(visit(number % urls.stop, 100.0 + number))
    await store.close()


async def told(folder: Path) -> list[Any]:
    """All that a store says of its URLs, and whom it would ask next."""
    store = await Store.open(folder)
    try:
        count = store.counts()
        leases = await store.lease(100, 1e6)
        return [count, [store.known(UrlId(id)) for id in range(count.known)], leases, store.next_due(1e6)]
    finally:
        await store.close()


async def both(folder: Path) -> tuple[list[Any], list[Any]]:
    """With the columns, and by the rows alone."""
    with_columns = await told(folder)
    (folder / snapshot.FILE).unlink()
    return with_columns, await told(folder)


async def test_a_store_opened_by_its_columns_is_the_one_of_its_rows(tmp_path: Path) -> None:
    await filled(tmp_path, range(12), range(9))
    assert (tmp_path / snapshot.FILE).exists()
    by_columns, by_rows = await both(tmp_path)
    assert by_columns == by_rows
    assert by_rows[0].known == 12


async def test_what_came_after_the_columns_is_read_from_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path, range(6), range(4))
    monkeypatch.setattr(snapshot, "MUCH", 1000)
    before = (tmp_path / snapshot.FILE).read_bytes()
    await filled(tmp_path, range(6, 12), range(2, 11))
    assert (tmp_path / snapshot.FILE).read_bytes() == before
    by_columns, by_rows = await both(tmp_path)
    assert by_columns == by_rows
    assert by_rows[0].visits == 13


async def test_they_are_really_used(tmp_path: Path) -> None:
    await filled(tmp_path, range(6), range(4))
    path = tmp_path / snapshot.FILE
    store = await Store.open(tmp_path)
    held = snapshot.taken(store._ledger)
    await store.close()
    held.arrays["depth"] = bytes(len(held.arrays["depth"]))  # the rows say 1
    held.write(tmp_path)
    assert path.exists()
    assert [known.depth for known in (await told(tmp_path))[1]] == [0] * 6


async def test_they_are_renewed_while_a_crawl_runs(tmp_path: Path) -> None:
    await filled(tmp_path, range(6), range(4))
    before = (tmp_path / snapshot.FILE).read_bytes()
    store = await Store.open(tmp_path)
    await store.put([found(number) for number in range(6, 12)])
    await store.ack(visit(7, 200.0))
    await store.keep("fleet", b"what it learned")
    await renewed(store)
    during = (tmp_path / snapshot.FILE).read_bytes()
    assert during != before
    await store.close()
    assert (tmp_path / snapshot.FILE).read_bytes() == during
    by_columns, by_rows = await both(tmp_path)
    assert by_columns == by_rows
    assert by_rows[0].known == 12


async def test_they_are_written_once_though_much_is_kept_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[snapshot.Snapshot] = []
    pack = snapshot.Snapshot._packed

    def packed(one: snapshot.Snapshot) -> dict[str, bytes] | None:
        begun.append(one)
        return pack(one)

    monkeypatch.setattr(snapshot.Snapshot, "_packed", packed)
    store = await Store.open(tmp_path)
    await store.put([found(number) for number in range(6)])
    await store.keep("fleet", b"what it learned")
    await store.keep("states", b"what it read")  # perhaps before the first columns are in place
    await renewed(store)
    await store.keep("states", b"what it read then")
    await store.close()
    assert len(begun) == 1


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "a bit turned": lambda data: data[:-20] + bytes([data[-20] ^ 4]) + data[-19:],
    "another form": lambda data: data.replace(b'"form":2', b'"form":1'),
    "no head": lambda data: data.replace(b"{", b"[", 1),
    "fewer URLs": lambda data: data.replace(b'"known":6', b'"known":5'),
    "absurdly many visits": lambda data: data.replace(b'"visits":4', b'"visits":4' + b"0" * 20),
    "an absurd size": lambda data: data.replace(b'"found":', b'"found":4' + b"0" * 17),
    "another visit": lambda data: data.replace(b'"visits":4', b'"visits":3'),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
async def test_damaged_columns_are_not_believed(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(tmp_path, range(6), range(4))
    monkeypatch.setattr(snapshot, "MUCH", 1000)
    path = tmp_path / snapshot.FILE
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    by_columns, by_rows = await both(tmp_path)
    assert by_columns == by_rows


async def test_columns_of_another_crawl_or_of_a_later_moment_are_not_believed(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    await filled(one, range(6), range(4))
    await filled(other, range(12), range(9))
    (one / snapshot.FILE).write_bytes((other / snapshot.FILE).read_bytes())
    by_columns, by_rows = await both(one)
    assert by_columns == by_rows


async def test_without_room_for_them_the_store_works(tmp_path: Path) -> None:
    (tmp_path / f"{snapshot.FILE}.new").mkdir(parents=True)
    await filled(tmp_path, range(6), range(4))
    assert not (tmp_path / snapshot.FILE).exists()
    assert (await told(tmp_path))[0].known == 6
