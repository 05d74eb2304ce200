"""The fabric: one instance of a router module a node, joined by the network's edges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from amaranth.hdl import Cat, ClockSignal, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.machine.monitor import MonitorMap
from hdnhw.rtl.channel import (
    ChannelSignature,
    arrival_name,
    channel_name,
    ejection_signature,
    injection_signature,
    late_name,
)
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.rtl.ejection import ejection_buffer
from hdnhw.rtl.monitor.chain import ChainSignature
from hdnhw.rtl.monitor.port import MonitorPort, monitor_members
from hdnhw.rtl.narrow import channel_between
from hdnhw.rtl.part import Part, place, wires
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.reset import RouterReset
from hdnhw.rtl.router import Router, errors_of, incoming, node_pins, outgoing
from hdnhw.rules.plan import RouterShape


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
    monitor : str
        Of what a monitor is read by; empty without.
    channels : dict of int to str
        Of the registers of a channel, by the port that it leaves by, where it has some of its own or is narrow.
    reset : str
        Of the registers of a router's reset; empty if it has none.
    """

    top: str
    routers: tuple[str, ...]
    ejection: str
    monitor: str = ""
    channels: Mapping[int, str] = field(default_factory=dict)
    reset: str = ""

    @property
    def long(self) -> tuple[str, ...]:
        """Names of the modules of channels."""
        return tuple(dict.fromkeys(self.channels.values()))


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
    monitor : Out(monitor_signature)
        AXI4-Lite subordinate by which the counters of all routers are read; absent in machines without a monitor.
    """

    def __init__(self, machine: Machine, modules: FabricModules | None = None) -> None:
        self.machine, self.modules = machine, modules
        super().__init__(self._members())

    def _members(self) -> dict[str, Any]:
        """Return the members of its signature."""
        spec, nodes = self.machine.spec, len(self._shapes)
        flit_width, ports = spec.flit_width, len(self.machine.network.ports)
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
        return members | monitor_members(self.machine)

    @cached_property
    def _shapes(self) -> list[RouterShape]:
        """The shape of each router."""
        return [self.machine.plan.shape_of(node) for node in range(self.machine.network.num_nodes)]

    @cached_property
    def _neighbors(self) -> list[dict[str, int]]:
        """The neighbors of each router."""
        return [self.machine.network.neighbors(node) for node in range(len(self._shapes))]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        machine, network, plan = self.machine, self.machine.network, self.machine.plan
        names = self.modules or FabricModules("", ("",) * len(plan.shapes), "")
        routers = [
            Part(partial(Router, machine, shape), name) for shape, name in zip(plan.shapes, names.routers, strict=True)
        ]
        ejection = Part(partial(ejection_buffer, machine), names.ejection)
        clocks, taken = self._elaborate_resets(m, names.reset)
        begins = {
            (node, port): self._channel(channel_name, node, port)
            for node, shape in enumerate(self._shapes)
            for port in shape.ports
        }
        ways = {channel: end for channel in begins if (end := self._behind(*channel))}
        ends = {channel: begins[channel] for channel in ways}
        registers = {
            port: Part(partial(channel_between, machine, port), names.channels.get(port, ""))
            for port, stages in enumerate(machine.channels.stages)
            if stages
        }
        dead = {node: self._dead_of(node) for node in range(len(self._shapes))} if machine.spec.dead_pins else {}
        for (node, port), begin in begins.items():
            if port in registers and (node, port) in ends:
                ends[node, port] = self._channel(arrival_name, node, port)
                members = {"i": begin, "o": ends[node, port]}
                if dead:
                    there, behind = ways[node, port]
                    late = Signal(name=f"{arrival_name(node, network.ports[port].name)}_dead")
                    members |= {"dead_i": dead[node][0][port], "dead_o": late}
                    dead[there][1][behind] = late
                long = f"long_{channel_name(node, network.ports[port].name)}"
                place(m, long, registers[port], members, clocks=clocks[node])
        coming = {behind: ends[channel] for channel, behind in ways.items()}
        coming |= self._elaborate_links(m, begins, clocks)
        chain = self._elaborate_monitor(m, names.monitor)
        for node, shape in enumerate(self._shapes):
            local = wires(ChannelSignature(machine, num_vcs=1, leads_on=False), channel_name(node, "eject"))
            router = routers[plan.shapes.index(shape)]
            joined = self._of_router(node, begins, coming) | {"eject": local, "inject": taken[node]}
            if chain:
                joined |= {"monitor_i": chain[node], "monitor_o": chain[node + 1]}
            if dead:
                joined |= {"lost": self.lost[node], "dead_o": Cat(dead[node][0]), "dead_i": Cat(dead[node][1])}
            place(m, f"router_{node}", router, joined, clocks=clocks[node])
            counted = {"bad": self.bad[node]} if machine.spec.crc else {}
            joined = {"channel": local, "eject": self.eject[node], **counted}
            place(m, f"ejection_{node}", ejection, joined, clocks=clocks[node])
        return m

    def _elaborate_resets(self, m: Module, module: str) -> tuple[list[Any], list[Any]]:
        """Return clock and reset of what is at each node, None for those of the fabric, and what is injected there."""
        count, nodes = self.machine.spec.reset_registers, range(len(self._shapes))
        if not count:
            return [None for _ in nodes], [self.inject[node] for node in nodes]
        part, clocks, taken = Part(partial(RouterReset, count), module), [], []
        for node in nodes:
            late, ready, inject = Signal(name=late_name(node)), Signal(name=f"ready_{node}"), self.inject[node]
            place(m, f"reset_{node}", part, {"o": late, "ready_i": ready, "ready_o": inject.ready})
            clocks.append({"clk": ClockSignal(), "rst": late})
            taken.append({"payload": inject.payload, "valid": inject.valid, "ready": ready})
        return clocks, taken

    def _elaborate_monitor(self, m: Module, module: str) -> list[Any]:
        """Return, with a monitor, the wires of its chain before each router and behind the last."""
        if not self.machine.spec.monitor:
            return []
        of = MonitorMap.of(self.machine)
        chain = [wires(ChainSignature(of), f"monitor_{place}") for place in range(len(self._shapes) + 1)]
        members = {"axi": self.monitor, "o": chain[0], "i": chain[-1]}
        place(m, "monitor", Part(partial(MonitorPort, self.machine), module), members)
        return chain

    def _channel(self, name: Callable[[int, str], str], node: int, port: int) -> Any:
        """Make the wires of the channel that leaves `node` by `port`."""
        plan = self.machine.plan
        signature = ChannelSignature(self.machine, num_vcs=plan.num_vcs[port])
        return wires(signature, name(node, plan.network.ports[port].name))

    def _behind(self, node: int, port: int) -> tuple[int, int] | None:
        """Return the router that a channel leads to, and the port that it comes in by; None if it leaves the chip."""
        own = self.machine.network.ports[port]
        return self._neighbors[node][own.name], own.opposite

    def _elaborate_links(
        self, m: Module, begins: Mapping[tuple[int, int], Any], clocks: Sequence[Any]
    ) -> dict[tuple[int, int], Any]:
        """Join the channels that leave the chip; return those that come to it, by router and port."""
        del m, begins, clocks
        return {}

    def _pins(self, node: int) -> dict[str, Value]:
        """Return what a router is told of its place."""
        return {name: Const(value, width) for name, (value, width) in node_pins(self.machine, node).items()}

    def _of_router(
        self, node: int, begins: Mapping[tuple[int, int], Any], coming: Mapping[tuple[int, int], Any]
    ) -> dict[str, Any]:
        """Return what a router is joined to, but for its terminal."""
        spec, ports = self.machine.spec, self.machine.network.ports
        members = {"dropped": self.dropped[node], **self._pins(node)}
        for port in self._shapes[node].ports:
            name = ports[port].name
            members[outgoing(name)] = begins[node, port]
            members[incoming(name)] = coming[node, port]
            if spec.crc:
                members[errors_of(name)] = self.errors[node][port * ERRORS_WIDTH : (port + 1) * ERRORS_WIDTH]
        if spec.gapless_packets:
            members["paused"] = self.paused[node]
        return members

    def _dead_of(self, node: int) -> tuple[list[Value], list[Value]]:
        """Return what tells a router which of its channels are dead, those that leave it and those that come."""
        dead, count = self.dead, len(self.machine.network.ports)
        leaving, coming = ([Const(0, 1)] * count for _ in range(2))
        for port in self._shapes[node].ports:
            if (behind := self._behind(node, port)) is not None:
                other, back = behind
                either = dead[node][count] | dead[other][count]
                leaving[port], coming[port] = either | dead[node][port], either | dead[other][back]
        return leaving, coming
