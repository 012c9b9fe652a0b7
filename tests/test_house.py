"""The house rules: imports point downwards, the code is tidy and typed, and every setting is documented."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from forager.settings import Settings, config_text, load_settings, setting_leaves

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["importlinter.cli", "lint"],
    ],
    ids=lambda command: " ".join(command),
)
def test_the_house_rules_hold(command: list[str]) -> None:
    if command[0] == "importlinter.cli":
        arguments = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    else:
        arguments = [sys.executable, "-m", *command]
    run = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_config_yaml_explains_every_setting_with_its_default() -> None:
    """Mend a failure with: forager settings --template > config.yaml"""
    assert (ROOT / "config.yaml").read_text(encoding="utf-8") == config_text()


def test_config_yaml_reads_back_as_the_defaults() -> None:
    assert load_settings(ROOT / "config.yaml").settings == Settings()


def test_every_setting_has_an_explanation() -> None:
    lines = [line.strip() for line in (ROOT / "config.yaml").read_text(encoding="utf-8").splitlines()]
    names = {key.rpartition(".")[2] for key in setting_leaves()}
    bare = [
        line
        for before, line in pairwise(lines)
        if line.removeprefix("# ").partition(":")[0] in names and not before.startswith("# ")
    ]
    assert bare == []
    assert "typing." not in "".join(lines), "a settings class without a docstring"
    assert sum(line.removeprefix("# ").partition(":")[0] in names for line in lines) >= len(setting_leaves())


def test_readme_names_every_section_of_the_settings() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sections = {key.partition(".")[0] for key in setting_leaves() if "." in key}
    assert sections <= set(re.findall(r"`([a-z_]+)`", readme))


def test_nothing_but_the_charter_stands_at_the_top() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    if not listed:
        pytest.skip("not a git checkout")
    allowed = {
        "pyproject.toml",
        "forager",
        "tests",
        "seeds",
        "config.yaml",
        "README.md",
        ".ci",
        ".gitignore",
        "LICENSE",
    }
    assert {name.partition("/")[0] for name in listed} <= allowed


PACKAGES = sorted(path.parent for path in (ROOT / "forager").glob("*/__init__.py"))


def docstring_of(module: Path) -> str:
    return ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""


def names_in_map(docstring: str) -> list[str]:
    """What stands at the start of a line of a map, `one, other   what it is`."""
    lines = re.findall(r"^([a-z_]+(?:, [a-z_]+)*) {2,}\S", docstring, re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_docstring_of_a_package_maps_its_files(package: Path) -> None:
    files = sorted(path.stem for path in package.glob("*.py") if path.stem != "__init__")
    assert sorted(names_in_map(docstring_of(package / "__init__.py"))) == files


def test_the_docstring_of_forager_maps_the_whole_house() -> None:
    """Packages and modules, in the order in which they may use each other."""
    top = ROOT / "forager"
    house = {path.name for path in PACKAGES} | {path.stem for path in top.glob("*.py")} - {"__init__", "__main__"}
    _, _, rooms = docstring_of(top / "__init__.py").partition("from the ground up")
    named = names_in_map(rooms)
    assert sorted(named) == sorted(house)

    plan = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    layers = [set(re.findall(r"\w+", layer)) for layer in reversed(plan["layers"])]
    floors = [next(floor for floor, layer in enumerate(layers) if name in layer) for name in named]
    assert floors == sorted(floors)


BENCHES = sorted((ROOT / "tests" / "bench").glob("*.py"))


def test_benches_import_what_there_is() -> None:
    """No test runs the benches, so that a moved name would break them unseen."""
    lost = []
    for path in BENCHES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ("forager", "tests"):
                lost += [
                    f"{path.name}: {node.module}.{name.name}"
                    for name in node.names
                    if not _stands(node.module, name.name)
                ]
    assert lost == []


def _stands(module: str, name: str) -> bool:
    """Whether a module of ours, or a package, has something of this name."""
    place = ROOT.joinpath(*module.split("."))
    if (place / f"{name}.py").is_file():
        return True
    source = place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"
    return source.is_file() and re.search(rf"\b{name}\b", source.read_text(encoding="utf-8")) is not None


def test_every_bench_has_a_figure() -> None:
    """Its command stands in RESULTS.md, or another program of the tests uses it."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    results = (ROOT / "tests" / "bench" / "RESULTS.md").read_text(encoding="utf-8")

    def is_used(bench: Path) -> bool:
        uses = re.compile(rf"\b{bench.stem}\.py|^(?:from|import) .*\b{bench.stem}\b", re.MULTILINE)
        return bench.name in results or any(uses.search(text) for path, text in texts.items() if path != bench)

    assert [bench.name for bench in BENCHES if not is_used(bench)] == []


def test_no_file_name_ends_in_ing() -> None:
    assert [path.stem for path in (ROOT / "forager").rglob("*.py") if path.stem.endswith("ing")] == []


def test_a_file_name_stands_once() -> None:
    """But for the commands: each is called after its verb."""
    files = [path for path in (ROOT / "forager").rglob("*.py") if path.stem != "__init__" and path.parent.name != "cli"]
    stems = [path.stem for path in files]
    assert sorted({stem for stem in stems if stems.count(stem) > 1}) == []


def public_names(module: ast.Module) -> Iterator[str]:
    """Functions, classes and type aliases of a module; its constants and type variables belong to it alone."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            variable = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in ("TypeVar", "ParamSpec")
            if re.search("[a-z]", node.targets[0].id) and not variable:
                yield node.targets[0].id


def test_a_public_name_means_one_thing_in_the_whole_tree() -> None:
    homes: dict[str, list[str]] = {}
    for path in sorted((ROOT / "forager").rglob("*.py")):
        for name in public_names(ast.parse(path.read_text(encoding="utf-8"))):
            if not name.startswith("_"):
                homes.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_what_texts_refer_to_exists() -> None:
    """A module in backticks (`core.step`, `engine/topic`, `store.store.Store`), or a path of a test; settings aside."""
    packages, settings = {path.name for path in PACKAGES}, {key.split(".")[0] for key in setting_leaves()}
    lost = []
    for path in sorted([*(ROOT / "forager").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        text = path.read_text(encoding="utf-8")
        for package, module, name in re.findall(r"`(?:forager[./])?([a-z_]+)[./]([a-z_]+)(?:\.([A-Za-z_]+))?`", text):
            place = f"forager.{package}.{module}", name
            if package in packages - settings and not _stands(*(place if name else (f"forager.{package}", module))):
                lost.append(f"{path.name}: {package}.{module}.{name}")
        lost += [
            f"{path.name}: {test}" for test in re.findall(r"\btests/[\w/]+\.\w+", text) if not (ROOT / test).exists()
        ]
    assert lost == []
