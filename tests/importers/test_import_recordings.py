"""Recordings that know more than times: WARC and WACZ files, run directories, the newsroom."""

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from forager.clock import WallClock
from forager.errors import InputError
from forager.importers.files import import_files
from forager.importers.runs import tape_of_run
from forager.importers.streams import sources
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings, Paper, Section
from forager.store.protocol import Found, Version, Visit
from forager.store.store import Store
from forager.tape.tape import KINDS, Tape
from forager.tape.tape_world import documents
from forager.terms import Channel, Dated, DateSource, Kind, Outcome, Url, UrlId
from tests.newsroom_tape import tape_of_newsroom
from tests.newsroom_truth import whole_truth

MARCH_2 = 1_772_409_600.0
ARTICLE = (
    '<html><head><title>Flood</title><meta property="article:published_time" content="2026-03-02T06:00:00Z">'
    '<meta property="og:type" content="article"></head>'
    "<body><article><h1>Flood</h1><p>{text} The river rose over night and the lower town had to be left in a hurry by "
    'all who live there, say the firemen.</p></article><a href="/">Home</a><a href="/b">Next</a></body></html>'
)


def warc(*records: tuple[str, str, str, str]) -> bytes:
    """Records of (kind, URL, time, HTTP message), one gzip member each, after WARC 1.0."""
    packed = []
    for number, (kind, url, time, message) in enumerate(records):
        block = message.encode()
        head = (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: {time}\r\n"
            f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
            f"WARC-Payload-Digest: sha1:{hash(message) & 0xFFFF:04X}\r\nContent-Length: {len(block)}\r\n\r\n"
        )
        packed.append(gzip.compress(head.encode() + block + b"\r\n\r\n"))
    return b"".join(packed)


def http(status: str, body: str = "") -> str:
    return f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{body}"


FLOOD = "http://e.org/2026/03/02/flood"
RECORDING = warc(
    ("response", "http://e.org/robots.txt", "2026-03-02T07:00:00Z", http("200 OK", "User-agent: *")),
    (
        "response",
        "http://e.org/2026/03/02/flood",
        "2026-03-02T07:00:00Z",
        http("200 OK", ARTICLE.format(text="First.")),
    ),
    (
        "response",
        "http://e.org/2026/03/02/flood",
        "2026-03-02T08:00:00Z",
        http("200 OK", ARTICLE.format(text="First.")),
    ),
    (
        "response",
        "http://e.org/2026/03/02/flood",
        "2026-03-02T09:00:00Z",
        http("200 OK", ARTICLE.format(text="Second.")),
    ),
    ("response", FLOOD, "2026-03-02T10:00:00Z", http("410 Gone")),
    ("response", "http://e.org/old", "2026-03-02T10:00:00Z", http("301 Moved\r\nLocation: /a")),
)


TEXT = (
    "The river rose over night and the lower town had to be left in a hurry by all who live there, say the firemen. "
) * 6
UNDATED = (
    '<html><head><title>{title}</title><meta property="og:type" content="article">{date}</head>'
    f"<body><article><h1>{{title}}</h1><p>{{title}}: {TEXT}</p></article></body></html>"
)


def dates(path: Path, *records: tuple[str, str, str, str]) -> dict[str, float]:
    """By URL, the date of the first version of every page that a recording of these records holds."""
    path.write_bytes(warc(*records))
    tape = import_files(sources([str(path)]), origin="t").tape
    return {url: tape.published.item(at) for url, at in zip(tape.urls(), tape.version_start, strict=False)}


