"""The fabric with AXI4 endpoints: one endpoint a node, under the port names of AXI4."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.axi4.endpoint import port_members
from hdnhw.rtl.axi4.layout import manager_signature
from hdnhw.rtl.part import place
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointParts, at_node, terminal_wires


class MemoryFabric(wiring.Component):
    """A fabric between managers and memories.

    Parameters
    ----------
    machine : Machine
        With AXI4 endpoints.
    parts : EndpointParts

    Members
    -------
    aclk, aresetn : In(1)
        Clock, and reset: synchronous, active low.
    s_axi_N_*
        The port to which the manager of node N is joined.
    m_axi_N_*
        The port that the memory of node N is joined to.
    dropped_N, paused_N : Out(16)
        Packets to no node, and with a gap, that the router has counted: 0, as endpoints send none; the latter only
        where packets are promised to be gapless.
    """

    def __init__(self, machine: Machine, parts: EndpointParts) -> None:
        self.machine, self.parts = machine, parts
        self._counters = ["dropped", "paused"] if machine.spec.gapless_packets else ["dropped"]
        super().__init__(self._members())

    def _members(self) -> dict[str, Any]:
        """Return all members."""
        members: dict[str, Any] = {"aclk": In(1), "aresetn": In(1)}
        for node in range(self.machine.network.num_nodes):
            for (port, name), (leads_in, layout) in port_members(self.machine.endpoint_format).items():
                forth, back = (In, Out) if leads_in else (Out, In)
                for field, shape in layout:
                    members[f"{port}_{node}_{name}{field}"] = forth(shape.width)
                members[f"{port}_{node}_{name}valid"] = forth(1)
                members[f"{port}_{node}_{name}ready"] = back(1)
            members |= {f"{name}_{node}": Out(DROPPED_WIDTH) for name in self._counters}
        return members

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_all(m, clk=self.aclk, rst=~self.aresetn)
        return m

    def _elaborate_all(self, m: Module, **clocks: Value) -> None:
        """Join fabric and endpoints."""
        nodes, address = range(self.machine.network.num_nodes), self.machine.address
        terminals = terminal_wires(len(nodes), self.machine.spec.flit_width)
        for node in nodes:
            members = {"address": Const(address.of_node(node), address.width), **at_node(terminals, node)}
            members |= {
                f"{port}_{name}": self._channel(node, port, name, layout)
                for (port, name), (_, layout) in port_members(self.machine.endpoint_format).items()
            }
            place(m, f"endpoint_{node}", self.parts.unit, members, clocks=clocks or None)
        counted = {name: [self._counter(name, node) for node in nodes] for name in self._counters}
        place(m, "fabric", self.parts.fabric, terminals | counted, clocks=clocks or None, unread=True)

    def _counter(self, name: str, node: int) -> Value:
        counter: Value = getattr(self, f"{name}_{node}")
        return counter

    def _channel(self, node: int, port: str, name: str, layout: data.StructLayout) -> Any:
        """Return a channel of a port of a node, field by field."""
        stem = f"{port}_{node}_{name}"
        payload = Cat(getattr(self, f"{stem}{field}") for field, _ in layout)
        return {"payload": payload, "valid": getattr(self, f"{stem}valid"), "ready": getattr(self, f"{stem}ready")}


class MemoryComponent(MemoryFabric):
    """A fabric with its logic between managers and memories, for designs in Amaranth: streams in the domain ``sync``.

    Parameters
    ----------
    machine : Machine
        With AXI4 endpoints.
    parts : EndpointParts
        With their logic.

    Members
    -------
    s_axi : In(Signature).array(nodes)
        The port to which the manager of each node is joined: the streams ``aw``, ``w``, ``b``, ``ar`` and ``r`` of
        :func:`hdnhw.rtl.axi4.layout.channels`, as a manager has them.
    m_axi : Out(Signature).array(nodes)
        The port that the memory of each node is joined to, likewise.
    dropped, paused : Out(16).array(nodes)
        See :class:`MemoryFabric`.
    """

    def _members(self) -> dict[str, Any]:
        memory, nodes = self.machine.endpoint_format, self.machine.network.num_nodes
        return {
            "s_axi": In(manager_signature(memory, inside=False)).array(nodes),
            "m_axi": Out(manager_signature(memory, inside=True)).array(nodes),
            **{name: Out(DROPPED_WIDTH).array(nodes) for name in self._counters},
        }

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_all(m)
        return m

    def _channel(self, node: int, port: str, name: str, layout: data.StructLayout) -> Any:
        return getattr(getattr(self, port)[node], name)

    def _counter(self, name: str, node: int) -> Value:
        counter: Value = getattr(self, name)[node]
        return counter
