"""The register machine of a node: an all-reduce of one packet, and scans, in registers."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped

from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.host import engine_members
from hdnhw.endpoints.collective.register_packets import PacketReceiver, PacketSender
from hdnhw.endpoints.collective.stepper import Stepper, neighbor_pins
from hdnhw.endpoints.collective.vectors import Vectors
from hdnhw.machine.machine import Machine
from hdnhw.machine.timing import SlotTiming

REACTION = 7
"""Cycles from the one in which a step's tail is delivered to the one in which the tail of the next step is offered."""

GAPLESS_REACTION = 7
"""The same to the head of the next step, where packets are gapless: it is not offered before all can be sent."""


def step_cycles(timing: SlotTiming, longest: int = 0) -> int:
    """Return t_s: the cycles of a step beyond those of its words, if one register is combined before the next step.

    As of :func:`hdnhw.endpoints.collective.engine.startup_cycles`; t_w is 1. A flit is sent on as soon as it has been
    made, so that of two packets that follow each other only the tails count.

    Examples
    --------
    >>> [step_cycles(SlotTiming(length)) for length in (2, 4, 8, 16)]
    [14, 16, 24, 48]
    >>> [step_cycles(SlotTiming(length, gapless_packets=True)) for length in (2, 4, 8, 16)]
    [14, 16, 24, 48]
    """
    cycles, length = timing.zero_load_latency(1, timing.start_phase) + longest, timing.packet_length
    cycles += GAPLESS_REACTION if timing.gapless_packets else REACTION - (length - 1)
    return (-(-cycles // length) - 1) * length


class RegisterEngine(wiring.Component):
    """Runs the operations of a register program for a node, and needs nobody to tell it when.

    All nodes must be given the same operations in the same order, with the same operators, but not at the same time. A
    vector is one packet.

    Never a packet that has nowhere to go: memory has a place for each packet of an operation, twice, by the parity of
    the operation. A node ends an operation only after all nodes to which it sends have begun it
    (:func:`hdnhw.collectives.instructions.make_register_program` checks that). So one that sends in its operation n + 2
    has ended n + 1, its neighbors have begun n + 1 and ended n, and what came to them in n has been combined.

    No hang: what comes is taken at once, in every state, so that the network moves on. Take the least instruction that
    any node has not ended, of the earliest operation: if it waits for a packet, the sender has ended the instruction
    that sends it, so it comes; if it waits for what is combined, or for what is sent, that is an earlier instruction of
    its own node.

    Parameters
    ----------
    machine : Machine
        With collective engines for operations in registers.

    Members
    -------
    address, P_neighbor : In
        See :class:`Stepper`.
    operation : In(stream of operation_shape)
    i : In(stream of flits)
        The node's own vector, taken after the operation.
    o : Out(stream of result_layout)
        The node's result; its source is the node itself.
    done : Out(1)
        High from the end of the operation until its result has been taken.
    inject, eject
        The router's.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, program = machine, engines_of(machine).register_program
        self._pins = list(neighbor_pins(program).values())
        super().__init__(engine_members(machine) | {pin: In(machine.address.width) for pin in self._pins})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        program, messages = engines_of(self.machine).register_program, self.machine.endpoint_format
        m.submodules.vectors = vectors = Vectors(program, messages)
        m.submodules.receiver = receiver = PacketReceiver(program, messages)
        m.submodules.sender = sender = PacketSender(program, messages)
        m.submodules.stepper = stepper = Stepper(self.machine)
        connect(m, flipped(self.eject), receiver.eject)
        connect(m, receiver.write, vectors.came)
        connect(m, flipped(self.operation), stepper.operation)
        connect(m, flipped(self.i), vectors.i)
        connect(m, stepper.combine, vectors.combine)
        connect(m, stepper.job, sender.job)
        connect(m, sender.read, vectors.read)
        connect(m, sender.inject, flipped(self.inject))
        connect(m, sender.o, flipped(self.o))
        m.d.comb += [
            *(part.address.eq(self.address) for part in (stepper, sender)),
            *(getattr(stepper, pin).eq(getattr(self, pin)) for pin in self._pins),
            *(part.parity.eq(stepper.parity) for part in (receiver, vectors)),
            receiver.packet.eq(vectors.packet),
            receiver.position.eq(vectors.position),
            receiver.changes.eq(vectors.changes),
            receiver.forgets.eq(stepper.ended),
            vectors.there.eq(receiver.there),
            vectors.operator.eq(stepper.operator),
            stepper.busy.eq(vectors.busy),
            stepper.giving.eq(sender.giving),
            self.done.eq(stepper.done),
        ]
        return m
