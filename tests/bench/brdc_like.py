"""A synthetic change log in the likeness of BRDC'12: 417,048 pages over 57 days.

12.2% of the pages change often (daily chance drawn from Beta(2.6, 2.2)), 38% now and then (log-uniform from 0.0016 to
0.033), the rest never; every day's luck is independent. Fitted by hand so that the ChangeRate of Rand, Age, NAD and CG
comes near the papers' .157, .175, .716 and .667. The model has no rhythm and no memory, and there AAD and GAD come
nearer to NAD than in the papers, and SAD falls far behind. SAD visits the pages whose last visit found a change, and
fills up with the longest unvisited: if the first change again with chance r and the others with chance h, its ChangeRate
settles at h / (1 − r + h). With h = .17 as for Age, our .28 means r = .56, the mean pace of our busy pages; the papers'
.545 asks for r = .86: pages that change in runs, or nearly every day. With 2.8% of the pages at a daily chance near .95
SAD reached .39 in a trial.

GAD is ahead of CG here (.70 and .67), behind it in the papers (.654 and .667). It is the luck of the days, not the
formula: if the busy pages change with the same pace but at even intervals (`rhythm`), the visit after a change finds
nothing, what GAD believes most misleads it, and the order is the papers': SAD .23 < GAD .66 < CG .67 < AAD .73 < NAD
.74. If they change in runs instead, GAD is the best of all.

`policies_table.py --papers` has the whole table.
"""

import numpy as np

from forager.recrawl.change_log import ChangeLog

PAGES, DAYS = 417_048, 57
_BUSY = 0.033
"""The highest daily chance of pages that change now and then."""


def brdc_like(pages: int = PAGES, days: int = DAYS, seed: int = 0, *, rhythm: bool = False) -> ChangeLog:
    """A log of so many pages, in random order; with `rhythm`, busy pages change at even intervals."""
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
    if rhythm:
        busy = np.flatnonzero(chance > _BUSY)
        beats = np.floor(np.arange(days) * chance[busy, None] + rng.random((len(busy), 1)))
        changed[busy] = np.diff(beats, axis=1, prepend=0.0) > 0.0
    changed[:, 0] = False
    return ChangeLog(changed)
