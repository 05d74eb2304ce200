"""Hierarchical dual-net networks on chip: from a one-line spec to verified Verilog.

A network is an object, a graph of networkx, whose methods do what commands do with it. Commands are functions too: with
the same name and options, they return what the command prints with ``--json``. So is every constructor that a spec
string can name (``dir(hdnhw)`` lists them). What stands here stays; modules below may change.

Examples
--------
>>> import hdnhw
>>> hdnhw.rdn(hdnhw.cube(3), 1) == hdnhw.parse("rdn(cube(3), 1)")
True
>>> hdnhw.Network("rdn(cube(3), 1)").diameter
8
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hdnhw.library.choosing import compare, design
    from hdnhw.library.collectives.exchange import exchange
    from hdnhw.library.collectives.operations import collective
    from hdnhw.library.cosimulation import cosim
    from hdnhw.library.emulation import embed, emulate
    from hdnhw.library.explorer import Page, explore
    from hdnhw.library.faults import faults, waypoints
    from hdnhw.library.graphs import export, from_networkx
    from hdnhw.library.hardware import emit, synth
    from hdnhw.library.info import info, neighbors
    from hdnhw.library.machines import machines
    from hdnhw.library.network import Network
    from hdnhw.library.options import FigureOptions, MachineOptions, RuleOptions
    from hdnhw.library.papers import papers
    from hdnhw.library.picture import Drawing, picture
    from hdnhw.library.proofs import prove
    from hdnhw.library.requests import requests
    from hdnhw.library.result import Result
    from hdnhw.library.routes import paths, route, routing
    from hdnhw.library.simulation import Curves, simulate, sweep
    from hdnhw.spec import (
        AxiMemorySpec,
        AxiStreamSpec,
        CollectiveSpec,
        ExchangeSpec,
        FabricSpec,
        NetworkSpec,
        RelaySpec,
        SpecError,
        parse,
    )

_PLACES = {
    "hdnhw.library.choosing": ("compare", "design"),
    "hdnhw.library.collectives.exchange": ("exchange",),
    "hdnhw.library.collectives.operations": ("collective",),
    "hdnhw.library.cosimulation": ("cosim",),
    "hdnhw.library.emulation": ("embed", "emulate"),
    "hdnhw.library.explorer": ("Page", "explore"),
    "hdnhw.library.faults": ("faults", "waypoints"),
    "hdnhw.library.graphs": ("export", "from_networkx"),
    "hdnhw.library.hardware": ("emit", "synth"),
    "hdnhw.library.machines": ("machines",),
    "hdnhw.library.network": ("Network",),
    "hdnhw.library.info": ("info", "neighbors"),
    "hdnhw.library.routes": ("paths", "route", "routing"),
    "hdnhw.library.options": ("FigureOptions", "MachineOptions", "RuleOptions"),
    "hdnhw.library.papers": ("papers",),
    "hdnhw.library.picture": ("Drawing", "picture"),
    "hdnhw.library.proofs": ("prove",),
    "hdnhw.library.requests": ("requests",),
    "hdnhw.library.result": ("Result",),
    "hdnhw.library.simulation": ("Curves", "simulate", "sweep"),
}
"""Where public names are found when they are asked for: importing all of it would take seconds."""

__all__ = [
    "AxiMemorySpec",
    "AxiStreamSpec",
    "CollectiveSpec",
    "Curves",
    "Drawing",
    "ExchangeSpec",
    "FabricSpec",
    "FigureOptions",
    "MachineOptions",
    "Network",
    "NetworkSpec",
    "Page",
    "RelaySpec",
    "Result",
    "RuleOptions",
    "SpecError",
    "collective",
    "compare",
    "cosim",
    "design",
    "embed",
    "emit",
    "emulate",
    "exchange",
    "explore",
    "export",
    "faults",
    "from_networkx",
    "info",
    "machines",
    "neighbors",
    "papers",
    "parse",
    "paths",
    "picture",
    "prove",
    "requests",
    "route",
    "routing",
    "simulate",
    "sweep",
    "synth",
    "waypoints",
]


def __getattr__(name: str) -> Any:
    """Return a public name, the constructor of a network family, or the version: found when they are asked for."""
    if name == "__version__":
        from importlib.metadata import version

        return version("hdnhw")
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(place), name)
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

    return sorted({*(name for name in globals() if name.startswith("__")), *__all__, *makers()})
