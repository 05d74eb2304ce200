"""Table-free route computation, elaborated from the plan's circuit."""

from collections.abc import Callable
from functools import partial
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import UNINITIALIZED, below
from hdnhw.rtl.circuit import OPERATIONS
from hdnhw.rules.plan import RoutingPlan
from hdnhw.topology.address import AddressLayout

_DEPTH = {"eq": 2, "lt": 2, "add": 2, "submod": 3, "mux": 2, "and": 1, "or": 1}
"""Roughly, the depth of the logic of an operation; 0 for the others."""

_DEPTHS = {name: partial(lambda depth, *args: max(args) + depth, _DEPTH.get(name, 0)) for name in OPERATIONS}


class RouteUnit(wiring.Component):
    """The next hop from one node towards a destination.

    Parameters
    ----------
    plan : RoutingPlan
    registered : bool
        Whether a register cuts the logic: the outputs are those of the destination a cycle before. Otherwise it is
        combinational.
    moves : bool
        Whether `cur` comes with each destination; otherwise it stays the same while a route is computed, and registers
        need not follow it.
    behind : int
        Depth of the logic behind the outputs, in the cycle in which they are there: the register is in the middle of
        both.

    Members
    -------
    cur : In(address width)
        The router's own packed address.
    dst : In(address width)
        The packed destination.
    take : Out(ports + 1)
        One-hot: the output port, ejection last. Meaningless for an impossible destination.
    vc : Out
        Virtual channel of the hop, one bit wide at least.
    possible : Out(1)
        Whether `dst` names a node.
    """

    def __init__(self, plan: RoutingPlan, *, registered: bool = False, moves: bool = False, behind: int = 0) -> None:
        self._plan, self._registered, self._moves, self._depth_behind = plan, registered, moves, behind
        width = plan.address.width
        super().__init__(
            {
                "cur": In(width),
                "dst": In(width),
                "take": Out(len(plan.network.ports) + 1),
                "vc": Out(max(1, len(plan.circuit_rule.vc))),
                "possible": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        rule, layout = self._plan.circuit_rule, self._plan.address
        sides = {"cur": self.cur, "dst": self.dst}

        def digit(name: str) -> _Wire:
            field, moves = layout.fields[int(name[3:])], self._moves or name.startswith("dst")
            return _Wire(sides[name[:3]][field.offset : field.offset + field.width], 0, moves)

        outputs = [*rule.take, rule.arrived, *rule.vc]
        deepest = max(rule.circuit.run(outputs, lambda _: 0, _DEPTHS, lambda _: 0))
        middle = min(deepest, (deepest + self._depth_behind) // 2) if self._registered else deepest
        operations = {name: _gate(m, name, middle) for name in OPERATIONS}
        wires = rule.circuit.run(outputs, digit, operations, lambda value: _Wire(Const(value), 0, False))
        values = [wire.behind(m) if self._registered and wire.depth <= middle else wire.value for wire in wires]
        ports = len(rule.take) + 1
        m.d.comb += [self.take.eq(Cat(values[:ports])), self.vc.eq(Cat(values[ports:]))]
        m.d["sync" if self._registered else "comb"] += self.possible.eq(is_node(layout, self.dst))
        return m


def is_node(layout: AddressLayout, address: Value) -> Value:
    """Return whether a packed address names a node."""
    fits = [
        below(address[field.offset : field.offset + field.width], field.radix)
        for field in layout.fields
        if field.radix != 1 << field.width
    ]
    return Cat(fits).all() if fits else Const(1)


class _Wire:
    """The output of a gate.

    Attributes
    ----------
    value : Value
    depth : int
        Depth of the logic in front of it.
    moves : bool
        Whether it depends on the destination, or on what comes with it.
    """

    def __init__(self, value: Value, depth: int, moves: bool) -> None:
        self.value, self.depth, self.moves = value, depth, moves
        self._behind: Value | None = None

    def behind(self, m: Module) -> Value:
        """Return the value behind a register; itself if it stands still."""
        if not self.moves:
            return self.value
        if self._behind is None:
            self._behind = Signal(self.value.shape(), name="middle", reset_less=True, attrs={UNINITIALIZED: 1})
            m.d.sync += self._behind.eq(self.value)
        return self._behind


def _gate(m: Module, name: str, middle: int) -> Callable[..., _Wire]:
    """Return an operation on wires: a gate deeper than `middle` reads the others behind a register."""

    def gate(*args: _Wire) -> _Wire:
        depth = max(wire.depth for wire in args) + _DEPTH.get(name, 0)
        late = depth > middle
        value = OPERATIONS[name](*(arg.behind(m) if late and arg.depth <= middle else arg.value for arg in args))
        wire = Signal(value.shape(), name="gate")
        m.d.comb += wire.eq(value)
        return _Wire(wire, depth, any(arg.moves for arg in args))

    return gate
