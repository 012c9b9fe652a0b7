"""Provides machine code for a running crawl: a process compiles it, a thread loads it, and kernels use it once loaded.

A crawl begins in plain Python (see `kernel`). The thread loads the machine code of each kernel that the crawl calls
from disk, if an earlier crawl left it there; otherwise a low-priority process compiles it, once per installation. The
event loop waits for neither; `MANY` says how long plain Python itself takes.
"""

import asyncio
import contextlib
import gc
import os
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

import numpy as np

from forager.kernel import Kernel, as_loaded, load_numba

NICE = 19
TURN = 0.0005
"""Seconds after which a busy thread lets others run. The event loop waits so long after each call of the system: with
Python's 5 ms, nine of ten turns were at most 13 to 20 ms late while languages and kernels were loaded beside it, now 5 ms,
and the latest 35 instead of 140 ms."""
MANY = 2_000
"""Number of pages that plain Python ranks in about 20 ms.

A crawl that knows more pages at its start waits for the machine code. A crawl that learns of more pages before the code
is loaded ranks them in plain Python, with a pause that grows with their number; one of 900 pages never held its event loop
for more than 25 ms.
"""
COMPILING = "compiling kernels beside the crawl, once per installation"
IN_USE = "compiled kernels are in use"
UNCOMPILED = "kernels cannot be compiled and kept; the crawl goes on without"
DONE, FAILED, UNKEPT = b"done", b"failed", b"unkept"
"""Answers of the process: the machine code is on disk; the call cannot be compiled; the code cannot be saved."""

ArgumentForm = Hashable
"""Description of an argument's type that needs no numba and can be sent to another process."""
Wanted = tuple[Kernel[Any, Any], tuple[ArgumentForm, ...]]


@asynccontextmanager
async def compiler_beside(say: Callable[[str], None], load: Callable[[], None]) -> AsyncIterator["Compiler"]:
    """Runs kernels as plain Python inside this context until their machine code is loaded.

    `say` receives status messages on the event loop. The loading thread also calls `load`, for other slow imports that
    would block the event loop later.
    """
    loop = asyncio.get_running_loop()
    compiler = Compiler(lambda line: _call(loop, say, line), load)
    with as_loaded(compiler.want), _short_turns():
        compiler.start()
        try:
            yield compiler
        finally:
            compiler.stop()
            await asyncio.to_thread(compiler.join)


def _call(loop: asyncio.AbstractEventLoop, say: Callable[[str], None], line: str) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(say, line)


