"""Real change logs: when the files of GNU Emacs changed, by its own ChangeLog files, and a year of teletext pages."""

from datetime import date

import numpy as np
from change_corpora import emacs_log, entries
from corpora import have, recording

from forager.chance import stream
from forager.gp.gp_settings import GPSettings
from forager.importers.log_files import read_log
from forager.recrawl.policies import Formula, named
from forager.recrawl.retrain import learn_beside
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


def test_what_is_learned_in_the_first_half_of_real_time_is_as_good_as_any_estimator_in_the_second() -> None:
    """GP4C as published, from random trees; which estimator is the best of six it cannot know."""
    log = read_log(have(lambda: recording("teletext-2022", "log-letters-daily.npz"))).shuffled(stream(0, "order"))
    log = log.part(np.arange(600))
    first, second = log.span(0, log.cycles // 2), log.span(log.cycles // 2, log.cycles)
    how = GPSettings(terminals="all", population=100, generations=10, seeds=1, known_rules=False, parents="best")
    learned = learn_beside(*first.folds(2), how, seed=0)
    ndcg = {
        name: simulate(second, named(name, stream(0, name))).ndcg.mean()
        for name in ("age", "nad", "sad", "aad", "gad", "cg")
    }
    found = simulate(second, Formula.of(learned.tree)).ndcg.mean()
    assert found > max(ndcg.values()) - 0.005  # seen: .995, of the estimators .740 to .995
    assert found > ndcg["age"] + 0.2
