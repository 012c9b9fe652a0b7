"""What `import forager` gives, what it costs, and the snippets of README as one program against the Newsroom."""

import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import forager
from forager.newsroom.newsroom import Newsroom
from forager.tape.tape import save
from tests.library.program import LOOPBACK
from tests.simulation.small_tape import paper

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


README = Path(__file__).parents[2] / "README.md"


def snippets() -> list[str]:
    (section,) = re.findall(r"^## Use it as a library\n(.*?)^## ", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def placed(program: str, **values: object) -> str:
    """The program with other values for some of its constants."""
    for name, value in values.items():
        program, count = re.subn(
            rf"^{name} = .*$", lambda _, n=name, v=value: f"{n} = {v!r}", program, flags=re.MULTILINE
        )
        assert count == 1, f"README no longer sets {name}"
    return program


def test_the_snippets_of_the_readme_run(newsroom: Newsroom, tmp_path: Path) -> None:
    found = snippets()
    assert len(found) == 3
    (tmp_path / "program.py").write_text(placed("\n".join(found), SITE=newsroom.homes[0], SETTINGS=LOOPBACK))
    save(paper(), tmp_path / "tape")
    run = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    lines = run.stdout.splitlines()
    assert [line.split()[0] for line in lines[:10]] == [str(number) for number in range(10)]
    assert any(line.startswith("Counter({") and "article" in line for line in lines)
    assert "Rain ['https://news.example/sun']" in lines
    assert lines[-1].startswith("[('c', ")
