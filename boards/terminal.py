"""A terminal of the self-test: it sends the packets of a test and checks those that come."""

from operator import index
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hdnhw.boards.catalogue import MOST_PACKETS
from hdnhw.boards.pattern import LFSR_WIDTH, HeadFormat, lfsr_step, mix
from hdnhw.machine.flit import FlitFormat
from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.channel import ejection_signature, injection_signature
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.topology.address import AddressLayout

NUMBER_WIDTH = MOST_PACKETS.bit_length()

SEED_FACTOR = 0x9E3779
"""Odd, so that seeds differ between nodes."""


class TrafficKind(enum.Enum, shape=2):
    """What the terminals send.

    EXCHANGE: one packet to every other node, in the same relative order everywhere. RANDOM: packets to random nodes,
    the sender among them, while sinks pause in a quarter of the cycles. IMPOSSIBLE: one packet to an address that names
    no node.
    """

    EXCHANGE = 0
    RANDOM = 1
    IMPOSSIBLE = 2


def balance_width(flits: FlitFormat) -> int:
    """Return the bits of a head flit that are summed over packets sent less packets received."""
    return min(16, flits.flit_width)


def check_packets(packets: int) -> int:
    """Return the packets of the random test, a node.

    Raises
    ------
    ValueError
        If they are too few or too many for the counters.
    """
    if not 1 <= index(packets) <= MOST_PACKETS:
        raise ValueError(f"packets must be 1 to {MOST_PACKETS} a node, not {packets!r}")
    return index(packets)


class PacketGenerator(wiring.Component):
    """A source of packets: one flit per cycle while the fabric is ready, no gap between packets.

    Parameters
    ----------
    layout : AddressLayout
    flits : FlitFormat
    node : int
        Its node number.
    packets : int
        Packets of the random test.

    Members
    -------
    start : In(1)
        Begin the test of `kind`; the first flit is offered two cycles later.
    kind : In(TrafficKind)
        Constant during a test.
    random : In(address width)
        Random bits.
    inject : Out(injection_signature)
    busy : Out(1)
        From the cycle after `start` until the last flit has been taken.
    """

    def __init__(self, layout: AddressLayout, flits: FlitFormat, *, node: int, packets: int) -> None:
        self._layout, self._flits, self._packets = layout, flits, check_packets(packets)
        self._head = HeadFormat(flits)
        self._own = int(layout.of_node(node))
        super().__init__(
            {
                "start": In(1),
                "kind": In(TrafficKind),
                "random": In(layout.width),
                "inject": Out(injection_signature(flit_width=flits.flit_width)),
                "busy": Out(1),
            }
        )

    def _next_in_exchange(self, dst: Signal) -> Any:
        """Return the destination after `dst`: its digits less the own ones, modulo the radices, counted up by one."""
        digits, carry = [], Const(1)
        for field in reversed(self._layout.fields):  # the last digit has the lowest bits
            digit = dst[field.offset : field.offset + field.width]
            own = self._own >> field.offset & ((1 << field.width) - 1)
            up = Mux(equals(digit, field.radix - 1), 0, digit + 1)[: field.width]
            digits.append(Mux(carry, up, digit))
            carry = carry & (up == own)
        return Cat(digits)

    def _random_node(self) -> Any:
        """Fold random bits into digits."""
        digits = []
        for field in reversed(self._layout.fields):
            digit = self.random[field.offset : field.offset + field.width]
            digits.append(Mux(digit >= field.radix, digit - field.radix, digit)[: field.width])
        return Cat(digits)

    def _impossible(self) -> int:
        """Return an address that names no node, or the own one where all name one."""
        holes = [field for field in self._layout.fields if field.radix != 1 << field.width]
        return self._own | (((1 << holes[0].width) - 1) << holes[0].offset if holes else 0)

    def _elaborate_destination(self, m: Module, number: Signal, do_load: Signal) -> tuple[Any, Any]:
        """Choose the next packet; return (whether there is one, its destination)."""
        more, pick = Signal(), Signal(self._layout.width)
        dst = Signal(self._layout.width, init=self._own)  # of the packet before; the exchange ends where it began
        with m.Switch(self.kind):
            with m.Case(TrafficKind.EXCHANGE):
                m.d.comb += [pick.eq(self._next_in_exchange(dst)), more.eq(~equals(pick, self._own))]
            with m.Case(TrafficKind.RANDOM):
                m.d.comb += [pick.eq(self._random_node()), more.eq(~equals(number, self._packets))]
            with m.Case(TrafficKind.IMPOSSIBLE):
                m.d.comb += [pick.eq(self._impossible()), more.eq(number == 0)]
        with m.If(self.start):
            m.d.sync += dst.eq(self._own)
        with m.Elif(do_load & more):
            m.d.sync += dst.eq(pick)
        return more, pick

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        running, valid, do_load, is_tail = Signal(), Signal(), Signal(), Signal()
        flit = Signal(self._flits.flit_width)
        position = Signal(index_width(self._flits.packet_length))
        number = Signal(NUMBER_WIDTH)  # packets begun
        more, pick = self._elaborate_destination(m, number, do_load)
        m.d.comb += [
            is_tail.eq(equals(position, self._flits.packet_length - 1)),
            self.inject.valid.eq(valid),
            self.inject.payload.eq(flit),
            self.busy.eq(running | valid),
        ]
        do_take = valid & self.inject.ready
        m.d.comb += do_load.eq(running & (~valid | (do_take & is_tail)))
        with m.If(do_take):
            m.d.sync += [flit.eq(mix(flit)), position.eq(Mux(is_tail, 0, position + 1))]
            with m.If(is_tail):
                m.d.sync += valid.eq(0)
        with m.If(self.start):
            m.d.sync += [running.eq(1), number.eq(0)]
        with m.Elif(do_load):
            with m.If(more):
                head = self._head.pack(pick, Const(self._own, self._layout.width), number[: self._head.sequence_width])
                m.d.sync += [flit.eq(head), valid.eq(1), number.eq(number + 1)]
            with m.Else():
                m.d.sync += running.eq(0)
        return m


