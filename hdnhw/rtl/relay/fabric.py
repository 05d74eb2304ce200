"""The fabric with relays: one a node, under the port names of the bare fabric."""

from typing import Any

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.flit import RelayFormat
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.relay.relay import counts_layout
from hdnhw.rtl.terminal import terminal_pins
from hdnhw.topology.address import AddressLayout

__all__ = ["RelayFabric"]


class RelayFabric(wiring.Component):
    """A fabric whose terminals are relays. It instantiates modules by name; :mod:`hdnhw.emit` emits those.

    Parameters
    ----------
    packets : RelayFormat
    layout : AddressLayout
    fabric_module, relay_module : str
    dead_pins : bool
        Whether routers and channels can be marked dead.

    Members
    -------
    inject : In(injection_signature).array(nodes)
    eject : Out(ejection_signature).array(nodes)
        The users', see :class:`hdnhw.rtl.relay.relay.Relay`, where they are `send` and `deliver`.
    counts : Out(counts_layout).array(nodes)
    dropped : Out(16).array(nodes)
    dead, lost
        See :class:`hdnhw.rtl.fabric.Fabric`.
    """

    def __init__(
        self,
        packets: RelayFormat,
        layout: AddressLayout,
        *,
        fabric_module: str,
        relay_module: str,
        dead_pins: bool,
    ) -> None:
        self._packets, self._layout = packets, layout
        self._fabric_module, self._relay_module, self._dead_pins = fabric_module, relay_module, dead_pins
        nodes, width = layout.network.num_nodes, packets.flits.flit_width
        members = {
            "inject": In(injection_signature(flit_width=width)).array(nodes),
            "eject": Out(ejection_signature(flit_width=width)).array(nodes),
            "counts": Out(counts_layout()).array(nodes),
            "dropped": Out(DROPPED_WIDTH).array(nodes),
        }
        if dead_pins:
            members["dead"] = In(len(layout.network.ports) + 1).array(nodes)
            members["lost"] = Out(DROPPED_WIDTH).array(nodes)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        pins: dict[str, Any] = {}
        for node in range(self._layout.network.num_nodes):
            pins |= self._elaborate_node(m, node)
        m.submodules.fabric = Instance(self._fabric_module, i_clk=ClockSignal(), i_rst=ResetSignal(), **pins)
        return m

    def _elaborate_node(self, m: Module, node: int) -> dict[str, Any]:
        """Add the relay of a node; return the pins of the fabric at that node."""
        of_relay, of_fabric = terminal_pins(node, self._packets.flits.flit_width)
        send, deliver = self.inject[node], self.eject[node]
        m.submodules[f"relay_{node}"] = Instance(
            self._relay_module,
            i_clk=ClockSignal(),
            i_rst=ResetSignal(),
            i_address=Const(self._layout.of_node(node), self._layout.width),
            i_send__payload=send.payload,
            i_send__valid=send.valid,
            o_send__ready=send.ready,
            o_deliver__payload=deliver.payload.as_value(),
            o_deliver__valid=deliver.valid,
            i_deliver__ready=deliver.ready,
            o_counts=self.counts[node].as_value(),
            **of_relay,
        )
        of_fabric[f"o_dropped__{node}"] = self.dropped[node]
        if self._dead_pins:
            of_fabric |= {f"i_dead__{node}": self.dead[node], f"o_lost__{node}": self.lost[node]}
        return of_fabric
