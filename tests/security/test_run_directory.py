"""A run directory, a tape or a function file from somebody else does no harm, and what is secret stays so."""

import ast
import asyncio
import io
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import forager
from forager.cli.log import CrawlLog
from forager.cli.options import LogFormat, write_whole
from forager.cli.runner import write_statistics
from forager.clock import WallClock
from forager.core.page_row import highest
from forager.engine.topic import Mark, add_mark
from forager.errors import ForagerError, OutputError, StoreError
from forager.kernel import Kernel
from forager.output.lines import Replacing
from forager.recrawl.function_file import function_from_text
from forager.settings import Settings, changed, write_config
from forager.store.snapshot import taken
from forager.store.store import Store
from forager.tape.tape import load_tape
from forager.warc.wacz import pack_wacz
from forager.warc.writer import index_name, repair
from tests.faults.test_warc_repair import opened
from tests.server import Served, serving
from tests.store.test_upgrade import old  # noqa: F401 - a fixture

TOKEN = "a-long-enough-secret"
VICTIM = b"precious"


class Bomb:
    """Whoever unpickles it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def linked(run: Path, name: str) -> Path:
    """A file of a run directory that is a link to a file of somebody."""
    run.mkdir(exist_ok=True)
    victim = run.parent / "victim"
    victim.write_bytes(VICTIM)
    (run / name).symlink_to(victim)
    return victim


@pytest.mark.parametrize("name", ["crawl.lock", "crawl.db"])
async def test_a_link_in_the_place_of_lock_or_database_is_refused(tmp_path: Path, name: str) -> None:
    victim = linked(tmp_path / "run", name)
    with pytest.raises(StoreError):
        await Store.open(tmp_path / "run")
    assert victim.read_bytes() == VICTIM


async def test_no_link_in_a_run_directory_makes_us_write_elsewhere(tmp_path: Path) -> None:
    run = tmp_path / "run"
    victim = linked(run, "config.yaml")
    for name in ("statistics.json", "crawl.log", "crawl.columns.new", "forager-1.warc.gz.open", "marks.jsonl"):
        (run / name).symlink_to(victim)
    with pytest.raises(OutputError):
        write_config(Settings(), run)
    with pytest.raises(OutputError):
        write_statistics({}, run)
    with pytest.raises(OutputError):
        add_mark(run, Mark("https://a.example/", True))
    log = CrawlLog(quiet=True)
    with log.kept_in(run):
        log.say("event", "text", at=0.0)
    store = await Store.open(run)
    taken(store._ledger).write(run)
    await store.close()
    assert repair(run) == []
    assert victim.read_bytes() == VICTIM


def test_what_is_written_beside_its_place_first_goes_through_no_link(tmp_path: Path) -> None:
    run = tmp_path / "run"
    mended = opened(run)
    closed = mended.with_name(mended.name.removesuffix(".open"))
    victim = linked(run, index_name(closed).name)
    for name in ("report.html.tmp", f".stories.parquet.{os.getpid()}.part", "recording.wacz.part"):
        (run / name).symlink_to(victim)
    assert [one.path for one in repair(run)] == [closed]
    assert pack_wacz(run, run / "recording.wacz", now=0.0) == 1
    write_whole(run / "report.html", "ours")
    stories = Replacing(run / "stories.parquet")
    stories.open()
    stories.write(b"ours")
    stories.close()
    assert victim.read_bytes() == VICTIM
    assert not [path.name for path in run.iterdir() if path.is_symlink()]


def test_a_config_with_a_token_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_config(Settings(), tmp_path)
    secret = replace(Settings(), dashboard=replace(Settings().dashboard, token=TOKEN))
    write_config(secret, tmp_path)  # over one that all may read
    assert (tmp_path / "config.yaml").stat().st_mode & 0o077 == 0
    assert TOKEN not in json.dumps(changed(secret), default=str)  # what a recording says of its settings


@pytest.mark.parametrize("form", list(LogFormat))
def test_the_token_of_the_dashboard_goes_into_no_log_file(
    tmp_path: Path, form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    log = CrawlLog(form=form)
    with log.kept_in(tmp_path):
        log.dashboard(WallClock())(f"http://127.0.0.1:8080/?token={TOKEN}")
    assert TOKEN in capsys.readouterr().err
    assert TOKEN not in (tmp_path / "crawl.log").read_text()


async def test_a_cookie_that_a_site_sets_is_in_the_recording_alone(tmp_path: Path) -> None:
    """Nothing is ever sent back (see test_live), so no file needs to hold it but the WARC, which holds all that came."""
    from tests.faults.launching import nursery

    cookie, html = "session=c00k1e-of-ours", {"Content-Type": "text/html"}
    pages = {"/": Served(b"<a href='/a'>A story of today</a>", headers={**html, "Set-Cookie": cookie})}
    async with serving(pages) as site:
        chosen = ["live.user_agent=Forager/0.1 (test; +http://127.0.0.1/)", "live.allow_addresses=['127.0.0.0/8']"]
        words = ["crawl", str(tmp_path / "run"), "--seed", site.url("/"), "--no-dashboard", "-v", "--time-limit", "3s"]
        words += [part for one in chosen for part in ("-s", one)]
        process = await asyncio.to_thread(nursery().start, words, tmp_path / "errors")
        assert await asyncio.to_thread(process.wait, 120) == 0, (tmp_path / "errors").read_text()
        assert len(site.log) > 2 and not any("cookie" in seen.headers for seen in site.log)
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file() and path.parent.name != "warc"]
    assert len(files) >= 3
    assert not [path.name for path in [*files, tmp_path / "errors"] if cookie.encode() in path.read_bytes()]


def test_a_password_in_a_url_is_never_part_of_it() -> None:
    assert (
        forager.read(b"<a href='http://user:secret@a.example/x'>x</a>", "http://a.example/")
        .links[0]
        .url.count("secret")
        == 0
    )


async def test_nothing_in_a_run_directory_is_unpickled(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "run")
    await store.put([])
    payload = pickle.dumps(Bomb(tmp_path / "harm"))
    for name in ("fleet", "shared", "schedule", "seeds", "walls", "trust", "ground", "skipped", "focus", "stating"):
        await store.keep(name, payload)
    store.note_host("a.example", payload)
    await store.close()
    from tests.faults.launching import nursery

    agent = "live.user_agent=Forager/0.1 (test; +http://127.0.0.1/)"
    words = ["crawl", str(tmp_path / "run"), "--seed", "http://127.0.0.1:9/", "-s", agent, "--no-dashboard", "-q"]
    process = await asyncio.to_thread(nursery().start, [*words, "--time-limit", "1s"], tmp_path / "errors")
    await asyncio.to_thread(process.wait, 60)
    assert not (tmp_path / "harm").exists()


def test_no_tape_and_no_function_file_is_unpickled(old: Path) -> None:  # noqa: F811 - the fixture
    harm = old / "harm"
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb(harm)], dtype=object), allow_pickle=True)
    (old / "tape" / "time.npy").write_bytes(buffer.getvalue())
    with pytest.raises(ForagerError):
        load_tape(old / "tape")
    with pytest.raises(ForagerError):
        function_from_text(pickle.dumps(Bomb(harm), protocol=0).decode("latin-1"))
    assert not harm.exists()


def test_machine_code_is_kept_where_others_cannot_write() -> None:
    """Numba unpickles it: whoever writes there might as well change our modules, beside which it usually stands."""
    assert isinstance(highest, Kernel)
    highest(np.array([1]))
    folder = Path(highest.machine()._cache._cache_path)
    kept = [folder, *folder.glob("page_row*.nb?")]
    assert len(kept) > 1
    assert not [path for path in kept if path.stat().st_mode & 0o002 or path.stat().st_uid not in (0, os.getuid())]


def test_only_pipes_between_our_own_processes_carry_pickles() -> None:
    folder = Path(forager.__file__).parent
    users, dangerous = set(), []
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [one.name for one in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"} & {*names, module}:
                users.add(str(path.relative_to(folder)))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
                dangerous.append(f"{path.name}:{node.lineno}")
            keywords = {one.arg: one.value for one in node.keywords} if isinstance(node, ast.Call) else {}
            for bad in ("allow_pickle", "shell"):
                value = keywords.get(bad)
                if isinstance(value, ast.Constant) and value.value is True:
                    dangerous.append(f"{path.name}:{node.lineno}")
    assert users == {"compiler.py", "engine/teacher.py", "simulation/jobs.py"}
    assert dangerous == []
