"""Units, clocks and chance: what everything else stands on."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.chance import stream
from forager.clock import FastClock, LoopClock, run_virtual
from forager.units import seconds, size


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90.0), ("15m", 900.0), ("6h", 21600.0), ("2d", 172800.0), ("1.5h", 5400.0), ("250ms", 0.25)],
)
def test_durations_are_read_as_people_write_them(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("500k", 500_000), ("10M", 10_000_000), ("2MiB", 2 * 1024**2), ("7", 7)]
)
def test_sizes_are_read_as_people_write_them(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "m", "5 parsecs", "-3s", "1e3s", "3s4"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        seconds(text)


@given(st.floats(0, 1e6, allow_nan=False).map(lambda number: round(number, 3)))
def test_a_plain_number_of_seconds_means_itself(number: float) -> None:
    assert seconds(f"{number:.3f}") == pytest.approx(number)


def test_a_new_consumer_of_chance_does_not_disturb_an_old_one() -> None:
    alone = stream(7, "weblog").random(5).tolist()
    stream(7, "newcomer").random(100)
    assert stream(7, "weblog").random(5).tolist() == alone
    assert stream(8, "weblog").random(5).tolist() != alone


def test_in_virtual_time_hours_pass_at_once_and_in_order() -> None:
    async def main() -> list[tuple[str, float]]:
        clock = LoopClock(epoch=1000.0)
        seen: list[tuple[str, float]] = []

        async def wait(name: str, pause: float) -> None:
            await clock.sleep(pause)
            seen.append((name, clock.now()))

        async with asyncio.TaskGroup() as group:
            group.create_task(wait("late", 7200.0))
            group.create_task(wait("early", 3600.0))
        return seen

    assert run_virtual(main()) == [("early", 4600.0), ("late", 8200.0)]


def test_virtual_time_refuses_threads() -> None:
    async def main() -> None:
        await asyncio.to_thread(lambda: None)

    with pytest.raises(RuntimeError, match="no threads"):
        run_virtual(main())


def test_virtual_time_notices_that_nothing_can_ever_happen_again() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="nothing can ever happen"):
        run_virtual(main())


async def test_a_fast_clock_runs_faster_by_its_speed() -> None:
    clock = FastClock(epoch=0.0, speed=1000.0)
    before = clock.now()
    await clock.sleep(50.0)  # 50 ms of ours
    assert clock.now() - before >= 50.0
