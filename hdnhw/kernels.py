"""Functions that Numba compiles when they are first called; their machine code is kept for later runs of the program.

Importing Numba takes longer than most commands do: it waits for a call that is worth it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Literal

__all__ = ["Kernel", "interpreted", "kernel"]

FEW_STEPS = 1 << 14
"""Steps of a kernel that Python takes in less time than importing Numba needs."""

Inline = Literal["never", "always"]


class Kernel:
    """A function as :func:`numba.njit` makes it, made when it is first called or another kernel that calls it is.

    What it has not itself, it has from what Numba makes.
    """

    _interpreting = False

    def __init__(self, function: Callable[..., Any], signature: str | list[str] | None, inline: Inline) -> None:
        self.__doc__ = function.__doc__
        self._function, self._signature, self._inline = function, signature, inline

    @cached_property
    def _compiled(self) -> Any:
        from numba import njit

        return njit(self._signature, cache=True, inline=self._inline)(self._function)

    @property
    def _numba_type_(self) -> Any:
        """Its type where kernels call it."""
        from numba import typeof

        return typeof(self._compiled)

    def __call__(self, *arguments: Any) -> Any:
        return (self._function if Kernel._interpreting else self._compiled)(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled, name)


def kernel(
    signature: str | list[str] | None = None, *, inline: Inline = "never"
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of a function.

    Parameters
    ----------
    signature : str or list of str, optional
        Of the types of :mod:`numba.types`, for example ``void(int32[:, ::1], int64)``; more than one in a list. Without
        any, it is compiled for the arguments of each call.
    inline : str
        ``always`` makes it a part of the kernels that call it.
    """
    return lambda function: Kernel(function, signature, inline)


@contextmanager
def interpreted(steps: int) -> Iterator[bool]:
    """Let kernels run as Python inside, and say so, if they take few steps and nothing has imported Numba yet."""
    before, Kernel._interpreting = Kernel._interpreting, steps <= FEW_STEPS and "numba" not in sys.modules
    try:
        yield Kernel._interpreting
    finally:
        Kernel._interpreting = before
