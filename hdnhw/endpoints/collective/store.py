"""The memory of an engine: data of messages by buffer and flit, and whose they are by buffer."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.rtl.bits import index_width


def label_layout(messages: MessageFormat) -> data.StructLayout:
    """Return whose a message is: packed addresses of its source and, if the header has them, its target and the number
    of the packet; and the send by which it came.
    """
    fields = messages.header_fields
    return data.StructLayout({name: fields[name] for name in ("source", "target", "part", "send") if name in fields})


class StoreWriteSignature(wiring.Signature):
    """Writing, one data flit per cycle.

    Members
    -------
    enable, slot, flit, data : Out
        Write a flit of a buffer; `flit` is its position in the packet, modulo a power of two that holds the data flits.
    labels : Out(1)
        Write `label` too.
    label : Out(label_layout)
    label_slot : Out
        Buffer of `label`, where messages are combined; elsewhere it is `slot`.
    """

    def __init__(self, messages: MessageFormat, buffers: int) -> None:
        members = {
            "enable": Out(1),
            "slot": Out(index_width(buffers)),
            "flit": Out(index_width(messages.payload_flits)),
            "data": Out(messages.flits.flit_width),
            "labels": Out(1),
            "label": Out(label_layout(messages)),
        }
        if messages.operators:
            members["label_slot"] = Out(index_width(buffers))
        super().__init__(members)


class StoreOldSignature(wiring.Signature):
    """Reading what is combined with what comes: it comes in the cycle after the next.

    Members
    -------
    slot, flit : Out
    data : In(flit width)
    """

    def __init__(self, messages: MessageFormat, buffers: int) -> None:
        super().__init__(
            {
                "slot": Out(index_width(buffers)),
                "flit": Out(index_width(messages.payload_flits)),
                "data": In(messages.flits.flit_width),
            }
        )


class StoreReadSignature(wiring.Signature):
    """Reading. Labels and data are read apart: a label comes in the next cycle, data in the one after it.

    Members
    -------
    label_slot : Out
    label : In(label_layout)
    enable : Out(1)
        Data that has been asked for moves on, from memory to its register, and from there.
    slot, flit : Out
    data : In(flit width)
    """

    def __init__(self, messages: MessageFormat, buffers: int) -> None:
        super().__init__(
            {
                "label_slot": Out(index_width(buffers)),
                "label": In(label_layout(messages)),
                "enable": Out(1),
                "slot": Out(index_width(buffers)),
                "flit": Out(index_width(messages.payload_flits)),
                "data": In(messages.flits.flit_width),
            }
        )


class MessageStore(wiring.Component):
    """All buffers of a node.

    Members
    -------
    write : In(StoreWriteSignature)
    read : In(StoreReadSignature)
    old : In(StoreOldSignature)
        Where messages are combined.
    """

    def __init__(self, messages: MessageFormat, buffers: int) -> None:
        self._messages, self._buffers = messages, buffers
        members = {
            "write": In(StoreWriteSignature(messages, buffers)),
            "read": In(StoreReadSignature(messages, buffers)),
        }
        if messages.operators:
            members["old"] = In(StoreOldSignature(messages, buffers))
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        layout, write, read = label_layout(self._messages), self.write, self.read
        depth = self._buffers << len(write.flit)
        # Nobody reads a word in the cycle in which it is written: what comes out then may be anything.
        unchecked, width = {"no_rw_check": 1}, self._messages.flits.flit_width
        m.submodules.data = flits = memory.Memory(shape=width, depth=depth, init=[], attrs=unchecked)
        m.submodules.labels = labels = memory.Memory(shape=layout.size, depth=self._buffers, init=[])
        to_data, from_data = flits.write_port(), flits.read_port()
        to_label, from_label = labels.write_port(), labels.read_port()
        m.d.comb += [
            to_data.en.eq(write.enable),
            to_data.addr.eq(Cat(write.flit, write.slot)),
            to_data.data.eq(write.data),
            to_label.en.eq(write.labels),
            to_label.addr.eq(write.label_slot if self._messages.operators else write.slot),
            to_label.data.eq(write.label),
            from_data.addr.eq(Cat(read.flit, read.slot)),
            from_data.en.eq(read.enable),
            from_label.addr.eq(read.label_slot),
            read.label.eq(from_label.data),
        ]
        word = Signal.like(from_data.data, reset_less=True)  # the memory's own register, where it has one
        with m.If(read.enable):
            m.d.sync += word.eq(from_data.data)
        m.d.comb += read.data.eq(word)
        if self._messages.operators:
            old, word = flits.read_port(), Signal(width, reset_less=True, name="old_word")
            m.d.sync += word.eq(old.data)
            m.d.comb += [old.addr.eq(Cat(self.old.flit, self.old.slot)), self.old.data.eq(word)]
        return m
