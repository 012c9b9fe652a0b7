"""Reads one date as people and programs write it: ISO 8601, RFC 822, epoch numbers, and prose.

    2022-03-14T10:20:30+0100 · Mon, 14 Mar 2022 10:20:30 EST · 14. März 2022, 10:20 Uhr MEZ · March 14, 2022, 10 a.m. ET

A time without a zone is read as if it were UTC, and marked so. Midnight to the second is how systems write a day
without time, so it counts as a day.

The country decides the zone of a local time if it has only one: by the end of the host, else by the language of the
page. The rules of summer time are those in force since 2007; where they changed since, or where a country has several
zones, nothing is assumed.

The names of months are in a table, in the form in which they are compared: lower case, without accents. Each row holds
the names of one month in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Czech, Swedish, Danish,
Norwegian, Finnish, Hungarian, Romanian, Turkish, Greek, Russian, Ukrainian, Bulgarian, Catalan, Indonesian and Arabic:
in full, in the case used in dates, and short where common.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

from forager.pages.urls import host
from forager.terms import Url

ZONES: Final[dict[str, float]] = {
    "z": 0, "utc": 0, "gmt": 0, "ut": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "mez": 1, "cest": 2,
    "mesz": 2, "met": 1, "mest": 2, "eet": 2, "eest": 3, "sast": 2, "msk": 3, "trt": 3, "gst": 4, "pkt": 5,
    "ist": 5.5, "wib": 7, "ict": 7, "hkt": 8, "sgt": 8, "awst": 8, "pht": 8, "jst": 9, "kst": 9, "acst": 9.5,
    "aest": 10, "acdt": 10.5, "aedt": 11, "nzst": 12, "nzdt": 13, "nst": -3.5, "ndt": -2.5, "brt": -3,
    "art": -3, "clt": -4, "ast": -4, "adt": -3, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10,
}  # fmt: skip
"""Hours ahead of UTC by the short name of a zone; where a name has several meanings, that of the larger press."""

_AMERICAN_ZONES: Final[dict[str, float]] = {"et": -5, "ct": -6, "mt": -7, "pt": -8}
"""Hours ahead of UTC in winter, for names that follow the summer time of the United States."""

_EUROPEAN = {
    0: "uk gb ie pt",
    1: "de at ch fr it nl be lu es pl cz sk hu se no dk si hr rs ba mk al mt",
    2: "fi gr ro bg ee lv lt cy ua",
}
_STEADY = {
    -5: "pe ec", -4: "ve bo", -3: "ar uy", 1: "ng", 2: "za", 3: "tr sa ke by kw", 3.5: "ir", 4: "ae ge az", 5: "pk",
    5.5: "in lk", 5.75: "np", 6: "bd", 6.5: "mm", 7: "th vn kh", 8: "cn tw hk sg my ph", 9: "jp kr",
}  # fmt: skip
_COUNTRIES: Final[dict[str, tuple[float, bool]]] = {
    **{country: (hours, True) for hours, names in _EUROPEAN.items() for country in names.split()},
    **{country: (hours, False) for hours, names in _STEADY.items() for country in names.split()},
}
"""Hours ahead of UTC in winter, and whether the summer time of the European Union holds, by the end of a host."""

_LANGUAGES: Final[dict[str, str]] = {
    "de": "de", "it": "it", "nl": "nl", "pl": "pl", "cs": "cz", "sk": "sk", "hu": "hu", "sv": "se", "da": "dk", "no": "no",
    "nb": "no", "fi": "fi", "el": "gr", "ro": "ro", "bg": "bg", "uk": "ua", "tr": "tr", "fa": "ir", "hi": "in", "bn": "bd",
    "th": "th", "vi": "vn", "ja": "jp", "ko": "kr", "zh": "cn",
}  # fmt: skip
"""The country in which most of what is written in a language is published."""

_NO_REGIONS: Final = frozenset(("ar", "be", "my", "uk"))
"""Languages named like a country of others: who writes `ar-ar` means Arabic, not Argentina."""


def country_of(url: Url, lang: str) -> str:
    """The country of a page, by the end of its host or its language; empty if there is none with one zone."""
    end = host(url).rpartition(".")[2]
    if end in _COUNTRIES:
        return end
    name, _, region = lang.partition("-")
    if region == name and name in _NO_REGIONS:
        region = ""
    if len(end) == 2 and not region:
        return ""  # another country: its language may be spoken elsewhere
    return region if region in _COUNTRIES else _LANGUAGES.get(name, "") if not region else ""


def local_offset(country: str, time: float) -> float:
    """Seconds by which a country is ahead of UTC, at a moment given as if its clocks showed UTC."""
    hours, has_summer = _COUNTRIES[country]
    return 3600 * (hours + (has_summer and _is_european_summer(datetime.fromtimestamp(time, UTC).date())))


def _is_european_summer(day: date) -> bool:
    """From the last Sunday of March to the last of October."""
    return _sunday(day.year, 3, 25) <= day < _sunday(day.year, 10, 25)


def _is_american_summer(day: date) -> bool:
    """From the second Sunday of March to the first of November."""
    return _sunday(day.year, 3, 8) <= day < _sunday(day.year, 11, 1)


def _sunday(year: int, month: int, day: int) -> date:
    """The first Sunday on or after this day."""
    start = date(year, month, day)
    return start + timedelta(days=6 - start.weekday())


_MONTHS: Final = (
    "january jan januar janner janvier janv enero ene gennaio gen janeiro januari stycznia styczen sty ledna "
    "leden tammikuuta tammi ianuarie ian ocak oca ιανουαριου ιαν января янв січня січ"
    " януари gener يناير",
    "february feb februar fevrier fevr febrero febbraio fevereiro fev februari lutego luty lut unora unor "
    "helmikuuta helmi februarie subat sub φεβρουαριου φεβ февраля фев лютого лют"
    " февруари febrer فبراير",
    "march mar marz maerz mrz mars marzo marco maart mrt marca marzec brezna brezen maaliskuuta maalis marcius "
    "marc martie mart μαρτιου μαρ марта мар березня бер"
    " март marc maret مارس",
    "april apr avril avr abril abr aprile kwietnia kwiecien kwi dubna duben huhtikuuta huhti aprilis aprilie "
    "nisan nis απριλιου απρ апреля апр квітня кві"
    " април ابريل",
    "may mai mayo maggio mag maio mei maja maj kvetna kveten toukokuuta touko majus mayis μαιου μαι мая маи травня тра"
    " май maig مايو",
    "june jun juni juin junio giugno giu junho czerwca czerwiec cze cervna cerven kesakuuta kesa junius iunie iun "
    "haziran haz ιουνιου ιουν июня июн червня чер"
    " юни juny يونيو يونيه",
    "july jul juli juillet juil julio luglio lug julho lipca lipiec lip cervence cervenec heinakuuta heina julius "
    "iulie iul temmuz tem ιουλιου ιουλ июля июл липня лип"
    " юли juliol يوليو يوليه",
    "august aug aout agosto ago augustus sierpnia sierpien sie srpna srpen augusti elokuuta elo augusztus agustos "
    "agu αυγουστου αυγ августа авг серпня сер"
    " август agost agustus اغسطس",
    "september sep sept septembre septiembre setiembre settembre set setembro wrzesnia wrzesien wrz zari "
    "syyskuuta syys szeptember szept septembrie eylul eyl σεπτεμβριου σεπτ σεπ сентября сен сент вересня вер"
    " септември سبتمبر",
    "october oct oktober okt octobre octubre ottobre ott outubro out pazdziernika pazdziernik paz rijna rijen "
    "lokakuuta loka octombrie ekim eki οκτωβριου οκτ октября окт жовтня жов"
    " октомври اكتوبر",
    "november nov novembre noviembre novembro listopada listopad lis marraskuuta marras noiembrie noi kasim kas "
    "νοεμβριου νοε ноября ноя листопада лис"
    " ноември نوفمبر",
    "december dec dezember dez decembre diciembre dic dicembre dezembro grudnia grudzien gru prosince prosinec "
    "joulukuuta joulu decembrie aralik ara δεκεμβριου δεκ декабря дек грудня гру desember"
    " декември desembre ديسمبر",
)

MONTHS: Final[dict[str, int]] = {
    name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()
}
"""The number of a month by its name."""

LONGEST = 120  # characters of a string that are looked at; a date is shorter (ours)
_REMEMBERED = 1_000  # strings whose moments are remembered: a page states the same one several times (ours)

_NONE, _WHOLE_DAY = timedelta(0), timedelta(days=1)

_ISO = re.compile(
    r"\s*(\d{4})-?(\d\d)-?(\d\d)(?:[T\s]+(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?\s*(z|[+-]\d\d(?::?\d\d)?)?(?:\[[\w/]+\])?)?\s*",
    re.ASCII | re.IGNORECASE,
)
_EPOCH = re.compile(r"\s*(\d{9,10})(\d{3})?(?:\.\d+)?\s*", re.ASCII)

_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s*[-/.年년]\s*(\d{1,2})\s*[-/.月월]\s*(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})\s?([-/.])\s?(\d{1,2})\s?\2\s?(\d{4}|\d\d)(?!\d)")
_MONTH = rf"({'|'.join(sorted(MONTHS, key=len, reverse=True))})(?![^\W\d_])\.?"
_DAY_MONTH = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|º|°|ª)?\.?[\s\-]*(?:de\s+|di\s+|of\s+)?{_MONTH},?[\s\-/]*(?:de[l]?\s+)?(\d{{4}}|\d\d)(?!\d|:)"
)
_MONTH_DAY = re.compile(rf"(?<!\w){_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})(?!\d)")
_YEAR_MONTH_DAY = re.compile(rf"(?<!\d)(\d{{4}})\.?,?\s+(?:m\.\s+)?{_MONTH}\s+(\d{{1,2}})(?!\d)")
_MONTH_DAY_TIME_YEAR = re.compile(
    rf"{_MONTH}\s+(\d{{1,2}}),?\s+\d\d?:\d\d(?::\d\d)?\s+(?:[a-z]{{2,5}}\s+|[+-]\d{{4}}\s+)?(\d{{4}})(?!\d)"
)

_TIME = re.compile(
    r"(?<![\d+\-.:])(\d{1,2})\s?[:h時시点]\s?(\d\d)(?!\d)(?:[:m分분]\s?(\d\d)(?:[.,]\d+)?)?\s*(?:(a|p)\.?\s?m\b\.?)?"
)
_DOTTED_TIME = re.compile(r"(?<![\d+\-.:])(\d{1,2})\.(\d\d)(?![\d.])()\s*(?:(a|p)\.?\s?m\b\.?|(?=\s*uhr|\s*$))")
_HOUR = re.compile(r"(?<![\d+\-.:])(\d{1,2})()()\s*(a|p)\.?\s?m\b\.?")
_ZONE = re.compile(
    r"\s*(?:uhr\b|hrs?\b|o'clock)?\s*[(,]?\s*(?:(?:utc|gmt)\s*)?(?:([+-])(\d\d?)(?::?(\d\d))?(?!\d)|(z|[a-z]{2,5})\b)"
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, or a day of which only the start is known."""

    time: float
    """UTC seconds since the epoch."""
    exact: bool
    """False if only the day is known; `time` is then the start of that day in the stated zone, else UTC."""
    zone: float | None = field(default=None, compare=False)
    """Seconds by which the stated zone is ahead of UTC; None if none is stated."""

    @property
    def latest(self) -> float:
        """The last moment that may be meant: the end of the day if no hour is given, in the last zone if no zone is
        given.
        """
        return self.time + (0.0 if self.exact else 86_400.0) + (14 * 3600.0 if self.zone is None else 0.0)


