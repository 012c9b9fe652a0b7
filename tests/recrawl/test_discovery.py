"""Documents found by the visits of recrawl cycles."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.compare import judge_policies
from forager.recrawl.document_watch import unfound, visit_all, watch_of
from forager.recrawl.policies import named
from forager.recrawl.recrawl_settings import RecrawlSettings

PAGES, CYCLES = 4, 9
ENTRIES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, PAGES - 1), st.integers(-3, CYCLES), st.integers(0, 5)), max_size=25
)
VISITS = st.lists(st.lists(st.integers(0, PAGES - 1), unique=True, max_size=PAGES), min_size=CYCLES, max_size=CYCLES)


def documents(entries: list[tuple[int, int, int, int]]) -> ShownDocuments:
    """Document, page, first cycle and how many cycles it stands."""
    table = np.array(entries, dtype=np.int64).reshape(-1, 4)
    _, dense = np.unique(table[:, 0], return_inverse=True)
    return ShownDocuments(dense.astype(np.int64), table[:, 1], table[:, 2], table[:, 2] + table[:, 3])


@settings(deadline=None)  # it compiles at first
@given(ENTRIES, VISITS)
def test_a_visit_reveals_what_stands_there_and_nobody_has_found(
    entries: list[tuple[int, int, int, int]], visits: list[list[int]]
) -> None:
    known = documents(entries)
    log = ChangeLog(np.zeros((PAGES, CYCLES), dtype=np.bool_), documents=known)
    watch, found = watch_of(log, np.arange(float(CYCLES))), set[int]()
    for cycle, pages in enumerate(visits):
        stands = (known.first <= cycle) & (known.last >= cycle)
        left = [row for row in np.flatnonzero(stands).tolist() if known.document[row] not in found]
        at, page = unfound(watch, cycle)
        assert sorted(zip(watch.document[at].tolist(), page.tolist(), strict=True)) == sorted(
            (int(known.document[row]), int(known.page[row])) for row in left
        )
        expected = []
        for one in pages:
            shown = {int(known.document[row]) for row in left if known.page[row] == one} - found
            expected.append(len(shown))
            found |= shown
        nothing = np.zeros(len(pages), dtype=np.bool_)
        assert visit_all(watch, np.array(pages, dtype=np.int64), cycle, nothing).tolist() == expected


def test_documents_are_looked_for_on_all_pages_together_whatever_the_folds() -> None:
    # Ten pages, three of them a cycle: five folds would have to visit five. Each page shows a document of its own
    # from cycle 2 on for good, and all are found within four cycles.
    own = np.arange(10)
    log = ChangeLog(
        np.zeros((10, 8), dtype=np.bool_), documents=ShownDocuments(own, own, np.full(10, 2), np.full(10, 7))
    )
    settings = RecrawlSettings(k=0.3, warmup=2)
    for folds in (1, 5):
        age = judge_policies(log, [("age", lambda rng: named("age", rng, settings))], settings, folds=folds)[0]
        assert age.discovery is not None
        assert sorted(age.discovery.delays.tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
