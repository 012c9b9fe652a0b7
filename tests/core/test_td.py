import numpy as np
import pytest

from forager.core.kernels import best
from forager.core.parameters import ProfitSettings
from forager.core.profit import check_rate, learn_profit, profits
from forager.errors import SettingsError


def vector(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def learn(weights: np.ndarray, current: np.ndarray, earned: float, following: np.ndarray, **more: bool) -> float:
    settings = ProfitSettings(**more)
    return learn_profit(weights, current, following, earned, settings.rate, settings.discount, settings.normalised)


def test_one_step_is_learned_as_worked_out_by_hand() -> None:
    weights = np.array([0.5, -0.5])
    # V(cur) = .5·1 − .5·.5 = .25, V(next) = −.5; δ = 2 + .9·(−.5) − .25 = 1.3; Δw = .1·1.3·(1, .5) = (.13, .065)
    assert learn(weights, vector(1.0, 0.5), 2.0, vector(0.0, 1.0)) == pytest.approx(1.3)
    assert weights == pytest.approx([0.63, -0.435])


def test_the_normalised_step_divides_by_the_square_length_if_it_is_above_one() -> None:
    weights = np.zeros(2)
    learn(weights, vector(2.0, 0.0), 1.0, vector(0.0, 0.0), normalised=True)  # δ = 1, ‖s‖² = 4: Δw = .1/4·1·2 = .05
    assert weights == pytest.approx([0.05, 0.0])
    learn(weights, vector(0.0, 0.5), 2.0, vector(0.0, 0.0), normalised=True)  # ‖s‖² = .25 counts as 1: Δw = .1·2·.5
    assert weights == pytest.approx([0.05, 0.1])


def test_it_converges_to_the_closed_form_on_a_ring_of_three_pages() -> None:
    # 0 → 1 → 2 → 0 with earnings 0, 1, 2 and γ = .9:
    # V0 = .9·V1, V1 = 1 + .9·V2, V2 = 2 + .9·V0  ⇒  V0 = (.9 + 1.62) / (1 − .729) = 9.2989, V1 = 10.3321, V2 = 10.3690
    weights, states = np.zeros(3), np.eye(3, dtype=np.float32)
    for _ in range(2000):
        for page, earned in ((0, 0.0), (1, 1.0), (2, 2.0)):
            learn(weights, states[page], earned, states[(page + 1) % 3])
    assert weights == pytest.approx([9.2989, 10.3321, 10.3690], abs=1e-3)


def test_the_most_profitable_page_is_chosen_and_ties_are_broken_evenly() -> None:
    states = np.array([[0.0], [0.9], [0.1], [0.9]], dtype=np.float32)
    gains = profits(np.array([0, 1, 2]), np.array([1, 2, 3], np.int32), states, np.array([1.0]))
    rng = np.random.default_rng(3)
    chosen = [best(gains, rng.random()) for _ in range(400)]
    assert set(chosen) == {0, 2}
    assert 150 < chosen.count(0) < 250  # 200 ± 5 standard deviations of 10


def test_profits_by_url_are_those_of_their_states() -> None:
    states = np.array([[9, 9], [1, 0], [0.5, 0.5]], dtype=np.float32)
    rows = np.array([0, 2, 1], dtype=np.int32)  # URL 1 has its state in row 2; nothing is known of URL 0
    assert profits(np.array([1, 2, 0]), rows, states, np.array([1.0, -2.0])) == pytest.approx([-0.5, 1.0, 0.0])


def test_states_that_would_make_learning_blow_up_are_refused() -> None:
    long = np.full((4, 50), 0.5, dtype=np.float32)  # ‖s‖² = 12.5; .1·12.5 = 1.25
    with pytest.raises(SettingsError, match=r"below 0\.08"):
        check_rate(ProfitSettings(), long)
    check_rate(ProfitSettings(normalised=True), long)
    check_rate(ProfitSettings(rate=0.07), long)
