"""A rank of every virtual channel that grows along every route: the proof for networks too large to enumerate.

The rank of a hop is the tuple (r_k, ..., r_m, position in the base network). On a level in mode f, the first crossing
has 0, a hop before the last crossing 1, the last crossing 2, a hop after it 3; in mode O, the initial crossing 1 -> 0
has 0, a hop in class 0 1, the crossing 0 -> 1 2, a hop in class 1 3, the final crossing 1 -> 0 4. It is read from the
channel and its class only, never from the destination, so a rank that always grows makes the dependency graph
acyclic. An SMT solver (z3) decides, over all current nodes and destinations at once, that no hop has a successor of
equal or lower rank.
"""

from collections.abc import Callable, Sequence
from typing import Any

import z3

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.circuits.dual import is_taken_last
from hdnhw.circuits.step import DATELINE_RING
from hdnhw.rules.hop import HopRule
from hdnhw.topology.dualnet import DualNetwork, dual_network
from hdnhw.topology.levels import DualPort

WORD = 40
"""Bits of the solver's integers: enough for any digit and any rank."""


def channel_rank(circuit: Circuit, network: DualNetwork, modes: str, number: int) -> Term:
    """Return the rank of the class ``vc`` of port `number` at the node ``cur``.

    The circuit's inputs are the digits ``cur0``, ... and the class's bits ``vc0``, ..., least significant first.
    """
    mode_of = dict(zip(range(len(modes), 0, -1), modes, strict=True))
    port = network.ports[number]
    f_above = [level for level in range(len(modes), port.level, -1) if mode_of[level] == "f"]
    told = [level for level in f_above if not is_taken_last(network, level, number)]
    own = _own_bits(network, port)
    bits = [circuit.input(f"vc{weight}", 2) for weight in reversed(range(len(told) + own))]
    phase = dict.fromkeys(f_above, circuit.constant(1)) | dict(zip(told, bits, strict=False))
    rank = circuit.constant(0)
    for level in range(len(modes), 0, -1):
        step = circuit.constant(0)
        in_1 = circuit.input(f"cur{network.levels[level - 1].class_digit}", 2)
        if level > port.level:
            step = phase.get(level, in_1).mux(circuit.constant(3), circuit.constant(1))
        elif level == port.level:
            step = _crossing_rank(circuit, mode_of[level], in_1, bits[-1] if own else None)
        rank = _append(circuit, rank, step, 5)
    position, span = circuit.constant(0), max((factor.size for factor in network.factors), default=1)
    if port.level == 0:
        digit = circuit.input(f"cur{network.base_digits[port.factor]}", network.factors[port.factor].size)
        position = _ring_position(circuit, network, port, digit, bits[-1] if own else None)
        position = position + circuit.constant(span * port.factor)
    return _append(circuit, rank, position, span * len(network.factors))


def _own_bits(network: DualNetwork, port: DualPort) -> int:
    """Return how many class bits the port has of its own: a crossing's phase or the half of a ring."""
    if port.level:
        return 1 if network.levels[port.level - 1].cluster else 0
    factor = network.factors[port.factor]
    return 1 if factor.kind == "cycle" and factor.size >= DATELINE_RING else 0


def _append(circuit: Circuit, rank: Term, step: Term, radix: int) -> Term:
    """Return ``rank * radix + step``, by doubling."""
    scaled = circuit.constant(0)
    for digit in f"{radix:b}":
        scaled = scaled + scaled
        if digit == "1":
            scaled = scaled + rank
    return scaled + step


def _crossing_rank(circuit: Circuit, mode: str, in_1: Term, bit: Term | None) -> Term:
    zero, two, four = circuit.constant(0), circuit.constant(2), circuit.constant(4)
    if mode == "f":
        return bit.mux(two, zero) if bit else two
    return in_1.mux(bit.mux(four, zero) if bit else four, two)


def _ring_position(circuit: Circuit, network: DualNetwork, port: DualPort, digit: Term, half: Term | None) -> Term:
    """Return where a channel stands along its ring, counted from behind the one that leaves the half."""
    factor = network.factors[port.factor]
    n = factor.size
    if factor.kind == "complete" or (n < 4 and factor.kind == "cycle") or n == 2:
        return circuit.constant(0)
    if factor.kind == "cycle" and n == 4:
        odd = digit.eq(circuit.constant(1)) | digit.eq(circuit.constant(3))
        return odd if port.step == 1 else ~odd
    up, down, middle = digit, circuit.constant(n - 1) - digit, n // 2
    if half is None:
        return up if port.step == 1 else down
    if port.step == 1:
        return half.mux(up, digit.submod(circuit.constant(middle), n))
    return half.mux(circuit.constant(middle - 1).submod(digit, n), down)


def _truth(value: Any) -> Any:
    return value if z3.is_bool(value) else value == 1


def _number(value: Any) -> Any:
    return z3.If(value, z3.BitVecVal(1, WORD), z3.BitVecVal(0, WORD)) if z3.is_bool(value) else value


