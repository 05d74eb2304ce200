"""The terminal of one node in a total exchange."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import equals, index_width, next_flit
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.circuit import elaborate_circuit
from hdnhw.traffic.exchange import exchange_circuit

COUNT_CYCLES = 3
"""Cycles from the one in which a tail flit is taken to the first in which it has been counted."""

FAULT_BITS = 4
"""Bits of a flit that are compared in front of a register."""


def count_width(num_nodes: int) -> int:
    """Return the bits of a count of the packets that a node receives."""
    return num_nodes.bit_length()


def next_word(flit: Value) -> Value:
    """Return the flit that follows another one in a packet: rotated to the left by one bit, and inverted."""
    return ~flit.rotate_left(1)


class ExchangeGenerator(wiring.Component):
    """Send one packet to each other node, and check those that come: one of each, for this node and intact.

    The destination is computed from the node's own address and an offset, see
    :func:`hdnhw.traffic.exchange.exchange_circuit`. A packet's head flit holds the destination's address and above it
    the source's, the others see :func:`next_word`. One flit a cycle in both directions.

    Parameters
    ----------
    machine : Machine
        With generators. At once, packets are sent in the order of offsets as fast as they are accepted; otherwise one
        each time that an offset comes.

    Members
    -------
    address : In(address width)
        The node's packed address; constant.
    clear : In(1)
        High for one cycle before a run: all counts become 0.
    start : In(1)
        High for one cycle: `offset` is there, or, at once, the run begins. A head flit is offered in the next cycle, or
        when the packet before has been accepted; there is room for one that waits.
    offset : In(address width)
        Packed like an address, not 0; absent at once.
    inject : Out(injection_signature)
    eject : In(ejection_signature)
        Always ready.
    received : Out
        Packets received in this run, good or not; three cycles late.
    wrong : Out
        Of these, packets for another node, from this one or with other flits than were sent; and offsets that came
        while there was no room.
    done : Out(1)
        Whether a packet of each other node has been received.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, layout, flits = machine, machine.address, machine.flits
        self._at_once = machine.endpoint_format.endpoints.at_once
        width, count = layout.width, count_width(layout.network.num_nodes)
        members: dict[str, Any] = {} if self._at_once else {"offset": In(width)}
        super().__init__(
            {
                "address": In(width),
                "clear": In(1),
                "start": In(1),
                "inject": Out(injection_signature(flit_width=flits.flit_width)),
                "eject": In(ejection_signature(flit_width=flits.flit_width)),
                "received": Out(count),
                "wrong": Out(count),
                "done": Out(1),
                **members,
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        missed = self._elaborate_source(m)
        tail, bad = self._elaborate_sink(m)
        with m.If(self.clear):
            m.d.sync += [self.received.eq(0), self.wrong.eq(0)]
        with m.Else():
            m.d.sync += [self.received.eq(self.received + tail), self.wrong.eq(self.wrong + (bad | missed))]
        m.d.comb += self.done.eq(equals(self.received, self.machine.network.num_nodes - 1))
        return m

    def _elaborate_source(self, m: Module) -> Value:
        """Send packets; return whether an offset has come for which there was no room."""
        length = self.machine.spec.packet_length
        pending, flit = Signal(), Signal(index_width(length))
        destination = Signal(self.machine.address.width, reset_less=True)
        word = Signal(self.machine.spec.flit_width, reset_less=True)
        is_head, do_flit, do_head = Signal(), Signal(), Signal()
        m.d.comb += [
            is_head.eq(equals(flit, 0)),
            self.inject.valid.eq(pending | ~is_head),
            self.inject.payload.eq(Mux(is_head, Cat(destination, self.address), word)),
            do_flit.eq(self.inject.valid & self.inject.ready),
            do_head.eq(do_flit & is_head),
        ]
        with m.If(do_flit):
            m.d.sync += [flit.eq(next_flit(flit, length)), word.eq(next_word(self.inject.payload))]
        if self._at_once:
            start, offset = self._elaborate_walk(m, self.start | do_head)
        else:
            start, offset = self.start, self.offset
        late = pending & ~do_head
        with m.If(start & ~late):
            m.d.sync += [pending.eq(1), destination.eq(self._destination(m, offset))]
        with m.Elif(do_head):
            m.d.sync += pending.eq(0)
        missed = Signal()
        m.d.sync += missed.eq(start & late)
        return missed

    def _destination(self, m: Module, offset: Value) -> Value:
        """Return the packed address that the own one and an offset give."""
        circuit, digits = exchange_circuit(self.machine.network)
        addresses = {"own": self.address, "off": offset}
        return Cat(reversed(elaborate_circuit(m, circuit, digits, addresses, self.machine.address)))

    def _elaborate_walk(self, m: Module, step: Value) -> tuple[Value, Value]:
        """Go from offset to offset; return whether one is there in a `step`, and it. The first is there after reset."""
        offset = Signal(self.machine.address.width, init=1)
        carry, following = step & offset.any(), []
        for field in reversed(self.machine.address.fields):
            digit = offset[field.offset : field.offset + field.width]
            is_last = equals(digit, field.radix - 1)
            following.append(Mux(carry, Mux(is_last, 0, digit + 1), digit)[: field.width])
            carry = carry & is_last
        m.d.sync += offset.eq(Cat(following))
        with m.If(self.clear):
            m.d.sync += offset.eq(1)
        return step & offset.any(), offset

    def _elaborate_sink(self, m: Module) -> tuple[Value, Value]:
        """Take packets; return whether one has ended the cycle before, and whether it was a wrong one."""
        width, data, do_flit = self.machine.address.width, self.eject.payload.data, self.eject.valid
        is_head, expected = Signal(init=1), Signal(self.machine.spec.flit_width, reset_less=True)
        source = data[width : 2 * width]
        body = data ^ expected
        head = Cat(data[:width] ^ self.address, Const(0, width), data[2 * width :])
        differs = Mux(is_head, head, body)
        faults = Signal(-(-len(differs) // FAULT_BITS) + 1)
        came, ended, tail, fault, faulty = (Signal(name=name) for name in ("came", "ended", "tail", "fault", "faulty"))
        m.d.comb += self.eject.ready.eq(1)
        with m.If(do_flit):
            m.d.sync += [is_head.eq(self.eject.payload.last), expected.eq(next_word(data))]
        m.d.sync += [
            faults.eq(Cat(*_groups(differs), is_head & (source == self.address))),
            came.eq(do_flit),
            ended.eq(do_flit & self.eject.payload.last),
            fault.eq(came & faults.any()),
            tail.eq(ended),
            faulty.eq(~tail & (faulty | fault)),
        ]
        return tail, tail & (faulty | fault)


def _groups(bits: Value) -> list[Value]:
    """Return for each few bits whether one is set: what fits in front of a register."""
    return [bits[place : place + FAULT_BITS].any() for place in range(0, len(bits), FAULT_BITS)]
