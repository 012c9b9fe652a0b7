"""Forager: a focused news crawler that learns where and when to look.

The public names, for programs that use it as a library; each is loaded when it is used first:

crawl                a live crawl in the background of an `async with` block, its stories as they are told
fetch, read          one page through all rules; the extractor alone
open_run             stories, versions and visits of a run directory
replay, tune         a fleet on a recording; better settings searched on it
learn, rank          a score function from a change log; the frontier of a link graph, best first
Story, Page          what they give
ForagerError         what the caller can mend: one line that says how

The rooms of the house, from the ground up; each may only use the rooms below it:

terms, events        the nouns that travel, and what can happen
clock, chance, errors, units, compiling, arrays, plugins
pages                bytes -> Page: links, dates, text, fingerprints, feeds, sitemaps            (pure)
measures             delay, coverage, freshness, efficiency, ranking quality                      (pure)
foragers             the mind of one forager: weblog, path, long-term profit, states              (pure)
recrawl              when to look again: estimators, policies, learned score functions            (pure)
frontier             where to go next: link graph, ranks, the timetable of polite visits          (pure)
reinforcing          the agent that rewards, multiplies and deletes foragers                      (pure)
store                what survives kill -9
world                the web seen from the house: live, polite, obeying robots, synthetic
exports, imports     stories out; recordings and tables in
engine               the only place where all rooms meet, and wait
reports, dashboard   what a crawl did, and does
settings, config_file, assembly      config.yaml -> settings -> parts
simulation           the same fleet on a tape, in simulated time
tuning               better settings, searched on a recording and judged on its held-out part
library              the public names
cli                  one file per verb
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
