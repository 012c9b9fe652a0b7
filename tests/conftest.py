"""In CI the same examples every time: a search for new ones belongs to a developer's machine."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
