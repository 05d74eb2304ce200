"""From lists to packets: what a send, or the end of an operation, takes from memory."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.program import Program
from hdnhw.flit import MessageFormat
from hdnhw.rtl.bits import below, equals, index_width
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.collective.host import result_layout
from hdnhw.rtl.collective.lists import PopSignature
from hdnhw.rtl.collective.sorter import num_lists, sort_layout
from hdnhw.rtl.collective.store import StoreReadSignature
from hdnhw.rtl.header import header_layout

__all__ = ["Sender", "job_layout"]


def job_layout(program: Program, messages: MessageFormat) -> data.StructLayout:
    """Return what a sender is asked to do: to send all messages of a list, or to `announce` that the node is ready.

    `dst` is the neighbor's packed address; `paired` says that the first packet announces it too; `results`, that the
    messages are to be given to the node itself; `copies`, that they are kept.
    """
    return data.StructLayout(
        {
            "list": index_width(num_lists(program)),
            "dst": messages.flits.address_width,
            "announce": 1,
            "paired": 1,
            "results": 1,
            "copies": 1,
        }
    )


class Sender(wiring.Component):
    """Take messages from a list, one after the other, and send them without a gap.

    The head flit of the first is offered five cycles after the job. Beyond `window` messages it goes on when it is
    told to. A buffer is free with its last flit; where messages are copied, they are sorted again.

    Parameters
    ----------
    program : Program
    messages : MessageFormat
    buffers, window : int

    Members
    -------
    job : In(stream of job_layout)
        Taken when its last packet has begun; a list that is empty makes one packet, and no result.
    open : In(1)
        Whether the neighbor is ready.
    parity : In(1)
    operator : In
        Of the operation, where there are several.
    filled : In(lists)
    pop : Out(PopSignature)
    read : Out(StoreReadSignature)
    sort : Out(stream of sort_layout)
    free : Out(stream of buffers)
        Must be ready.
    inject : Out(injection_signature)
    o : Out(stream of result_layout)
    giving : Out(1)
        Whether a result has not been taken.
    """

    def __init__(self, program: Program, messages: MessageFormat, buffers: int, window: int) -> None:
        self._program, self._messages, self._window = program, messages, window
        lists = num_lists(program)
        members: dict[str, Any] = {
            "job": In(stream.Signature(job_layout(program, messages))),
            "open": In(1),
            "parity": In(1),
            "filled": In(lists),
            "pop": Out(PopSignature(lists, buffers)),
            "read": Out(StoreReadSignature(messages, buffers)),
            "sort": Out(stream.Signature(sort_layout(program, buffers))),
            "free": Out(stream.Signature(index_width(buffers))),
            "inject": Out(injection_signature(flit_width=messages.flits.flit_width)),
            "o": Out(stream.Signature(result_layout(messages))),
            "giving": Out(1),
        }
        if messages.operator_width:
            members["operator"] = In(messages.operator_width)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        packet = Signal(
            data.StructLayout(
                {"slot": len(self.pop.slot), "header": header_layout(self._messages), "results": 1, "frees": 1}
            )
        )
        fetched, load = Signal(), Signal()
        self._elaborate_fetch(m, packet, fetched, load)
        self._elaborate_stream(m, packet, fetched, load)
        return m

    def _elaborate_fetch(self, m: Module, packet: Any, fetched: Signal, load: Signal) -> None:
        """Compose the next packet while one is sent: pop, read the label, sort again."""
        job, header = self.job.payload, packet.header
        filled, begun, empty, popped, goes_on, sorted_ = (Signal() for _ in range(6))
        pop, label, sort, wait = (
            Signal(init=name == "pop", name=f"at_{name}") for name in ("pop", "label", "sort", "wait")
        )
        m.d.comb += [
            filled.eq(Cat(bit & equals(job.list, place) for place, bit in enumerate(self.filled)).any()),
            self.pop.list.eq(job.list),
            self.pop.valid.eq(pop & self.job.valid & filled & ~job.announce),
            popped.eq(self.pop.valid & self.pop.ready),
            empty.eq(pop & self.job.valid & (job.announce | ~filled)),
            sorted_.eq(sort & (~self.sort.valid | self.sort.ready)),
            goes_on.eq(wait & (load | ~fetched)),
            self.job.ready.eq(goes_on & (header.last | job.announce)),
        ]
        with m.If(pop):
            self._elaborate_header(m, packet, filled, begun)
        self._elaborate_label(m, packet, sort)
        with m.If(goes_on):
            m.d.sync += begun.eq(~self.job.ready)
        with m.If(load | (empty & ~job.results) | sorted_):
            m.d.sync += fetched.eq(~load)
        m.d.sync += [
            pop.eq((pop & ~empty & ~popped) | goes_on),
            label.eq(popped),
            sort.eq(label | (sort & ~sorted_)),
            wait.eq(empty | sorted_ | (wait & ~goes_on)),
        ]

    def _elaborate_header(self, m: Module, packet: Any, filled: Value, begun: Value) -> None:
        """Compose what the job and its list say."""
        job, header = self.job.payload, packet.header
        m.d.sync += [
            packet.slot.eq(self.pop.slot),
            packet.results.eq(job.results),
            packet.frees.eq(~job.announce & filled & (job.results | ~job.copies)),
            header.dst.eq(job.dst),
            header.send.eq(job.list[: len(header.send)]),
            header.parity.eq(self.parity),
            header.ready.eq(job.announce | (job.paired & ~begun)),
            header.last.eq(~job.announce & (~filled | self.pop.only)),
            header.holds.eq(~job.announce & filled),
        ]
        if self._messages.operator_width:
            m.d.sync += header.operator.eq(self.operator)

    def _elaborate_label(self, m: Module, packet: Any, sort: Value) -> None:
        """Add whose message it is; one that is kept is sorted again."""
        again, header = self.sort.payload, packet.header
        m.d.comb += [
            self.read.label_slot.eq(packet.slot),
            self.sort.valid.eq(sort & ~packet.frees),
            again.slot.eq(packet.slot),
            again.source.eq(self.read.label.source),
            again.send.eq(header.send),
            again.parity.eq(self.parity),
            again.holds.eq(1),
        ]
        with m.If(sort):
            m.d.sync += header.source.eq(self.read.label.source)
        if self._messages.has_target:
            m.d.comb += again.target.eq(self.read.label.target)
            with m.If(sort):
                m.d.sync += header.target.eq(self.read.label.target)

    def _elaborate_stream(self, m: Module, packet: Any, fetched: Signal, load: Signal) -> None:
        """Send header and data through a register, or data to the node itself."""
        messages, read = self._messages, self.read
        width, length, headers = messages.flits.flit_width, messages.flits.packet_length, messages.header_flits
        active, results, frees, source = Signal(), Signal(), Signal(), Signal.like(packet.header.source)
        slot, shift = Signal.like(packet.slot), Signal(messages.header_width)
        position, following, sent = (
            Signal(index_width(length)),
            Signal(index_width(length)),
            Signal(range(self._window + 1)),
        )
        advance, tail, in_header, room, may = Signal(), Signal(), Signal(), Signal(), Signal()
        free = ~self.inject.valid | self.inject.ready, ~self.o.valid | self.o.ready
        m.d.comb += [
            room.eq(Mux(results, free[1], free[0])),
            in_header.eq(below(position, headers)),
            advance.eq(active & room),
            tail.eq(advance & equals(position, length - 1)),
            may.eq(self.open | packet.results | self.job.payload.announce | below(sent, self._window)),
            load.eq(fetched & may & (~active | tail)),
            following.eq(Mux(load, Mux(packet.results, headers, 0), position + advance)),
            read.slot.eq(Mux(load, packet.slot, slot)),
            read.flit.eq(Mux(below(following, headers), headers, following)[: len(read.flit)]),
            self.free.valid.eq(tail & frees),
            self.free.payload.eq(slot),
            self.giving.eq((active & results) | self.o.valid),
        ]
        m.d.sync += position.eq(following)
        with m.If(free[0]):
            m.d.sync += self.inject.valid.eq(active & ~results)
            m.d.sync += self.inject.payload.eq(Mux(in_header, shift[:width], read.data))
        with m.If(free[1]):
            m.d.sync += self.o.valid.eq(active & results)
            m.d.sync += self.o.payload.data.eq(read.data)
            m.d.sync += [self.o.payload.source.eq(source), self.o.payload.last.eq(equals(position, length - 1))]
        if headers > 1:
            with m.If(advance):
                m.d.sync += shift.eq(shift[width:])
        with m.If(tail):
            m.d.sync += active.eq(0)
        with m.If(self.job.valid & self.job.ready):
            m.d.sync += sent.eq(0)
        with m.Elif(load & packet.header.holds & below(sent, self._window)):
            m.d.sync += sent.eq(sent + 1)
        with m.If(load):
            m.d.sync += [active.eq(1), results.eq(packet.results), frees.eq(packet.frees), slot.eq(packet.slot)]
            m.d.sync += [shift.eq(packet.header), source.eq(packet.header.source)]
