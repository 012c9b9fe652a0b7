"""A synthetic change log in the likeness of BRDC'12: 417,048 pages over 57 days.

12.2% of the pages change often (daily chance drawn from Beta(2.6, 2.2)), 38% now and then (log-uniform from 0.0016 to
0.033), the rest never; every day's luck is independent. Fitted by hand so that the ChangeRate of Rand, Age, NAD and CG
comes near the papers' .157, .175, .716 and .667. The model has no rhythm and no memory: SAD, which lives on runs of
changes, does much worse than in the papers.
"""

import numpy as np

from forager.recrawl.log import ChangeLog

PAGES, DAYS = 417_048, 57


def brdc_like(pages: int = PAGES, days: int = DAYS, seed: int = 0) -> ChangeLog:
    """A log of so many pages, in random order."""
    rng = np.random.default_rng(seed)
    often, sometimes = round(0.122 * pages), round(0.38 * pages)
    chance = np.zeros(pages)
    chance[:often] = rng.beta(2.6, 2.2, often)
    chance[often : often + sometimes] = np.exp(rng.uniform(np.log(0.0016), np.log(0.033), sometimes))
    rng.shuffle(chance)
    changed = np.empty((pages, days), dtype=np.bool_)
    for start in range(0, pages, 50_000):
        part = chance[start : start + 50_000]
        changed[start : start + len(part)] = rng.random((len(part), days)) < part[:, None]
    changed[:, 0] = False
    return ChangeLog(changed)
