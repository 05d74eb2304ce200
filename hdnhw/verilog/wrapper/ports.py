"""The ports of a wrapper: one array for the ports of all nodes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["WrapperPort", "joined", "top_ports", "wrapper_ports"]

_NODE = re.compile(r"_N(?=_|$)")
"""What stands for the number of a node in the manifest's names of ports."""


@dataclass(frozen=True)
class WrapperPort:
    """A port of a wrapper.

    Attributes
    ----------
    name : str
        As the ports inside are called, without the number of a node.
    pattern : str
        Name of the port inside, with ``_N`` for the number of a node.
    width : int
        Bits; of one node, if there is a port a node.
    is_input : bool
    nodes : int
        Ports inside, one a node; 0 if it is one of the whole fabric.
    """

    name: str
    pattern: str
    width: int
    is_input: bool
    nodes: int

    def inside(self, node: int) -> str:
        """Return the name of the port inside of a node."""
        return _NODE.sub(f"_{node}", self.pattern)


def wrapper_ports(manifest: Mapping[str, Any]) -> list[WrapperPort]:
    """Return the ports of a fabric's wrappers, in the order of the manifest.

    Examples
    --------
    >>> clock, payload = {"direction": "input", "width": 1}, {"direction": "output", "width": 9}
    >>> wrapper_ports({"routers": 4, "ports": {"clk": clock, "eject_N_payload": payload}})[1]
    WrapperPort(name='eject_payload', pattern='eject_N_payload', width=9, is_input=False, nodes=4)
    """
    return [
        WrapperPort(
            _NODE.sub("", pattern),
            pattern,
            port["width"],
            port["direction"] == "input",
            manifest["routers"] if _NODE.search(pattern) else 0,
        )
        for pattern, port in top_ports(manifest).items()
    ]


def top_ports(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ports of the top level, as the manifest has them."""
    ports: dict[str, Any] = manifest.get("endpoints", manifest)["ports"]
    return ports


def joined(ports: Sequence[WrapperPort], element_of: Callable[[WrapperPort, int], str]) -> Iterator[tuple[str, str]]:
    """Yield each port inside and what it is joined to, node by node."""
    yield from ((port.pattern, port.name) for port in ports if not port.nodes)
    for node in range(max(port.nodes for port in ports)):
        yield from ((port.inside(node), element_of(port, node)) for port in ports if port.nodes)
