"""In which list a message belongs: that of the next send whose condition is true for it."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collective.program import Program
from hdnhw.rtl.bits import below, equals, index_width, number_of
from hdnhw.rtl.circuit import elaborate_circuit
from hdnhw.rtl.collective.lists import append_layout
from hdnhw.topology.address import AddressLayout

__all__ = ["Sorter", "num_lists", "sort_layout"]


def num_lists(program: Program) -> int:
    """Return the lists of an engine: one for each send, in their order, and two for results, by the parity."""
    return len(program.sends) + 2


def sort_layout(program: Program, buffers: int) -> data.StructLayout:
    """Return what is sorted.

    `send` is the number of the send by which the message came; if it `begins`, that of its operation's first. `source`
    and `target` are packed addresses. Where it does not hold a message, only `ready` and `last` count, see
    :class:`hdnhw.flit.MessageFormat`.
    """
    width = AddressLayout(program.network).width
    return data.StructLayout(
        {
            "slot": index_width(buffers),
            "source": width,
            "target": width,
            "send": index_width(len(program.sends)),
            "begins": 1,
            "parity": 1,
            "holds": 1,
            "ready": 1,
            "last": 1,
        }
    )


class Sorter(wiring.Component):
    """Append messages to lists, in two cycles, one a cycle.

    Parameters
    ----------
    program : Program
    buffers : int

    Members
    -------
    address : In(address width)
        The node's own packed address.
    i : In(stream of sort_layout)
    append : Out(stream of append_layout)
    done : Out(1)
        High for one cycle when a message has been appended, or there was none.
    send, ready, last : Out
        Those of what is done.
    busy : Out(1)
        Whether there is something that has not been done.
    """

    def __init__(self, program: Program, buffers: int) -> None:
        self._program = program
        super().__init__(
            {
                "address": In(AddressLayout(program.network).width),
                "i": In(stream.Signature(sort_layout(program, buffers))),
                "append": Out(stream.Signature(append_layout(num_lists(program), buffers))),
                "done": Out(1),
                "send": Out(index_width(len(program.sends))),
                "ready": Out(1),
                "last": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        first, second = Signal.like(self.i.payload), Signal.like(self.i.payload)
        first_valid, second_valid, advance = Signal(), Signal(), Signal()
        sends = len(self._program.sends)
        chosen, number = Signal(sends), Signal.like(self.append.payload.list)
        m.d.comb += [advance.eq(~self.append.valid | self.append.ready), self.i.ready.eq(advance)]
        with m.If(advance):
            m.d.sync += [
                first_valid.eq(self.i.valid),
                first.eq(self.i.payload),
                chosen.eq(self._possible(m) & self._later(self.i.payload)),
                second_valid.eq(first_valid),
                second.eq(first),
                number.eq(self._lowest(m, chosen, first.parity)),
            ]
        m.d.comb += [
            self.append.valid.eq(second_valid & second.holds),
            self.append.payload.list.eq(number),
            self.append.payload.slot.eq(second.slot),
            self.done.eq(second_valid & advance),
            self.send.eq(second.send),
            self.ready.eq(second.ready),
            self.last.eq(second.last),
            self.busy.eq(first_valid | second_valid),
        ]
        return m

    def _possible(self, m: Module) -> Value:
        """Return for each send whether its condition is true."""
        network = self._program.network
        payload = self.i.payload
        addresses = {"own": self.address, "src": payload.source, "dst": payload.target}
        values = []
        for schedule in self._program.phases:
            terms = [send.when for send in self._program.sends if send.schedule is schedule]
            values += elaborate_circuit(m, schedule.circuit, terms, addresses, AddressLayout(network))
        return Cat(value[0] for value in values)

    def _later(self, payload: Any) -> Value:
        """Return for each send whether it is of the same operation and a later step, or any if the message begins."""
        result = []
        for send in self._program.sends:
            operation = self._program.numbers_of(send.operation).start
            step = self._program.numbers_of_step(send.step).start
            later = ~below(payload.send, operation) & below(payload.send, step)
            result.append(Mux(payload.begins, equals(payload.send, operation), later))
        return Cat(result)

    def _lowest(self, m: Module, chosen: Value, parity: Value) -> Value:
        """Return the number of the lowest bit that is set, that of the results if there is none."""
        sends = len(chosen)
        lowest = Signal(sends + 2, name="lowest")
        m.d.comb += lowest.eq(Cat(chosen & ~(chosen - 1)[:sends], ~chosen.any() & ~parity, ~chosen.any() & parity))
        return number_of(dict(enumerate(lowest)), index_width(sends + 2))
