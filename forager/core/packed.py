"""Saves learned state as bytes: named arrays with a kind and a format number. Loading never runs code.

The zstandard-compressed bytes hold a line of JSON that describes the arrays, then the arrays one after the other, each
aligned to 16 bytes. The arrays are used in place: a table of a million pages is not copied again.
"""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.lib.format import descr_to_dtype, dtype_to_descr
from numpy.typing import NDArray

from forager.errors import InputError

_QUICK = 1
_ALIGNED = 16
_ZIP = b"PK"
"""The first bytes of what an earlier version saved, compressed or not: arrays packed by numpy itself."""


_UNREADABLE = (ValueError, TypeError, EOFError, OSError, KeyError)


class _Head(msgspec.Struct):
    """The line of JSON before the arrays."""

    kind: str
    form: int
    arrays: dict[str, tuple[Any, tuple[int, ...]]]
    """Type and shape of each array, in order."""


def pack(kind: str, form: int, arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Packs arrays as bytes. `form` is the format number: raise it whenever the meaning changes."""
    told = {name: (dtype_to_descr(array.dtype), array.shape) for name, array in arrays.items()}
    head = msgspec.json.encode(_Head(kind, form, told))
    parts: list[memoryview | bytes] = [head + b" " * (-(len(head) + 1) % _ALIGNED) + b"\n"]
    for array in arrays.values():
        parts += [np.ascontiguousarray(array).data.cast("B") if array.size else b"", bytes(-array.nbytes % _ALIGNED)]
    packer = zstandard.ZstdCompressor(level=_QUICK).compressobj(size=sum(map(len, parts)))
    return b"".join([*map(packer.compress, parts), packer.flush()])


def packing(kind: str, form: int, arrays: Mapping[str, NDArray[np.generic]]) -> Callable[[], bytes]:
    """Like `pack` with the arrays as they are now, but the work is done when the result is called, perhaps by another
    thread.
    """
    held = {name: np.array(array) for name, array in arrays.items()}
    return lambda: pack(kind, form, held)


def unpack(kind: str, form: int, saved: bytes, *, older: Sequence[int] = ()) -> dict[str, NDArray[np.generic]]:
    """Unpacks the arrays; also reads the formats in `older`. Raises an `InputError` for other bytes."""
    try:
        whole = bytearray(saved) if saved.startswith(_ZIP) else _unpacked(saved)
        found, held = _from_zip(whole) if whole.startswith(_ZIP) else _from_line(whole)
    except (*_UNREADABLE, msgspec.MsgspecError, zipfile.BadZipFile, zstandard.ZstdError) as trouble:
        raise InputError(f"saved {kind} cannot be read ({trouble}); delete it and start afresh") from None
    if found[0] != kind or found[1] not in (form, *older):
        raise InputError(f"expected saved {kind} of format {form}, got {found[0]} of format {found[1]}; start afresh")
    return held


def _unpacked(saved: bytes) -> bytearray:
    """A bytearray, not bytes, so that the arrays in it can be changed."""
    whole = bytearray(max(0, zstandard.frame_content_size(saved)))
    with zstandard.ZstdDecompressor().stream_reader(saved) as stream:
        if stream.readinto(whole) < len(whole) or stream.read(1):
            raise ValueError("it is cut off")
    return whole


def _from_line(whole: bytearray) -> tuple[tuple[str, int], dict[str, NDArray[np.generic]]]:
    """Kind and format number, and the arrays."""
    begin = whole.index(b"\n") + 1
    head = msgspec.json.decode(memoryview(whole)[:begin], type=_Head)
    held: dict[str, NDArray[np.generic]] = {}
    for name, (described, shape) in head.arrays.items():
        dtype = descr_to_dtype(_tuples(described))
        held[name] = np.ndarray(shape, dtype, whole, begin)
        begin += held[name].nbytes + -held[name].nbytes % _ALIGNED
    return (head.kind, head.form), held


def _from_zip(whole: bytearray) -> tuple[tuple[str, int], dict[str, NDArray[np.generic]]]:
    with np.load(io.BytesIO(whole), allow_pickle=False) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    return (str(held.pop("kind", "nothing")), int(held.pop("form", np.array(-1)))), held


def _tuples(described: Any) -> Any:
    """The fields of a type as numpy describes them. JSON has only lists, so tuples are restored."""
    return [tuple(field) for field in described] if isinstance(described, list) else described


def text_array(text: str) -> NDArray[np.uint8]:
    """Any text as an array, even with half a surrogate pair."""
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def array_text(array: NDArray[np.generic]) -> str:
    return array.tobytes().decode("utf-8", "surrogatepass")
