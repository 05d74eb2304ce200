"""The hop-by-hop rule and its buffer classes, as one circuit of the current node's and the destination's digits.

Modes and classes are those of the design: a level in mode ``f`` routes as papers/README.md section 0 says and is in one
of two phases, before or after its last crossing; a level in mode ``O`` finishes its class-0 part before its class-1
part. The virtual channel of a hop is read from (current node, destination) alone.

Lanes multiply the virtual channels: every class has one for each lane, and a packet keeps to the lane of its
destination all the way (Dally, "Virtual-channel flow control", 1992, has the word). Between routers, packets of two
lanes never wait for each other, so the dependencies of each lane are among those of the rule without lanes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hdnhw.routing.circuit import Circuit, Term
from hdnhw.spec import Factor, SpecError
from hdnhw.topology.network import Network

__all__ = ["DATELINE_RING", "HopRule", "check_modes", "default_modes", "hop_rule"]

MAX_PORTS = 254
"""Most network ports of a router; a compiled rule gives the port in eight bits."""

DATELINE_RING = 5
"""Smallest ring that needs datelines: shorter ones route at most two hops, never around a whole ring."""


@dataclass(frozen=True)
class HopRule:
    """The next hop of a packet, one circuit for every node.

    Attributes
    ----------
    network : Network
    modes : str
        One letter a level, level k first; empty for a product network.
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
    """

    network: Network
    modes: str
    circuit: Circuit
    take: tuple[Term, ...]
    arrived: Term
    vc: tuple[Term, ...]
    num_vcs: tuple[int, ...]
    lanes: int

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


def default_modes(network: Network) -> str:
    """Return ``O..Of``, two classes on any channel: f on the lowest level that has several clusters a class."""
    letters = ["O"] * len(network.levels)
    for index, level in enumerate(network.levels):
        if level.cluster:
            letters[index] = "f"
            break
    return "".join(reversed(letters))


def check_modes(network: Network, modes: str | None) -> str:
    """Return `modes`, or the default for None.

    Raises
    ------
    SpecError
        If there is not one letter f or O a level.
    """
    if modes is None:
        return default_modes(network)
    if len(modes) != len(network.levels) or set(modes) - set("fO"):
        raise SpecError(
            f"modes of {network.spec} must be {len(network.levels)} letters f or O, level {len(network.levels)} first, "
            f"not {modes!r}"
        )
    return modes


@dataclass(frozen=True)
class _Step:
    """What one level of the recursion decides: the ports taken, the class bits of each, and whether it has arrived."""

    matched: Term
    take: Mapping[int, Term]
    class_bits: Mapping[int, list[Term]]


class _Builder:
    def __init__(self, network: Network, modes: str) -> None:
        self.network, self.circuit = network, Circuit()
        self.mode_of = dict(zip(range(len(modes), 0, -1), modes, strict=True))
        self.cur = [self.circuit.input(f"cur{i}", radix) for i, radix in enumerate(network.radices)]
        self.dst = [self.circuit.input(f"dst{i}", radix) for i, radix in enumerate(network.radices)]
        self.cross_port = {port.level: index for index, port in enumerate(network.ports) if port.level}

    def equal(self, pairs: Sequence[tuple[Term, Term]]) -> Term:
        return self.circuit.all_of(one.eq(other) for one, other in pairs)

    def hop(self, level: int, target: Mapping[int, Term], care: Sequence[Term]) -> _Step:
        """Decide on the digits of one level; `target` maps digit positions to the digits wanted there."""
        if level == 0:
            return self.base_hop(target, care)
        return (self.fast_hop if self.mode_of[level] == "f" else self.ordered_hop)(level, target, care)

    def inner_target(self, level: int, same: Term, target: Mapping[int, Term]) -> dict[int, Term]:
        """Where the inner part must go: to the target's own inner part, or to the super-node that leads there."""
        layout = self.network.levels[level - 1]
        result = {position: term for position, term in target.items() if position > layout.class_digit}
        for cluster, inner in zip(layout.cluster, layout.super_node, strict=True):
            del result[cluster]
            result[inner] = same.mux(target[inner], target[cluster])
        return result

    def fast_hop(self, level: int, target: Mapping[int, Term], care: Sequence[Term]) -> _Step:
        layout = self.network.levels[level - 1]
        same = self.cur[layout.class_digit].eq(target[layout.class_digit])
        final = same & self.equal([(self.cur[position], target[position]) for position in layout.cluster])
        first = same & ~final
        inside = layout.super_node_factors
        cares = [final & cared if factor in inside else ~final | cared for factor, cared in enumerate(care)]
        inner = self.hop(level - 1, self.inner_target(level, same, target), cares)
        take = {port: taken & ~first for port, taken in inner.take.items()}
        take[self.cross_port[level]] = first | (~same & inner.matched)
        # After the last crossing the class bits are equal, and differ before it; a crossing is the last if they differ.
        bits = {port: [same, *lower] for port, lower in inner.class_bits.items()}
        bits[self.cross_port[level]] = [~same]
        return _Step(final & inner.matched, take, bits)

    def ordered_hop(self, level: int, target: Mapping[int, Term], care: Sequence[Term]) -> _Step:
        layout, cur, circuit = self.network.levels[level - 1], self.cur, self.circuit
        in_1, to_1 = cur[layout.class_digit], target[layout.class_digit]
        same = in_1.eq(to_1)
        cared = dict(zip(self.network.base_digits, care, strict=True))
        passive, active, to_cluster, to_inner = circuit.constant(1), circuit.constant(1), circuit.constant(1), []
        cross_passive = circuit.constant(1)
        for cluster, inner in zip(layout.cluster, layout.super_node, strict=True):
            ignored = ~cared.get(inner, circuit.constant(1))
            passive &= cur[cluster].eq(target[cluster])
            active &= cur[inner].eq(target[inner]) | ignored
            to_cluster &= cur[inner].eq(target[cluster])
            cross_passive &= cur[cluster].eq(target[inner]) | ignored
        ok_active, ok_passive = same.mux(active, to_cluster), same.mux(passive, cross_passive)
        ok_0, ok_1 = in_1.mux(ok_passive, ok_active), in_1.mux(ok_active, ok_passive)
        for factor in layout.super_node_factors:
            position = self.network.base_digits[factor]
            to_inner.append(cur[position].eq(target[position]) | ~care[factor])
        ok_node = circuit.all_of(to_inner)
        cross = in_1.mux(~ok_0 | (ok_1 & ok_node & ~to_1), ok_0 & (~ok_1 | to_1))
        matched = same & ok_0 & ok_1 & ok_node
        with_node = in_1 | ok_0 | (~to_1 & ok_1)
        cares = [
            with_node & term if factor in layout.super_node_factors else ~same | term
            for factor, term in enumerate(care)
        ]
        inner_step = self.hop(level - 1, self.inner_target(level, same, target), cares)
        take = {port: taken & ~cross & ~matched for port, taken in inner_step.take.items()}
        take[self.cross_port[level]] = cross
        bits = dict(inner_step.class_bits)
        # From class 1 the crossing is the final one if class 0 is finished; one cluster a class has no other.
        bits[self.cross_port[level]] = [in_1 & ok_0] if layout.cluster else []
        return _Step(matched, take, bits)

    def base_hop(self, target: Mapping[int, Term], care: Sequence[Term]) -> _Step:
        """Dimension order over the cared digits that differ."""
        take: dict[int, Term] = {}
        bits: dict[int, list[Term]] = {}
        free = self.circuit.constant(1)
        for factor, position in enumerate(self.network.base_digits):
            x, t = self.cur[position], target[position]
            chosen = free & care[factor] & ~x.eq(t)
            free &= ~care[factor] | x.eq(t)
            directions, half = self.directions(self.network.factors[factor], x, t)
            for port, description in enumerate(self.network.ports):
                if description.level == 0 and description.factor == factor:
                    take[port] = chosen & directions[description.step]
                    bits[port] = half
        return _Step(free, take, bits)

    def directions(self, factor: Factor, x: Term, t: Term) -> tuple[dict[int, Term], list[Term]]:
        """Return step -> whether it is the one to take from digit x to another digit t, and the class bit of a ring."""
        n, circuit = factor.size, self.circuit
        if factor.is_edge:
            return {1: circuit.constant(1)}, []
        if factor.kind == "path":
            return {1: x.lt(t), -1: ~x.lt(t)}, []
        ahead = t.submod(x, n)
        if factor.kind == "complete":
            return {step: ahead.eq(circuit.constant(step)) for step in range(1, n)}, []
        plus = ahead.lt(circuit.constant((n + 1) // 2))
        if n % 2 == 0:
            plus |= ahead.eq(circuit.constant(n // 2)) & ~x.odd()
        # No shortest way to one half of a ring leaves that half for the other one: there each class has its dateline.
        half = [~t.lt(circuit.constant(n // 2))] if n >= DATELINE_RING else []
        return {1: plus, -1: ~plus}, half


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
        If `modes` does not fit the network, there cannot be so many lanes, or a router would have too many ports.
    """
    if len(network.ports) > MAX_PORTS:
        raise SpecError(
            f"a router must have at most {MAX_PORTS} network ports; {network.spec} has {len(network.ports)}"
        )
    if lanes not in (1, 2):
        raise SpecError(f"lanes must be 1 or 2, not {lanes}")
    letters = check_modes(network, modes)
    builder = _Builder(network, letters)
    circuit = builder.circuit
    everything = [circuit.constant(1)] * len(network.factors)
    step = builder.hop(len(network.levels), dict(enumerate(builder.dst)), everything)
    ports = range(len(network.ports))
    widths = [len(step.class_bits[port]) for port in ports]
    vc = [_class_bit(circuit, step, [port for port in ports if widths[port] > bit], bit) for bit in range(max(widths))]
    if lanes == 2:
        vc.insert(0, _parity([digit.odd() for digit in builder.dst]))
    take = tuple(step.take[port] for port in ports)
    num_vcs = tuple(lanes << width for width in widths)
    return HopRule(network, letters, circuit, take, step.matched, tuple(vc), num_vcs, lanes)


def _parity(bits: Sequence[Term]) -> Term:
    """Return whether an odd number of `bits` are set."""
    if len(bits) == 1:
        return bits[0]
    half = len(bits) // 2
    one, other = _parity(bits[:half]), _parity(bits[half:])
    return one.mux(~other, other)


def _class_bit(circuit: Circuit, step: _Step, ports: Sequence[int], bit: int) -> Term:
    """Join one class bit over the ports that have it; ports that agree on it share one term."""
    groups: dict[int, list[int]] = {}
    for port in ports:
        groups.setdefault(step.class_bits[port][-1 - bit].index, []).append(port)
    if len(groups) == 1 and len(ports) == len(step.take):
        return circuit.term(next(iter(groups)))
    return circuit.any_of(
        circuit.any_of(step.take[port] for port in members) & circuit.term(index) for index, members in groups.items()
    )
