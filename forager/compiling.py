"""Plain functions over arrays as machine code, their types kept for readers and checkers.

Numba takes most of a second to load, so it is loaded when the first of them is called, and not before.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
_IMPORT = re.compile(rf"^from ({__package__}\b[.\w]*) import", re.MULTILINE)
"""One of our own modules that a module needs."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as a kernel: compiled at its first call, kept on disk for the next run if there is a place.

    A division by zero gives inf or nan, as in numpy: looking for it before every division takes longer than dividing.
    """
    return cast("Callable[P, R]", _Kernel(function, counts_uses=True))


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """The same for what other kernels call very often, and what neither makes an array nor is given one by its calls.

    It does not count who uses the arrays that it is given: for a short function that takes most of the time.
    """
    return cast("Callable[P, R]", _Kernel(function, counts_uses=False))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """The same for what is so short that calling it, with all its arrays, takes longer than doing it."""
    return cast("Callable[P, R]", _Kernel(function, counts_uses=False, forceinline=True))


class _Kernel(Generic[P, R]):
    """Stands for the kernel until it is called, and passes calls on to it."""

    def __init__(self, function: Callable[P, R], *, counts_uses: bool, forceinline: bool = False) -> None:
        update_wrapper(self, function)
        self._function = function
        self._options: dict[str, Any] = {
            "error_model": "numpy",
            "_nrt": counts_uses,
            "forceinline": forceinline,
        }
        self._machine: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        machine = self._machine
        return (self.machine() if machine is None else machine)(*args, **kwargs)

    def machine(self) -> Any:
        """What numba makes of the function; also what other kernels call."""
        if self._machine is None:
            numba = _numba()
            try:
                machine = numba.njit(cache=True, **self._options)(self._function)
                machine._cache._cache_file._source_stamp = _stamp(self._function.__module__)
                self._machine = machine
            except RuntimeError:  # neither the package nor the user's cache folder can be written
                self._machine = numba.njit(**self._options)(self._function)
            names = self._function.__globals__
            if names.get(self._function.__name__) is self:  # from now on its own module calls it without this detour
                names[self._function.__name__] = self._machine
        return self._machine


@cache
def _numba() -> Any:
    """Numba, which knows kernels now, without what it loads only because it is there: a quarter of its time.

    Scipy would multiply matrices in kernels, and cffi call C; no kernel asks for either.
    """
    with _hidden("scipy", "cffi"):
        import numba
        import numba.core.typing.cffi_utils
        import numba.np.arraymath
    from numba.extending import typeof_impl

    typeof_impl.register(_Kernel)(_type_of)
    return numba


@contextmanager
def _hidden(*names: str) -> Iterator[None]:
    """Meanwhile these modules cannot be found, unless they are loaded already."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None: an import of it fails
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


@cache
def _stamp(module: str) -> str:
    """What the kernels of a module were made from; kernels kept on disk are only good for the same.

    Numba looks at the file of the kernel alone, but other kernels and constants of ours become part of it.
    """
    found: dict[str, str] = {}
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in found:
            found[name], needed = _source(name)
            todo += needed
    return sha256(repr(sorted(found.items())).encode()).hexdigest()


@cache
def _source(module: str) -> tuple[str, list[str]]:
    """A digest of what stands in a module, and those of our modules that it needs."""
    path = getattr(sys.modules.get(module), "__file__", None)
    text = Path(path).read_text("utf-8") if path else ""
    return sha256(text.encode()).hexdigest(), _IMPORT.findall(text)


def _type_of(kernel: "_Kernel[P, R]", context: object) -> Any:
    """The type under which numba knows a kernel that is called by another one."""
    type_of: Callable[[object], Any] = _numba().typeof
    return type_of(kernel.machine())
