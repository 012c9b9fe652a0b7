"""Kernels: functions over arrays that run as machine code or as plain Python, with bit-for-bit the same results.

Numba takes most of a second to load and half a minute to compile, so this module loads it only when a kernel first
needs machine code. Plain Python is fast enough for a polite crawl, and easier to debug; `interpreted` switches to it.
"""

import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import cache, partial, update_wrapper
from hashlib import sha256
from importlib.abc import MetaPathFinder
from inspect import signature
from itertools import count
from pathlib import Path
from threading import get_ident
from types import FunctionType, SimpleNamespace
from typing import Any, Generic, ParamSpec, TypeVar, cast, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")
_UNKNOWN = "No matching definition"
"""Start of numba's error message for argument types that have no machine code when it may not compile."""
_IMPORT = re.compile(rf"^from ({__package__}\b[.\w]*) import", re.MULTILINE)
"""Matches an import of one of our own modules."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a kernel that is compiled at its first call and cached on disk, if a folder can be written, for the next run.

    Division by zero gives inf or nan, as in numpy: a check takes longer than the division.
    """
    return cast("Callable[P, R]", Kernel(function, counts_uses=True))


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """Like `compiled`, for functions that other kernels call very often: arrays are not counted, which takes most of the
    time of a short function. So it must neither create an array nor receive one from a function that it calls.
    """
    return cast("Callable[P, R]", Kernel(function, counts_uses=False))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Like `inner`, for functions so short that the call, with all its array arguments, takes longer than the work."""
    return cast("Callable[P, R]", Kernel(function, counts_uses=False, forceinline=True))


def in_python(kernel: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a function the plain Python form of a kernel whose loops are slow in Python; it must give the same results."""

    def keep(function: Callable[P, R]) -> Callable[P, R]:
        assert isinstance(kernel, Kernel)
        kernel._in_python = function
        return function

    return keep


class KernelMode(Enum):
    """How kernels run."""

    COMPILED = "compiled"
    """As machine code, compiled at the first call."""
    INTERPRETED = "interpreted"
    """As plain Python."""
    AS_LOADED = "as loaded"
    """As machine code where it is already loaded, otherwise as plain Python, so that no call waits for the compiler."""


Want = Callable[["Kernel[Any, Any]", tuple[Any, ...]], None]
"""Called with a kernel and its arguments when a call has no machine code loaded."""


class _Switch:
    """The only mutable state of this module."""

    def __init__(self) -> None:
        off = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
        self.mode = KernelMode.INTERPRETED if off else KernelMode.COMPILED
        self.wants: list[Want] = []
        self.loaded: dict[Kernel[Any, Any], None] = {}
        """The kernels with machine code, each once: a program may crawl thousands of times."""
        self.parts: list[bool] = []
        """Of the functions that are being compiled, the innermost last, whether they become parts of others."""


_switch = _Switch()


@contextmanager
def interpreted() -> Iterator[None]:
    """Runs all kernels as plain Python inside this context."""
    before, _switch.mode = _switch.mode, KernelMode.INTERPRETED
    try:
        yield
    finally:
        _switch.mode = before


@contextmanager
def as_loaded(want: Want) -> Iterator[None]:
    """Inside this context, kernels run as machine code only once it is loaded; `want` receives calls that have none.

    The context may be nested. If compiling is switched off, kernels stay plain Python.
    """
    _switch.wants.append(want)
    if _switch.mode is KernelMode.COMPILED:
        for kernel in list(_switch.loaded):
            kernel.machine().disable_compile()
        _switch.mode = KernelMode.AS_LOADED
    try:
        yield
    finally:
        _switch.wants.remove(want)
        if not _switch.wants and _switch.mode is KernelMode.AS_LOADED:
            for kernel in list(_switch.loaded):
                kernel.machine().disable_compile(False)
            _switch.mode = KernelMode.COMPILED


def awaits_code(kernel: Callable[..., Any]) -> bool:
    """Whether calls of a kernel run as plain Python only until its machine code is loaded."""
    return _switch.mode is KernelMode.AS_LOADED and isinstance(kernel, Kernel) and kernel._loaded is None


