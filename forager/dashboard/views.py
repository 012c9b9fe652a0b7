"""The content of each page as JSON values; `recrawl_view` has the page Recrawl."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from forager.core.fleet import ForagerRecord
from forager.dashboard import recrawl_view as schedule
from forager.dashboard.chronicle import HOUR, Chronicle, JsonFacts, request_facts, story_facts
from forager.dashboard.watched import Watched
from forager.events import Told
from forager.pages.urls import host
from forager.report.account import SiteAccount
from forager.report.dossier import Dossier, compile_dossier
from forager.report.phrases import shown
from forager.report.reasons import at_host, whose_page
from forager.terms import ForagerId, Url

LATEST, POINTS, WEBLOG, LIVES = 200, 600, 30, 300
"""Limits (ours): stories, delays, weblog entries and foragers sent at once."""
SKIPS, HOSTS, RULES = 300, 300, 5
"""Limits (ours): rows of skipped URLs and hosts sent at once, refusing rules listed per site."""


class Views:
    """Provides the content of the pages, from the chronicle and the crawl."""

    def __init__(self, watched: Watched, chronicle: Chronicle) -> None:
        self.watched, self.chronicle = watched, chronicle

    def figures(self) -> JsonFacts:
        account, total = self.chronicle.account, self.chronicle.account.total
        return {
            "name": self.watched.name,
            "now": self.watched.clock.now(),
            **total.facts(),
            **account.topic_facts(),
            "requests_per_story": total.requests_per_story,
            "known": len(self.watched.known()),
            "pages": account.pages,
            "visits": account.visits,
            "versions": self.watched.store.counts().versions,
            "alive": account.alive,
            "born": account.born,
            "deleted": account.deleted,
            "errors": sum(total.error_counts.values()),
            "refused": total.outcomes.get("refused", 0),
        }

    def now(self) -> JsonFacts:
        """Page Now, without the figures: latest stories, counts and coverage over time, delays, budgets, requests."""
        timeline = self.chronicle.account.timeline
        return {
            "stories": self.stories(limit=LATEST),
            "timeline": {"start": timeline.start or 0.0, "width": timeline.width, "counts": timeline.counts},
            "coverage": self.watched.coverage.over_time(),
            "delays": [(told.at, told.delay, told.site) for _, told in self._latest(POINTS) if told.delay is not None],
            "hosts": [host_facts(name, self.watched, self.chronicle) for name in self.chronicle.hosts],
            "requests": [request_facts(fetched) for fetched in reversed(self.chronicle.fetches)],
        }

    def stories(self, after: int = 0, limit: int = LATEST) -> list[JsonFacts]:
        """The latest stories with a number above `after`, newest first."""
        return [story_facts(number, told) for number, told in self._latest(limit) if number > after][::-1]

    def fleet(self) -> JsonFacts:
        """Page Fleet: the foragers alive and the latest deleted ones."""
        agent = self.watched.agent
        ended = [record for record in agent.records.values() if record.deleted is not None]
        alive = [agent.records[id] for id in agent.foragers]
        room = max(0, LIVES - len(alive))
        kept = sorted([*alive, *ended[len(ended) - room :]], key=lambda record: record.id)
        return {
            "now": self.watched.clock.now(),
            "kind": agent.forager_settings.label,
            "alive": self.chronicle.account.alive,
            "born": self.chronicle.account.born,
            "deleted": self.chronicle.account.deleted,
            "multiply_at": agent.rule_values["multiply_at"],
            "delete_below": agent.rule_values["delete_below"],
            "beyond_chance": bool(agent.rule_values["relative"] and agent.rule_values["beyond_chance"]),
            "foragers": [self._life(record) for record in kept],
        }

    def forager(self, id: ForagerId) -> JsonFacts | None:
        """One forager with its weblog and path; None if it never existed."""
        record, alive = self.watched.agent.records.get(id), self.watched.agent.foragers.get(id)
        if record is None:
            return None
        facts, url = self._life(record), self.watched.store.url
        if alive is not None:
            path, weblog = alive.path, alive.weblog.entries
            steps = zip(path.urls, path.earned, strict=True)
            facts |= {
                "weblog": [{"url": url(page), "value": round(value, 3)} for page, value in weblog[:WEBLOG]],
                "weblog_size": len(weblog),
                "path": [{"url": url(page), "earned": round(earned, 3)} for page, earned in steps],
                "open_links": len(path.open),
                "paths": path.number,
            }
        return facts

    def sites(self) -> JsonFacts:
        watched, chronicle = self.watched, self.chronicle
        skipped = watched.skipped()
        busiest = [*chronicle.hosts][:HOSTS]
        return {
            "now": watched.clock.now(),
            "sites": [_site(name, account) for name, account in chronicle.account.sites.items()],
            "hosts": [host_facts(name, watched, chronicle) | _robots(name, watched) for name in busiest],
            "errors": [request_facts(fetched) for fetched in reversed(chronicle.errors)],
            "skipped": [
                {"reason": skip.reason, "host": skip.host, "count": skip.count, "example": skip.example}
                for skip, _ in zip(skipped, range(SKIPS), strict=False)
            ],
            "skipped_by_reason": dict(skipped.counts()),
        }

    def recrawl(self) -> JsonFacts:
        return schedule.recrawl(self.watched, self.chronicle)

    async def page(self, url: Url) -> Dossier | None:
        """Page Story: everything known about one URL; None if the crawl does not know it."""
        id = self.watched.store.find(url)
        if id is None:
            return None
        return await compile_dossier(
            id,
            self.watched.store,
            self.watched.clock.now(),
            max_age=self.watched.agent.forager_settings.max_age,
            least_worth=self.watched.settings.least_worth,
            statistics=self.watched.shared.visits,
            host=self._host(url),
            recrawl=schedule.why_scheduled(id, self.watched),
            focus=None if self.watched.topic is None else self.watched.topic.focus,
            territory=whose_page(id, self.watched.agent),
        )

    def _host(self, url: Url) -> str:
        """Describes the rules of a page's host."""
        watched, name = self.watched, host(url)
        if watched.timetable is None:
            return ""
        now, lately = watched.clock.now(), self.chronicle.hosts.get(name)
        verdict = None if watched.robots is None else watched.robots.known_verdict(url)
        return at_host(name, watched.timetable, now, 0 if lately is None else lately.total(now), verdict)

    def _latest(self, limit: int) -> list[tuple[int, Told]]:
        stories = self.chronicle.stories
        return [stories[place] for place in range(max(0, len(stories) - limit), len(stories))]

    def _life(self, record: ForagerRecord) -> JsonFacts:
        life = self.chronicle.lives.get(record.id)
        return {
            "id": record.id,
            "kind": record.kind.value,
            "parent": record.parent,
            "born": record.born,
            "deleted": record.deleted,
            "score": round(record.score, 2),
            "sent": record.sent,
            "relevant": record.relevant,
            "downloads": record.downloads,
            "rewards": round(life.rewards, 2) if life else None,
            "penalties": round(life.penalties, 2) if life else None,
            "scores": life.scores.points if life else [],
            "parameters": record.own(self.watched.agent.flock.usual),
        }


