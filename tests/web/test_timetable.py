import pytest

from forager.errors import SettingsError, StoreError
from forager.web.timetable import Booking, HostFacts, Refusal, Timetable, Window
from forager.web.web_settings import TimetableSettings

QUICK = HostFacts(seconds=0.1, status=200)


def visit(timetable: Timetable, host: str, now: float, facts: HostFacts | None = QUICK, seconds: float = 0.0) -> float:
    """Book, start as early as allowed, and end after `seconds`; when it started."""
    booking = timetable.reserve(host, now)
    assert isinstance(booking, Booking)
    now += timetable.wait(booking, now)
    assert timetable.start(booking, now)
    timetable.note(host, facts, now + seconds)
    timetable.give_back(booking, started=True)
    return now


def starts(timetable: Timetable, host: str, count: int, facts: HostFacts = QUICK) -> list[float]:
    now, times = 0.0, []
    for _ in range(count):
        now = visit(timetable, host, now, facts)
        times.append(now)
    return times


def test_the_first_visit_may_start_at_once_and_the_next_a_delay_later() -> None:
    assert starts(Timetable(), "a", 4) == [0.0, 1.0, 2.0, 3.0]


def test_hosts_do_not_wait_for_each_other() -> None:
    timetable = Timetable()
    assert [visit(timetable, host, 0.0) for host in "abc"] == [0.0, 0.0, 0.0]


def test_bookings_are_promised_times_one_delay_apart() -> None:
    timetable = Timetable(TimetableSettings(download_delay=2.0))
    booked = [timetable.reserve("a", 10.0) for _ in range(3)]
    assert [booking.at for booking in booked if isinstance(booking, Booking)] == [10.0, 12.0, 14.0]
    assert timetable.allowed_at("a", 10.0) == 16.0
    assert timetable.allowed_at("b", 10.0) == 10.0


def test_a_booking_that_is_given_back_makes_room() -> None:
    timetable = Timetable()
    first = timetable.reserve("a", 0.0)
    assert isinstance(first, Booking)
    timetable.give_back(first, started=False)
    assert timetable.allowed_at("a", 0.0) == 0.0


def test_asking_changes_nothing() -> None:
    timetable = Timetable()
    booking = timetable.reserve("a", 0.0)
    assert isinstance(booking, Booking)
    before = repr(timetable)
    for _ in range(3):
        assert (timetable.wait(booking, 0.0), timetable.allowed_at("a", 0.0), timetable.delay("a")) == (0.0, 1.0, 1.0)
    assert repr(timetable) == before == "<Timetable 1 hosts, 1 booked, 0 under way, 0 backing off>"


def test_a_crawl_delay_stretches_the_gap_also_for_visits_already_booked() -> None:
    timetable = Timetable()
    visit(timetable, "a", 0.0)
    booking = timetable.reserve("a", 0.0)
    assert isinstance(booking, Booking)
    assert booking.at == 1.0
    timetable.set_crawl_delay("a", 10.0)
    assert timetable.wait(booking, 1.0) == 9.0
    assert not timetable.start(booking, 1.0)
    assert timetable.start(booking, 10.0)


def test_a_crawl_delay_shorter_than_ours_changes_nothing() -> None:
    timetable = Timetable()
    timetable.set_crawl_delay("a", 0.1)
    assert timetable.delay("a") == 1.0


def test_retry_after_blocks_the_host_until_then() -> None:
    timetable = Timetable()
    visit(timetable, "a", 0.0, HostFacts(0.1, 429, retry_after=120.0), seconds=0.5)
    assert timetable.allowed_at("a", 1.0) == 120.5


def test_a_long_block_is_a_refusal_that_says_when_to_come_back() -> None:
    timetable = Timetable(TimetableSettings(longest_wait=300.0))
    timetable.block("a", 1000.0)
    refusal = timetable.reserve("a", 0.0)
    assert isinstance(refusal, Refusal)
    assert refusal.until == 700.0  # from then on a booking waits 300 s at most
    assert "blocked" in refusal.why
    assert isinstance(timetable.reserve("a", 700.0), Booking)


