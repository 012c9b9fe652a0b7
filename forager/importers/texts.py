"""Texts that the operator has on disk: a folder of .txt and .html files, or JSON lines with a `text` each.

A line may give a `url` instead, and say with `on_topic` whether it is an example or a counterexample.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from forager.errors import InputError
from forager.pages.page import Page
from forager.terms import Outcome, Response, Url

HTML = (".html", ".htm")


class Example(msgspec.Struct, frozen=True):
    """A document, and what the operator says of it."""

    text: str = ""
    title: str = ""
    url: str = ""
    """Where it can be had, if there is no text."""
    on_topic: bool = True


def read_texts(place: Path) -> Iterator[str]:
    """Reads every text, in the order of the lines or of the file names; leaves out empty ones."""
    return (one.text for one in read_examples(place) if one.text)


def read_examples(place: Path) -> Iterator[Example]:
    """Reads every document with a text or a URL, in the order of lines or file names; the title is in the text."""
    if place.is_dir():
        files = sorted(path for path in place.rglob("*") if path.suffix.lower() in (*HTML, ".txt") and path.is_file())
        if not files:
            raise InputError(f"{place}: there are no .txt or .html files in this folder")
        found: Iterator[Example] = (Example(_file(path)) for path in files)
    elif place.is_file():
        found = _lines(place)
    else:
        raise InputError(f"{place}: there is no such file or folder")
    yield from (one for one in found if one.text.strip() or one.url)


def _file(path: Path) -> str:
    """Reads a text as it is; of a web page its title and main text."""
    body = _bytes(path)
    if path.suffix.lower() not in HTML:
        return body.decode("utf-8", errors="replace")
    url = Url("http://localhost/")
    page = Page(Response(url, Outcome.FETCHED, 0.0, status=200, headers=(("content-type", "text/html"),), body=body))
    return f"{page.title}\n{page.text}"


def _lines(path: Path) -> Iterator[Example]:
    for number, line in enumerate(_bytes(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            held = msgspec.json.decode(line, type=Example)
        except (msgspec.DecodeError, UnicodeDecodeError) as trouble:
            raise InputError(f"{path}:{number}: expected a JSON object with a `text` ({trouble})") from None
        yield Example(f"{held.title}\n{held.text}" if held.text else "", "", held.url, held.on_topic)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as trouble:
        raise InputError(f"{path}: cannot be read ({trouble.strerror})") from None
