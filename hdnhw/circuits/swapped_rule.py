"""The rule of hierarchical swapped networks: the highest level that differs first."""

from collections.abc import Sequence

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.dual import default_modes
from hdnhw.circuits.step import Step, bits_of_number, count, step_of
from hdnhw.support.errors import SpecError
from hdnhw.topology.levels import LeveledNetwork
from hdnhw.topology.swapped import SwappedNetwork


def swapped_step(
    circuit: Circuit, network: SwappedNetwork, cur: Sequence[Term], dst: Sequence[Term], _modes: str
) -> Step:
    """Decide by the recursive routing of the HSN paper, section 2.3.

    Where X_i is the highest digit that differs, it goes within the nucleus to Y_i and over the level-i link; where
    only X_1 does, to Y_1. A hop in a nucleus is of class l - i, with the nucleus's own classes; links need one class.
    The levels fall along a route, so that nothing waits for what came before it. Diameter links carry nothing. A
    dual-net that is the nucleus is in its default modes.

    Raises
    ------
    SpecError
        If the top digit is over a divisor that is not made of digits of the nucleus.
    """
    if not network.top_digits:
        raise SpecError(
            f"no table-free routing rule is known for {network.spec}: {network.spec.top} top clusters are not counted "
            f"by whole digits of {network.spec.nucleus}"
        )
    levels, own = network.spec.levels, [cur[place] for place in network.places[1]]
    target, same = [dst[place] for place in network.places[1]], {}
    for level in range(2, levels + 1):
        wanted = [dst[place] for place in network.places[level]]
        same[level] = circuit.all_of(cur[place].eq(t) for place, t in zip(network.places[level], wanted, strict=True))
        target = _with_top(circuit, network, level, same[level], wanted, target)
    modes = default_modes(network.nucleus) if isinstance(network.nucleus, LeveledNetwork) else ""
    inner = step_of(circuit, network.nucleus, own, target, modes)
    phase, above = {}, circuit.constant(1)
    for level in range(levels, 1, -1):
        phase[levels - level] = above & ~same[level]
        above &= same[level]
    phase[levels - 1] = above
    number = bits_of_number(circuit, phase)
    ports = len(network.nucleus.ports)
    take = dict(inner.take)
    bits = {port: [*number, *lower] for port, lower in inner.class_bits.items()}
    for level in range(2, levels + 1):
        take[ports + level - 2] = phase[levels - level] & inner.matched
        bits[ports + level - 2] = []
    step = Step(above & inner.matched, take, bits)
    return _with_complement(circuit, network, cur, dst, step) if network.spec.complement_links else step


def _with_top(
    circuit: Circuit, network: SwappedNetwork, level: int, same: Term, wanted: Sequence[Term], target: Sequence[Term]
) -> list[Term]:
    """Return the nucleus node to go to where X_i may differ but none above; `target` is that of one level below."""
    own, inner = network.places[level], network.places[1]
    result = list(target)
    for back, (place, t) in enumerate(zip(reversed(own), reversed(wanted), strict=True), start=1):
        radix, size = network.radices[place], network.radices[inner[-back]]
        if radix < size:  # the leading digit of the top, which is the rest of a nucleus digit
            whole = circuit.constant(0)
            for first in range(radix, size, radix):
                whole = (~result[-back].lt(circuit.constant(first))).mux(circuit.constant(first), whole)
            t = whole + t
        result[-back] = same.mux(result[-back], t)
    return result


def _with_complement(
    circuit: Circuit, network: SwappedNetwork, cur: Sequence[Term], dst: Sequence[Term], step: Step
) -> Step:
    """Take the link to the complement first where the route from there is shorter, if the top digit differs.

    It is the first hop of a route, or, where it leads to the cluster of the destination, follows hops of class 0 alone;
    then it is of class 1.
    """
    top, last = network.places[network.spec.levels], len(network.ports) - 1
    here, there = (_length(circuit, network, side, dst) for side in (cur, [~digit for digit in cur]))
    differs = ~circuit.all_of(cur[place].eq(dst[place]) for place in top)
    opposite = circuit.all_of(~cur[place].eq(dst[place]) for place in top)
    chosen = differs & (there + circuit.constant(1)).lt(here)
    if network.spec.levels == 2:  # a node that swap2 leads to its complement has no other link there
        pairs = zip(top, network.places[1], strict=True)
        chosen &= ~circuit.all_of(~cur[place].eq(cur[inner]) for place, inner in pairs)
    take = {port: taken & ~chosen for port, taken in step.take.items()}
    return Step(step.matched, take | {last: chosen}, {**step.class_bits, last: [opposite]})


def _length(circuit: Circuit, network: SwappedNetwork, cur: Sequence[Term], dst: Sequence[Term]) -> Term:
    """Return the hops of the route over a cube nucleus without complements."""
    position, total = [cur[place] for place in network.places[1]], circuit.constant(0)
    for level in range(network.spec.levels, 1, -1):
        own, wanted = ([side[place] for place in network.places[level]] for side in (cur, dst))
        same = circuit.all_of(x.eq(t) for x, t in zip(own, wanted, strict=True))
        total = total + same.mux(circuit.constant(0), _differing(circuit, position, wanted) + circuit.constant(1))
        position = [same.mux(x, y) for x, y in zip(position, own, strict=True)]
    return total + _differing(circuit, position, [dst[place] for place in network.places[1]])


def _differing(circuit: Circuit, one: Sequence[Term], other: Sequence[Term]) -> Term:
    return count(circuit, [~x.eq(y) for x, y in zip(one, other, strict=True)])
