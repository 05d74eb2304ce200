"""Signatures: the channel between two routers, and the streams of a terminal."""

from typing import Any

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.crc import check_width
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import index_width


def onward_layout(machine: Machine) -> data.StructLayout:
    """Return what the next router does with a packet.

    ``take``: its output port, one-hot, ejection last; ``vc``: the virtual channel there.
    """
    return data.StructLayout({"take": len(machine.network.ports) + 1, "vc": max(1, len(machine.plan.circuit_rule.vc))})


def notice_layout(machine: Machine, num_vcs: int) -> data.StructLayout:
    """Return what a channel with so many virtual channels tells ahead of a packet.

    ``valid``: whether one comes; ``onward``: what the router that it comes to does with it, 0 if none does; ``vc``: the
    virtual channel that it comes by.
    """
    return data.StructLayout({"valid": 1, "onward": onward_layout(machine), "vc": index_width(num_vcs)})


class ChannelSignature(wiring.Signature):
    """One channel, seen from the router that sends.

    A packet is L consecutive flits that start in the head phase of a slot
    (:attr:`hdnhw.machine.timing.SlotTiming.head_phase`); there is no stalling in between, as the sender holds a credit
    for a whole packet.

    Parameters
    ----------
    machine : Machine
    num_vcs : int
    leads_on : bool
        Whether it leads to a router; ejection does not.

    Members
    -------
    notice : Out(notice_layout)
        Two cycles ahead of the head flit of a packet, what comes; absent without cut-through, and of ejection.
    valid : Out(1)
        High while the L flits of a packet pass.
    vc : Out
        Virtual channel of the packet, a cycle ahead of its flits: that of the flit which comes in the next cycle, if
        one does; absent if there is one.
    data : Out(flit_width)
        One flit while `valid`, else anything.
    check : Out
        Its check bits, see :mod:`hdnhw.machine.crc`; absent in machines without a crc.
    credit : In(num_vcs)
        One bit per virtual channel: whether a packet buffer has become free downstream. Between routers it is looked at
        in one phase (:attr:`hdnhw.machine.timing.SlotTiming.credit_phase`) and means nothing in others. Of ejection it
        is looked at in every cycle; two credits are L cycles apart at least.
    """

    def __init__(self, machine: Machine, *, num_vcs: int, leads_on: bool = True) -> None:
        self._num_vcs = num_vcs
        flit_width = machine.spec.flit_width
        members = {"valid": Out(1), "data": Out(flit_width), "credit": In(num_vcs)}
        if machine.spec.crc:
            members["check"] = Out(check_width(flit_width))
        if num_vcs > 1:
            members["vc"] = Out(index_width(num_vcs))
        if machine.timing.gives_notice and leads_on:
            members["notice"] = Out(notice_layout(machine, num_vcs))
        super().__init__(members)

    @property
    def num_vcs(self) -> int:
        """Virtual channels."""
        return self._num_vcs


class LongChannel(wiring.Component):
    """The registers of a channel whose wires take cycles: all that it carries, and credits the other way.

    They stand between pieces of wire, so that tools are told not to make shift registers in RAM of them.

    Parameters
    ----------
    machine : Machine
    port : int
        By which the channel leaves a router.

    Members
    -------
    i : In(ChannelSignature)
        From the router that sends.
    o : Out(ChannelSignature)
        To the one that it leads to.
    dead_i : In(1)
        Whether the channel is dead, as the router that sends is told; absent in machines without dead pins.
    dead_o : Out(1)
        The same as late as flits are; absent likewise.
    """

    def __init__(self, machine: Machine, port: int) -> None:
        self._stages = machine.channels.stages[port]
        signature = ChannelSignature(machine, num_vcs=machine.plan.num_vcs[port])
        dead = {"dead_i": In(1), "dead_o": Out(1)} if machine.spec.dead_pins else {}
        super().__init__({"i": In(signature), "o": Out(signature), **dead})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        begin, end = self.i, self.o
        ways = {
            name: (Value.cast(getattr(begin, name)), Value.cast(getattr(end, name))) for name in begin.signature.members
        }
        ways["credit"] = end.credit, begin.credit
        if hasattr(self, "dead_i"):
            ways["dead"] = self.dead_i, self.dead_o
        for name, (value, out) in ways.items():
            m.d.comb += out.eq(late(m, name, value, self._stages))
        return m


_RESET = ("valid", "credit", "notice", "begins")
"""What a channel carries that means something in every cycle."""


def late(m: Module, name: str, value: Value, stages: int) -> Value:
    """Return a value behind so many registers on the wires of a channel."""
    for stage in range(stages):
        register = Signal(
            len(value), name=f"{name}_{stage}", reset_less=name not in _RESET, attrs={"shreg_extract": "no"}
        )
        m.d.sync += register.eq(value)
        value = register
    return value


def channel_name(node: int, port: str) -> str:
    """Return what the wires in a fabric begin with of the channel that leaves a node by a port, or by ``eject``."""
    return f"channel_{node}_{port}"


def arrival_name(node: int, port: str) -> str:
    """Return what the wires begin with behind the registers of such a channel, if it has some of its own."""
    return f"arrival_{node}_{port}"


def late_name(node: int) -> str:
    """Return the name of the wire in a fabric with the reset of a node's router, if that has registers."""
    return f"late_{node}"


def injection_signature(*, flit_width: int) -> stream.Signature:
    """Return the stream by which a terminal injects: one flit a transfer, L a packet, the head flit first."""
    return stream.Signature(flit_width)


def ejection_signature(*, flit_width: int) -> stream.Signature:
    """Return the stream by which a terminal takes packets: one flit a transfer, `last` high with the tail flit."""
    return stream.Signature(data.StructLayout({"data": flit_width, "last": 1}))
