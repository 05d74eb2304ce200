"""The input side of a router: network ports and injection."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import any_of, equals, index_width, next_flit
from hdnhw.rtl.buffer import InputBuffer, Ways
from hdnhw.rtl.channel import ChannelSignature, injection_signature, onward_layout
from hdnhw.rtl.check_bits import ERRORS_WIDTH, PacketCheck, check_bits
from hdnhw.rtl.counter import count_events
from hdnhw.rtl.queueing import allocator_of
from hdnhw.rtl.route_unit import RouteUnit

DROPPED_WIDTH = 16
"""Bits of the saturating counter of dropped packets."""

DEPTH_OF_PUSH = 8
"""Roughly, the depth of the logic from a route to the queue of decisions, as a route unit counts depth."""


class _Route(NamedTuple):
    """What route computation says of a packet, see :class:`RouteUnit`, and which channels were dead by then."""

    take: Value
    vc: Value
    possible: Value
    dead: Value | None


def _decision(route: RouteUnit | _Route, ways: Ways, dead: Value | None, wrong: Value | None = None) -> Value:
    """Return which of the ways a route takes, one-hot; the virtual channel is looked at where there are several.

    A packet whose next channel is dead is ejected. Where head flits can be `wrong`, so are those, and all that would
    take none of the ways: an error that is not seen does not stop a queue.
    """
    outputs = [output for output, _ in ways]
    several = {output for output in outputs if outputs.count(output) > 1}
    take = route.take
    if dead is not None:
        onward = route.take[:-1]
        take = Cat(onward & ~dead, route.take[-1] | (onward & dead).any())
    takes = [take[output] & equals(route.vc, vc) if output in several else take[output] for output, vc in ways]
    if wrong is not None:
        eject = ways.index((len(take) - 1, 0))
        stays = wrong | ~any_of(own for place, own in enumerate(takes) if place != eject)
        takes = [stays if place == eject else own & ~wrong for place, own in enumerate(takes)]
    return Cat(takes)


def _members_of_onward(machine: Machine) -> dict[str, Any]:
    """Return the members that ports have where packets cut through."""
    if not machine.timing.gives_notice:
        return {}
    width = machine.address.width * len(machine.network.ports)
    return {"neighbors": In(width), "onward": Out(onward_layout(machine))}


def _members_of_monitor(machine: Machine, ways: Sequence[Ways]) -> dict[str, Any]:
    """Return the members that ports have where there is a monitor."""
    if not machine.spec.monitor:
        return {}
    return {
        "push": Out(len(ways)),
        "pop": Out(len(ways)),
        **{f"takes_{vc}": Out(len(own)) for vc, own in enumerate(ways)},
    }


def _elaborate_monitor(m: Module, port: Any, buffer: InputBuffer) -> None:
    """Let a monitor see what comes, what goes, and which ways packets take."""
    if port.machine.spec.monitor:
        m.d.comb += [
            port.push.eq(Cat(queue.push for queue in buffer.queues)),
            port.pop.eq(Cat(queue.pop for queue in buffer.queues)),
        ]
        m.d.comb += [getattr(port, f"takes_{vc}").eq(queue.out) for vc, queue in enumerate(buffer.queues)]


def _behind(neighbors: Value, take: Value) -> Value:
    """Return the packed address of the neighbor at the port that is taken; 0 of ejection."""
    ports = len(take) - 1
    width = len(neighbors) // ports
    return reduce(or_, (Mux(take[port], neighbors[port * width : (port + 1) * width], 0) for port in range(ports)))


class InputPort(wiring.Component):
    """The buffer of one network port: the flits of a packet are written as they come, its route is computed on arrival.

    Parameters
    ----------
    machine : Machine
    port : int
        Of the network.
    ways : sequence of Ways
        Of each virtual channel.

    Members
    -------
    channel : In(ChannelSignature)
    address : In
        The router's packed address.
    at : In(L)
        Phase of the slot, one-hot.
    reads : In
        Code of the flit whose address is given in this phase, see :func:`next_flit`.
    dead : In(ports)
        Which channels that leave the router are dead, if any can be; looked at when a head flit comes.
    ignore : In(1)
        Whether the incoming channel is dead; looked at in the commit phase: what is sent from then on is not seen.
    queues : Out
        See :meth:`hdnhw.rtl.buffer.InputBuffer.signature`.
    flit : Out
        Flit p of the packet granted when the slot before ended, in phase p, or one cycle later in long slots; its check
        bits are above it, as they came.
    errors : Out(16)
        Packets that came with a flit that is not what its check bits say; absent in machines without a crc.
    neighbors : In(ports x address width)
        The packed addresses of the router's neighbors; absent without cut-through.
    onward : Out(onward_layout)
        In the commit phase, what the next router does with the packet that has been granted; absent likewise.
    push, pop : Out
        With a monitor, a bit for each virtual channel: a packet comes, and one leaves.
    takes_V : Out
        Likewise, the ways that packets of virtual channel V take: the first, or all that are in virtual output queues.
    """

    def __init__(self, machine: Machine, port: int, ways: Sequence[Ways]) -> None:
        self.machine, self.ways = machine, ways
        self._timing, self._buffers = machine.timing, machine.input_buffers(port)
        members = {
            "channel": In(ChannelSignature(machine, num_vcs=len(ways))),
            "address": In(machine.address.width),
            "at": In(self._timing.packet_length),
            "reads": In(index_width(self._timing.packet_length)),
            "queues": Out(allocator_of(machine).buffer.signature(machine, ways)),
            "flit": Out(machine.word_width),
        }
        if machine.spec.dead_pins:
            members |= {"dead": In(len(machine.network.ports)), "ignore": In(1)}
        if machine.spec.crc:
            members["errors"] = Out(ERRORS_WIDTH)
        super().__init__(members | _members_of_onward(machine) | _members_of_monitor(machine, ways))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        channel, timing = self.channel, self._timing
        buffer = allocator_of(self.machine).buffer(m, self, self.ways, buffers=self._buffers)
        vc, slot, closes = self._elaborate_vc(m, buffer)
        valid = self._elaborate_valid(m)
        buffer.write(
            vc=vc,
            slot=slot,
            flit=self._elaborate_incoming(m, buffer),
            data=Cat(channel.data, channel.check) if self.machine.spec.crc else channel.data,
            enable=valid,
            late=self.machine.is_block_ram and not timing.gives_notice,
        )
        here = [equals(vc, number) if len(self.ways) > 1 else Const(1) for number in range(len(self.ways))]
        for queue, comes in zip(buffer.queues, here, strict=True):
            close = self.at[closes] if buffer.chooses_buffers else valid & self.at[closes] & comes
            m.d.comb += queue.close.eq(close)
        if timing.gives_notice:
            self._elaborate_notice(m, buffer, valid, here)
        else:
            self._elaborate_arrival(m, buffer, valid, here)
        m.d["sync" if timing.packet_length == 1 else "comb"] += channel.credit.eq(buffer.pops)
        _elaborate_monitor(m, self, buffer)
        return m

    def _elaborate_incoming(self, m: Module, buffer: InputBuffer) -> Value:
        """Return the code of the flit on the channel: what the sender has read some cycles ago."""
        timing = self._timing
        if timing.cuts_through:  # in a slot of its own
            incoming = Signal(index_width(timing.packet_length), name="incoming")
            m.d.sync += incoming.eq(next_flit(incoming, timing.packet_length))
            with m.If(self.at[timing.tail_phase]):
                m.d.sync += incoming.eq(0)
            return incoming
        incoming = self.reads
        for stage in range(timing.channel_cycles + buffer.lead(self.machine)):
            before, incoming = incoming, Signal(index_width(timing.packet_length), name=f"incoming_{stage}")
            m.d.sync += incoming.eq(before)
        return incoming

    def _elaborate_arrival(self, m: Module, buffer: InputBuffer, valid: Value, here: Sequence[Value]) -> None:
        """Compute the route of a packet when its head flit comes; `here` tells which virtual channel it comes by."""
        timing = self._timing
        m.submodules.route = route = RouteUnit(self.machine.plan, registered=timing.registers_routes)
        m.d.comb += [route.cur.eq(self.address), route.dst.eq(self.channel.data[self.machine.flits.destination])]
        head, tail = Signal(), Signal()
        m.d.comb += [head.eq(valid & self.at[timing.head_phase]), tail.eq(valid & self.at[timing.tail_phase])]
        dead = self.dead if self.machine.spec.dead_pins else None
        wrong = self._elaborate_check(m, valid, tail, route.possible)
        for number, queue in enumerate(buffer.queues):
            m.d["sync" if timing.registers_routes else "comb"] += queue.push.eq(head & here[number])
            m.d.comb += queue.i.eq(_decision(route, self.ways[number], dead, wrong))

    def _elaborate_notice(self, m: Module, buffer: InputBuffer, valid: Value, here: Sequence[Value]) -> None:
        """Take in what is told of a packet; when its head flit comes, compute what the next router does with it."""
        timing, notice = self._timing, Signal.like(self.channel.notice, name="noticed")
        m.d.sync += notice.eq(0)
        with m.If(self.at[timing.update_phase]):
            m.d.sync += notice.eq(self.channel.notice)
        m.submodules.onward = route = RouteUnit(self.machine.plan, registered=True, moves=True)
        m.d.comb += route.dst.eq(self.channel.data[self.machine.flits.destination])
        with m.If(self.at[timing.sample_phase]):
            m.d.sync += route.cur.eq(_behind(self.neighbors, notice.onward.take))
        told = _Route(notice.onward.take, notice.onward.vc, Const(1), None)
        for number, (queue, onward) in enumerate(zip(buffer.queues, buffer.onwards, strict=True)):
            comes = equals(notice.vc, number) if len(self.ways) > 1 else Const(1)
            m.d.comb += [
                queue.push.eq(notice.valid & comes),
                queue.i.eq(_decision(told, self.ways[number], None)),
                onward.i.eq(Cat(route.take, route.vc)),
            ]
            if len(self.ways) > 1:
                m.d.comb += [
                    getattr(self.queues, f"told_{number}").eq(queue.i),
                    getattr(self.queues, f"tells_{number}").eq(comes & ~queue.valid),
                ]
            m.d.sync += onward.push.eq(valid & self.at[timing.head_phase] & here[number])

    def _elaborate_vc(self, m: Module, buffer: InputBuffer) -> tuple[Value, Value, int]:
        """Return the virtual channel and the packet buffer of the flit on the channel, and the phase that closes it.

        The virtual channel comes a cycle ahead of the flits: where buffers are taken in turn and packets are long, that
        of the packet is looked up in that cycle, and so closed a phase early; so it is where packets cut through, as
        the next one is told of before the tail comes.
        """
        timing = self._timing
        vc, ahead = Const(0), Const(0)
        if len(self.ways) > 1:
            vc, ahead = Signal.like(self.channel.vc, name="vc", reset_less=True), self.channel.vc
            m.d.sync += vc.eq(ahead)
        is_looked_up = not buffer.chooses_buffers and timing.registers_flits
        if not is_looked_up or (len(self.ways) == 1 and not timing.gives_notice):
            return vc, buffer.write_slot(vc), timing.tail_phase
        following = buffer.write_slot(ahead)
        slot = Signal(len(following), name="slot", reset_less=True)
        m.d.sync += slot.eq(following)
        return vc, slot, timing.tail_phase - 1

    def _elaborate_check(self, m: Module, valid: Value, tail: Value, possible: Value) -> Value | None:
        """Count packets with wrong flits; return whether the head flit whose route is there is one, if any can be.

        One whose destination is not `possible` is wrong, too.
        """
        if not self.machine.spec.crc:
            return None
        m.submodules.checker = check = PacketCheck(flit_width=len(self.channel.data))
        m.d.comb += [
            check.valid.eq(valid),
            check.data.eq(self.channel.data),
            check.check.eq(self.channel.check),
            check.tail.eq(tail),
        ]
        count_events(m, self.errors, check.done & check.bad)
        wrong = check.was_wrong if self._timing.registers_routes else check.wrong
        return wrong | ~possible if self.machine.address.has_holes else wrong

    def _elaborate_valid(self, m: Module) -> Value:
        """Return whether there is a flit; what a channel carries from the slot on in which it is dead is none."""
        if not self.machine.spec.dead_pins:
            return self.channel.valid
        timing = self._timing
        ignores, ignored = Signal(reset_less=True), Signal(reset_less=True)
        with m.If(self.at[timing.commit_phase]):
            m.d.sync += ignores.eq(self.ignore)
        with m.If(self.at[timing.head_phase - 1]):
            m.d.sync += ignored.eq(ignores)
        return self.channel.valid & ~ignored


class InjectionPort(wiring.Component):
    """The buffer between a terminal's stream and the router: a packet may come in at any pace and in any phase.

    Gapless packets are an exception: a head flit is taken in one phase, and with it the L - 1 payloads that follow,
    whether they are valid or not; so a source that pauses hurts its own packet and no other. A packet whose destination
    names no node is taken and dropped, and counted.

    Members
    -------
    inject : In(injection_signature)
        `ready` falls before a packet while all packet buffers are taken, and before a tail flit until the update phase;
        of gapless packets before a head flit until the injection phase, and within none.
    address : In
    at : In(L)
    reads : In
    dead : In(ports)
        As of :class:`InputPort`.
    queues : Out
        See :meth:`hdnhw.rtl.buffer.InputBuffer.signature`.
    flit : Out
        As of :class:`InputPort`; the check bits are made when a flit comes.
    dropped : Out(16)
        Packets dropped since reset; stays at its largest value.
    paused : Out(16)
        Packets since reset of which a flit was not valid when it was due; stays at its largest value. Absent unless
        packets are gapless.
    neighbors, onward, push, pop, takes_0
        As of :class:`InputPort`.
    blocked : Out(1)
        With a monitor, in the injection phase, whether a flit has no room.
    """

    def __init__(self, machine: Machine, ways: Ways) -> None:
        self.machine, self.ways = machine, ways
        self._timing = machine.timing
        members = {
            "inject": In(injection_signature(flit_width=machine.spec.flit_width)),
            "address": In(machine.address.width),
            "at": In(self._timing.packet_length),
            "reads": In(index_width(self._timing.packet_length)),
            "queues": Out(allocator_of(machine).buffer.signature(machine, [ways])),
            "flit": Out(machine.word_width),
            "dropped": Out(DROPPED_WIDTH),
        }
        if machine.spec.gapless_packets:
            members["paused"] = Out(DROPPED_WIDTH)
        if machine.spec.dead_pins:
            members["dead"] = In(len(machine.network.ports))
        if machine.spec.monitor:
            members["blocked"] = Out(1)
        super().__init__(members | _members_of_onward(machine) | _members_of_monitor(machine, [ways]))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.route = route = RouteUnit(
            self.machine.plan,
            registered=self._timing.registers_routes,
            behind=DEPTH_OF_PUSH * self.machine.spec.gapless_packets,
        )
        m.d.comb += [route.cur.eq(self.address), route.dst.eq(self.inject.payload[self.machine.flits.destination])]
        buffer = allocator_of(self.machine).buffer(m, self, [self.ways], buffers=self.machine.injection_buffers)
        if self.machine.spec.gapless_packets:
            self._elaborate_gapless(m, buffer, route)
        else:
            self._elaborate_paced(m, buffer, route)
        _elaborate_monitor(m, self, buffer)
        if self.machine.spec.monitor:
            m.d.comb += self.blocked.eq(
                self.inject.valid & buffer.queues[0].full & self.at[self._timing.injection_phase]
            )
        return m

    def _elaborate_write(self, m: Module, buffer: InputBuffer, position: Value, enable: Value) -> None:
        """Write what is on the stream, with its check bits if it has some."""
        payload = self.inject.payload
        buffer.write(
            vc=Const(0),
            slot=buffer.write_slot(Const(0)),
            flit=position,
            data=Cat(payload, check_bits(payload)) if self.machine.spec.crc else payload,
            enable=enable,
            late=self.machine.spec.crc or self.machine.is_block_ram,
        )

    def _elaborate_gapless(self, m: Module, buffer: InputBuffer, route: RouteUnit) -> None:
        """Take packets head first, in one phase: which flit comes is a matter of the phase alone."""
        timing, queue, has_holes = self._timing, buffer.queues[0], self.machine.address.has_holes
        length, is_registered = timing.packet_length, timing.registers_routes
        first, last = self.at[timing.injection_phase], self.at[timing.injection_phase - 1]
        position, coming, broken = Signal(index_width(length)), Signal(), Signal()
        begins, routed, stays = Signal(), Signal(), Signal()
        m.d.comb += [
            self.inject.ready.eq(Mux(first, ~queue.full, coming)),
            begins.eq(first & self.inject.valid & ~queue.full),
            queue.push.eq(routed & route.possible if has_holes else routed),
            queue.i.eq(_decision(route, self.ways, self.dead if self.machine.spec.dead_pins else None)),
        ]
        m.d["sync" if is_registered else "comb"] += routed.eq(begins)
        m.d.sync += [
            position.eq(Mux(last, 0, next_flit(position, length))),
            broken.eq(~first & (broken | (coming & ~self.inject.valid))),
        ]
        with m.If(first):
            m.d.sync += coming.eq(begins)
        with m.If(self.at[timing.update_phase]):
            m.d.sync += stays.eq(queue.push)
        self._elaborate_write(m, buffer, position, self.inject.ready)
        m.d.comb += queue.close.eq(last if buffer.chooses_buffers else last & stays)
        count_events(m, self.paused, last & coming & (broken | ~self.inject.valid))
        if has_holes:
            count_events(m, self.dropped, routed & ~route.possible)
        if timing.gives_notice:
            kept, pushed = Signal.like(route.take, name="kept_take", reset_less=True), Signal(2)
            with m.If(self.at[timing.update_phase]):
                m.d.sync += kept.eq(route.take)
            m.d.sync += pushed.eq(Cat(queue.push, pushed[0]))
            self._elaborate_onward(m, buffer, kept, first, pushed[1])

    def _elaborate_paced(self, m: Module, buffer: InputBuffer, route: RouteUnit) -> None:
        """Take packets flit by flit, as they come: the tail flit makes one complete."""
        length, queue = self._timing.packet_length, buffer.queues[0]
        position = Signal(index_width(length))
        head, tail, do_take, waits = Signal(init=1), Signal(init=length == 1), Signal(), Signal()
        update = self.at[self._timing.update_phase]
        m.d.comb += [
            self.inject.ready.eq(~queue.full & ~waits),
            do_take.eq(self.inject.valid & self.inject.ready),
        ]
        # Without a transfer, what is on the stream is written too, into a packet buffer that is free, and overwritten
        # later.
        self._elaborate_write(m, buffer, position, ~queue.full)
        is_before_tail = equals(next_flit(next_flit(position, length), length), 0)
        if length > 1:  # a tail waits for the update phase
            m.d.sync += waits.eq(Mux(do_take, is_before_tail, tail) & ~self.at[self._timing.update_phase - 1])
        with m.If(do_take):
            m.d.sync += position.eq(next_flit(position, length))
            if length > 1:
                m.d.sync += [head.eq(tail), tail.eq(is_before_tail)]
        kept = self._elaborate_route(m, route, head)
        decision = _decision(kept, self.ways, kept.dead)
        if self._timing.registers_routes:
            known = Signal(len(decision), name="decision", reset_less=True)
            m.d.sync += known.eq(decision)
            decision = known
        good = kept.possible if self.machine.address.has_holes else Const(1)
        complete = Signal()
        m.d.comb += [
            complete.eq(self.inject.valid & tail & update & good & (~queue.full if length == 1 else 1)),
            queue.push.eq(complete),
            queue.close.eq(complete | queue.full if buffer.chooses_buffers else complete),
            queue.i.eq(decision),
        ]
        if self._timing.gives_notice:
            self._elaborate_onward(m, buffer, kept.take, head, complete)
        if self.machine.address.has_holes:
            count_events(m, self.dropped, do_take & tail & ~good)

    def _elaborate_onward(self, m: Module, buffer: InputBuffer, take: Value, head: Value, push: Value) -> None:
        """Compute what the next router does with the packet, while it comes in and the route is kept."""
        m.submodules.onward = route = RouteUnit(self.machine.plan, registered=True)
        with m.If(head):
            m.d.sync += route.dst.eq(self.inject.payload[self.machine.flits.destination])
        m.d.sync += route.cur.eq(_behind(self.neighbors, take))
        m.d.sync += buffer.onwards[0].push.eq(push)
        m.d.comb += buffer.onwards[0].i.eq(Cat(route.take, route.vc))

    def _elaborate_route(self, m: Module, route: RouteUnit, head: Value) -> _Route:
        """Keep the route of the packet that is coming in; one of a single flit needs it in the cycle it comes."""
        computed = _Route(route.take, route.vc, route.possible, self.dead if self.machine.spec.dead_pins else None)
        if self._timing.packet_length == 1:
            return computed
        routed = Signal()
        m.d["sync" if self._timing.registers_routes else "comb"] += routed.eq(head)

        def kept(name: str) -> Any:
            value = getattr(computed, name)
            if value is None:
                return None
            register = Signal.like(value, name=f"kept_{name}", reset_less=True)
            with m.If(routed):
                m.d.sync += register.eq(value)
            return register

        return _Route(*map(kept, _Route._fields))
