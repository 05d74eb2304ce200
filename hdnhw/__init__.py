"""Hierarchical dual-net networks on chip: from a one-line spec to verified Verilog.

Every constructor that a spec string can name is a function of this package too (``dir(hdnhw)`` lists them).

Examples
--------
>>> import hdnhw
>>> hdnhw.rdn(hdnhw.cube(3), 1) == hdnhw.parse("rdn(cube(3), 1)")
True
"""

from collections.abc import Callable

from hdnhw.spec import (
    AxiStreamSpec,
    CollectiveSpec,
    ExchangeSpec,
    FabricSpec,
    NetworkSpec,
    RelaySpec,
    SpecError,
    parse,
)
from hdnhw.spec.families import makers

__all__ = [
    "AxiStreamSpec",
    "CollectiveSpec",
    "ExchangeSpec",
    "FabricSpec",
    "NetworkSpec",
    "RelaySpec",
    "SpecError",
    "parse",
]


def __getattr__(name: str) -> Callable[..., NetworkSpec]:
    """Return the constructor of a network family."""
    if name.startswith("_") or name not in makers():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return makers()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *makers()})
