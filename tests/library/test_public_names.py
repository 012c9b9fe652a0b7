"""What `import forager` gives, and what it costs."""

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import forager

COST = """
import json, sys, time
began = time.perf_counter()
import forager
took = time.perf_counter() - began
print(json.dumps([took, sorted(sys.modules)]))
"""


def test_importing_the_package_is_cheap() -> None:
    runs = [json.loads(subprocess.run([sys.executable, "-c", COST], capture_output=True).stdout) for _ in range(3)]
    assert min(took for took, _ in runs) < 0.2
    slow = {"numba", "scipy", "sklearn", "optuna", "pyarrow", "numpy", "pydantic", "aiohttp"}
    assert not slow & set(runs[0][1])


def test_every_public_name_is_there_and_told_about() -> None:
    for name in forager.__all__:
        assert getattr(forager, name) is not None
        assert name in dir(forager)
    documented = forager.__doc__ or ""
    assert all(name in documented for name in forager.__all__ if not name.startswith("_"))


def test_no_module_of_the_package_bears_a_public_name() -> None:
    """Importing a module `forager.crawl` would put it in the place of the function."""
    modules = {one.name for one in pkgutil.iter_modules(forager.__path__)}
    assert not modules & set(forager.__all__)


def test_type_checkers_may_trust_the_package() -> None:
    assert (Path(forager.__file__).parent / "py.typed").is_file()
