"""The order of leases against a plain statement of the rule."""

from hypothesis import given
from hypothesis import strategies as st

from forager.store.turns import Turns
from forager.terms import UrlId

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
