"""Events as plain values for the pages. Whatever comes from a page of the web is made harmless here."""

from typing import Any

from forager.events import Fetched, Told
from forager.report.text import shown, visitor

Facts = dict[str, Any]


def story_facts(number: int, told: Told) -> Facts:
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


def request_facts(fetched: Fetched) -> Facts:
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
