import numpy as np
import pytest

from forager.graph.methods import Overlap, Queries, QuerySettings, q_hybrid, query_words
from forager.graph.walks import Ranking


def test_a_query_gives_each_of_its_words_an_equal_part():
    queries = Queries([("Berlin weather", 4.0), ("berlin", 1.0)])
    assert (queries.worth("berlin"), queries.worth("weather"), queries.worth("rome")) == (3.0, 2.0, 0.0)


def test_overlap_adds_up_the_words_of_all_anchors_of_a_page_once_each():
    overlap = Overlap(Queries([("berlin weather", 4.0), ("storm", 1.0)]))
    overlap.add(2, "Weather in Berlin")  # 2 + 2
    overlap.add(2, "weather: STORM!")  # storm 1; weather was there
    overlap.add(0, "About us")
    assert overlap.ranking(3).scores.tolist() == [0.0, 0.0, 5.0]


def test_anchors_of_pages_beyond_the_graph_are_left_out():
    overlap = Overlap(Queries([("a", 1.0)]))
    overlap.add(9, "a")
    assert overlap.ranking(2).scores.tolist() == [0.0, 0.0]


def test_words_are_lower_case_without_repeats_and_in_any_script():
    assert query_words("Straße, strasse – ПРАВДА 24/7") == ["strasse", "правда", "24", "7"]


def test_q_hybrid_mixes_overlap_with_the_impact_that_page_rank_suggests():
    # training: low PageRank earned 0, high PageRank 10; so pages 4 and 5 are estimated 0 and 10, scaled 0 and 1
    page_rank = Ranking(np.array([0.1, 0.1, 0.3, 0.3, 0.1, 0.3]))
    overlap = Ranking(np.array([0.0, 0, 0, 0, 8.0, 2.0]))  # scaled 1 and ¼
    known, impact = np.arange(4), np.array([0.0, 0.0, 10.0, 10.0])
    mixed = q_hybrid(overlap, page_rank, known, impact, QuerySettings(overlap_share=0.4, leaf_pages=1))
    assert mixed.scores[4:] == pytest.approx([0.4 * 1 + 0.6 * 0, 0.4 * 0.25 + 0.6 * 1])
