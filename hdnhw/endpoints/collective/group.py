"""Which nodes are behind which sends of a multicast: what a node hears of members in a join."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.collectives.program import Program
from hdnhw.endpoints.collective.format import MessageFormat
from hdnhw.endpoints.collective.receiver import told_layout
from hdnhw.rtl.bits import equals
from hdnhw.rtl.circuit import elaborate_circuit
from hdnhw.spec import MULTICAST
from hdnhw.topology.address import AddressLayout


class Group(wiring.Component):
    """Note by which sends of a multicast there are members, from what the nodes behind them say in a join.

    In each step of a join a node says over the step's links whether it is a member or has heard of one. That counts
    where this node would send to that one in the mirrored step of a multicast: by the multicast's conditions, which
    read the node's own address alone. Every node has heard of all members behind it when it tells the node before it:
    those that it would send to later tell it earlier.

    A neighbor may be an operation ahead, and no more (:mod:`hdnhw.collectives.lead`). What it says stands by the parity
    of its operation. Two cycles after a packet's last flit it is noted; `joined` knows it in the third one, before the
    next step has begun.

    Parameters
    ----------
    program : Program
    messages : MessageFormat
        Of nodes that join groups.

    Members
    -------
    address : In(address width)
    told : In(told_layout)
        Of each packet.
    parity : In(1)
        Of the node's operation.
    member : In(1)
        Whether the node is a member.
    ends : In(1)
        High for one cycle at the end of a join, before its parity changes.
    joined : Out(1)
        Whether the node is a member or has heard of one in this operation.
    uses : Out
        For each send of the multicast, whether a message goes by it to the group of the last join that has ended.
    """

    def __init__(self, program: Program, messages: MessageFormat) -> None:
        self._program, self._layout = program, AddressLayout(program.network)
        super().__init__(
            {
                "address": In(self._layout.width),
                "told": In(told_layout(messages)),
                "parity": In(1),
                "member": In(1),
                "ends": In(1),
                "joined": Out(1),
                "uses": Out(len(program.told_by)),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        comes, heard = Signal.like(self.uses), [Signal.like(self.uses, name=f"heard_{odd}") for odd in range(2)]
        by = Cat(equals(self.told.send, number) for number in self._program.told_by)
        m.d.comb += comes.eq(self.told.member.replicate(len(by)) & by & self._elaborate_conditions(m))
        for odd, bits in enumerate(heard):
            of_packet, of_node = (parity if odd else ~parity for parity in (self.told.parity, self.parity))
            kept = bits & ~(self.ends & of_node).replicate(len(bits))
            m.d.sync += bits.eq(kept | (comes & of_packet.replicate(len(bits))))
        current = Mux(self.parity, heard[1], heard[0])
        m.d.sync += self.joined.eq(self.member | current.any())
        with m.If(self.ends):
            m.d.sync += self.uses.eq(current)
        return m

    def _elaborate_conditions(self, m: Module) -> Value:
        """Return for each send of the multicast whether this node would send by it to a group of all."""
        (schedule,) = self._program.schedules[MULTICAST]
        terms = [send.when for send in self._program.sends if send.schedule is schedule]
        values = elaborate_circuit(m, schedule.circuit, terms, {"own": self.address}, self._layout)
        return Cat(value[0] for value in values)
