"""Hierarchical dual-net networks on chip: from a one-line spec to verified Verilog.

Every constructor that a spec string can name is a function of this package too (``dir(hdnhw)`` lists them).

Examples
--------
>>> import hdnhw
>>> hdnhw.rdn(hdnhw.cube(3), 1) == hdnhw.parse("rdn(cube(3), 1)")
True
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """Return the constructor of a network family, a class of specs, or the version: found when they are asked for."""
    if name == "__version__":
        from importlib.metadata import version

        return version("hdnhw")
    if not name.startswith("_"):
        import hdnhw.spec
        from hdnhw.spec.families import makers

        if name in __all__:
            return getattr(hdnhw.spec, name)
        if name in makers():
            return makers()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from hdnhw.spec.families import makers

    return sorted({*globals(), *__all__, *makers()})
