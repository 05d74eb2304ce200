"""Network families: what is known of one construction of networks, declared in one place and found by looking for it.

The modules of the package ``hdnhw.families`` are found, and the modules of other installed packages that entry points
of the group ``hdnhw.families`` name. Each has a constant ``FAMILY``, or ``FAMILIES`` for several. Importing a module
registers nothing: which families there are never depends on what was imported, or in which order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any

from hdnhw.spec.checks import SpecError
from hdnhw.spec.network import NetworkSpec

PACKAGE = "hdnhw.families"
"""The package of the families, and the group of the entry points of others."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """All that is known of one family of networks.

    Attributes
    ----------
    makers : tuple of callable
        The functions, known by their names, that spec strings call to make a spec of the family. Their arguments are
        integers, lists and specs, given by position; parameters that are keyword-only are the named options and have
        defaults, ``*sizes`` takes any number.
    spec : type
        The class of the specs; it belongs to one family.
    network : callable
        Takes a spec and returns its :class:`hdnhw.topology.graph.Network`.
    step : callable or None
        The table-free routing rule. Takes a :class:`hdnhw.rules.circuit.Circuit`, a network, the digits of the
        current node and of the destination as terms, and the modes (empty but for dual-nets); returns a
        :class:`hdnhw.rules.step.Step`. None where no rule is known: then the network is routed by tables, and no
        hardware is made for it.
    is_shortest : bool or callable
        Whether every route of the rule is known to be as short as the distance; or what says so of a network and
        modes.
    layout : callable or None
        Takes a network and returns the :class:`hdnhw.report.layout.Block` of its nodes. None where no picture is known.
    """

    makers: tuple[Callable[..., NetworkSpec], ...]
    spec: type[NetworkSpec]
    network: Callable[[Any], Any]
    step: Callable[..., Any] | None = None
    is_shortest: bool | Callable[[Any, str], bool] = False
    layout: Callable[[Any], Any] | None = None


@cache
def families() -> tuple[Family, ...]:
    """Return all families.

    Raises
    ------
    SpecError
        If a module declares none, or two families have a maker of one name or the same class of specs.
    """
    found = [(name, family) for name in _modules() for family in _declared(name)]
    owners: dict[str, str] = {}
    for module, family in found:
        spec = f"class {family.spec.__module__}.{family.spec.__qualname__}"
        for what in (*(f"spec {maker.__name__!r}" for maker in family.makers), spec):
            if what in owners:
                raise SpecError(f"{what} must be of one network family, not those of {owners[what]} and {module}")
            owners[what] = module
    return tuple(family for _, family in found)


def _modules() -> list[str]:
    """Return the names of the modules that declare families."""
    own = {f"{PACKAGE}.{module.name}" for module in iter_modules(import_module(PACKAGE).__path__)}
    return sorted(own | {point.value for point in entry_points(group=PACKAGE)})


def _declared(name: str) -> Iterator[Family]:
    module = import_module(name)
    for family in getattr(module, "FAMILIES", None) or [getattr(module, "FAMILY", None)]:
        if not isinstance(family, Family):
            raise SpecError(f"module {name} must have a Family as FAMILY, or some as FAMILIES, not {family!r}")
        yield family


def makers() -> dict[str, Callable[..., NetworkSpec]]:
    """Return the functions that spec strings call, by their names in alphabetical order."""
    found = {maker.__name__: maker for family in families() for maker in family.makers}
    return dict(sorted(found.items()))


def family_of(spec: NetworkSpec) -> Family:
    """Return the family of a spec.

    Raises
    ------
    SpecError
        If no family has specs of this class.
    """
    for family in families():
        if type(spec) is family.spec:
            return family
    raise SpecError(f"no network family has the spec class {type(spec).__name__} of {spec!r}")
