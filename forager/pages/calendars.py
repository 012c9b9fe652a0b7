"""Names of months and time zones, as tables: the words that `moments` knows.

Months are written as `moments` compares them: lower case, without accents. Each row holds the names of one month in
English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Czech, Swedish, Danish, Norwegian, Finnish,
Hungarian, Romanian, Turkish, Greek, Russian and Ukrainian: in full, in the case used in dates, and short where common.
"""

from typing import Final

_MONTHS: Final = (
    "january jan januar janner janvier janv enero ene gennaio gen janeiro januari stycznia styczen sty ledna "
    "leden tammikuuta tammi ianuarie ian ocak oca ιανουαριου ιαν января янв січня січ",
    "february feb februar fevrier fevr febrero febbraio fevereiro fev februari lutego luty lut unora unor "
    "helmikuuta helmi februarie subat sub φεβρουαριου φεβ февраля фев лютого лют",
    "march mar marz maerz mrz mars marzo marco maart mrt marca marzec brezna brezen maaliskuuta maalis marcius "
    "marc martie mart μαρτιου μαρ марта мар березня бер",
    "april apr avril avr abril abr aprile kwietnia kwiecien kwi dubna duben huhtikuuta huhti aprilis aprilie "
    "nisan nis απριλιου απρ апреля апр квітня кві",
    "may mai mayo maggio mag maio mei maja maj kvetna kveten toukokuuta touko majus mayis μαιου μαι мая маи травня тра",
    "june jun juni juin junio giugno giu junho czerwca czerwiec cze cervna cerven kesakuuta kesa junius iunie iun "
    "haziran haz ιουνιου ιουν июня июн червня чер",
    "july jul juli juillet juil julio luglio lug julho lipca lipiec lip cervence cervenec heinakuuta heina julius "
    "iulie iul temmuz tem ιουλιου ιουλ июля июл липня лип",
    "august aug aout agosto ago augustus sierpnia sierpien sie srpna srpen augusti elokuuta elo augusztus agustos "
    "agu αυγουστου αυγ августа авг серпня сер",
    "september sep sept septembre septiembre setiembre settembre set setembro wrzesnia wrzesien wrz zari "
    "syyskuuta syys szeptember szept septembrie eylul eyl σεπτεμβριου σεπτ σεπ сентября сен сент вересня вер",
    "october oct oktober okt octobre octubre ottobre ott outubro out pazdziernika pazdziernik paz rijna rijen "
    "lokakuuta loka octombrie ekim eki οκτωβριου οκτ октября окт жовтня жов",
    "november nov novembre noviembre novembro listopada listopad lis marraskuuta marras noiembrie noi kasim kas "
    "νοεμβριου νοε ноября ноя листопада лис",
    "december dec dezember dez decembre diciembre dic dicembre dezembro grudnia grudzien gru prosince prosinec "
    "joulukuuta joulu decembrie aralik ara δεκεμβριου δεκ декабря дек грудня гру desember",
)

MONTHS: Final[dict[str, int]] = {
    name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()
}
"""The number of a month by its name."""

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
