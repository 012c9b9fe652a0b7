"""Whatever learns is saved as bytes: named arrays behind a name and a format number. No code is ever loaded."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping

import numpy as np
import zstandard
from numpy.typing import NDArray

from forager.errors import InputError

_QUICK = 1
_ZIP = b"PK"
"""How what was saved without our packing begins: arrays that numpy packed itself."""


def pack(kind: str, form: int, arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Arrays as bytes; `form` is the number of the format, to be raised whenever the meaning changes."""
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, kind=np.array(kind), form=np.array(form), **arrays)
    return zstandard.compress(out.getbuffer(), _QUICK)  # numpy's own packing takes five times as long


def packing(kind: str, form: int, arrays: Mapping[str, NDArray[np.generic]]) -> Callable[[], bytes]:
    """As `pack`, of the arrays as they are now, but done when the answer is called: perhaps by another thread."""
    held = {name: np.array(array) for name, array in arrays.items()}
    return lambda: pack(kind, form, held)


def unpack(kind: str, form: int, saved: bytes) -> dict[str, NDArray[np.generic]]:
    """The arrays again; an `InputError` if these bytes are something else."""
    try:
        whole = saved if saved.startswith(_ZIP) else zstandard.ZstdDecompressor().decompress(saved)
        with np.load(io.BytesIO(whole), allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in arrays.files}
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile, zstandard.ZstdError) as trouble:
        raise InputError(f"saved {kind} cannot be read ({trouble}); delete it and start afresh") from None
    found = str(held.pop("kind", "nothing")), int(held.pop("form", np.array(-1)))
    if found != (kind, form):
        raise InputError(f"expected saved {kind} of format {form}, got {found[0]} of format {found[1]}; start afresh")
    return held


def text_array(text: str) -> NDArray[np.uint8]:
    """Any text as an array, also one with half a surrogate pair."""
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def array_text(array: NDArray[np.generic]) -> str:
    return array.tobytes().decode("utf-8", "surrogatepass")


def luck_text(rng: np.random.Generator) -> str:
    """Where a generator stands."""
    return json.dumps(rng.bit_generator.state)


def text_luck(text: str) -> np.random.Generator:
    """A generator that goes on from there."""
    bits = np.random.PCG64()
    bits.state = json.loads(text)
    return np.random.Generator(bits)
