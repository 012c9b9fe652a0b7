"""What plain Python does with all links of a page at once is what machine code does with one after the other."""

from contextlib import nullcontext

import numpy as np
import pytest

from forager.chance import stream
from forager.core.page_table import PageTable
from forager.core.parameters import ForagerSettings
from forager.kernel import interpreted
from forager.terms import UrlId

HOUR = 3600.0


def crawled(seed: int) -> tuple[bytes, bytes, list[int]]:
    """The page table and its means after some hundred visits to twelve pages, and how many new links each showed."""
    settings, rng = ForagerSettings(), stream(seed, "links")
    table, news = PageTable(settings.expectation, settings.max_age), []
    for visit in range(200):
        now = visit * HOUR * float(rng.random())
        links = np.sort(rng.integers(0, 20 + visit, int(rng.integers(0, 40))))  # some stand in it twice
        _, new = table.record(
            UrlId(int(rng.integers(12))),
            now,
            version=visit if rng.random() < 0.9 else -1,
            ok=bool(rng.random() < 0.9),
            hub=bool(rng.random() < 0.6),
            made=True,
            links=links,
        )
        news.append(new)
    mind = table.mind()
    return mind.table[: 20 + 200].tobytes(), mind.means.tobytes(), [*news, *mind.known[: mind.known[0] + 1].tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_links_taken_in_at_once_leave_the_same_table(seed: int) -> None:
    results = []
    for mode in (interpreted, nullcontext):
        with mode():
            results.append(crawled(seed))
    assert results[0] == results[1]
    assert any(results[0][2][:200])
