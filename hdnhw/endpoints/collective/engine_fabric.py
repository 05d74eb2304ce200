"""The fabric with collective engines: one engine a node."""

from typing import Any

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.collective.engine_barrier import signal_pin
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.host import operation_shape, result_layout
from hdnhw.endpoints.collective.pins import place_of
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointFabric


class CollectiveFabric(EndpointFabric):
    """A fabric whose terminals are engines; see :class:`hdnhw.rtl.fabric.Fabric`.

    Members
    -------
    operation : In(stream of operation_shape).array(nodes)
    message : In(stream of flits).array(nodes)
    result : Out(stream of result_layout).array(nodes)
    done : Out(1).array(nodes)
        See :class:`hdnhw.endpoints.collective.engine.CollectiveEngine`, whose `i` and `o` are `message` and `result`.
    dropped : Out(16).array(nodes)
        See :class:`hdnhw.rtl.fabric.Fabric`; engines send to neighbors alone, so that it stays 0.
    """

    def _members(self) -> dict[str, Any]:
        nodes, messages = self.machine.network.num_nodes, self.machine.endpoint_format
        operation = operation_shape(engines_of(self.machine).spec.operations, messages)
        return {
            "operation": In(stream.Signature(operation)).array(nodes),
            "message": In(stream.Signature(messages.flits.flit_width)).array(nodes),
            "result": Out(stream.Signature(result_layout(messages))).array(nodes),
            "done": Out(1).array(nodes),
            "dropped": Out(DROPPED_WIDTH).array(nodes),
        }

    def elaborate(self, platform: Any) -> Module:
        m, nodes = Module(), self.machine.network.num_nodes if engines_of(self.machine).rounds else 0
        signals = [Signal(name=f"signal_{node}") for node in range(nodes)]
        self._elaborate_nodes(m, "engine", lambda node: self._own(node, signals), {"dropped": self.dropped})
        return m

    def _own(self, node: int, signals: list[Signal]) -> dict[str, Any]:
        """Return the members of an engine beside its streams to the fabric."""
        users = {"operation": self.operation[node], "i": self.message[node], "o": self.result[node]}
        own = {name: Const(value, width) for name, (value, width) in place_of(self.machine, node).items()}
        return users | own | {"done": self.done[node]} | (self._barrier(node, signals) if signals else {})

    def _barrier(self, node: int, signals: list[Signal]) -> dict[str, Any]:
        """Return what an engine signals to its neighbors, and they to it."""
        neighbors = self.machine.network.neighbors(node)
        near = {port.name: neighbors.get(port.name) for port in self.machine.network.ports}
        comes = {signal_pin(port): Const(1) if one is None else signals[one] for port, one in near.items()}
        return {"signal": signals[node], **comes}
