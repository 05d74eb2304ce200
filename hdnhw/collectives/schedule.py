"""Schedules: which node sends which messages over which port, step by step, as one circuit of addresses.

All nodes go through the same steps at once. A step has one send or several, each a port and a condition; in a step, a
node sends over that port the messages that it holds and for which the condition is true. The condition is arithmetic on
digits alone: those of the node, of the message's source and of its destination. So a node knows

- the step, by counting: there is no other control;
- the port, from the step;
- the messages, from its own address and the two in the header of each; of these it needs only what
  :attr:`Schedule.reads` names.

Conditions are terms of one :class:`hdnhw.circuits.circuit.Circuit`, as the hop rule is: the executor compiles them, and
hardware can elaborate them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.spec import Factor
from hdnhw.support.errors import SpecError
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.graph import Network
from hdnhw.topology.levels import Level
from hdnhw.topology.swapped import SwappedNetwork

Target = Mapping[int, Term]
"""The digits of a node of some level, by their positions in a node of the whole network."""

Sends = list[tuple[int, Term]]
"""Of one step in a factor: (what is added to its digit, condition)."""


@dataclass(frozen=True)
class Send:
    """What all nodes may do in a step.

    Attributes
    ----------
    port : int
        Index of the network port.
    when : Term
        1 for the messages that a node sends, with inputs ``own0``, ... (digits of the node), ``src0``, ... and
        ``dst0``, ... (digits of the message's source and destination).
    """

    port: int
    when: Term


@dataclass(frozen=True)
class Step:
    """One start-up of every node that sends.

    Attributes
    ----------
    stage : str
        What it belongs to: ``cross2`` or ``swap2``, or ``dim0`` for factor 0 of the base network or nucleus.
    sends : tuple of Send
        Of distinct ports.
    """

    stage: str
    sends: tuple[Send, ...]

    def __post_init__(self) -> None:
        if len({send.port for send in self.sends}) != len(self.sends):
            raise ValueError(f"ports of a step must be distinct, not {[send.port for send in self.sends]}")


@dataclass(frozen=True, eq=False)
class Schedule:
    """A collective operation on a network.

    Attributes
    ----------
    network : Network
    name : str
        For example ``cluster-first``.
    circuit : Circuit
        Of all conditions.
    steps : tuple of Step
    copies : bool
        Whether a node keeps what it sends (broadcast, all-gather) or hands it on.
    root : int or None
        The only source, or the only destination (gather, reduce); None if every node is one.
    combines : bool
        Whether messages for the same destination are combined where they meet (reduce, reduce-scatter): a node has one
        partial result for each destination, and no condition reads a source.
    to_root : bool
        Whether the root is the only destination, not the only source.
    merges : bool
        Whether a node's messages are one as long as they go the same way (multicast).
    """

    network: Network
    name: str
    circuit: Circuit
    steps: tuple[Step, ...]
    copies: bool
    root: int | None = None
    combines: bool = False
    to_root: bool = False
    merges: bool = False

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Addresses that some condition depends on, of ``own``, ``src`` and ``dst``."""
        conditions = [send.when for step in self.steps for send in step.sends]
        gates = [self.circuit.gates[index] for index in self.circuit.needed(conditions)]
        names = {str(gate.value)[:3] for gate in gates if gate.op == "input"}
        return tuple(name for name in ("own", "src", "dst") if name in names)

    def ports_of(self, step: int, node: int, src: int, dst: int) -> tuple[int, ...]:
        """Return the ports over which `node` sends the message of `src` for `dst` in a step, if it holds it."""
        sends = self.steps[step].sends
        inputs: dict[str, int] = {}
        for name, number in (("own", node), ("src", src), ("dst", dst)):
            digits = self.network.decode(self.network.check_node(number))
            inputs |= {f"{name}{position}": digit for position, digit in enumerate(digits)}
        values = self.circuit.run([send.when for send in sends], inputs.__getitem__)
        return tuple(send.port for send, value in zip(sends, values, strict=True) if value)


class Builder:
    """What the makers of schedules share: digits, levels and ports.

    Parameters
    ----------
    network : Network
    all_port : bool
        Whether a node may use all its ports in a step, or one to send and one to receive.

    Attributes
    ----------
    base : DualNetwork
        A product or dual-net itself; the nucleus of an HSN.
    base_digits : range
        Positions of its base digits.
    levels : tuple of Level
        Of a dual-net.
    swaps : tuple of int
        Levels of an HSN that have a link, the highest first.
    own, src, dst : dict of int to Term
        Digits by position.

    Raises
    ------
    SpecError
        If the network is neither, or an HSN of another nucleus, or over a divisor that is not made of its digits.
    """

    def __init__(self, network: Network, *, all_port: bool) -> None:
        self.base, self.base_digits = _base_of(network)
        self.levels: tuple[Level, ...] = network.levels if isinstance(network, DualNetwork) else ()
        self._places = network.places if isinstance(network, SwappedNetwork) else {}
        self.swaps = tuple(level for level in sorted(self._places, reverse=True) if level > 1)
        self.network = network
        self.all_port, self.circuit = all_port, Circuit()
        self.own, self.src, self.dst = (
            {place: self.circuit.input(f"{name}{place}", radix) for place, radix in enumerate(network.radices)}
            for name in ("own", "src", "dst")
        )
        self._ports = {port.name: index for index, port in enumerate(network.ports)}

    def constants(self, node: int) -> dict[int, Term]:
        """Return the digits of a node that is known."""
        return {place: self.circuit.constant(digit) for place, digit in enumerate(self.network.decode(node))}

    def schedule(self, name: str, steps: Sequence[Step], *, copies: bool, root: int | None = None) -> Schedule:
        """Return the schedule of these steps."""
        return Schedule(self.network, name, self.circuit, tuple(steps), copies, root)

    def behind(self, port: int, node: Target) -> tuple[dict[int, Term], Term]:
        """Return the digits of a node's neighbor behind a port, and whether there is one: a leader has no swap."""
        name, one, digits = self.network.ports[port].name, self.circuit.constant(1), dict(node)
        if name.startswith("cross"):
            layout = self.levels[int(name.removeprefix("cross")) - 1]
            digits[layout.class_digit] = ~node[layout.class_digit]
            for cluster, place in zip(layout.cluster, layout.super_node, strict=True):
                digits[cluster], digits[place] = node[place], node[cluster]
            return digits, one
        if name.startswith("swap"):
            level = int(name.removeprefix("swap"))
            digits |= self.brought(level, node, node)
            for place, inner in zip(self._places[level], self._facing(level), strict=True):
                digits[place] = node[inner].submod(self._block(place, inner, node), self.network.radices[inner])
            return digits, self.away(level, node)
        factor, step = self.base.ports[port].factor, self.base.ports[port].step
        place, kind = self.base_digits[factor], self.base.factors[factor]
        if kind.is_edge:
            return digits | {place: ~node[place]}, one
        moved = node[place].submod(self.circuit.constant(-step % kind.size), kind.size)
        end = self.circuit.constant(kind.size - 1 if step == 1 else 0)
        return digits | {place: moved}, ~node[place].eq(end) if kind.kind == "path" else one

    def equal(self, one: Target, other: Target, places: Sequence[int], others: Sequence[int] | None = None) -> Term:
        """Return whether `one` at `places` equals `other` at the same places, or at `others`."""
        pairs = zip(places, places if others is None else others, strict=True)
        return self.circuit.all_of(one[place].eq(other[there]) for place, there in pairs)

    def inner(self, level: int, same: Term, target: Target) -> dict[int, Term]:
        """Return the node of a level's clusters that stands for `target` in the own cluster.

        Where `same` is 1 that is its own inner part (c, U, I): I; elsewhere join(U, N(I)), whose cross-edge leads to
        the target's cluster, or comes from it.
        """
        layout = self.levels[level - 1]
        result = {place: term for place, term in target.items() if place > layout.class_digit}
        for cluster, place in zip(layout.cluster, layout.super_node, strict=True):
            del result[cluster]
            result[place] = same.mux(target[place], target[cluster])
        return result

    def cross(self, level: int, when: Term) -> Step:
        """Return the step over the cross-edges of a level."""
        return Step(f"cross{level}", (Send(self.cross_port(level), when),))

    def cross_port(self, level: int) -> int:
        """Return the port of the cross-edge of a level."""
        return self._ports[f"cross{level}"]

    def swap(self, level: int, when: Term) -> Step:
        """Return the step over the links of a level of an HSN; a leader has none and sends nothing."""
        return Step(f"swap{level}", (Send(self._ports[f"swap{level}"], when & self.away(level, self.own)),))

    def away(self, level: int, node: Target) -> Term:
        """Return whether a node's swap of a level leads to another one."""
        return ~self.equal(self.brought(level, node, node), node, self._facing(level))

    def matches(self, target: Target, levels: Iterable[int]) -> Term:
        """Return whether the own X_i are those of `target`."""
        return self.circuit.all_of(self.equal(self.own, target, self._places[level]) for level in levels)

    def brought(self, level: int, target: Target, rest: Target) -> dict[int, Term]:
        """Return the digits of X_i of `target`, at the positions of X_1; what it leaves open there is that of `rest`.

        It leaves nothing open but at the top, over a divisor: the first digits, and which block of the next one it is.
        """
        result = {inner: rest[inner] for inner in self.base_digits}
        for place, inner in zip(self._places[level], self._facing(level), strict=True):
            result[inner] = self._block(place, inner, rest) + target[place]
        return result

    def open_digits(self, level: int) -> frozenset[int]:
        """Return the positions of X_1 that X_i has no digits for."""
        return frozenset(self.base_digits) - set(self._facing(level))

    def same_block(self, level: int, target: Target) -> Term:
        """Return whether the own X_1 is in the block of that of `target`, where X_i is over a divisor of a digit."""
        pairs = zip(self._places[level], self._facing(level), strict=True)
        return self.circuit.all_of(
            self._block(place, inner, self.own).eq(self._block(place, inner, target)) for place, inner in pairs
        )

    def first_block(self, level: int) -> Term:
        """Return whether the own X_1 is in the first block of each digit that X_i is over a divisor of."""
        pairs = zip(self._places[level], self._facing(level), strict=True)
        return self.circuit.all_of(
            self.own[inner].lt(self.circuit.constant(self.network.radices[place])) for place, inner in pairs
        )

    def _facing(self, level: int) -> Sequence[int]:
        """Return the positions of X_1 that the digits of X_i change with."""
        return self.base_digits[-len(self._places[level]) :]

    def _block(self, place: int, inner: int, digits: Target) -> Term:
        """Return the first value of a digit's block, of as many values as the digit at `place` has."""
        radix, size = self.network.radices[place], self.network.radices[inner]
        result = self.circuit.constant(0)
        for first in range(radix, size, radix):
            first_value = self.circuit.constant(first)
            result = digits[inner].lt(first_value).mux(result, first_value)
        return result

    def inside(self, level: int) -> tuple[int, ...]:
        """Return the places of the base digits in SN^level."""
        first = self.base_digits[0]
        return tuple(first + factor for factor in self.levels[level - 1].super_node_factors)

    def port(self, factor: int, step: int) -> int:
        """Return the port that adds `step` to the digit of a factor."""
        kind = self.base.factors[factor]
        if kind.is_edge:
            return self._ports[f"dim{factor}"]
        if kind.kind == "complete":
            return self._ports[f"dim{factor}_by{step}"]
        return self._ports[f"dim{factor}_{'plus' if step == 1 else 'minus'}"]

    def base_steps(self, rule: Callable[[Factor, int], list[Sends]]) -> list[Step]:
        """Return the steps of all factors in their order.

        Parameters
        ----------
        rule : callable
            Takes a factor and the place of its digit; returns for each step the (digit step,
            condition) of its sends. A send whose condition is never true is left out, and so is a step of such sends.
        """
        steps = []
        for factor, kind in enumerate(self.base.factors):
            for sends in rule(kind, self.base_digits[factor]):
                real = tuple(Send(self.port(factor, by), when) for by, when in sends if when.constant != 0)
                if real:
                    steps.append(Step(f"dim{factor}", real))
        return steps

    def among(self, term: Term, values: Sequence[int]) -> Term:
        """Return whether a term has one of the values."""
        return self.circuit.any_of(term.eq(self.circuit.constant(value)) for value in values)


def _base_of(network: Network) -> tuple[DualNetwork, range]:
    if isinstance(network, DualNetwork):
        return network, network.base_digits
    if isinstance(network, SwappedNetwork):
        nucleus = network.nucleus
        if isinstance(nucleus, DualNetwork) and not nucleus.levels and network.top_digits:
            return nucleus, network.places[1]
    raise SpecError(
        f"a schedule in steps is for products, dual-nets over them, and HSNs of a product whose top clusters are "
        f"counted by its last digits; {network.spec} is none of them"
    )
