"""Circuits on arrays: many addresses at once."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

ARRAY_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: 1 - a,
    "eq": lambda a, b: np.equal(a, b).astype(np.int16),
    "lt": lambda a, b: np.less(a, b).astype(np.int16),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "submod": lambda a, b, n: (a - b) % n,
    "odd": lambda a: a & 1,
    "mux": lambda condition, a, b: np.where(condition, a, b),
}
"""For :meth:`hdnhw.circuits.circuit.Circuit.run`: arrays of digits for its inputs."""