def read_moment(text: str) -> Moment | None:
    """The first date in the text, which should hold little else; `None` if there is none that we understand."""
    return _read(text[:LONGEST])


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str) -> Moment | None:
    try:
        return _iso(text) or _epoch(text) or _prose(_plain(text))
    except (ValueError, OverflowError):  # the 31st of February, the hour 25
        return None


def _iso(text: str) -> Moment | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    clock = (int(hour or 0), int(minute or 0), min(int(second or 0), 59))  # 60 is a leap second
    return _moment(int(year), int(month), int(day), clock, _offset(zone) if zone else None)


def _epoch(text: str) -> Moment | None:
    match = _EPOCH.fullmatch(text)
    return Moment(float(match[1]) + float(match[2] or 0) / 1000, exact=True, zone=0.0) if match else None


def _prose(text: str) -> Moment | None:
    found = _day(text)
    if found is None:
        return None
    (year, month, day), start, end = found
    return _moment(year, month, day, *_clock(text[end:], text[:start], text[start:end], date(year, month, day)))


def _moment(year: int, month: int, day: int, clock: tuple[int, int, int], offset: timedelta | None) -> Moment:
    if abs(offset or _NONE) >= _WHOLE_DAY:
        raise ValueError(f"no zone is {offset} ahead")
    zone = None if offset is None else offset.total_seconds()
    time = datetime(year, month, day, *clock, tzinfo=UTC).timestamp() - (zone or 0.0)
    return Moment(time, clock != (0, 0, 0), zone)


