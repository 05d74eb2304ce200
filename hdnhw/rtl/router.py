"""The table-free router: slotted store-and-forward with virtual channels."""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hdnhw.crc import check_width
from hdnhw.flit import FlitFormat
from hdnhw.routing.plan import RouterShape, RoutingPlan
from hdnhw.rtl.allocator import Allocator
from hdnhw.rtl.bits import add, index_width, next_flit
from hdnhw.rtl.buffer import Ways
from hdnhw.rtl.channel import ChannelSignature, injection_signature
from hdnhw.rtl.check import ERRORS_WIDTH
from hdnhw.rtl.counter import count_events
from hdnhw.rtl.matching import MatchingAllocator
from hdnhw.rtl.ports import DROPPED_WIDTH, InjectionPort, InputPort
from hdnhw.rtl.separable import SeparableAllocator
from hdnhw.timing import SlotTiming, slots_per_vc

__all__ = ["Router"]

FEW_INPUTS = 2
"""Inputs of an output up to which one register takes no more logic than one at each crosspoint."""


@dataclass(frozen=True)
class _Dead:
    """Which channels are dead, a bit a port of the network.

    Attributes
    ----------
    ahead : Signal
        Outgoing ones, as packets that arrive now see them.
    outgoing, incoming : Signal
        The same from one update phase to the next: allocation and both ends of a channel agree on them.
    """

    ahead: Signal
    outgoing: Signal
    incoming: Signal


