"""Table-free route computation, elaborated from the plan's circuit."""

from collections.abc import Callable, Mapping
from operator import and_, invert, or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.routing.plan import RoutingPlan
from hdnhw.rtl.bits import below, equals, subtract_modulo

__all__ = ["RouteUnit"]

_OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "and": and_,
    "or": or_,
    "not": invert,
    "eq": lambda a, b: equals(a, b.value) if isinstance(b, Const) else a == b,
    "lt": lambda a, b: below(a, b.value) if isinstance(b, Const) else a < b,
    "submod": lambda a, b, n: subtract_modulo(a, b, n.value),
    "odd": lambda a: a[0],
    "mux": Mux,
}


class RouteUnit(wiring.Component):
    """The next hop from one node towards a destination; combinational.

    Parameters
    ----------
    plan : RoutingPlan

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

    def __init__(self, plan: RoutingPlan) -> None:
        self._plan = plan
        width = plan.address.width
        super().__init__(
            {
                "cur": In(width),
                "dst": In(width),
                "take": Out(len(plan.network.ports) + 1),
                "vc": Out(max(1, len(plan.rule.vc))),
                "possible": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        rule, layout = self._plan.rule, self._plan.address
        sides = {"cur": self.cur, "dst": self.dst}

        def digit(name: str) -> Value:
            field = layout.fields[int(name[3:])]
            return sides[name[:3]][field.offset : field.offset + field.width]

        def shared(operation: Callable[..., Value]) -> Callable[..., Value]:
            def gate(*args: Value) -> Value:
                value = operation(*args)
                wire = Signal(value.shape(), name="gate")
                m.d.comb += wire.eq(value)
                return wire

            return gate

        operations = {name: shared(operation) for name, operation in _OPERATIONS.items()}
        outputs = [*rule.take, rule.arrived, *rule.vc]
        values = rule.circuit.run(outputs, digit, operations, Const)
        ports = len(rule.take) + 1
        m.d.comb += [self.take.eq(Cat(values[:ports])), self.vc.eq(Cat(values[ports:]))]
        fits = [
            below(digit(f"dst{i}"), field.radix)
            for i, field in enumerate(layout.fields)
            if field.radix != 1 << field.width
        ]
        m.d.comb += self.possible.eq(Cat(fits).all() if fits else 1)
        return m