def test_no_server_can_block_itself_for_longer_than_a_day() -> None:
    timetable = Timetable()
    visit(timetable, "a", 0.0, HostFacts(0.1, 503, retry_after=1e9))
    assert timetable.allowed_at("a", 0.0) == 86_400.0


def test_429_and_503_double_the_delay_and_successes_halve_it() -> None:
    timetable = Timetable(TimetableSettings(latency_factor=0.0))
    busy, delays = HostFacts(0.1, 503), []
    for facts in (busy, busy, busy, QUICK, QUICK, QUICK, QUICK):
        timetable.note("a", facts, 0.0)
        delays.append(timetable.delay("a"))
    # from 1 s: doubled 2, 4, 8; halved 4, 2, then 1 is the download delay itself
    assert delays == [2.0, 4.0, 8.0, 4.0, 2.0, 1.0, 1.0]


def test_the_back_off_is_capped() -> None:
    timetable = Timetable(TimetableSettings(longest_delay=30.0))
    for _ in range(10):
        timetable.note("a", HostFacts(0.1, 429), 0.0)
    assert timetable.delay("a") == 30.0
    assert timetable.allowed_at("a", 0.0) == 30.0


def test_a_slow_server_is_asked_less_often() -> None:
    timetable = Timetable(TimetableSettings(latency_factor=2.0))
    timetable.note("a", HostFacts(4.0, 200), 0.0)
    assert timetable.delay("a") == 8.0  # 2 × 4
    timetable.note("a", HostFacts(2.0, 200), 0.0)
    assert timetable.delay("a") == 6.0  # 2 × (4 + 2) / 2
    timetable.note("a", HostFacts(0.001, 500), 0.0)
    assert timetable.delay("a") == 6.0  # a quick error is no sign of health


def test_visits_under_way_are_limited() -> None:
    timetable = Timetable(TimetableSettings(concurrent_requests_per_host=2, download_delay=0.0))
    first, second, third = (timetable.reserve("a", 0.0) for _ in range(3))
    assert isinstance(first, Booking) and isinstance(second, Booking) and isinstance(third, Booking)
    assert timetable.start(first, 0.0)
    assert timetable.start(second, 0.0)
    assert not timetable.start(third, 5.0)
    timetable.give_back(first, started=True)
    assert timetable.start(third, 5.0)


def test_a_spent_hour_is_a_refusal_until_the_first_visit_is_an_hour_old() -> None:
    timetable = Timetable(TimetableSettings(requests_per_hour=3))
    assert [visit(timetable, "a", now) for now in (0.0, 100.0, 200.0)] == [0.0, 100.0, 200.0]
    refusal = timetable.reserve("a", 300.0)
    assert isinstance(refusal, Refusal)
    assert refusal.until == 3600.0
    assert timetable.allowed_at("a", 300.0) == 3600.0
    assert isinstance(timetable.reserve("a", 3599.0), Refusal)
    assert visit(timetable, "a", 3600.0) == 3600.0


def test_what_is_booked_is_spent() -> None:
    timetable = Timetable(TimetableSettings(requests_per_hour=2))
    assert isinstance(timetable.reserve("a", 0.0), Booking)
    second = timetable.reserve("a", 0.0)
    assert isinstance(second, Booking)
    assert isinstance(timetable.reserve("a", 0.0), Refusal)
    timetable.give_back(second, started=False)
    assert isinstance(timetable.reserve("a", 0.0), Booking)


def test_bytes_of_a_day_cannot_be_exceeded_not_even_by_the_largest_body() -> None:
    timetable = Timetable(TimetableSettings(bytes_per_day=2500, largest_body=1000))
    visit(timetable, "a", 0.0, HostFacts(0.1, 200, wire_bytes=800))
    visit(timetable, "a", 1000.0, HostFacts(0.1, 200, wire_bytes=701))
    refusal = timetable.reserve("a", 2000.0)  # 800 + 701 + 1000 > 2500
    assert isinstance(refusal, Refusal)
    assert refusal.until == 86_400.0
    assert isinstance(timetable.reserve("a", 86_400.0), Booking)


def test_a_visit_that_was_broken_off_counts_as_the_largest_body() -> None:
    timetable = Timetable(TimetableSettings(bytes_per_day=1500, largest_body=1000))
    visit(timetable, "a", 0.0, facts=None)
    assert isinstance(timetable.reserve("a", 10.0), Refusal)