_Z3_OPERATIONS: dict[str, Callable[..., Any]] = {
    "and": lambda a, b: z3.And(_truth(a), _truth(b)),
    "or": lambda a, b: z3.Or(_truth(a), _truth(b)),
    "not": lambda a: z3.Not(_truth(a)),
    "eq": lambda a, b: _number(a) == _number(b),
    "lt": lambda a, b: _number(a) < _number(b),
    "add": lambda a, b: _number(a) + _number(b),
    "sub": lambda a, b: _number(a) - _number(b),
    "submod": lambda a, b, n: z3.If(_number(a) >= _number(b), _number(a) - _number(b), _number(a) - _number(b) + n),
    "odd": lambda a: z3.Extract(0, 0, _number(a)) == 1,
    "mux": lambda condition, a, b: z3.If(_truth(condition), _number(a), _number(b)),
}


def _run(circuit: Circuit, outputs: Sequence[Term], inputs: dict[str, Any]) -> list[Any]:
    return circuit.run(outputs, inputs.__getitem__, _Z3_OPERATIONS, lambda value: z3.BitVecVal(value, WORD))


def _decide(rule: HopRule, network: DualNetwork, cur: Sequence[Any], dst: Sequence[Any]) -> tuple[Any, list[Any], Any]:
    """Return (arrived, one truth value a port, rank) of the hop from `cur` towards `dst`."""
    digits = {f"cur{i}": value for i, value in enumerate(cur)} | {f"dst{i}": value for i, value in enumerate(dst)}
    values = [_truth(value) for value in _run(rule.circuit, [rule.arrived, *rule.take, *rule.vc], digits)]
    take, vc = values[1 : 1 + len(rule.take)], values[1 + len(rule.take) :]
    classes = vc[(rule.lanes - 1).bit_length() :]  # a route keeps to one lane
    known = digits | {f"vc{weight}": bit for weight, bit in enumerate(classes)}
    rank: Any = z3.BitVecVal(0, WORD)
    for number, taken in enumerate(take):
        circuit = Circuit()
        own = channel_rank(circuit, network, rule.modes, number)
        rank = z3.If(taken, _number(_run(circuit, [own], known)[0]), rank)
    return values[0], take, rank


def _moved(network: DualNetwork, cur: Sequence[Any], take: Sequence[Any]) -> list[Any]:
    """Return the digits after the hop that `take` selects."""
    result = list(cur)
    for taken, port in zip(take, network.ports, strict=True):
        after = list(cur)
        if port.level:
            level = network.levels[port.level - 1]
            after[level.class_digit] = 1 - cur[level.class_digit]
            for cluster, inner in zip(level.cluster, level.super_node, strict=True):
                after[cluster], after[inner] = cur[inner], cur[cluster]
        else:
            position, n = network.base_digits[port.factor], network.factors[port.factor].size
            step = port.step % n
            after[position] = z3.If(cur[position] + step >= n, cur[position] + step - n, cur[position] + step)
        result = [z3.If(taken, new, old) for new, old in zip(after, result, strict=True)]
    return result


def _missing_port(network: DualNetwork, cur: Sequence[Any], take: Sequence[Any]) -> Any:
    """Return whether the hop runs off the end of a path."""
    off = []
    for taken, port in zip(take, network.ports, strict=True):
        if port.level == 0 and network.factors[port.factor].kind == "path" and network.factors[port.factor].size > 2:
            end = network.factors[port.factor].size - 1 if port.step == 1 else 0
            off.append(z3.And(taken, cur[network.base_digits[port.factor]] == end))
    return z3.Or(*off)


def prove_ranks_grow(rule: HopRule) -> str | None:
    """Decide for all pairs of nodes at once that every hop is valid and that ranks grow along every route.

    Returns
    -------
    str or None
        None if proved; else a counterexample in words.

    Raises
    ------
    KeyboardInterrupt
        If SIGINT came meanwhile: z3 takes it for itself.
    MemoryError
        If z3 gives up.
    """
    network = dual_network(rule.network, "a proof by ranks")
    cur = [z3.BitVec(f"cur{i}", WORD) for i in range(len(network.radices))]
    dst = [z3.BitVec(f"dst{i}", WORD) for i in range(len(network.radices))]
    solver = z3.Solver()
    for side in (cur, dst):
        for digit, radix in zip(side, network.radices, strict=True):
            solver.add(z3.ULT(digit, radix))
    arrived, take, rank = _decide(rule, network, cur, dst)
    arrived_next, _, rank_next = _decide(rule, network, _moved(network, cur, take), dst)
    equal = z3.And(*(one == other for one, other in zip(cur, dst, strict=True)))
    one_port = z3.PbEq([(value, 1) for value in (arrived, *take)], 1)
    grows = z3.Or(arrived, arrived_next, rank < rank_next)
    solver.add(z3.Not(z3.And(arrived == equal, one_port, z3.Not(_missing_port(network, cur, take)), grows)))
    found = solver.check()
    if found == z3.unsat:
        return None
    if found == z3.unknown:
        raise KeyboardInterrupt if "keyboard" in solver.reason_unknown() else MemoryError(solver.reason_unknown())
    model = solver.model()
    pair = [
        network.encode(tuple(model.eval(digit, model_completion=True).as_long() for digit in side))
        for side in (cur, dst)
    ]
    return f"the hop at node {pair[0]} towards {pair[1]} is invalid or does not raise the rank"