def test_a_date_that_never_moves_is_not_believed_and_the_link_tells_since_when_a_page_is_there(tmp_path: Path) -> None:
    lie = '<meta property="article:published_time" content="2025-01-01T06:00:00Z">'
    names = [f"http://e.org/story-{number}" for number in range(8)]
    home = "<html><body><h1>News</h1>" + "".join(f'<a href="{name}">Story {name}</a>' for name in names)
    found = dates(
        tmp_path / "a.warc.gz",
        ("response", "http://e.org/", "2026-03-02T07:00:00Z", http("200 OK", "<html><body>Soon</body></html>")),
        ("response", "http://e.org/", "2026-03-02T08:00:00Z", http("200 OK", home)),
        *(
            ("response", name, "2026-03-02T08:30:00Z", http("200 OK", UNDATED.format(title=name, date=lie)))
            for name in names
        ),
    )
    believed = [found[name] == MARCH_2 + 8 * 3600 for name in names]
    assert believed == [False] * 4 + [True] * 4  # of five dates four repeat the one before
    assert found[names[0]] < MARCH_2


def test_a_feed_in_a_recording_dates_pages_that_do_not_say_their_date(tmp_path: Path) -> None:
    feed = (
        '<?xml version="1.0"?><rss version="2.0"><channel><title>N</title><link>http://e.org/</link><item><title>Flood'
        "</title><link>http://e.org/flood</link><pubDate>Mon, 02 Mar 2026 05:00:00 GMT</pubDate></item></channel></rss>"
    )
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n"
    page = http("200 OK", UNDATED.format(title="Flood", date=""))
    found = dates(
        tmp_path / "a.warc.gz",
        ("response", "http://e.org/feed", "2026-03-02T07:00:00Z", head + feed),
        ("response", "http://e.org/flood", "2026-03-02T07:01:00Z", page),
    )
    assert found["http://e.org/flood"] == MARCH_2 + 5 * 3600


def check_recording(path: Path) -> None:
    found = import_files(sources([str(path)]), origin="t")
    tape, urls = found.tape, list(found.tape.urls())
    a = urls.index(Url(FLOOD))
    span = slice(int(tape.version_start[a]), int(tape.version_start[a + 1]))
    assert ((tape.time[span] - MARCH_2) / 3600).tolist() == [7, 9, 10]  # at 8 nothing was new
    assert tape.gone[span].tolist() == [False, False, True]
    assert tape.published[span][0] == MARCH_2 + 6 * 3600
    assert sorted(urls[link] for link in tape.links_of(span.start)) == ["http://e.org/", "http://e.org/b"]
    assert KINDS[tape.url_kind[a]] is Kind.ARTICLE
    assert +found.tally.left_out == {"robots.txt": 1, "redirect": 1}