class Kernel(Generic[P, R]):
    """Runs a function as machine code or as plain Python, depending on the current mode."""

    __name__: str

    def __init__(self, function: Callable[P, R], *, counts_uses: bool, forceinline: bool = False) -> None:
        update_wrapper(self, function)
        self._function = function
        self._options: dict[str, Any] = {
            "error_model": "numpy",
            "_nrt": counts_uses,
            "forceinline": forceinline,
        }
        self._machine: Any = None
        self._part: Any = None
        self._loaded: Callable[P, R] | None = None
        self._plain: Callable[..., Any] | None = None
        self._in_python: Callable[P, R] = function
        self._result: Callable[[Any], Any] = _result_of(getattr(function, "__annotations__", {}).get("return"))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if _switch.mode is KernelMode.COMPILED:
            machine = self._machine
            result: R = (self.machine() if machine is None else machine)(*args, **kwargs)
            return result
        if _switch.mode is KernelMode.AS_LOADED:
            if self._loaded is not None:
                try:
                    return self._loaded(*args, **kwargs)
                except TypeError as error:
                    if not str(error).startswith(_UNKNOWN):
                        raise
            _switch.wants[-1](self, signature(self._function).bind(*args, **kwargs).args if kwargs else args)
        with np.errstate(all="ignore"):
            plain = self.plain()(*map(_seen, args), **{name: _seen(value) for name, value in kwargs.items()})
        return cast(R, self._result(plain))

    def plain(self) -> Callable[..., Any]:
        """The function with all kernels that it calls replaced by plain functions, so that one call never mixes modes."""
        if self._plain is None:
            names: dict[str, Any] = {}
            function = self._in_python
            assert isinstance(function, FunctionType)
            self._plain = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
            for name, value in function.__globals__.items():
                names[name] = value.plain() if isinstance(value, Kernel) else _MATH if value is math else value
        return self._plain

    def machine(self) -> Any:
        """Numba's dispatcher of the function, for calls from Python."""
        if self._machine is None:
            self._machine = self._dispatcher(part=False)
        return self._machine

    def part(self) -> Any:
        """The dispatcher for calls from other kernels: the function becomes a part of them, optimised with them."""
        if self._part is None:
            self._part = self._dispatcher(part=True)
        return self._part

    def _dispatcher(self, *, part: bool) -> Any:
        numba = load_numba()
        options = self._options if part else self._options | {"_nrt": True, "forceinline": False}
        try:
            machine = numba.njit(cache=True, **options)(self._function)
            file = machine._cache._cache_file
            if part:
                file.__init__(file._cache_path, file._index_name.removesuffix(".nbi") + ".part", "")
            file._source_stamp = _stamp(self._function.__module__)
            file.save = partial(_save, file)
            file._load_index = partial(_load_index, file._load_index)
        except RuntimeError:  # neither the package folder nor the user's cache folder is writable
            machine = numba.njit(**options)(self._function)
        machine._compiler.compile = partial(_compile_as, part, machine._compiler.compile)
        return machine

    def load(self, types: tuple[Any, ...]) -> bool:
        """Loads machine code for arguments of these numba types from disk; returns whether it is loaded now."""
        machine = self.machine()
        if types not in machine.overloads:
            kept = machine._cache.load_overload(types, machine.targetctx)
            if kept is None:
                return False
            machine.targetctx.insert_user_function(kept.entry_point, kept.fndesc, [kept.library])
            machine.add_overload(kept)
        machine.disable_compile()  # a call with other types then fails
        _switch.loaded[self] = None
        self._loaded = machine
        return True

    def loadable(self) -> list[tuple[Any, ...]]:
        """Argument types for which there is machine code on disk."""
        file = getattr(self.machine()._cache, "_cache_file", None)
        return [] if file is None else [key[0] for key in file._load_index()]


def machine_code(kernel: Callable[..., Any]) -> Any:
    """Numba's dispatcher of a kernel, for functions that numba compiles without this module; if compiling is switched off,
    the plain function."""
    assert isinstance(kernel, Kernel)
    return kernel.plain() if load_numba().config.DISABLE_JIT else kernel.part()


