"""The fabric with AXI4 endpoints: one endpoint a node, under the port names of AXI4."""

from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.endpoint import port_members
from hdnhw.endpoints.axi4.layout import end_of, manager_signature, wires_of
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.rtl.terminal import EndpointFabric


class MemoryFabric(EndpointFabric):
    """A fabric between managers and memories.

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

    @property
    def _counters(self) -> list[str]:
        return ["dropped", "paused"] if self.machine.spec.gapless_packets else ["dropped"]

    def _members(self) -> dict[str, Any]:
        members: dict[str, Any] = {"aclk": In(1), "aresetn": In(1)}
        for node in self.nodes:
            for (port, name), (leads_in, layout) in port_members(self.machine.endpoint_format).items():
                for wire, (is_input, bits) in wires_of(f"{port}_{node}_{name}", layout, leads_in=leads_in).items():
                    members[wire] = (In if is_input else Out)(bits)
            members |= {f"{name}_{node}": Out(DROPPED_WIDTH) for name in self._counters}
        return members

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        self._elaborate_all(m, clk=self.aclk, rst=~self.aresetn)
        return m

    def _elaborate_all(self, m: Module, **clocks: Value) -> None:
        """Join fabric and endpoints."""
        counted = {name: [self._counter(name, node) for node in self.nodes] for name in self._counters}
        self._elaborate_nodes(m, "endpoint", self._channels, counted, **clocks)

    def _channels(self, node: int) -> dict[str, Any]:
        """Return the channels of both ports of a node."""
        channels = port_members(self.machine.endpoint_format).items()
        return {f"{port}_{name}": self._channel(node, port, name, layout) for (port, name), (_, layout) in channels}

    def _counter(self, name: str, node: int) -> Value:
        counter: Value = getattr(self, f"{name}_{node}")
        return counter

    def _channel(self, node: int, port: str, name: str, layout: data.StructLayout) -> Any:
        """Return a channel of a port of a node, field by field."""
        return end_of(self, f"{port}_{node}_{name}", layout)


class MemoryComponent(MemoryFabric):
    """A fabric with its logic between managers and memories, for designs in Amaranth: streams in the domain ``sync``.

    Members
    -------
    s_axi : In(Signature).array(nodes)
        The port to which the manager of each node is joined: the streams ``aw``, ``w``, ``b``, ``ar`` and ``r`` of
        :func:`hdnhw.endpoints.axi4.layout.channels`, as a manager has them.
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
