"""A table in RAM with registers on both sides: as fast in block RAM as in distributed RAM."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import index_width

MOST_DISTRIBUTED = 32
"""Words of the deepest table in distributed RAM: two rows of it, and no more than one lookup table behind a bit."""


class Table(wiring.Component):
    """Words that are read in two cycles: one for the address, one for the word.

    Parameters
    ----------
    depth : int
        Words; rounded up to a power of two.
    width : int
        Bits of a word.
    distributed : bool
        Keep it in distributed RAM, however deep it is.

    Members
    -------
    write : In(1)
    write_address : In
    i : In(width)
        Written in this cycle.
    read : In(1)
    address : In
        Not one that is written in this cycle, unless the table is in distributed RAM.
    o : Out(width)
        The word at the address of the last cycle with `read`, from two cycles after that one on.
    """

    def __init__(self, *, depth: int, width: int, distributed: bool = False) -> None:
        self._is_block = depth > MOST_DISTRIBUTED and not distributed
        address = index_width(depth)
        super().__init__(
            {
                "write": In(1),
                "write_address": In(address),
                "i": In(width),
                "read": In(1),
                "address": In(address),
                "o": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        attributes = {"ram_style": "block", "no_rw_check": 1} if self._is_block else {}
        m.submodules.words = words = memory.Memory(
            shape=len(self.i), depth=1 << len(self.address), init=[], attrs=attributes
        )
        write, read = words.write_port(), words.read_port(domain="sync" if self._is_block else "comb")
        word = Signal.like(self.o, name="word", reset_less=True)  # so it can be the memory's own register
        if self._is_block:
            m.d.comb += [read.addr.eq(self.address), read.en.eq(self.read)]
            m.d.sync += word.eq(read.data)
        else:
            place, reads = Signal.like(self.address, name="place", reset_less=True), Signal()
            m.d.comb += read.addr.eq(place)
            m.d.sync += [reads.eq(self.read), place.eq(self.address)]
            with m.If(reads):
                m.d.sync += word.eq(read.data)
        m.d.comb += [
            self.o.eq(word),
            write.en.eq(self.write),
            write.addr.eq(self.write_address),
            write.data.eq(self.i),
        ]
        return m