def host_facts(name: str, watched: Watched, chronicle: Chronicle) -> JsonFacts:
    """The last hour at a host against the limits of politeness and budget."""
    now = watched.clock.now()
    facts: JsonFacts = {
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


def _robots(name: str, watched: Watched) -> dict[str, Any]:
    """What the host's robots.txt says about us; empty if it has not been read."""
    if watched.robots is None:
        return {"robots": None}
    places = (Url(f"{scheme}://{name}/") for scheme in ("https", "http"))
    verdict = next(filter(None, map(watched.robots.known_verdict, places)), None)
    if verdict is None:
        return {"robots": None}
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


def _site(name: str, account: SiteAccount) -> JsonFacts:
    rules = sorted(
        ((rule or kind, count) for kind, rules in account.refusals.items() for rule, count in rules.items()),
        key=lambda item: -item[1],
    )
    return account.facts() | {
        "site": name,
        "refusals": {shown(rule): count for rule, count in rules[:RULES]},
        "last_error": shown(account.last_error),
        "last_story": account.last_story,
    }


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

MetricSample = tuple[dict[str, str], float]


def metrics(watched: Watched, chronicle: Chronicle) -> str:
    """The figures in the text format of Prometheus, labelled by site: one sample per line."""
    account, counts = chronicle.account, watched.store.counts()
    sites = sorted(account.sites.items())
    outcomes = [
        ({"site": name, "side": side, "outcome": key}, n)
        for name, one in sites
        for side, visits in (("fleet", one.fleet), ("recrawl", one.recrawl))
        for key, n in visits.outcomes.items()
    ]
    stories = [({"site": name, "channel": key}, n) for name, one in sites for key, n in one.channels.items()]
    errors = [
        ({"site": name, "kind": key}, sum(reasons.values()))
        for name, one in sites
        for key, reasons in one.errors.items()
    ]
    skipped = [({"reason": reason}, n) for reason, n in watched.skipped().counts().items()]
    hosts = [host_facts(name, watched, chronicle) for name in sorted(chronicle.hosts)]
    used = [({"host": facts["host"]}, facts["used"]) for facts in hosts]
    waits = [({"host": facts["host"]}, facts["delay"]) for facts in hosts if facts["delay"] is not None]
    families = [
        _family("fetches_total", "counter", "Visits, by who made them and how they ended.", outcomes),
        _family("wire_bytes_total", "counter", "Bytes received.", [({"site": n}, one.wire_bytes) for n, one in sites]),
        _family("stories_total", "counter", "Stories, by the channel that brought the URL first.", stories),
        _family("errors_total", "counter", "Fetches that ended in trouble, by kind.", errors),
        _family("skipped_total", "counter", "Links left out, by reason.", skipped),
        _family("host_requests_last_hour", "gauge", "Requests of the last hour.", used),
        _family("host_delay_seconds", "gauge", "Seconds between two requests, as in force now.", waits),
        _delays(sites),
        _family("known_urls", "gauge", "URLs known to the crawl.", [({}, len(watched.known()))]),
        _family("pages_total", "counter", "Different pages fetched.", [({}, account.pages)]),
        _family("changes_total", "counter", "Visits that saw a change.", [({}, account.total.changes)]),
        _family("recrawl_cycles_total", "counter", "Recrawl cycles finished.", [({}, account.cycles.done)]),
        _family("versions_total", "counter", "Page versions stored.", [({}, counts.versions)]),
        _family("foragers", "gauge", "Foragers alive.", [({}, account.alive)]),
        _family("foragers_born_total", "counter", "Foragers born.", [({}, account.born)]),
        _family("foragers_deleted_total", "counter", "Foragers deleted.", [({}, account.deleted)]),
    ]
    return "".join(families)


def _delays(sites: Sequence[tuple[str, SiteAccount]]) -> str:
    """Summary of the delays of each site's stories."""
    name = "forager_story_delay_seconds"
    lines = [f"# HELP {name} Seconds from publication to fetch.", f"# TYPE {name} summary"]
    for site, account in sites:
        for share in (0.5, 0.9):
            found = account.delay(share)
            if found is not None:
                lines.append(f"{name}{_labels({'site': site, 'quantile': str(share)})} {found:.17g}")
        known = account.delays.values[~np.isnan(account.delays.values)]
        lines.append(f"{name}_sum{_labels({'site': site})} {known.sum():.17g}")
        lines.append(f"{name}_count{_labels({'site': site})} {len(known)}")
    return "\n".join(lines) + "\n"


def _family(name: str, kind: str, meaning: str, samples: Iterable[MetricSample]) -> str:
    lines = [f"# HELP forager_{name} {meaning}", f"# TYPE forager_{name} {kind}"]
    lines += [f"forager_{name}{_labels(labels)} {value:.17g}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
