"""From bursts to parts that fit into a packet."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import Burst, Response, address_layout, part_layout
from hdnhw.rtl.bits import below, equals
from hdnhw.rtl.route_unit import is_node
from hdnhw.topology.address import AddressLayout

_WRAP, _SIZE = 4, 7
"""Bits of the beats of a WRAP burst less one; most bits of a beat's offset."""

_OFFSET, _ONES = _WRAP + _SIZE, (1 << _SIZE) - 1
"""Bits of an offset in a WRAP."""


class _State(enum.IntEnum):
    """Bits of the state, of which one is set."""

    IDLE = 0
    ROOM = 1
    REACH = 2
    LENGTH = 3
    STEP = 4
    OFFER = 5
    ADD = 6
    MOVE = 7


class BurstSplitter(wiring.Component):
    """Cut bursts into parts, one after the other; a part takes seven cycles at least.

    A part ends where the packet is full, the burst ends, or a WRAP turns round.

    Parameters
    ----------
    memory : MemoryFormat
    layout : AddressLayout

    Members
    -------
    burst : In(stream of address_layout)
    part : Out(stream of part_layout)
    """

    def __init__(self, memory: MemoryFormat, layout: AddressLayout) -> None:
        self._memory, self._layout = memory, layout
        burst = address_layout(id_width=memory.endpoints.id_width, address_width=memory.address_bits)
        super().__init__({"burst": In(stream.Signature(burst)), "part": Out(stream.Signature(part_layout(memory)))})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        part, state = self.part.payload, Signal(len(_State), name="state", init=1 << _State.IDLE)
        left = Signal(8)  # beats behind the first one
        is_wrap = Signal()
        mask = Signal(_OFFSET)  # offsets inside a WRAP
        room = Signal(_WRAP)
        reach, turns = Signal(8), Signal()
        taken = Signal(8)  # beats of the part behind the first one
        step = Signal(len(part.addr))
        aligned, behind = Signal(_SIZE), Signal(len(part.addr))
        others = Signal(8)  # beats behind the part
        m.d.comb += [self.burst.ready.eq(state[_State.IDLE]), self.part.valid.eq(state[_State.OFFER])]
        after_offer = Mux(part.last, 1 << _State.IDLE, 1 << _State.ADD)
        with m.If(state[_State.IDLE]):
            self._elaborate_start(m, left, is_wrap, mask)
            m.d.sync += state.eq(Mux(self.burst.valid, 1 << _State.ROOM, 1 << _State.IDLE))
        with m.If(state[_State.ROOM]):
            m.d.sync += room.eq(_right(~part.addr[:_OFFSET] & mask, part.size)[:_WRAP])
        with m.If(state[_State.REACH]):
            first = is_wrap & (room < left[:_WRAP])
            m.d.sync += [turns.eq(first), reach.eq(Mux(first, _wide(room, len(left)), left))]
        with m.If(state[_State.LENGTH]):
            self._elaborate_length(m, reach, turns, taken)
        with m.If(state[_State.STEP]):
            m.d.sync += step.eq(_left(_wide(part.end + 1, len(step)), part.size))
        with m.If(state[_State.OFFER]):
            m.d.sync += state.eq(Mux(self.part.ready, after_offer, 1 << _State.OFFER))
        # There are cycles enough for these.
        m.d.sync += [
            aligned.eq(part.addr[:_SIZE] & _left(Const(_ONES, _SIZE), part.size)),
            others.eq((left + ~taken)[: len(left)]),
            behind.eq(Cat(aligned, part.addr[_SIZE:]) + step),
        ]
        with m.If(state[_State.ADD]):
            m.d.sync += left.eq(others)
        with m.If(state[_State.MOVE]):
            wrapped = Cat((part.addr[:_OFFSET] & ~mask) | (behind[:_OFFSET] & mask), part.addr[_OFFSET:])
            with m.If(~part.fixed):
                m.d.sync += part.addr.eq(Mux(is_wrap, wrapped, behind))
            m.d.sync += state.eq(1 << _State.ROOM)
        with m.If(
            state[_State.ROOM] | state[_State.REACH] | state[_State.LENGTH] | state[_State.STEP] | state[_State.ADD]
        ):
            m.d.sync += state.eq(Cat(Const(0, 1), state[:-1]))
        return m

    def _elaborate_start(self, m: Module, left: Signal, is_wrap: Signal, mask: Signal) -> None:
        """Take a burst, and find whether it is refused."""
        burst, part, bits = self.burst.payload, self.part.payload, self._memory.endpoints.memory_bits
        is_there, node = self._elaborate_node(m, burst.addr)
        is_known = ~burst.burst.all() & below(burst.size, self._memory.bytes.bit_length())
        m.d.sync += [
            part.addr.eq(burst.addr[:bits]),
            part.dst.eq(node),
            part.id.eq(burst.id),
            part.size.eq(burst.size[: len(part.size)]),
            part.fixed.eq(equals(burst.burst, Burst.FIXED)),
            part.refused.eq(~is_there | ~is_known),
            part.resp.eq(Mux(is_there, Response.SLVERR, Response.DECERR)),
            left.eq(burst.len),
            is_wrap.eq(equals(burst.burst, Burst.WRAP)),
            mask.eq(_left(Cat(Const(_ONES, _SIZE), burst.len[:_WRAP], Const(0, _SIZE)), burst.size)[_SIZE:]),
        ]

    def _elaborate_node(self, m: Module, address: Value) -> tuple[Value, Value]:
        """Return whether a node has an address, and which: by the ranges of blocks, or by the bits above a memory."""
        endpoints = self._memory.endpoints
        if not endpoints.blocks:
            node = address[endpoints.memory_bits :]
            return is_node(self._layout, node), node
        hits, nodes = [], []
        for block in endpoints.blocks:
            for base, size in block.ranges:
                hits.append(equals(address[size.bit_length() - 1 :], base // size))
                nodes.append(Mux(hits[-1], self._layout.of_node(block.node), 0))
        node = Signal(self._layout.width)
        m.d.comb += node.eq(reduce(or_, nodes))
        return Cat(hits).any(), node

    def _elaborate_length(self, m: Module, reach: Signal, turns: Signal, taken: Signal) -> None:
        """Find the last beat of the part: `reach` is that of the burst, or before a WRAP `turns` round."""
        part, beats = self.part.payload, self._memory.payload_flits
        fits = below(reach, beats)
        m.d.sync += [
            part.end.eq(Mux(fits, reach[: len(part.end)], Const(beats - 1, len(part.end)))),
            part.last.eq(fits & ~turns),
            taken.eq(Mux(fits, reach, Const(beats - 1, len(taken)))),
        ]


def _wide(value: Value, width: int) -> Value:
    """Return a value with so many bits."""
    return Cat(value, Const(0, width))[:width]


def _left(value: Value, places: Value) -> Value:
    """Return a value shifted to the left; of equal width."""
    for bit, shifts in enumerate(places):
        value = Mux(shifts, Cat(Const(0, 1 << bit), value)[: len(value)], value)
    return value


def _right(value: Value, places: Value) -> Value:
    """Return a value shifted to the right; of equal width."""
    for bit, shifts in enumerate(places):
        value = Mux(shifts, Cat(value, Const(0, 1 << bit))[1 << bit :], value)
    return value
