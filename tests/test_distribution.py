"""What is published: a source archive, a wheel made from it, and a command that runs where nothing else of ours is."""

import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import forager

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    find_spec("hatchling") is None or find_spec("pip") is None,
    reason="hatchling and pip are needed to build and install",
)


def run(*words: object, at: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, *map(str, words)], cwd=at, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_source_archive_makes_a_wheel_that_installs_and_runs(tmp_path: Path) -> None:
    run("-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, at=ROOT)
    (archive,) = tmp_path.glob("*.tar.gz")
    assert archive.name == f"forager_news-{forager.__version__}.tar.gz"
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, at=source)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed_wheel:
        names = set(packed_wheel.namelist())
        facts = packed_wheel.read(f"forager_news-{forager.__version__}.dist-info/METADATA").decode()
    assert "forager/py.typed" in names
    own = {path.relative_to(ROOT).as_posix() for path in (ROOT / "forager").rglob("*.py")}
    assert own <= names
    assert {name.split("/")[0] for name in names} == {"forager", f"forager_news-{forager.__version__}.dist-info"}
    assert "\nLicense-Expression: Apache-2.0\n" in facts

    place = tmp_path / "site"
    run("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", place, wheel, at=tmp_path)
    code = f"import sys; sys.path.insert(0, {str(place)!r}); import forager; print(forager.__file__)"
    assert run("-c", code, at=tmp_path).strip() == str(place / "forager" / "__init__.py")
    environment = os.environ | {"PYTHONPATH": str(place)}
    told = subprocess.run([place / "bin" / "forager", "--version"], env=environment, capture_output=True, text=True)
    assert told.stdout == f"{forager.__version__}\n", told.stderr
