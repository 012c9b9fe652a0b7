"""Rankings that learn: ML, the choice of ω, and past queries."""

import numpy as np
import pytest

from forager.chance import stream
from forager.graph.figures import chance_impact, first_pages, relative_impact
from forager.graph.graph import GrowingGraph
from forager.graph.learned import (
    LearnedSettings,
    Regression,
    TuningSettings,
    best_omega,
    error_632_plus,
    learned_rank,
    ranking_errors,
    split_pages,
)
from forager.graph.methods import (
    Evidence,
    Method,
    Overlap,
    Queries,
    QuerySettings,
    RankingSettings,
    Training,
    q_hybrid,
    query_words,
    rank_frontier,
    tuned,
)
from forager.graph.walks import Ranking


def test_the_632_plus_error_leans_to_the_left_out_pages_as_far_as_it_overfits():
    # R = (.4 − .2)/(.6 − .2) = ½; w = .632/(1 − .368/2) = .632/.816; .2 + w·(.4 − .2) = .3549…
    assert error_632_plus(0.2, 0.4, 0.6) == pytest.approx(0.2 + 0.632 / 0.816 * 0.2)


def test_the_632_plus_error_without_overfitting_is_the_632_error():
    assert error_632_plus(0.4, 0.3, 0.6) == pytest.approx(0.368 * 0.4 + 0.632 * 0.3)


def test_a_rule_that_does_no_better_than_chance_on_left_out_pages_gets_their_error():
    # Err(1) = .9 is cut to .6; R = 1; w = .632/.632 = 1
    assert error_632_plus(0.1, 0.9, 0.6) == pytest.approx(0.6)


def test_impact_is_counted_relative_to_the_best_order():
    # first 2 of 4: 1 + 4 of 4 + 3; first 1: 1 of 4
    assert relative_impact(np.array([1.0, 4.0, 3.0, 0.0]), [0.25, 0.5, 1.0]) == pytest.approx([1 / 4, 5 / 7, 1.0])


def test_the_first_pages_are_rounded_up_to_at_least_one():
    assert [first_pages(share, 200) for share in (0.002, 0.005, 0.01, 0.012, 1.0)] == [1, 1, 2, 3, 200]


def test_chance_finds_its_share_of_all_impact():
    # any 2 of 4 pages hold 8·2/4 = 4 on average; the best two hold 7
    assert chance_impact(np.array([1.0, 4.0, 3.0, 0.0]), 0.5) == pytest.approx(4 / 7)


def test_a_perfect_ranking_has_no_error_and_a_reversed_one_more_than_chance_explains():
    impact = np.arange(100.0)
    settings = TuningSettings(share=0.1, samples=20)
    perfect, reversed_ = ranking_errors(
        [Ranking(impact), Ranking(-impact)], np.arange(100), impact, settings, stream(0, "test")
    )
    assert perfect == 0.0
    assert reversed_ > 1 - chance_impact(impact, 0.1) - 1e-9


def test_the_omega_of_the_best_ranking_is_chosen_and_the_largest_of_equal_ones():
    impact = np.arange(100.0)
    rankings = {0.0: Ranking(-impact), 0.5: Ranking(impact), 0.9: Ranking(2 * impact)}
    assert best_omega(rankings, np.arange(100), impact, TuningSettings(), stream(0, "test")) == 0.9


def test_a_split_loses_no_page_and_keeps_the_share():
    train, judge = split_pages(np.arange(10, 30), 0.65, stream(0, "test"))
    assert (train.size, judge.size) == (13, 7)
    assert sorted([*train, *judge]) == list(range(10, 30))


@pytest.mark.parametrize("regression", list(Regression))
def test_impact_is_learned_from_a_feature_however_small_its_values(regression):
    # impact follows the second feature, whose values differ by 1e-12; the first is noise
    rng = stream(0, "test")
    truth = rng.permutation(400).astype(float)
    features = [Ranking(rng.random(400)), Ranking(1e-12 * truth)]
    known, asked = np.arange(300), np.arange(300, 400)
    settings = LearnedSettings(regression=regression, leaf_pages=2)
    ranking = learned_rank(features, known, truth[known], asked, settings)
    assert relative_impact(truth[ranking.order(asked)], [0.1])[0] > 0.95


def test_pages_in_the_same_leaf_are_ordered_by_the_last_feature():
    # four training pages in one leaf: one prediction for all
    features = [Ranking(np.zeros(7)), Ranking(np.array([0, 0, 0, 0, 0.2, 0.9, 0.2]))]
    ranking = learned_rank(features, np.arange(4), np.ones(4), np.arange(4, 7), LearnedSettings(leaf_pages=4))
    assert ranking.order(np.arange(4, 7)).tolist() == [5, 4, 6]


def evidence() -> Evidence:
    """Page 0 is famous and links to the famous frontier pages 200 to 219; the rest links anywhere."""
    rng = np.random.default_rng(0)
    growing = GrowingGraph()
    growing.add_page(0, range(200, 220))
    for page in range(1, 200):
        growing.add_page(page, rng.integers(0, 400, 6).tolist())
    graph = growing.graph()
    impact = np.zeros(graph.pages)
    impact[[0, *range(200, 220)]] = 10.0
    training, _ = split_pages(graph.frontier, 0.65, stream(0, "test"))
    return Evidence(graph, [impact], Training(training, impact), Ranking(rng.random(graph.pages)))


def test_walks_find_what_famous_pages_link_to_and_plain_ranks_do_not():
    known = evidence()
    truth = known.impacts[0]
    found = {
        method: relative_impact(
            truth[rank_frontier(method, known, RankingSettings(), stream(0, "r")).order(known.graph.frontier)], [0.1]
        )[0]
        for method in Method
    }
    assert found[Method.RW] == 1.0
    assert min(found[Method.RW_EG], found[Method.ML]) > 0.8
    assert max(found[method] for method in (Method.RANDOM, Method.IN_DEGREE, Method.Q_OVERLAP)) < 0.7


def test_tuning_gives_an_omega_in_steps_of_a_tenth_and_the_same_one_for_the_same_seed():
    known = evidence()
    first, second = (tuned(known, RankingSettings(), stream(1, "tune")).walk.omega for _ in range(2))
    assert first == second
    assert round(first * 10) / 10 == first


def test_query_methods_refuse_to_rank_without_queries():
    known = evidence()
    without = Evidence(known.graph, known.impacts, known.training)
    with pytest.raises(ValueError, match="anchor texts"):
        rank_frontier(Method.Q_OVERLAP, without, RankingSettings(), stream(0, "r"))


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
