"""The fabric with relays: one a node, under the port names of the bare fabric."""

from typing import Any

from amaranth.hdl import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.relay.relay import counts_layout
from hdnhw.rtl.terminal import EndpointParts, at_node, terminal_wires


class RelayFabric(wiring.Component):
    """A fabric whose terminals are relays; see :class:`hdnhw.rtl.fabric.Fabric`.

    Parameters
    ----------
    machine : Machine
        With relays.
    parts : EndpointParts

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

    def __init__(self, machine: Machine, parts: EndpointParts) -> None:
        self.machine, self.parts = machine, parts
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
        nodes, address = range(self.machine.network.num_nodes), self.machine.address
        terminals = terminal_wires(len(nodes), self.machine.spec.flit_width)
        for node in nodes:
            own = {"address": Const(address.of_node(node), address.width), "counts": self.counts[node]}
            users = {"send": self.inject[node], "deliver": self.eject[node]}
            place(m, f"relay_{node}", self.parts.unit, own | users | at_node(terminals, node))
        told = {"dropped": self.dropped}
        if self.machine.spec.dead_pins:
            told |= {"dead": self.dead, "lost": self.lost}
        place(m, "fabric", self.parts.fabric, terminals | told, unread=True)
        return m
