"""Kinds of endpoints, a folder each: what may stand at the terminals of a fabric in place of bare streams of flits.

A kind is found by its folder, whose name has ``_`` where that of the kind has ``-``. What others must know of it,
modules there declare as constants of their own names:

- ``spec``: ``SPEC``, the class of its options, made from :class:`hdnhw.spec.EndpointSpec`. Each kind has it.
- ``format``: ``FORMAT``, a :class:`hdnhw.machine.flit.HeaderFormat` of what endpoints send each other.
- ``emitted``: ``EMITTED``, a class made from :class:`hdnhw.verilog.endpoint.EmittedEndpoints`. Each kind has it.
- ``bench``: ``BENCH``, a class made from :class:`hdnhw.sim.runner.Bench`.
- ``proof``: ``PROOF``, a function that yields what is proved of an emitted fabric, see :mod:`hdnhw.proofs.endpoints`.

The first word of a module's name says to which layer it belongs (tests/test_layers.py). No kind imports another one.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Any


@cache
def declared(part: str) -> Mapping[str, Any]:
    """Return what modules of one name declare, by the names of the kinds in alphabetical order.

    Kinds that have no such module are left out.
    """
    folders = sorted((module.name.replace("_", "-"), f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = {kind: _module(f"{folder}.{part}") for kind, folder in folders}
    return MappingProxyType({kind: getattr(module, part.upper()) for kind, module in found.items() if module})


def _module(name: str) -> ModuleType | None:
    """Return a module, None if there is no such one."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
