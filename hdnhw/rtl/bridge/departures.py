"""Packets that a router sends into a bridge, until the link takes them."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import chosen_from, equals, index_width, next_flit
from hdnhw.rtl.bridge.slots import UNCHECKED, is_phase, phase_counter
from hdnhw.rtl.channel import ChannelSignature


class Departures(wiring.Component):
    """The packet buffers at the end of a channel, and a queue a virtual channel.

    Parameters
    ----------
    machine : Machine
    port : int
        By which the channel leaves its router.
    ahead : int
        Cycles by which the slots of the router begin before those of most.

    Members
    -------
    channel : In(ChannelSignature)
    waits : Out(virtual channels)
        Whether a packet is there, or comes in.
    take : In(virtual channels)
        One-hot, whether a packet leaves; not in the two cycles behind one, nor while flits are read.
    flit : Out(word_width)
        Flit p of it, p + 3 cycles later.
    """

    def __init__(self, machine: Machine, port: int, *, ahead: int) -> None:
        self._machine, self._ahead = machine, ahead
        self._num_vcs, self._buffers = machine.plan.num_vcs[port], machine.vc_buffers(port)
        super().__init__(
            {
                "channel": In(ChannelSignature(machine, num_vcs=self._num_vcs)),
                "waits": Out(self._num_vcs),
                "take": In(self._num_vcs),
                "flit": Out(machine.word_width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        machine, length, channel = self._machine, self._machine.spec.packet_length, self.channel
        leaves = machine.timing.channel_cycles - self._ahead
        phase = phase_counter(m, length, since=leaves % length, name="phase")
        bits = (self._buffers - 1).bit_length()
        written, taken = (
            [Signal(bits + 1, name=f"{name}_{vc}") for vc in range(self._num_vcs)] for name in ("written", "taken")
        )
        head = channel.valid & is_phase(phase, 0, length)
        vc = self._elaborate_vc(m)
        for number, (one, other) in enumerate(zip(written, taken, strict=True)):
            m.d.comb += self.waits[number].eq(one != other)
            with m.If(head & (equals(vc, number) if self._num_vcs > 1 else Const(1))):
                m.d.sync += one.eq(one + 1)
            with m.If(self.take[number]):
                m.d.sync += other.eq(other + 1)
        self._elaborate_credits(m, is_phase(phase, machine.timing.credit_phase - machine.timing.channel_cycles, length))
        style = {"ram_style": "block"} if machine.is_block_ram else {}
        m.submodules.flits = flits = memory.Memory(
            shape=machine.word_width,
            depth=machine.buffer_words(self._num_vcs, self._buffers),
            init=[],
            attrs=style | UNCHECKED,
        )
        write, read = flits.write_port(), flits.read_port()
        slot = self._elaborate_slot(m, written, phase, vc, bits)
        data = Cat(channel.data, channel.check) if machine.spec.crc else channel.data
        address = self._address(phase, slot, vc, bits)
        for signal, value in ((write.addr, address), (write.data, data), (write.en, channel.valid)):
            register = Signal.like(signal, name=f"late_{signal.name}", reset_less=signal is not write.en)
            m.d.sync += register.eq(value)
            m.d.comb += signal.eq(register)
        place, which = self._elaborate_reading(m, taken, bits)
        flit = Signal(machine.word_width, reset_less=True)
        m.d.sync += flit.eq(read.data)
        m.d.comb += [read.addr.eq(self._address(place, which[0], which[1], bits)), self.flit.eq(flit)]
        return m

    def _elaborate_vc(self, m: Module) -> Value:
        """Return the virtual channel of the flit on the channel, which comes a cycle ahead."""
        if self._num_vcs == 1:
            return Const(0)
        vc = Signal(index_width(self._num_vcs), name="vc", reset_less=True)
        m.d.sync += vc.eq(self.channel.vc)
        return vc

    def _elaborate_slot(self, m: Module, written: list[Signal], phase: Value, vc: Value, bits: int) -> Value:
        """Return the packet buffer of the flit on the channel: looked up in the cycle ahead of a packet, if it can."""
        length = self._machine.spec.packet_length
        if length == 1:
            return chosen_from(written, vc)[:bits]
        ahead = self.channel.vc if self._num_vcs > 1 else Const(0)
        slot = Signal(max(1, bits), name="slot", reset_less=True)
        with m.If(is_phase(phase, -1, length)):
            m.d.sync += slot.eq(chosen_from(written, ahead))
        return slot[:bits]

    def _elaborate_reading(self, m: Module, taken: list[Signal], bits: int) -> tuple[Value, tuple[Value, Value]]:
        """Read the packet that is taken: return flit, packet buffer and virtual channel."""
        length = self._machine.spec.packet_length
        flit = Signal(index_width(length), name="reading_flit")
        slot, vc = Signal(max(1, bits), name="reading_slot"), Signal(index_width(self._num_vcs), name="reading_vc")
        m.d.sync += flit.eq(next_flit(flit, length))
        for number, pointer in enumerate(taken):
            with m.If(self.take[number]):
                m.d.sync += [flit.eq(0), slot.eq(pointer), vc.eq(number)]
        return flit, (slot[:bits], vc)

    def _elaborate_credits(self, m: Module, counts: Value) -> None:
        """Give a credit for each packet that is taken, when the router looks: at most one is, from look to look."""
        owed = Signal(self._num_vcs)
        m.d.sync += owed.eq(owed & ~counts.replicate(self._num_vcs) | self.take)
        m.d.comb += self.channel.credit.eq(owed)

    def _address(self, flit: Value, slot: Value, vc: Value, bits: int) -> Value:
        return Cat(flit, *([slot] if bits else []), *([vc] if self._num_vcs > 1 else []))
