"""What each page shows, as plain values. Whatever comes from a page of the web is made harmless here."""

from dataclasses import asdict
from typing import Any

import numpy as np

from forager.dashboard.chronicle import HOUR, Chronicle, Cycle, Place
from forager.engine.crawl import Crawl
from forager.engine.revisit import POLICY
from forager.engine.summary import quantile
from forager.events import Fetched, Told
from forager.frontier.timetable import Timetable
from forager.reinforcing.scores import Record
from forager.reports.dossier import Dossier, compile_dossier
from forager.reports.showing import shown, visitor
from forager.terms import ForagerId, Url, UrlId

LATEST, POINTS, NEXT, WEBLOG, LIVES = 200, 600, 50, 30, 300
"""Stories, delays, next pages, weblog entries and foragers sent at once (ours)."""

Facts = dict[str, Any]

MEANING = (
    "links that just appeared go first, then the pages that promise most: λ·t new documents for pages that list, "
    "1 − e^(−λt) for single texts, with λ learned from all visits"
)
"""What the recrawl cycle ranks by, in words."""


class Views:
    """Answers what the pages ask, from the chronicle and from the crawl itself."""

    def __init__(self, crawl: Crawl, chronicle: Chronicle, timetable: Timetable | None = None) -> None:
        self.crawl, self.chronicle, self.timetable = crawl, chronicle, timetable

    def figures(self) -> Facts:
        """The headline figures."""
        chronicle, counts = self.chronicle, self.crawl.store.counts()
        delays = [told.delay for _, told in chronicle.stories]
        new = chronicle.told - chronicle.remembered
        places = chronicle.places.values()
        return {
            "now": self.crawl.clock.now(),
            "stories": chronicle.told,
            "delay_median": quantile(delays, 0.5),
            "delay_p90": quantile(delays, 0.9),
            "requests": chronicle.requests,
            "requests_per_story": round(chronicle.requests / new, 2) if new else None,
            "unchanged": sum(place.outcomes["unchanged"] for place in places),
            "wire_bytes": sum(place.wire_bytes for place in places),
            "known": counts.known,
            "visits": counts.visits,
            "versions": counts.versions,
            "alive": len(self.crawl.agent.foragers),
            "born": chronicle.born,
            "deleted": chronicle.deleted,
            "errors": sum(sum(place.errors.values()) for place in places),
        }

    def now(self) -> Facts:
        """Page Now, without the figures: latest stories, counts over time, delays, budgets, latest requests."""
        return {
            "stories": self.stories(limit=LATEST),
            "timeline": self.chronicle.timeline.series(),
            "delays": [(told.at, told.delay, told.site) for _, told in self._latest(POINTS)],
            "hosts": [self._host(name) for name in self.chronicle.hosts],
            "requests": [_request(fetched) for fetched in reversed(self.chronicle.fetches)],
        }

    def stories(self, after: int = 0, limit: int = LATEST) -> list[Facts]:
        """The latest stories with a number above `after`, newest first."""
        return [_story(number, told) for number, told in self._latest(limit) if number > after][::-1]

    def fleet(self) -> Facts:
        """Page Fleet: everyone alive and the latest of those deleted."""
        agent = self.crawl.agent
        ended = [record for record in agent.records.values() if record.deleted is not None]
        alive = [agent.records[id] for id in agent.foragers]
        room = max(0, LIVES - len(alive))
        kept = sorted([*alive, *ended[len(ended) - room :]], key=lambda record: record.id)
        return {
            "now": self.crawl.clock.now(),
            "kind": agent.forager_settings.kind.value,
            "alive": len(alive),
            "born": len(agent.records),
            "deleted": len(ended),
            "multiply_at": agent.settings.scores.multiply_at,
            "delete_below": agent.settings.scores.delete_below,
            "foragers": [self._life(record) for record in kept],
        }

    def forager(self, id: ForagerId) -> Facts | None:
        """One forager with its weblog and path; None if there never was one."""
        record, alive = self.crawl.agent.records.get(id), self.crawl.agent.foragers.get(id)
        if record is None:
            return None
        facts = self._life(record)
        if alive is not None:
            path = zip(alive.path.urls, alive.path.earned, strict=True)
            facts |= {
                "weblog": [
                    {"url": self.crawl.store.url(url), "value": round(value, 3)}
                    for url, value in alive.weblog.entries[:WEBLOG]
                ],
                "weblog_size": len(alive.weblog),
                "path": [{"url": self.crawl.store.url(url), "earned": round(earned, 3)} for url, earned in path],
                "open_links": len(alive.path.open),
                "paths": alive.path.number,
            }
        return facts

    def sites(self) -> Facts:
        """Page Sites: delay, channels, costs and errors of each site, and the latest errors."""
        return {
            "now": self.crawl.clock.now(),
            "sites": [_site(name, place) for name, place in self.chronicle.places.items()],
            "hosts": [self._host(name) for name in self.chronicle.hosts],
            "errors": [_request(fetched) for fetched in reversed(self.chronicle.errors)],
            "skipped": dict(self.crawl.world.keeper.skipped),
        }

    def recrawl(self) -> Facts:
        """Page Recrawl: the policy, its cycles so far, and the pages that it would visit next."""
        now = self.crawl.clock.now()
        return {
            "now": now,
            "policy": POLICY,
            "meaning": MEANING,
            "least_worth": self.crawl.settings.least_worth,
            "explore": self.crawl.settings.explore,
            "cycle": self.crawl.settings.cycle,
            "share": self.crawl.settings.recrawl_share,
            "turns": {"fleet": self.crawl.world.shares.turns[0], "recrawl": self.crawl.world.shares.turns[1]},
            "cycles": [_cycle(cycle) for cycle in self.chronicle.cycles],
            "next": self._next(now),
        }

    async def page(self, url: Url) -> Dossier | None:
        """Page Story: all that is known of one URL; None if the crawl does not know it."""
        id = self.crawl.store.find(url)
        if id is None:
            return None
        return await compile_dossier(
            id,
            self.crawl.store,
            self.crawl.clock.now(),
            max_age=self.crawl.agent.settings.relevancy.max_age,
            least_worth=self.crawl.settings.least_worth,
            statistics=self.crawl.shared.visits,
        )

    def _latest(self, limit: int) -> list[tuple[int, Told]]:
        stories = self.chronicle.stories
        return [stories[place] for place in range(max(0, len(stories) - limit), len(stories))]

    def _host(self, name: str) -> Facts:
        """The last hour at a host against what politeness and budget allow."""
        now, window = self.crawl.clock.now(), self.chronicle.hosts[name]
        facts: Facts = {"host": name, "used": int(window.total(now)), "allowed": None, "delay": None, "next_in": None}
        if self.timetable is not None:
            delay, hourly = self.timetable.delay(name), self.timetable.settings.requests_per_hour
            polite = HOUR / delay if delay > 0 else float("inf")
            most = min(polite, polite if hourly is None else hourly)
            facts["delay"] = round(delay, 3)
            facts["allowed"] = int(most) if np.isfinite(most) else None
            facts["next_in"] = round(max(0.0, self.timetable.allowed_at(name, now) - now), 1)
        return facts

    def _life(self, record: Record) -> Facts:
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
        }

    def _next(self, now: float) -> list[Facts]:
        """The pages that promise most, as the recrawl cycle ranks them."""
        store, visits = self.crawl.store, self.crawl.shared.visits
        known = np.arange(store.counts().known, dtype=np.int64)
        if not known.size:
            return []
        worth, fresh = visits.worth(known, now)
        order = np.where(fresh, worth + 1e3, worth)  # links that just appeared go first
        top = np.argpartition(-order, min(NEXT, known.size) - 1)[:NEXT]
        top = top[np.argsort(-order[top], kind="stable")]
        rates = visits.rate(top)
        return [
            {"rank": place + 1, "worth": round(float(worth[id]), 4), "fresh": bool(fresh[id]), "rate": round(rate, 4)}
            | self._known(UrlId(id))
            for place, (id, rate) in enumerate(zip(top.tolist(), rates.tolist(), strict=True))
        ]

    def _known(self, id: UrlId) -> Facts:
        page = self.crawl.store.known(id)
        return {
            "url": page.url,
            "kind": page.kind.value,
            "visits": page.visits,
            "changes": page.changes,
            "last_visit": page.last_visit,
        }


