"""The load that a pattern puts on each channel by the routes of a plan, in the mean, without a simulation."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.plan import RoutingPlan
from hdnhw.support.errors import SpecError
from hdnhw.topology.metrics import neighbor_table
from hdnhw.traffic.patterns import Pattern

MOST_PAIRS, AT_ONCE = 1 << 26, 1 << 20
"""Pairs of nodes of which all are routed, and those of a part."""

DECIMALS = 12
"""To which loads are told apart: sums of numbers that are rounded."""

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class ChannelLoad:
    """What each channel carries, flits a cycle, if the busiest node sends 1.

    There is one route for each pair of nodes, so a channel carries what all pairs send whose routes it is on.

    Parameters
    ----------
    plan : RoutingPlan
    pattern : Pattern
    progress : callable
        Is told the share that is done.

    Attributes
    ----------
    load : ndarray of float64, shape (nodes, ports + 2)
        Of the channels in the order of ports, then ejection, then injection.
    bound : float
        Flits a cycle of the busiest node at which a channel is full, that of a terminal or another one.
    busiest : tuple of int
        Node and place of that channel, the first one if there are several.

    Raises
    ------
    SpecError
        If packets choose among routes, or there are too many pairs.
    """

    def __init__(
        self, plan: RoutingPlan, pattern: Pattern, *, progress: Callable[[float], None] = lambda _: None
    ) -> None:
        plan.check_direct("the load of channels")
        self._network, self._pattern, self._decide = plan.network, pattern, plan.core_rule.decide
        self._terminals = self._network.num_terminals
        if self._terminals**2 > MOST_PAIRS:
            raise SpecError(
                f"load of channels needs at most {MOST_PAIRS} pairs of nodes; {self._network.spec} has "
                f"{self._terminals**2}"
            )
        self._address, self._behind = plan.address.of_nodes.astype(np.int32), neighbor_table(self._network)
        self.load = np.zeros((self._network.num_nodes, len(self._network.ports) + 2))
        width = self.load.shape[1]
        for done, (source, destination, rate) in self._flows():
            progress(done)
            self._add(destination * width + width - 2, rate)
            self._add(source * width + width - 1, rate)
            for flow, at, port in self._hops(source, destination):
                self._add(at * width + port, rate[flow])
        self.load = self.load.round(DECIMALS)
        self.bound = 1 / float(self.load.max())
        node, channel = divmod(int(self.load.argmax()), width)
        self.busiest = node, channel

    def _add(self, place: Integers, rate: Reals) -> None:
        self.load += np.bincount(place, rate, self.load.size).reshape(self.load.shape)

    def _flows(self) -> Iterator[tuple[float, tuple[Integers, Integers, Reals]]]:
        """Give what nodes send to others, some sources at a time: source, destination, rate."""
        step = max(1, AT_ONCE // self._terminals)
        for first in range(0, self._terminals, step):
            sources = np.arange(first, min(first + step, self._terminals))
            rates = self._pattern.rates(sources)
            own, destination = np.nonzero(rates)
            yield first / self._terminals, (sources[own], destination, rates[own, destination])

    def _hops(self, source: Integers, destination: Integers) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Give the hops of routes, the first ones first: which routes they are of, and their nodes and ports."""
        flow, node = np.arange(len(source)), source
        while len(flow):
            address = self._address[node], self._address[destination[flow]]
            port = (self._decide(*address) & (1 << VC_SHIFT) - 1).astype(np.int64)
            yield flow, node, port
            node = self._behind[node, port].astype(np.int64)
            is_under_way = node != destination[flow]
            flow, node = flow[is_under_way], node[is_under_way]

    def flows(self, node: int, channel: int, most: int = 10) -> list[dict[str, Any]]:
        """Return those who send most over a channel, the most first: source, destination and load."""
        found = list[tuple[float, int, int]]()
        width = self.load.shape[1]
        for _, (source, destination, rate) in self._flows():
            if channel >= width - 2:
                over = np.flatnonzero((destination, source)[channel - width + 2] == node)
            else:
                hops = self._hops(source, destination)
                none = np.zeros(0, np.int64)  # of sources that send nothing
                over = np.concatenate([none, *(flow[(at == node) & (port == channel)] for flow, at, port in hops)])
            columns = (-rate[over]).round(DECIMALS), source[over], destination[over]
            found = sorted([*found, *zip(*(column.tolist() for column in columns), strict=True)])[:most]
        return [{"source": source, "destination": end, "load": round(-load, 6)} for load, source, end in found]
