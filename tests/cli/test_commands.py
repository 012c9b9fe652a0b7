"""The commands as a user types them, against a real server on loopback."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from forager.cli.app import VERBS, run
from forager.cli.runner import run_live
from forager.errors import Exit
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.newsroom_settings import NewsroomSettings
from tests.served import served_newsroom

LOOPBACK = ["-s", "live.allow_addresses=[127.0.0.0/8]", "-s", "timetable.download_delay=10ms"]
CONTACT = ["-s", "live.user_agent=Forager/0.1 (+https://example.org/bot)"]


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with served_newsroom(NewsroomSettings(pace=40.0)) as served:
        yield served


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as ended:
        run(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize("words", [f"{group} {verb}".split() for group, verbs in VERBS.items() for verb in verbs])
def test_every_verb_explains_itself(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, *words, "--help")
    assert code == 0
    assert "Usage: forager" in out


def test_what_a_file_holds_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text("\x1b[2Jgone,b\n")
    code, _, err = call(capsys, "compare", "policies", str(log), "-q")
    assert code == Exit.INPUT
    assert "has no column url" in err
    assert "\x1b" not in err


def test_an_output_without_a_folder_is_refused_before_the_crawl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["crawl", str(tmp_path / "run"), "--seed", "http://127.0.0.1:9/", "-O", str(tmp_path / "no" / "a.csv")]
    code, _, err = call(capsys, *words, *CONTACT)
    assert code == Exit.OUTPUT
    assert "there is no directory" in err
    assert not (tmp_path / "run").exists()


def test_fetch_shows_everything_that_was_read(newsroom: Newsroom, capsys: pytest.CaptureFixture[str]) -> None:
    story = newsroom.truth.published_between(0, time.time() - 60)[-1]
    code, out, _ = call(capsys, "fetch", story.url, "--json", *LOOPBACK)
    facts = json.loads(out)
    assert code == 0
    wanted = "url final_url outcome status hops title published published_source modified canonical links text bytes"
    assert {*wanted.split(), "seconds", "error"} <= set(facts)
    assert (facts["outcome"], facts["status"], facts["final_url"]) == ("fetched", 200, story.url)
    assert len(facts["links"]) > 10
    assert set(facts["links"][0]) >= {"url", "anchor", "region"}
    assert len(facts["text"]) > 200


def test_fetch_names_authors_in_plain_words(newsroom: Newsroom, capsys: pytest.CaptureFixture[str]) -> None:
    for story in newsroom.truth.published_between(0, time.time() - 60)[:-30:-1]:
        authors = json.loads(call(capsys, "fetch", story.url, "--json", *LOOPBACK)[1]).get("authors")
        if authors:
            break
    assert f"\n{'authors':<17}{', '.join(authors)}\n" in call(capsys, "fetch", story.url, *LOOPBACK)[1]


@contextmanager
def mute() -> Iterator[str]:
    """A server that says that there is no robots.txt, and nothing else ever."""

    def serve(listening: socket.socket) -> None:
        kept = []
        with suppress(OSError):
            while True:
                asked, _ = listening.accept()
                kept.append(asked)
                if b"robots.txt" in asked.recv(4096):
                    asked.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        listening.shutdown(socket.SHUT_RDWR)


def test_fetch_tells_every_attempt_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with mute() as url:
        code, out, err = call(
            capsys, "fetch", url, "--json", *LOOPBACK, "-s", "live.total_time=500ms", "-s", "retrying.backoff=100ms"
        )
    assert (code, json.loads(out)["trouble"]) == (Exit.FAILED, "timeout")
    told = re.findall(r"forager: attempt (\d) of 3: no complete answer .* after 0\.5 s; next in 0\.[0-3] s\n", err)
    assert told == ["1", "2"]


def test_fetch_says_that_it_waits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forager.cli.fetch._PATIENCE", 1.0)
    with mute() as url:
        code, _, err = call(capsys, "fetch", url, *LOOPBACK, "-s", "live.total_time=1.5s", "-s", "retrying.retries=0")
    assert code == Exit.FAILED
    name = url.removeprefix("http://").rstrip("/")
    assert err == f"forager: waiting for {name} for 1 s; no answer ends an attempt after 1.5 s\n"


@pytest.mark.parametrize(
    ("path", "outcome", "code"),
    [("/nowhere-at-all", "gone", Exit.GONE), ("/private/x", "refused", Exit.REFUSED)],
)
def test_fetch_ends_with_the_code_of_its_outcome(
    path: str, outcome: str, code: Exit, newsroom: Newsroom, capsys: pytest.CaptureFixture[str]
) -> None:
    home = newsroom.homes[0].rstrip("/")
    if outcome == "refused":
        disallowed = newsroom.reply(home, "/robots.txt", time.time()).answer
        assert disallowed is not None
        folder = next(line for line in disallowed.body.decode().splitlines() if line.startswith("Disallow:"))
        path = folder.partition(":")[2].strip() + "x"
    ended, out, _ = call(capsys, "fetch", home + path, "--json", *LOOPBACK)
    assert ended == code
    assert json.loads(out)["outcome"] == outcome


def test_loopback_is_refused_unless_it_is_allowed_by_name(
    newsroom: Newsroom, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "fetch", newsroom.homes[0], "--json")
    assert code == Exit.REFUSED
    assert json.loads(out)["trouble"] == "address"


def test_what_is_no_url_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "fetch", "not a url")
    assert code == Exit.INPUT
    assert err.count("\n") == 1


def test_robots_names_the_rule(newsroom: Newsroom, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "robots", newsroom.homes[0], "--json", *LOOPBACK)
    assert code == 0
    assert json.loads(out)["allowed"] is True
    _, out, _ = call(capsys, "robots", newsroom.homes[0], *LOOPBACK)
    assert "allowed      yes\n" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("crwl", "forager: no command 'crwl'; did you mean crawl? see forager --help"),
        ("compare flets", "forager compare: no command 'flets'; did you mean fleets? see forager compare --help"),
        ("replay", "forager replay: Missing argument 'TAPE'; see forager replay --help"),
        ("compare fleets x --workers 1", "forager compare fleets: No such option: --workers"),
        ("replay x --preset papr", "forager replay: no preset 'papr'; known: paper; see forager replay --help"),
        ("learn x -O f --fitness fame", "forager learn function: Invalid value for '--fitness': 'fame' is not one of"),
        ("learn x -O f --terminals some", "forager learn function: Invalid value for '--terminals': 'some' is not one"),
        ("learn x -O f --select worst", "forager learn function: Invalid value for '--select': 'worst' is not one of"),
        ("compare policies x --pages some", "forager compare policies: Invalid value for '--pages': 'some' is not one"),
    ],
)
def test_wrong_words_are_told_in_one_line(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *words.split())
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert err.startswith(told)


def test_help_shows_what_to_write_and_no_types_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("crawl", "learn function", "compare rankings"):
        _, out, _ = call(capsys, *words.split(), "--help")
        assert not re.search(r"<(str|path|int|float|list|int range|float range)\b", out)
        assert "{" not in out.splitlines()[0]
    assert re.search(r"--splits N ", out)


def test_a_crawl_without_contact_refuses_to_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "crawl", str(tmp_path / "run"), "--seed", "https://example.org/")
    assert code == Exit.SETTINGS
    assert "names no contact" in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [("htp:/broken", "seeds.txt:2: 'htp:/broken' is not an http(s) URL"), ("# only a comment", "no URL in it")],
)
def test_a_bad_seed_file_is_one_line(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(f"# news\n{line}\n")
    code, _, err = call(capsys, "crawl", str(tmp_path / "run"), "--seed-file", str(seeds), *CONTACT)
    assert code == Exit.INPUT
    assert message in err


def test_the_seed_lists_of_the_project_are_well_formed() -> None:
    from forager.library.session import read_seeds

    lists = sorted((Path(__file__).parents[2] / "seeds").glob("*.txt"))
    assert lists
    assert all(len(read_seeds(path)) >= 10 for path in lists)


def test_the_demo_prints_one_object_with_the_promised_keys(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "forager", "demo", "--time-limit", "5s", "--seed", "7", "--json"],
        capture_output=True,
        text=True,
        timeout=300,  # the first one after an installation compiles
        check=True,
        cwd=tmp_path,
    )
    facts = json.loads(done.stdout)
    promised = "stories coverage delay_median_s delay_p90_s requests requests_per_story not_modified errors"
    assert {*promised.split(), "foragers", "sites", "budget"} <= set(facts)
    assert facts["requests"] > 0
    assert (tmp_path / facts["run_dir"] / "report.html").stat().st_size > 5000
    packed = tmp_path / "demo.wacz"
    run_dir = tmp_path / facts["run_dir"]
    subprocess.run(
        [sys.executable, "-m", "forager", "export", str(run_dir), "--wacz", str(packed)], check=True, timeout=60
    )
    with zipfile.ZipFile(packed) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} >= {"archive", "indexes", "pages"}
    assert set(facts["foragers"]) == {"alive", "born", "deleted", "kinds", "list"}


def test_a_second_ctrl_c_ends_like_any_interrupted_command() -> None:
    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        run_live(main())


def test_ctrl_c_while_a_command_is_loaded_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.import_module", load)
    with pytest.raises(SystemExit) as ended:
        run(["settings"])
    assert (ended.value.code, capsys.readouterr().err) == (Exit.INTERRUPTED, "forager: stopped\n")


def _command(run_dir: Path, output: Path, newsroom: Newsroom, *more: str) -> list[str]:
    seeds = [option for home in newsroom.homes for option in ("--seed", home)]
    return [
        sys.executable,
        "-m",
        "forager",
        "crawl",
        str(run_dir),
        *seeds,
        "-o",
        str(output),
        *LOOPBACK,
        *CONTACT,
        "-q",
        *more,
    ]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_crawl_that_is_ended_goes_on_and_tells_every_story_once(
    ending: signal.Signals, newsroom: Newsroom, tmp_path: Path
) -> None:
    run_dir, output = tmp_path / "run", tmp_path / "stories.jsonl"
    started = subprocess.Popen(_command(run_dir, output, newsroom), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 240  # the first one after an installation compiles
    while not (output.exists() and output.stat().st_size > 2000) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(started.pid, ending)
    _, errors = started.communicate(timeout=60)
    if ending != signal.SIGKILL:
        assert started.returncode == 0, errors.decode()
    again = subprocess.run(
        _command(run_dir, output, newsroom, "--time-limit", "4s", "--json"), capture_output=True, text=True, timeout=300
    )
    assert again.returncode == 0, again.stderr
    told = [json.loads(line) for line in output.read_text().splitlines()]
    assert [story["number"] for story in told] == list(range(len(told)))
    assert max(Counter(story["url"] for story in told).values()) == 1
    assert all(newsroom.truth.published(story["url"]) is not None for story in told)
