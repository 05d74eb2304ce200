"""The input side of a router: buffers of network ports and of injection."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.routing.plan import RoutingPlan
from hdnhw.rtl.bits import equals, index_width
from hdnhw.rtl.channel import ChannelSignature, injection_signature
from hdnhw.rtl.queue import DecisionQueue
from hdnhw.rtl.route_unit import RouteUnit
from hdnhw.timing import SlotTiming

__all__ = ["DROPPED_WIDTH", "InjectionPort", "InputPort", "QueueSignature"]

DROPPED_WIDTH = 16
"""Bits of the saturating counter of dropped packets."""


class QueueSignature(wiring.Signature):
    """The queues of one input as allocation sees them.

    Parameters
    ----------
    num_vcs : int
        Queues, one a virtual channel.
    outputs : int
        Output ports that packets of this input can take.
    vc_width : int
        Bits of a virtual channel number at the output.

    Members
    -------
    valid : Out(num_vcs)
        Whether a packet waits at the head of each queue.
    out : Out(outputs).array(num_vcs)
        Its output port, one-hot.
    vc : Out(vc_width).array(num_vcs)
        Its virtual channel at the output.
    pop : In(num_vcs)
        Take the head of a queue; it is read in the slot that starts with the next cycle.
    """

    def __init__(self, *, num_vcs: int, outputs: int, vc_width: int) -> None:
        super().__init__(
            {
                "valid": Out(num_vcs),
                "out": Out(outputs).array(num_vcs),
                "vc": Out(vc_width).array(num_vcs),
                "pop": In(num_vcs),
            }
        )


class _FlitMemory:
    """Distributed RAM of one input: packet slots of L flits for each queue, and the pointers into them."""

    def __init__(self, m: Module, *, num_vcs: int, buffers: int, packet_length: int, flit_width: int) -> None:
        self._m, self._buffers = m, buffers
        widths = index_width(packet_length) + index_width(buffers)
        depth = num_vcs << widths
        m.submodules.flits = flits = memory.Memory(shape=flit_width, depth=depth, init=[])
        self.write_port, self.read_port = flits.write_port(), flits.read_port(domain="comb")
        self._write_slot = [Signal(index_width(buffers), name=f"write_slot_{vc}") for vc in range(num_vcs)]
        self._read_slot = [Signal(index_width(buffers), name=f"read_slot_{vc}") for vc in range(num_vcs)]

    def _address(self, vc: Any, slot: Any, flit: Any) -> Any:
        return Cat(flit, slot, vc) if len(self._write_slot) > 1 else Cat(flit, slot)

    def _next(self, slot: Any) -> Any:
        return slot + 1 if self._buffers > 1 else slot

    def write(self, *, vc: Any, flit: Any, data: Any, enable: Any) -> None:
        """Write a flit of the packet that is coming in."""
        slot = Array(self._write_slot)[vc] if len(self._write_slot) > 1 else self._write_slot[0]
        self._m.d.comb += [
            self.write_port.addr.eq(self._address(vc, slot, flit)),
            self.write_port.data.eq(data),
            self.write_port.en.eq(enable),
        ]

    def close(self, vc: int, when: Any) -> None:
        """Move on to the next packet slot of a queue; its packet is complete."""
        with self._m.If(when):
            self._m.d.sync += self._write_slot[vc].eq(self._next(self._write_slot[vc]))

    def read(self, *, pop: Any, phase: Any) -> Any:
        """Read flit `phase` of the packet that `pop` took when the slot before ended; return the flit."""
        num_vcs = len(self._read_slot)
        reading_vc = Signal(index_width(num_vcs), reset_less=True)
        reading_slot = Signal(index_width(self._buffers), reset_less=True)
        for vc, slot in enumerate(self._read_slot):
            with self._m.If(pop[vc]):
                self._m.d.sync += [slot.eq(self._next(slot)), reading_slot.eq(slot), reading_vc.eq(vc)]
        self._m.d.comb += self.read_port.addr.eq(self._address(reading_vc, reading_slot, phase))
        return self.read_port.data


def _selected(take: Any, outputs: tuple[int, ...]) -> Any:
    return Cat(take[output] for output in outputs)


class InputPort(wiring.Component):
    """The buffer of one network port: the flits of a packet are written as they come, its route is computed on arrival.

    Parameters
    ----------
    plan : RoutingPlan
    timing : SlotTiming
    flit_width, buffers : int
        Bits a flit; packet slots a virtual channel.
    port : int
        Network port.
    outputs : tuple of int
        Output ports that its packets can take.

    Members
    -------
    channel : In(ChannelSignature)
    address : In
        The router's packed address.
    phase : In
        Phase of the slot.
    queues : Out(QueueSignature)
    flit : Out(flit_width)
        Flit `phase` of the packet taken when the slot before ended.
    """

    def __init__(
        self,
        plan: RoutingPlan,
        *,
        timing: SlotTiming,
        flit_width: int,
        buffers: int,
        port: int,
        outputs: tuple[int, ...],
        vc_width: int,
    ) -> None:
        self._plan, self._timing, self._buffers, self._outputs = plan, timing, buffers, outputs
        num_vcs = plan.num_vcs[plan.network.ports[port].opposite]
        self._num_vcs, self._flit_width, self._vc_width = num_vcs, flit_width, vc_width
        super().__init__(
            {
                "channel": In(ChannelSignature(flit_width=flit_width, num_vcs=num_vcs)),
                "address": In(plan.address.width),
                "phase": In(index_width(timing.packet_length)),
                "queues": Out(QueueSignature(num_vcs=num_vcs, outputs=len(outputs), vc_width=vc_width)),
                "flit": Out(flit_width),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        channel, length = self.channel, self._timing.packet_length
        m.submodules.route = route = RouteUnit(self._plan)
        m.d.comb += [route.cur.eq(self.address), route.dst.eq(channel.data)]
        flits = _FlitMemory(
            m, num_vcs=self._num_vcs, buffers=self._buffers, packet_length=length, flit_width=self._flit_width
        )
        incoming = Signal(index_width(length))  # the flit on the channel: the sender's phase one cycle ago
        m.d.sync += incoming.eq(self.phase)
        vc = channel.vc if self._num_vcs > 1 else Const(0)
        flits.write(vc=vc, flit=incoming, data=channel.data, enable=channel.valid)
        head, tail = Signal(), Signal()
        m.d.comb += [
            head.eq(channel.valid & equals(self.phase, 1 % length)),
            tail.eq(channel.valid & equals(self.phase, 0)),
        ]
        for number in range(self._num_vcs):
            here = equals(vc, number) if self._num_vcs > 1 else Const(1)
            flits.close(number, tail & here)
            queue = DecisionQueue(width=len(self._outputs) + self._vc_width, depth=self._buffers)
            m.submodules[f"decisions_{number}"] = queue
            m.d.comb += [
                queue.push.eq(head & here),
                queue.i.eq(Cat(_selected(route.take, self._outputs), route.vc[: self._vc_width])),
                queue.pop.eq(self.queues.pop[number]),
                Cat(self.queues.out[number], self.queues.vc[number]).eq(queue.o),
                self.queues.valid[number].eq(queue.valid),
            ]
        m.d.comb += self.flit.eq(flits.read(pop=self.queues.pop, phase=self.phase))
        m.d.sync += channel.credit.eq(self.queues.pop)
        return m


class InjectionPort(wiring.Component):
    """The buffer between a terminal's stream and the router: a packet may come in at any pace and in any phase.

    A packet whose destination names no node is taken and dropped, and counted.

    Parameters
    ----------
    plan : RoutingPlan
    timing : SlotTiming
    flit_width, buffers : int
    outputs : tuple of int

    Members
    -------
    inject : In(injection_signature)
        `ready` falls only between packets, when all packet slots are taken.
    address : In
    phase : In
    queues : Out(QueueSignature)
    flit : Out(flit_width)
        Flit `phase` of the packet taken when the slot before ended.
    dropped : Out(16)
        Packets dropped since reset; stays at its largest value.
    """

    def __init__(
        self,
        plan: RoutingPlan,
        *,
        timing: SlotTiming,
        flit_width: int,
        buffers: int,
        outputs: tuple[int, ...],
        vc_width: int,
    ) -> None:
        self._plan, self._timing, self._buffers, self._outputs = plan, timing, buffers, outputs
        self._flit_width, self._vc_width = flit_width, vc_width
        super().__init__(
            {
                "inject": In(injection_signature(flit_width=flit_width)),
                "address": In(plan.address.width),
                "phase": In(index_width(timing.packet_length)),
                "queues": Out(QueueSignature(num_vcs=1, outputs=len(outputs), vc_width=vc_width)),
                "flit": Out(flit_width),
                "dropped": Out(DROPPED_WIDTH),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        length = self._timing.packet_length
        m.submodules.route = route = RouteUnit(self._plan)
        m.d.comb += [route.cur.eq(self.address), route.dst.eq(self.inject.payload)]
        flits = _FlitMemory(m, num_vcs=1, buffers=self._buffers, packet_length=length, flit_width=self._flit_width)
        m.submodules.decisions = queue = DecisionQueue(width=len(self._outputs) + self._vc_width, depth=self._buffers)
        position = Signal(index_width(length))
        head, tail, do_take = Signal(), Signal(), Signal()
        m.d.comb += [
            head.eq(equals(position, 0)),
            tail.eq(equals(position, length - 1)),
            self.inject.ready.eq(~head | ~queue.full),
            do_take.eq(self.inject.valid & self.inject.ready),
        ]
        flits.write(vc=Const(0), flit=position, data=self.inject.payload, enable=do_take)
        with m.If(do_take):
            m.d.sync += position.eq(Mux(tail, 0, position + 1))
        computed = Cat(_selected(route.take, self._outputs), route.vc[: self._vc_width], route.possible)
        kept = Signal(len(computed), reset_less=True)
        with m.If(head):
            m.d.sync += kept.eq(computed)
        decision = computed if length == 1 else kept
        complete = Signal()
        m.d.comb += [
            complete.eq(do_take & tail & decision[-1]),
            queue.push.eq(complete),
            queue.i.eq(decision[:-1]),
            queue.pop.eq(self.queues.pop),
            Cat(self.queues.out[0], self.queues.vc[0]).eq(queue.o),
            self.queues.valid.eq(queue.valid),
        ]
        flits.close(0, complete)
        m.d.comb += self.flit.eq(flits.read(pop=self.queues.pop, phase=self.phase))
        with m.If(do_take & tail & ~decision[-1] & ~self.dropped.all()):
            m.d.sync += self.dropped.eq(self.dropped + 1)
        return m
