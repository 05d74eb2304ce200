"""Functions that Numba compiles when they are first called; their machine code is kept for later runs of the program.

Importing Numba takes longer than most commands do: it waits for a call that is worth it.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar

__all__ = ["Compilation", "Kernel", "Stopwatch", "compilation", "interpreted", "kernel"]

STARTED = time.time_ns()
"""When the program began, as far as kernels can tell."""

FEW_STEPS = 1 << 14
"""Steps of a kernel that Python takes in less time than importing Numba needs."""


class Compilation:
    """What this process has compiled.

    Attributes
    ----------
    tell : callable
        Is called before the first function is compiled, once, with whether the machine code will be kept.
    seconds : float
        That it took, so far.
    """

    def __init__(self) -> None:
        self.tell: Callable[[bool], None] = lambda _: None
        self.seconds = 0.0
        self._is_told = False

    def announce(self, is_kept: bool) -> None:
        """Call :attr:`tell` unless that was done."""
        if not self._is_told:
            self._is_told = True
            self.tell(is_kept)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of what is done inside, as loading Numba or compiling a rule."""
        before, started = self.seconds, time.perf_counter()
        try:
            yield
        finally:
            self.seconds = before + time.perf_counter() - started


compilation = Compilation()
"""The one of this process."""

_interpreting = ContextVar("_interpreting", default=False)
"""Whether kernels run as Python, in this thread."""


class Stopwatch:
    """Time since it was made, without that of compiling: the first run of a program is no slower than the next."""

    def __init__(self) -> None:
        self._started = time.perf_counter() - compilation.seconds

    @property
    def seconds(self) -> float:
        """What has gone by."""
        return time.perf_counter() - compilation.seconds - self._started


class Kernel:
    """A function as :func:`numba.njit` makes it, made when it is first called or another kernel that calls it is.

    What it has not itself, it has from what Numba makes.

    Parameters
    ----------
    function : callable
        What it is in Python.
    make : callable
        Returns what it is for Numba.
    """

    every: ClassVar[list["Kernel"]] = []
    """All that :func:`kernel` has made."""

    def __init__(self, function: Any, make: Callable[[], Any]) -> None:
        self.__doc__ = function.__doc__
        self._function, self._make = function, make

    @cached_property
    def compiled(self) -> Any:
        """What Numba makes of it."""
        with compilation.counted():
            return self._make()

    @cached_property
    def plain(self) -> Any:
        """What it is in Python, with all kernels that it calls."""
        function = self._function
        if not isinstance(function, FunctionType):
            return function
        names = function.__globals__
        kernels = {name: names[name] for name in function.__code__.co_names if isinstance(names.get(name), Kernel)}
        namespace = names | {name: kernel.plain for name, kernel in kernels.items()}
        return FunctionType(
            function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
        )

    @property
    def is_there(self) -> bool:
        """Whether its machine code is loaded or kept, so that a call need not compile it."""
        from hdnhw.kernels.compiling import is_there

        return is_there(self.compiled)

    @property
    def _numba_type_(self) -> Any:
        """Its type where kernels call it."""
        from numba.core.registry import cpu_target

        made, context = self.compiled, cpu_target.typing_context
        context.refresh()  # an intrinsic may have been imported just now
        return context.resolve_value_type(made)

    def __call__(self, *arguments: Any) -> Any:
        return (self.plain if _interpreting.get() else self.compiled)(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.compiled, name)


def kernel(*signatures: str, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of a function.

    Parameters
    ----------
    signatures : str
        Of the types of :mod:`numba.types`, for example ``void(int32[:, ::1], int64)``. Without any, it is compiled for
        the arguments of each call.
    options
        Of :func:`numba.njit`: ``inline="always"`` makes it a part of the kernels that call it.
    """

    def made(function: Callable[..., Any]) -> Kernel:
        def compiled() -> Any:
            from hdnhw.kernels.compiling import compiled

            return compiled(function, *signatures, **options)

        Kernel.every.append(Kernel(function, compiled))
        return Kernel.every[-1]

    return made


@contextmanager
def interpreted(steps: int, *, own: bool = False) -> Iterator[bool]:
    """Let kernels run as Python inside, and say so, if they take few steps and nothing has imported Numba yet.

    If they call a function of their `own`, which would be compiled for this alone, they do so though Numba is there.
    """
    plain = steps <= FEW_STEPS and (own or "numba" not in sys.modules)
    before = _interpreting.set(plain)
    try:
        yield plain
    finally:
        _interpreting.reset(before)
