"""Networks at equal cost: channels as wide as an equal number of pins, of wires, or an equal bisection allows.

A network of few ports has wide channels, one of many narrow ones. A packet has as many bits on all, so it is more flits
where channels are narrow: latency in cycles of one clock then compares what networks make of the same hardware.

References
----------
Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE Transactions on Computers 39 (6), 1990:
constant bisection. Agarwal, "Limits on interconnection network performance", IEEE Transactions on Parallel and
Distributed Systems 2 (4), 1991: constant bisection and constant pins. Dally and Towles, Principles and Practices of
Interconnection Networks, section 3.4: packaging cost.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

from hdnhw.library.info import STRUCTURE_LIMIT, STRUCTURE_PORTS
from hdnhw.networks.build import build
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import by_channel
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import say
from hdnhw.topology.graph import Network

PACKET_BITS, MOST_BITS = 256, 1 << 16
"""Of a packet: if nobody says how many, and at most."""


def _pins(network: Network) -> int:
    from hdnhw.topology.metrics import degree_bounds

    return degree_bounds(network)[1]


def _wires(network: Network) -> int:
    from hdnhw.topology.metrics import num_edges

    return num_edges(network)


def _bisection(network: Network) -> int:
    from hdnhw.topology.metrics import neighbor_table
    from hdnhw.topology.terminal_cuts import network_bisection

    if network.num_nodes > STRUCTURE_LIMIT or network.num_ports > STRUCTURE_PORTS:
        most = f"{STRUCTURE_LIMIT} nodes and {STRUCTURE_PORTS} ports in all"
        raise SpecError(f"a bisection is looked for up to {most}; {network.spec} has more")
    cut = network_bisection(network, neighbor_table(network))
    if cut.exact is False:
        say(f"{network.spec}: its bisection is at most {cut.edges} links; that it is not fewer is not proved")
    return cut.edges


EQUALS: dict[str, tuple[str, Callable[[Network], int]]] = {
    "pins": ("ports", _pins),
    "wires": ("links", _wires),
    "bisection": ("links", _bisection),
}
"""What can be equal -> what is counted of a network, and how: most ports of a router, links, links of a bisection."""


def _channels(what: str, network: Network) -> Any:
    """Return how many channels behind each port are counted: a row for each router of its own kind, or one for all."""
    import numpy as np

    from hdnhw.topology.metrics import neighbor_table
    from hdnhw.topology.terminal_cuts import network_bisection

    table = neighbor_table(network)
    there = table >= 0
    if what == "pins":
        return np.unique(there, axis=0).astype(np.int64)
    if what == "bisection":
        say(f"{network.spec}: its bisection is that of fewest links; another one may have fewer wires")
        inside = network_bisection(network, table).inside
        there &= inside[:, None] != inside[np.where(there, table, 0)]
    return there.sum(axis=0, keepdims=True) / 2  # an edge is a channel each way


@dataclass(frozen=True, kw_only=True)
class Equal:
    """Machines at equal cost.

    Attributes
    ----------
    what : str
        Of :data:`EQUALS`.
    packet_bits : int
    fabrics : tuple of FabricSpec
    counts : tuple of int
        Ports, or links, of each network.
    bits : tuple of int
        Bits of their channels together, as wide as each is.
    """

    what: str
    packet_bits: int
    fabrics: tuple[FabricSpec, ...]
    counts: tuple[int, ...]
    bits: tuple[int, ...]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each network: what is counted, bits of a flit, bits of all channels, and flits of a packet."""
        return [
            {
                "spec": str(fabric.network),
                EQUALS[self.what][0]: count,
                "flit_width": fabric.flit_width,
                self.what: bits,
                "packet_length": fabric.packet_length,
            }
            for fabric, count, bits in zip(self.fabrics, self.counts, self.bits, strict=True)
        ]

    @property
    def most(self) -> float:
        """The most bits of packets per node per cycle that any network can be offered: a flit in each cycle."""
        return max(self._bits_of_flit(fabric) for fabric in self.fabrics)

    def _bits_of_flit(self, fabric: FabricSpec) -> float:
        """Return how many bits of a packet a flit has in the mean: the last one need not be full."""
        return self.packet_bits / fabric.packet_length

    def rates(self, bits: Sequence[float]) -> list[list[float]]:
        """Return loads in bits per node per cycle in flits, for each machine; without those above a flit in each cycle.

        Raises
        ------
        SpecError
            If there is a machine that can have none of them.
        """
        found = []
        for fabric in self.fabrics:
            most = self._bits_of_flit(fabric)
            found.append([one / most for one in bits if one <= most])
            if not found[-1]:
                raise SpecError(
                    f"{named('rates')} must begin below the {most:g} bits per node per cycle of {fabric.network}"
                )
        return found

    def tell(self, curves: Sequence[dict[str, Any]]) -> None:
        """Add to curves, of all machines again and again, what is in bits: widths, loads and saturation."""
        from hdnhw.measurement.statistics import rounded
        from hdnhw.measurement.sweep import FIGURES

        for fabric, curve in zip(cycle(self.fabrics), curves, strict=False):
            bits = self._bits_of_flit(fabric)
            curve |= {"flit_width": fabric.flit_width, "packet_length": fabric.packet_length}
            for name, width in FIGURES.items():
                value, half = (None if curve[key] is None else curve[key] * bits for key in (name, width))
                curve[f"{name}_bits"] = None if value is None else rounded(value, half)
                curve[f"{width}_bits"] = None if half is None else rounded(half, half)
            bound = curve["saturation_bound"]
            curve["saturation_bound_bits"] = None if bound is None else round(bound * bits, 4)
            curve["points"] = [row | self._in_bits(row, bits) for row in curve["points"]]

    def _in_bits(self, row: dict[str, Any], bits: float) -> dict[str, float]:
        return {f"{name}_bits": round(row[name] * bits, 6) for name in ("rate", "offered_rate", "accepted_rate")}


