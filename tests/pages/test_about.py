"""What a page tells of its story: headline, authors, lead, picture, section, tags, language, paywall."""

import json

import pytest

from forager.pages.feeds import read_feed, told_by
from forager.pages.language import language_of, words_in
from forager.pages.page import Page
from forager.terms import About, Outcome, Response, Url

URL = Url("https://www.gazette.example/world/bridge-opens")


def page(head: str = "", body: str = "") -> Page:
    html = f"<html><head>{head}</head><body>{body}</body></html>".encode()
    return Page(Response(URL, Outcome.FETCHED, 0.0, status=200, headers=(("content-type", "text/html"),), body=html))


def linked(**said: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "NewsArticle", **said})}</script>'


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("<title>Bridge opens at last | The Gazette</title>", "<h1>Bridge opens at last</h1>"),
        ('<title>Buy: bridge</title><meta property="og:title" content="Bridge opens at last - The Gazette">', ""),
        (linked(headline="Bridge opens at last") + "<title>Bridges, cheap: all you need</title>", ""),
        ("<title>Bridge opens at last</title>", "<h1>The Gazette</h1><h1>Bridge opens at last</h1>"),
        (linked(headline="Bridge opens at last"), "<h1><span>Traffic</span><span>Bridge opens at last</span></h1>"),
        ("<title>The Gazette: bridge news today - Gazette</title>", "<h1>Bridge opens at last</h1>"),
        ("<title>gazette.example » Bridge opens at last</title>", ""),
        (linked(headline="Bridge opens &#8216;at last&#8217;"), "<h1>Bridge opens ‘at last’</h1>"),
        ("<title>When bridge opens: at last it does (video)</title>", "<h1>Bridge opens at last</h1>"),
        ("<title>Bridge opens at last - City of Bonn</title>", "<h1><span>1 May 2022</span> Bridge opens at last</h1>"),
        ("<title>Bridge opens at last</title>", "<h1>Page</h1><h1>User</h1>"),
        ("<title>Bridge opens at last - City of Bonn</title>", "<h1>Council</h1><h2>Bridge opens at last</h2>"),
        ("<title>What to know of bridges today</title>", "<h1>Bridge opens at last</h1><h2>Know bridges today</h2>"),
    ],
)
def test_the_title_is_the_headline_that_a_reader_sees(head: str, body: str) -> None:
    site = '<meta property="og:site_name" content="The Gazette">'
    assert page(site + head, body).title.replace("‘", "").replace("’", "") == "Bridge opens at last"


@pytest.mark.parametrize("home", ["/", "https://www.gazette.example/", "../index.html", "/world/"])
def test_a_heading_that_leads_home_names_the_site_and_not_the_story(home: str) -> None:
    masthead = f'<header><h1><a href="{home}">Valley Voice</a></h1></header>'
    story = f'<article><h2><a href="{URL}">Bridge opens at last</a></h2><address>By Ann Lee</address></article>'
    seen = page("<title>Valley Voice - Bridge opens at last</title>", masthead + story)
    assert seen.title == "Bridge opens at last"
    assert seen.about.authors == ("Ann Lee",)


def test_a_heading_that_leads_to_itself_or_to_its_section_in_part_is_a_headline() -> None:
    itself = f'<h1><a href="{URL}">Bridge opens at last</a></h1>'
    kicker = '<h1><a href="/world/">World</a> Bridge opens at last, after years</h1>'
    assert page("<title>Bridges</title>", itself).title == "Bridge opens at last"
    assert page("<title>Bridges</title>", kicker).title == "World Bridge opens at last, after years"


def test_a_dash_in_a_headline_is_no_name_of_a_site() -> None:
    assert page("<title>Floods in Bonn - what we know</title>").title == "Floods in Bonn - what we know"


