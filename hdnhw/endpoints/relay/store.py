"""The memory of a relay: packet buffers, and for each queue of packets which of them are used and in which order."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.relay.format import RelayFormat
from hdnhw.rtl.bits import counted, equals, index_width, stepped


def num_rings(packets: RelayFormat) -> int:
    """Return the number of rings of buffers: of own packets of each queue, then of relayed ones."""
    return packets.num_queues + packets.relayed_queues


def buffer_width(packets: RelayFormat) -> int:
    """Return the bits of a buffer number."""
    return index_width(num_rings(packets)) + packets.endpoints.relay_buffers.bit_length() - 1


def buffer_of(packets: RelayFormat, queue: int, relayed: Value, place: Value) -> Value:
    """Return the buffer number of a place in a ring of a queue: above the place is the number of the ring."""
    place_bits, width = packets.endpoints.relay_buffers.bit_length() - 1, index_width(num_rings(packets))
    own = Const(queue, width)
    ring = own if queue >= packets.relayed_queues else Mux(relayed, Const(packets.num_queues + queue, width), own)
    return Cat(place[:place_bits], ring)


def queues_at(packets: RelayFormat, kind: int, stop: Value) -> list[Value]:
    """Return for each queue of a class whether packets wait in it that go to a stop next, see :meth:`queue_of`."""
    bits = (packets.queues - 1).bit_length()
    count = len(packets.queues_of(kind))
    return [equals(stop[:bits], number) for number in range(count)] if count > 1 else [Const(1)]


class _BufferSignature(wiring.Signature):
    """What is done with a flit of a buffer in a cycle: `data` is written, ``Out``, or read, ``In``."""

    def __init__(self, packets: RelayFormat, flow: Any) -> None:
        place = {"slot": Out(buffer_width(packets)), "flit": Out(index_width(packets.flits.packet_length))}
        super().__init__({"enable": Out(1), **place, "data": flow(packets.flits.flit_width)})


class BufferWriteSignature(_BufferSignature):
    """Writing, one flit per cycle.

    Members
    -------
    enable, slot, flit, data : Out
        `flit` is the flit's code, see :func:`hdnhw.rtl.bits.next_flit`.
    """

    def __init__(self, packets: RelayFormat) -> None:
        super().__init__(packets, Out)


class BufferReadSignature(_BufferSignature):
    """Reading: `data` comes two enabled cycles later, and stays until `enable`.

    Members
    -------
    enable, slot, flit : Out
    data : In(flit width)
    """

    def __init__(self, packets: RelayFormat) -> None:
        super().__init__(packets, In)


class PacketMemory(wiring.Component):
    """All buffers of a relay, with a register before writing and one behind reading.

    A flit can be read two cycles after it was written.

    Members
    -------
    write : In(BufferWriteSignature)
    read : In(BufferReadSignature)
    """

    def __init__(self, packets: RelayFormat) -> None:
        self._packets = packets
        super().__init__({"write": In(BufferWriteSignature(packets)), "read": In(BufferReadSignature(packets))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        flits = self._packets.flits
        flit_bits = (flits.packet_length - 1).bit_length()
        depth = num_rings(self._packets) * self._packets.endpoints.relay_buffers << flit_bits
        m.submodules.flits = store = memory.Memory(
            shape=flits.flit_width, depth=depth, init=[], attrs={"no_rw_check": 1}
        )
        write, read = store.write_port(), store.read_port()
        word = Signal(flits.flit_width, reset_less=True)  # so it can be the memory's own register
        m.d.sync += [
            write.en.eq(self.write.enable),
            write.addr.eq(Cat(self.write.flit[:flit_bits], self.write.slot)),
            write.data.eq(self.write.data),
        ]
        m.d.comb += [
            read.en.eq(self.read.enable),
            read.addr.eq(Cat(self.read.flit[:flit_bits], self.read.slot)),
            self.read.data.eq(word),
        ]
        with m.If(self.read.enable):
            m.d.sync += word.eq(read.data)
        return m


class PacketQueue(wiring.Component):
    """The buffers of one queue: two rings, of own packets and of relayed ones, and the order in which packets leave.

    Parameters
    ----------
    packets : RelayFormat
    relayed : bool
        Whether packets of the queue can come from others; if not, the members below from `reserve` on are absent.

    Members
    -------
    open, close : In(1)
        A head flit, a tail flit, of the user's is written; the packet joins the order a cycle later.
    leave : In(1)
        The first packet is chosen to be sent: it leaves the order.
    discard : In(1)
        It leaves the order, and its buffer is free.
    free : In(1)
        A buffer of an own packet is free.
    room : Out(1)
        Whether an own buffer is free.
    place : Out
        Of the own packet that comes in.
    valid, first_relayed, first_place : Out
        Whether there is a first packet, and where it is.
    reserve : In(1)
        A grant is chosen: a buffer is reserved.
    fill, finish : In(1)
        A head flit, a tail flit, for a reserved buffer has come; it joins the order two cycles later.
    comes : In(1)
        A head flit of any kind has come: no reservation is given up.
    free_relayed : In(1)
        A buffer of a relayed packet is free.
    reserved : Out(1)
        Whether a buffer is reserved.
    room_relayed : Out(1)
        Whether one can be.
    place_relayed : Out
        Of the relayed packet that comes in.
    """

    def __init__(self, packets: RelayFormat, *, relayed: bool) -> None:
        self._endpoints, self._relayed = packets.endpoints, relayed
        inputs, outputs = ["open", "close", "leave", "discard", "free"], ["room", "valid", "first_relayed"]
        places = ["place", "first_place"]
        if relayed:
            inputs += ["reserve", "fill", "finish", "comes", "free_relayed"]
            outputs += ["reserved", "room_relayed"]
            places += ["place_relayed"]
        members = {name: In(1) for name in inputs} | {name: Out(1) for name in outputs}
        super().__init__(members | {name: Out(index_width(packets.endpoints.relay_buffers)) for name in places})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        buffers = self._endpoints.relay_buffers
        pops, popped, opened, closed, finished, joins = Signal(), Signal(), Signal(), Signal(), Signal(2), Signal()
        waiting = Signal(range(2 * buffers + 1))
        freed, full = self.free | (self.discard & ~self.first_relayed), Signal()
        used = Signal(buffers)  # but for the one that was opened a cycle ago, in thermometer code
        has_one_left = Cat(Const(1, 1), used)[-2]  # head flits for a queue are two cycles or more apart
        m.d.comb += [
            pops.eq(self.leave | self.discard),
            joins.eq(closed | finished[-1]),
            self.room.eq(~full),
        ]
        m.d.sync += [
            opened.eq(self.open),
            closed.eq(self.close),
            popped.eq(pops),
            full.eq(~freed & (full | (has_one_left & self.open))),
            used.eq(stepped(used, opened, freed)),
            waiting.eq(counted(waiting, joins, popped)),  # packets leave in every other cycle at most
            self.valid.eq(joins | (self.valid & (~pops | waiting[1:].any()))),
        ]
        self._advance(m, self.place, self.close)
        first = Signal.like(self.place)
        self._advance(m, first, pops & ~self.first_relayed)
        if self._relayed:
            first_relayed = Signal.like(first)
            self._advance(m, first_relayed, pops & self.first_relayed)
            m.d.sync += finished.eq(Cat(self.finish, finished[0]))
            self._elaborate_order(m, joins, pops, finished[-1])
            self._elaborate_reservations(m)
            m.d.comb += self.first_place.eq(Mux(self.first_relayed, first_relayed, first))
        else:
            m.d.comb += self.first_place.eq(first)
        return m

    def _advance(self, m: Module, place: Value, moves: Value) -> None:
        """Go around a ring."""
        if self._endpoints.relay_buffers > 1:
            with m.If(moves):
                m.d.sync += place.eq(place + 1)

    def _elaborate_order(self, m: Module, joins: Value, pops: Value, finished: Value) -> None:
        """Keep of every packet from which ring it is, which is known a cycle before the packet leaves the order."""
        depth = 2 * self._endpoints.relay_buffers
        m.submodules.order = order = memory.Memory(shape=1, depth=depth, init=[])
        write, read = order.write_port(), order.read_port(domain="comb")
        last, first = Signal(range(depth)), Signal(range(depth))
        m.d.sync += [last.eq(last + joins), first.eq(first + pops)]
        m.d.comb += [
            write.addr.eq(last),
            write.data.eq(finished),
            write.en.eq(joins),
            read.addr.eq(first),
        ]
        m.d.sync += self.first_relayed.eq(read.data)

    def _elaborate_reservations(self, m: Module) -> None:
        """Count the relayed buffers that are used, and those of them that are reserved; give up what is not filled."""
        buffers, lapse = self._endpoints.relay_buffers, self._endpoints.lapse
        used, reserved = Signal(buffers, name="used_relayed"), Signal(buffers, name="num_reserved")
        idle, late, lapses, expires, freed, touched, waits = Signal(range(lapse)), *(Signal() for _ in range(6))
        m.d.comb += [
            self.reserved.eq(reserved[0]),
            self.room_relayed.eq(~used[-1]),
            freed.eq(self.free_relayed | (self.discard & self.first_relayed)),
            waits.eq(late & (self.comes | freed)),
            lapses.eq(late & ~touched & ~self.comes),  # a buffer is reserved: `late` goes with the last one
            expires.eq(lapses & ~freed),
        ]
        m.d.sync += [
            touched.eq(self.reserve | self.fill),
            used.eq(stepped(used, self.reserve, freed | lapses)),  # one of both goes down
            reserved.eq(stepped(reserved, self.reserve, self.fill | expires)),
        ]
        self._advance(m, self.place_relayed, self.finish)
        with m.If(touched):
            m.d.sync += [idle.eq(0), late.eq(0)]
        with m.Elif(self.reserved & ~waits):
            m.d.sync += [idle.eq(idle + 1), late.eq(equals(idle, lapse - 2))]
