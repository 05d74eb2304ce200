"""The table-free router: slotted store-and-forward with virtual channels."""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hdnhw.machine.machine import Machine
from hdnhw.machine.monitor import MonitorMap
from hdnhw.rtl.allocator import Allocator
from hdnhw.rtl.bits import add, any_of, equals, first_of, flit_codes, index_width, next_flit, number_of
from hdnhw.rtl.buffer import Ways
from hdnhw.rtl.channel import ChannelSignature, injection_signature
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.rtl.counter import count_events
from hdnhw.rtl.monitor.chain import ChainSignature
from hdnhw.rtl.monitor.counters import MonitorCounters
from hdnhw.rtl.ports import DROPPED_WIDTH, InjectionPort, InputPort
from hdnhw.rtl.queueing import allocator_of
from hdnhw.rules.plan import RouterShape

FEW_INPUTS = 2
"""Inputs of an output up to which one register takes no more logic than one at each crosspoint."""


def node_pins(machine: Machine, node: int) -> dict[str, tuple[int, int]]:
    """Return what a router must be told of its place, by the names of its pins: constants, and their widths."""
    address, network = machine.address, machine.network
    pins = {"address": (address.of_node(node), address.width)}
    if machine.offset:
        pins["odd"] = (int(machine.channels.odd[node]), 1)
    if machine.timing.gives_notice:
        neighbors, width = network.neighbors(node), address.width
        onward = [neighbors.get(port.name) for port in network.ports]
        behind = sum(address.of_node(other) << place * width for place, other in enumerate(onward) if other is not None)
        pins["neighbors"] = (behind, width * len(onward))
    return pins


def incoming(port: str) -> str:
    """Return the member of a router that is the channel coming in by a port."""
    return f"{port}_i"


def outgoing(port: str) -> str:
    """Return the member of a router that is the channel going out by a port."""
    return f"{port}_o"


def errors_of(port: str) -> str:
    """Return the member of a router that counts the errors of what has come in by a port."""
    return f"{port}_errors"


def ways_of(machine: Machine, shape: RouterShape, port: int, vc: int) -> Ways:
    """Return the ways that packets of an incoming virtual channel take, ejection among them if any may be ejected.

    A virtual channel that no packet comes in by gets a way that none takes.
    """
    own, eject = shape.ways(port, vc), (len(machine.network.ports), 0)
    diverts = machine.spec.dead_pins or (machine.spec.crc and port != eject[0])
    return own if own and not (diverts and eject not in own) else (*own, eject)


@dataclass(frozen=True)
class _Dead:
    """Which channels are dead, a bit a port of the network.

    Attributes
    ----------
    ahead : Signal
        Outgoing ones, as packets that arrive now see them.
    outgoing, incoming : Signal
        The same from one credit phase to the next: allocation and both ends of a channel agree on them.
    """

    ahead: Signal
    outgoing: Signal
    incoming: Signal