def test_a_daily_budget_smaller_than_one_body_is_an_error() -> None:
    with pytest.raises(SettingsError, match="bytes_per_day"):
        Timetable(TimetableSettings(bytes_per_day=10, largest_body=1000))


def test_idle_hosts_are_forgotten() -> None:
    timetable = Timetable()
    for number in range(20_000):
        visit(timetable, f"host{number}", now=float(number))
    # an hour is 3,600 hosts here: doubling from there is 7,200 at most
    assert int(repr(timetable).split()[1]) <= 7_300


def test_a_host_with_a_block_a_booking_or_a_spent_budget_is_not_forgotten() -> None:
    timetable = Timetable(TimetableSettings(requests_per_hour=1, forget_after=0.0))
    timetable.block("blocked", 1e6)
    visit(timetable, "spent", 9_000.0)
    waiting = timetable.reserve("waiting", 0.0)
    assert isinstance(waiting, Booking)
    for number in range(5_000):
        visit(timetable, f"host{number}", now=float(number * 2))
    assert isinstance(timetable.reserve("blocked", 10_000.0), Refusal)
    assert isinstance(timetable.reserve("spent", 10_000.0), Refusal)
    assert timetable.start(waiting, 10_000.0)


def test_a_saved_timetable_goes_on_as_before() -> None:
    rules = TimetableSettings(requests_per_hour=2, bytes_per_day=5000, largest_body=1000)
    before = Timetable(rules)
    visit(before, "busy", 0.0, HostFacts(3.0, 429, retry_after=200.0))
    visit(before, "spent", 0.0, HostFacts(0.1, 200, wire_bytes=500))
    visit(before, "spent", 50.0, HostFacts(0.1, 200, wire_bytes=500))
    visit(before, "slow", 50.0)
    before.set_crawl_delay("slow", 9.0)
    before.reserve("slow", 60.0)
    after = Timetable(rules)
    after.load(kept_of(before, "busy", "spent", "slow"), 60.0)
    assert after.delay("busy") == before.delay("busy") == 3.0
    for host in ("busy", "spent"):
        assert after.allowed_at(host, 60.0) == before.allowed_at(host, 60.0) > 60.0
    assert after.delay("slow") == 9.0
    assert after.allowed_at("slow", 60.0) == 60.0 + 3600.0  # nobody knows whether its second visit was made


def kept_of(timetable: Timetable, *hosts: str) -> dict[str, bytes]:
    news = {host: timetable.news(host) for host in hosts}
    return {host: state for host, state in news.items() if state is not None}


def test_a_damaged_save_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(StoreError, match="new run directory"):
        Timetable().load({"a": b"\x93\x01"}, 0.0)


def test_a_host_as_any_other_has_no_news_and_a_wait_is_news_once() -> None:
    timetable = Timetable()
    visit(timetable, "a", 0.0)
    assert timetable.news("a") is timetable.news("never met") is None
    visit(timetable, "a", 5.0, HostFacts(0.1, 503))
    assert timetable.news("a") is not None
    assert timetable.news("a") is None
    assert [(wait.host, wait.until) for wait in timetable.waits(6.0)] == [("a", pytest.approx(7.0))]


def test_whoever_resumes_takes_every_host_for_asked_just_now() -> None:
    timetable = Timetable(TimetableSettings(download_delay=2.0))
    timetable.load({}, 100.0)
    booking = timetable.reserve("never met", 100.0)
    assert isinstance(booking, Booking)
    assert timetable.wait(booking, 100.0) == 2.0
    quick = Timetable(TimetableSettings(download_delay=0.0))
    quick.load({}, 100.0)  # short delays are not kept
    booking = quick.reserve("never met", 100.0)
    assert isinstance(booking, Booking)
    assert quick.wait(booking, 100.0) == pytest.approx(0.25)


def test_a_window_counts_what_lies_in_its_span() -> None:
    window = Window(100.0)
    window.add(5, 0.0)
    window.add(3, 50.0)
    assert [window.total(now) for now in (50.0, 99.0, 100.0, 149.0, 150.0)] == [8, 8, 3, 3, 0]
