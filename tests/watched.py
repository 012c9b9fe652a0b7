"""Visit statistics of random visits, for tests of what is worked out from them."""

import numpy as np

from forager.core.findings import Finding
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.terms import ForagerId, UrlId


def watched(
    pages: int, seed: int, documents: float = 0.0, breadth: float = 0.5, text_breadth: float = 0.12
) -> PageTable:
    """Visits of pages with ten random links each, every tenth a list; this share of them brings a document."""
    rng = np.random.default_rng(seed)
    visits = PageTable(ExpectationSettings(breadth=breadth, text_breadth=text_breadth))
    for count in range(pages):
        url = UrlId(int(rng.integers(0, pages)))
        visits.going(url, 60.0 * count)
        failed = rng.random() < 0.05
        links = np.empty(0, np.int64) if failed else rng.integers(0, pages, 10)
        visits.record(url, 60.0 * count, ok=not failed, hub=not failed and url % 10 == 0, links=links)
        if documents and not failed and rng.random() < documents:
            visits.credit(Finding(ForagerId(0), url, 1, 1, 0.0, url))
    return visits
