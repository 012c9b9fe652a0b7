"""Reading one date string."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.pages.moments import MONTHS, Moment, read_moment

HALF_PAST_NINE = datetime(2022, 3, 14, 9, 30, tzinfo=UTC).timestamp()
THE_DAY = datetime(2022, 3, 14, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "2022-03-14T09:30:00Z",
        "2022-03-14T09:30:00.000Z",
        "2022-03-14T10:30:00+01:00",
        "2022-03-14T10:30:00+0100",
        "2022-03-14T10:30+01",
        "2022-03-14T10:30:00+01:00[Europe/Berlin]",
        "20220314T093000Z",
        "2022-03-14 09:30",
        "1647250200",  # 19,065 days of 86,400 s after 1970, and 9 h 30 min: 1,647,216,000 + 34,200
        "1647250200000",
        "Mon, 14 Mar 2022 09:30:00 GMT",
        "Mon, 14 Mar 2022 04:30:00 EST",
        "Mon, 14 Mar 22 09:30:00 +0000",
        "Monday, 14-Mar-22 09:30:00 GMT",
        "Mon Mar 14 09:30:00 2022",
        "Mon Mar 14 05:30:00 EDT 2022",
        "March 14, 2022 at 5:30 a.m. ET",  # summer time began on the 13th: four hours behind
        "Mar. 14th, 2022 05:30 AM EDT",
        "Published 09:30 GMT, 14 March 2022",
        "14. März 2022, 10:30 Uhr MEZ",
        "14. März 2022, 11.30 Uhr MESZ",
        "14 mars 2022 à 09h30",
        "14 de marzo de 2022 - 09:30",
        "14 de março de 2022 às 09h30",
        "14 marzo 2022, 09:30",
        "14 maart 2022 09:30",
        "14 marca 2022, 09:30",
        "14. března 2022 09:30",
        "14. maaliskuuta 2022 klo 9.30",
        "2022. március 14. 09:30",
        "14 Mart 2022 09:30",
        "14 Μαρτίου 2022, 09:30",
        "14 марта 2022, 09:30",
        "14 березня 2022, 09:30",
        "14.03.2022 09:30",
        "14/03/2022 09:30",
        "03/14/2022 09:30",
        "2022年3月14日 09時30分",
        "2022년 3월 14일 09:30",
    ],
)
def test_one_moment_is_read_however_it_is_written(text: str) -> None:
    assert read_moment(text) == Moment(HALF_PAST_NINE, exact=True)


@pytest.mark.parametrize("text", ["2022-03-14", "20220314", "14. März 2022", "March 14, 2022", "2022-03-14T00:00:00Z"])
def test_a_bare_day_and_midnight_are_not_exact(text: str) -> None:
    assert read_moment(text) == Moment(THE_DAY, exact=False)


def test_a_day_with_a_zone_starts_at_midnight_there() -> None:
    assert read_moment("2022-03-14T00:00:00+01:00") == Moment(THE_DAY - 3600, exact=False)


def test_months_have_names_in_arabic_bulgarian_and_indonesian_too() -> None:
    for text in ("الاثنين، 14 مارس 2022 - 09:30", "14 март 2022 09:30", "14 Maret 2022 09:30"):
        assert read_moment(text) == Moment(HALF_PAST_NINE, exact=True)


def test_a_moment_knows_whether_a_zone_was_stated() -> None:
    zones = [
        read.zone
        for text in ("2022-03-14T09:30:00Z", "2022-03-14T09:30:00+01:00", "2022-03-14 09:30", "14 March 2022 9:30 EST")
        if (read := read_moment(text))
    ]
    assert zones == [0.0, 3600.0, None, -18_000.0]


def test_a_time_before_american_summer_time_is_five_hours_behind() -> None:
    winter = read_moment("March 12, 2022 at 4:30 a.m. ET")
    assert winter == Moment(HALF_PAST_NINE - 2 * 86_400, exact=True)


def test_twelve_o_clock_follows_the_american_clock() -> None:
    assert read_moment("March 14, 2022 12:05 PM UTC") == Moment(THE_DAY + 12 * 3600 + 300, exact=True)
    assert read_moment("March 14, 2022 12:05 AM UTC") == Moment(THE_DAY + 300, exact=True)


def test_an_ambiguous_day_is_read_day_first_unless_it_looks_american() -> None:
    assert read_moment("03/04/2022 09:30") == Moment(datetime(2022, 4, 3, 9, 30, tzinfo=UTC).timestamp(), exact=True)
    assert read_moment("03/04/2022 09:30 am EST") == Moment(
        datetime(2022, 3, 4, 14, 30, tzinfo=UTC).timestamp(), exact=True
    )


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "31 February 2022", "2022-13-01", "2022-03-14T25:00:00Z", "Room 14, 2022 seats", "0" * 5000],
)
def test_what_is_no_date_is_nothing(text: str) -> None:
    assert read_moment(text) is None


def test_every_month_is_known_by_a_dozen_names() -> None:
    assert sorted(set(MONTHS.values())) == list(range(1, 13))
    assert all(sum(number == month for number in MONTHS.values()) >= 12 for month in range(1, 13))


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    read_moment(text)


@given(
    st.integers(86_400, 4_000_000_000),
    st.integers(-12 * 4, 14 * 4),
)
def test_an_iso_time_means_the_same_to_us_as_to_python(time: int, quarters: int) -> None:
    stamped = datetime.fromtimestamp(time, timezone(timedelta(minutes=15 * quarters)))
    read = read_moment(stamped.isoformat())
    assert read is not None
    assert read.time == time
