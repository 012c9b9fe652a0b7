"""The .632+ bootstrap (Efron and Tibshirani 1997), and the choice of ω by it (random-walk paper, section 5.1).

How well a ranking does on the very pages it was chosen on is too rosy, on pages left out too gloomy; .632+ weighs the
two, leaning to the second the more it looks like overfitting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forager.frontier.kernels import Counts, Vector
from forager.frontier.steps import Ranking
from forager.measures.impact import chance_impact, relative_impact
from forager.units import Count, Share

OMEGAS = tuple(tenth / 10 for tenth in range(11))
"""The values of ω that are tried: steps of 0.1, stated by the paper."""


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """How ω is chosen."""

    share: Share = 0.1
    """Impact is compared on this first part of the frontier; the paper shows 5% and 10%."""
    samples: Count = 50
    """Bootstrap samples; ours."""


def error_632_plus(apparent: float, left_out: float, no_information: float) -> float:
    """The .632+ estimate from the error on the training pages, on pages left out, and of a rule that knows nothing."""
    left_out = min(left_out, no_information)
    overfit = 0.0
    if left_out > apparent and no_information > apparent:
        overfit = (left_out - apparent) / (no_information - apparent)
    weight = 0.632 / (1 - 0.368 * overfit)
    return (1 - weight) * apparent + weight * left_out


def ranking_errors(
    rankings: Sequence[Ranking], pages: Counts, impact: Vector, settings: TuningSettings, rng: np.random.Generator
) -> list[float]:
    """The .632+ error of each ranking on training pages: 1 − impact relative to the ideal.

    `impact` covers all page numbers. All rankings are judged on the same bootstrap samples.
    """
    orders = [ranking.order(pages) for ranking in rankings]
    errors: list[list[float]] = [[] for _ in rankings]
    left_out = np.empty(impact.size, dtype=np.bool_)
    for _ in range(settings.samples):
        left_out[:] = True
        left_out[rng.choice(pages, pages.size)] = False
        for order, found in zip(orders, errors, strict=True):
            rest = order[left_out[order]]
            if rest.size:
                found.append(_error(impact[rest], settings))
    chance = 1 - chance_impact(impact[pages], settings.share)
    apparent = [_error(impact[order], settings) for order in orders]
    return [
        error_632_plus(own, float(np.mean(found)) if found else own, chance)
        for own, found in zip(apparent, errors, strict=True)
    ]


def best_omega(
    rankings: Mapping[float, Ranking], pages: Counts, impact: Vector, settings: TuningSettings, rng: np.random.Generator
) -> float:
    """The ω whose ranking errs least on the training pages; of equally good ones the largest, nearest to plain RW."""
    errors = ranking_errors(list(rankings.values()), pages, impact, settings, rng)
    return min(zip(errors, rankings, strict=True), key=lambda found: (found[0], -found[1]))[1]


def _error(ranked: Vector, settings: TuningSettings) -> float:
    return 1 - relative_impact(ranked, [settings.share])[0]