def test_a_warc_gives_versions_with_links_and_dates(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    path.write_bytes(RECORDING)
    check_recording(path)


def test_a_wacz_is_unpacked_and_read(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.warc.gz", RECORDING)
    check_recording(path)


def test_a_zip_that_is_no_wacz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("../outside.warc.gz", RECORDING)
    with pytest.raises(InputError, match="points outside"):
        import_files(sources([str(path)]), origin="t")


def test_a_damaged_warc_gives_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "recording"
    path.write_bytes(RECORDING[: len(RECORDING) - 200])
    found = import_files(sources([str(path)]), origin="t")
    assert found.tape.versions >= 2
    assert found.tally.broken["broken record"] >= 1


def test_where_texts_are_the_documents_short_pages_count_and_a_day_they_mention_is_no_date(tmp_path: Path) -> None:
    """A page of a text service: few words, some links, always at the same address."""
    page = '<html><body><a href="/101">101</a><pre>{} On 3 May 1990 it was as warm as today.</pre></body></html>'
    texts = {"07": "Rain in the north.", "09": "Sun in the south."}
    records = [
        ("response", "http://e.org/100", f"2026-03-02T{hour}:00:00Z", http("200 OK", page.format(text)))
        for hour, text in texts.items()
    ]
    path = tmp_path / "recording"
    path.write_bytes(warc(*records))
    appeared = [
        documents(import_files(sources([str(path)]), origin="t", identity=identity).tape)
        for identity in ("url", "text")
    ]
    assert [len(found) for found in appeared] == [0, 1]  # the first text was there at the start
    assert (appeared[1].born - MARCH_2).tolist() == [9 * 3600]


async def filled_run(directory: Path) -> None:
    """A hub seen at 10, unchanged at 20, gone at 30, back as it was at 40, changed at 50; an article seen at 15."""
    store = await Store.open(directory)
    urls = [Url("http://e.org/"), Url(FLOOD), Url("http://e.org/never")]
    await store.put([Found(url, Channel.LINK, at=1.0) for url in urls])
    hub = Version(Kind.HUB, 1, 2, 3, links=(UrlId(1), UrlId(2)))
    date = Dated(12.0, DateSource.META)
    for visit in (
        Visit(UrlId(0), 10.0, Outcome.FETCHED, 200, seconds=0.5, version=hub),
        Visit(
            UrlId(1), 15.0, Outcome.FETCHED, 200, seconds=1.5, version=Version(Kind.ARTICLE, 4, 5, 6, published=date)
        ),
        Visit(UrlId(0), 20.0, Outcome.UNCHANGED, 304),
        Visit(UrlId(0), 30.0, Outcome.GONE, 404),
        Visit(UrlId(0), 35.0, Outcome.FAILED),
        Visit(UrlId(0), 40.0, Outcome.UNCHANGED, 304),
        Visit(UrlId(0), 50.0, Outcome.FETCHED, 200, version=Version(Kind.HUB, 7, 8, 9, links=(UrlId(2),))),
    ):
        await store.ack(visit)
    await store.close()


async def test_a_run_directory_gives_what_its_crawl_saw(tmp_path: Path) -> None:
    await filled_run(tmp_path)
    tape = await tape_of_run(tmp_path)
    assert list(tape.urls()) == ["http://e.org/", FLOOD, "http://e.org/never"]
    assert tape.version_start.tolist() == [0, 4, 5, 5]
    assert tape.time.tolist() == [10, 30, 40, 50, 10]  # it was linked to at 10, whatever it states
    assert tape.gone.tolist() == [False, True, False, False, False]
    assert [tape.links_of(version).tolist() for version in range(5)] == [
        [1],
        [],
        [1],
        [],
        [],
    ]  # none to what was never visited
    assert tape.text_print.tolist() == [2, 0, 2, 8, 5]
    assert tape.published[4] == 12
    assert [KINDS[kind] for kind in tape.url_kind] == [Kind.HUB, Kind.ARTICLE, Kind.OTHER]
    assert tape.seconds[[0, 4]].tolist() == [0.5, 1.5]
    assert (tape.start, tape.end) == (10, 50)


async def test_a_tape_shows_pages_and_links_from_when_they_were_published(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await store.put([Found(Url(f"http://e.org/{name}"), Channel.LINK, at=1.0) for name in ("", "a", "b", "c", "tag")])
    home, a, b, c, tag = map(UrlId, range(5))

    def hub(mark: int, *links: UrlId) -> Version:
        return Version(Kind.HUB, mark, mark, 3, links=links)

    def story(mark: int, date: Dated) -> Version:
        return Version(Kind.ARTICLE, mark, mark, 6, published=date)

    for id, at, version in (
        (home, 100.0, hub(1, tag)),
        (home, 200.0, None),
        (home, 300.0, hub(2, tag, a, b, c)),
        (tag, 310.0, hub(3, a)),
        (a, 320.0, story(4, Dated(220.0, DateSource.META))),
        (b, 330.0, story(5, Dated(0.0, DateSource.URL, exact=False))),
        (c, 340.0, story(6, Dated(150.0, DateSource.META))),
    ):
        outcome = Outcome.UNCHANGED if version is None else Outcome.FETCHED
        await store.ack(Visit(id, at, outcome, 200, version=version))
    await store.close()
    tape = await tape_of_run(tmp_path)
    shown = {
        page: [
            (float(tape.time[version]), tape.links_of(version).tolist())
            for version in range(tape.version_start[page], tape.version_start[page + 1])
        ]
        for page in (home, a, b, c, tag)
    }
    assert shown == {
        home: [(100, [tag]), (220, [a, c, tag]), (300, [a, b, c, tag])],  # at 200 it showed nothing new
        a: [(220, [])],
        b: [(300, [])],  # a day is no time
        c: [(150, [])],
        tag: [(100, []), (220, [a])],  # it states no time
    }


async def test_a_run_without_pages_is_refused(tmp_path: Path) -> None:
    await (await Store.open(tmp_path)).close()
    with pytest.raises(InputError, match="no page yet"):
        await tape_of_run(tmp_path)


PAPERS = (
    Paper("gazette", "Gazette", (Section("world", 20), Section("sport", 8))),
    Paper("herald", "Herald", (Section("world", 15), Section("opinion", 4, quiet=True))),
)
SMALL = NewsroomSettings(seed=3, days=3.0, backlog=86_400.0, papers=PAPERS, moves=0.1, removals=0.1, corrections=0.3)


@pytest.fixture(scope="module")
def newsroom() -> Newsroom:
    return Newsroom(SMALL, WallClock())


@pytest.fixture(scope="module")
def tape(newsroom: Newsroom) -> Tape:
    return tape_of_newsroom(newsroom)


def test_the_hubs_of_a_newsroom_change_on_the_tape_when_they_truly_do(newsroom: Newsroom, tape: Tape) -> None:
    truth, urls = whole_truth(newsroom), {url: id for id, url in enumerate(tape.urls())}
    for hub in truth.hubs():
        id = urls[hub]
        times = tape.time[tape.version_start[id] : tape.version_start[id + 1]].tolist()
        assert times[0] == tape.start
        moments = [at for at in truth.changes_of(hub, tape.start, tape.end) if at > tape.start]
        assert times[1:] == [at for at in moments if truth.content_of(hub, at) != truth.content_of(hub, at - 1)]


def test_every_link_of_a_newsrooms_tape_is_true_and_leads_to_a_page_on_it(newsroom: Newsroom, tape: Tape) -> None:
    urls = list(tape.urls())
    recorded = np.diff(tape.version_start) > 0
    assert recorded[tape.links].all()
    owner = np.repeat(np.arange(tape.pages), np.diff(tape.version_start))
    for version in range(0, tape.versions, 7):
        url, at = urls[owner[version]], float(tape.time[version])
        article = newsroom.truth.article(url)
        if article is not None and article.moved is not None and article.moved <= at:
            continue  # it answers with a redirect
        assert {urls[link] for link in tape.links_of(version)} <= set(whole_truth(newsroom).links_of(url, at))


def test_the_documents_of_a_newsrooms_tape_are_its_stories(newsroom: Newsroom, tape: Tape) -> None:
    young = newsroom.truth.published_between(tape.start - 86_400, tape.end)
    born = {story.url for story in young if not (story.article.removed or np.inf) <= tape.start}
    urls = list(tape.urls())
    assert {urls[int(key)] for key in documents(tape).key} == born
    assert tape.published[np.isfinite(tape.published)].max() < tape.end


def test_a_removed_article_is_gone_from_then_on(newsroom: Newsroom, tape: Tape) -> None:
    urls = {url: id for id, url in enumerate(tape.urls())}
    removed = [story for story in newsroom.truth.stories if tape.start < (story.article.removed or 0) < tape.end]
    assert removed
    for story in removed:
        last = int(tape.version_start[urls[story.url] + 1]) - 1
        assert tape.gone[last]
        assert tape.time[last] == story.article.removed


def test_a_file_written_by_warcio_is_read(tmp_path: Path) -> None:
    """As in the example of its manual; the second capture is a revisit."""
    writing = pytest.importorskip("warcio.warcwriter")
    headers = pytest.importorskip("warcio.statusandheaders")
    path = tmp_path / "warcio"
    with path.open("wb") as file:
        writer = writing.WARCWriter(file, gzip=True)
        head = headers.StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.0")
        body = ARTICLE.format(text="First.").encode()
        dated = {"WARC-Date": "2026-03-02T07:00:00Z"}
        first = writer.create_warc_record(
            FLOOD, "response", payload=io.BytesIO(body), http_headers=head, warc_headers_dict=dated
        )
        writer.write_record(first)
        digest = first.rec_headers.get_header("WARC-Payload-Digest")
        again = writer.create_revisit_record(FLOOD, digest, FLOOD, "2026-03-02T07:00:00Z", http_headers=head)
        writer.write_record(again)
    found = import_files(sources([str(path)]), origin="t")
    assert (found.tape.versions, found.tally.records) == (1, 2)
    assert found.tape.published[0] == MARCH_2 + 6 * 3600
    assert not found.tally.broken


@pytest.mark.parametrize("order", ["after", "before"])
def test_a_revisit_may_repeat_what_another_address_showed(tmp_path: Path, order: str) -> None:
    """Crawlers that tell copies by their bytes alone write so, and so do we; the file with the body may be read later."""
    writing = pytest.importorskip("warcio.warcwriter")
    headers = pytest.importorskip("warcio.statusandheaders")
    other = FLOOD.replace("http://", "https://")
    head = headers.StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.0")
    body, dated = ARTICLE.format(text="First.").encode(), {"WARC-Date": "2026-03-02T07:00:00Z"}
    with (tmp_path / "b.warc.gz").open("wb") as file:
        writer = writing.WARCWriter(file, gzip=True)
        first = writer.create_warc_record(
            FLOOD, "response", payload=io.BytesIO(body), http_headers=head, warc_headers_dict=dated
        )
        writer.write_record(first)
        digest = first.rec_headers.get_header("WARC-Payload-Digest")
        again = writer.create_revisit_record(other, digest, FLOOD, "2026-03-02T07:00:00Z", http_headers=head)
    with (tmp_path / ("c.warc.gz" if order == "after" else "a.warc.gz")).open("wb") as file:
        writing.WARCWriter(file, gzip=True).write_record(again)
    found = import_files(sources([str(tmp_path)]), origin="t")
    assert (found.tape.versions, found.tally.records) == (2, 2)
    assert found.tape.text_print[0] == found.tape.text_print[1] != 0
    assert not found.tally.broken


def test_a_revisit_that_is_read_before_its_body_has_the_links_of_its_own_address(tmp_path: Path) -> None:
    writing = pytest.importorskip("warcio.warcwriter")
    headers = pytest.importorskip("warcio.statusandheaders")
    head = headers.StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.0")
    body, dated = ARTICLE.replace("/b", "next").encode(), {"WARC-Date": "2026-03-02T07:00:00Z"}
    with (tmp_path / "b.warc.gz").open("wb") as file:
        writer = writing.WARCWriter(file, gzip=True)
        for url in ("http://e.org/one/flood", "http://e.org/two/flood"):  # next leads elsewhere from there
            record = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=head, warc_headers_dict=dated
            )
            writer.write_record(record)
        digest = record.rec_headers.get_header("WARC-Payload-Digest")
        again = writer.create_revisit_record(url, digest, url, "2026-03-02T07:00:00Z", http_headers=head)
    with (tmp_path / "a.warc.gz").open("wb") as file:
        writing.WARCWriter(file, gzip=True).write_record(again)
    found = import_files(sources([str(tmp_path)]), origin="t", every_capture=True)
    two = list(found.tape.urls()).index(url)
    begin, end = found.tape.version_start[two : two + 2]
    assert end - begin == 2
    assert found.tape.link_set[begin] == found.tape.link_set[begin + 1]
