"""The content of each page as JSON values; `sites_view` and `recrawl_view` have the pages Sites and Recrawl."""

from forager.core.fleet import ForagerRecord
from forager.dashboard import recrawl_view as schedule
from forager.dashboard import sites_view as places
from forager.dashboard.chronicle import Chronicle, Facts, request_facts, story_facts
from forager.dashboard.watched import Watched
from forager.events import Told
from forager.pages.urls import host
from forager.report.dossier import Dossier, compile_dossier
from forager.report.reasons import at_host, whose_page
from forager.terms import ForagerId, Url

LATEST, POINTS, WEBLOG, LIVES = 200, 600, 30, 300
"""Limits (ours): stories, delays, weblog entries and foragers sent at once."""


class Views:
    """Provides the content of the pages, from the chronicle and the crawl."""

    def __init__(self, watched: Watched, chronicle: Chronicle) -> None:
        self.watched, self.chronicle = watched, chronicle

    def figures(self) -> Facts:
        """The headline figures."""
        account = self.chronicle.account
        return {
            "name": self.watched.name,
            "now": self.watched.clock.now(),
            "stories": account.stories,
            "delay_median": account.delay(0.5),
            "delay_p90": account.delay(0.9),
            "requests": account.requests,
            "requests_per_story": account.requests_per_story,
            "unchanged": account.not_modified,
            "wire_bytes": account.wire_bytes,
            "known": len(self.watched.known()),
            "pages": account.pages,
            "visits": account.visits,
            "versions": self.watched.store.counts().versions,
            "alive": account.alive,
            "born": account.born,
            "deleted": account.deleted,
            "errors": account.error_count,
            "off_topic": account.topics.get("off topic", 0),
            "cannot_tell": account.topics.get("cannot tell yet", 0),
            "refused": account.outcomes.get("refused", 0),
        }

    def now(self) -> Facts:
        """Page Now, without the figures: latest stories, counts and coverage over time, delays, budgets, requests."""
        return {
            "stories": self.stories(limit=LATEST),
            "timeline": self._timeline(),
            "coverage": self.watched.coverage.over_time(),
            "delays": [(told.at, told.delay, told.site) for _, told in self._latest(POINTS) if told.delay is not None],
            "hosts": [places.host_facts(name, self.watched, self.chronicle) for name in self.chronicle.hosts],
            "requests": [request_facts(fetched) for fetched in reversed(self.chronicle.fetches)],
        }

    def stories(self, after: int = 0, limit: int = LATEST) -> list[Facts]:
        """The latest stories with a number above `after`, newest first."""
        return [story_facts(number, told) for number, told in self._latest(limit) if number > after][::-1]

    def fleet(self) -> Facts:
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
            "foragers": [self._life(record) for record in kept],
        }

    def forager(self, id: ForagerId) -> Facts | None:
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

    def sites(self) -> Facts:
        """Page Sites."""
        return places.sites(self.watched, self.chronicle)

    def recrawl(self) -> Facts:
        """Page Recrawl."""
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

    def _timeline(self) -> Facts:
        timeline = self.chronicle.account.timeline
        return {"start": timeline.start or 0.0, "width": timeline.width, "counts": timeline.counts}

    def _latest(self, limit: int) -> list[tuple[int, Told]]:
        stories = self.chronicle.stories
        return [stories[place] for place in range(max(0, len(stories) - limit), len(stories))]

    def _life(self, record: ForagerRecord) -> Facts:
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
