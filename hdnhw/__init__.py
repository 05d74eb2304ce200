"""A network on chip from one line: table-free routers in Verilog, proved deadlock-free and checked against a simulator.

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

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hdnhw.endpoints.axi4.spec import AxiMemorySpec as AxiMemorySpec
    from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec as AxiStreamSpec
    from hdnhw.endpoints.collective.spec import CollectiveSpec as CollectiveSpec
    from hdnhw.endpoints.exchange.spec import ExchangeSpec as ExchangeSpec
    from hdnhw.endpoints.relay.spec import RelaySpec as RelaySpec
    from hdnhw.library.choosing import compare as compare
    from hdnhw.library.choosing import design as design
    from hdnhw.library.collectives.exchange import exchange as exchange
    from hdnhw.library.collectives.operations import collective as collective
    from hdnhw.library.cosimulation import cosim as cosim
    from hdnhw.library.emulation import embed as embed
    from hdnhw.library.emulation import emulate as emulate
    from hdnhw.library.explorer import Page as Page
    from hdnhw.library.explorer import explore as explore
    from hdnhw.library.faults import faults as faults
    from hdnhw.library.faults import waypoints as waypoints
    from hdnhw.library.graphs import export as export
    from hdnhw.library.graphs import from_networkx as from_networkx
    from hdnhw.library.guarantees import guarantees as guarantees
    from hdnhw.library.hardware import emit as emit
    from hdnhw.library.hardware import synth as synth
    from hdnhw.library.info import info as info
    from hdnhw.library.info import neighbors as neighbors
    from hdnhw.library.machines import machines as machines
    from hdnhw.library.network import Network as Network
    from hdnhw.library.options import FigureOptions as FigureOptions
    from hdnhw.library.options import MachineOptions as MachineOptions
    from hdnhw.library.options import RuleOptions as RuleOptions
    from hdnhw.library.papers import papers as papers
    from hdnhw.library.picture import Drawing as Drawing
    from hdnhw.library.picture import picture as picture
    from hdnhw.library.proofs import prove as prove
    from hdnhw.library.requests import requests as requests
    from hdnhw.library.result import Result as Result
    from hdnhw.library.routes import paths as paths
    from hdnhw.library.routes import route as route
    from hdnhw.library.routes import routing as routing
    from hdnhw.library.simulation import Curves as Curves
    from hdnhw.library.simulation import simulate as simulate
    from hdnhw.library.simulation import sweep as sweep
    from hdnhw.library.systems import system as system
    from hdnhw.library.watch import watch as watch
    from hdnhw.library.waves import waves as waves
    from hdnhw.networks.parse import parse as parse
    from hdnhw.spec import FabricSpec as FabricSpec
    from hdnhw.spec import NetworkSpec as NetworkSpec
    from hdnhw.support.errors import SpecError as SpecError

if not (Path(__file__).parent / "sim").is_dir():
    __path__.append(str(Path(__file__).parents[1]))  # a clone, where sim and boards stand beside this folder


@cache
def _places() -> dict[str, str]:
    """Return in which modules public names are, as the imports above say.

    They are done when a name is asked for: importing all of it would take seconds.
    """
    nodes = ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    found = [(node.module or "", node.names) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {alias.name: module for module, names in found for alias in names if alias.asname == alias.name}


def _commands() -> dict[str, Any]:
    """Return the functions of commands, also of those that are not named above."""
    made = import_module(f"{__name__}.cli").own_commands()
    return {name: command.function for name, command in made.items()}


def _endpoints() -> dict[str, Any]:
    """Return the classes of what endpoints may be asked for, also of kinds that are not named above."""
    from hdnhw.endpoints import declared

    return {spec.__name__: spec for spec in declared("spec").values()}


def __getattr__(name: str) -> Any:
    """Return a public name, what a family, a kind of endpoints or a command has, or the version: found when asked."""
    if name == "__version__":
        from importlib.metadata import version

        return version("hdnhw")
    if name == "__all__":
        return sorted(_places())
    if name in _places():
        return getattr(import_module(_places()[name]), name)
    if not name.startswith("_"):
        from hdnhw.networks.registry import makers

        for found in (makers, _endpoints, _commands):
            if name in found():
                return found()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from hdnhw.networks.registry import makers

    found = {*_places(), *makers(), *_endpoints(), *_commands()}
    return sorted({*(name for name in globals() if name.startswith("__")), "__all__", *found})
