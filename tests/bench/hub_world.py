"""A synthetic world of section pages in the shape of a recording of German front pages: 130 hubs, 800 hours, 66,000 articles.

Every site has a front page and sections. An article appears on its section, four times in ten on the front page too,
and leaves when newer ones push it out; hubs show 15 to 60 articles. Sites differ widely in pace (log-normal), and all
sleep at night. At 6 hubs per hour Age covers 74% with a mean delay of 7.8 h (the recording: 74%, 8.2 h), the greedy
oracle 92% with 3.1 h (88%, 1.8 h). No other policy was looked at to shape it.
"""

import numpy as np

from forager.recrawl.change_log import ChangeLog, ShownDocuments

HUBS, HOURS, ARTICLES = 130, 800, 66_000
SITES = 20
SITE_SPREAD, HUB_SPREAD = 1.4, 1.6
"""Of the logarithm of the pace: fitted by hand so that Age covers 74% with 8 hours of delay at 6 hubs per hour."""
_NIGHT = 0.15
"""Pace in the deepest night, as a share of the pace at noon."""


def hub_world(seed: int = 0, hubs: int = HUBS, hours: int = HOURS, articles: int = ARTICLES) -> ChangeLog:
    """The discovery log of the hubs, in hourly cycles from a midnight on."""
    rng = np.random.default_rng(seed)
    site = np.concatenate(
        [np.arange(SITES), rng.integers(SITES, size=hubs - SITES)]
    )  # the first hub of each is its front
    pace = rng.lognormal(0.0, SITE_SPREAD, SITES)[site] * rng.lognormal(0.0, HUB_SPREAD, hubs)
    pace[:SITES] = 0.0  # front pages show what sections bring
    room = rng.integers(15, 61, size=hubs)
    clock = np.arange(hours) % 24
    day = _NIGHT + (1.0 - _NIGHT) * np.clip(np.sin((clock - 5) / 18 * np.pi), 0.0, 1.0)
    section = rng.choice(hubs, size=articles, p=pace / pace.sum())
    hour = np.sort(rng.choice(hours, size=articles, p=day / day.sum()))
    fronted = np.flatnonzero(rng.random(articles) < 0.4)
    page = np.concatenate([section, site[section[fronted]]])
    document = np.concatenate([np.arange(articles), fronted])
    first = hour[document]
    last = np.full(len(page), hours)
    for hub in range(hubs):
        own = np.flatnonzero(page == hub)
        own = own[np.argsort(first[own], kind="stable")]
        if len(own) > room[hub]:  # each leaves in the hour in which the one `room` places later arrives
            last[own[: -room[hub]]] = first[own[room[hub] :]] - 1
    shown = last >= first
    changed = np.zeros((hubs, hours), dtype=np.bool_)
    changed[page[shown], first[shown]] = True
    changed[:, 0] = False
    _, number = np.unique(document[shown], return_inverse=True)
    documents = ShownDocuments(number.astype(np.int64), page[shown], first[shown], last[shown])
    return ChangeLog(changed, tuple(f"https://hub/{i}" for i in range(hubs)), documents, start=0.0, cycle=3600.0)
