"""The reader of Wikispeedia's files, on a hand-made folder of the same form; and the real ones, if they are here."""

from pathlib import Path

import pytest

from forager.cli.rankings import judge_rankings
from forager.graph.figures import SHARES
from forager.graph.methods import Method, RankingSettings
from tests.bench.wikispeedia import data_folder, question, read_games, read_links, read_overlap, why_not

LINKS = """# Wikispeedia
# FORMAT: linkSource linkTarget

Zebra\tAfrica
Zebra\t%C3%85land
Africa\tZebra
Africa\tNile
Nile\tAfrica
"""
FINISHED = """# FORMAT: hashedIpAddress timestamp durationInSec path rating
6a3\t1297438600\t166\tZebra;%C3%85land;<;Africa;Nile\t3
6a3\t1297438601\t10\tAfrica;Nile\tNULL
"""
UNFINISHED = """# FORMAT: hashedIpAddress timestamp durationInSec path target type
26b\t1297438602\t1804\tNile;Africa\tZebra\ttimeout
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "wikispeedia_paths-and-graph"
    inner.mkdir()
    (inner / "links.tsv").write_text(LINKS, encoding="utf-8")
    (inner / "paths_finished.tsv").write_text(FINISHED, encoding="utf-8")
    (inner / "paths_unfinished.tsv").write_text(UNFINISHED, encoding="utf-8")
    pages = tmp_path / "wpcd" / "wp" / "a"
    pages.mkdir(parents=True)
    link = '<a href="../../wp/n/Nile.htm" title="Nile">the <b>river</b> Nile</a> <a href="../../wp/x/Unknown.htm">x</a>'
    (pages / "Africa.htm").write_text(f"<p>{link}</p>", encoding="utf-8")
    return tmp_path


def test_names_are_decoded_and_comments_left_out(folder: Path) -> None:
    edges = read_links(folder)
    assert edges.names is not None
    assert [edges.names.name(page) for page in range(len(edges.names))] == ["Zebra", "Africa", "Nile", "Åland"]
    assert edges.growing.graph().links == 5


def test_a_click_counts_for_the_page_it_leads_to_but_not_the_way_back(folder: Path) -> None:
    clicks, targets = read_games(folder)
    assert clicks == {"Åland": 1, "Africa": 2, "Nile": 2}
    assert targets == {"Nile": 2, "Zebra": 1}


def test_the_words_of_links_are_held_against_the_targets_of_the_players(folder: Path) -> None:
    edges = read_links(folder)
    assert edges.names is not None
    overlap = read_overlap(folder, edges.names, read_games(folder)[1], len(edges.names))
    assert overlap is not None
    assert overlap.scores.tolist() == [0, 0, 2, 0]  # Nile was the target of two games, and the word of a link there


def test_a_table_of_clicks_stands_for_the_finished_games(folder: Path) -> None:
    next(folder.rglob("paths_finished.tsv")).unlink()
    (folder / "clicks.csv").write_text("url,clicks\nNile,7\nÅland,1\n", encoding="utf-8")
    assert why_not(folder) == ""
    assert read_games(folder) == ({"Nile": 7, "Åland": 1}, {"Zebra": 1})


def test_impact_is_clicks_by_page(folder: Path) -> None:
    asked, pages = question(folder)
    assert asked.impacts[0].tolist() == [0, 2, 2, 1]
    assert pages.tolist() == [0, 1, 2, 3]


def test_a_page_is_clicked_so_often_for_each_time_that_a_link_to_it_was_shown(folder: Path) -> None:
    asked, _ = question(folder)
    # Zebra, Africa, Nile, Åland were clicked 0, 2, 2, 1 times; Africa is linked from Zebra and Nile, so shown twice, and
    # Nile, linked from Africa, twice; links to Åland stand on Zebra alone, which nobody came to by a click
    assert asked.click_rate is not None and asked.click_rate.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_a_folder_without_the_files_is_told_by_their_names(tmp_path: Path) -> None:
    assert why_not(tmp_path) == f"{tmp_path}: has no links.tsv and no paths_finished.tsv or clicks.csv"


def test_on_the_real_games_walks_that_know_impact_beat_chance() -> None:
    if reason := why_not(data_folder()):
        pytest.skip(reason)
    asked, pages = question(data_folder())
    frontier = pages.size * 35 // 100
    methods = [Method.RANDOM, Method.PAGE_RANK, Method.RW_EG]
    compared = judge_rankings(
        asked, lambda rng: rng.choice(pages, frontier, replace=False), methods, RankingSettings(), splits=2
    )
    random, _, enriched = (judged.at(SHARES[-1])[0] for judged in compared.judged)
    assert enriched > 2 * random
