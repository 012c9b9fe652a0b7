"""A real change log: when the files of GNU Emacs changed, by its own ChangeLog files."""

from datetime import date

from change_corpora import emacs_log, entries
from corpora import have

from forager.chance import stream
from forager.recrawl.policies import named
from forager.recrawl.simulate import simulate

CHANGELOG = """2013-03-11  Per Example  <per@example.org>

\t* files.el (save-buffer): Doc fix.
\t(write-file): Likewise.
\t* simple.el, subr.el,
\tnet/eww.el: Use it.

2013-02-30  A day that never was

\t* startup.el: Lost.
"""


def test_the_entries_of_a_changelog_are_days_and_files() -> None:
    day = date(2013, 3, 11)
    assert list(entries(CHANGELOG)) == [(day, name) for name in ("files.el", "simple.el", "subr.el", "net/eww.el")]


def test_rules_that_never_look_again_at_quiet_pages_lose_on_real_changes() -> None:
    # Seen on the weeks of 2001 to 2014: NAD .15, Age .17, azar-rate .31, and freshness .67, .90, .92.
    log = have(lambda: emacs_log(2009, 2012))
    judged = {
        name: simulate(log.shuffled(stream(0, "order")), named(name, stream(0, name)))
        for name in ("nad", "age", "azar-rate")
    }
    rates = {name: curves.change_rate.mean() for name, curves in judged.items()}
    fresh = {name: curves.freshness.mean() for name, curves in judged.items()}
    assert rates["azar-rate"] > 1.3 * max(rates["nad"], rates["age"])
    assert fresh["azar-rate"] > fresh["age"] > fresh["nad"]
