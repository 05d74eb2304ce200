"""The hop-by-hop rule of a network and its buffer classes, as one circuit of the digits of two nodes.

A rule reads the current node and the destination, and nothing else: neither the port of arrival nor a field that a
packet carries. What it decides comes from the step of its network family; here it becomes a rule.

Lanes multiply the virtual channels: every class has one for each lane, and a packet keeps to the lane of its
destination all the way (Dally, "Virtual-channel flow control", 1992, has the word). Between routers, packets of two
lanes never wait for each other, so the dependencies of each lane are among those of the rule without lanes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.dual import default_modes
from hdnhw.circuits.step import Step, is_shortest, step_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.graph import Network
from hdnhw.topology.levels import LeveledNetwork

MAX_PORTS = 254
"""Most network ports of a router; a compiled rule gives the port in eight bits."""


@dataclass(frozen=True)
class HopRule:
    """The next hop of a packet, one circuit for every node.

    Attributes
    ----------
    network : Network
    modes : str
        One letter a level, level k first; empty for networks without levels.
    circuit : Circuit
        Inputs ``cur0``, ``cur1``, ... and ``dst0``, ...: the digits of the two nodes.
    take : tuple of Term
        One truth value a port, at most one of them true.
    arrived : Term
        True exactly if no port is taken.
    vc : tuple of Term
        Bits of the virtual channel of the hop, least significant first: those of the lane, then those of the class.
    num_vcs : tuple of int
        Virtual channels that the rule may use on each port.
    lanes : int
        Virtual channels of a class.
    is_shortest : bool
        Whether every route is known to be as short as the distance.
    """

    network: Network
    modes: str
    circuit: Circuit
    take: tuple[Term, ...]
    arrived: Term
    vc: tuple[Term, ...]
    num_vcs: tuple[int, ...]
    lanes: int
    is_shortest: bool

    def next_hop(self, cur: Sequence[int], dst: Sequence[int]) -> tuple[int, int] | None:
        """Return (port index, virtual channel) of the next hop between two digit tuples, or None on arrival."""
        digits = {f"cur{i}": digit for i, digit in enumerate(cur)} | {f"dst{i}": digit for i, digit in enumerate(dst)}
        values = self.circuit.run((self.arrived, *self.take, *self.vc), digits.__getitem__)
        if values[0]:
            return None
        port = values[1 : 1 + len(self.take)].index(1)
        return port, sum(bit << weight for weight, bit in enumerate(values[1 + len(self.take) :]))

    def route(self, src: int, dst: int) -> list[tuple[int, int, int]]:
        """Return the route between two node numbers as (node, port index, virtual channel), one entry a hop."""
        cur, target = self.network.decode(src), self.network.decode(dst)
        hops = []
        while (step := self.next_hop(cur, target)) is not None:
            hops.append((self.network.encode(cur), *step))
            cur = self.network.move(cur, step[0])
        return hops


def check_modes(network: Network, modes: str | None) -> str:
    """Return `modes`, or the default for None.

    Raises
    ------
    SpecError
        If there is not one letter f or O a level, or there are modes and no levels.
    """
    if not isinstance(network, LeveledNetwork) or not network.levels:
        if modes:
            raise SpecError(f"modes are for dual-nets of one level or more; {network.spec} is none")
        return ""
    if modes is None:
        return default_modes(network)
    levels = len(network.levels)
    if len(modes) != levels or set(modes) - set("fO"):
        letters = "one letter f or O" if levels == 1 else f"{levels} letters f or O, level {levels} first"
        raise SpecError(f"modes of {network.spec} must be {letters}, not {modes!r}")
    return modes


def check_router(network: Network, lanes: int) -> None:
    """Raise SpecError if a router would have too many ports, or there cannot be so many lanes."""
    if len(network.ports) > MAX_PORTS:
        raise SpecError(
            f"a router must have at most {MAX_PORTS} network ports; {network.spec} has {len(network.ports)}"
        )
    if lanes not in (1, 2):
        raise SpecError(f"{named('lanes')} must be 1 or 2, not {lanes}")


def hop_rule(network: Network, modes: str | None = None, lanes: int = 1) -> HopRule:
    """Build the hop-by-hop rule of `network`.

    Parameters
    ----------
    network : Network
    modes : str, optional
        One letter a level, level k first; :func:`default_modes` if omitted.
    lanes : int
        Virtual channels of a class, 1 or 2.

    Raises
    ------
    SpecError
        If `modes` does not fit the network, there cannot be so many lanes, a router would have too many ports, or no
        rule is known.
    """
    check_router(network, lanes)
    letters = check_modes(network, modes)
    circuit = Circuit()
    cur, dst = (
        [circuit.input(f"{side}{place}", radix) for place, radix in enumerate(network.radices)]
        for side in ("cur", "dst")
    )
    step, shortest = step_of(circuit, network, cur, dst, letters), is_shortest(network, letters)
    ports = range(len(network.ports))
    widths = [len(step.class_bits[port]) for port in ports]
    vc = [_class_bit(circuit, step, [port for port in ports if widths[port] > bit], bit) for bit in range(max(widths))]
    if lanes == 2:
        vc.insert(0, _parity([digit.odd() for digit in dst]))
    take = tuple(step.take[port] for port in ports)
    num_vcs = tuple(lanes << width for width in widths)
    return HopRule(network, letters, circuit, take, step.matched, tuple(vc), num_vcs, lanes, shortest)


def _parity(bits: Sequence[Term]) -> Term:
    """Return whether an odd number of `bits` are set."""
    if len(bits) == 1:
        return bits[0]
    half = len(bits) // 2
    one, other = _parity(bits[:half]), _parity(bits[half:])
    return one.mux(~other, other)


def _class_bit(circuit: Circuit, step: Step, ports: Sequence[int], bit: int) -> Term:
    """Join one class bit over the ports that have it; ports that agree on it share one term."""
    groups: dict[int, list[int]] = {}
    for port in ports:
        groups.setdefault(step.class_bits[port][-1 - bit].index, []).append(port)
    if len(groups) == 1 and len(ports) == len(step.take):
        return circuit.term(next(iter(groups)))
    return circuit.any_of(
        circuit.any_of(step.take[port] for port in members) & circuit.term(index) for index, members in groups.items()
    )
