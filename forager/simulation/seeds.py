"""Where a replay starts if nobody says where: the page with most links of every site that was there at the start."""

from urllib.parse import urlsplit

import numpy as np

from forager.errors import InputError
from forager.terms import UrlId
from forager.world.tape.columns import SETTLING, Tape


def default_seeds(tape: Tape) -> tuple[UrlId, ...]:
    """One page of each site, all pages if the tape has no links; the first pages of all if nothing was there at the start."""
    count = np.diff(tape.version_start)
    shown = np.flatnonzero(count > 0)
    first = tape.version_start[shown]
    there = shown[(tape.time[first] <= tape.start + SETTLING) & ~tape.gone[first]]
    if not len(there):
        there = shown[np.argsort(tape.time[first], kind="stable")][:1]
    if not len(there):
        raise InputError(f"{tape.origin}: the tape has no pages")
    if not len(tape.links):
        return tuple(UrlId(url) for url in there.tolist())
    sets = tape.link_set[tape.version_start[there]]
    degree = tape.link_start[sets + 1] - tape.link_start[sets]
    best: dict[str, UrlId] = {}
    for url in there[np.argsort(-degree, kind="stable")].tolist():
        best.setdefault(urlsplit(tape.url(UrlId(url))).netloc, UrlId(url))
    return tuple(best.values())