def _story(number: int, told: Told) -> Facts:
    return {
        "number": number,
        "at": told.at,
        "url": told.url,
        "site": told.site,
        "title": shown(told.title) or told.url,
        "published": told.published,
        "published_source": told.published_source,
        "delay": told.delay,
        "via": told.via.value,
        "by": visitor(told.by),
    }


def _request(fetched: Fetched) -> Facts:
    return {
        "at": fetched.at,
        "url": fetched.url,
        "by": visitor(fetched.by),
        "outcome": fetched.outcome.value,
        "status": fetched.status,
        "trouble": fetched.trouble.value,
        "error": shown(fetched.error),
        "changed": fetched.changed,
        "new_links": fetched.new_links,
        "seconds": round(fetched.seconds, 3),
    }


def _site(name: str, place: Place) -> Facts:
    return {
        "site": name,
        "stories": place.stories,
        "delay_median": quantile([*place.delays], 0.5),
        "delay_p90": quantile([*place.delays], 0.9),
        "requests": place.requests,
        "unchanged": place.outcomes["unchanged"],
        "wire_bytes": place.wire_bytes,
        "channels": dict(place.channels.most_common()),
        "errors": dict(place.errors.most_common()),
        "last_error": shown(place.last_error),
        "last_story": place.last_story,
    }


def _cycle(cycle: Cycle) -> Facts:
    rate = round(cycle.changed / cycle.visited, 4) if cycle.visited else None
    return asdict(cycle) | {"change_rate": rate}