@pytest.mark.parametrize(
    ("head", "body", "authors"),
    [
        (linked(author={"@type": "Person", "name": "Ann Lee"}), "", ["Ann Lee"]),
        (linked(author=[{"name": "Ann Lee"}, {"name": "Bo Ek"}]), "", ["Ann Lee", "Bo Ek"]),
        (linked(author="By Ann Lee and Bo Ek"), "", ["Ann Lee", "Bo Ek"]),
        (linked(author="Ann Lee, PhD, and Bo van der Ek"), "", ["Ann Lee", "Bo van der Ek"]),
        (linked(author="Office for Roads and Bridges"), "", ["Office for Roads and Bridges"]),
        (linked(author="Analysis by Ann Lee"), "", ["Ann Lee"]),
        (linked(author={"@type": "Person", "name": "Gazette Example"}), "", ["Gazette Example"]),
        (linked(author={"@type": "Organization", "name": "Gazette Example"}), "", []),
        ('<meta name="author" content="www.webmaster.example | Bo Ek">', "", []),
        ('<meta name="author" content="humans.txt">', "", []),
        ('<meta name="author" content="Ann Lee ann@gazette.example">', "", ["Ann Lee"]),
        ('<meta name="author" content="José Volta e Pinto">', "", ["José Volta e Pinto"]),
        ("", '<span class="byline">Interview: Ann Lee</span>', ["Ann Lee"]),
        ("", '<span class="byline">記者林宸誼／即時報導</span>', ["林宸誼"]),
        ("", '<span class="byline">Photo: Bo Ek</span><span class="byline">By Ann Lee</span>', ["Ann Lee"]),
        ("", '<span class="byline">Wednesday, 8 April 2020, 11:39 PM</span>', []),
        (linked(author={"@type": "Organization", "name": "Gazette"}) + '<meta name=author content="Bo Ek">', "", ["Bo Ek"]),
        ('<meta property="article:author" content="https://facebook.example/ann">', "", []),
        ('<meta name="author" content="Ann Lee, Bo Ek">', "", ["Ann Lee", "Bo Ek"]),
        ("", '<p class="byline">Von <a rel="author" href="/ann">Ann Lee</a></p>', ["Ann Lee"]),
        ("", '<span class="byline">Von Ann Lee</span>', ["Ann Lee"]),
        ("", '<aside><a rel="author" href="/x">Somebody Else</a></aside>', []),
    ],
)  # fmt: skip
def test_authors_are_told_as_plain_names(head: str, body: str, authors: list[str]) -> None:
    assert list(page(head, body).authors) == authors


def test_any_node_with_headline_and_author_is_the_story() -> None:
    assert page(linked(**{"@type": "MedicalWebPage", "headline": "Sleep", "author": "Ann Lee"})).authors == ("Ann Lee",)


def test_comments_in_json_are_passed_over() -> None:
    broken = '{"@type": "NewsArticle", "headline": "Bridge opens", // of today\n"author": "Ann Lee"}'
    assert page(f'<script type="application/ld+json">{broken}</script>').authors == ("Ann Lee",)


def test_of_a_row_of_sections_the_first_is_told() -> None:
    assert page(linked(articleSection="Roads, Bridges, Rivers")).section == "Roads"
    links = '<div itemprop="articleSection"><a>Roads</a> <a>Bridges</a></div>'
    assert page(body=links).section == "Roads"


def test_words_are_believed_against_a_language_that_is_stated() -> None:
    german = "<p>" + "Die Brücke ist nicht mehr zu sehen, und das hat mit dem Wetter zu tun. " * 12 + "</p>"
    assert Page(_stating("en-us", german)).language == "de"
    assert Page(_stating("de-at", german)).language == "de-at"
    assert Page(_stating("en-us", "<p>Die Brücke ist nicht mehr zu sehen.</p>")).language == "en-us"  # too short
    assert Page(_stating("gsw", german)).language == "gsw"  # nothing is known of its words


def _stating(lang: str, body: str) -> Response:
    html = f"<html lang={lang}><body>{body}</body></html>".encode()
    return Response(URL, Outcome.FETCHED, 0.0, status=200, headers=(("content-type", "text/html"),), body=html)


def test_an_author_that_is_only_referred_to_is_looked_up() -> None:
    graph = [
        {"@type": "Article", "author": {"@id": "#ann"}, "headline": "Bridge"},
        {"@type": "Person", "@id": "#ann", "name": "Ann Lee"},
    ]
    said = f'<script type="application/ld+json">{json.dumps({"@graph": graph})}</script>'
    assert page(said).authors == ("Ann Lee",)


def test_all_that_is_stated_is_told() -> None:
    said = linked(
        description="A &lt;b&gt;bridge&lt;/b&gt;  opened.",
        image=[{"url": "/i/b.jpg"}],
        articleSection=["World", "Europe"],
        keywords="bridges, rivers, Bridges",
        isAccessibleForFree="False",
    )
    told = page(said, "<p>" + "The bridge over the river was opened on Monday after long talks about money. " * 4).about
    assert told == About(
        lead="A bridge opened.",
        image="https://www.gazette.example/i/b.jpg",
        section="World",
        tags=("bridges", "rivers"),
        language="en",
        paywalled=True,
        word_count=56,  # four sentences of 14 words
    )


def test_meta_elements_and_marked_links_tell_it_too() -> None:
    head = (
        '<meta property="og:description" content="A bridge."><meta property="og:image" content="//c.example/b.jpg">'
        '<meta property="article:tag" content="bridges"><meta property="article:tag" content="rivers">'
        '<meta property="article:content_tier" content="free"><meta property="og:locale" content="de_AT">'
    )
    told = page(head, '<a rel="category tag" href="/w">World</a>').about
    assert (told.lead, told.image) == ("A bridge.", "https://c.example/b.jpg")
    assert (told.tags, told.section, told.paywalled, told.language) == (("bridges", "rivers"), "World", False, "de-at")


