"""The AXI4 endpoint of one node: a port for a manager, a port for a memory."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import channels
from hdnhw.endpoints.axi4.part_receiver import PartReceiver
from hdnhw.endpoints.axi4.part_sender import PartSender
from hdnhw.endpoints.axi4.requester import ReadRequester, WriteRequester
from hdnhw.endpoints.axi4.responder import AnswerCollector, RequestPlayer
from hdnhw.machine.machine import Machine
from hdnhw.rtl.channel import ejection_signature, injection_signature

PORTS = {"s_axi": False, "m_axi": True}
"""Ports of a node -> whether it is that of a memory."""


def port_members(memory: MemoryFormat) -> dict[tuple[str, str], tuple[bool, Any]]:
    """Return the channels of both ports: (port, channel) -> whether it leads into the endpoint, and its transfer."""
    return {
        (port, name): (to_subordinate != is_inside, layout)
        for port, is_inside in PORTS.items()
        for name, (to_subordinate, layout) in channels(memory, inside=is_inside).items()
    }


class MemoryEndpoint(wiring.Component):
    """AXI4 on one side, packets of flits on the other.

    Parameters
    ----------
    machine : Machine
        With AXI4 endpoints.

    Members
    -------
    address : In(address width)
        The node's packed address; constant.
    s_axi_aw, s_axi_w, s_axi_ar : In(stream), s_axi_b, s_axi_r : Out(stream)
        The port of a manager, see :func:`hdnhw.endpoints.axi4.layout.channels`.
    m_axi_aw, m_axi_w, m_axi_ar : Out(stream), m_axi_b, m_axi_r : In(stream)
        The port of a memory.
    inject : Out(injection_signature)
    eject : In(ejection_signature)
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, memory = machine, machine.endpoint_format
        width = memory.flits.flit_width
        super().__init__(
            {
                "address": In(memory.flits.address_width),
                **{
                    f"{port}_{name}": (In if leads_in else Out)(stream.Signature(layout))
                    for (port, name), (leads_in, layout) in port_members(memory).items()
                },
                "inject": Out(injection_signature(flit_width=width)),
                "eject": In(ejection_signature(flit_width=width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        memory, layout = self.machine.endpoint_format, self.machine.address
        m.submodules.writes = writes = WriteRequester(memory, layout)
        m.submodules.reads = reads = ReadRequester(memory, layout)
        m.submodules.player = player = RequestPlayer(memory)
        m.submodules.collector = collector = AnswerCollector(memory)
        m.submodules.sender = sender = PartSender(memory, sources=4)
        m.submodules.receiver = receiver = PartReceiver(memory, num_nodes=layout.network.num_nodes)
        for number, source in enumerate((collector.written, collector.data, writes.packet, reads.packet)):
            connect(m, source, sender.packets[number])
        connect(m, sender.inject, wiring.flipped(self.inject))
        connect(m, wiring.flipped(self.eject), receiver.eject)
        connect(m, receiver.request, player.request)
        connect(m, player.writes, collector.writes)
        connect(m, player.reads, collector.reads)
        self._elaborate_ports(m, {"aw": writes, "w": writes, "b": writes, "ar": reads, "r": reads}, "s_axi")
        inside = {"aw": player, "w": player, "ar": player, "b": collector, "r": collector}
        self._elaborate_ports(m, inside, "m_axi")
        m.d.comb += sender.address.eq(self.address)
        requesters: list[Any] = [writes, reads]
        for requester, answered in zip(requesters, receiver.answers, strict=True):
            m.d.comb += [requester.answered.eq(answered), requester.answer.eq(receiver.answer)]
        m.d.comb += [getattr(reads, name).eq(getattr(receiver, name)) for name in ("write", "tag", "index", "word")]
        return m

    def _elaborate_ports(self, m: Module, halves: dict[str, Any], port: str) -> None:
        """Join the channels of a port to those who serve them."""
        for name, half in halves.items():
            leads_in, _ = port_members(self.machine.endpoint_format)[port, name]
            outside = wiring.flipped(getattr(self, f"{port}_{name}"))
            ends = (outside, getattr(half, name)) if leads_in else (getattr(half, name), outside)
            connect(m, *ends)
