"""Politeness of the whole stack, over random schedules: see `schedules`; tests/bench/politeness.py plays a million."""

from tests.properties.schedules import broken, played

SCHEDULES = 3000


def test_no_schedule_makes_the_stack_impolite() -> None:
    requests = deaths = waits = 0
    for seed in range(SCHEDULES):
        schedule = played(seed)
        assert broken(schedule) == []
        logs = [one for log in schedule.log.values() for one in log]
        requests, deaths = requests + len(logs), deaths + len(schedule.deaths)
        waits += sum(one.status in (429, 503) for one in logs)
    assert requests > 5 * SCHEDULES  # they are no empty ones
    assert deaths > SCHEDULES
    assert waits > SCHEDULES / 2
