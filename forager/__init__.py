"""Forager: a focused news crawler that learns where and when to look.

The public names, for programs that use it as a library; each is loaded when it is used first:

crawl                   a live crawl in the background of an `async with` block, its stories as they are told
fetch, read             one page through all rules; the extractor alone
open_run                stories, versions and visits of a run directory
replay, tune            a fleet on a recording; better settings searched on it
learn, rank             a score function from a change log; the frontier of a link graph, best first
Story, Page             what they give
ForagerError            what the caller can mend: one line that says how

The packages and modules, from the ground up; each may only use those above it (gp and recrawl also use each other).
*Pure* means no I/O, no clock and no chance of its own. The docstring of a package tells what each of its files holds.

terms                   the nouns that travel between packages: requests, responses, links
events                  what can happen in a crawl
arrays, units, errors   what numpy lacks; durations and sizes; trouble that the operator can mend
clock, chance           one clock for every part; all chance from one seed
compiling, plugins      functions that run as machine code or plain Python; what other packages bring along
compiler                machine code for a crawl that has begun, made beside it
pages                   bytes -> Page: links, dates, text, kind, fingerprints, feeds, sitemaps         (pure)
measures                delay, coverage, efficiency, freshness, quality of a revisit schedule          (pure)
gp, recrawl             score functions evolved; when to look again: histories, estimators, policies   (pure)
graph                   which linked pages to download first: the link graph and its rankings          (pure)
core                    every decision of a crawl: page table, choices, foragers, reinforcing agent    (pure)
web                     the web, asked politely: robots.txt, redirects, retries, address guard
store                   what survives kill -9
tape, newsroom, warc    a recorded site as columns; an invented one; recorded bytes
engine                  a live crawl: the one place that waits for the web and the store together
output, importers       stories out; recordings, archives and tables in
report, dashboard       what a run did; what it does now
settings, config_file   config.yaml, environment and options -> settings; the text of config.yaml
assembly                settings -> parts: the only place that picks concrete classes
simulation              the same fleet on a tape, in simulated time
tuning                  better settings, searched on a recording and judged on its held-out part
library                 the public names
cli                     the command line, one file per verb
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forager.errors import ForagerError
    from forager.library.frontier_ranks import rank
    from forager.library.lessons import learn
    from forager.library.one_page import fetch, read
    from forager.library.playback import replay, tune
    from forager.library.run_reader import Story, open_run
    from forager.library.session import crawl
    from forager.pages.page import Page

__all__ = [
    "ForagerError",
    "Page",
    "Story",
    "__version__",
    "crawl",
    "fetch",
    "learn",
    "open_run",
    "rank",
    "read",
    "replay",
    "tune",
]
__version__ = "0.1.0"

_HOMES = {
    "ForagerError": "forager.errors",
    "Page": "forager.pages.page",
    "Story": "forager.library.run_reader",
    "crawl": "forager.library.session",
    "fetch": "forager.library.one_page",
    "learn": "forager.library.lessons",
    "open_run": "forager.library.run_reader",
    "rank": "forager.library.frontier_ranks",
    "read": "forager.library.one_page",
    "replay": "forager.library.playback",
    "tune": "forager.library.playback",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
