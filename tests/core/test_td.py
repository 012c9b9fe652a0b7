import numpy as np
import pytest

from forager.core.addresses import address_marks
from forager.core.best_pages import best
from forager.core.parameters import ForagerKind, ForagerSettings, ProfitSettings, StateSettings
from forager.core.profit import check_rate, learn_profit, profits
from forager.core.shared import Shared
from forager.errors import SettingsError
from tests.core.lone import Lone, article, hub


def vector(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def learn(weights: np.ndarray, current: np.ndarray, earned: float, following: np.ndarray, **more: bool) -> float:
    settings = ProfitSettings(rate=0.1, discount=0.9, **({"normalised": False} | more))
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
    shared = Shared.fresh(ForagerSettings(states=StateSettings(dimension=1)))
    shared.states.put(np.array([0, 1, 2]), np.array([[0.9], [0.1], [0.9]], dtype=np.float32))
    gains = profits(shared.mind(), np.array([0, 1, 2]), np.array([1.0]), False)
    rng = np.random.default_rng(3)
    chosen = [best(gains, rng.random()) for _ in range(400)]
    assert set(chosen) == {0, 2}
    assert 150 < chosen.count(0) < 250  # 200 ± 5 standard deviations of 10


def test_profits_by_url_are_those_of_their_states_or_of_the_pages_that_revealed_them() -> None:
    shared = Shared.fresh(ForagerSettings(states=StateSettings(dimension=2)))
    shared.states.put(np.array([1, 2]), np.array([[0.5, 0.5], [1, 0]], dtype=np.float32))
    shared.note(hub(2, 0.0, 3))
    gains = profits(shared.mind(), np.array([1, 2, 3, 0]), np.array([1.0, -2.0]), False)
    assert gains == pytest.approx([-0.5, 1.0, 1.0, 0.0])  # page 3 was never seen, of page 0 nothing is known


def test_states_that_would_make_learning_blow_up_are_refused() -> None:
    long = np.full((4, 50), 0.5, dtype=np.float32)  # ‖s‖² = 12.5; .1·12.5 = 1.25
    with pytest.raises(SettingsError, match=r"below 0\.08"):
        check_rate(ProfitSettings(rate=0.1, normalised=False), long)
    check_rate(ProfitSettings(normalised=True), long)
    check_rate(ProfitSettings(rate=0.07, normalised=False), long)


MARKED = np.array([range(1, 7), range(7, 13), range(7, 13), range(13, 19)], np.uint8)
"""Pages 1 and 2 have addresses of one template."""


def test_addresses_of_one_template_have_the_same_marks_but_for_what_tells_them_apart() -> None:
    one, other, imprint = (
        address_marks(f"https://news.example/{path}")
        for path in ("politik/haushalt-im-bundestag-a-123.html", "politik/streit-um-die-steuer-a-987.html", "impressum")
    )
    assert one == other
    assert sum(a == b for a, b in zip(one, imprint, strict=True)) == 1  # of both links nothing is known
    first, section = (address_marks(f"https://text.example/{page}_01.htm") for page in (201, 205))
    assert first == section != address_marks("https://text.example/801_01.htm")


def test_a_look_teaches_what_links_like_this_one_are_worth() -> None:
    settings = ForagerSettings(states=StateSettings(dimension=2))
    lone = Lone(settings, ForagerKind.WLRL)
    shared = lone.shared
    shared.states.mark(np.arange(4), MARKED)
    lone.walk(0.0, hub(0, 0.0, 1))
    lone.walk(60.0, article(1, 60.0))  # δ = 100, ‖s‖² = 1, α = .2: V of all addresses like it becomes 20
    gains = profits(lone.agent._mind(shared, 0), np.array([2, 3]), lone.forager.weights, True)
    assert gains == pytest.approx([20.0, 0.0])


def test_links_never_followed_have_a_profit_in_a_replay_too() -> None:
    lone = Lone(ForagerSettings(), ForagerKind.WLRL)
    lone.shared.states.mark(np.arange(4), MARKED)
    lone.walk(0.0, hub(0, 0.0, 1))
    lone.walk(60.0, article(1, 60.0))
    lone.agent.look(hub(0, 3600.0, 1, 2, 3), False, 3600.0, lone.shared)
    prospects = lone.shared.mind().prospects
    assert prospects[2] > prospects[3] == 0.0  # the recrawl side is told of both


@pytest.mark.parametrize("kind", [ForagerKind.WL, ForagerKind.WLRL])
def test_the_share_of_steps_that_long_term_profit_decided_is_counted(kind: ForagerKind) -> None:
    lone, links = Lone(ForagerSettings(kind=kind), kind), np.arange(1, 21)
    lone.shared.states.put(links, np.linspace((1, 0), (0, 1), 20).astype(np.float32))
    assert lone.agent.decided is None  # no step was made along a link
    lone.walk(0.0, hub(0, 0.0, *links.tolist()))
    assert lone.agent.decided is None
    followed, weights = lone.choose(1.0).url, lone.forager.weights
    gains = profits(lone.agent._mind(lone.shared, lone.forager.slot), links, weights, True)
    if kind is ForagerKind.WL:
        assert lone.agent.decided == 0
    else:
        assert lone.agent.decided == 1 and followed == links[np.argmax(gains)]
