"""The ports of a wrapper: one array for the ports of all nodes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NODE = re.compile(r"_N(?=_|$)")
"""What stands for the number of a node in the manifest's names of ports."""


@dataclass(frozen=True)
class WrapperPort:
    """A port of a wrapper.

    Attributes
    ----------
    name : str
        As the ports inside are called, without the number of a node; of the clocks and resets of nodes, with ``node_``
        in front.
    pattern : str
        Name of the port inside, with ``_N`` for the number of a node.
    width : int
        Bits; of one node, if there is a port per node.
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
    ports, nodes = top_ports(manifest), manifest["routers"]
    return [
        WrapperPort(
            port_name(pattern, ports),
            pattern,
            port["width"],
            port["direction"] == "input",
            nodes if _NODE.search(pattern) else 0,
        )
        for pattern, port in ports.items()
    ]


def port_name(pattern: str, ports: Mapping[str, Any]) -> str:
    """Return what a port is called that stands for those of all nodes.

    Examples
    --------
    >>> ports = {"clk": {}, "clk_N": {}, "eject_N_payload": {}}
    >>> [port_name(pattern, ports) for pattern in ports]
    ['clk', 'node_clk', 'eject_payload']
    """
    name = _NODE.sub("", pattern)
    return f"node_{name}" if name != pattern and name in ports else name


def top_ports(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ports of the top level, as the manifest has them."""
    ports: dict[str, Any] = manifest.get("clocks", manifest.get("endpoints", manifest))["ports"]
    return ports


def joined(ports: Sequence[WrapperPort], element_of: Callable[[WrapperPort, int], str]) -> Iterator[tuple[str, str]]:
    """Yield each port inside and what it is joined to, node by node."""
    yield from ((port.pattern, port.name) for port in ports if not port.nodes)
    for node in range(max(port.nodes for port in ports)):
        yield from ((port.inside(node), element_of(port, node)) for port in ports if port.nodes)
