"""`learn` and `compare policies` from file to file."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from forager.cli.compare_policies import compare_policies
from forager.cli.learn import learn_command
from forager.errors import InputError
from forager.gp import learn as learning


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    path = tmp_path / "log.npz"
    np.savez(path, changed=rng.random((200, 15)) < rng.random((200, 1)) ** 4)
    return path


def learn_small(log: Path, output: Path, **options: object) -> None:
    learn_command(
        log, output, **{"seeds": 1, "generations": 3, "population": 16, "processes": 1, "json": True} | options
    )  # type: ignore[arg-type]


def test_a_function_is_learned_written_and_compared(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    function = tmp_path / "function.json"
    learn_small(log, function)
    result = json.loads(capsys.readouterr().out)
    assert list(result) == [
        *("formula", "terminals", "fitness", "train", "validation", "evaluations", "unique_evaluations", "seconds"),
        *("evolved", "against_known_rule"),
    ]
    assert list(result["against_known_rule"]) == ["rule", "function", "gain", "error"]
    assert result["formula"] == result["against_known_rule"]["function" if result["evolved"] else "rule"]
    assert result["evaluations"] == 3 * 16
    assert result["unique_evaluations"] < result["evaluations"]
    assert json.loads(function.read_text())["formula"] == result["formula"]
    assert not function.with_name("function.json.checkpoint").exists()
    compare_policies(log, ["nad", "t * X", str(function)], folds=2, json=True)
    table = json.loads(capsys.readouterr().out)
    assert list(table) == ["log", "policies", "oracle"]
    assert table["log"]["pages"] == 200
    assert [entry["name"] for entry in table["policies"]] == ["nad", "t * X", str(function)]
    figures = ["changerate", "changerate_ci", "ndcg", "ndcg_ci", "freshness", "freshness_ci", "age_cycles"]
    assert list(table["policies"][0]) == ["name", *figures]
    assert list(table["oracle"]) == figures
    assert table["oracle"]["freshness"] >= max(entry["freshness"] for entry in table["policies"])


def test_learning_says_what_a_known_rule_is_kept_for(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    function = tmp_path / "function.json"
    learn_small(log, function, generations=1, json=False)
    told = capsys.readouterr().out
    assert "a known rule: " in told  # one generation of 16 on 100 pages finds nothing that is better beyond chance
    assert json.loads(function.read_text())["provenance"]["evolved"] is False
    learn_small(log, function, generations=1, known_rules=False)
    pure = json.loads(capsys.readouterr().out)
    assert pure["evolved"] is True
    assert "against_known_rule" not in pure


def test_folds_are_test_sets_in_turn_and_too_many_are_refused(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    function = tmp_path / "function.json"
    learn_small(log, function, generations=1, folds=3, breed_from="best")
    told = json.loads(capsys.readouterr().out)
    assert len(told["folds"]) == 3
    mean, half = told["test"]["change_rate"]
    assert mean == pytest.approx(sum(one["change_rate"] for one in told["folds"]) / 3)
    assert half > 0
    assert told["top"]["ndcg"][4] == pytest.approx(told["test"]["ndcg"][0])  # 5/5 of the schedule is all of it
    assert json.loads(function.read_text())["formula"] == told["formula"]
    with pytest.raises(InputError, match="--folds"):
        learn_small(log, function, folds=1)


def test_one_learns_from_the_past_and_judges_on_the_future(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    function = tmp_path / "function.json"
    learn_small(log, function, train_until="60%")
    capsys.readouterr()
    assert json.loads(function.read_text())["provenance"]["cycles"] == 9  # 60% of 15
    compare_policies(log, ["nad", str(function)], folds=2, from_="60%", json=True)
    assert json.loads(capsys.readouterr().out)["log"]["cycles"] == 6


def test_a_learning_that_stopped_goes_on_and_ends_the_same(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    learn_small(log, tmp_path / "whole.json")
    whole = json.loads(capsys.readouterr().out)
    stopped = tmp_path / "stopped.json"
    real = learning.learning

    def interrupted(*arguments: object) -> Iterator[learning.LearnProgress]:
        yield next(real(*arguments))  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(learning, "learning", interrupted)
        learn_small(log, stopped)
    assert json.loads(capsys.readouterr().out)["evaluations"] == 16  # the best so far is kept
    assert stopped.with_name("stopped.json.checkpoint").exists()
    with np.load(log) as content:
        changed = content["changed"]
    other = tmp_path / "other" / "log.npz"
    other.parent.mkdir()
    np.savez(other, changed=~changed)
    with pytest.raises(InputError, match="another log"):  # of the same name and size
        learn_small(other, stopped, resume=True)
    learn_small(log, stopped, resume=True)
    resumed = json.loads(capsys.readouterr().out)
    same = ("formula", "train", "validation", "evaluations")
    assert [resumed[key] for key in same] == [whole[key] for key in same]
    assert not stopped.with_name("stopped.json.checkpoint").exists()


@pytest.mark.parametrize("quiet", [False, True])
def test_a_comparison_shows_on_a_terminal_how_far_it_is_unless_it_is_to_be_quiet(
    quiet: bool, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    compare_policies(log, ["age", "nad"], folds=2, json=True, quiet=quiet)
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert ("policy 1 of 3: age" in err) is not quiet
    assert (err == "") is quiet


def test_the_report_is_one_page_that_loads_nothing(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    compare_policies(log, ["age", "t + n", "hacs"], folds=2, output=report)
    text = report.read_text(encoding="utf-8")
    assert "<script" not in text and len(text) < 500_000
    assert "ChangeRate" in text and "oracle" in text
    assert "hacs" in capsys.readouterr().out


def test_a_policy_that_finds_no_document_has_no_delay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, documents, report = tmp_path / "log.csv", tmp_path / "documents.csv", tmp_path / "report.html"
    log.write_text("url,cycle,changed\n" + "".join(f"h{page},{cycle},1\n" for page in range(8) for cycle in range(10)))
    documents.write_text("document,url,first,last\nd,h7,4,4\n")
    never = "0 - t"  # whoever was just seen is seen again
    compare_policies(log, [never], folds=1, k="1", documents=documents, json=True, output=report)
    (told,) = json.loads(capsys.readouterr().out)["policies"]
    assert (told["coverage"], told["delay_mean"], told["delay_median"]) == (0, None, None)
    assert "<td class=number>0.0%</td><td class=number>–</td><td class=number>–</td>" in report.read_text("utf-8")
    compare_policies(log, [never], folds=1, k="1", documents=documents)
    assert re.search(r"0 - t\s+0\.0%\s+–\s+–", capsys.readouterr().out)


def test_discovery_logs_add_coverage_and_delay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, documents = tmp_path / "log.csv", tmp_path / "documents.csv"
    log.write_text("url,cycle,changed\n" + "".join(f"h{page},{cycle},1\n" for page in range(8) for cycle in range(10)))
    documents.write_text("document,url,first,last\n" + "".join(f"d{i},h{i % 8},{2 + i % 7},9\n" for i in range(40)))
    compare_policies(log, ["age", "rand"], folds=1, k="25%", documents=documents, json=True)
    table = json.loads(capsys.readouterr().out)
    assert {"coverage", "delay_mean", "delay_median"} <= set(table["policies"][0])
    assert 0 < table["policies"][0]["coverage"] <= 1
    compare_policies(log, ["age", "t * X + t * X"], folds=1, k="25%", documents=documents)
    shown = capsys.readouterr().out
    assert f"{table['policies'][0]['coverage']:.1%}" in shown
    assert "median delay" in shown
    learn_small(log, tmp_path / "f.json", fitness="discovery", documents=documents, k=["25%"], terminals="extended")
    assert json.loads(capsys.readouterr().out)["fitness"] == "discovery"


def test_documents_that_all_stood_there_from_the_beginning_teach_nothing(tmp_path: Path) -> None:
    log, documents = tmp_path / "log.csv", tmp_path / "documents.csv"
    log.write_text("url,cycle,changed\n" + "".join(f"h{page},{cycle},1\n" for page in range(8) for cycle in range(10)))
    documents.write_text("document,url,first,last\n" + "".join(f"d{i},h{i % 8},0,9\n" for i in range(40)))
    with pytest.raises(InputError, match="no document appears after the warm-up"):
        learn_small(log, tmp_path / "f.json", fitness="discovery", documents=documents)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"k": ["none"]}, "--k none"),
        ({"cycle": "soon"}, "--cycle soon"),
        ({"fitness": "discovery"}, "--documents"),
        ({"train_until": "2022-01-01"}, "--train-until 2022-01-01"),
        ({"warmup": 15}, "too few"),
    ],
)
def test_wrong_options_are_told_in_one_line(
    log: Path, tmp_path: Path, options: dict[str, object], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        learn_small(log, tmp_path / "f.json", **options)


def test_a_log_without_any_change_teaches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    np.savez(path, changed=np.zeros((30, 9), dtype=np.bool_))
    with pytest.raises(InputError, match="no page changes in these 9 cycles"):
        learn_small(path, tmp_path / "f.json")
    compare_policies(path, ["nad"], folds=2)  # every copy stays current, whatever is visited


def test_a_long_function_does_not_push_the_charts_aside(log: Path, tmp_path: Path) -> None:
    report, formula = tmp_path / "report.html", " + ".join(["t * X"] * 20)
    compare_policies(log, [formula, "nad"], folds=2, output=report)
    text = report.read_text(encoding="utf-8")
    assert f"<span class=formula>{formula}</span>" in text  # in full in the tables,
    assert f"</svg>{formula}</li>" not in text  # not below the charts
    assert text.count("</svg>nad</li>") == 6
    for figure in ("ChangeRate", "NDCG"):
        assert text.count(f"<h2>{figure} of the top of the schedule</h2>") == 1  # each chart says what it shows


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        ("missing.json", "No such file"),
        ("t *", "position 4"),
        ("naad", "one of rand age cg nad"),
        ("+t" * 200, "one of"),
    ],
)
def test_a_policy_that_is_neither_name_formula_nor_file_is_told(log: Path, policy: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        compare_policies(log, [policy])


def test_a_formula_too_long_for_the_name_of_a_file_is_a_formula(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formula = " + ".join(["t * X"] * 60)
    compare_policies(log, [formula, "t * X"], folds=2, json=True)
    long, short = json.loads(capsys.readouterr().out)["policies"]
    assert long | {"name": ""} == short | {"name": ""}


def test_a_log_of_one_page_is_compared_in_one_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "log.npz", changed=np.array([[False, True, False, True, True, False]]))
    compare_policies(tmp_path / "log.npz", ["age"], json=True)
    table = json.loads(capsys.readouterr().out)
    assert table["log"]["pages"] == 1
    assert (table["policies"][0]["changerate"], table["policies"][0]["changerate_ci"]) == (0.5, 0.0)
