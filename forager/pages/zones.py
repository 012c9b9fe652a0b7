"""Time zones: by their names, by the country of a site, and when summer time holds.

A time that names no zone is local time. Which zone that is the country tells, if it has but one: by the end of the host,
else by the language of the page. The rules of summer time are those in force since 2007; where they changed since, or
where a country has several zones, nothing is assumed.
"""

from datetime import UTC, date, datetime, timedelta
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

AMERICAN_ZONES: Final[dict[str, float]] = {"et": -5, "ct": -6, "mt": -7, "pt": -8}
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
COUNTRIES: Final[dict[str, tuple[float, bool]]] = {
    **{country: (hours, True) for hours, names in _EUROPEAN.items() for country in names.split()},
    **{country: (hours, False) for hours, names in _STEADY.items() for country in names.split()},
}
"""Hours ahead of UTC in winter, and whether the summer time of the European Union holds, by the end of a host."""

LANGUAGES: Final[dict[str, str]] = {
    "de": "de", "it": "it", "nl": "nl", "pl": "pl", "cs": "cz", "sk": "sk", "hu": "hu", "sv": "se", "da": "dk", "no": "no",
    "nb": "no", "fi": "fi", "el": "gr", "ro": "ro", "bg": "bg", "uk": "ua", "tr": "tr", "fa": "ir", "hi": "in", "bn": "bd",
    "th": "th", "vi": "vn", "ja": "jp", "ko": "kr",
}  # fmt: skip
"""The country in which most of what is written in a language is published."""


def country_of(url: Url, lang: str) -> str:
    """The country of a page, by the end of its host or its language; empty if there is none with one zone."""
    end = host(url).rpartition(".")[2]
    if end in COUNTRIES:
        return end
    name, _, region = lang.partition("-")
    if len(end) == 2 and not region:
        return ""  # another country: its language may be spoken elsewhere
    return region if region in COUNTRIES else LANGUAGES.get(name, "") if not region else ""


def local_offset(country: str, time: float) -> float:
    """Seconds by which a country is ahead of UTC, at a moment given as if its clocks showed UTC."""
    hours, has_summer = COUNTRIES[country]
    return 3600 * (hours + (has_summer and is_european_summer(datetime.fromtimestamp(time, UTC).date())))


def is_european_summer(day: date) -> bool:
    """From the last Sunday of March to the last of October."""
    return sunday(day.year, 3, 25) <= day < sunday(day.year, 10, 25)


def is_american_summer(day: date) -> bool:
    """From the second Sunday of March to the first of November."""
    return sunday(day.year, 3, 8) <= day < sunday(day.year, 11, 1)


def sunday(year: int, month: int, day: int) -> date:
    """The first Sunday on or after this day."""
    start = date(year, month, day)
    return start + timedelta(days=6 - start.weekday())
