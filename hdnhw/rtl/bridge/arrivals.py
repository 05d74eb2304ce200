"""Packets that have come by a link, until a router takes them."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.timing import LONG_SLOT
from hdnhw.rtl.arbiter import first_in_order, service_order
from hdnhw.rtl.bits import chosen_from, counted, index_width, number_of
from hdnhw.rtl.bridge.frame import LinkFormat
from hdnhw.rtl.bridge.slots import UNCHECKED, is_phase, phase_counter
from hdnhw.rtl.channel import ChannelSignature

LEAD = 3
"""Cycles from the choice of a packet to its head flit on the channel."""


class Arrivals(wiring.Component):
    """The packet buffers ahead of a channel, and a queue a virtual channel.

    Parameters
    ----------
    link : LinkFormat
    number : int
        Of the channel.
    ahead : int
        Cycles by which the slots of the router begin before those of most.

    Members
    -------
    channel : Out(ChannelSignature)
    en : In(1), vc : In, slot : In, place : In, data : In(word_width)
        Writes a flit: in the packet buffer `slot` of a virtual channel, at the place of its code.
    filled_V : In(number_width)
        The number of the packet of virtual channel V that comes next.
    taken_V : Out(number_width)
        That of the first which the router has not taken.
    moves : Out(1)
        Whether a packet leaves for the router.
    """

    def __init__(self, link: LinkFormat, number: int, *, ahead: int) -> None:
        self._link, self._ahead = link, ahead
        self._buffers = link.machine.input_buffers(link.ports[number])
        self._num_vcs = link.num_vcs(number)
        width = link.number_width
        members: dict[str, Any] = {
            "channel": Out(ChannelSignature(link.machine, num_vcs=self._num_vcs)),
            "en": In(1),
            "vc": In(index_width(self._num_vcs)),
            "slot": In(width - 1),
            "place": In(index_width(link.machine.spec.packet_length)),
            "data": In(link.machine.word_width),
            "moves": Out(1),
        }
        for vc in range(self._num_vcs):
            members |= {f"filled_{vc}": In(width), f"taken_{vc}": Out(width)}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        machine, length = self._link.machine, self._link.machine.spec.packet_length
        timing, channel = machine.timing, self.channel
        head = timing.head_phase - self._ahead
        phase = phase_counter(m, length, since=(head - LEAD + 1) % length, name="phase")
        chooses = Signal()
        m.d.sync += chooses.eq(is_phase(phase, -2, length))
        taken = [getattr(self, f"taken_{vc}") for vc in range(self._num_vcs)]
        looks = is_phase(phase, timing.credit_phase - timing.channel_cycles + LEAD - 1, length)
        chosen = self._elaborate_choice(m, taken, chooses, looks)
        m.d.comb += self.moves.eq(chooses & chosen.any())
        sends, vc = Signal(), Signal(index_width(self._num_vcs))
        slot = Signal(self._link.number_width - 1)
        with m.If(chooses):
            m.d.sync += [
                sends.eq(chosen.any()),
                vc.eq(number_of(dict(enumerate(chosen)), len(vc))),
                slot.eq(chosen_from(taken, number_of(dict(enumerate(chosen)), len(vc)))),
            ]
        words = self._num_vcs << (self._link.number_width - 1 + index_width(length))
        m.submodules.flits = flits = memory.Memory(shape=machine.word_width, depth=words, init=[], attrs=UNCHECKED)
        write, read = flits.write_port(), flits.read_port()
        m.d.comb += [
            write.addr.eq(self._address(self.place, self.slot, self.vc)),
            write.data.eq(self.data),
            write.en.eq(self.en),
            read.addr.eq(self._address(phase, slot, vc)),
        ]
        flit, sent = Signal(machine.word_width, reset_less=True), Signal(2)
        m.d.sync += [flit.eq(read.data), sent.eq(Cat(sends, sent[0]))]
        m.d.comb += [channel.valid.eq(sent[-1]), channel.data.eq(flit[: machine.spec.flit_width])]
        if machine.spec.crc:
            m.d.comb += channel.check.eq(flit[machine.spec.flit_width :])
        if self._num_vcs > 1:
            m.d.sync += channel.vc.eq(vc)
        return m

    def _elaborate_choice(self, m: Module, taken: list[Signal], chooses: Value, looks: Value) -> Signal:
        """Choose a packet for the next slot, in turn among virtual channels with credits: one-hot, 0 if none goes."""
        numbers = range(self._num_vcs)
        domain = m.d["sync" if self._link.machine.spec.packet_length >= LONG_SLOT else "comb"]
        ready, chosen = Signal(self._num_vcs), Signal(self._num_vcs)
        for vc in numbers:
            free = Signal(range(self._buffers + 1), name=f"free_{vc}", init=self._buffers)
            spends = chosen[vc] & chooses
            domain += ready[vc].eq((getattr(self, f"filled_{vc}") != taken[vc]) & free.any())
            m.d.sync += free.eq(counted(free, self.channel.credit[vc] & looks, spends))
            with m.If(spends):
                m.d.sync += taken[vc].eq(taken[vc] + 1)
        order = service_order(m, chosen, update=chooses, name="order")
        domain += chosen.eq(Cat(first_in_order(dict(enumerate(ready)), order).values()))
        return chosen

    def _address(self, flit: Value, slot: Value, vc: Value) -> Value:
        return Cat(flit, slot, *([vc] if self._num_vcs > 1 else []))