def _day(text: str) -> tuple[tuple[int, int, int], int, int] | None:
    """(year, month, day) and where in the text it stands."""
    if match := _YEAR_FIRST.search(text):
        return (int(match[1]), int(match[2]), int(match[3])), *match.span()
    for pattern, (year, month, day) in _WORDED:
        if match := pattern.search(text):
            return (_year(match[year]), MONTHS[match[month]], int(match[day])), *match.span()
    if match := _YEAR_LAST.search(text):
        month_number, day_number = _month_and_day(
            int(match[1]), int(match[3]), american=_looks_american(text, match[2])
        )
        return (_year(match[4]), month_number, day_number), *match.span()
    return None


_WORDED = (
    (_DAY_MONTH, (3, 2, 1)),
    (_MONTH_DAY, (3, 1, 2)),
    (_YEAR_MONTH_DAY, (1, 2, 3)),
    (_MONTH_DAY_TIME_YEAR, (3, 1, 2)),
)
"""Dates whose month is a word, and which groups are year, month and day."""


def _looks_american(text: str, separator: str) -> bool:
    return separator == "/" and re.search(r"\b[ap]\.?m\b|\b[ecmp][sd]?t\b", text) is not None


def _month_and_day(first: int, second: int, *, american: bool) -> tuple[int, int]:
    """Day first, as most of the world writes, unless only the other order is possible or the text looks American."""
    return (first, second) if second > 12 or (american and first <= 12) else (second, first)


