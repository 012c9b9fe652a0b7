"""Something to begin with for each target of `fuzzing`: small sound inputs, and files from the wild where they are at hand."""

import gzip
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO

import brotli
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import zstandard

from tests.corpora import CorpusMissing, feed_files, newspaper_pages, robots_files

WARC = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\nWARC-Date: 2026-03-02T10:00:00Z\r\n"
    b"Content-Type: application/http;msgtype=response\r\nContent-Length: 44\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n"
)


def _packed_recording() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as wacz:
        wacz.writestr("archive/a.warc", WARC)
        wacz.writestr("datapackage.json", '{"profile": "data-package", "resources": [{"path": "archive/a.warc"}]}')
    return file.getvalue()


def _packed_bodies() -> Iterator[bytes]:
    text = b"<p>Some text.</p>" * 40
    yield from (gzip.compress(text), zlib.compress(text), brotli.compress(text), zstandard.compress(text))
    yield brotli.compress(gzip.compress(text))


def _matrix() -> bytes:
    file = BytesIO()
    np.savez(file, changed=np.array([[0, 1, 1], [1, 0, 0]], dtype=np.uint8))
    return file.getvalue()


def _parquet(columns: Mapping[str, Sequence[object]]) -> bytes:
    file = BytesIO()
    pa.parquet.write_table(pa.table(dict(columns)), file)
    return file.getvalue()


SAMPLES: dict[str, tuple[bytes, ...]] = {
    "page": (
        b"\0<!doctype html><html lang=en><head><title>A</title><link rel=canonical href=/x>"
        b"<meta property=og:type content=article>"
        b'<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2026-03-02T10:00:00Z"}</script></head>'
        b"<body><nav><a href=/a>A</a></nav><article><h1>T</h1>"
        b"<time datetime=2026-03-02>2 March</time><p>Some text.</p></article>",
    ),
    "url": (b"http://user@a.example:80/b/../c;jsessionid=1?utm_source=x&b=2&a=1#f", b"//[::1]/%7e", b"?page=2"),
    "robots": (b"User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 3\nSitemap: https://a.example/s.xml\n",),
    "feed": (
        b'<rss version="2.0"><channel><title>N</title><item><title>A</title><link>https://a.example/1</link>'
        b"<pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate></item></channel></rss>",
        b'{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://a.example/2","date_published":"2026-03-02"}]}',
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/3"/>'
        b'<updated>2026-03-02T10:00:00Z</updated></entry></feed>',
    ),
    "sitemap": (
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/1</loc>'
        b"<lastmod>2026-03-02</lastmod></url></urlset>",
        b"https://paper.example/a\nhttps://paper.example/b\n",
    ),
    "date": (b"Mon, 02 Mar 2026 10:00:00 +0100", b"2026-03-02T10:00:00.5Z", b"2. M\xc3\xa4rz 2026, 10:15 Uhr", b"1772409600"),
    "warc": (WARC,),
    "index": (b'org,example)/ 20260302000000 {"url": "http://example.org/", "offset": "0", "filename": "a.warc.gz"}\n',),
    "recording": (
        b" CDX N b a m s k r M S V g\norg,example)/ 20260302000000 http://example.org/ text/html 200 AAAA - - 1 1 a\n",
        b'org,example)/ 20260302000000 {"url": "http://example.org/", "status": "200", "digest": "sha1:AAAA"}\n',
        b'<http://example.org/>; rel="original",\n<http://web.example/2026/http://example.org/>; rel="memento"; '
        b'datetime="Mon, 02 Mar 2026 10:00:00 GMT"\n',
        b"url,time,digest\nhttp://example.org/,2026-03-02T10:00:00Z,a\n",
        b'{"url": "http://example.org/", "time": 1772409600, "digest": "a"}\n',
    ),
    "change_log": (b"url,time,changed\na,0,1\na,3600,0\nb,0,1\nb,3600,1\n",),
    "tape": (b"\0\0\0{", b"\x03\0\x10\xff\xff\xff\xff"),
    "formula": (b"t * (X + 0.1) / (n + 1)", b"log(t) - -X", b"exp(min(t, 2))"),
    "settings": (b"timetable:\n  download_delay: 2s\n", b"crawl.cycle=15m", b"a: &x [*x]\n"),
    "seeds": (b"# papers\nhttps://a.example/\n\nhttps://b.example/news # best\n",),
    "focus": (b'bridge "river" OR rain\n{"title": "A bridge", "text": "A bridge opens over the river"}\n{"text": "Rain"}\n',),
    "rankings": (b"source,target\na,b\nb,c\n\0target,anchor\nb,Rain today\n\0query,count\nrain,3\n",),
    "packed": (_packed_recording(),),
    "body": tuple(bytes([place]) + packed for place, packed in enumerate(_packed_bodies())),
    "change_table": (
        b'\0{"url": "a", "time": 0, "changed": 1}\n{"url": "a", "time": 3600, "changed": 0}\n',
        b"\1" + _matrix(),
        b"\2" + _parquet({"url": ["a", "a"], "time": [0, 3600], "changed": [1, 0]}),
    ),
    "tables": (
        b"\0url,time,digest\nhttp://a.example/,2026-03-02T10:00:00Z,a\nhttp://a.example/1,1772446000,b\n",
        b"\1" + _parquet({"url": ["http://a.example/", "b"], "time": [0.0, 60.0], "digest": ["a", "b"]}),
    ),
    "query": (b"\1after=1&limit=2", b"\3id=0", b"\6url=https://paper.example/"),
}  # fmt: skip
"""Something to begin with, for each target."""


def real_samples(name: str) -> Iterator[bytes]:
    """Files from the wild, where they are at hand."""
    try:
        match name:
            case "page":
                yield from (b"\0" + case.html.encode() for case in newspaper_pages()[:20])
            case "robots":
                yield from (body for _, body in robots_files()[::40])
            case "feed":
                yield from (body for _, body in feed_files()[::10])
    except CorpusMissing:
        return