class PacketChecker(wiring.Component):
    """A sink that compares every bit of every packet with what it must be.

    Parameters
    ----------
    layout : AddressLayout
    flits : FlitFormat
    node : int
        Its node number.

    Members
    -------
    hold : In(1)
        Take nothing in this cycle.
    eject : In(ejection_signature)
    received : Out(1)
        High for one cycle for each packet, two cycles after its tail was taken.
    misrouted : Out(1)
        With `received`: the packet is for another node.
    corrupted : Out(1)
        With `received`: some bit of it is wrong, or it has too few or too many flits.
    is_head : Out(1)
        `head` holds a head flit, one cycle after it was taken.
    head : Out(flit width)
    """

    def __init__(self, layout: AddressLayout, flits: FlitFormat, *, node: int) -> None:
        self._flits, self._own, self._head = flits, int(layout.of_node(node)), HeadFormat(flits)
        super().__init__(
            {
                "hold": In(1),
                "eject": In(ejection_signature(flit_width=flits.flit_width)),
                "received": Out(1),
                "misrouted": Out(1),
                "corrupted": Out(1),
                "is_head": Out(1),
                "head": Out(flits.flit_width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        width, length = self._flits.flit_width, self._flits.packet_length
        flit, expected = Signal(width), Signal(width)
        taken, is_tail, first = Signal(), Signal(), Signal(init=1)
        position = Signal(index_width(length))
        wrong, wrong_before, elsewhere, elsewhere_before = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [
            taken.eq(self.eject.valid & self.eject.ready),
            flit.eq(self.eject.payload.data),
            is_tail.eq(self.eject.payload.last),
        ]
        reference = Mux(first, self._head.repack(flit), expected)
        misplaced = is_tail ^ equals(position, length - 1)
        m.d.comb += [
            self.eject.ready.eq(~self.hold),
            self.is_head.eq(taken & first),
            self.head.eq(flit),
            wrong.eq((flit != reference) | misplaced | (wrong_before & ~first)),
            elsewhere.eq(Mux(first, ~equals(self._head.dst(flit), self._own), elsewhere_before)),
        ]
        with m.If(taken):
            m.d.sync += [
                expected.eq(mix(Mux(first, flit, expected))),
                first.eq(is_tail),
                position.eq(Mux(is_tail, 0, position + 1)),
                wrong_before.eq(wrong),
                elsewhere_before.eq(elsewhere),
            ]
        m.d.sync += [
            self.received.eq(taken & is_tail),
            self.misrouted.eq(taken & is_tail & elsewhere),
            self.corrupted.eq(taken & is_tail & wrong),
        ]
        return m


class Terminal(wiring.Component):
    """What the self-test puts at a node: a generator, a checker and their random bits.

    The random bits go on through resets, so that every run of the self-test sends other packets.

    Parameters
    ----------
    layout : AddressLayout
    flits : FlitFormat
    node, packets : int
        See :class:`PacketGenerator`.

    Members
    -------
    start : In(1)
    kind : In(TrafficKind)
    busy : Out(1)
        See :class:`PacketGenerator`.
    forget : In(1)
        Set the balance to 0.
    collect : In(1)
        Pass `balance_i` on to `balance_o`, one terminal a cycle.
    balance_i, balance_o : In, Out(balance_width)
        The sum of the heads sent less those received since `forget`, modulo a power of two.
    active : Out(1)
        A flit was injected or ejected in the cycle before.
    sent, received, misrouted, corrupted, dropped : Out(1)
        High for one cycle for each packet; `dropped` counts the steps of the router's own counter.
    inject : Out(injection_signature)
    eject : In(ejection_signature)
    drops : In(16)
        The router's counter of dropped packets.
    """

    def __init__(self, layout: AddressLayout, flits: FlitFormat, *, node: int, packets: int) -> None:
        self._layout, self._flits = layout, flits
        self._seed = (layout.of_node(node) + 1) * SEED_FACTOR % (1 << LFSR_WIDTH)
        self._generator = PacketGenerator(layout, flits, node=node, packets=packets)
        self._checker = PacketChecker(layout, flits, node=node)
        events = ("active", "sent", "received", "misrouted", "corrupted", "dropped")
        super().__init__(
            {
                "start": In(1),
                "kind": In(TrafficKind),
                "busy": Out(1),
                "forget": In(1),
                "collect": In(1),
                "balance_i": In(balance_width(flits)),
                "balance_o": Out(balance_width(flits)),
                **{event: Out(1) for event in events},
                "inject": Out(injection_signature(flit_width=flits.flit_width)),
                "eject": In(ejection_signature(flit_width=flits.flit_width)),
                "drops": In(DROPPED_WIDTH),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.generator = generator = self._generator
        m.submodules.checker = checker = self._checker
        connect(m, flipped(self.inject), generator.inject)
        connect(m, flipped(self.eject), checker.eject)
        random = Signal(LFSR_WIDTH, init=self._seed, reset_less=True)
        drops_before = Signal(DROPPED_WIDTH)
        m.d.sync += [random.eq(lfsr_step(random)), drops_before.eq(self.drops)]
        do_inject = generator.inject.valid & generator.inject.ready
        do_eject = checker.eject.valid & checker.eject.ready
        first, is_tail = self._elaborate_framing(m, do_inject)
        m.d.comb += [
            generator.start.eq(self.start),
            generator.kind.eq(self.kind),
            generator.random.eq(random),
            checker.hold.eq((self.kind == TrafficKind.RANDOM) & (random[-2:] == 0)),
            self.busy.eq(generator.busy),
            self.received.eq(checker.received),
            self.misrouted.eq(checker.misrouted),
            self.corrupted.eq(checker.corrupted),
            self.dropped.eq(drops_before != self.drops),
        ]
        m.d.sync += [self.active.eq(do_inject | do_eject), self.sent.eq(do_inject & is_tail)]
        width = balance_width(self._flits)
        come = Mux(do_inject & first, generator.inject.payload[:width], 0)
        gone = Mux(checker.is_head, checker.head[:width], 0)
        with m.If(self.forget):
            m.d.sync += self.balance_o.eq(0)
        with m.Elif(self.collect):
            m.d.sync += self.balance_o.eq(self.balance_i)
        with m.Else():
            m.d.sync += self.balance_o.eq(self.balance_o + come - gone)
        return m

    def _elaborate_framing(self, m: Module, do_inject: Any) -> tuple[Any, Any]:
        """Count the flits injected, apart from the generator; return (whether at a head, whether at a tail)."""
        position = Signal(index_width(self._flits.packet_length))
        is_tail = equals(position, self._flits.packet_length - 1)
        with m.If(do_inject):
            m.d.sync += position.eq(Mux(is_tail, 0, position + 1))
        return position == 0, is_tail
