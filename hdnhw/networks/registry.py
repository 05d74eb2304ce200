"""Network families: what is known of one construction of networks, declared in one place and found by looking for it.

The modules of the package ``hdnhw.networks.families`` are found, and those of other installed packages that entry
points of the group ``hdnhw.families`` name. Each has a constant ``FAMILY``, or ``FAMILIES`` for several. Importing a
module registers nothing: which families there are never depends on what was imported, or in which order.
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from hdnhw.spec.network import NetworkSpec
from hdnhw.support.errors import SpecError
from hdnhw.topology.family import Family

PACKAGE, GROUP = "hdnhw.networks.families", "hdnhw.families"
"""The package of the families, and the group of the entry points of others."""


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
    return sorted(own | {point.value for point in entry_points(group=GROUP)})


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
