"""What the queues of a bridge have in common: where they are in the slots of a router, and their memories."""

from collections.abc import Iterable

from amaranth.hdl import Const, Module, Mux, Signal, Value

from hdnhw.rtl.bits import equals, flit_codes, index_width, next_flit
from hdnhw.rtl.bridge.frame import LinkFormat

UNCHECKED = {"no_rw_check": 1}
"""Of a memory: nobody reads a word in the cycle in which it is written."""


def phase_counter(m: Module, length: int, *, since: int, name: str) -> Signal:
    """Return the code of the cycles, modulo L, since one in each slot: 0 in cycle `since` after reset.

    See :func:`hdnhw.rtl.bits.next_flit` for the codes.
    """
    phase = Signal(index_width(length), name=name, init=flit_codes(length)[-since % length])
    m.d.sync += phase.eq(next_flit(phase, length))
    return phase


def is_phase(phase: Value, number: int, length: int) -> Value:
    """Return whether it is the cycle with this number, modulo L."""
    return equals(phase, flit_codes(length)[number % length])


def held(m: Module, values: Iterable[Value], *, name: str = "held") -> list[Signal]:
    """Return values of the cycle before; not within a condition."""
    registers = []
    for value in values:
        registers.append(Signal(len(value), name=name, reset_less=True))
        m.d.sync += registers[-1].eq(value)
    return registers


def packet_place(
    m: Module, link: LinkFormat, moves: Value, in_packets: Value, *, clears: Value | None = None
) -> tuple[Signal, Value, Value, Value, Value]:
    """Count the words of packets, one after the other: one that `moves` while `in_packets`; begin anew when `clears`.

    Returns
    -------
    tuple
        Of the word: the code of its flit; whether it begins the flit, ends it, and is the last one of a packet; and
        whether the next one is, unless packets are of one word.
    """
    parts, length = link.flit_words, link.machine.spec.packet_length
    codes = flit_codes(length)
    place, part = Signal(index_width(length), name="flit_place"), Signal(range(max(2, parts)), name="part")
    is_tail, next_is_tail = Signal(name="is_tail"), Signal(name="next_is_tail")
    ends_flit = equals(part, parts - 1) if parts > 1 else Const(1)
    m.d.comb += next_is_tail.eq(is_tail)
    m.d.sync += is_tail.eq(next_is_tail)
    with m.If(moves & in_packets):
        if parts > 1:
            m.d.sync += part.eq(Mux(ends_flit, 0, part + 1))
            m.d.comb += next_is_tail.eq(equals(place, codes[-1]) & equals(part, parts - 2))
        elif length > 1:
            m.d.comb += next_is_tail.eq(equals(place, codes[-2]))
        with m.If(ends_flit):
            m.d.sync += place.eq(next_flit(place, length))
    if clears is not None:
        with m.If(clears):
            m.d.comb += next_is_tail.eq(0)
            m.d.sync += [place.eq(0), part.eq(0)]
    return place, equals(part, 0), ends_flit, is_tail if link.packet_words > 1 else in_packets, next_is_tail
