"""README's section "Use it as a library": its snippets, one after the other as one program, against the Newsroom."""

import re
import subprocess
import sys
from pathlib import Path

from forager.newsroom.newsroom import Newsroom
from forager.tape.tape import save
from tests.library.program import LOOPBACK
from tests.simulation.small_tape import paper

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
