"""How much each setting matters for a goal: fANOVA on the ranks of the trials.

Ranks, because a few hopeless trials would otherwise explain everything.
"""

from collections.abc import Mapping

import numpy as np
from optuna.importance import FanovaImportanceEvaluator, get_param_importances
from optuna.trial import FrozenTrial, TrialState

from forager.tuning.study import Study

LEAST = 25
"""Finished trials without which nothing can be said (ours)."""


def importances(study: Study, goal: int = 0) -> Mapping[str, float]:
    """The share of each setting, largest first; they add up to 1. Empty if there are too few trials."""
    trials = study.kept.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = np.array([trial.values[goal] for trial in trials])
    if len(trials) < LEAST or np.ptp(values) == 0:
        return {}
    places = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    rank = {trial.number: float(place) for trial, place in zip(trials, places, strict=True)}

    def target(trial: FrozenTrial) -> float:
        return rank[trial.number]

    return get_param_importances(
        study.kept, evaluator=FanovaImportanceEvaluator(seed=1), target=target, params=_moved(trials)
    )


def _moved(trials: list[FrozenTrial]) -> list[str]:
    """The settings that had more than one value."""
    return [key for key in trials[0].params if len({trial.params.get(key) for trial in trials}) > 1]
