"""The fabric with collective engines: one engine a node."""

from typing import Any

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.collective.barrier import signal_pin
from hdnhw.rtl.collective.host import operation_shape, result_layout
from hdnhw.rtl.collective.pins import place_of
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointParts, at_node, terminal_wires


class CollectiveFabric(wiring.Component):
    """A fabric whose terminals are engines; see :class:`hdnhw.rtl.fabric.Fabric`.

    Parameters
    ----------
    machine : Machine
        With collective engines.
    parts : EndpointParts

    Members
    -------
    operation : In(stream of operation_shape).array(nodes)
    message : In(stream of flits).array(nodes)
    result : Out(stream of result_layout).array(nodes)
    done : Out(1).array(nodes)
        See :class:`hdnhw.rtl.collective.engine.CollectiveEngine`, whose `i` and `o` are `message` and `result`.
    dropped : Out(16).array(nodes)
        See :class:`hdnhw.rtl.fabric.Fabric`; engines send to neighbors alone, so that it stays 0.
    """

    def __init__(self, machine: Machine, parts: EndpointParts) -> None:
        self.machine, self.parts = machine, parts
        nodes, messages = machine.network.num_nodes, machine.endpoint_format
        super().__init__(
            {
                "operation": In(stream.Signature(operation_shape(machine.operations, messages))).array(nodes),
                "message": In(stream.Signature(messages.flits.flit_width)).array(nodes),
                "result": Out(stream.Signature(result_layout(messages))).array(nodes),
                "done": Out(1).array(nodes),
                "dropped": Out(DROPPED_WIDTH).array(nodes),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        nodes, layout = range(self.machine.network.num_nodes), self.machine.address
        terminals = terminal_wires(len(nodes), self.machine.spec.flit_width)
        signals = [Signal(name=f"signal_{node}") for node in (nodes if self.machine.rounds else ())]
        for node in nodes:
            users = {"operation": self.operation[node], "i": self.message[node], "o": self.result[node]}
            own = {"address": Const(layout.of_node(node), layout.width), "done": self.done[node]}
            own |= {name: Const(value, width) for name, (value, width) in place_of(self.machine, node).items()}
            barrier = self._barrier(node, signals) if signals else {}
            place(m, f"engine_{node}", self.parts.unit, users | own | barrier | at_node(terminals, node))
        place(m, "fabric", self.parts.fabric, {**terminals, "dropped": self.dropped}, unread=True)
        return m

    def _barrier(self, node: int, signals: list[Signal]) -> dict[str, Any]:
        """Return what an engine signals to its neighbors, and they to it."""
        neighbors = self.machine.network.neighbors(node)
        near = {port.name: neighbors.get(port.name) for port in self.machine.network.ports}
        comes = {signal_pin(port): Const(1) if one is None else signals[one] for port, one in near.items()}
        return {"signal": signals[node], **comes}
