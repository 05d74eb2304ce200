"""What stands at the terminals of a fabric: modules or components, and the wires to the fabric."""

from dataclasses import dataclass
from typing import Any

from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.part import Part, wires


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
    """What a fabric with endpoints is joined from; members as of :class:`EndpointModules`."""

    fabric: Part
    unit: Part
    shared: Part


def terminal_wires(num_nodes: int, flit_width: int) -> dict[str, list[Any]]:
    """Make the wires of both streams of every node, by the names that endpoints and the fabric have for them."""
    signatures = {
        "inject": injection_signature(flit_width=flit_width),
        "eject": ejection_signature(flit_width=flit_width),
    }
    return {
        side: [wires(signature, f"fabric_{side}_{node}") for node in range(num_nodes)]
        for side, signature in signatures.items()
    }


def at_node(members: dict[str, list[Any]], node: int) -> dict[str, Any]:
    """Return what those at one node are."""
    return {name: values[node] for name, values in members.items()}