def _compile_as(part: bool, compile: Callable[..., Any], *args: Any) -> Any:
    """Compiles a function, as a part of others or not."""
    _switch.parts.append(part)
    try:
        return compile(*args)
    finally:
        _switch.parts.pop()


def _join_parts() -> None:
    """Makes numba optimise and translate a kernel together with all that it calls, once.

    Numba does so for every function that a kernel calls, which takes most of its time where calls are nested deeply. A part
    gets no machine code of its own: its intermediate code is joined to that of its callers.
    """
    from llvmlite import binding as llvm  # type: ignore[import-untyped]
    from numba.core import codegen as generator
    from numba.core import cpu

    Library: Any = generator.JITCodeLibrary
    Codegen: Any = generator.JITCPUCodegen
    CPUContext: Any = cpu.CPUContext
    finalize, execute, set_env = Library.finalize, CPUContext.get_executable, Codegen.set_env
    serialize, restore = Library.serialize_using_object_code, Library._unserialize.__func__

    def join(library: Any) -> None:
        if not _switch.parts or not _switch.parts[-1]:
            finalize(library)
            return
        for other in dict.fromkeys(library._linking_libraries):
            library._reload_init.update(other._reload_init)
            library._final_module.link_in(other._get_module_for_linking(), preserve=True)
        library._finalize_dynamic_globals()
        library._finalized = library.is_part = True

    def keep(library: Any) -> Any:
        return library.serialize_using_bitcode() if hasattr(library, "is_part") else serialize(library)

    def reload(kind: Any, codegen: Any, state: tuple[str, str, Any]) -> Any:
        if state[1] != "bitcode":
            return restore(kind, codegen, state)
        library = codegen.create_library(state[0])
        library._final_module = llvm.parse_bitcode(state[2])
        library._finalize_dynamic_globals()
        library._finalized = library.is_part = True
        return library

    def call(context: Any, library: Any, described: Any, environment: Any) -> Any:
        library._ensure_finalized()
        if hasattr(library, "is_part"):
            return [].remove  # numba wants a builtin of its own for each, which nobody calls
        return execute(context, library, described, environment)

    def surround(codegen: Any, name: str, environment: Any) -> None:
        if codegen._engine.is_symbol_defined(name):
            set_env(codegen, name, environment)

    Library.finalize, Library.serialize_using_object_code, Library._unserialize = join, keep, classmethod(reload)
    CPUContext.get_executable, Codegen.set_env = call, surround


def _load_index(load: Callable[[], dict[Any, str]]) -> dict[Any, str]:
    """The index of cached machine code; empty if it names modules of an earlier version that no longer exist."""
    try:
        return load()
    except (ImportError, AttributeError):
        return {}


def _save(file: Any, key: tuple[Any, ...], data: object) -> None:
    """Saves machine code as numba does, but before the index, which a process killed in between leaves as it was."""
    kept = file._load_index()
    taken = set(kept.values())
    name = kept.get(key) or next(name for name in map(file._data_name, count(1)) if name not in taken)
    file._save_data(name, data)
    file._save_index(kept | {key: name})