def make_equal(fabrics: Sequence[FabricSpec], what: str, packet_bits: int | None) -> Equal:
    """Return machines whose flits are as wide as what is equal allows; the first one keeps its width.

    Parameters
    ----------
    fabrics : sequence of FabricSpec
    what : str
        ``pins``: the bits of all channels of the router with the most ports; ``wires``: those of all channels of the
        network; ``bisection``: those of the channels between two halves. Widths are whole bits, rounded down. Channels
        of their own width keep it where flits are no narrower.
    packet_bits : int or None
        Of a packet; None: 256. It is ceil(packet_bits / width) flits.

    Raises
    ------
    SpecError
        If flits would be too narrow or too wide, or packets too long.
    """
    bits = PACKET_BITS if packet_bits is None else packet_bits
    networks = [build(fabric.network) for fabric in fabrics]
    counts = [EQUALS[what][1](network) for network in networks]
    sizes = {network.num_terminals for network in networks}
    if len(sizes) > 1:
        say(f"networks have {min(sizes)} to {max(sizes)} terminals: equal {what} compare best where they have as many")
    costs = [_cost_of(what, *each) for each in zip(fabrics, networks, counts, strict=True)]
    budget = costs[0](fabrics[0].flit_width)
    made = []
    for fabric, cost in zip(fabrics, costs, strict=True):
        width = bisect_right(range(1, budget + 1), budget, key=cost)
        if not width:
            raise SpecError(f"{fabric.network} needs {what} of {cost(1)} bits or more; the first network has {budget}")
        narrow = _no_wider(fabric.channel_width, width)
        made.append(replace(fabric, flit_width=width, channel_width=narrow, packet_length=-(-bits // width)))
    spent = tuple(cost(fabric.flit_width) for fabric, cost in zip(made, costs, strict=True))
    return Equal(what=what, packet_bits=bits, fabrics=tuple(made), counts=tuple(counts), bits=spent)


def _cost_of(what: str, fabric: FabricSpec, network: Network, count: int) -> Callable[[int], int]:
    """Return what tells the bits of the channels that are counted, of flits of a width."""
    if fabric.channel_width is None:
        return lambda width: count * width
    from hdnhw.machine.channels import said_of_ports

    channels, said = _channels(what, network), fabric.channel_width

    def cost(width: int) -> int:
        wires = said_of_ports(network, "channel_width", _no_wider(said, width), width)
        return int((channels * wires).sum(axis=1).max())

    return cost


def _no_wider(said: str | None, width: int) -> str | None:
    """Return widths of channels without those above that of a flit."""
    if said is None:
        return None
    return ",".join(f"{pattern}={min(bits, width)}" for pattern, bits in by_channel(said))
