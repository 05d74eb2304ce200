"""From lists to packets: what a send, or the end of an operation, takes from memory."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.program import Program
from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.endpoints.collective.host import result_layout
from hdnhw.endpoints.collective.lists import PopSignature
from hdnhw.endpoints.collective.sorter import num_lists, sort_layout
from hdnhw.endpoints.collective.store import StoreReadSignature
from hdnhw.rtl.bits import below, index_width
from hdnhw.rtl.channel import injection_signature
from hdnhw.rtl.header import header_layout


def job_layout(program: Program, messages: MessageFormat) -> data.StructLayout:
    """Return what a sender is asked to do: to send all messages of a list, or to `announce` that the node is ready.

    `filled` says whether the list is not empty; `dst` is the neighbor's packed address; `paired` says that the first
    packet announces it too; `results`, that the messages are to be given to the node itself; `copies`, that they are
    kept; `early`, that they are not to be sent at all, but sorted again, as the operation that they are of has begun.
    """
    return data.StructLayout(
        {
            "list": index_width(num_lists(program)),
            "filled": 1,
            "dst": messages.flits.address_width,
            "announce": 1,
            "paired": 1,
            "results": 1,
            "copies": 1,
            "early": 1,
        }
    )


class Sender(wiring.Component):
    """Take messages from a list, one after the other, and send them without a gap.

    The head flit of the first is offered five cycles after the job. Beyond `window` messages it goes on when it is
    told to. A buffer is free with its last flit; where messages are copied, they are sorted again.

    Members
    -------
    job : In(stream of job_layout)
        Taken in the cycle after the one in which its last packet has begun; a list that is empty makes one packet, and
        no result.
    open : In(1)
        Whether the neighbor is ready.
    parity : In(1)
    operator : In
        Of the operation, where there are several.
    joined, drops : In(1)
        Where nodes join groups: what headers say of members; whether results are not given to the node itself.
    pop : Out(PopSignature)
    read : Out(StoreReadSignature)
    sort : Out(stream of sort_layout)
    free : Out(stream of buffers)
        Always ready.
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
            "pop": Out(PopSignature(lists, buffers)),
            "read": Out(StoreReadSignature(messages, buffers)),
            "sort": Out(stream.Signature(sort_layout(program, buffers))),
            "free": Out(stream.Signature(index_width(buffers), always_ready=True)),
            "inject": Out(injection_signature(flit_width=messages.flits.flit_width)),
            "o": Out(stream.Signature(result_layout(messages))),
            "giving": Out(1),
        }
        if messages.operator_width:
            members["operator"] = In(messages.operator_width)
        if messages.has_groups:
            members |= {"joined": In(1), "drops": In(1)}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        header = header_layout(self._messages)
        packet = Signal(data.StructLayout({"header": header, "results": 1, "frees": 1, "unasked": 1}))
        fetched, load = Signal(), Signal()
        self._elaborate_fetch(m, packet, fetched, load)
        self._elaborate_stream(m, packet, fetched, load)
        return m

    def _elaborate_fetch(self, m: Module, packet: Any, fetched: Signal, load: Signal) -> None:
        """Compose the next packet while one is sent: pop, read the label, sort again."""
        job, header, last = self.job.payload, packet.header, packet.header.last
        asked, begun, empty, popped, goes_on, again = (Signal() for _ in range(6))
        pop, label, read, wait = (
            Signal(init=name == "pop", name=f"at_{name}") for name in ("pop", "label", "read", "wait")
        )
        m.d.comb += [
            self.pop.list.eq(job.list),
            asked.eq(pop & self.job.valid & ~self.job.ready),
            self.pop.valid.eq(asked & job.filled & ~job.announce),
            popped.eq(self.pop.valid & self.pop.ready),
            empty.eq(asked & (job.announce | ~job.filled)),
            goes_on.eq(wait & (load | ~fetched) & (~again | self.sort.ready)),
            self.read.label_slot.eq(self.pop.slot),
        ]
        with m.If(pop):
            self._elaborate_header(m, packet, begun)
        with m.If(label):
            m.d.sync += last.eq(self.pop.only)
        with m.If(read):
            names = [name for name in self.read.label.shape().members if name != "send"]
            m.d.sync += [header[name].eq(self.read.label[name]) for name in names]
            m.d.sync += header.send.eq(Mux(job.early, self.read.label.send, job.list[: len(header.send)]))
        with m.If(goes_on):
            m.d.sync += begun.eq(~last & ~job.announce)
        with m.If(load | (((empty & ~job.results) | read) & ~job.early)):
            m.d.sync += fetched.eq(~load)
        m.d.sync += [
            self.job.ready.eq(goes_on & (last | job.announce)),
            pop.eq((pop & ~empty & ~popped) | goes_on),
            label.eq(popped),
            read.eq(label),
            wait.eq(empty | read | (wait & ~goes_on)),
            again.eq((read & ~packet.frees) | (again & ~self.sort.ready)),
        ]
        self._elaborate_sort(m, packet, again)

    def _elaborate_header(self, m: Module, packet: Any, begun: Value) -> None:
        """Compose what the job and its list say."""
        job, header = self.job.payload, packet.header
        m.d.sync += [
            packet.results.eq(job.results),
            packet.frees.eq(~job.announce & job.filled & ~job.early & (job.results | ~job.copies)),
            packet.unasked.eq(job.results | job.announce),
            header.dst.eq(job.dst),
            header.send.eq(job.list[: len(header.send)]),
            header.parity.eq(self.parity),
            header.ready.eq(job.announce | (job.paired & ~begun)),
            header.last.eq(~job.announce & ~job.filled),
            header.holds.eq(~job.announce & job.filled),
        ]
        if self._messages.operator_width:
            m.d.sync += header.operator.eq(self.operator)
        if self._messages.has_groups:
            m.d.sync += header.member.eq(self.joined & ~job.announce)

    def _elaborate_sort(self, m: Module, packet: Any, again: Value) -> None:
        """Have a message that is kept sorted again."""
        sort, header = self.sort.payload, packet.header
        m.d.comb += [
            self.sort.valid.eq(again),
            sort.slot.eq(self.pop.slot),
            sort.source.eq(header.source),
            sort.send.eq(header.send),
        ]
        if self._messages.has_target:
            m.d.comb += sort.target.eq(header.target)

    def _elaborate_stream(self, m: Module, packet: Any, fetched: Signal, load: Signal) -> None:
        """Send header and data through a register, or data to the node itself.

        `position` is that of the flit which is offered next. A flit of data is asked for two cycles before its turn, as
        it goes through the memory's register, of a result, which leaves that register itself, one cycle; the first one
        while the packet may be loaded, whether it is or not.
        """
        messages, read, header = self._messages, self.read, packet.header
        width, length, headers = messages.flits.flit_width, messages.flits.packet_length, messages.header_flits
        sends, gives, frees, source = Signal(), Signal(), Signal(), Signal.like(header.source)
        slot, shift = Signal.like(self.pop.slot), Signal(messages.header_width)
        position, last = Signal(index_width(length)), Signal(init=1)
        ask = Signal.like(read.flit, init=headers % (1 << len(read.flit)))
        sent, may, advance, room = Signal(range(self._window + 1)), Signal(), Signal(), Signal()
        free, taken = ~self.inject.valid | self.inject.ready, ~self.o.valid | self.o.ready
        m.d.comb += [
            room.eq(Mux(sends, free, taken)),
            advance.eq((sends | gives) & room),
            load.eq(fetched & may & last & room),
            read.enable.eq(room),
            read.slot.eq(Mux(last, self.pop.slot, slot)),
            read.flit.eq(ask),
            self.free.valid.eq(frees & room & last),
            self.free.payload.eq(slot),
            self.giving.eq(gives | self.o.valid),
            self.o.payload.data.eq(read.data),
        ]
        m.d.sync += may.eq(self.open | packet.unasked | below(sent, self._window))
        with m.If(free):
            m.d.sync += self.inject.valid.eq(sends)
            m.d.sync += self.inject.payload.eq(Mux(below(position, headers), shift[:width], read.data))
        offers = gives & ~self.drops if messages.has_groups else gives
        with m.If(taken):
            m.d.sync += [self.o.valid.eq(offers), self.o.payload.source.eq(source), self.o.payload.last.eq(last)]
        ends = ~below(position, max(0, length - 2))
        with m.If(advance):
            m.d.sync += [position.eq(position + 1), last.eq(ends)]
            m.d.sync += ask.eq(Mux(ends, headers, ask + ~below(position, max(0, headers - 2)))[: len(ask)])
            if headers > 1:
                m.d.sync += shift.eq(shift[width:])
        with m.If(advance & last):
            m.d.sync += [sends.eq(0), gives.eq(0), frees.eq(0)]
        with m.If(self.job.ready):
            m.d.sync += sent.eq(0)
        with m.Elif(load & header.holds & below(sent, self._window)):
            m.d.sync += sent.eq(sent + 1)
        alone = packet.results if messages.payload_flits == 1 else Const(0)  # a result of one flit
        with m.If(load):
            m.d.sync += [sends.eq(~packet.results), gives.eq(packet.results), frees.eq(packet.frees)]
            m.d.sync += [slot.eq(self.pop.slot), shift.eq(header), source.eq(header.source), last.eq(alone)]
            m.d.sync += position.eq(Mux(packet.results, headers, 0))
            m.d.sync += ask.eq(Mux(packet.results & ~alone, headers + 1, max(2, headers))[: len(ask)])
        if messages.part_width:
            part = Signal(messages.part_width)
            with m.If(load):
                m.d.sync += part.eq(header.part)
            with m.If(taken):
                m.d.sync += self.o.payload.part.eq(part)
