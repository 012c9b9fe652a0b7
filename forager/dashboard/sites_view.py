"""Page Sites: results and costs of each site, the rules of each host, errors, and skipped URLs."""

from typing import Any

import numpy as np

from forager.dashboard.chronicle import HOUR, Chronicle, Facts, request_facts
from forager.dashboard.watched import Watched
from forager.report.account import SiteAccount
from forager.report.text import shown
from forager.terms import Url

SKIPS, HOSTS, RULES = 300, 300, 5
"""Limits (ours): rows of skipped URLs and hosts sent at once, refusing rules listed per site."""


def sites(watched: Watched, chronicle: Chronicle) -> Facts:
    """Content of the page."""
    skipped = watched.skipped()
    return {
        "now": watched.clock.now(),
        "sites": [_site(name, account) for name, account in chronicle.account.sites.items()],
        "hosts": [host_facts(name, watched, chronicle) | _robots(name, watched) for name in _busiest(chronicle)],
        "errors": [request_facts(fetched) for fetched in reversed(chronicle.errors)],
        "skipped": [
            {"reason": skip.reason, "host": skip.host, "count": skip.count, "example": skip.example}
            for skip, _ in zip(skipped, range(SKIPS), strict=False)
        ],
        "skipped_by_reason": dict(skipped.counts()),
    }


def host_facts(name: str, watched: Watched, chronicle: Chronicle) -> Facts:
    """The last hour at a host against the limits of politeness and budget."""
    now = watched.clock.now()
    facts: Facts = {
        "host": name,
        "used": chronicle.hosts[name].total(now),
        "allowed": None,
        "delay": None,
        "next_in": None,
    }
    timetable = watched.timetable
    if timetable is not None:
        delay, hourly = timetable.delay(name), timetable.settings.requests_per_hour
        polite = HOUR / delay if delay > 0 else float("inf")
        most = min(polite, polite if hourly is None else hourly)
        facts["delay"] = round(delay, 3)
        facts["allowed"] = int(most) if np.isfinite(most) else None
        facts["next_in"] = round(max(0.0, timetable.allowed_at(name, now) - now), 1)
    return facts


def _busiest(chronicle: Chronicle) -> list[str]:
    return [*chronicle.hosts][:HOSTS]


def _robots(name: str, watched: Watched) -> dict[str, Any]:
    """What the host's robots.txt says about us; empty if it has not been read."""
    known = [
        verdict
        for scheme in ("https", "http")
        if watched.robots is not None and (verdict := watched.robots.known_verdict(Url(f"{scheme}://{name}/")))
    ]
    if not known:
        return {"robots": None}
    verdict = known[0]
    return {
        "robots": {
            "allowed": verdict.allowed,
            "rule": shown(verdict.rule),
            "line": verdict.line,
            "group": shown(verdict.group),
            "crawl_delay": verdict.crawl_delay,
            "source": verdict.source,
            "read": verdict.fetched,
        }
    }


def _site(name: str, account: SiteAccount) -> Facts:
    facts = account.facts()
    rules = sorted(
        ((rule or kind, count) for kind, rules in account.refusals.items() for rule, count in rules.items()),
        key=lambda item: -item[1],
    )
    return {
        "site": name,
        "stories": facts["stories"],
        "delay_median": facts["delay_median_s"],
        "delay_p90": facts["delay_p90_s"],
        "requests": facts["requests"],
        "unchanged": facts["not_modified"],
        "wire_bytes": facts["wire_bytes"],
        "channels": facts["channels"],
        "errors": facts["errors"],
        "refusals": {shown(rule): count for rule, count in rules[:RULES]},
        "last_error": shown(account.last_error),
        "last_story": account.last_story,
    }
