"""Between the receiver and the memory: messages that are combined where they meet, as they come in."""

from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.program import Program
from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.endpoints.collective.numbers import combined
from hdnhw.endpoints.collective.sorter import sort_layout
from hdnhw.endpoints.collective.store import StoreOldSignature, StoreWriteSignature
from hdnhw.rtl.bits import any_of, index_width


def claim_layout(messages: MessageFormat) -> data.StructLayout:
    """Return what a message is to a combiner.

    `combines`: it is a partial result, for the node whose packed address is `block`, or the root (then 0), in an
    operation of this `parity`; `held`: the node's own part has been loaded, and not given away; `own`: it is that part.
    Of a message of several packets, `block` has the number of the packet below the address.
    """
    width = (messages.header_fields.get("target", 0) + messages.part_width) or 1
    fields = {"combines": 1, "own": 1, "held": 1, "parity": 1, "block": width, "operator": messages.operator_width}
    return data.StructLayout({name: bits for name, bits in fields.items() if bits})


DELAY = 5
"""Cycles from the one in which a flit comes to the one in which it is written: two until it is known where, two to read
what is there, through the memory's register, and one to combine it."""


class ClaimSignature(wiring.Signature):
    """A message that begins, and takes a buffer with it.

    Members
    -------
    valid : Out(1)
        High for one cycle.
    payload : Out(claim_layout)
    """

    def __init__(self, messages: MessageFormat) -> None:
        super().__init__({"valid": Out(1), "payload": Out(claim_layout(messages))})


