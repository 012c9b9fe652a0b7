"""Forager: a focused news crawler that learns where and when to look.

The public names, for programs that use it as a library; each is loaded at its first use:

crawl                   runs a live crawl in the background of an `async with` block and yields new stories
fetch, read             fetches one page through all rules; reads a page from bytes
open_run                reads stories, versions and visits of a run directory
replay, tune            runs a fleet on a recording; searches better settings on it
learn, rank             learns a score function from a change log; ranks the frontier of a link graph
Story, Page             the results
ForagerError            an error that the caller can fix, with a one-line message that says how

The packages and modules, from the ground up; each may only use those above it (gp and recrawl also use each other).
*Pure* means no I/O, no clock and no random numbers of its own. The docstring of a package lists its files.

terms                   types that packages exchange: requests, responses, links
events                  the events of a crawl, and its journal
arrays, units, errors   array operations; durations and sizes; errors that the operator can fix
clock, chance           clocks, and work beside the event loop; random numbers from one seed
kernel, plugins         kernels that run as machine code or plain Python; plugins of other packages
functions               score functions that come with the program
compiler                compiles machine code beside a running crawl
pages                   bytes -> Page: links, dates, text, kind, fingerprints, feeds, sitemaps         (pure)
measures                delay, coverage, efficiency, freshness, quality of a revisit schedule          (pure)
gp, recrawl             evolved score functions; when to revisit: histories, estimators, policies      (pure)
graph                   which linked pages to download first: the link graph and its rankings          (pure)
core                    every decision of a crawl: page table, choices, foragers, reinforcing agent    (pure)
web                     polite requests: robots.txt, redirects, retries, address guard
store                   the database of a run, which survives kill -9
tape, newsroom, warc    a recorded site as columns; an invented site; recorded bytes
engine                  a live crawl: the one place that waits for both the web and the store
output, importers       writes stories; reads recordings, archives and tables
report, dashboard       reports on a run; shows a run in the browser
settings                config.yaml, environment and options -> settings; the text of config.yaml
assembly                settings -> parts: the only place that picks concrete classes
simulation              the same fleet on a tape, in simulated time
tuning                  searches settings on a recording and judges them on its held-out part
library                 the public names
cli                     the command line, one file per verb
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forager.errors import ForagerError
    from forager.library.frontier_ranks import rank
    from forager.library.lessons import learn
    from forager.library.playback import replay, tune
    from forager.library.run_reader import Story, open_run
    from forager.library.session import crawl, fetch, read
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
    "fetch": "forager.library.session",
    "learn": "forager.library.lessons",
    "open_run": "forager.library.run_reader",
    "rank": "forager.library.frontier_ranks",
    "read": "forager.library.session",
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
