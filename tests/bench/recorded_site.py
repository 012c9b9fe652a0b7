"""Real pages as one site for the throughput bench: those of `news-html-gold`, and a version of each of `frontpages-html`.

What they link to was not recorded, and most of it lies elsewhere. So each link leads to one of the pages instead, told by
a hash of where it led, and `/` links to all. Number and markup of the links stay what they are. What a page calls its own
address, its feeds and its base are left out: they would lead away, and so are the few pages whose links a pattern cannot
find. Data: `../shared/data`, or $FORAGER_DATA.
"""

import re
from collections.abc import Iterator
from itertools import chain
from zlib import crc32

from selectolax.lexbor import LexborHTMLParser

from forager.pages.markup import to_utf8
from tests.bench.kinds_quality import articles, lists

_LINK = re.compile(rb"""(<a\s(?:[^>"']|"[^"]*"|'[^']*')*?\bhref\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_FOLDER = "/page/"
_NO_PAGE = (b"#", b"mailto:", b"javascript:", b"tel:")
_LEADS_AWAY = re.compile(rb"<(?:base|link\b[^>]*\b(?:canonical|alternate|next))\b[^>]*>", re.IGNORECASE)


def recorded_documents() -> Iterator[tuple[str, bytes]]:
    """Path and document of each page in UTF-8, that of `/` first."""
    bodies = [_LEADS_AWAY.sub(b"", to_utf8(body)) for _, _, body in chain(articles(), lists())]
    bodies = [body for body in bodies if not _leads_away(_relinked(body, [_FOLDER]))]
    paths = [f"{_FOLDER}a-recorded-page-{number}" for number in range(len(bodies))]
    rows = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    yield "/", f"<title>All</title><ul>{rows}</ul>".encode()
    for path, body in zip(paths, bodies, strict=True):
        yield path, _relinked(body, paths)


def _relinked(document: bytes, paths: list[str]) -> bytes:
    def moved(link: re.Match[bytes]) -> bytes:
        target = link[2].strip(b"\"' ")
        if target.lower().startswith(_NO_PAGE):
            return link[1] + b'"#"'
        return link[1] + f'"{paths[crc32(target) % len(paths)]}"'.encode()

    return _LINK.sub(moved, document)


def _leads_away(document: bytes) -> bool:
    targets = [node.attributes["href"] or "" for node in LexborHTMLParser(document).css("a[href]")]
    return not all(target.startswith(("#", _FOLDER)) for target in targets)
