"""The kernels, compiled with Numba and kept, or run as Python; and what both do in their own way."""

import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np

from hdnhw.kernels import Kernel

__all__ = [
    "at",
    "borrow",
    "called",
    "inlined",
    "kept",
    "native",
    "prefetch",
    "trailing_zeros",
    "viewed",
    "wide",
]

Function = TypeVar("Function", bound=Callable[..., Any])

at = cast(Callable[[Any], int], Kernel(operator.index, lambda: np.uint64))
"""An index without sign: with one, Numba adds code that counts from the end."""

wide = cast(Callable[[Any], int], Kernel(operator.index, lambda: np.int64))
"""An element of an array as a number of 64 bits with sign."""


def native(name: str, plain: Callable[..., Any] | None = None) -> Any:
    """Return what is `plain` in Python, nothing that is called there if None, and else of :mod:`.native`."""
    return Kernel(plain, lambda: getattr(import_module("hdnhw.model.kernel.native"), name))


trailing_zeros = native("trailing_zeros", lambda bits: (bits & -bits).bit_length() - 1)
"""How many bits there are below the lowest that is set."""

borrow = native("borrow", lambda value: value)
"""The same arrays, without counting who holds them."""

prefetch = native("prefetch", lambda *_: None)
"""Ask for an element of an array that will be looked at."""


def inlined(function: Function) -> Function:
    """Compile a function as a part of those that call it."""
    return _part(function, inline="always")


def called(function: Function) -> Function:
    """Compile a function by itself, which takes less time than as a part of others."""
    return _part(function)


def _part(function: Function, **options: Any) -> Function:
    def compiled() -> Any:
        from numba import njit

        return njit(function, **options)

    return cast(Function, Kernel(function, compiled))


def kept(function: Callable[..., Any]) -> Kernel:
    """Compile a function when it is called, and keep the machine code for later runs of the program."""

    def made() -> Any:
        from hdnhw.kernels.compiling import compiled

        return compiled(function)

    return Kernel(function, made)


def viewed(state: Any) -> Any:
    """Return a tuple of arrays, or of such tuples, with Python's views of the same memory: they have Python's numbers.

    Kernels that run as Python are four times as fast on them, and no number of 32 bits overflows.
    """
    if isinstance(state, np.ndarray):
        return memoryview(state)  # type: ignore[arg-type]
    return type(state)(*map(viewed, state)) if isinstance(state, tuple) else state
