"""Parses durations (`90s 15m 6h 2d`) and sizes (`500k 10M`) in settings."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_BYTES = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1024, "mi": 1024**2, "gi": 1024**3}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)\s*")


def seconds(text: object) -> object:
    """Converts `"15m"` to 900.0 seconds; returns anything but text unchanged for the validator to check."""
    return _quantity(text, _SECONDS, "a duration such as 90s, 15m, 6h or 2d")


def size(text: object) -> object:
    """Converts `"10M"` to 10000000 bytes; a trailing B is allowed."""
    if isinstance(text, str):
        text = text.strip().removesuffix("B").removesuffix("b").lower()
    amount = _quantity(text, _BYTES, "a size such as 500k or 10M")
    return int(amount) if isinstance(amount, float) and amount.is_integer() else amount


def _quantity(text: object, units: dict[str, float] | dict[str, int], expected: str) -> object:
    if not isinstance(text, str):
        return text
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in units:
        raise ValueError(f"expected {expected}")
    return float(match[1]) * units[match[2]]


Duration = Annotated[float, BeforeValidator(seconds), Field(ge=0, allow_inf_nan=False)]
Size = Annotated[int, BeforeValidator(size), Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
