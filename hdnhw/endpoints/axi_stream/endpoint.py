"""The endpoint of one node: both halves, and the counters that the registers read."""

from typing import Any

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hdnhw.endpoints.axi_stream.format_pool import pool_of
from hdnhw.endpoints.axi_stream.layout import receive_layout, send_layout
from hdnhw.endpoints.axi_stream.packet_sender import PacketSender
from hdnhw.endpoints.axi_stream.reassembler import FrameOutput, PacketReceiver
from hdnhw.endpoints.axi_stream.segmenter import FrameBuffer
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import chosen_from
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.ports import DROPPED_WIDTH

WORD_WIDTH = 32
"""Bits of a register."""

EVENT_WIDTH = 16
"""Bits of the counters of faults, which stay at their maximum."""


class NodeWord(enum.IntEnum, shape=3):
    """The registers of a node, in the order of their addresses."""

    FRAMES_SENT = 0
    FRAMES_RECEIVED = 1
    PACKETS_DROPPED = 2
    FRAMES_IMPOSSIBLE = 3
    FRAMES_OVERLONG = 4
    ADDRESS = 5


class Endpoint(wiring.Component):
    """AXI4-Stream on one side, packets of flits on the other.

    Parameters
    ----------
    machine : Machine
        With AXI4-Stream endpoints.

    Members
    -------
    address : In(address width)
        The node's packed address; constant.
    s_axis : In(stream of send_layout)
        Frames to other nodes, see :class:`hdnhw.endpoints.axi_stream.segmenter.FrameBuffer`.
    m_axis : Out(stream of receive_layout)
        Frames from other nodes, each whole and contiguous; those of one source in the order in which it sent them.
    inject : Out(injection_signature)
    eject : In(ejection_signature)
    dropped : In(16)
        The router's count of dropped packets.
    select : In(NodeWord)
    word : Out(32)
        The register that `select` named one cycle before. Counts of frames are modulo 2^32; those of faults have 16
        bits and stay at their maximum.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, frames = machine, machine.endpoint_format
        width = frames.flits.flit_width
        super().__init__(
            {
                "address": In(frames.flits.address_width),
                "s_axis": In(stream.Signature(send_layout(frames))),
                "m_axis": Out(stream.Signature(receive_layout(frames))),
                "inject": Out(injection_signature(flit_width=width)),
                "eject": In(ejection_signature(flit_width=width)),
                "dropped": In(DROPPED_WIDTH),
                "select": In(NodeWord),
                "word": Out(WORD_WIDTH),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        pool = pool_of(self.machine)
        m.submodules.buffer = buffer = FrameBuffer(pool, self.machine.address)
        m.submodules.sender = sender = PacketSender(pool)
        m.submodules.receiver = receiver = PacketReceiver(pool)
        m.submodules.output = output = FrameOutput(pool)
        connect(m, wiring.flipped(self.s_axis), buffer.s_axis)
        connect(m, buffer.oldest, sender.oldest)
        connect(m, sender.inject, wiring.flipped(self.inject))
        connect(m, wiring.flipped(self.eject), receiver.eject)
        connect(m, receiver.reply, sender.reply)
        connect(m, receiver.complete, output.complete)
        connect(m, output.read, receiver.read)
        connect(m, output.m_axis, wiring.flipped(self.m_axis))
        m.d.comb += [sender.address.eq(self.address), sender.granted.eq(receiver.granted)]
        words: dict[int, Value] = {
            NodeWord.FRAMES_SENT: self._count(m, "sent", sender.sent),
            NodeWord.FRAMES_RECEIVED: self._count(m, "received", output.received),
            NodeWord.PACKETS_DROPPED: self.dropped,
            NodeWord.FRAMES_IMPOSSIBLE: self._count_events(m, "impossible", buffer.impossible),
            NodeWord.FRAMES_OVERLONG: self._count_events(m, "overlong", buffer.overlong),
            NodeWord.ADDRESS: self.address,
        }
        m.d.sync += self.word.eq(chosen_from([words[number] for number in sorted(words)], self.select))
        return m

    def _count(self, m: Module, name: str, event: Value) -> Signal:
        count = Signal(WORD_WIDTH, name=name)
        with m.If(event):
            m.d.sync += count.eq(count + 1)
        return count

    def _count_events(self, m: Module, name: str, event: Value) -> Signal:
        count = Signal(EVENT_WIDTH, name=name)
        with m.If(event & ~count.all()):
            m.d.sync += count.eq(count + 1)
        return count
