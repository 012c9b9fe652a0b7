"""Reads seed files: one URL per line, `#` starts a comment; checks every line before the crawl begins."""

from collections.abc import Iterable
from pathlib import Path

from forager.errors import InputError
from forager.pages.urls import canonical
from forager.terms import Url


def read_seeds(path: Path) -> list[Url]:
    """URLs of a seed file in order, each once; the first bad line raises an error."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    seeds = check_seeds(((f"{path}:{number}", line.partition(" #")[0].strip()) for number, line in enumerate(lines, 1)))
    if not seeds:
        raise InputError(f"{path}: no URL in it; write one per line")
    return seeds


def check_seeds(places: Iterable[tuple[str, str]]) -> list[Url]:
    """Checks URLs, each given with its origin for error messages; skips blank lines and comments."""
    seeds: dict[Url, None] = {}
    for place, text in places:
        if not text or text.startswith("#"):
            continue
        url = canonical(text) if "://" in text else None
        if url is None:
            raise InputError(f"{place}: {text[:80]!r} is not an http(s) URL, such as https://example.org/news")
        seeds[url] = None
    return list(seeds)