def test_a_page_that_tells_nothing_tells_nothing() -> None:
    assert page("", "<p>12").about == About()


def test_hostile_statements_do_no_harm() -> None:
    deep: object = "Ann"
    for _ in range(200):
        deep = [deep]
    told = page(linked(author=deep, image={"url": "javascript:alert(1)"}, keywords=[{"a": 1}, "ok" * 300]))
    assert (told.image, told.tags, told.trouble) == ("", (), "")
    assert page(linked(description="half \ud83d pair")).lead == "half ? pair"


SENTENCES = {
    "en": "The council said on Monday that a new bridge over the river would open next year and it is paid for.",
    "de": "Der Rat hat am Montag mitgeteilt, dass die neue Brücke über den Fluss im nächsten Jahr nicht gesperrt wird.",
    "fr": "Le conseil a annoncé lundi que le nouveau pont sur la rivière est prévu pour une ouverture dans un an.",
    "es": "El consejo dijo el lunes que el nuevo puente sobre el río se abrirá para los coches en un año más.",
    "it": "Il consiglio ha detto lunedì che il nuovo ponte sul fiume sarà aperto per le auto e non per i camion.",
    "pt": "O conselho disse na segunda que a nova ponte não foi paga pelo estado e que os carros passam em um ano.",
    "nl": "De raad zei maandag dat de nieuwe brug over de rivier volgend jaar open gaat voor het verkeer van de stad.",
    "sv": "Rådet sade på måndag att den nya bron över floden är klar och att det inte kostar mer för dem som bor där.",
    "pl": "Rada powiedziała w poniedziałek, że nowy most na rzece jest gotowy i że nie będzie to kosztować więcej.",
    "ru": "Совет сообщил в понедельник, что новый мост через реку откроется в следующем году и это не всё.",
    "uk": "Рада повідомила в понеділок, що новий міст через річку відкриють за рік і це не все, але він є.",
    "ar": "قال المجلس يوم الاثنين إن الجسر الجديد على النهر سيفتح في العام المقبل من أجل السيارات التي تمر",
    "ja": "市議会は月曜日、新しい橋が来年開通すると発表した。",
    "zh": "市议会周一宣布，新桥将于明年开放。",
    "el": "Το συμβούλιο ανακοίνωσε τη Δευτέρα ότι η νέα γέφυρα θα ανοίξει.",
}


@pytest.mark.parametrize(("language", "text"), SENTENCES.items())
def test_the_words_of_a_text_tell_its_language(language: str, text: str) -> None:
    assert language_of(text) == language


def test_no_language_is_told_of_a_text_without_common_words() -> None:
    assert (
        language_of("12 3 4")
        == language_of("")
        == language_of("Hanoi Kyoto Lagos Minsk Oslo Paris Quito Riga Sofia")
        == ""
    )


def test_words_are_counted_and_letters_where_words_are_not_set_apart() -> None:
    assert (words_in("a b  c"), words_in("新しい bridge")) == (3, 4)


def test_a_lead_that_no_element_states_is_read_off_the_page_but_a_byline_is_none() -> None:
    sentence = "Thousands crossed the new bridge over the river on its first day, the council said."
    shown = '<h1>Bridge opens at last</h1>\n<p class="article-{}">{}</p><p>The story.</p>'
    assert page(body=shown.format("teaser", sentence)).lead == sentence
    assert page(body=shown.format("subtitle", "By Ann Smith, 1 May 2022")).lead == ""
    stated = '<meta name="description" content="It is open.">'
    assert page(stated, shown.format("teaser", sentence)).lead == "It is open."


def test_a_feed_tells_author_lead_and_tags_of_its_entries() -> None:
    items = (
        "<item><title>Bridge</title><link>/a</link><dc:creator>Ann Lee</dc:creator><category>rivers</category>"
        "<category>roads</category><description>&lt;p&gt;A bridge &amp;amp; more.&lt;/p&gt;</description></item>"
        "<item><link>/b</link><author>bo@gazette.example (Bo Ek)</author></item>"
    )
    rss = f'<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>{items}</channel></rss>'
    feed = read_feed(rss.encode(), URL)
    assert feed is not None
    told = [told_by(entry) for entry in feed.entries.values()]
    assert told == [About(("Ann Lee",), "A bridge & more.", tags=("rivers", "roads")), About(("Bo Ek",))]
    assert About(authors=("Cy",)).filled(told[0]) == About(("Cy",), "A bridge & more.", tags=("rivers", "roads"))
