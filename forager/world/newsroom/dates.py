"""How articles state their dates: three ways of markup, and the troubles with dates that real papers have."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from forager.world.newsroom.noise import lot
from forager.world.newsroom.settings import Markup, NewsroomSettings, Paper
from forager.world.newsroom.terms import Article

AHEAD = 5 * 86400.0
"""How far a wrong date lies in the future."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What an article says of itself; empty text where it says nothing."""

    published: str
    modified: str


def iso(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stated_dates(article: Article, version: int, settings: NewsroomSettings) -> Stated:
    """The dates on the article's page: right for most articles, else missing, the day only, or in the future."""
    luck = lot(settings.seed, "date", article.number)
    modified = iso(article.changes[version - 1].at) if version else ""
    if luck < settings.missing_dates:
        return Stated("", "")
    if luck < settings.missing_dates + settings.day_dates:
        return Stated(iso(article.published)[:10], modified[:10])
    if luck < settings.missing_dates + settings.day_dates + settings.future_dates:
        return Stated(iso(article.published + AHEAD), "")
    return Stated(iso(article.published), modified)


def date_markup(paper: Paper, stated: Stated, headline: str, author: str, url: str, opened: float) -> tuple[str, str]:
    """What goes into the head of the page, and what stands below the headline."""
    head, below = "", ""
    if paper.deploy_date:
        head += f'<meta name="date" content="{iso(opened)[:10]}">\n'
    if paper.markup is Markup.JSON_LD:
        facts = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": headline,
            "url": url,
            "datePublished": stated.published,
            "dateModified": stated.modified or stated.published,
            "author": {"@type": "Person", "name": author},
        }
        text = json.dumps({name: fact for name, fact in facts.items() if fact}).replace("<", "\\u003c")
        head += f'<script type="application/ld+json">{text}</script>\n'
    elif paper.markup is Markup.META:
        for name, value in (("published", stated.published), ("modified", stated.modified)):
            head += f'<meta property="article:{name}_time" content="{value}">\n' if value else ""
    elif stated.published:
        below = f'<time datetime="{stated.published}">{stated.published[:10]}</time>'
        if stated.modified:
            below += f' (updated <time class="updated" datetime="{stated.modified}">{stated.modified[:10]}</time>)'
    return head, f'<p class="meta">By {escape(author)} {below}</p>'
