"""Between the receiver and the memory: messages that are combined where they meet, as they come in."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.program import Program
from hdnhw.flit import MessageFormat
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.collective.numbers import combined
from hdnhw.rtl.collective.sorter import sort_layout
from hdnhw.rtl.collective.store import StoreOldSignature, StoreWriteSignature, label_layout

__all__ = ["ClaimSignature", "Combiner", "claim_layout"]


def claim_layout(messages: MessageFormat) -> data.StructLayout:
    """Return what a message is to a combiner.

    `combines`: it is a partial result, for the node whose packed address is `block`, or the root (then 0), in an
    operation of this `parity`; `held`: the node's own part has been loaded, and not given away; `own`: it is that part.
    """
    block = label_layout(messages).members.get("target", 1)
    width = block if isinstance(block, int) else block.width
    fields = {"combines": 1, "own": 1, "held": 1, "parity": 1, "block": width, "operator": messages.operator_width}
    return data.StructLayout({name: bits for name, bits in fields.items() if bits})


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
    there: the node's own part, or a message that comes before. One flit a cycle; a write comes two cycles after that
    of the receiver. For ``2 << block width`` cycles after reset the table is cleared, and nothing is taken.

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
        A message that was combined is no longer one.
    """

    def __init__(self, program: Program, messages: MessageFormat, buffers: int) -> None:
        self._messages, self._buffers = messages, buffers
        slots, sorts = stream.Signature(index_width(buffers)), stream.Signature(sort_layout(program, buffers))
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
        self._elaborate_spare(m, cleared, now & ~merges, now, spare)
        self._elaborate_write(m, claim, place, merges)
        self._elaborate_sort(m, merges)
        return m

    def _elaborate_table(self, m: Module, now: Value, claim: Any, spare: Value, merges: Value) -> tuple[Value, Any]:
        """Add the table, read with a claim and written a cycle later; return whether it is cleared, and what is read.

        `early` is set from a message that came before the node's own part until that comes.
        """
        layout = data.StructLayout({"slot": len(spare), "early": 1})
        depth = 2 << len(claim.block)
        m.submodules.table = table = memory.Memory(shape=layout, depth=depth, init=[])
        write = table.write_port()
        read = table.read_port(transparent_for=(write,) if self._messages.payload_flits == 1 else ())
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

    def _elaborate_spare(self, m: Module, cleared: Value, used: Value, now: Value, spare: Signal) -> None:
        """Keep one free buffer at hand; a message that is combined gives it back."""
        there = Signal()
        m.d.comb += [
            self.slot.valid.eq(there & ~now),
            self.slot.payload.eq(spare),
            self.i_slot.ready.eq(cleared & (~there | used)),
        ]
        with m.If(self.i_slot.ready):
            m.d.sync += [there.eq(self.i_slot.valid), spare.eq(self.i_slot.payload)]

    def _elaborate_write(self, m: Module, claim: Any, place: Value, merges: Value) -> None:
        """Read what is there, and write that combined with what has come, or what has come alone."""
        write, came = self.write, self.i_write
        operator = claim.operator if self._messages.operator_width else Signal(name="operator")
        first = Signal(data.StructLayout({"enable": 1, "flit": len(came.flit), "data": len(came.data)}))
        second_merges, second_operator = Signal(), Signal.like(operator)
        m.d.sync += [
            first.enable.eq(came.enable),
            first.flit.eq(came.flit),
            first.data.eq(came.data),
            write.enable.eq(first.enable),
            write.slot.eq(place),
            write.flit.eq(first.flit),
            second_merges.eq(merges),
            second_operator.eq(operator),
        ]
        second = Signal.like(came.data)
        m.d.sync += second.eq(first.data)
        m.d.comb += [
            self.old.slot.eq(place),
            self.old.flit.eq(first.flit),
            write.data.eq(Mux(second_merges, combined(self._messages, self.old.data, second, second_operator), second)),
            write.labels.eq(came.labels),
            write.label_slot.eq(came.label_slot),
            write.label.eq(came.label),
        ]

    def _elaborate_sort(self, m: Module, merges: Value) -> None:
        """Have a message that was combined sorted as none; it may wait while the next one begins."""
        waiting, waiting_merges, here = Signal(), Signal(), Signal()
        m.d.comb += [
            here.eq(Mux(waiting, waiting_merges, merges)),
            self.sort.valid.eq(self.i_sort.valid),
            self.i_sort.ready.eq(self.sort.ready),
            self.sort.payload.eq(self.i_sort.payload),
            self.sort.payload.holds.eq(self.i_sort.payload.holds & ~here),
        ]
        m.d.sync += [waiting.eq(self.i_sort.valid & ~self.sort.ready), waiting_merges.eq(here)]
