"""exp, log and powers of one number, compiled without branch or call: loops over them become vector instructions.

Two to three times as fast as the C library's, which are called number by number, and at most a unit and a half in the
last place away from the true value. The methods are the usual ones: exp by x = k ln 2 + r and the series of exp r; log
by x = 2^e m and the series of the inverse hyperbolic tangent; powers by both, with the digits that a float cannot hold
carried along, so that 3^2 is 9. Whoever calls them is compiled with `error_model="numpy"`, else every division branches.
"""

# mypy: disable-error-code="call-arg,var-annotated"
# (intrinsics are called without the typing context they are defined with)

from math import factorial
from math import log as _log

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

_ROUNDER = 1.5 * 2.0**52
"""Added to a small number, it leaves the nearest integer in the lowest bits."""
_LOG2_E = 1.0 / _log(2.0)
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""ln 2 = high + low; a whole number times high is exact."""
_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11, _E12, _E13 = (1.0 / factorial(i) for i in range(2, 14))
_T3, _T5, _T7, _T9, _T11, _T13, _T15, _T17, _T19, _T21, _T23 = (2.0 / i for i in range(3, 25, 2))
_MANTISSA = (1 << 52) - 1
_SQRT_HALF = np.int64(np.float64(0.5**0.5).view(np.int64))
_TWO_52, _BIAS = 2.0**52, 1100
_TINY, _HUGE, _HUGE_BITS = 2.0**-1000, 2.0**200, 200.0
_LOWEST, _HIGHEST = -745.2, 709.0
"""Where exp becomes 0, and where it grows beyond all numbers."""


@intrinsic
def _bits_of(typing, number):  # type: ignore[no-untyped-def]
    """The bits of a number as an integer."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), emit


@intrinsic
def _number_of(typing, bits):  # type: ignore[no-untyped-def]
    """The number that has these bits."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), emit


@intrinsic
def _exponent(typing, bits):  # type: ignore[no-untyped-def]
    """Bits 52 to 63 of an integer plus `_BIAS`."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        word = ir.IntType(64)
        return builder.lshr(builder.add(arguments[0], ir.Constant(word, _BIAS << 52)), ir.Constant(word, 52))

    return types.int64(types.int64), emit


@intrinsic
def _fma(typing, a, b, c):  # type: ignore[no-untyped-def]
    """a · b + c, rounded once."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), emit


@njit(cache=True, inline="always")
def _exp_of_sum(high, low):  # type: ignore[no-untyped-def]
    """exp(high + low) for high from `_LOWEST` to `_HIGHEST` and a tiny low."""
    rounded = high * _LOG2_E + _ROUNDER
    k = rounded - _ROUNDER
    r = _fma(-k, _LN2_LOW, _fma(-k, _LN2_HIGH, high)) + low
    square = r * r
    fourth = square * square
    first = _fma(_E3, r, _E2) + _fma(_E5, r, _E4) * square
    second = _fma(_E7, r, _E6) + _fma(_E9, r, _E8) * square
    third = _fma(_E11, r, _E10) + _fma(_E13, r, _E12) * square
    series = _fma(_fma(third, fourth, second), fourth, first)
    grown = 1.0 + _fma(series, square, r)
    half = k * 0.5 + _ROUNDER  # 2^k in two factors: the result may be smaller than any with all its digits
    other = k - (half - _ROUNDER) + _ROUNDER
    return grown * _number_of((_bits_of(half) + 1023) << 52) * _number_of((_bits_of(other) + 1023) << 52)


@njit(cache=True, inline="always")
def exp(x):  # type: ignore[no-untyped-def]
    """e to the x; the largest x is taken for 709."""
    return _exp_of_sum(min(max(x, _LOWEST), _HIGHEST), 0.0)


@njit(cache=True, inline="always")
def halved(times):  # type: ignore[no-untyped-def]
    """1 halved so many times; from 1,022 times on it stays as small as it is then."""
    return _number_of((_bits_of(_ROUNDER - min(times, 1022.0)) + 1023) << 52)


@njit(cache=True, inline="always")
def _log_as_sum(x):  # type: ignore[no-untyped-def]
    """ln x for x > 0 as a number and what is missing to it."""
    small = x < _TINY
    bits = _bits_of(x * (_HUGE if small else 1.0))
    above = bits - _SQRT_HALF  # so that m lies between √½ and √2
    m = _number_of((above & _MANTISSA) + _SQRT_HALF)
    e = _number_of(_exponent(above) | _bits_of(_TWO_52)) - (_TWO_52 + _BIAS) - (_HUGE_BITS if small else 0.0)
    f = m - 1.0
    d = 2.0 + f
    inverse = 1.0 / d
    s = f * inverse
    s_low = (_fma(-s, d, f) - s * (f - (d - 2.0))) * inverse
    square = s * s
    fourth = square * square
    eighth = fourth * fourth
    first = _fma(_T5, square, _T3) + _fma(_T9, square, _T7) * fourth
    second = _fma(_T13, square, _T11) + _fma(_T17, square, _T15) * fourth
    third = _fma(_T21, square, _T19) + _T23 * fourth
    series = _fma(_fma(third, eighth, second), eighth, first)
    whole, part = e * _LN2_HIGH, 2.0 * s
    total = whole + part
    rest = part - (total - whole) + (e * _LN2_LOW + (2.0 * s_low + series * (square * s)))
    result = total + rest
    return result, rest - (result - total)


@njit(cache=True, inline="always")
def log(x):  # type: ignore[no-untyped-def]
    """The natural logarithm for x > 0."""
    return _log_as_sum(x)[0]


@njit(cache=True, inline="always")
def power(a, b):  # type: ignore[no-untyped-def]
    """a to the b for a > 0; beyond exp(709) it is taken for that."""
    high, low = _log_as_sum(a)
    product = high * b
    missing = _fma(high, b, -product) + low * b
    bounded = min(max(product, _LOWEST), _HIGHEST)
    return _exp_of_sum(bounded, missing if bounded == product else 0.0)
