import csv
import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from forager.cli.rankings import compare_rankings, rank_command, ranking_interval
from forager.errors import InputError, OutputError

app = typer.Typer()
app.command("rank")(rank_command)
app.command("compare")(compare_rankings)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def web(tmp_path):
    """300 downloaded pages, of which ten have impact and link to the impactful ones among 200 more."""
    rng = np.random.default_rng(0)
    links = [(page, int(target)) for page in range(300) for target in rng.integers(0, 500, 8)]
    links += [(page, 300 + 2 * page + place) for page in range(10) for place in range(2)]
    impact = dict.fromkeys(range(10), 5.0) | dict.fromkeys(range(300, 320), 3.0)
    url = "https://a.example/{}".format
    files = {
        "edges.csv": ["source,target", *(f"{url(source)},{url(target)}" for source, target in links)],
        "impact.csv": ["url,clicks,views", *(f"{url(page)},{value},{2 * value}" for page, value in impact.items())],
        "old.csv": ["url,impact", *(f"{url(page)},{impact.get(page, 0)}" for page in range(300))],
        "frontier.csv": ["url", *(url(page) for page in range(300, 500))],
        "anchors.csv": ["target,anchor", *(f"{url(page)},word{page % 7}" for page in range(500))],
        "queries.csv": ["query", "word1", "word1 word2"],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


def test_where_all_pages_have_impact_those_without_links_are_the_frontier(web):
    urls = [f"https://a.example/{page}" for page in range(500)]
    (web / "all.csv").write_text(
        "\n".join(["url,clicks", *(f"{url},{place}" for place, url in enumerate(urls))]) + "\n"
    )
    output = web / "ranked.csv"
    told = json.loads(run("rank", web / "edges.csv", "--impact", web / "all.csv", "-O", output, "--json"))
    without = json.loads(run("rank", web / "edges.csv", "--method", "indegree", "-O", web / "other.csv", "--json"))
    assert told["graph"] == without["graph"]
    assert {row["url"] for row in csv.DictReader(output.open())} <= set(urls[300:])


@pytest.mark.parametrize("method", ["random", "indegree", "pagerank", "rw", "rw-eg", "q-overlap", "q-hybrid", "ml"])
def test_every_method_writes_the_whole_frontier_best_first(web, method):
    output = web / "ranked.csv"
    files = ["--impact", web / "old.csv", "--anchors", web / "anchors.csv", "--queries", web / "queries.csv"]
    told = json.loads(run("rank", web / "edges.csv", *files, "--method", method, "-O", output, "--json"))
    rows = list(csv.DictReader(output.open()))
    assert told["graph"]["downloaded"] == 300
    assert len(rows) == told["graph"]["frontier"]
    assert [int(row["rank"]) for row in rows] == list(range(1, len(rows) + 1))
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert all(int(row["url"].rsplit("/", 1)[1]) >= 300 for row in rows)
    assert not list(web.glob("*.part"))


def test_rw_puts_first_what_impactful_pages_link_to(web):
    run("rank", web / "edges.csv", "--impact", web / "old.csv", "--method", "rw", "-O", web / "r.csv", "--limit", 20)
    first = {row["url"] for row in csv.DictReader((web / "r.csv").open())}
    planted = {f"https://a.example/{page}" for page in range(300, 320)}
    assert len(first & planted) >= 8  # the other links of impactful pages are as good; by chance it would be 2 of 20


def test_a_given_frontier_is_ranked_even_if_its_pages_have_links(web):
    (web / "few.csv").write_text("url\nhttps://a.example/5\nhttps://a.example/6\n")
    run("rank", web / "edges.csv", "--method", "indegree", "--frontier", web / "few.csv", "-O", web / "r.csv")
    assert {row["url"][-2:] for row in csv.DictReader((web / "r.csv").open())} == {"/5", "/6"}


def test_a_walk_without_impact_says_what_is_missing(web):
    with pytest.raises(InputError, match="rw-eg needs impact"):
        run("rank", web / "edges.csv", "-O", web / "r.csv")


def test_an_output_in_no_folder_is_an_output_error(web):
    with pytest.raises(OutputError, match="there is no directory"):
        run("rank", web / "edges.csv", "--method", "indegree", "-O", web / "nowhere" / "r.csv")


def test_the_comparison_speaks_json_with_the_agreed_keys(web):
    told = json.loads(run("compare", web / "edges.csv", "--impact", web / "impact.csv", "--split", "35%", "--json"))
    assert set(told) == {"graph", "rankings"}
    assert set(told["graph"]) == {"downloaded", "frontier", "links"}
    assert [ranking["method"] for ranking in told["rankings"]] == [
        "random",
        "indegree",
        "pagerank",
        "rw",
        "rw-eg",
        "ml",
    ]
    for ranking in told["rankings"]:
        assert set(ranking) == {"method", "impact_at", "seconds", "iterations"}
        assert {"0.01", "0.05", "0.1"} <= set(ranking["impact_at"])
        assert all(0 <= found <= 1 for found in ranking["impact_at"].values())


def test_the_comparison_is_the_same_for_the_same_seed_and_shows_intervals(web):
    files = ["--impact", web / "impact.csv", "--frontier", web / "frontier.csv"]
    first, second = (
        json.loads(run("compare", web / "edges.csv", *files, "--splits", 3, "--seed", 4, "--json")) for _ in range(2)
    )
    found = [[ranking["impact_at"] for ranking in told["rankings"]] for told in (first, second)]
    assert found[0] == found[1]
    table = run("compare", web / "edges.csv", *files, "--splits", 3, "--method", "rw", "--method", "random")
    assert "±" in table


def test_the_report_is_one_file_that_loads_nothing(web):
    queries = ["--anchors", web / "anchors.csv", "--queries", web / "queries.csv"]
    run("compare", web / "edges.csv", "--impact", web / "impact.csv", *queries, "-O", web / "report.html")
    page = (web / "report.html").read_text()
    assert "Click rate" in page
    assert "q-hybrid" in page
    assert page.count("</svg>q-hybrid</li>") == 3  # below each chart
    assert "<script" not in page


@pytest.mark.parametrize("split", ["0%", "100%", "half", "1.5"])
def test_a_split_that_is_no_part_is_refused(web, split):
    with pytest.raises(InputError, match="such as 5%"):
        run("compare", web / "edges.csv", "--impact", web / "impact.csv", "--split", split)


def test_a_frontier_without_impact_cannot_be_judged(web):
    (web / "none.csv").write_text("url,impact\nhttps://a.example/1,0\n")
    with pytest.raises(InputError, match="no page with impact"):
        run("compare", web / "edges.csv", "--impact", web / "none.csv")


def test_the_interval_is_students_t():
    # 1, 2, 3: mean 2, s = 1, s/√3 = .57735, t(.975, 2) = 4.30265
    assert ranking_interval([1.0, 2.0, 3.0]) == pytest.approx((2.0, 4.30265 * 0.57735), rel=1e-4)
