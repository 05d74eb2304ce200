"""Compiling the kernels with Numba, and keeping what was compiled."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from hdnhw import timing
from hdnhw.kernels.compiling import compiled
from hdnhw.rules import compiled as rules

__all__ = ["at", "called", "inlined", "kept", "wide"]

Function = TypeVar("Function", bound=Callable[..., Any])

at = cast(Callable[[Any], int], np.uint64)
"""An index without sign: with one, Numba adds code that counts from the end."""

wide = cast(Callable[[Any], int], np.int64)
"""An element of an array as a number of 64 bits with sign."""


def inlined(function: Function) -> Function:
    """Compile a function as a part of those that call it."""
    return cast(Function, njit(inline="always")(function))


def called(function: Function) -> Function:
    """Compile a function by itself, which takes less time than as a part of others."""
    return cast(Function, njit(function))


def kept(function: Function) -> Function:
    """Compile a function when it is called, and keep the machine code for later runs of the program.

    Numba makes code anew when the file of a function has changed. Here it does so when any source of the kernels has:
    what a function closes over is part of the key, and each closes over a digest of them all.
    """
    plain = cast(FunctionType, function)
    code = plain.__code__.replace(co_freevars=("sources",))
    keyed = FunctionType(code, plain.__globals__, plain.__name__, plain.__defaults__, (CellType(_sources()),))
    keyed.__doc__, keyed.__module__, keyed.__qualname__ = plain.__doc__, plain.__module__, plain.__qualname__
    return cast(Function, compiled(keyed))


def _sources() -> str:
    """Return a digest of all that the code of a kernel is made from."""
    outside = (Path(str(module.__file__)) for module in (timing, rules))
    texts = [path.read_bytes() for path in (*sorted(Path(__file__).parent.glob("*.py")), *outside)]
    return sha256(b"".join(sha256(text).digest() for text in texts)).hexdigest()