class Router(wiring.Component):
    """A router of one shape; its own address comes in on pins.

    A packet takes :attr:`hdnhw.machine.timing.SlotTiming.hop_cycles` to pass and every channel sustains one flit a
    cycle. All routers of a fabric must leave reset in the same cycle, as they count the phase of the slot from there.

    Parameters
    ----------
    machine : Machine
    shape : RouterShape
        One of the plan's.

    Members
    -------
    address : In(address width)
        The router's packed address, constant.
    odd : In(1)
        Whether its slots begin half a slot before those of the routers without; constant; absent if there are none.
    neighbors : In(ports x address width)
        The packed addresses of the neighbors at the ports of the network, constant; absent without cut-through.
    P_i : In(ChannelSignature), P_o : Out(ChannelSignature)
        Incoming and outgoing channel of each network port P.
    inject : In(injection_signature)
    eject : Out(ChannelSignature)
        Like a network channel with one virtual channel: its buffer stands outside, see ``EjectionBuffer``.
    dropped : Out(16)
        Packets with an impossible destination dropped at injection.
    paused : Out(16)
        Packets of the terminal with a gap inside; absent unless they are promised to be gapless.
    dead_o : In(ports of the network)
        Which outgoing channels are dead, if any can be: a packet whose next channel is dead when its head flit comes is
        ejected here; one that was there before is dropped.
    dead_i : In(ports of the network)
        Of which ports the incoming channel is dead: nothing that it carries is seen.
    lost : Out(16)
        Packets dropped since reset that were on their way to a channel when it died; stays at its largest value.
    P_errors : Out(16)
        Of each network port P, packets that came since reset with a flit that is not what its check bits say; absent
        in machines without a crc. If that is the head flit, the packet is ejected here.
    monitor_i : In(ChainSignature), monitor_o : Out(ChainSignature)
        From the router before and to the next one, as nodes are numbered; absent in machines without a monitor.
    """

    def __init__(self, machine: Machine, shape: RouterShape) -> None:
        self.machine, self.shape = machine, shape
        spec, plan = machine.spec, machine.plan
        ports = plan.network.ports
        members: dict[str, Any] = {
            "address": In(plan.address.width),
            "inject": In(injection_signature(flit_width=spec.flit_width)),
            "eject": Out(ChannelSignature(machine, num_vcs=1, leads_on=False)),
            "dropped": Out(DROPPED_WIDTH),
        }
        if machine.offset:
            members["odd"] = In(1)
        if machine.timing.gives_notice:
            members["neighbors"] = In(plan.address.width * len(ports))
        if spec.gapless_packets:
            members["paused"] = Out(DROPPED_WIDTH)
        if spec.dead_pins:
            members |= {"dead_o": In(len(ports)), "dead_i": In(len(ports)), "lost": Out(DROPPED_WIDTH)}
        for port in shape.ports:
            members[incoming(ports[port].name)] = In(
                ChannelSignature(machine, num_vcs=plan.num_vcs[ports[port].opposite])
            )
            members[outgoing(ports[port].name)] = Out(ChannelSignature(machine, num_vcs=plan.num_vcs[port]))
            if spec.crc:
                members[errors_of(ports[port].name)] = Out(ERRORS_WIDTH)
        if spec.monitor:
            chain = ChainSignature(MonitorMap.of(machine))
            members |= {"monitor_i": In(chain), "monitor_o": Out(chain)}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        machine, plan = self.machine, self.machine.plan
        at, reads = self._elaborate_phase(m)
        dead = self._elaborate_dead(m, at[machine.timing.credit_phase])
        outputs = (*self.shape.ports, len(plan.network.ports))
        inputs, ways = self._elaborate_inputs(m, at, reads, dead)
        buffers = [(plan.num_vcs[port], machine.vc_buffers(port)) for port in self.shape.ports]
        m.submodules.allocator = allocator = allocator_of(machine)(
            machine,
            inputs=[[[(outputs.index(port), vc) for port, vc in queue] for queue in queues] for queues in ways],
            outputs=[*buffers, (1, machine.ejection_buffers)],
        )
        m.d.comb += allocator.at.eq(at)
        if hasattr(allocator, "odd"):
            m.d.comb += allocator.odd.eq(self.odd)
        for number, unit in enumerate(inputs):
            connect(m, unit.queues, getattr(allocator, f"queues_{number}"))
        for number, output in enumerate(outputs):
            self._elaborate_output(m, output, number, allocator, [inputs[i].flit for i in allocator.inputs_of(number)])
            if machine.timing.gives_notice and output != outputs[-1]:
                self._elaborate_notice(m, output, number, allocator, inputs)
        if machine.spec.dead_pins:
            m.d.comb += allocator.dead.eq(Cat(dead.outgoing[port] for port in self.shape.ports))
            self._elaborate_lost(m, at[machine.timing.update_phase], allocator)
        if machine.spec.monitor:
            self._elaborate_monitor(m, at, inputs, ways, allocator)
        return m

    def _elaborate_monitor(
        self, m: Module, at: Signal, inputs: list[Any], ways: list[list[Ways]], allocator: Allocator
    ) -> None:
        """Count, a phase behind the commit, what has been granted of what the queues had.

        They have had it up to the commit, but that matching, if it is early, takes packets out before. All that is seen
        goes through two registers: the first stands beside the router, and nothing behind it pulls at the router.
        """
        machine, timing, local = self.machine, self.machine.timing, len(self.machine.network.ports)
        m.submodules.monitor = monitor = MonitorCounters(machine, self.shape)
        connect(m, flipped(self.monitor_i), monitor.i)
        connect(m, monitor.o, flipped(self.monitor_o))

        def seen(name: str, value: Value) -> Signal:
            beside, later = (Signal(len(value), name=f"{name}_{place}") for place in ("beside", "seen"))
            m.d.sync += [beside.eq(value), later.eq(beside)]
            return later

        looks = seen("looks", at[timing.sample_phase + 1 if timing.matches_early else timing.commit_phase])
        counts = seen("counts", at[(timing.commit_phase + 1) % timing.packet_length])
        outputs, queue = (*self.shape.ports, local), 0
        wanted: list[list[Value]] = [[] for _ in outputs]
        for unit, of_input in zip(inputs, ways, strict=True):
            for vc, own in enumerate(of_input):
                takes, first = seen(f"takes_{queue}", getattr(unit, f"takes_{vc}")), getattr(monitor, f"first_{queue}")
                for bit, (port, _) in zip(takes, own, strict=True):
                    wanted[outputs.index(port)].append(bit)
                m.d.sync += first.eq(Cat(number_of(dict(enumerate(first_of(takes))), len(first) - 1), takes.any()))
                queue += 1
        sent, stalled = [], []
        for number, each in enumerate(wanted):
            wants = Signal(name=f"wants_{number}")
            sends = seen(f"sends_{number}", getattr(allocator, f"valid_{number}"))
            with m.If(looks):
                m.d.sync += wants.eq(any_of(each))
            stalled.append(counts & wants & ~sends)
            void, held = (getattr(allocator, f"{name}_{number}", None) for name in ("void", "vc"))
            goes = counts & sends if void is None else counts & sends & ~seen(f"void_{number}", void)
            held = held if held is None else seen(f"vc_{number}", held)
            vcs = range(allocator.outputs[number][0])
            sent += [goes] if held is None else [goes & equals(held, one) for one in vcs]
        push, pop = (seen(name, Cat(getattr(unit, name) for unit in inputs)) for name in ("push", "pop"))
        m.d.sync += [
            monitor.looks.eq(looks),
            monitor.push.eq(push),
            monitor.pop.eq(pop),
            monitor.sent.eq(Cat(*sent, push[-1])),
            monitor.stalled.eq(Cat(*stalled, seen("blocked", inputs[-1].blocked))),
        ]

    def _elaborate_dead(self, m: Module, counts: Value) -> _Dead:
        """Take in what is dead through registers that are not reset."""
        count = len(self.machine.network.ports)
        dead = _Dead(*(Signal(count, name=f"dead_{name}", reset_less=True) for name in ("ahead", "to", "from")))
        if self.machine.spec.dead_pins:
            behind = Signal(count, name="dead_behind", reset_less=True)  # as far from its pins as `ahead` is
            m.d.sync += [dead.ahead.eq(self.dead_o), behind.eq(self.dead_i)]
            with m.If(counts):
                m.d.sync += [dead.outgoing.eq(dead.ahead), dead.incoming.eq(behind)]
        return dead

    def _elaborate_lost(self, m: Module, update: Value, allocator: Allocator) -> None:
        """Count the packets sent into nothing, one a cycle: there are never more than the queues have held."""
        ports, most_vcs = self.shape.ports, max(self.machine.plan.num_vcs)
        sent = Cat(getattr(allocator, f"valid_{n}") & getattr(allocator, f"void_{n}") for n in range(len(ports)))
        voids = Signal(len(sent))
        waiting = Signal(range((len(ports) + 1) * max(self.machine.most_buffers, most_vcs) + len(ports) + 1))
        total: Value = voids[0]
        for number in range(1, len(voids)):  # each sum is a wire: as one expression they are exponential in the ports
            wire = Signal((number + 1).bit_length(), name=f"lost_of_{number + 1}")
            m.d.comb += wire.eq(add(total, voids[number]))
            total = wire
        more = Signal(len(add(voids, waiting)))
        m.d.comb += more.eq(add(total, waiting))
        m.d.sync += [
            voids.eq(Mux(update, sent, 0)),
            waiting.eq(Mux(waiting.any(), more[: len(waiting)] - Const(1, len(waiting)), more)),
        ]
        count_events(m, self.lost, waiting.any())

    def _elaborate_phase(self, m: Module) -> tuple[Signal, Signal]:
        """Count the cycles of a slot; return (the phase, one-hot; the code of the flit whose address is given)."""
        length, lead = self.machine.timing.packet_length, allocator_of(self.machine).buffer.lead(self.machine)
        offset, codes, width = self.machine.offset, flit_codes(length), index_width(length)
        apart = offset > 0
        at, reads = Signal(length, init=1, reset_less=apart), Signal(width, init=codes[lead], reset_less=apart)
        if length == 1:
            m.d.comb += at.eq(1)
            return at, reads
        m.d.sync += [at.eq(Cat(at[-1], at[:-1])), reads.eq(next_flit(reads, length))]
        if offset:
            with m.If(ResetSignal()):
                m.d.sync += at.eq(Mux(self.odd, 1 << offset, 1))
                m.d.sync += reads.eq(Mux(self.odd, codes[(offset + lead) % length], codes[lead]))
        return at, reads

    def _elaborate_inputs(
        self, m: Module, at: Signal, reads: Signal, dead: _Dead
    ) -> tuple[list[Any], list[list[Ways]]]:
        """Make the input ports and, last, the injection port; return them and the ways of their queues."""
        machine, plan = self.machine, self.machine.plan
        local, ports = len(plan.network.ports), plan.network.ports
        units: list[Any] = []
        ways = []
        for port in (*self.shape.ports, local):
            num_vcs = 1 if port == local else plan.num_vcs[ports[port].opposite]
            ways.append([ways_of(machine, self.shape, port, vc) for vc in range(num_vcs)])
            unit: Any = InjectionPort(machine, ways[-1][0]) if port == local else InputPort(machine, port, ways[-1])
            m.submodules["injection" if port == local else ports[port].name] = unit
            m.d.comb += [unit.address.eq(self.address), unit.at.eq(at), unit.reads.eq(reads)]
            if machine.timing.gives_notice:
                m.d.comb += unit.neighbors.eq(self.neighbors)
            if machine.spec.dead_pins:
                m.d.comb += unit.dead.eq(dead.ahead)
            if port == local:
                connect(m, flipped(self.inject), unit.inject)
                m.d.comb += self.dropped.eq(unit.dropped)
                if machine.spec.gapless_packets:
                    m.d.comb += self.paused.eq(unit.paused)
            else:
                connect(m, flipped(getattr(self, incoming(ports[port].name))), unit.channel)
                if machine.spec.dead_pins:
                    m.d.comb += unit.ignore.eq(dead.incoming[port])
                if machine.spec.crc:
                    m.d.comb += getattr(self, errors_of(ports[port].name)).eq(unit.errors)
            units.append(unit)
        return units, ways

    def _elaborate_notice(self, m: Module, output: int, number: int, allocator: Allocator, inputs: list[Any]) -> None:
        """Tell the next router, when it is granted, of the packet that follows."""
        notice = getattr(self, outgoing(self.machine.network.ports[output].name)).notice
        idle, valid = getattr(allocator, f"next_idle_{number}"), getattr(allocator, f"next_valid_{number}")
        onwards = [inputs[i].onward.as_value() for i in allocator.inputs_of(number)]
        onward = reduce(or_, (Mux(idle[bit], 0, each) for bit, each in enumerate(onwards)))
        m.d.comb += [notice.valid.eq(valid), notice.onward.eq(onward)]
        if self.machine.plan.num_vcs[output] > 1:
            m.d.comb += notice.vc.eq(getattr(allocator, f"next_vc_{number}"))

    def _elaborate_output(self, m: Module, output: int, number: int, allocator: Allocator, flits: list[Signal]) -> None:
        """Switch traversal: the selected flit is registered, at the output or at the crosspoints of the crossbar.

        At a crosspoint the register's reset is the gate, and an OR behind it joins the inputs, which takes a third of
        the logic of a multiplexer. Where route computation has one cycle, the bits that the next router routes by leave
        a register at the output.
        """
        machine, ports = self.machine, self.machine.network.ports
        local = output == len(ports)
        channel = self.eject if local else getattr(self, outgoing(ports[output].name))
        idle = getattr(allocator, f"idle_{number}")
        early = 0 if local or machine.timing.registers_routes else machine.address.width
        if machine.spec.crossbar == "output" or len(flits) <= FEW_INPUTS:
            early = machine.word_width
        crossing = [Mux(idle[bit], 0, flit) for bit, flit in enumerate(flits)]
        parts = []
        if early:
            data = Signal(early, name=f"data_{number}", reset_less=True)
            m.d.sync += data.eq(reduce(or_, (value[:early] for value in crossing)))
            parts.append(data)
        if early < machine.word_width:
            registers = [
                Signal(machine.word_width - early, name=f"gated_{number}_{bit}", reset_less=True)
                for bit in range(len(crossing))
            ]
            m.d.sync += [register.eq(value[early:]) for register, value in zip(registers, crossing, strict=True)]
            parts.append(reduce(or_, registers))
        valid = Signal(name=f"valid_{number}")
        sends = getattr(allocator, f"valid_{number}")
        can_die = machine.spec.dead_pins and not local
        m.d.sync += valid.eq(sends & ~getattr(allocator, f"void_{number}") if can_die else sends)
        m.d.comb += getattr(allocator, f"credit_{number}").eq(channel.credit)
        carried = {"data": Cat(parts)[: machine.spec.flit_width], "valid": valid}
        if machine.spec.crc:
            carried["check"] = Cat(parts)[machine.spec.flit_width :]
        if channel.signature.num_vcs > 1:
            carried["vc"] = getattr(allocator, f"vc_{number}")
        for member, value in carried.items():
            m.d.comb += getattr(channel, member).eq(self._elaborate_channel(m, f"{member}_{number}", value))

    def _elaborate_channel(self, m: Module, name: str, value: Value) -> Value:
        """Return what a channel carries, behind its registers."""
        for stage in range(self.machine.timing.channel_registers):
            register = Signal(len(value), name=f"channel_{stage}_{name}", reset_less=not name.startswith("valid"))
            m.d.sync += register.eq(value)
            value = register
        return value
