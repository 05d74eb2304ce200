"""Functions that Numba compiles when they are first called; their machine code is kept for later runs of the program.

Importing Numba takes longer than most commands do: it waits for a call that is worth it.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar

__all__ = ["Compilation", "Kernel", "Stopwatch", "compilation", "interpreted", "kernel"]

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


compilation = Compilation()
"""The one of this process."""


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
    """

    _interpreting = False
    every: ClassVar[list["Kernel"]] = []
    """All that have been made."""

    def __init__(self, function: Callable[..., Any], signatures: tuple[str, ...], options: dict[str, Any]) -> None:
        self.__doc__ = function.__doc__
        self._function, self._signatures, self._options = function, signatures, options
        Kernel.every.append(self)

    @cached_property
    def compiled(self) -> Any:
        """What Numba makes of it."""
        from hdnhw.kernels.compiling import compiled

        return compiled(self._function, *self._signatures, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """Its type where kernels call it."""
        from numba import typeof

        return typeof(self.compiled)

    def __call__(self, *arguments: Any) -> Any:
        return (self._function if Kernel._interpreting else self.compiled)(*arguments)

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
    return lambda function: Kernel(function, signatures, options)


@contextmanager
def interpreted(steps: int) -> Iterator[bool]:
    """Let kernels run as Python inside, and say so, if they take few steps and nothing has imported Numba yet."""
    before, Kernel._interpreting = Kernel._interpreting, steps <= FEW_STEPS and "numba" not in sys.modules
    try:
        yield Kernel._interpreting
    finally:
        Kernel._interpreting = before