def _exp(x: float) -> float:
    """As in machine code: inf instead of an overflow error."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    """As in machine code: -inf for 0, nan for negative numbers."""
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


_MATH = SimpleNamespace(**(vars(math) | {"exp": _exp, "log": _log}))
"""Stands for `math` in plain functions."""


class _Rows:
    """A structured array whose rows have fields as attributes, as in machine code; five times as fast as `np.recarray`."""

    __slots__ = ("_array", "_columns", "_row")

    def __init__(self, array: NDArray[np.void]) -> None:
        self._array = array
        self._columns = [array[name] for name in array.dtype.names or ()]
        self._row = _row_class(array.dtype)

    def __len__(self) -> int:
        return len(self._array)

    def __getattr__(self, name: str) -> Any:
        return self._array[name] if name in (self._array.dtype.names or ()) else getattr(self._array, name)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            return self._row(self._columns, key)
        part = self._array[key]
        return _Rows(part) if part.dtype.names else part

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = _unwrapped(value)


class _Row:
    """View of one row of a structured array, or of a record."""

    __slots__ = ("_columns", "_index")

    def __init__(self, columns: list[NDArray[Any]], index: Any) -> None:
        self._columns, self._index = columns, index

    def values(self) -> tuple[Any, ...]:
        return tuple(column[self._index] for column in self._columns)


@cache
def _row_class(dtype: np.dtype[np.void]) -> type[_Row]:
    """Class of the rows of a structured type."""
    fields = {name: _field(i, dtype[name]) for i, name in enumerate(dtype.names or ())}
    return type("_Row", (_Row,), {"__slots__": (), **fields})


def _field(place: int, dtype: np.dtype[Any]) -> property:
    """Property that reads and sets a field; it widens numbers as machine code does in arithmetic."""
    kind: Callable[[Any], Any] | None = None
    if dtype.shape == () and dtype.kind in "bif":
        kind = {"b": bool, "i": np.int64, "f": np.float64}[dtype.kind]

    def read(row: _Row) -> Any:
        return row._columns[place][row._index]

    def read_as(row: _Row) -> Any:
        return kind(row._columns[place][row._index])  # type: ignore[misc]

    def write(row: _Row, value: Any) -> None:
        row._columns[place][row._index] = value

    return property(read if kind is None or dtype in (np.int64, np.float64) else read_as, write)


def _seen(value: Any) -> Any:
    """Converts an argument for plain functions."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.names is None else _Rows(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, int):
        return np.int64(value)
    if isinstance(value, float):
        return np.float64(value)  # division by zero gives inf or nan
    if isinstance(value, tuple):
        items = map(_seen, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, np.void):
        return _row_class(value.dtype)([_Cell(value, name) for name in value.dtype.names or ()], ())  # type: ignore[misc]
    return value


class _Cell:
    """One field of a record, in the form of a column with one row."""

    __slots__ = ("_name", "_record")

    def __init__(self, record: np.void, name: str) -> None:
        self._record, self._name = record, name

    def __getitem__(self, key: object) -> Any:
        return self._record[self._name]

    def __setitem__(self, key: object, value: Any) -> None:
        self._record[self._name] = value


def _unwrapped(value: Any) -> Any:
    """Converts a result of plain functions for the caller: Python numbers and numpy arrays."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        items = map(_unwrapped, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, _Rows):
        return value._array
    return value.values() if isinstance(value, _Row) else value


def _result_of(kind: Any) -> Callable[[Any], Any]:
    """How to convert a result to the annotated type, because machine code has one type for all branches."""
    if kind in (bool, int, float):
        return cast("Callable[[Any], Any]", kind)
    if get_origin(kind) is tuple and ... not in get_args(kind):
        parts = [_result_of(one) for one in get_args(kind)]
        return lambda result: tuple(part(value) for part, value in zip(parts, result, strict=True))
    return _unwrapped


@cache
def load_numba() -> Any:
    """Imports numba and registers kernels with it.

    It hides scipy and cffi meanwhile: numba would load them if present, which takes a quarter of its import time, but
    no kernel multiplies matrices or calls C.
    """
    with _Hidden("scipy", "cffi"):
        import numba
        import numba.core.typing.cffi_utils
        import numba.np.arraymath
    from numba.extending import typeof_impl

    typeof_impl.register(Kernel)(_type_of)
    _join_parts()
    return numba


class _Hidden(MetaPathFinder):
    """Hides these modules from imports by this thread inside its context, unless they are loaded already."""

    def __init__(self, *names: str) -> None:
        self._names, self._thread = names, get_ident()

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *ended: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname in self._names and get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


@cache
def _stamp(module: str) -> str:
    """Digest of all source that the kernels of a module depend on; cached kernels are valid only for the same digest.

    Numba checks only the file of the kernel itself, but kernels and constants of our other modules become part of it.
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
    """Digest of the source of a module, and the modules of ours that it imports."""
    path = getattr(sys.modules.get(module), "__file__", None)
    text = Path(path).read_text("utf-8") if path else ""
    return sha256(text.encode()).hexdigest(), _IMPORT.findall(text)


def _type_of(kernel: "Kernel[P, R]", context: object) -> Any:
    """The numba type of a kernel that another kernel calls."""
    type_of: Callable[[object], Any] = load_numba().typeof
    return type_of(kernel.part())
