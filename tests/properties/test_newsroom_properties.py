"""What holds for every page of the newsroom at every moment."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from forager.newsroom.newsroom import Newsroom, Reply
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.terms import Url, Validators
from tests.newsroom_truth import whole_truth

SETTINGS = NewsroomSettings(days=3, backlog=2 * 86400.0, removals=0.05, moves=0.05, live_blogs=0.05)
SINCE, UNTIL = SETTINGS.start - SETTINGS.backlog, SETTINGS.start + SETTINGS.days * 86400
NOTHING = Validators()
MOMENTS = st.floats(SINCE, UNTIL + 86400)


class NoClock:
    """For asking with a time of one's own."""

    def now(self) -> float:
        raise AssertionError("nobody asks for the time here")

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody waits here")


@cache
def newsroom(copy: int = 0) -> Newsroom:
    return Newsroom(SETTINGS, NoClock())


@cache
def urls() -> list[Url]:
    """Pages of every kind."""
    truth, bases = whole_truth(newsroom()), newsroom().bases.values()
    files = [
        "feed.xml",
        "atom.xml",
        "feed.json",
        "robots.txt",
        "sitemap.xml",
        "sitemap-news.xml",
        "sitemap-2026-03.xml",
    ]
    others = [*files, "about", "breaking/?page=2", "politics/?page=2", "internal/login", "nowhere"]
    articles = [story.url for story in truth.stories[::7]]
    moved = [Url(newsroom().bases[s.paper] + s.article.moved_path) for s in truth.stories if s.article.moved]
    return [*truth.hubs(), *(Url(f"{base}/{path}") for base in bases for path in others), *articles, *moved]


PAGES = st.integers(0, 10**6).map(lambda draw: urls()[draw % len(urls())])
STORIES = st.integers(0, 10**6).map(lambda draw: newsroom().truth.stories[draw % len(newsroom().truth.stories)])
CHANGING = st.integers(0, 10**6).map(
    lambda draw: (changing := [s for s in newsroom().truth.stories if s.article.changes])[draw % len(changing)]
)


def ask(url: Url, now: float, validators: Validators = NOTHING, *, copy: int = 0) -> Reply:
    base = "/".join(url.split("/", 3)[:3])
    return newsroom(copy).reply(base, url.removeprefix(base), now, validators)


def headers(reply: Reply) -> dict[str, str]:
    assert reply.answer is not None
    return dict(reply.answer.headers)


def main_text(url: Url, now: float) -> str | None:
    """The text of the article at a URL; None if there is none."""
    answer = ask(url, now).answer
    assert answer is not None
    if answer.status != 200:
        return None
    return LexborHTMLParser(answer.body).css_first("article").text()


@given(PAGES, MOMENTS)
@settings(deadline=None)
def test_the_same_seed_gives_the_same_bytes(url, now):
    assert ask(url, now) == ask(url, now, copy=1)


@given(PAGES, MOMENTS, MOMENTS)
@settings(deadline=None)
def test_asking_in_another_order_changes_nothing(url, now, other):
    first = ask(url, now)
    ask(url, other)
    assert ask(url, now) == first


@given(CHANGING, st.data())
@settings(deadline=None)
def test_the_main_text_changes_exactly_at_the_times_of_the_truth(story, data):
    article = story.article
    edges = [story.published, *whole_truth(newsroom()).changes_of(story.url, 0, float("inf"))]
    turn = data.draw(st.integers(0, len(edges) - 1))
    until = edges[turn + 1] if turn + 1 < len(edges) else edges[-1] + 86400
    now = data.draw(st.floats(edges[turn], until, exclude_max=True))
    url = Url(newsroom().bases[story.paper] + article.path_at(now))
    if article.visible(now):
        assert whole_truth(newsroom()).version_of(url, now) == turn
    begun = Url(newsroom().bases[story.paper] + article.path_at(edges[turn]))
    text = main_text(begun, edges[turn])
    assert text is not None
    assert main_text(url, now) == (text if article.visible(now) else None)
    if turn:
        earlier = Url(newsroom().bases[story.paper] + article.path_at(edges[turn] - 0.001))
        assert main_text(earlier, edges[turn] - 0.001) not in (None, text)


@given(STORIES, MOMENTS)
@settings(deadline=None)
def test_noise_changes_the_bytes_but_never_the_main_text(story, now):
    version = whole_truth(newsroom()).version_of(story.url, now)
    later = now + SETTINGS.noise_every
    if version is None or whole_truth(newsroom()).version_of(story.url, later) != version:
        return
    first, second = ask(story.url, now).answer, ask(story.url, later).answer
    assert first is not None and second is not None and first.body != second.body
    assert main_text(story.url, now) == main_text(story.url, later)


@given(PAGES, MOMENTS, st.floats(0, 86400) | st.floats(0, 900))
@settings(deadline=None, max_examples=300)
def test_an_honest_host_says_unchanged_if_and_only_if_the_content_is_the_same(url, now, passed):
    truth, first = whole_truth(newsroom()), headers(ask(url, now))
    if "last-modified" not in first:  # nothing there, or the host that is not honest
        return
    later = ask(url, now + passed, Validators(etag=first["etag"])).answer
    assert later is not None
    assert (later.status == 304) == (truth.content_of(url, now) == truth.content_of(url, now + passed))
    by_date = ask(url, now + passed, Validators(last_modified=first["last-modified"])).answer
    assert by_date is not None
    if by_date.status == 304:
        assert later.status == 304
    elif (
        by_date.status == 200 and later.status == 304
    ):  # it changed and changed back, as when a new story is taken down
        assert headers(ask(url, now + passed))["last-modified"] != first["last-modified"]


@given(PAGES, MOMENTS)
@settings(deadline=None, derandomize=True)
def test_what_is_modified_at_a_time_was_another_content_just_before(url, now):
    truth = whole_truth(newsroom())
    site_answer = headers(ask(url, now))
    if "last-modified" not in site_answer or truth.article(url):
        return
    changes = truth.changes_of(url, now - 6 * 3600, now)
    for at in changes:
        assert truth.content_of(url, at - 0.001) != truth.content_of(url, at)
    last = changes[-1] if changes else now - 6 * 3600
    assert truth.content_of(url, last) == truth.content_of(url, now - 0.001)


@given(STORIES)
@settings(deadline=None)
def test_every_story_stands_from_the_first_on_where_it_is_said_to_be_visible(story):
    truth, base = whole_truth(newsroom()), newsroom().bases[story.paper]
    visible = truth.first_visible(story.url)
    paper = next(paper for paper in SETTINGS.papers if paper.name == story.paper)
    quiet = next(section for section in paper.sections if section.name == story.section).quiet
    assert f"{base}/{story.section}/" in visible
    assert (f"{base}/" in visible) == (not quiet)
    for hub, at in visible.items():
        answer = ask(hub, at).answer
        assert answer is not None and story.article.path_at(at).encode() in answer.body.split(b"<aside>")[0]
        before = ask(hub, at - 1).answer
        assert before is not None and story.article.path.encode() not in before.body
