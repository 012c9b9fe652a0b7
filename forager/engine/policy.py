"""The recrawl policy that the settings name: a rule, a formula, or a file written by `forager learn`."""

from pathlib import Path

import numpy as np

from forager.errors import InputError, SettingsError
from forager.recrawl.formula import text_of
from forager.recrawl.learned import from_text
from forager.recrawl.policies import Formula, Policy, named
from forager.recrawl.settings import WORTH, RecrawlSettings

DAY = 86_400.0


def read_policy(name: str, rng: np.random.Generator, settings: RecrawlSettings, cycle: float) -> Policy:
    """The policy of this name; what cannot be read is a `SettingsError`. `rng` is for the policy `rand`.

    `cycle` is the length of a cycle in seconds.
    """
    if name == WORTH:
        return Policy()
    try:
        if not name.endswith(".json"):
            return Policy(name, named(name, rng, settings, DAY / cycle))
        learned = from_text(Path(name).read_text(encoding="utf-8"), name)
    except InputError as problem:
        raise SettingsError(f"crawl.policy: {problem}") from None
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is no text"
        raise SettingsError(f"crawl.policy: {name} cannot be read ({reason}); write it with `forager learn`") from None
    return Policy(name, Formula.of(learned.tree, learned.rhythm), text_of(learned.tree))
