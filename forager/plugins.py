"""Plugins of other packages, found by name through their entry points and loaded only when used.

A package that offers a plugin has in its pyproject.toml, for instance

    [project.entry-points."forager.outlets"]
    feather = "their_package:open_feather"
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

OUTLETS = "forager.outlets"
"""Entry point group of output formats; names are file suffixes without the dot, or URL schemes. See `output.writers`."""
POLICIES = "forager.policies"
"""Entry point group of recrawl policies; names are values of `crawl.policy`. See `engine.policy`."""


def find_plugin(group: str, name: str) -> EntryPoint | None:
    """Finds the plugin of this name; of several, the first installed."""
    return next(iter(entry_points(group=group, name=name)), None)


def load_plugin(group: str, name: str) -> Any:
    """Loads the plugin of this name; None if no package offers it. Errors of the other package pass through."""
    found = find_plugin(group, name)
    return None if found is None else found.load()
