"""The fabric with relays: one a node, under the port names of the bare fabric."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.relay.relay import counts_layout
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointFabric


class RelayFabric(EndpointFabric):
    """A fabric whose terminals are relays; see :class:`hdnhw.rtl.fabric.Fabric`.

    Members
    -------
    inject : In(injection_signature).array(nodes)
    eject : Out(ejection_signature).array(nodes)
        The users', see :class:`hdnhw.endpoints.relay.relay.Relay`, where they are `send` and `deliver`.
    counts : Out(counts_layout).array(nodes)
    dropped : Out(16).array(nodes)
    dead, lost
        See :class:`hdnhw.rtl.fabric.Fabric`.
    """

    def _members(self) -> dict[str, Any]:
        machine = self.machine
        nodes, width = machine.network.num_nodes, machine.spec.flit_width
        members: dict[str, Any] = {
            "inject": In(injection_signature(flit_width=width)).array(nodes),
            "eject": Out(ejection_signature(flit_width=width)).array(nodes),
            "counts": Out(counts_layout()).array(nodes),
            "dropped": Out(DROPPED_WIDTH).array(nodes),
        }
        if machine.spec.dead_pins:
            members["dead"] = In(len(machine.network.ports) + 1).array(nodes)
            members["lost"] = Out(DROPPED_WIDTH).array(nodes)
        return members

    def elaborate(self, platform: Any) -> Module:
        m, told = Module(), {"dropped": self.dropped}
        if self.machine.spec.dead_pins:
            told |= {"dead": self.dead, "lost": self.lost}
        self._elaborate_nodes(m, "relay", self._own, told)
        return m

    def _own(self, node: int) -> dict[str, Any]:
        return {"counts": self.counts[node], "send": self.inject[node], "deliver": self.eject[node]}
