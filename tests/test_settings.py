"""Settings: layers, origins, and one line for every mistake."""

import subprocess
import sys
from pathlib import Path

import pytest

from forager.cli.app import run
from forager.errors import Exit, SettingsError
from forager.settings import Settings, load_settings, setting_leaves, setting_value


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def test_later_layers_win_and_every_value_knows_its_origin(config: Path) -> None:
    config.write_text("seed: 3\ntimetable:\n  download_delay: 2s\n  longest_wait: 1m\n")
    loaded = load_settings(
        config,
        ["timetable.download_delay=5s"],
        {"FORAGER_TIMETABLE__LONGEST_WAIT": "2m", "FORAGER_SEED": "4", "HOME": "/"},
    )
    assert loaded.settings.timetable.download_delay == 5.0
    assert loaded.settings.timetable.longest_wait == 120.0
    assert loaded.settings.seed == 4
    assert loaded.origins["timetable.download_delay"] == "-s timetable.download_delay=5s"
    assert loaded.origins["timetable.longest_wait"] == "FORAGER_TIMETABLE__LONGEST_WAIT"
    assert loaded.origins["live.total_time"] == "default"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "forager:\n  weblog:\n    stepp: 0.2\n",
            "config.yaml:3: no setting forager.weblog.stepp; did you mean forager.weblog.step?",
        ),
        ("timetable:\n  download_delay: soon\n", "config.yaml:2: timetable.download_delay: expected a duration"),
        (
            "timetable:\n  download_delay: -1\n",
            "config.yaml:2: timetable.download_delay: expected greater than or equal to 0",
        ),
        ("seed: [1\n", "config.yaml:2: not valid YAML"),
        ("seed: 1\nseed: 2\n", "config.yaml:2: seed is given twice"),
        ("live: 7\n", "config.yaml:1: expected settings of the form"),
        ("live:\n  total_time: true\n", "config.yaml:2: live.total_time: expected a number, not True"),
        ("forager:\n  kind: XX\n", "config.yaml:2: forager.kind: expected 'WL', 'RL', 'WLRL' or 'BFS', not 'XX'"),
        ("preset: papper\n", "config.yaml:1: no preset 'papper'"),
    ],
)
def test_a_mistake_is_one_line_that_says_where_and_what(config: Path, text: str, line: str) -> None:
    config.write_text(text)
    with pytest.raises(SettingsError) as raised:
        load_settings(config)
    message = str(raised.value)
    assert line in message
    assert "\n" not in message


def test_one_value_for_a_list_is_a_list_of_one(config: Path) -> None:
    config.write_text("scope:\n  deny: /tag/\n")
    loaded = load_settings(config, ["live.allow_addresses=127.0.0.1"], {"FORAGER_SCOPE__ALLOW": "/news/"}).settings
    assert loaded.live.allow_addresses == ("127.0.0.1",)
    assert loaded.scope.allow == ("/news/",)
    assert loaded.scope.deny == ("/tag/",)


@pytest.mark.parametrize("text", ["", "7", "{a: b}", "[a, [b]]"])
def test_what_cannot_stand_in_a_list_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^-s live\.allow_addresses=.*: expected a valid"):
        load_settings(None, [f"live.allow_addresses={text}"])


def test_binary_rubbish_is_no_config(config: Path) -> None:
    config.write_bytes(b"\xff\xfe\x00rubbish")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(config)


def test_an_unknown_override_names_the_nearest_setting() -> None:
    with pytest.raises(SettingsError, match=r"did you mean timetable\.download_delay"):
        load_settings(None, ["timetable.download_dlay=1s"])


def test_a_setting_that_was_removed_says_so() -> None:
    with pytest.raises(SettingsError, match=r"no setting crawl\.processes any more: .*delete the line"):
        load_settings(None, ["crawl.processes=2"])


def test_an_empty_config_means_the_defaults(config: Path) -> None:
    config.write_text("# nothing\n")
    assert load_settings(config).settings == Settings()


def test_every_setting_can_be_looked_up_by_its_dotted_name() -> None:
    for key in setting_leaves():
        setting_value(Settings(), key)


def test_the_command_ends_with_the_documented_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["settings", "-s", "nonsense=1"])
    assert ended.value.code == Exit.SETTINGS
    assert capsys.readouterr().err.startswith("forager: -s nonsense=1: no setting nonsense")


def test_a_crawl_is_loaded_without_what_it_may_never_need(tmp_path: Path) -> None:
    """Its first request goes out a second earlier for it."""
    heavy = {"feedparser", "htmldate", "numba", "pyarrow", "requests", "rich", "scipy", "sklearn"}
    heavy |= {"charset_normalizer"}
    script = "import sys, forager.cli.crawl; print(*sys.modules)"
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert heavy.isdisjoint(listed.stdout.split())


@pytest.mark.parametrize(
    "script", ["import forager", "import forager.cli as c; sys.argv = ['forager', '--help']; c.main()"]
)
def test_the_library_and_its_help_are_there_at_once(script: str, tmp_path: Path) -> None:
    """Nothing that takes long to load is loaded by either."""
    heavy = {"aiohttp", "lxml", "numba", "numpy", "optuna", "plotly", "pyarrow", "scipy", "sklearn"}
    script = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {script}"
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = set(listed.stderr.split())
    assert "forager" in loaded
    assert heavy.isdisjoint(loaded)


def test_kernels_are_loaded_without_what_numba_would_load_beside_and_that_can_be_loaded_later(tmp_path: Path) -> None:
    """A crawl makes its first request after eleven kernels."""
    script = """if True:
        import sys, numpy
        from forager.core.page_row import highest
        assert highest(numpy.array([3, 7, 5])) == 7
        assert {"cffi", "scipy"}.isdisjoint(sys.modules)
        import scipy.linalg
    """
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)


def test_settings_are_read_without_loading_what_crawls(tmp_path: Path) -> None:
    """`forager settings` answers at once because no settings class stands in a module that computes or fetches."""
    heavy = {"aiohttp", "lxml", "numba", "numpy", "publicsuffixlist", "pyarrow", "scipy", "sklearn"}
    script = "import sys, forager.cli.options, forager.settings; forager.settings.load_settings(); print(*sys.modules)"
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert heavy.isdisjoint(listed.stdout.split())


def test_an_aim_sets_how_pages_are_ordered_unless_that_is_given(config: Path) -> None:
    assert load_settings(None, ["crawl.aim=balanced"]).settings == Settings()
    assert load_settings(None, ["crawl.aim=late"]).settings.crawl.policy == "learned"
    loaded = load_settings(None, ["crawl.aim=coverage"])
    assert loaded.settings.forager.expectation.text_breadth == 0.0
    assert loaded.origins["forager.expectation.text_breadth"] == "aim coverage"
    assert loaded.settings.crawl.policy == "worth"  # functions are learned to find documents soon
    assert load_settings(None, ["crawl.aim=coverage", "crawl.policy=learned"]).settings.crawl.policy == "learned"
    config.write_text("crawl:\n  aim: lasting\nforager:\n  expectation:\n    breadth: 0.1\n")
    chosen = load_settings(config).settings.forager.expectation
    assert (chosen.breadth, chosen.text_breadth) == (0.1, 0.45)
    assert load_settings(None, ["crawl.aim=freshness"]).settings.crawl.least_worth == 0.0
    with pytest.raises(
        SettingsError, match=r"crawl\.aim: expected 'balanced', 'late', 'coverage', 'lasting' or 'freshness'"
    ):
        load_settings(None, ["crawl.aim=speed"])
