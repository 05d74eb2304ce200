"""The compiled core: functions of a C++ library, called with arrays of NumPy.

The library lies beside this file, twice on x86-64: for every processor, and for those of the level x86-64-v3, which is
chosen when it is loaded. Its sources are in ``hdnhw/core/src``; nothing is compiled when a program runs. The variable
``HDNHW_CORE`` of the environment names another folder with a library, such as one that was built with sanitizers.
"""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Function", "Number", "Pointer", "Real", "array_of", "library", "optional", "place_of"]

Number, Real, Pointer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
"""What a function takes besides arrays."""


def array_of(dtype: Any) -> Any:
    """Return the type of an array, in C order, of so many bits an element; another one is refused."""
    wanted = np.dtype(dtype)

    class Checked:  # as numpy.ctypeslib.ndpointer does, in half the time
        @staticmethod
        def from_param(value: Any) -> Any:
            if value.dtype != wanted or not value.flags.c_contiguous:
                raise TypeError(f"an array must be of {wanted} and in C order")
            return ctypes.c_void_p(value.ctypes.data)

    return Checked


def optional(dtype: Any) -> Any:
    """Return the type of an array or None."""
    array: Any = array_of(dtype)

    class OrNone:
        @staticmethod
        def from_param(value: Any) -> Any:
            return None if value is None else array.from_param(value)

    return OrNone


def place_of(array: Any) -> int | None:
    """Return where the elements of an array or None stand, for a structure of the core."""
    return None if array is None else int(array.ctypes.data)


@cache
def library() -> ctypes.CDLL:
    """Load the library, in the form for this processor."""
    folder = Path(os.environ.get("HDNHW_CORE", Path(__file__).parent))
    every, faster = folder / "libcore.so", folder / "libcore-v3.so"
    if not every.exists():
        raise FileNotFoundError(f"there is no {every}: run `make core` in a clone, or install hdnhw with pip")
    base = ctypes.CDLL(str(every))
    return ctypes.CDLL(str(faster)) if faster.exists() and base.core_runs_v3() else base


class Function:
    """A function of the library, which is loaded when it is first called. Other threads go on while it runs.

    Parameters
    ----------
    name : str
    types
        Of its arguments: :data:`Number`, :data:`Real`, :data:`Pointer`, :func:`array_of` or :func:`optional`.
    result
        Of what it returns: one of these, or None.
    """

    def __init__(self, name: str, *types: Any, result: Any = None) -> None:
        self._name, self._types, self._result = name, types, result
        self._function: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._function is None:
            function = library()[self._name]
            function.argtypes, function.restype = self._types, self._result
            self._function = function
        return self._function(*arguments)
