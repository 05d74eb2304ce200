"""The fabric with relays: one a node, under the port names of the bare fabric."""

from typing import Any

from amaranth.hdl import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine import Machine
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.relay.relay import counts_layout
from hdnhw.rtl.terminal import EndpointModules, EndpointParts, terminal_pins


class RelayFabric(wiring.Component):
    """A fabric whose terminals are relays; see :class:`hdnhw.rtl.fabric.Fabric`.

    Parameters
    ----------
    machine : Machine
        With relays.
    modules : EndpointModules or EndpointParts

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

    def __init__(self, machine: Machine, modules: EndpointModules | EndpointParts) -> None:
        self.machine, self.modules = machine, modules
        nodes, width = machine.network.num_nodes, machine.spec.flit_width
        members = {
            "inject": In(injection_signature(flit_width=width)).array(nodes),
            "eject": Out(ejection_signature(flit_width=width)).array(nodes),
            "counts": Out(counts_layout()).array(nodes),
            "dropped": Out(DROPPED_WIDTH).array(nodes),
        }
        if machine.spec.dead_pins:
            members["dead"] = In(len(machine.network.ports) + 1).array(nodes)
            members["lost"] = Out(DROPPED_WIDTH).array(nodes)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        pins: dict[str, Any] = {}
        for node in range(self.machine.network.num_nodes):
            pins |= self._elaborate_node(m, node)
        place(m, "fabric", self.modules.fabric, pins)
        return m

    def _elaborate_node(self, m: Module, node: int) -> dict[str, Any]:
        """Add the relay of a node; return the pins of the fabric at that node."""
        of_relay, of_fabric = terminal_pins(node, self.machine.spec.flit_width)
        send, deliver = self.inject[node], self.eject[node]
        pins: dict[str, Any] = {
            "i_address": Const(self.machine.address.of_node(node), self.machine.address.width),
            "i_send__payload": send.payload,
            "i_send__valid": send.valid,
            "o_send__ready": send.ready,
            "o_deliver__payload": deliver.payload.as_value(),
            "o_deliver__valid": deliver.valid,
            "i_deliver__ready": deliver.ready,
            "o_counts": self.counts[node].as_value(),
        }
        place(m, f"relay_{node}", self.modules.unit, pins | of_relay)
        of_fabric[f"o_dropped_{node}"] = self.dropped[node]
        if self.machine.spec.dead_pins:
            of_fabric |= {f"i_dead_{node}": self.dead[node], f"o_lost_{node}": self.lost[node]}
        return of_fabric
