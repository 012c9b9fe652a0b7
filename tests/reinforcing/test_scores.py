import pytest

from forager.foragers.settings import ForagerKind
from forager.reinforcing.population import Fate, fate, poorest
from forager.reinforcing.scores import Record, Scores
from forager.reinforcing.settings import PopulationSettings, ScoreSettings
from forager.terms import ForagerId

PAPER, RELATIVE = ScoreSettings(), ScoreSettings(relative=True)


def record(score: float = 100.0, id: int = 0, kind: ForagerKind = ForagerKind.WL) -> Record:
    return Record(ForagerId(id), kind, None, 0.0, score)


def test_every_document_costs_and_a_relevant_one_pays() -> None:
    scores, one = Scores(PAPER), record()
    scores.judged(one, relevant=True)  # 100 − .05 + 1
    scores.judged(one, relevant=False)  # − .05
    scores.worked(one, 30)
    assert one.score == pytest.approx(100.9)
    assert (one.sent, one.relevant, one.downloads) == (2, 1, 30)


def test_one_that_never_hits_dies_after_two_thousand_documents() -> None:
    scores, one = Scores(PAPER), record()
    for _ in range(2000):
        scores.judged(one, relevant=False)
    assert one.score == pytest.approx(0.0, abs=1e-6)
    scores.judged(one, relevant=False)
    assert fate(one, 3, PopulationSettings(), PAPER) is Fate.GOES


def test_relative_scores_count_documents_above_the_mean_of_the_fleet() -> None:
    scores, good, poor = Scores(RELATIVE), record(0.0), record(0.0)
    assert scores.first == 0.0
    for one, hits in ((good, 8), (poor, 2)):
        for _ in range(hits):
            scores.judged(one, relevant=True)
    scores.worked(good, 10)  # the fleet has 10 hits in 10 downloads: 8 − 10
    scores.worked(poor, 10)  # now 10 in 20: 2 − 5
    assert (good.score, poor.score) == (pytest.approx(-2.0), pytest.approx(-3.0))


@pytest.mark.parametrize(
    ("score", "alive", "expected"),
    [
        (200.0, 15, Fate.MULTIPLIES),
        (199.9, 15, Fate.STAYS),
        (200.0, 16, Fate.STAYS),  # full
        (0.0, 3, Fate.STAYS),
        (-0.1, 3, Fate.GOES),
        (-0.1, 2, Fate.STAYS),  # too few
    ],
)
def test_the_score_decides_who_multiplies_and_who_goes(score: float, alive: int, expected: Fate) -> None:
    assert fate(record(score), alive, PopulationSettings(), PAPER) is expected


def test_with_relative_scores_a_good_forager_replaces_the_poorest_of_a_full_fleet() -> None:
    assert fate(record(20.0), 15, PopulationSettings(), RELATIVE) is Fate.MULTIPLIES
    assert fate(record(20.0), 16, PopulationSettings(), RELATIVE) is Fate.REPLACES
    assert fate(record(-20.1), 16, PopulationSettings(), RELATIVE) is Fate.GOES
    fleet = [record(5.0, 0), record(-9.0, 1), record(-9.0, 2), record(-12.0, 3)]
    assert poorest(fleet, but=ForagerId(3)).id == 1  # the oldest of the equals


def test_the_baseline_neither_multiplies_nor_goes() -> None:
    for score in (-1e6, 1e6):
        assert fate(record(score, kind=ForagerKind.BFS), 3, PopulationSettings(), PAPER) is Fate.STAYS
