"""The fabric: one instance of a router module a node, joined by the network's edges."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.crc import check_width
from hdnhw.machine import Machine
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.channel import ejection_signature, injection_signature, notice_layout
from hdnhw.rtl.check import ERRORS_WIDTH
from hdnhw.rtl.part import Part, place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.router import node_pins


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


@dataclass(frozen=True)
class FabricParts:
    """What a fabric is joined from, with its logic; members as of :class:`FabricModules`."""

    routers: tuple[Part, ...]
    ejection: Part


class Fabric(wiring.Component):
    """All routers of a network, joined.

    Parameters
    ----------
    machine : Machine
    modules : FabricModules or FabricParts
        With names alone it instantiates modules, which :mod:`hdnhw.verilog` emits: an elaboration elsewhere has black
        boxes in their place. :func:`hdnhw.verilog.component.fabric_component` makes one with its logic.

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

    def __init__(self, machine: Machine, modules: FabricModules | FabricParts) -> None:
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
        nodes = range(self.machine.network.num_nodes)
        channels = {
            (node, port): self._channel(node, port) for node in nodes for port in self.machine.plan.shape_of(node).ports
        }
        for node in nodes:
            self._elaborate_node(m, node, channels)
        return m

    def _wires(self, name: str, num_vcs: int, *, leads_on: bool = True) -> dict[str, Signal]:
        wires = {"valid": 1, "data": self.machine.spec.flit_width, "credit": num_vcs}
        if num_vcs > 1:
            wires["vc"] = index_width(num_vcs)
        if self.machine.spec.crc:
            wires["check"] = check_width(self.machine.spec.flit_width)
        if self.machine.timing.cuts_through and leads_on:
            wires["notice"] = notice_layout(self.machine, num_vcs).size
        return {member: Signal(width, name=f"{name}_{member}") for member, width in wires.items()}

    def _channel(self, node: int, port: int) -> dict[str, Signal]:
        """Make the wires of the channel that leaves `node` by `port`."""
        plan = self.machine.plan
        return self._wires(f"channel_{node}_{plan.network.ports[port].name}", plan.num_vcs[port])

    def _dead_pins_of(self, node: int) -> dict[str, Any]:
        """Return the pins that tell a router which of its channels are dead."""
        ports, neighbors = self.machine.network.ports, self.machine.network.neighbors(node)
        outgoing, incoming = [], []
        for number, port in enumerate(ports):
            other = neighbors.get(port.name)
            if other is None:
                outgoing.append(Const(0, 1))
                incoming.append(Const(0, 1))
                continue
            either = self.dead[node][len(ports)] | self.dead[other][len(ports)]
            outgoing.append(either | self.dead[node][number])
            incoming.append(either | self.dead[other][port.opposite])
        return {"i_dead_o": Cat(outgoing), "i_dead_i": Cat(incoming), "o_lost": self.lost[node]}

    def _errors_of(self, node: int, port: int) -> Value:
        """Return the pins that tell how many packets with errors a node has seen at a port."""
        return self.errors[node][port * ERRORS_WIDTH : (port + 1) * ERRORS_WIDTH]

    def _elaborate_node(self, m: Module, node: int, channels: dict[tuple[int, int], dict[str, Signal]]) -> None:
        network, shape = self.machine.network, self.machine.plan.shape_of(node)
        neighbors = network.neighbors(node)
        local = self._wires(f"channel_{node}_eject", 1, leads_on=False)
        pins: dict[str, Any] = {
            "i_inject__payload": self.inject[node].payload,
            "i_inject__valid": self.inject[node].valid,
            "o_inject__ready": self.inject[node].ready,
            "o_dropped": self.dropped[node],
            **{f"{'i' if member == 'credit' else 'o'}_eject__{member}": wire for member, wire in local.items()},
        }
        for port in shape.ports:
            name = network.ports[port].name
            incoming = channels[neighbors[name], network.ports[port].opposite]
            for member, wire in channels[node, port].items():
                pins[f"{'i' if member == 'credit' else 'o'}_{name}_o__{member}"] = wire
            for member, wire in incoming.items():
                pins[f"{'o' if member == 'credit' else 'i'}_{name}_i__{member}"] = wire
            if self.machine.spec.crc:
                pins[f"o_{name}_errors"] = self._errors_of(node, port)
        if self.machine.spec.gapless_packets:
            pins["o_paused"] = self.paused[node]
        if self.machine.spec.dead_pins:
            pins |= self._dead_pins_of(node)
        pins |= {f"i_{name}": Const(value, width) for name, (value, width) in node_pins(self.machine, node).items()}
        module = self.modules.routers[self.machine.plan.shapes.index(shape)]
        place(m, f"router_{node}", module, pins)
        of_buffer: dict[str, Any] = {
            **{f"{'o' if member == 'credit' else 'i'}_channel__{member}": wire for member, wire in local.items()},
            **({"o_bad": self.bad[node]} if self.machine.spec.crc else {}),
            "o_eject__payload": self.eject[node].payload.as_value(),
            "o_eject__valid": self.eject[node].valid,
            "i_eject__ready": self.eject[node].ready,
        }
        place(m, f"ejection_{node}", self.modules.ejection, of_buffer)
