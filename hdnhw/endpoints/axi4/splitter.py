"""From bursts to parts that fit into a packet."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.axi4.format import MemoryFormat
from hdnhw.endpoints.axi4.layout import Burst, Response, address_layout, bits_inside, part_layout
from hdnhw.rtl.bits import below, equals, index_width, padded
from hdnhw.rtl.route_unit import is_node
from hdnhw.topology.address import AddressLayout

_WRAP, _SIZE = 4, 7
"""Bits of the beats of a WRAP burst less one; most bits of a beat's offset."""

_PAGE = 12
"""Bits of an address that differ within a burst."""


class _State(enum.IntEnum):
    """Bits of the state, of which one is set."""

    IDLE = 0
    TURN = 1
    REACH = 2
    FITS = 3
    LENGTH = 4
    OFFER = 5
    WAIT = 6
    MOVE = 7
    CUT = 8


class BurstSplitter(wiring.Component):
    """Cut bursts into parts, one after the other.

    The first part is offered a cycle behind its burst, five if that is a WRAP; each other one two cycles after the one
    before is taken, three if that was at once, four if it was cut. A part ends where the packet is full, the burst
    ends, a WRAP turns round, or its user cuts it.

    Parameters
    ----------
    memory : MemoryFormat
    layout : AddressLayout

    Members
    -------
    address : In(address width)
        The node's own packed address.
    burst : In(stream of address_layout)
    part : Out(stream of part_layout)
        It stays for a cycle behind the one in which it is taken.
    inside : Out
        See :func:`hdnhw.endpoints.axi4.layout.bits_inside`; of the beats of the part.
    cut : In(1), cut_at : In
        Behind the cycle in which a part is offered, until it is taken: it ends with the beat `cut_at`, which is not its
        last one.
    """

    def __init__(self, memory: MemoryFormat, layout: AddressLayout) -> None:
        self._memory, self._layout = memory, layout
        burst = address_layout(
            id_width=memory.endpoints.id_width, address_width=memory.address_bits, attributes=memory.attributes
        )
        super().__init__(
            {
                "address": In(memory.flits.address_width),
                "burst": In(stream.Signature(burst)),
                "part": Out(stream.Signature(part_layout(memory))),
                "inside": Out(index_width(memory.bytes)),
                "cut": In(1),
                "cut_at": In(memory.header_fields["end"]),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        part, state = self.part.payload, Signal(len(_State), name="state", init=1 << _State.IDLE)
        reach, rest = Signal(8), Signal(8)  # beats behind the first one: of the part and to the turn, and beyond it
        turns = Signal()  # there is a turn ahead
        wraps = Signal(_WRAP)  # beats of a WRAP behind its first one
        is_new = Signal()  # offered for the first time: what comes behind it is not known by the next cycle
        m.d.comb += [self.burst.ready.eq(state[_State.IDLE]), self.part.valid.eq(state[_State.OFFER])]
        with m.If(state[_State.IDLE]):
            self._elaborate_start(m)
            self._limit(
                m, self.burst.payload.len, below(self.burst.payload.len, self._memory.payload_flits), Const(0, 1)
            )
            m.d.sync += [reach.eq(self.burst.payload.len), turns.eq(0), wraps.eq(self.burst.payload.len[:_WRAP])]
        starts, goes = state[_State.IDLE] & self.burst.valid, state[_State.OFFER] & self.part.ready
        is_wrap, ends = equals(self.burst.payload.burst, Burst.WRAP), part.last & ~self.cut
        goes_on = goes & ~ends
        m.d.sync += [
            is_new.eq(~state[_State.OFFER]),
            state[_State.IDLE].eq((state[_State.IDLE] & ~self.burst.valid) | (goes & ends)),
            state[_State.TURN].eq(starts & is_wrap),
            state[_State.REACH].eq(state[_State.TURN]),
            state[_State.FITS].eq(state[_State.REACH]),
            state[_State.LENGTH].eq(state[_State.FITS]),
            state[_State.OFFER].eq(
                (starts & ~is_wrap)
                | state[_State.LENGTH]
                | state[_State.MOVE]
                | (state[_State.OFFER] & ~self.part.ready)
            ),
            state[_State.CUT].eq(goes & self.cut),
            state[_State.WAIT].eq((goes_on & is_new) | state[_State.CUT]),
            state[_State.MOVE].eq((goes_on & ~is_new & ~self.cut) | state[_State.WAIT]),
        ]
        self._elaborate_wrap(m, state, reach, rest, turns, wraps)
        return m

    def _elaborate_start(self, m: Module) -> None:
        """Take a burst, and find whether it is refused."""
        burst, part, bits = self.burst.payload, self.part.payload, self._memory.endpoints.memory_bits
        is_there, node = self._elaborate_node(m, burst.addr)
        is_known = ~burst.burst.all() & below(burst.size, self._memory.bytes.bit_length())
        m.d.sync += [
            part.addr.eq(burst.addr[:bits]),
            part.dst.eq(node),
            part.own.eq(node == self.address),
            part.id.eq(burst.id),
            part.size.eq(burst.size[: len(part.size)]),
            self.inside.eq(bits_inside(self._memory, burst.size)),
            part.fixed.eq(equals(burst.burst, Burst.FIXED)),
            part.refused.eq(~is_there | ~is_known),
            part.resp.eq(Mux(is_there, Response.SLVERR, Response.DECERR)),
            *(getattr(part, name).eq(getattr(burst, name)) for name in self._memory.attributes),
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

    def _elaborate_wrap(
        self, m: Module, state: Signal, reach: Signal, rest: Signal, turns: Signal, wraps: Signal
    ) -> None:
        """Find where a WRAP turns, and move on behind a part."""
        part, beats = self.part.payload, self._memory.payload_flits
        before, mask = Signal(_WRAP), Signal(_WRAP + _SIZE)  # beats from where a WRAP begins anew; bits that it changes
        with m.If(state[_State.TURN]):
            m.d.sync += [
                before.eq(_right(part.addr[: _WRAP + _SIZE], part.size)[:_WRAP] & wraps),
                mask.eq(_left(padded(wraps, len(mask)), part.size)),
            ]
        with m.If(state[_State.REACH]):
            m.d.sync += [
                reach.eq(reach & ~padded(before, len(reach))),
                rest.eq(before - 1),
                turns.eq(before.any()),
            ]
        aligned = Cat(bit & ~above for bit, above in zip(part.addr[:_SIZE], _ones(part.size), strict=True))
        behind, others, is_turn = Signal(_PAGE), Signal(8), Signal()
        # The last beat of a part that does not fit, and its beats; both in registers, as an adder and a shifter follow.
        at_end, moved, was_cut = Signal(len(part.end), init=beats - 1), Signal(range(beats + 1), init=beats), Signal()
        with m.If(state[_State.OFFER] | state[_State.MOVE]):
            m.d.sync += [at_end.eq(Mux(self.cut, self.cut_at, Const(beats - 1, len(at_end)))), was_cut.eq(self.cut)]
            m.d.sync += moved.eq(Mux(self.cut, (padded(self.cut_at, len(moved)) + 1)[: len(moved)], beats))
        fits = below(reach, beats) & ~was_cut
        begin = Cat(part.addr[: len(mask)] & ~mask, part.addr[len(mask) : _PAGE])
        step = _left(padded(moved, _PAGE), part.size)
        end, is_last, is_single = Signal(len(part.end)), Signal(), Signal()
        with m.If(state[_State.LENGTH]):
            self._limit(m, reach, is_turn, turns)
        m.d.sync += [
            is_turn.eq(fits),
            behind.eq(Mux(fits, begin, Cat(aligned, part.addr[_SIZE:_PAGE]) + step)),
            others.eq(Mux(fits, rest, (reach + ~padded(at_end, 8))[:8])),
            end.eq(Mux(below(others, beats), others[: len(end)], Const(beats - 1, len(end)))),
            is_last.eq(below(others, beats)),
            is_single.eq(equals(others, 0) if beats > 1 else 1),
        ]
        with m.If(state[_State.MOVE]):
            with m.If(~part.fixed):
                m.d.sync += part.addr[:_PAGE].eq(behind)
            m.d.sync += [
                reach.eq(others),
                part.end.eq(end),
                part.single.eq(is_single),
                part.last.eq(is_last & ~(turns & ~is_turn)),
                turns.eq(turns & ~is_turn),
            ]

    def _limit(self, m: Module, reach: Value, fits: Value, turns: Value) -> None:
        """Let the part have as many of the beats to the burst's end, or to where it `turns` round, as fit."""
        part, beats = self.part.payload, self._memory.payload_flits
        m.d.sync += [
            part.single.eq(equals(reach, 0) if beats > 1 else 1),
            part.end.eq(Mux(fits, reach[: len(part.end)], Const(beats - 1, len(part.end)))),
            part.last.eq(fits & ~turns),
        ]


def _ones(size: Value) -> Value:
    """Return the bits of a beat's offset that are below its size."""
    return _left(Const((1 << _SIZE) - 1, 2 * _SIZE), size)[_SIZE:]


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
