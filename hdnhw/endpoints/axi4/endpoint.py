"""The AXI4 endpoint of one node: a port for a manager, a port for a memory, or one of them."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import CHANNELS, channels
from hdnhw.endpoints.axi4.part_receiver import PartReceiver
from hdnhw.endpoints.axi4.part_sender import PartSender
from hdnhw.endpoints.axi4.requester import ReadRequester, WriteRequester
from hdnhw.endpoints.axi4.responder import AnswerCollector, RequestPlayer
from hdnhw.endpoints.axi4.spec_blocks import Block
from hdnhw.endpoints.axi4.streams import StreamRequester, stream_layout
from hdnhw.machine.machine import Machine
from hdnhw.rtl.channel import ejection_signature, injection_signature

PORTS = {"s_axi": False, "m_axi": True}
"""Ports of a node -> whether it is that of a memory."""


def port_members(memory: MemoryFormat) -> dict[tuple[str, str], tuple[bool, Any]]:
    """Return the channels of both ports: (port, channel) -> whether it leads into the endpoint, and its transfer."""
    return {
        (port, name): (CHANNELS[name] != is_inside, layout)
        for port, is_inside in PORTS.items()
        for name, layout in channels(memory, inside=is_inside).items()
    }


class MemoryEndpoint(wiring.Component):
    """AXI4 on one side, packets of flits on the other.

    Parameters
    ----------
    machine : Machine
        With AXI4 endpoints.
    ports : sequence of str
        Those of :data:`PORTS` that it has.
    sources : int, optional
        Nodes with managers; all of them if it is not given.
    block : Block, optional
        The source of a stream that stands in place of a manager.

    Members
    -------
    address : In(address width)
        The node's packed address; constant.
    s_axi_aw, s_axi_w, s_axi_ar : In(stream), s_axi_b, s_axi_r : Out(stream)
        The port of a manager, see :func:`hdnhw.endpoints.axi4.layout.channels`.
    m_axi_aw, m_axi_w, m_axi_ar : Out(stream), m_axi_b, m_axi_r : In(stream)
        The port of a memory.
    frames : In(stream of stream_layout)
        Of the source of a stream.
    inject : Out(injection_signature)
    eject : In(ejection_signature)
    """

    def __init__(
        self,
        machine: Machine,
        ports: Sequence[str] = tuple(PORTS),
        *,
        sources: int | None = None,
        block: Block | None = None,
    ) -> None:
        self.machine, self._ports, self._block, memory = machine, ports, block, machine.endpoint_format
        self._sources = machine.network.num_nodes if sources is None else sources
        width = memory.flits.flit_width
        super().__init__(
            {
                "address": In(memory.flits.address_width),
                **{
                    f"{port}_{name}": (In if leads_in else Out)(stream.Signature(layout))
                    for (port, name), (leads_in, layout) in port_members(memory).items()
                    if port in ports
                },
                **({"frames": In(stream.Signature(stream_layout(memory, block)))} if block else {}),
                "inject": Out(injection_signature(flit_width=width)),
                "eject": In(ejection_signature(flit_width=width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        memory = self.machine.endpoint_format
        serves, manages = (port in self._ports for port in ("m_axi", "s_axi"))
        m.submodules.receiver = receiver = PartReceiver(memory, sources=self._sources if serves else 0)
        player, collector = self._elaborate_memory(m, receiver) if serves else (None, None)
        requesters = self._elaborate_manager(m) if manages else self._elaborate_source(m)
        packets = [] if collector is None else [collector.written, collector.data]
        packets += [requester.packet for requester in requesters]
        m.submodules.sender = sender = PartSender(memory, sources=len(packets))
        for number, packet in enumerate(packets):
            connect(m, packet, sender.packets[number])
        connect(m, sender.inject, wiring.flipped(self.inject))
        connect(m, wiring.flipped(self.eject), receiver.eject)
        m.d.comb += [each.address.eq(self.address) for each in (sender, *requesters)]
        if requesters:
            self._elaborate_answers(m, requesters, receiver, player, collector)
        return m

    def _elaborate_memory(self, m: Module, receiver: Any) -> tuple[Any, Any]:
        """Join the side of a memory; return what plays requests, and what collects the answers."""
        memory = self.machine.endpoint_format
        m.submodules.player = player = RequestPlayer(memory)
        m.submodules.collector = collector = AnswerCollector(memory)
        connect(m, receiver.request, player.request)
        connect(m, player.writes, collector.writes)
        connect(m, player.reads, collector.reads)
        halves = {"aw": player, "w": player, "ar": player, "b": collector, "r": collector}
        self._elaborate_ports(m, halves, "m_axi")
        return player, collector

    def _elaborate_manager(self, m: Module) -> list[Any]:
        """Join the side of a manager; return what asks for writes, and for reads."""
        memory, layout = self.machine.endpoint_format, self.machine.address
        m.submodules.writes = writes = WriteRequester(memory, layout)
        m.submodules.reads = reads = ReadRequester(memory, layout)
        self._elaborate_ports(m, {"aw": writes, "w": writes, "b": writes, "ar": reads, "r": reads}, "s_axi")
        return [writes, reads]

    def _elaborate_source(self, m: Module) -> list[Any]:
        """Join the source of a stream, if there is one."""
        if self._block is None:
            return []
        memory, layout = self.machine.endpoint_format, self.machine.address
        m.submodules.writes = writes = StreamRequester(memory, layout, self._block)
        connect(m, wiring.flipped(self.frames), writes.frames)
        return [writes]

    def _elaborate_answers(
        self, m: Module, requesters: list[Any], receiver: Any, player: Any | None, collector: Any | None
    ) -> None:
        """Bring answers to those who asked: what comes from the fabric goes first, as it waits for nobody."""
        comes = (receiver.answers[0], receiver.write)
        reads = requesters[1:]
        m.d.comb += [one.tag.eq(one.answer.tag) for one in reads]
        m.d.comb += [receiver.oldest[number].eq(each.oldest) for number, each in enumerate(requesters)]
        if player is None or collector is None:
            for number, requester in enumerate(requesters):
                m.d.comb += [
                    requester.answered.eq(receiver.answers[number]),
                    requester.answer.eq(receiver.answer),
                    requester.is_oldest.eq(receiver.is_oldest[number]),
                ]
            for one in reads:
                m.d.comb += [getattr(one, name).eq(getattr(receiver, name)) for name in ("write", "index", "word")]
            return
        for number, requester in enumerate(requesters):
            connect(m, requester.own, player.own[number])
            m.d.comb += [
                collector.blocked[number].eq(comes[number]),
                requester.answered.eq(Mux(comes[number], receiver.answers[number], collector.answers[number])),
                requester.answer.eq(Mux(comes[number], receiver.answer, collector.answer[number])),
                requester.is_oldest.eq(Mux(comes[number], receiver.is_oldest[number], collector.is_oldest[number])),
                collector.oldest[number].eq(requester.oldest),
            ]
        for one in reads:
            m.d.comb += [
                one.write.eq(receiver.write | collector.write),
                one.index.eq(Mux(receiver.write, receiver.index, collector.index)),
                one.word.eq(Mux(receiver.write, receiver.word, collector.word)),
            ]

    def _elaborate_ports(self, m: Module, halves: dict[str, Any], port: str) -> None:
        """Join the channels of a port to those who serve them."""
        for name, half in halves.items():
            leads_in, _ = port_members(self.machine.endpoint_format)[port, name]
            outside = wiring.flipped(getattr(self, f"{port}_{name}"))
            ends = (outside, getattr(half, name)) if leads_in else (getattr(half, name), outside)
            connect(m, *ends)
