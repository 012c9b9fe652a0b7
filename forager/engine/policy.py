"""The recrawl policy that the settings name: a rule, a formula, a file written by `forager learn`, or one from a
plugin.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from forager import functions
from forager.errors import InputError, SettingsError
from forager.events import Learned
from forager.plugins import POLICIES, load_plugin
from forager.recrawl.formula import formula_text
from forager.recrawl.function_file import function_from_text
from forager.recrawl.policies import ByKind, Formula, Policy, Rule, ScoreFunction, named, rules_in_use
from forager.recrawl.recrawl_settings import LEARNED, WORTH, RecrawlSettings

DAY = 86_400.0


def read_policy(name: str, rng: np.random.Generator, settings: RecrawlSettings, cycle: float) -> Policy:
    """Reads the policy of this name, or raises a `SettingsError`. `rng` is for the policy `rand`.

    `cycle` is the length of a cycle in seconds.
    """
    if name == WORTH:
        return Policy()
    if name == LEARNED:
        return Policy.by_kind(LEARNED, shipped_functions())
    try:
        if not name.endswith(".json"):
            return Policy(name, _score(name, rng, settings, cycle))
        learned = function_from_text(Path(name).read_text(encoding="utf-8"), name)
    except InputError as problem:
        raise SettingsError(f"crawl.policy: {problem}") from None
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is no text"
        raise SettingsError(f"crawl.policy: {name} cannot be read ({reason}); write it with `forager learn`") from None
    tree, cycle = learned.tree, learned.provenance.cycle
    return Policy(name, Formula.of(tree, learned.rhythm, cycle), formula_text(tree))


@cache
def shipped_functions() -> ByKind:
    """Reads the functions that come with the program; a kind of page without one in force has the hand-made rule.

    They count busy time by the rhythm that the crawl itself observes.
    """
    found: dict[str, Formula] = {}
    for kind in ("lists", "texts"):
        file = files(functions) / f"{kind}.json"
        if file.is_file():
            learned = function_from_text(file.read_text(encoding="utf-8"), file.name)
            if learned.in_force:
                found[kind] = Formula.of(learned.tree, (), learned.provenance.cycle)
    return ByKind(**found)


def function_source(policy: Policy, lessons: Iterable[Learned]) -> str:
    """Says where the function in force comes from: this crawl, the program, its hand-made rule, or `crawl.policy`."""
    in_force = {policy.formula, *(one.rule for one in rules_in_use(policy))}
    if any(one.replaced and one.formula in in_force for one in lessons):
        return "learned in this crawl"
    if policy.score is None:
        return "hand-made rule"
    return "forager/functions" if isinstance(policy.score, ByKind) else "crawl.policy"


def _score(name: str, rng: np.random.Generator, settings: RecrawlSettings, cycle: float) -> ScoreFunction:
    """Finds a rule or a formula; else the function that a plugin offers under this name."""
    try:
        return named(name, rng, settings, DAY / cycle)
    except InputError:
        function = load_plugin(POLICIES, name)
        if function is None:
            raise
    if settings.retrain.any_policy:
        raise SettingsError(
            f"crawl.policy: {name} is a package's own and cannot learn; set recrawl.retrain.any_policy=false"
        )
    return Rule(function)
