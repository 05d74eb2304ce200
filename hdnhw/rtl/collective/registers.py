"""The register machine of a node: an all-reduce of one packet, and scans, in registers."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped

from hdnhw.machine import Machine
from hdnhw.rtl.collective.host import engine_members
from hdnhw.rtl.collective.packets import PacketReceiver, PacketSender
from hdnhw.rtl.collective.stepper import Stepper, neighbor_pins
from hdnhw.rtl.collective.vectors import Vectors

__all__ = ["RegisterEngine", "step_cycles"]


REACTION = 3
"""Cycles from the one in which a step's last tail is delivered to the one in which the next step's head is offered, but
those in which what has come is combined."""


def step_cycles(machine: Machine) -> int:
    """Return t_s: the cycles of a step beyond those of its words, if one register is combined before the next step.

    As of :func:`hdnhw.rtl.collective.engine.startup_cycles`; t_w is 1.
    """
    timing = machine.timing
    data_flits: int = machine.endpoint_format.payload_flits
    cycles = timing.zero_load_latency(1, timing.start_phase) + REACTION + data_flits
    return (-(-cycles // timing.packet_length) - 1) * timing.packet_length


class RegisterEngine(wiring.Component):
    """Runs the operations of a register program for a node, and needs nobody to tell it when.

    All nodes must be given the same operations in the same order, with the same operators, but not at the same time. A
    vector is one packet.

    Never a packet that has nowhere to go: memory has a place for each packet of an operation, twice, by the parity of
    the operation. A node ends an operation only after all nodes to which it sends have begun it
    (:func:`hdnhw.collective.instructions.make_register_program` checks that). So one that sends in its operation n + 2
    has ended n + 1, its neighbors have begun n + 1 and ended n, and what came to them in n has been combined.

    No hang: what comes is taken at once, in every state, so that the network moves on. Take the least instruction that
    any node is at: if it waits for a packet, the sender has gone beyond the instruction that sends it.

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
        self.machine, program = machine, machine.register_program
        self._pins = list(neighbor_pins(program).values())
        super().__init__(engine_members(machine, program) | {pin: In(machine.address.width) for pin in self._pins})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        program, messages = self.machine.register_program, self.machine.endpoint_format
        m.submodules.vectors = vectors = Vectors(program, messages)
        m.submodules.receiver = receiver = PacketReceiver(program, messages)
        m.submodules.sender = sender = PacketSender(program, messages)
        m.submodules.stepper = stepper = Stepper(program, messages)
        connect(m, flipped(self.eject), receiver.eject)
        connect(m, receiver.write, vectors.came)
        connect(m, flipped(self.operation), stepper.operation)
        connect(m, flipped(self.i), stepper.i)
        connect(m, stepper.load, vectors.load)
        connect(m, stepper.combine, vectors.combine)
        connect(m, stepper.job, sender.job)
        connect(m, sender.read, vectors.read)
        connect(m, sender.inject, flipped(self.inject))
        connect(m, sender.o, flipped(self.o))
        m.d.comb += [
            *(part.address.eq(self.address) for part in (stepper, sender)),
            *(getattr(stepper, pin).eq(getattr(self, pin)) for pin in self._pins),
            stepper.came.eq(receiver.write.vector),
            stepper.tail.eq(receiver.tail),
            stepper.reads.eq(sender.reads),
            stepper.register.eq(sender.read.vector),
            stepper.giving.eq(sender.giving),
            vectors.operator.eq(stepper.operator),
            self.done.eq(stepper.done),
        ]
        return m
