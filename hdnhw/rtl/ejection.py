"""The buffer between a router and a terminal that takes packets at its own pace."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import equals, index_width, next_flit, stepped
from hdnhw.rtl.channel import ChannelSignature, ejection_signature
from hdnhw.rtl.check_bits import ERRORS_WIDTH, PacketCheck
from hdnhw.rtl.counter import count_events


class EjectionBuffer(wiring.Component):
    """A queue of flits with room for whole packets; a flit can be taken one cycle after it stood on the channel.

    Parameters
    ----------
    machine : Machine
        Without a crc.

    Members
    -------
    channel : In(ChannelSignature)
        The router's ``eject``. The credit of a packet returns in the cycle in which its tail is taken, or the next one
        in long slots.
    eject : Out(ejection_signature)
        A terminal that is never ready stops the packets behind, and loses none.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, flit_width = machine, machine.spec.flit_width
        super().__init__(
            {
                "channel": In(ChannelSignature(machine, num_vcs=1, leads_on=False)),
                "eject": Out(ejection_signature(flit_width=flit_width)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        length = self.machine.timing.packet_length
        depth = self.machine.ejection_buffers << index_width(length)
        m.submodules.flits = buffer = memory.Memory(shape=self.machine.spec.flit_width, depth=depth, init=[])
        write, read = buffer.write_port(), buffer.read_port(domain="comb")
        valid, do_take = Signal(), Signal()
        written = _elaborate_pointer(m, self.machine, "write", self.channel.valid)
        taken, is_tail = _elaborate_taking(m, self.machine, do_take)
        is_head = equals(written[: index_width(length)], 0)
        packets = Signal(self.machine.ejection_buffers)
        m.d.sync += valid.eq(self.channel.valid | (valid & ~(self.eject.ready & is_tail & ~packets[1:2].any())))
        # In long slots the credit, and so the count, is a cycle late: before the next tail can be taken.
        m.d.sync += packets.eq(stepped(packets, self.channel.valid & is_head, self.channel.credit))
        _elaborate_credit(m, self.machine, self.channel.credit, do_take & is_tail)
        m.d.comb += [
            write.addr.eq(written),
            write.data.eq(self.channel.data),
            write.en.eq(self.channel.valid),
            read.addr.eq(taken),
            self.eject.valid.eq(valid),
            self.eject.payload.data.eq(read.data),
            self.eject.payload.last.eq(is_tail),
            do_take.eq(valid & self.eject.ready),
        ]
        return m


class CheckedEjectionBuffer(wiring.Component):
    """A queue of packets with room for whole ones: a packet can be taken two cycles after its tail was on the channel.

    One that has a wrong flit does not come out: the buffer takes it itself when its turn comes, a flit per cycle, so
    that its credit returns as that of any other.

    Parameters
    ----------
    machine : Machine
        With a crc.

    Members
    -------
    channel : In(ChannelSignature)
        With check bits. The credit of a packet returns in the cycle in which its tail is taken, or the next one
        in long slots.
    eject : Out(ejection_signature)
        A terminal that is never ready stops the packets behind, and loses none.
    bad : Out(16)
        Packets with a wrong flit since reset; stays at its largest value.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, flit_width = machine, machine.spec.flit_width
        super().__init__(
            {
                "channel": In(ChannelSignature(machine, num_vcs=1, leads_on=False)),
                "eject": Out(ejection_signature(flit_width=flit_width)),
                "bad": Out(ERRORS_WIDTH),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        length, flit_width = self.machine.timing.packet_length, self.machine.spec.flit_width
        width = index_width(length)
        depth = self.machine.ejection_buffers << width
        m.submodules.flits = buffer = memory.Memory(shape=flit_width, depth=depth, init=[])
        write, read = buffer.write_port(), buffer.read_port(domain="comb")
        m.submodules.checker = check = PacketCheck(flit_width=flit_width)
        do_take, packets = Signal(), Signal(self.machine.ejection_buffers)
        written = _elaborate_pointer(m, self.machine, "write", self.channel.valid)
        checked = _elaborate_pointer(m, self.machine, "checked", check.done, of_packets=True)[1:]
        taken, is_tail = _elaborate_taking(m, self.machine, do_take)
        m.d.sync += packets.eq(stepped(packets, check.done, do_take & is_tail))
        _elaborate_credit(m, self.machine, self.channel.credit, do_take & is_tail)
        is_bad = self._elaborate_marks(m, check, checked, taken[width:])
        count_events(m, self.bad, check.done & check.bad)
        m.d.comb += [
            check.valid.eq(self.channel.valid),
            check.data.eq(self.channel.data),
            check.check.eq(self.channel.check),
            check.tail.eq(equals(next_flit(written[:width], length), 0)),
            write.addr.eq(written),
            write.data.eq(self.channel.data),
            write.en.eq(self.channel.valid),
            read.addr.eq(taken),
            self.eject.valid.eq(packets[0] & ~is_bad),
            self.eject.payload.data.eq(read.data),
            self.eject.payload.last.eq(is_tail),
            do_take.eq(packets[0] & (self.eject.ready | is_bad)),
        ]
        return m

    def _elaborate_marks(self, m: Module, check: PacketCheck, checked: Value, taken: Value) -> Value:
        """Mark the packet buffers of bad packets once they have been checked; return whether that taken is marked."""
        buffers = self.machine.ejection_buffers
        marks = Signal(buffers)
        here = [
            [equals(slot[:-1], number) if buffers > 1 else Const(1, 1) for number in range(buffers)]
            for slot in (checked, taken)
        ]
        for number, mark in enumerate(marks):
            with m.If(check.done & here[0][number]):
                m.d.sync += mark.eq(check.bad)
        return (marks & Cat(here[1])).any()


def ejection_buffer(machine: Machine) -> EjectionBuffer | CheckedEjectionBuffer:
    """Return the ejection buffer of a machine."""
    return (CheckedEjectionBuffer if machine.spec.crc else EjectionBuffer)(machine)


def _elaborate_taking(m: Module, machine: Machine, do_take: Value) -> tuple[Value, Value]:
    """Return the address of the flit that is taken next, and whether it is a tail; both are registers."""
    length = machine.timing.packet_length
    ahead = _elaborate_pointer(m, machine, "ahead", do_take, start=1)
    taken, is_tail = Signal.like(ahead), Signal(init=length == 1)
    with m.If(do_take):
        m.d.sync += [taken.eq(ahead), is_tail.eq(equals(next_flit(ahead[: index_width(length)], length), 0))]
    return taken, is_tail


def _elaborate_credit(m: Module, machine: Machine, credit: Value, is_free: Value) -> None:
    """Return a credit when a packet buffer `is_free`, in the next cycle where slots have time for a register."""
    m.d["sync" if machine.timing.registers_credits else "comb"] += credit.eq(is_free)


def _elaborate_pointer(
    m: Module, machine: Machine, name: str, advance: Value, *, start: int = 0, of_packets: bool = False
) -> Value:
    """Count flits from flit `start` on, 0 or 1; return the address, and above it whether the round is odd.

    Count packets as if they had one flit if it is `of_packets`.
    """
    packet_length = 1 if of_packets else machine.timing.packet_length
    flit_start, slot_start = (start, 0) if packet_length > 1 else (0, start)
    flit = Signal(index_width(packet_length), name=f"{name}_flit", init=flit_start)
    slot = Signal(machine.ejection_buffers.bit_length(), name=f"{name}_slot", init=slot_start)
    following = next_flit(flit, packet_length)
    with m.If(advance):
        m.d.sync += flit.eq(following)
        with m.If(equals(following, 0)):
            m.d.sync += slot.eq(Cat(bit ^ slot[:place].all() for place, bit in enumerate(slot)))
    return Cat(flit, slot)
