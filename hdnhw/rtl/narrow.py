"""Channels of fewer wires than a flit has bits: a queue of packets, the wires, and what puts flits together again."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.channels import narrow_cycles
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import after, counted, equals, index_width, padded
from hdnhw.rtl.channel import ChannelSignature, LongChannel, late


class NarrowChannel(wiring.Component):
    """A channel over whose wires a flit takes R cycles, one behind the other, and a packet R slots.

    A packet whose head flit comes while those before it cross waits in a queue, which has room for all that the router
    has credits for: nothing ever stalls. If it need not wait, the head flit comes out
    :attr:`hdnhw.machine.channels.Channels.stages` cycles after it came in. The other flits follow it at once. Credits
    pass registers alone.

    Parameters
    ----------
    machine : Machine
    port : int
        By which the channel leaves a router.

    Members
    -------
    i : In(ChannelSignature), o : Out(ChannelSignature)
        See :class:`LongChannel`.
    """

    def __init__(self, machine: Machine, port: int) -> None:
        channels, num_vcs = machine.channels, machine.plan.num_vcs[port]
        self._length, self._width = machine.spec.packet_length, machine.word_width
        self._interval, self._wires = channels.intervals[port], machine.channel_wires(port)
        self._stages = channels.stages[port] - narrow_cycles(self._length, self._interval)
        self._credit_stages = channels.credit_stages[port]
        self._words = max(2, num_vcs * machine.vc_buffers(port) * self._length)
        self._is_block_ram = machine.is_block_ram
        signature = ChannelSignature(machine, num_vcs=num_vcs)
        super().__init__({"i": In(signature), "o": Out(signature)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        takes = Signal()
        held, word = self._elaborate_queue(m, takes)
        sent = self._elaborate_pieces(m, held, word, takes)
        piece, begins, *vc = (late(m, name, value, self._stages) for name, value in sent.items())
        if vc:
            of_packet = Signal.like(self.o.vc, name="given_vc", reset_less=True)
            with m.If(begins):
                m.d.sync += of_packet.eq(vc[0])
            m.d.comb += self.o.vc.eq(of_packet)
        self._elaborate_flits(m, piece, begins)
        m.d.comb += self.i.credit.eq(late(m, "credit", self.o.credit, self._credit_stages))
        return m

    def _elaborate_queue(self, m: Module, takes: Value) -> tuple[Value, Value]:
        """Keep flits and their virtual channel; return whether there is one that can be taken, and the first one."""
        parts = [getattr(self.i, name) for name in ("data", "check") if name in self.i.signature.members]
        if "vc" in self.i.signature.members:
            vc = Signal.like(self.i.vc, name="vc", reset_less=True)
            m.d.sync += vc.eq(self.i.vc)  # it came a cycle ahead
            parts.append(vc)
        attributes = {"ram_style": "block", "no_rw_check": 1} if self._is_block_ram else {}
        m.submodules.queue = queue = memory.Memory(shape=len(Cat(parts)), depth=self._words, init=[], attrs=attributes)
        write, read = queue.write_port(), queue.read_port()
        level = Signal(index_width(self._words + 1))
        held = Signal()
        first = Signal.like(read.addr)
        m.d.comb += [
            write.en.eq(self.i.valid),
            write.data.eq(Cat(parts)),
            read.addr.eq(Mux(takes, after(first, self._words), first)),
        ]
        m.d.sync += [
            first.eq(read.addr),
            level.eq(counted(level, self.i.valid, takes)),
            held.eq(level[1:].any() | (level[0] & ~takes)),
        ]
        with m.If(self.i.valid):
            m.d.sync += write.addr.eq(after(write.addr, self._words))
        return held, read.data

    def _elaborate_pieces(self, m: Module, held: Value, word: Value, takes: Signal) -> dict[str, Value]:
        """Take flits and send them in pieces; return a piece, whether a packet begins with it, and its channel."""
        number = Signal(index_width(self._interval), init=self._interval - 1)
        flit = Signal(index_width(self._length))
        begins = Signal()
        pieces = Signal(self._wires * self._interval, reset_less=True)
        is_last = equals(number, self._interval - 1)  # or none is sent
        m.d.comb += takes.eq(held & is_last)
        m.d.sync += [
            begins.eq(takes & equals(flit, 0)),
            pieces.eq(padded(pieces[self._wires :], len(pieces))),
        ]
        sent = {"piece": pieces[: self._wires], "begins": begins}
        with m.If(takes):
            m.d.sync += [
                number.eq(0),
                flit.eq(after(flit, self._length)),
                pieces.eq(padded(word[: self._width], len(pieces))),
            ]
            if len(word) > self._width:
                sent["vc"] = vc = Signal(len(word) - self._width, name="sent_vc", reset_less=True)
                m.d.sync += vc.eq(word[self._width :])
        with m.Elif(~is_last):
            m.d.sync += number.eq(number + 1)
        return sent

    def _elaborate_flits(self, m: Module, piece: Value, begins: Value) -> None:
        """Put flits together, and give them out in successive cycles, the tail as soon as its last piece is there."""
        length, interval = self._length, self._interval
        number = Signal(index_width(interval), name="come_number")
        flit = Signal(index_width(length), name="come_flit")
        goes_on = Signal()
        pieces = Signal(self._wires * (interval - 1), name="come", reset_less=True)
        comes = Signal()
        is_whole = Signal()
        word = Cat(pieces, piece)
        m.d.comb += [comes.eq(begins | goes_on), is_whole.eq(comes & equals(number, interval - 1))]
        m.d.sync += [goes_on.eq(comes & ~(is_whole & equals(flit, length - 1))), pieces.eq(word[self._wires :])]
        with m.If(comes):
            m.d.sync += number.eq(after(number, interval))
        with m.If(is_whole):
            m.d.sync += flit.eq(after(flit, length))
        out = Signal(index_width(length))
        gives_on = Signal()
        first, place = divmod(length * (interval - 1), interval)  # of the piece with which the head is given out
        gives = Signal()
        is_tail = Signal()
        m.d.comb += [
            gives.eq(gives_on | (comes & equals(flit, first) & equals(number, place))),
            is_tail.eq(equals(out, length - 1)),
        ]
        m.d.sync += [self.o.valid.eq(gives), gives_on.eq(gives & ~is_tail)]
        with m.If(gives):
            m.d.sync += out.eq(after(out, length))
        given, word = word[: self._width], word[: self._width]
        if length > 1:
            m.submodules.flits = flits = memory.Memory(shape=self._width, depth=length, init=[])
            write, read = flits.write_port(), flits.read_port(domain="comb")
            m.d.comb += [
                write.en.eq(is_whole),
                write.addr.eq(flit),
                write.data.eq(word),
                read.addr.eq(out),
            ]
            given = Mux(is_tail, word, read.data)
        names = [name for name in ("data", "check") if name in self.o.signature.members]
        word = Signal(self._width, name="given", reset_less=True)
        m.d.sync += word.eq(given)
        m.d.comb += Cat(getattr(self.o, name) for name in names).eq(word)


def channel_between(machine: Machine, port: int) -> LongChannel | NarrowChannel:
    """Return what stands between the routers of a channel that leaves by a port, where something does."""
    return NarrowChannel(machine, port) if machine.channels.intervals[port] > 1 else LongChannel(machine, port)
