"""Formulas typed by people: read safely, printed back readably."""

import numpy as np
import pytest

from forager.errors import InputError
from forager.gp.evolve import canonical_tree
from forager.recrawl.formula import formula_text, parse
from forager.recrawl.policies import Formula
from forager.recrawl.terminals import PageStates

STATES = PageStates(now=5.0, last=np.array([2.0, 4.0]), n=np.array([4.0, 2.0]), X=np.array([2.0, 0.0]))


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("t * X", 6.0, 0.0),  # t = 3 and 1
        ("1 + 2 * t", 7.0, 3.0),
        ("(1 + 2) * t", 9.0, 3.0),
        ("n - X - 1", 1.0, 1.0),
        ("n / X / 2", 1.0, 0.0),  # division by 0 is 0
        ("t ^ 2", 9.0, 1.0),
        ("t**2", 9.0, 1.0),
        ("2 ^ 3 ^ 2", 512.0, 512.0),  # right to left
        ("-t + 1", -2.0, 0.0),
        ("pow(t, 2) - exp(0)", 8.0, 0.0),
        ("log(X - 2)", 0.0, 0.0),  # log is 0 outside its domain
        ("1e1 * .5", 5.0, 5.0),
    ],
)
def test_a_formula_means_what_it_says(text: str, first: float, second: float) -> None:
    assert Formula.of(parse(text)).scores(STATES).tolist() == pytest.approx([first, second])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("t * ", "position 4: a number, a name or '(' is missing"),
        ("t * foo", "position 5: no terminal 'foo'"),
        ("t $ X", "position 3: unexpected character"),
        ("(t", "position 3: ')' is missing"),
        ("t X", "position 3: unexpected 'X'"),
        ("sin(t)", "position 1: no function 'sin'"),
        ("log(t, X)", "position 1: log takes 1 argument"),
        ("", "position 1: a number, a name or '(' is missing"),
        ("__import__('os')", "unexpected character"),
        ("(" * 200 + "t" + ")" * 200, "nested too deeply"),
        ("t+" * 6000 + "t", "longer than"),
        ("t+" * 4000 + "t", "more than 200 operations one after the other"),
        ("t * 1e200", "position 5: numbers go up to 1e+100"),
    ],
)
def test_a_mistake_is_told_with_its_position(text: str, complaint: str) -> None:
    with pytest.raises(InputError) as error:
        parse(text)
    assert complaint in str(error.value)


def test_a_formula_as_long_as_is_read_can_be_scored_and_printed() -> None:
    tree = parse(" + ".join(["t"] * 201))
    assert Formula.of(tree).scores(STATES).tolist() == [603.0, 201.0]  # 201 times 3, and 1
    assert parse(formula_text(tree)) == tree
    assert Formula.of(canonical_tree(tree)).scores(STATES).tolist() == [603.0, 201.0]


def test_a_complaint_repeats_no_more_of_a_formula_than_can_be_read() -> None:
    with pytest.raises(InputError) as error:
        parse("t * (" * 90 + "t")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("t*X", "t * X"),
        ("((t)+(X))*n", "(t + X) * n"),
        ("n-(X-t)", "n - (X - t)"),
        ("n/(X*t)", "n / (X * t)"),
        ("LOG(NAD)", "log(nad)"),
        ("t^2", "pow(t, 2)"),
        ("0.001*t", "0.001 * t"),
    ],
)
def test_formulas_are_printed_with_as_few_brackets_as_they_need(text: str, printed: str) -> None:
    assert formula_text(parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("X * t * 1", "X * t"),
        ("(t + 0) * X", "X * t"),
        ("t - t + n", "n"),
        ("log(1) + X / 1", "X"),
        ("0.5 * 100 + t", "50 + t"),
        ("X * 0 - n", "0 - n"),
        ("pow(t, 0) * n", "n"),
    ],
)
def test_what_does_not_matter_is_left_out(text: str, shorter: str) -> None:
    assert formula_text(canonical_tree(parse(text))) == shorter
