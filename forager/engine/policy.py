"""The recrawl policy that the settings name: a rule, a formula, a file written by `forager learn`, or a package's own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forager.arrays import FloatArray
from forager.errors import InputError, SettingsError
from forager.plugins import POLICIES, load_plugin
from forager.recrawl.formula import formula_text
from forager.recrawl.function_file import function_from_text
from forager.recrawl.policies import Formula, Policy, ScoreFunction, named
from forager.recrawl.recrawl_settings import WORTH, RecrawlSettings
from forager.recrawl.terminals import PageStates

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A function of another package, found by its entry point in `forager.policies`."""

    function: Callable[[PageStates], FloatArray]
    """The worth of a visit now, one for each row of the states."""

    def scores(self, states: PageStates) -> FloatArray:
        return self.function(states)


def read_policy(name: str, rng: np.random.Generator, settings: RecrawlSettings, cycle: float) -> Policy:
    """The policy of this name; what cannot be read is a `SettingsError`. `rng` is for the policy `rand`.

    `cycle` is the length of a cycle in seconds.
    """
    if name == WORTH:
        return Policy()
    try:
        if not name.endswith(".json"):
            return Policy(name, _score(name, rng, settings, cycle))
        learned = function_from_text(Path(name).read_text(encoding="utf-8"), name)
    except InputError as problem:
        raise SettingsError(f"crawl.policy: {problem}") from None
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is no text"
        raise SettingsError(f"crawl.policy: {name} cannot be read ({reason}); write it with `forager learn`") from None
    return Policy(name, Formula.of(learned.tree, learned.rhythm), formula_text(learned.tree))


def _score(name: str, rng: np.random.Generator, settings: RecrawlSettings, cycle: float) -> ScoreFunction:
    """A rule or a formula; else the function that a package offers under this name."""
    try:
        return named(name, rng, settings, DAY / cycle)
    except InputError:
        function = load_plugin(POLICIES, name)
        if function is None:
            raise
    if settings.retrain.enabled:
        raise SettingsError(
            f"crawl.policy: {name} is a package's own and cannot learn; set recrawl.retrain.enabled=false"
        )
    return Borrowed(function)