class Router(wiring.Component):
    """A router of one shape; its own address comes in on pins.

    A packet takes :attr:`SlotTiming.hop_cycles` to pass and every channel sustains one flit a cycle. All routers of a
    fabric must leave reset in the same cycle, as they count the phase of the slot from there.

    Parameters
    ----------
    plan : RoutingPlan
    shape : RouterShape
        One of ``plan.shapes``.
    packet_length : int
        Flits a packet.
    flit_width : int
        Bits a flit.
    buffers : int
        Packet slots a port, a power of two, shared evenly by its virtual channels.
    crossbar : str
        One of :data:`hdnhw.spec.CROSSBARS`: where the registers of switch traversal stand.
    queueing : str
        One of :data:`hdnhw.spec.QUEUEINGS`: how packets leave a virtual channel, and are matched with outputs.
    dead_pins : bool
        Whether channels can be marked dead.
    crc : bool
        Whether flits have check bits.

    Members
    -------
    address : In(address width)
        The router's packed address, constant.
    P_i : In(ChannelSignature), P_o : Out(ChannelSignature)
        Incoming and outgoing channel of each network port P.
    inject : In(injection_signature)
    eject : Out(ChannelSignature)
        Like a network channel with one virtual channel: its buffer stands outside, see ``EjectionBuffer``.
    dropped : Out(16)
        Packets with an impossible destination dropped at injection.
    dead_o : In(ports of the network)
        Which outgoing channels are dead, if any can be: a packet whose next channel is dead when its head flit comes is
        ejected here; one that was there before is dropped.
    dead_i : In(ports of the network)
        Of which ports the incoming channel is dead: nothing that it carries is seen.
    lost : Out(16)
        Packets dropped since reset that were on their way to a channel when it died; stays at its largest value.
    P_errors : Out(16)
        Of each network port P, packets that came since reset with a flit that is not what its check bits say; absent
        without `crc`. If that is the head flit, the packet is ejected here.

    Raises
    ------
    SpecError
        If an address does not fit into a flit.
    ValueError
        If `buffers` is no power of two.
    """

    def __init__(
        self,
        plan: RoutingPlan,
        shape: RouterShape,
        *,
        packet_length: int,
        flit_width: int,
        buffers: int,
        crossbar: str,
        queueing: str,
        dead_pins: bool,
        crc: bool,
    ) -> None:
        FlitFormat(flit_width, plan.address.width, packet_length)
        if buffers < 1 or buffers & (buffers - 1):
            raise ValueError(f"buffers must be a power of two of packet slots, not {buffers}")
        self._plan, self._shape, self._crossbar, self._queueing = plan, shape, crossbar, queueing
        self._timing, self._flit_width, self._buffers = SlotTiming(packet_length, crc=crc), flit_width, buffers
        self._dead_pins, self._crc = dead_pins, crc
        self._word_width = flit_width + check_width(flit_width) if crc else flit_width
        ports = plan.network.ports
        members: dict[str, Any] = {
            "address": In(plan.address.width),
            "inject": In(injection_signature(flit_width=flit_width)),
            "eject": Out(ChannelSignature(flit_width=flit_width, num_vcs=1, crc=crc)),
            "dropped": Out(DROPPED_WIDTH),
        }
        if dead_pins:
            members |= {"dead_o": In(len(ports)), "dead_i": In(len(ports)), "lost": Out(DROPPED_WIDTH)}
        for port in shape.ports:
            incoming = ChannelSignature(flit_width=flit_width, num_vcs=plan.num_vcs[ports[port].opposite], crc=crc)
            outgoing = ChannelSignature(flit_width=flit_width, num_vcs=plan.num_vcs[port], crc=crc)
            members[f"{ports[port].name}_i"] = In(incoming)
            members[f"{ports[port].name}_o"] = Out(outgoing)
            if crc:
                members[f"{ports[port].name}_errors"] = Out(ERRORS_WIDTH)
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        at, reads = self._elaborate_phase(m)
        dead = self._elaborate_dead(m, at[self._timing.update_phase])
        outputs = (*self._shape.ports, len(self._plan.network.ports))
        inputs, ways = self._elaborate_inputs(m, at, reads, dead)
        num_vcs = [self._plan.num_vcs[port] for port in self._shape.ports]
        slots = [(count, slots_per_vc(self._buffers, count)) for count in num_vcs]
        kind = SeparableAllocator if self._queueing == "fifo" else MatchingAllocator
        m.submodules.allocator = allocator = kind(
            inputs=[[[(outputs.index(port), vc) for port, vc in queue] for queue in queues] for queues in ways],
            outputs=[*slots, (1, self._timing.ejection_buffers(self._buffers))],
            timing=self._timing,
            dead_pins=self._dead_pins,
        )
        m.d.comb += allocator.at.eq(at)
        for number, unit in enumerate(inputs):
            connect(m, unit.queues, getattr(allocator, f"queues_{number}"))
        for number, output in enumerate(outputs):
            self._elaborate_output(m, output, number, allocator, [inputs[i].flit for i in allocator.inputs_of(number)])
        if self._dead_pins:
            m.d.comb += allocator.dead.eq(Cat(dead.outgoing[port] for port in self._shape.ports))
            self._elaborate_lost(m, at[self._timing.update_phase], allocator)
        return m

    def _elaborate_dead(self, m: Module, update: Value) -> _Dead:
        """Take in what is dead through registers that are not reset."""
        count = len(self._plan.network.ports)
        dead = _Dead(*(Signal(count, name=f"dead_{name}", reset_less=True) for name in ("ahead", "to", "from")))
        if self._dead_pins:
            m.d.sync += dead.ahead.eq(self.dead_o)
            with m.If(update):
                m.d.sync += [dead.outgoing.eq(dead.ahead), dead.incoming.eq(self.dead_i)]
        return dead

    def _elaborate_lost(self, m: Module, update: Value, allocator: Allocator) -> None:
        """Count the packets sent into nothing, one a cycle: there are never more than the queues have held."""
        ports, most_vcs = self._shape.ports, max(self._plan.num_vcs)
        sent = Cat(getattr(allocator, f"valid_{n}") & getattr(allocator, f"void_{n}") for n in range(len(ports)))
        voids = Signal(len(sent))
        waiting = Signal(range((len(ports) + 1) * max(self._buffers, most_vcs) + len(ports) + 1))
        more = Signal(len(add(voids, waiting)))
        m.d.comb += more.eq(add(reduce(add, voids), waiting))
        m.d.sync += [
            voids.eq(Mux(update, sent, 0)),
            waiting.eq(Mux(waiting.any(), more[: len(waiting)] - Const(1, len(waiting)), more)),
        ]
        count_events(m, self.lost, waiting.any())

    def _elaborate_phase(self, m: Module) -> tuple[Signal, Signal]:
        """Count the cycles of a slot; return (the phase, one-hot; the code of the flit that is read)."""
        length = self._timing.packet_length
        at, reads = Signal(length, init=1), Signal(index_width(length))
        if length > 1:
            m.d.sync += [at.eq(Cat(at[-1], at[:-1])), reads.eq(next_flit(reads, length))]
        else:
            m.d.comb += at.eq(1)
        return at, reads

    def _ways(self, port: int, vc: int) -> Ways:
        """Return the ways that packets of an incoming virtual channel take, ejection among them if any may be ejected.

        A virtual channel that no packet comes in by gets a way that none takes.
        """
        own, eject = self._shape.ways(port, vc), (len(self._plan.network.ports), 0)
        diverts = self._dead_pins or (self._crc and port != eject[0])
        return own if own and not (diverts and eject not in own) else (*own, eject)

    def _elaborate_inputs(
        self, m: Module, at: Signal, reads: Signal, dead: _Dead
    ) -> tuple[list[Any], list[list[Ways]]]:
        """Make the input ports and, last, the injection port; return them and the ways of their queues."""
        local, ports = len(self._plan.network.ports), self._plan.network.ports
        units: list[Any] = []
        ways = []
        for port in (*self._shape.ports, local):
            num_vcs = 1 if port == local else self._plan.num_vcs[ports[port].opposite]
            ways.append([self._ways(port, vc) for vc in range(num_vcs)])
            options: dict[str, Any] = {
                "timing": self._timing,
                "flit_width": self._flit_width,
                "slots": slots_per_vc(self._buffers, num_vcs),
                "queueing": self._queueing,
                "dead_pins": self._dead_pins,
                "crc": self._crc,
            }
            if port == local:
                unit: Any = InjectionPort(self._plan, ways=ways[-1][0], **options)
            else:
                unit = InputPort(self._plan, ways=ways[-1], **options)
            m.submodules["injection" if port == local else ports[port].name] = unit
            m.d.comb += [unit.address.eq(self.address), unit.at.eq(at), unit.reads.eq(reads)]
            if self._dead_pins:
                m.d.comb += unit.dead.eq(dead.ahead)
            if port == local:
                connect(m, flipped(self.inject), unit.inject)
                m.d.comb += self.dropped.eq(unit.dropped)
            else:
                connect(m, flipped(getattr(self, f"{ports[port].name}_i")), unit.channel)
                if self._dead_pins:
                    m.d.comb += unit.ignore.eq(dead.incoming[port])
                if self._crc:
                    m.d.comb += getattr(self, f"{ports[port].name}_errors").eq(unit.errors)
            units.append(unit)
        return units, ways

    def _elaborate_output(self, m: Module, output: int, number: int, allocator: Allocator, flits: list[Signal]) -> None:
        """Switch traversal: the selected flit is registered, at the output or at the crosspoints of the crossbar.

        At a crosspoint the register's reset is the gate, and an OR behind it joins the inputs, which takes a third of
        the logic of a multiplexer. Where route computation has one cycle, the bits that the next router routes by leave
        a register at the output.
        """
        local = output == len(self._plan.network.ports)
        channel = self.eject if local else getattr(self, f"{self._plan.network.ports[output].name}_o")
        idle = getattr(allocator, f"idle_{number}")
        early = 0 if local or self._timing.registers_routes else self._plan.address.width
        if self._crossbar == "output" or len(flits) <= FEW_INPUTS:
            early = self._word_width
        crossing = [Mux(idle[bit], 0, flit) for bit, flit in enumerate(flits)]
        parts = []
        if early:
            data = Signal(early, name=f"data_{number}", reset_less=True)
            m.d.sync += data.eq(reduce(or_, (value[:early] for value in crossing)))
            parts.append(data)
        if early < self._word_width:
            registers = [
                Signal(self._word_width - early, name=f"gated_{number}_{bit}", reset_less=True)
                for bit in range(len(crossing))
            ]
            m.d.sync += [register.eq(value[early:]) for register, value in zip(registers, crossing, strict=True)]
            parts.append(reduce(or_, registers))
        valid = Signal(name=f"valid_{number}")
        sends = getattr(allocator, f"valid_{number}")
        m.d.sync += valid.eq(sends if local or not self._dead_pins else sends & ~getattr(allocator, f"void_{number}"))
        m.d.comb += [
            channel.data.eq(Cat(parts)[: self._flit_width]),
            channel.valid.eq(valid),
            getattr(allocator, f"credit_{number}").eq(channel.credit),
        ]
        if self._crc:
            m.d.comb += channel.check.eq(Cat(parts)[self._flit_width :])
        if channel.signature.num_vcs > 1:
            vc = Signal.like(channel.vc, name=f"vc_{number}", reset_less=True)
            m.d.sync += vc.eq(getattr(allocator, f"vc_{number}"))
            m.d.comb += channel.vc.eq(vc)
