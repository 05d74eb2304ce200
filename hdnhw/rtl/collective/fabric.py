"""The fabric with collective engines: one engine a node."""

from typing import Any

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine import Machine
from hdnhw.rtl.collective.barrier import signal_pin
from hdnhw.rtl.collective.host import operation_shape, result_layout
from hdnhw.rtl.collective.pins import neighbors_of, node_pins
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointModules, EndpointParts, terminal_pins


class CollectiveFabric(wiring.Component):
    """A fabric whose terminals are engines; see :class:`hdnhw.rtl.fabric.Fabric`.

    Parameters
    ----------
    machine : Machine
        With collective engines.
    modules : EndpointModules or EndpointParts

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

    def __init__(self, machine: Machine, modules: EndpointModules | EndpointParts) -> None:
        self.machine, self.modules = machine, modules
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
        pins: dict[str, Any] = {}
        nodes = range(self.machine.network.num_nodes if self.machine.rounds else 0)
        self._signals = [Signal(name=f"signal_{node}") for node in nodes]
        for node in range(self.machine.network.num_nodes):
            pins |= self._elaborate_node(m, node)
        place(m, "fabric", self.modules.fabric, pins)
        return m

    def _elaborate_node(self, m: Module, node: int) -> dict[str, Any]:
        """Add the engine of a node; return the pins of the fabric at that node."""
        of_endpoint, of_fabric = terminal_pins(node, self.machine.spec.flit_width)
        pins = self._constants(node)
        if self._signals:
            pins |= self._barrier_pins(node)
        for inner, outer, one, other in (
            ("operation", self.operation[node], "i", "o"),
            ("i", self.message[node], "i", "o"),
            ("o", self.result[node], "o", "i"),
        ):
            pins |= {f"{one}_{inner}__payload": Value.cast(outer.payload), f"{one}_{inner}__valid": outer.valid}
            pins[f"{other}_{inner}__ready"] = outer.ready
        place(m, f"engine_{node}", self.modules.unit, {"o_done": self.done[node]} | of_endpoint | pins)
        if self.machine.spec.gapless_packets:
            of_fabric[f"o_paused_{node}"] = Signal(DROPPED_WIDTH, name=f"paused_{node}")
        return of_fabric | {f"o_dropped_{node}": self.dropped[node]}

    def _barrier_pins(self, node: int) -> dict[str, Any]:
        """Return the pins of an engine by which it signals to its neighbors, and they to it."""
        network = self.machine.network
        neighbors = network.neighbors(node)
        pins: dict[str, Any] = {"o_signal": self._signals[node]}
        for port in network.ports:
            near = neighbors.get(port.name)
            pins[f"i_{signal_pin(port.name)}"] = Const(1) if near is None else self._signals[near]
        return pins

    def _constants(self, node: int) -> dict[str, Any]:
        """Return the pins of an engine that say where it is."""
        layout = self.machine.address
        neighbors = neighbors_of(self.machine, node)
        pins: dict[str, Any] = {"i_address": Const(layout.of_node(node), layout.width)}
        for pin, width in node_pins(self.machine).items():
            port, what = pin.rsplit("_", 1)
            neighbor = neighbors.get(port)
            address = 0 if neighbor is None else layout.of_node(neighbor)
            pins[f"i_{pin}"] = Const(neighbor is not None) if what == "present" else Const(address, width)
        return pins
