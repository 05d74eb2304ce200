"""A memory in distributed RAM, as deep as one row of it; what is deeper stands beside it."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.bits import equals, index_width

ROW_WIDTH = 4
"""Address bits of a distributed RAM."""


class ColumnMemory(wiring.Component):
    """Words in columns: all words of a row are read into a register, and one of them is chosen behind it.

    Parameters
    ----------
    depth : int
        Words; rounded up to a power of two.
    width : int
        Bits of a word.

    Members
    -------
    write : In(1)
    write_address : In
    i : In(width)
        Written in this cycle.
    address : In
    o : Out(width)
        The word at `address`, which must not have changed since the cycle before.
    """

    def __init__(self, *, depth: int, width: int) -> None:
        address = index_width(depth)
        super().__init__(
            {
                "write": In(1),
                "write_address": In(address),
                "i": In(width),
                "address": In(address),
                "o": Out(width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        low = min(len(self.address), ROW_WIDTH)
        columns = 1 << len(self.address) - low
        layout = data.ArrayLayout(len(self.i), columns)
        m.submodules.words = words = memory.Memory(shape=layout, depth=1 << low, init=[])
        write, read = words.write_port(granularity=1), words.read_port(domain="comb")
        row = Signal(layout)
        m.d.sync += row.eq(read.data)
        m.d.comb += [
            write.addr.eq(self.write_address[:low]),
            write.data.eq(Cat([self.i] * columns)),
            read.addr.eq(self.address[:low]),
        ]
        if columns > 1:
            column = self.write_address[low:]
            m.d.comb += write.en.eq(Cat(self.write & equals(column, number) for number in range(columns)))
            chosen = Signal(len(column))
            m.d.sync += chosen.eq(self.address[low:])
            m.d.comb += self.o.eq(Array(row[number] for number in range(columns))[chosen])
        else:
            m.d.comb += [write.en.eq(self.write), self.o.eq(row[0])]
        return m
