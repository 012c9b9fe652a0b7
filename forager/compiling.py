"""Plain functions over arrays as machine code, their types kept for readers and checkers.

Numba takes most of a second to load, so it is loaded when the first of them is called, and not before.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as a kernel: compiled at its first call, kept on disk for the next run if there is a place.

    A division by zero gives inf or nan, as in numpy: looking for it before every division takes longer than dividing.
    """
    return cast("Callable[P, R]", _Kernel(function))


class _Kernel(Generic[P, R]):
    """Stands for the kernel until it is called, and passes calls on to it."""

    def __init__(self, function: Callable[P, R]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._machine: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        machine = self._machine
        return (self.machine() if machine is None else machine)(*args, **kwargs)

    def machine(self) -> Any:
        """What numba makes of the function; also what other kernels call."""
        if self._machine is None:
            import numba
            from numba.extending import typeof_impl

            typeof_impl.register(_Kernel)(_type_of)
            try:
                self._machine = numba.njit(cache=True, error_model="numpy")(self._function)
            except RuntimeError:  # neither the package nor the user's cache folder can be written
                self._machine = numba.njit(error_model="numpy")(self._function)
            names = self._function.__globals__
            if names.get(self._function.__name__) is self:  # from now on its own module calls it without this detour
                names[self._function.__name__] = self._machine
        return self._machine


def _type_of(kernel: "_Kernel[P, R]", context: object) -> Any:
    """The type under which numba knows a kernel that is called by another one."""
    import numba

    type_of: Callable[[object], Any] = numba.typeof
    return type_of(kernel.machine())
