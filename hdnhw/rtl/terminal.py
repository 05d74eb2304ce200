"""What stands at the terminals of a fabric: modules or components, and the wires to the fabric."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Signal

from hdnhw.rtl.part import Part


@dataclass(frozen=True)
class EndpointModules:
    """Names of the modules that a fabric with endpoints instantiates.

    Attributes
    ----------
    fabric : str
        The bare fabric.
    unit : str
        What stands at each terminal.
    shared : str
        What all terminals share; empty if there is nothing.
    """

    fabric: str
    unit: str
    shared: str = ""


@dataclass(frozen=True)
class EndpointParts:
    """What a fabric with endpoints is joined from, with its logic; members as of :class:`EndpointModules`."""

    fabric: Part
    unit: Part
    shared: Part = ""


def terminal_pins(node: int, flit_width: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make the wires of both streams at a node.

    Returns
    -------
    of_endpoint, of_fabric : dict
        Pins of the two instances that they join; the endpoint's streams are ``inject`` and ``eject``.
    """
    endpoint: dict[str, Any] = {}
    fabric: dict[str, Any] = {}
    for side, payload, near, far in (("inject", flit_width, "o", "i"), ("eject", flit_width + 1, "i", "o")):
        for name, bits, one, other in (
            ("valid", 1, near, far),
            ("ready", 1, far, near),
            ("payload", payload, near, far),
        ):
            wire = Signal(bits, name=f"fabric_{side}_{node}_{name}")
            endpoint[f"{one}_{side}__{name}"] = wire
            fabric[f"{other}_{side}_{node}_{name}"] = wire
    return endpoint, fabric