class Compiler:
    """A thread that loads machine code, and the process that compiles what is not on disk."""

    def __init__(self, say: Callable[[str], None], load: Callable[[], None]) -> None:
        self._say, self._load = say, load
        self._queue: SimpleQueue[Wanted | None] = SimpleQueue()
        self._asked: set[Wanted] = set()
        self._thread = Thread(target=self._work, name="compiler", daemon=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._stopped, self._gave_up = Lock(), Event(), False
        self._news = True
        """Whether to report when all wanted machine code is in use."""
        self.settled = Event()
        """Set while no wanted machine code is outstanding."""

    def __repr__(self) -> str:
        return f"<Compiler of {len(self._asked)} kernels>"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stops loading and compiling; kills the process at once."""
        with self._lock:
            self._stopped.set()
            self._queue.put(None)
            if self._process is not None:
                self._process.kill()

    def join(self) -> None:
        """Waits until the thread has finished loading."""
        self._thread.join()

    async def ready(self, pages: int, example: Callable[[], object], stopping: asyncio.Event) -> None:
        """Waits for machine code if the crawl knows more pages than plain Python ranks without a noticeable pause.

        `example` ranks a few pages, which requests the machine code to wait for.
        """
        if pages > MANY:
            await self._settled(stopping)  # loads what is on disk
            example()
            await self._settled(stopping)

    async def _settled(self, stopping: asyncio.Event) -> None:
        while not (self.settled.is_set() or stopping.is_set()):  # noqa: ASYNC110  # a thread sets the first
            await asyncio.sleep(0.05)

    def want(self, kernel: Kernel[Any, Any], args: tuple[Any, ...]) -> None:
        """Requests machine code for this call and for all calls with the same argument types."""
        wanted = kernel, tuple(map(argument_form, args))
        if wanted not in self._asked and not self._gave_up:
            self._asked.add(wanted)
            with self._lock:
                self.settled.clear()
                self._queue.put(wanted)

    def _work(self) -> None:
        """Body of the thread: loads what is on disk, then what calls request."""
        try:
            self._load_kept()
            while not self._stopped.is_set() and not self._gave_up:
                self._settle()
                wanted = self._queue.get()
                if wanted is not None and not self._stopped.is_set():
                    self._provide(*wanted)
        except Exception as error:  # noqa: BLE001  # numba's innards may fail in many ways, and plain Python goes on
            self._give_up(error)
        finally:
            self.settled.set()
            if self._process is not None:
                self._process.kill()
                self._process.communicate()

    def _settle(self) -> None:
        """Sets `settled` if no request is waiting."""
        with self._lock:
            if not self._queue.empty():
                return
            self.settled.set()
        if self._news and self._asked:
            self._news = False
            self._say(IN_USE)

    def _load_kept(self) -> None:
        """Loads numba, and all machine code on disk for the modules that are loaded."""
        with _uncollected():
            self._load()
            load_numba()
            for kernel in kernels():
                for types in kernel.loadable():
                    if self._stopped.is_set():
                        return
                    kernel.load(types)

    def _provide(self, kernel: Kernel[Any, Any], forms: tuple[ArgumentForm, ...]) -> None:
        """Loads the machine code of a call, after the process has compiled it if it is not on disk."""
        types = tuple(map(type_of, forms))
        if kernel.load(types):
            return
        if self._process is None:
            self._news = True
            self._say(COMPILING)
            with self._lock:
                if self._stopped.is_set():
                    return
                self._process = _begun()
        answer = _ask(self._process, kernel, forms)
        if self._stopped.is_set() or answer == FAILED:
            return
        if answer != DONE or not kernel.load(types):
            self._give_up(None)

    def _give_up(self, error: Exception | None) -> None:
        self._gave_up = True
        self._say(UNCOMPILED if error is None else f"{UNCOMPILED} ({type(error).__name__}: {error})")


@contextlib.contextmanager
def compilations(tell: Callable[[int, int], None]) -> Iterator[None]:
    """Inside this context, calls `tell` with a count and a total whenever this process begins to compile a kernel.

    The total is an upper limit, because some kernels may never be called.
    """
    load_numba()
    from numba.core.dispatcher import Dispatcher
    from numba.core.event import Listener, install_listener

    begun: set[object] = set()

    class Count(Listener):
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function.__module__.startswith(f"{__package__}.") and function not in begun:
                begun.add(function)
                tell(len(begun), max(len(begun), len(_named(Kernel, Dispatcher))))

        def on_end(self, event: Any) -> None:
            pass

    with install_listener("numba:compile", Count()):
        yield


@contextlib.contextmanager
def _short_turns() -> Iterator[None]:
    """Lets threads take shorter turns; afterwards as before, unless somebody else has set something by then."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN))
    ours = sys.getswitchinterval()
    try:
        yield
    finally:
        if sys.getswitchinterval() == ours:
            sys.setswitchinterval(before)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Switches garbage collection off while numba loads about 200,000 permanent objects, because scanning them stops
    all threads."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def kernels() -> list[Kernel[Any, Any]]:
    """All kernels of our loaded modules, each once."""
    return _named(Kernel)


def _named(*kinds: type) -> list[Any]:
    """Module-level objects of these types in our loaded modules, each once."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(f"{__package__}.")]
    found = [value for module in modules for value in list(vars(module).values()) if isinstance(value, kinds)]
    return list(dict.fromkeys(found))


def argument_form(value: Any) -> ArgumentForm:
    """Describes the type of an argument."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return "array", value.dtype, value.ndim, layout, flags.writeable
    if isinstance(value, np.void):
        return "record", value.dtype
    if isinstance(value, tuple):
        return ("tuple", type(value), *map(argument_form, value))
    return "number", type(value)


def type_of(form: Any) -> Any:
    """Numba's type for an argument of this form."""
    numba = load_numba()
    match form:
        case "array", dtype, dimensions, layout, writeable:
            return numba.types.Array(numba.from_dtype(dtype), dimensions, layout, readonly=not writeable)
        case "record", dtype:
            return numba.from_dtype(dtype)
        case "tuple", kind, *parts if kind is tuple:
            return numba.types.BaseTuple.from_types([type_of(part) for part in parts])
        case "tuple", kind, *parts:
            return numba.types.BaseTuple.from_types([type_of(part) for part in parts], kind)
        case _:
            return numba.typeof(form[1]())


def _begun() -> subprocess.Popen[bytes]:
    """Starts the process that compiles. It ignores Ctrl-C and ends when this process closes its input."""
    command = [sys.executable, "-P", "-c", f"from {__name__} import compile_requests; compile_requests()"]
    path = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))}
    silent = subprocess.DEVNULL
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=silent, env=environment, start_new_session=True
    )


def _ask(process: subprocess.Popen[bytes], kernel: Kernel[Any, Any], forms: tuple[ArgumentForm, ...]) -> bytes:
    """Requests machine code and waits for the answer; empty if the process has ended."""
    assert process.stdin is not None and process.stdout is not None
    try:
        pickle.dump((kernel.__module__, kernel.__name__, forms), process.stdin)
        process.stdin.flush()
        return process.stdout.readline().rstrip()
    except OSError:  # the process has ended
        return b""


def compile_requests() -> None:
    """Body of the compiling process: compiles one request after the other until its input closes."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    asked: SimpleQueue[tuple[str, str, tuple[ArgumentForm, ...]]] = SimpleQueue()
    Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        sys.stdout.buffer.write(_compile(*asked.get()) + b"\n")
        sys.stdout.buffer.flush()


def _compile(module: str, name: str, forms: tuple[ArgumentForm, ...]) -> bytes:
    try:
        import_module(module)
        kernel = next(one for one in kernels() if (one.__module__, one.__name__) == (module, name))
        types = tuple(map(type_of, forms))
        kernel.machine().compile(types)
    except Exception:  # noqa: BLE001  # such a call stays plain Python
        return FAILED
    return DONE if types in kernel.loadable() else UNKEPT


def _listen(asked: "SimpleQueue[tuple[str, str, tuple[ArgumentForm, ...]]]") -> None:
    """Receives requests; ends this process at once when the input closes."""
    try:
        while True:
            asked.put(pickle.load(sys.stdin.buffer))
    except (EOFError, OSError):
        os._exit(0)
