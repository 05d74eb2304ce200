"""The fabric: one instance of a router module a node, joined by the network's edges."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth.hdl import Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.channel import ChannelSignature, channel_name, ejection_signature, injection_signature
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.rtl.ejection import ejection_buffer
from hdnhw.rtl.part import Part, place, wires
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.router import Router, errors_of, incoming, node_pins, outgoing


@dataclass(frozen=True)
class FabricModules:
    """Names of the modules of a fabric.

    Attributes
    ----------
    top : str
        The fabric's own.
    routers : tuple of str
        Of each shape of the plan, in their order.
    ejection : str
        Of the ejection buffer.
    """

    top: str
    routers: tuple[str, ...]
    ejection: str


class Fabric(wiring.Component):
    """All routers of a network, joined.

    Parameters
    ----------
    machine : Machine
    modules : FabricModules, optional
        With names it instantiates modules, which :mod:`hdnhw.verilog` emits: an elaboration elsewhere has black boxes
        in their place. Without, it has its logic, as that of :func:`hdnhw.verilog.component.fabric_component`.

    Members
    -------
    inject : In(injection_signature).array(nodes)
    eject : Out(ejection_signature).array(nodes)
    dropped : Out(16).array(nodes)
        Packets with an impossible destination dropped at each node since reset.
    paused : Out(16).array(nodes)
        Packets of each node since reset with a gap inside; absent unless they are promised to be gapless.
    dead : In(ports + 1).array(nodes)
        Which channels that leave each node are dead, by the port of the network, and last whether the router is, with
        all channels from it and to it; absent in machines without dead pins.
    lost : Out(16).array(nodes)
        Packets dropped at each node since reset that were on their way to a channel when it died; absent likewise.
    errors : Out(16 * ports).array(nodes)
        Packets that came to each node since reset with a wrong flit, by the port of the network that they came by;
        absent in machines without a crc.
    bad : Out(16).array(nodes)
        Packets with a wrong flit that were dropped at each node since reset in place of coming out; absent likewise.
    """

    def __init__(self, machine: Machine, modules: FabricModules | None = None) -> None:
        self.machine, self.modules = machine, modules
        spec, flit_width, ports = machine.spec, machine.spec.flit_width, len(machine.network.ports)
        nodes = machine.network.num_nodes
        members = {
            "inject": In(injection_signature(flit_width=flit_width)).array(nodes),
            "eject": Out(ejection_signature(flit_width=flit_width)).array(nodes),
            "dropped": Out(DROPPED_WIDTH).array(nodes),
        }
        if spec.gapless_packets:
            members["paused"] = Out(DROPPED_WIDTH).array(nodes)
        if spec.dead_pins:
            members["dead"] = In(ports + 1).array(nodes)
            members["lost"] = Out(DROPPED_WIDTH).array(nodes)
        if spec.crc:
            members["errors"] = Out(ERRORS_WIDTH * ports).array(nodes)
            members["bad"] = Out(ERRORS_WIDTH).array(nodes)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        machine, network, plan = self.machine, self.machine.network, self.machine.plan
        names = self.modules or FabricModules("", ("",) * len(plan.shapes), "")
        routers = [
            Part(partial(Router, machine, shape), name) for shape, name in zip(plan.shapes, names.routers, strict=True)
        ]
        ejection = Part(partial(ejection_buffer, machine), names.ejection)
        channels = {
            (node, port): self._channel(node, port)
            for node in range(network.num_nodes)
            for port in plan.shape_of(node).ports
        }
        for node in range(network.num_nodes):
            local = wires(ChannelSignature(machine, num_vcs=1, leads_on=False), channel_name(node, "eject"))
            router = routers[plan.shapes.index(plan.shape_of(node))]
            place(m, f"router_{node}", router, self._of_router(node, channels) | {"eject": local})
            counted = {"bad": self.bad[node]} if machine.spec.crc else {}
            place(m, f"ejection_{node}", ejection, {"channel": local, "eject": self.eject[node], **counted})
        return m

    def _channel(self, node: int, port: int) -> Any:
        """Make the wires of the channel that leaves `node` by `port`."""
        plan = self.machine.plan
        signature = ChannelSignature(self.machine, num_vcs=plan.num_vcs[port])
        return wires(signature, channel_name(node, plan.network.ports[port].name))

    def _of_router(self, node: int, channels: dict[tuple[int, int], Any]) -> dict[str, Any]:
        """Return what a router is joined to, but for its ejection buffer."""
        spec, ports, neighbors = self.machine.spec, self.machine.network.ports, self.machine.network.neighbors(node)
        members = {"inject": self.inject[node], "dropped": self.dropped[node]}
        members |= {name: Const(value, width) for name, (value, width) in node_pins(self.machine, node).items()}
        for port in self.machine.plan.shape_of(node).ports:
            name = ports[port].name
            members[outgoing(name)] = channels[node, port]
            members[incoming(name)] = channels[neighbors[name], ports[port].opposite]
            if spec.crc:
                members[errors_of(name)] = self.errors[node][port * ERRORS_WIDTH : (port + 1) * ERRORS_WIDTH]
        if spec.gapless_packets:
            members["paused"] = self.paused[node]
        if spec.dead_pins:
            members |= {"lost": self.lost[node], **self._dead_of(node)}
        return members

    def _dead_of(self, node: int) -> dict[str, Any]:
        """Return what tells a router which of its channels are dead."""
        ports, neighbors = self.machine.network.ports, self.machine.network.neighbors(node)
        leaving, coming = [], []
        for number, port in enumerate(ports):
            other = neighbors.get(port.name)
            if other is None:
                leaving.append(Const(0, 1))
                coming.append(Const(0, 1))
                continue
            either = self.dead[node][len(ports)] | self.dead[other][len(ports)]
            leaving.append(either | self.dead[node][number])
            coming.append(either | self.dead[other][port.opposite])
        return {"dead_o": Cat(leaving), "dead_i": Cat(coming)}
