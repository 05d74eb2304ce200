"""The hop-by-hop rule of products and dual-nets and its buffer classes.

Modes and classes are those of the design: a level in mode ``f`` routes as docs/networks.md says and is in one
of two phases, before or after its last crossing; a level in mode ``O`` finishes its class-0 part before its class-1
part. The virtual channel of a hop is read from (current node, destination) alone.
"""

from collections.abc import Mapping, Sequence

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.step import Step, product_step, step_of
from hdnhw.topology.dualnet import DualNetwork
from hdnhw.topology.levels import LeveledNetwork
from hdnhw.topology.recursive import RecursiveDualNetwork


def default_modes(network: LeveledNetwork) -> str:
    """Return ``O..Of``, two classes on any channel: f on the lowest level that has several clusters a class."""
    letters = ["O"] * len(network.levels)
    for index, level in enumerate(network.levels):
        if level.cluster:
            letters[index] = "f"
            break
    return "".join(reversed(letters))


def is_taken_last(network: LeveledNetwork, level: int, port: int) -> bool:
    """Return whether packets take a port only after their last crossing of a level in mode f, so need no class for it.

    They move in a super-node then. A level below, of whose super-nodes the port's factor is none, uses it before.
    """
    factor = network.ports[port].factor
    return all(factor in layout.super_node_factors for layout in network.levels[:level])


class _Builder:
    def __init__(
        self, network: DualNetwork | RecursiveDualNetwork, modes: str, circuit: Circuit, cur: Sequence[Term]
    ) -> None:
        self.network, self.circuit, self.cur = network, circuit, cur
        self.mode_of = dict(zip(range(len(modes), 0, -1), modes, strict=True))
        self.cross_port = {port.level: index for index, port in enumerate(network.ports) if port.level}

    def equal(self, pairs: Sequence[tuple[Term, Term]]) -> Term:
        return self.circuit.all_of(one.eq(other) for one, other in pairs)

    def hop(self, level: int, target: Mapping[int, Term], care: Sequence[Term]) -> Step:
        """Decide on the digits of one level; `target` maps digit positions to the digits wanted there."""
        if level == 0:
            places = self.network.base_digits
            base, wanted = [self.cur[place] for place in places], [target[place] for place in places]
            if isinstance(self.network, RecursiveDualNetwork):
                return step_of(self.circuit, self.network.base, base, wanted)
            return product_step(self.circuit, self.network, base, wanted, care)
        return (self.fast_hop if self.mode_of[level] == "f" else self.ordered_hop)(level, target, care)

    def inner_target(self, level: int, same: Term, target: Mapping[int, Term]) -> dict[int, Term]:
        """Where the inner part must go: to the target's own inner part, or to the super-node that leads there."""
        layout = self.network.levels[level - 1]
        result = {position: term for position, term in target.items() if position > layout.class_digit}
        for cluster, inner in zip(layout.cluster, layout.super_node, strict=True):
            del result[cluster]
            result[inner] = same.mux(target[inner], target[cluster])
        return result

    def fast_hop(self, level: int, target: Mapping[int, Term], care: Sequence[Term]) -> Step:
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
        bits = {
            port: lower if is_taken_last(self.network, level, port) else [same, *lower]
            for port, lower in inner.class_bits.items()
        }
        bits[self.cross_port[level]] = [~same] if layout.cluster else []  # one cluster a class has no other crossing
        return Step(final & inner.matched, take, bits)

    def ordered_hop(self, level: int, target: Mapping[int, Term], care: Sequence[Term]) -> Step:
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
        # From class 1 the crossing is the final one if class 0 is finished.
        bits[self.cross_port[level]] = [in_1 & ok_0] if layout.cluster else []
        return Step(matched, take, bits)


def dual_step(
    circuit: Circuit,
    network: DualNetwork | RecursiveDualNetwork,
    cur: Sequence[Term],
    dst: Sequence[Term],
    modes: str,
) -> Step:
    """Decide on a hop of a product or dual-net in these modes."""
    everything = [circuit.constant(1)] * network.base_width
    return _Builder(network, modes, circuit, cur).hop(len(network.levels), dict(enumerate(dst)), everything)