class Combiner(wiring.Component):
    """Put the first part of a partial result into a free buffer, and combine all further ones with what is there.

    A table of buffers by parity and block says where. Whoever comes first takes a buffer, is sorted and writes it
    there: the node's own part, or a message that comes before. One flit per cycle; it is written :data:`DELAY` cycles
    after it has come. Two flits that meet at one place come four cycles apart at least: after messages of
    fewer data flits no buffer is offered for as many cycles as they lack. For ``2 << block width`` cycles after reset
    the table is cleared, and nothing is taken.

    Parameters
    ----------
    program : Program
    messages : MessageFormat
        With operators.
    buffers : int

    Members
    -------
    claim : In(ClaimSignature)
        With it the receiver takes the buffer that `slot` offers. If the message is combined, it is offered again.
    i_slot, slot : In, Out(stream of buffers)
        Free ones, from the pool and to the receiver.
    i_write, write : In, Out(StoreWriteSignature)
    old : Out(StoreOldSignature)
    i_sort, sort : In, Out(stream of sort_layout)
        A message that is combined is not sorted.
    """

    def __init__(self, program: Program, messages: MessageFormat, buffers: int) -> None:
        self._messages, self._buffers = messages, buffers
        slots = stream.Signature(index_width(buffers))
        sorts = stream.Signature(sort_layout(program, buffers), always_ready=True)
        write = StoreWriteSignature(messages, buffers)
        super().__init__(
            {
                "claim": In(ClaimSignature(messages)),
                "i_slot": In(slots),
                "slot": Out(slots),
                "i_write": In(write),
                "write": Out(write),
                "old": Out(StoreOldSignature(messages, buffers)),
                "i_sort": In(sorts),
                "sort": Out(sorts),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        spare, place, merges = Signal.like(self.slot.payload), Signal.like(self.slot.payload), Signal()
        now, claim = Signal(), Signal(claim_layout(self._messages))  # what the receiver claimed, a cycle later
        with m.If(self.claim.valid):
            m.d.sync += claim.eq(self.claim.payload)
        m.d.sync += now.eq(self.claim.valid)
        cleared, entry = self._elaborate_table(m, now, claim, spare, merges)
        last_place, last_merges = Signal.like(place), Signal()
        m.d.sync += [last_place.eq(place), last_merges.eq(merges)]
        m.d.comb += [
            merges.eq(Mux(now, claim.combines & (claim.held | entry.early), last_merges)),
            place.eq(Mux(now, Mux(merges, entry.slot, spare), last_place)),
        ]
        came = self._elaborate_came(m)
        # What follows finds in memory what has been written, also at the same place.
        recent = any_of(each.enable for each in came[: max(0, DELAY - 1 - self._messages.payload_flits)])
        self._elaborate_spare(m, cleared, now & ~merges, now | recent, spare)
        self._elaborate_write(m, came, claim, place, merges)
        m.d.comb += [self.sort.valid.eq(self.i_sort.valid & ~merges), self.sort.payload.eq(self.i_sort.payload)]
        return m

    def _elaborate_table(self, m: Module, now: Value, claim: Any, spare: Value, merges: Value) -> tuple[Value, Any]:
        """Add the table, read with a claim and written a cycle later; return whether it is cleared, and what is read.

        `early` is set from a message that came before the node's own part until that comes.
        """
        layout = data.StructLayout({"slot": len(spare), "early": 1})
        depth = 2 << len(claim.block)
        m.submodules.table = table = memory.Memory(shape=layout, depth=depth, init=[])
        write = table.write_port()
        read = table.read_port()
        fresh = Signal(range(depth + 1))  # entries below it have been cleared since reset
        cleared, asked = fresh[-1], self.claim.payload
        m.d.sync += fresh.eq(fresh + ~cleared)
        m.d.comb += [
            read.addr.eq(Cat(asked.block, asked.parity)),
            write.en.eq(~cleared | (now & claim.combines & (claim.own | ~merges))),
            write.addr.eq(Mux(cleared, Cat(claim.block, claim.parity), fresh[:-1])),
            write.data.slot.eq(Mux(merges, read.data.slot, spare)),
            write.data.early.eq(cleared & ~claim.own),
        ]
        return cleared, read.data

    def _elaborate_spare(self, m: Module, cleared: Value, used: Value, waits: Value, spare: Signal) -> None:
        """Keep one free buffer at hand, and offer it if nothing `waits`; a message that is combined gives it back."""
        there = Signal()
        m.d.comb += [
            self.slot.valid.eq(there & ~waits),
            self.slot.payload.eq(spare),
            self.i_slot.ready.eq(cleared & (~there | used)),
        ]
        with m.If(self.i_slot.ready):
            m.d.sync += [there.eq(self.i_slot.valid), spare.eq(self.i_slot.payload)]

    def _elaborate_write(self, m: Module, came: Any, claim: Any, place: Value, merges: Value) -> None:
        """Read what is there, and write that combined with what has come, or what has come alone.

        `came` holds what came one to :data:`DELAY` - 1 cycles before; `place` and `merges` are for the first of them.
        """
        write = self.write
        operator = claim.operator if self._messages.operator_width else Signal(name="operator")
        chosen = data.StructLayout({"slot": len(place), "merges": 1, "operator": len(operator)})
        which = [Signal(chosen, name=f"which_{cycle}") for cycle in range(2, DELAY)]
        m.d.sync += [which[0].slot.eq(place), which[0].merges.eq(merges), which[0].operator.eq(operator)]
        m.d.sync += [later.eq(earlier) for earlier, later in pairwise(which)]
        last, late = came[-1], which[-1]
        m.d.comb += [self.old.slot.eq(which[0].slot), self.old.flit.eq(came[1].flit)]
        made, plain, merged = Signal.like(last.data), Signal.like(last.data), Signal()
        m.d.sync += [
            write.enable.eq(last.enable),
            write.slot.eq(late.slot),
            write.flit.eq(last.flit),
            made.eq(combined(self._messages, self.old.data, last.data, late.operator)),
            plain.eq(last.data),
            merged.eq(late.merges),
        ]
        m.d.comb += [
            write.data.eq(Mux(merged, made, plain)),
            write.labels.eq(self.i_write.labels),
            write.label_slot.eq(self.i_write.label_slot),
            write.label.eq(self.i_write.label),
        ]

    def _elaborate_came(self, m: Module) -> list[Any]:
        """Return what came in the cycles before, the last one first; that has been in the receiver's register."""
        layout = data.StructLayout({"enable": 1, "flit": len(self.i_write.flit), "data": len(self.i_write.data)})
        came = [Signal(layout, name=f"came_{cycle}") for cycle in range(1, DELAY)]
        m.d.comb += [came[0][name].eq(getattr(self.i_write, name)) for name in layout.members]
        m.d.sync += [later.eq(earlier) for earlier, later in pairwise(came)]
        return came
