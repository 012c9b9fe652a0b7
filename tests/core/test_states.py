import numpy as np
import pytest

from forager.core.parameters import StateSettings
from forager.core.shared import StateMatrix
from forager.core.states import States, Vocabulary, hashed, link_words, words
from forager.errors import InputError

SMALL = StateSettings(dimension=3)
TEXTS = (
    ["the match ended with a late goal by the striker"] * 4
    + ["the striker missed the goal in the match"] * 4
    + ["the bank raised interest rates and shares fell"] * 4
    + ["shares of the bank rose after interest rates"] * 4
    + ["rain and storm expected on the coast tonight"] * 4
    + ["storm brings rain to the coast"] * 4
)


def test_words_are_runs_of_letters_of_any_script() -> None:
    assert words("Größe, x 42 naïve_co2 МОСКВА 東京都") == ["größe", "naïve", "co", "москва", "東京", "都"]


def test_a_link_speaks_by_its_anchor_and_the_path_of_its_url() -> None:
    told = link_words("Big storm", "https://example.org/weather/storm-hits-coast-2024.html")
    assert words(told) == ["big", "storm", "weather", "storm", "hits", "coast", "html"]


def test_the_vocabulary_keeps_the_words_of_most_texts() -> None:
    vocabulary = Vocabulary.of(["aa bb bb", "bb cc", "cc dd bb"], limit=2, least=2)
    assert vocabulary.words == ("bb", "cc")  # bb stands in three texts, cc in two, the others in one
    assert vocabulary.counts(["bb aa bb cc", ""]).toarray().tolist() == [[2, 1], [0, 0]]


def test_hashed_states_have_length_one_and_depend_on_words_alone() -> None:
    states = hashed(["rain and storm", "STORM and rain!", ""], 50)
    assert states[0] == pytest.approx(states[1])
    assert np.linalg.norm(states, axis=1) == pytest.approx([1, 1, 0])


def test_states_are_hashed_until_trained_and_then_tell_topics_apart() -> None:
    untrained = States(SMALL)
    assert not untrained.trained and untrained.version == 0
    trained = untrained.train(TEXTS)
    assert trained.trained and trained.version == 1
    goal, other_goal, bank = trained.of(["a goal in the match", "the striker of the match", "the bank and its shares"])
    assert np.argmax(goal) == np.argmax(other_goal) != np.argmax(bank)
    assert np.abs(trained.of(TEXTS)).max() <= 1


def test_a_state_is_the_squeezed_share_of_each_cluster() -> None:
    trained = States(StateSettings(dimension=2)).train(["aa aa", "aa", "bb bb", "bb"])
    # no general text: P = 2/3 for the own cluster, 0 for the other, 1/3 general: tanh(10·(2/3 − 1/3)) and tanh(−10/3)
    state = trained.of(["aa"])[0]
    assert sorted(state.tolist()) == pytest.approx([np.tanh(-10 / 3), np.tanh(10 / 3)], abs=1e-5)


def test_an_unseen_page_is_estimated_from_its_link_and_the_linking_page() -> None:
    trained = States(SMALL).train(TEXTS)
    linking = trained.of(["the bank raised interest rates"])[0]
    silent, told = trained.estimate(["", "storm rain coast storm rain"], linking)
    assert silent == pytest.approx(linking)
    # five known words weigh as much as the linking page
    assert told == pytest.approx((trained.of(["storm rain coast storm rain"])[0] + linking) / 2, abs=1e-6)


def test_texts_without_common_words_cannot_be_learned_from() -> None:
    with pytest.raises(InputError, match="give more of them"):
        States(SMALL).train(["aa", "bb", "cc"])


def test_saved_states_say_the_same_and_of_another_size_are_refused() -> None:
    trained = States(SMALL).train(TEXTS)
    again = States.load(trained.save(), SMALL)
    assert again.version == 1
    assert (again.of(TEXTS) == trained.of(TEXTS)).all()
    with pytest.raises(InputError, match="3 components"):
        States.load(trained.save(), StateSettings())
    with pytest.raises(InputError, match="start afresh"):
        States.load(b"no such thing", SMALL)
    with pytest.raises(InputError, match="got state matrix"):
        States.load(StateMatrix(3).save(), SMALL)


def test_the_matrix_knows_the_state_of_each_url() -> None:
    matrix = StateMatrix(2)
    rows = matrix.add(np.array([[1, 2], [3, 4]], dtype=np.float32))
    matrix.point(5, int(rows[1]))
    matrix.put(np.array([5000, 7]), np.array([[5, 6], [7, 8]], dtype=np.float32))
    matrix.put(np.array([7, 8]), np.array([[9, 9], [1, 1]], dtype=np.float32))
    assert matrix.of(np.array([5, 5000, 7, 8, 6])).tolist() == [[3, 4], [5, 6], [9, 9], [1, 1], [0, 0]]
    assert matrix.row(100_000) == 0
    again = StateMatrix.load(matrix.save())
    assert (again.of(np.arange(6000)) == matrix.of(np.arange(6000))).all()
