"""What other packages bring along: found through their entry points when its name is used, and not before.

A package that offers something has in its pyproject.toml, for instance

    [project.entry-points."forager.outlets"]
    feather = "their_package:open_feather"
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

OUTLETS = "forager.outlets"
"""Names are suffixes of files without their dot, or schemes of addresses; see `output.formats`."""
POLICIES = "forager.policies"
"""Names are those of `crawl.policy`; see `engine.policy`."""


def find_plugin(group: str, name: str) -> EntryPoint | None:
    """Whoever offers this name in a group; of several, the first installed."""
    return next(iter(entry_points(group=group, name=name)), None)


def load_plugin(group: str, name: str) -> Any:
    """What stands behind the name; None if nobody offers it. An error of the other package is its own."""
    found = find_plugin(group, name)
    return None if found is None else found.load()