def _year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) == 4 else year + (2000 if year < 69 else 1900)  # RFC 2822's reach, POSIX's pivot


def _clock(after: str, before: str, within: str, day: date) -> tuple[tuple[int, int, int], timedelta | None]:
    """The time of day and the zone; times stand after the date, seldom before it, or (asctime) within."""
    for text in (after, before, within):
        match = _TIME.search(text) or _DOTTED_TIME.search(text) or _HOUR.search(text)
        if match is None:
            continue
        hour, minute, second = int(match[1]), int(match[2] or 0), min(int(match[3] or 0), 59)
        if match[4]:
            hour = hour % 12 + (12 if match[4] == "p" else 0)
        return (hour, minute, second), _zone(text[match.end() :], day)
    return (0, 0, 0), None


def _zone(text: str, day: date) -> timedelta | None:
    """The zone that the text begins with; None if it begins with none."""
    match = _ZONE.match(text)
    if match is None:
        return None
    if match[1]:
        return _offset(f"{match[1]}{match[2]:0>2}{match[3] or '00'}")
    name = match[4]
    if name in _AMERICAN_ZONES:
        return timedelta(hours=_AMERICAN_ZONES[name] + _is_american_summer(day))
    return timedelta(hours=ZONES[name]) if name in ZONES else None


def _offset(zone: str) -> timedelta:
    """`+01:00`, `+0100`, `+01` or `z`."""
    if zone in "zZ":
        return _NONE
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return -offset if zone[0] == "-" else offset


def _plain(text: str) -> str:
    """Lower case, without accents, blanks made plain."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFD", text.casefold())
        text = unicodedata.normalize(
            "NFC", "".join(letter for letter in decomposed if not unicodedata.combining(letter))
        )
    return " ".join(text.lower().split())
