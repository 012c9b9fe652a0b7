"""exp, log and powers as vector instructions, beside numpy's in more digits."""

import numpy as np
import pytest
from numba import njit

from forager.chance import stream
from forager.recrawl.gp import elementary


@njit(error_model="numpy")
def _exps(x, out):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        out[i] = elementary.exp(x[i])


@njit(error_model="numpy")
def _logs(x, out):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        out[i] = elementary.log(x[i])


@njit(error_model="numpy")
def _powers(x, y, out):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        out[i] = elementary.power(x[i], y[i])


@njit(error_model="numpy")
def _halved(x, out):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        out[i] = elementary.halved(x[i])


def computed(function, *columns):  # type: ignore[no-untyped-def]
    out = np.empty(len(columns[0]))
    function(*(np.asarray(column, dtype=np.float64) for column in columns), out)
    return out


def units_off(found, true):  # type: ignore[no-untyped-def]
    """The largest error in units of the last place."""
    return float(np.max(np.abs(found - true) / np.spacing(np.abs(true.astype(np.float64)))))


@pytest.mark.parametrize("reach", [1.0, 50.0, 700.0])
def test_exp_is_within_one_and_a_half_units_of_the_last_place(reach):
    x = stream(1, "exp").uniform(-reach, reach, 20_000)
    assert units_off(computed(_exps, x), np.exp(x.astype(np.longdouble))) < 1.5


def test_log_is_within_one_unit_of_the_last_place_near_1_and_far_from_it():
    rng = stream(2, "log")
    for x in (rng.uniform(0.9, 1.1, 20_000), 10.0 ** rng.uniform(-307.0, 100.0, 20_000)):
        assert units_off(computed(_logs, x), np.log(x.astype(np.longdouble))) < 1.0


def test_powers_are_within_one_and_a_half_units_of_the_last_place():
    rng = stream(3, "pow")
    x, y = np.exp(rng.uniform(-30.0, 30.0, 20_000)), rng.uniform(-7.0, 7.0, 20_000)
    assert units_off(computed(_powers, x, y), np.power(x.astype(np.longdouble), y.astype(np.longdouble))) < 1.5


def test_powers_that_are_whole_numbers_are_exact():
    base, exponent = (axis.ravel() for axis in np.meshgrid(np.arange(1.0, 60.0), np.arange(0.0, 9.0)))
    assert (computed(_powers, base, exponent) == base**exponent).all()


def test_the_ends_of_the_range_are_those_of_floats():
    assert (computed(_exps, [0.0, -800.0, -744.0]) == [1.0, 0.0, np.exp(-744.0)]).all()
    assert (computed(_logs, [1.0, 1e-310, 5e-324]) == np.log([1.0, 1e-310, 5e-324])).all()
    assert (computed(_powers, [0.001, 2.0, 1.0], [1000.0, -1e100, 1e100]) == [0.0, 0.0, 1.0]).all()
    assert computed(_powers, [1e100], [1e100])[0] > 1e300


def test_one_is_halved_exactly():
    assert (computed(_halved, np.arange(1.0, 60.0)) == 0.5 ** np.arange(1.0, 60.0)).all()
    assert 1.0 - computed(_halved, [5000.0])[0] == 1.0
