"""The ports of a wrapper: one array for the ports of all nodes, or of all places and links of a chip."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hdnhw.support.manifest import counts_of, top_ports

NUMBER = re.compile(r"_([NPK])(?=_|$)")
"""What stands for the number of a node, of a place on a chip, or of a link, in the manifest's names of ports."""


@dataclass(frozen=True)
class WrapperPort:
    """A port of a wrapper.

    Attributes
    ----------
    name : str
        As the ports inside are called, without a number; of the clocks and resets of nodes, with ``node_`` in front.
    pattern : str
        Name of the port inside, with ``_N`` for the number of a node, ``_P`` of a place, or ``_K`` of a link.
    width : int
        Bits, of one port inside.
    is_input : bool
    count : int
        Ports inside, one a node, place or link; 0 if it is one of the whole top level.
    """

    name: str
    pattern: str
    width: int
    is_input: bool
    count: int

    def inside(self, number: int) -> str:
        """Return the name of the port inside of a node, place or link."""
        return NUMBER.sub(f"_{number}", self.pattern)


def wrapper_ports(manifest: Mapping[str, Any]) -> list[WrapperPort]:
    """Return the ports of a fabric's wrappers, in the order of the manifest.

    Examples
    --------
    >>> clock, payload = {"direction": "input", "width": 1}, {"direction": "output", "width": 9}
    >>> wrapper_ports({"routers": 4, "ports": {"clk": clock, "eject_N_payload": payload}})[1]
    WrapperPort(name='eject_payload', pattern='eject_N_payload', width=9, is_input=False, count=4)
    """
    ports, counts = top_ports(manifest), counts_of(manifest)
    return [
        WrapperPort(
            port_name(pattern, ports),
            pattern,
            port["width"],
            port["direction"] == "input",
            counts[found[1]] if (found := NUMBER.search(pattern)) else 0,
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
    name = NUMBER.sub("", pattern)
    return f"node_{name}" if name != pattern and name in ports else name


def about(manifest: Mapping[str, Any]) -> str:
    """Return what a wrapper has arrays for: ``its 16 nodes``, or ``its 8 places and 2 links``."""
    names = {"N": "node", "P": "place", "K": "link"}
    counted = counts_of(manifest).items()
    return "its " + " and ".join(f"{count} {names[letter]}{'s' * (count > 1)}" for letter, count in counted)


def joined(ports: Sequence[WrapperPort], element_of: Callable[[WrapperPort, int], str]) -> Iterator[tuple[str, str]]:
    """Yield each port inside and what it is joined to, node by node."""
    yield from ((port.pattern, port.name) for port in ports if not port.count)
    for number in range(max(port.count for port in ports)):
        yield from ((port.inside(number), element_of(port, number)) for port in ports if number < port.count)
