"""A queue between two clocks, and the synchronizer that it is made with."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

DEPTH = 16
"""Entries of a queue: more than come in while room made at one end gets known at the other, at any ratio of clocks."""

_POINTER = DEPTH.bit_length()


def synchronized(m: Module, value: Value, *, domain: str, name: str, init: int = 0) -> Signal:
    """Return a value of another clock domain as two flip-flops in `domain` see it; the first is called ``NAME_near``.

    At most one bit of it may change at a time.
    """
    chain = [
        Signal(len(value), name=f"{name}_{stage}", init=init, reset_less=True, attrs={"ASYNC_REG": "TRUE"})
        for stage in ("near", "seen")
    ]
    for before, flop in zip((value, chain[0]), chain, strict=True):
        m.d[domain] += flop.eq(before)
    return chain[-1]


def _gray(pointer: Value) -> Value:
    return pointer ^ Cat(pointer[1:], 0)[: len(pointer)]


class CrossingQueue(wiring.Component):
    """A queue that is written by one clock and read by another, a transfer a cycle at either end.

    Its pointers cross in Gray code. A transfer comes out five to six cycles of the reader after it was taken.

    Parameters
    ----------
    width : int
        Bits of a transfer.
    writer, reader : str
        Clock domains.

    Members
    -------
    i : In(stream), in the writer's domain
        `ready` is a register.
    o : Out(stream), in the reader's domain
        All of registers.
    stop_i, stop_o : In(1), each in the domain of its end
        Nothing is taken, or given, from the next cycle on; what was on offer is withdrawn.
    clear_i, clear_o : In(1), likewise
        The pointer of that end is 0 in the next cycle; while it is stopped, see
        :class:`hdnhw.rtl.clocks.crossing.Crossing`.
    """

    def __init__(self, *, width: int, writer: str, reader: str) -> None:
        self._width, self._writer, self._reader = width, writer, reader
        ends = {f"{name}_{end}": In(1) for name in ("stop", "clear") for end in "io"}
        super().__init__({"i": In(stream.Signature(width)), "o": Out(stream.Signature(width)), **ends})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.words = words = memory.Memory(shape=self._width, depth=DEPTH, init=[])
        write, read = words.write_port(domain=self._writer), words.read_port(domain="comb")
        push, moves = Signal(name="push"), Signal(name="moves")
        written = _Pointer(m, "written", self._writer, step=push, clear=self.clear_i)
        taken = _Pointer(m, "taken", self._reader, step=moves, clear=self.clear_o)
        m.d.comb += [
            push.eq(self.i.valid & self.i.ready),
            write.addr.eq(written.place[:-1]),
            write.data.eq(self.i.payload),
            write.en.eq(push),
            read.addr.eq(taken.place[:-1]),
        ]
        self._elaborate_writer(m, written, push, taken.seen_by(m, self._writer))
        self._elaborate_reader(m, taken, moves, written.seen_by(m, self._reader), read.data)
        return m

    def _elaborate_writer(self, m: Module, written: "_Pointer", push: Signal, taken: Signal) -> None:
        turned = Signal(2)  # how the Gray codes of two pointers differ that are DEPTH apart
        m.d.comb += turned.eq(~taken[-2:])
        is_full = written.will_be(Cat(taken[:-2], turned), step=push)
        m.d[self._writer] += self.i.ready.eq(~is_full & ~self.stop_i)

    def _elaborate_reader(self, m: Module, taken: "_Pointer", moves: Signal, written: Signal, word: Value) -> None:
        data = Signal(self._width, name="payload", reset_less=True)
        is_filled = Signal()
        is_free = Signal()
        m.d.comb += [
            is_free.eq(~self.o.valid | self.o.ready),
            moves.eq(is_filled & is_free),
            self.o.payload.eq(data),
        ]
        m.d[self._reader] += [
            is_filled.eq(~taken.will_be(written, step=moves) & ~self.stop_o),
            self.o.valid.eq((moves | (self.o.valid & ~self.o.ready)) & ~self.stop_o),
        ]
        with m.If(is_free):
            m.d[self._reader] += data.eq(word)


class _Pointer:
    """A pointer of a queue: a number, and the Gray codes of it and of the next one.

    Parameters
    ----------
    m : Module
    name, domain : str
    step, clear : Value
        Whether it goes on by one, and whether it goes to 0.
    """

    def __init__(self, m: Module, name: str, domain: str, *, step: Value, clear: Value) -> None:
        self._name = name
        self.place = Signal(_POINTER, name=f"{name}_place", reset_less=True)
        self._code = Signal(_POINTER, name=f"{name}_code", reset_less=True)
        self._next_code = Signal(_POINTER, name=f"{name}_code_next", init=1, reset_less=True)
        ahead = Signal(_POINTER, name=f"{name}_place_next", init=1, reset_less=True)
        with m.If(clear):
            m.d[domain] += [self.place.eq(0), ahead.eq(1), self._code.eq(0), self._next_code.eq(1)]
        with m.Elif(step):
            m.d[domain] += [
                self.place.eq(ahead),
                ahead.eq(ahead + 1),
                self._code.eq(self._next_code),
                self._next_code.eq(_gray((ahead + 1)[:_POINTER])),
            ]

    def seen_by(self, m: Module, domain: str) -> Signal:
        """Return its Gray code as the other clock domain sees it."""
        return synchronized(m, self._code, domain=domain, name=self._name)

    def will_be(self, code: Value, *, step: Value) -> Value:
        """Return whether its Gray code is `code` in the next cycle, unless it is cleared."""
        return Mux(step, self._next_code == code, self._code == code)
