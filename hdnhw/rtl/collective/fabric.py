"""The fabric with collective engines: one engine a node."""

from typing import Any

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.program import Program
from hdnhw.flit import MessageFormat
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.collective.sender import result_layout
from hdnhw.rtl.collective.sequencer import used_ports
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.topology.address import AddressLayout

__all__ = ["CollectiveFabric"]


class CollectiveFabric(wiring.Component):
    """A fabric whose terminals are engines. It instantiates modules by name; :mod:`hdnhw.emit` emits those.

    Parameters
    ----------
    program : Program
    messages : MessageFormat
    fabric_module, engine_module : str

    Members
    -------
    operation : In(stream of operation indices).array(nodes)
    message : In(stream of flits).array(nodes)
    result : Out(stream of result_layout).array(nodes)
    done : Out(1).array(nodes)
        See :class:`hdnhw.rtl.collective.engine.CollectiveEngine`, whose `i` and `o` are `message` and `result`.
    dropped : Out(16).array(nodes)
        See :class:`hdnhw.rtl.fabric.Fabric`; engines send to neighbors alone, so that it stays 0.
    """

    def __init__(self, program: Program, messages: MessageFormat, *, fabric_module: str, engine_module: str) -> None:
        self._program, self._messages = program, messages
        self._fabric_module, self._engine_module = fabric_module, engine_module
        nodes = program.network.num_nodes
        super().__init__(
            {
                "operation": In(stream.Signature(index_width(len(program.schedules)))).array(nodes),
                "message": In(stream.Signature(messages.flits.flit_width)).array(nodes),
                "result": Out(stream.Signature(result_layout(messages))).array(nodes),
                "done": Out(1).array(nodes),
                "dropped": Out(DROPPED_WIDTH).array(nodes),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        pins: dict[str, Any] = {}
        for node in range(self._program.network.num_nodes):
            pins |= self._elaborate_node(m, node)
        m.submodules.fabric = Instance(self._fabric_module, i_clk=ClockSignal(), i_rst=ResetSignal(), **pins)
        return m

    def _elaborate_node(self, m: Module, node: int) -> dict[str, Any]:
        """Add the engine of a node; return the pins of the fabric at that node."""
        width, layout = self._messages.flits.flit_width, AddressLayout(self._program.network)
        network = self._program.network
        neighbors = network.neighbors(node)
        wires = {
            f"{side}_{name}": Signal(bits, name=f"{side}_{node}_{name}")
            for side, payload in (("inject", width), ("eject", width + 1))
            for name, bits in (("valid", 1), ("ready", 1), ("payload", payload))
        }
        pins: dict[str, Any] = {"i_address": Const(layout.of_node(node), layout.width)}
        for port in used_ports(self._program):
            name = network.ports[port].name
            neighbor = neighbors.get(name)
            pins[f"i_{name}_present"] = Const(neighbor is not None)
            pins[f"i_{name}_neighbor"] = Const(0 if neighbor is None else layout.of_node(neighbor), layout.width)
        for inner, outer, one, other in (
            ("operation", self.operation[node], "i", "o"),
            ("i", self.message[node], "i", "o"),
            ("o", self.result[node], "o", "i"),
        ):
            payload = outer.payload if inner != "o" else outer.payload.as_value()
            pins |= {f"{one}_{inner}__payload": payload, f"{one}_{inner}__valid": outer.valid}
            pins[f"{other}_{inner}__ready"] = outer.ready
        m.submodules[f"engine_{node}"] = Instance(
            self._engine_module,
            i_clk=ClockSignal(),
            i_rst=ResetSignal(),
            o_done=self.done[node],
            o_inject__valid=wires["inject_valid"],
            i_inject__ready=wires["inject_ready"],
            o_inject__payload=wires["inject_payload"],
            i_eject__valid=wires["eject_valid"],
            o_eject__ready=wires["eject_ready"],
            i_eject__payload=wires["eject_payload"],
            **pins,
        )
        return {
            f"i_inject__{node}__valid": wires["inject_valid"],
            f"o_inject__{node}__ready": wires["inject_ready"],
            f"i_inject__{node}__payload": wires["inject_payload"],
            f"o_eject__{node}__valid": wires["eject_valid"],
            f"i_eject__{node}__ready": wires["eject_ready"],
            f"o_eject__{node}__payload": wires["eject_payload"],
            f"o_dropped__{node}": self.dropped[node],
        }
