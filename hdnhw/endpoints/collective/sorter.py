"""In which list a message belongs: that of the next send whose condition is true for it."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.program import Program
from hdnhw.endpoints.collective.lists import append_layout
from hdnhw.rtl.bits import below, equals, first_of, index_width, number_of, selected
from hdnhw.rtl.circuit import elaborate_circuit
from hdnhw.spec import JOIN, MULTICAST
from hdnhw.topology.address import AddressLayout


def num_lists(program: Program) -> int:
    """Return the lists of an engine: one for each send, in their order, one for results, and one for early messages."""
    return len(program.sends) + 2


def sort_layout(program: Program, buffers: int) -> data.StructLayout:
    """Return what is sorted.

    `send` is the number of the send by which the message came; if it `begins`, that of its operation's first. `source`
    and `target` are packed addresses. `early` is a message of the operation behind the node's own: it waits in a list
    apart to be sorted again, as the next operation may be the same one.
    """
    width = AddressLayout(program.network).width
    return data.StructLayout(
        {
            "slot": index_width(buffers),
            "source": width,
            "target": width,
            "send": index_width(len(program.sends)),
            "begins": 1,
            "early": 1,
        }
    )


GROUP = 4
"""Sends, a power of two, of which the first is found in one cycle."""


class Sorter(wiring.Component):
    """Append messages to lists, in three cycles, one a cycle.

    Members
    -------
    address : In(address width)
        The node's own packed address.
    uses : In
        Where nodes join groups, the sends of the multicast by which this node sends a message on.
    i : In(stream of sort_layout)
    append : Out(stream of append_layout)
        Both always ready.
    busy : Out(1)
        Whether there is something that has not been appended.
    """

    def __init__(self, program: Program, buffers: int) -> None:
        self._program = program
        given = stream.Signature(sort_layout(program, buffers), always_ready=True)
        members: dict[str, Any] = {
            "address": In(AddressLayout(program.network).width),
            "i": In(given),
            "append": Out(stream.Signature(append_layout(num_lists(program), buffers), always_ready=True)),
            "busy": Out(1),
        }
        if program.has_groups:
            members["uses"] = In(len(program.told_by))
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        payload, sends = self.i.payload, len(self._program.sends)
        first, second = (
            Signal(data.StructLayout({"valid": 1, "slot": len(payload.slot), "early": 1}), name=name)
            for name in ("first", "second")
        )
        possible, later, chosen = Signal(sends), Signal(sends), Signal(sends)
        m.d.sync += [
            first.valid.eq(self.i.valid),
            first.slot.eq(payload.slot),
            first.early.eq(payload.early),
            possible.eq(self._possible(m)),
            later.eq(self._later(payload)),
            second.eq(first),
            self.append.valid.eq(second.valid),
            self.append.payload.slot.eq(second.slot),
            self.append.payload.list.eq(self._elaborate_lowest(m, chosen, second.early)),
        ]
        m.d.comb += chosen.eq(possible & later)
        m.d.comb += self.busy.eq(first.valid | second.valid | self.append.valid)
        return m

    def _possible(self, m: Module) -> Value:
        """Return for each send whether its condition is true; no message goes by one of a join."""
        network, schedules = self._program.network, self._program.schedules
        payload = self.i.payload
        addresses = {"own": self.address, "src": payload.source, "dst": payload.target}
        values = []
        for schedule in self._program.phases:
            terms = [send.when for send in self._program.sends if send.schedule is schedule]
            if schedule in (*schedules.get(JOIN, ()), *schedules.get(MULTICAST, ())):
                values += list(self.uses) if schedule.copies else [Const(0)] * len(terms)
                continue
            values += elaborate_circuit(m, schedule.circuit, terms, addresses, AddressLayout(network))
        return Cat(value[0] for value in values)

    def _later(self, payload: Any) -> Value:
        """Return for each send whether it is of the same operation and a later step, or any if the message begins; none
        if it is early.
        """
        result = []
        for send in self._program.sends:
            operation = self._program.numbers_of(send.operation).start
            step = self._program.numbers_of_step(send.step).start
            later = ~below(payload.send, operation) & below(payload.send, step)
            result.append(~payload.early & Mux(payload.begins, equals(payload.send, operation), later))
        return Cat(result)

    def _elaborate_lowest(self, m: Module, chosen: Value, early: Value) -> Value:
        """Return the number of the lowest bit that was set in the cycle before; that of results or of early messages if
        there was none.

        In two cycles: the lowest of each group, then the first group that has one.
        """
        width = len(self.append.payload.list)
        groups, lowest = [], []
        for place in range(0, len(chosen), GROUP):
            group = chosen[place : place + GROUP]
            some, low = Signal(name=f"some_{place}"), Signal(index_width(GROUP), name=f"lowest_{place}")
            m.d.sync += [some.eq(group.any()), low.eq(number_of(dict(enumerate(first_of(group))), len(low)))]
            groups.append(some)
            lowest.append(Cat(low, Const(place // GROUP, width))[:width])
        others = Mux(early, Const(len(chosen) + 1, width), Const(len(chosen), width))
        none = ~Cat(groups).any()
        return selected([*first_of(Cat(groups)), none], [*lowest, others])
