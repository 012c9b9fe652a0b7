"""How many bytes the parts of a program hold: each object counts for the part from which it is reached first."""

import asyncio
import gc
import sys
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, CoroutineType, FrameType, FunctionType, GeneratorType, MethodType, ModuleType

import numpy as np

_SHARED = (type, ModuleType, BuiltinFunctionType)
_RUNNING = (asyncio.AbstractEventLoop, asyncio.Future, CoroutineType, GeneratorType, FrameType)
"""What refers to everything that is under way."""


def held(parts: Mapping[str, object], without: Iterable[object] = ()) -> dict[str, int]:
    """Bytes by part, in the order of the parts; what `without` reaches is not counted at all."""
    known = {id(parts), id(sys.modules)}
    for one in without:
        _walk(one, known)
    return {name: _walk(part, known) for name, part in parts.items()}


def _walk(root: object, known: set[int]) -> int:
    total, waiting = 0, [root]
    while waiting:
        one = waiting.pop()
        if id(one) in known or isinstance(one, _SHARED + _RUNNING):
            continue
        known.add(id(one))
        total += one.nbytes + 112 if isinstance(one, np.ndarray) and one.base is None else sys.getsizeof(one)
        waiting += one.__closure__ or () if isinstance(one, FunctionType) else gc.get_referents(one)
        if isinstance(one, MethodType):
            waiting.append(one.__self__)
    return total
