"""The machine: a fabric spec with its proved routing plan, and all that follows from the two, derived in one place.

Model, RTL, emission, synthesis, benches and boards are handed a :class:`Machine` whole and read from it what they need.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil
from typing import Any

from hdnhw.endpoints import declared
from hdnhw.machine.channels import Channels, lay_channels
from hdnhw.machine.crc import check_width
from hdnhw.machine.flit import FlitFormat
from hdnhw.machine.timing import (
    BLOCK_RAM_BUFFERS,
    HALF_SLOT,
    LONG_SLOT,
    MATCHED_INJECTION_BUFFERS,
    Link,
    SlotTiming,
    buffers_per_vc,
    power_of_two,
)
from hdnhw.rules.plan import RoutingPlan
from hdnhw.rules.schemes import fabric_plan
from hdnhw.spec import FabricSpec
from hdnhw.spec.machine import MOST_BUFFERS
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.graph import Network


@dataclass(frozen=True, eq=False)
class Machine:
    """A machine that can be built; :func:`make_machine` makes it, with a plan that has been proved deadlock-free.

    Attributes
    ----------
    spec : FabricSpec
    plan : RoutingPlan
        Of the spec's network, modes and lanes.
    shares_packets : bool
        Whether its endpoints are parts of some that send packets of another format too.

    Raises
    ------
    SpecError
        If an address does not fit into a head flit, its packets are too short for block RAM, the endpoints do not
        fit the network or its packets, or packets cannot cut through.
    """

    spec: FabricSpec
    plan: RoutingPlan
    shares_packets: bool = False

    def __post_init__(self) -> None:
        _ = self.flits, self.endpoint_format
        if self.spec.ram == "block" and not self.timing.reads_block_ram:
            raise SpecError(
                f"ram block needs packets of {LONG_SLOT} flits or more, not {self.spec.packet_length}: "
                "it is read ahead, for which shorter slots have no time"
            )
        if self.spec.gapless_packets and self.spec.packet_length == 1:
            raise SpecError("gapless packets must have 2 flits or more: one of a single flit has no gap")
        if self.timing.cuts_through:
            self._check_cut_through()
        if self.is_narrow and self.spec.dead_pins:
            raise SpecError(
                f"{named('channel_width')} does not go with {named('dead_pins')}: packets that queue for a channel "
                "when it dies would be lost, and not be counted"
            )

    def _check_cut_through(self) -> None:
        """Raise SpecError if packets cannot cut through."""
        spec, length = self.spec, self.spec.packet_length
        if length < LONG_SLOT or length % 2:
            raise SpecError(f"cut-through needs packets of an even number of flits, {LONG_SLOT} or more, not {length}")
        if spec.queueing != "fifo":
            raise SpecError(f"cut-through needs {named('queueing', 'fifo')}: matching takes more than half a slot")
        if spec.dead_pins:
            raise SpecError(
                f"cut-through does not go with {named('dead_pins')}: routers look at them half a slot apart"
            )
        if spec.crc and self.timing.gives_notice:
            raise SpecError(
                f"cut-through of packets of fewer than {HALF_SLOT} flits does not go with {named('crc')}: "
                "they are routed before their head flits come"
            )
        if self.timing.gives_notice and spec.endpoints is not None and not spec.endpoints.cuts_through:
            raise SpecError(f"cut-through does not go with {named('endpoints', spec.endpoints.kind)}")
        if self.is_narrow and self.timing.gives_notice:
            raise SpecError(
                f"cut-through of packets of fewer than {HALF_SLOT} flits does not go with {named('channel_width')}: "
                "nothing says ahead when a packet comes that queues for a channel"
            )

    @property
    def network(self) -> Network:
        """The network that it is built on."""
        return self.plan.network

    @property
    def address(self) -> AddressLayout:
        """The packed address of a node."""
        return self.plan.address

    @cached_property
    def _timing(self) -> SlotTiming:
        spec = self.spec
        return SlotTiming(
            spec.packet_length,
            crc=spec.crc,
            queueing=spec.queueing,
            switching=spec.switching,
            gapless_packets=spec.gapless_packets,
        )

    @cached_property
    def channels(self) -> Channels:
        """Where the registers of channels are, and how narrow they are."""
        one, spec = replace(self._timing, channel_registers=1), self.spec
        is_free = not (self.is_block_ram and one.most_lead < self._timing.most_lead)
        return lay_channels(
            self.network,
            spec.channel_latency,
            spec.channel_width,
            self._timing,
            word_width=self.word_width,
            is_free=is_free,
        )

    @property
    def is_narrow(self) -> bool:
        """Whether some channels have fewer wires than a flit has bits."""
        return max(self.channels.intervals, default=1) > 1

    @property
    def no_timetable(self) -> str:
        """Why narrow channels have no timetable, for messages."""
        return (
            f"a timetable is of packets that take a slot of each channel, and with {named('channel_width')} some take "
            f"several: use {named('at_once')}"
        )

    def channel_wires(self, port: int) -> int:
        """Return the wires that flits take over a channel that leaves by a port: no more than their cycles need."""
        return -(-self.word_width // self.channels.intervals[port])

    @cached_property
    def timing(self) -> SlotTiming:
        """Which cycle does what in a router."""
        return replace(self._timing, channel_registers=self.channels.registers)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """What the channels behind each port take."""
        link, length, channels = self.timing.link, self.spec.packet_length, self.channels
        return tuple(
            Link(link.latency + own / length, link.credit_latency + back / length, interval)
            for own, back, interval in zip(channels.stages, channels.credit_stages, channels.intervals, strict=True)
        )

    @cached_property
    def offset(self) -> int:
        """Cycles by which the slots of odd routers begin before those of the others; 0 if there are none."""
        return self.spec.packet_length // 2 if self.channels.odd.any() else 0

    @property
    def apart_by(self) -> str:
        """The option that puts routers half a slot apart, where some are, for messages."""
        by_channels = "channel_width" if self.is_narrow else "channel_latency"
        name = "switching" if self.timing.cuts_through else by_channels
        return named(name, getattr(self.spec, name))

    def ahead(self, node: int) -> int:
        """Return the cycles by which the slots of a router begin before those of most."""
        return self.offset * bool(self.channels.odd[node])

    def leaving_phase(self, node: int) -> int:
        """Return the cycle since reset, modulo L, in which a head flit stands on a channel where it leaves a router."""
        return (self.timing.channel_cycles - self.ahead(node)) % self.spec.packet_length

    @property
    def hop_slots(self) -> list[int]:
        """Slots that a hop behind each port takes without waiting; half a slot counts as one."""
        return [ceil(link.latency) for link in self.links]

    @property
    def signal_registers(self) -> int:
        """Registers of a signal from a node to its neighbor beside one: what the longest wires take, not rounded."""
        return max(self.channels.latency, default=1) - 1

    @property
    def longest(self) -> int:
        """Cycles of the longest channel, beside those of its router."""
        return max(self.channels.stages, default=0)

    def hop_cycles(self, port: int) -> int:
        """Return the cycles that a hop behind a port takes without waiting."""
        return self.timing.hop_cycles + self.channels.stages[port]

    @cached_property
    def flits(self) -> FlitFormat:
        """The flits of a packet."""
        return FlitFormat(self.spec.flit_width, self.address.width, self.spec.packet_length)

    @property
    def word_width(self) -> int:
        """Bits that a channel carries for a flit: the flit, and its check bits if it has some."""
        width = self.spec.flit_width
        return width + check_width(width) if self.spec.crc else width

    @property
    def buffers(self) -> int:
        """Packet buffers per port, but of channels with registers of their own."""
        return self.spec.buffers or self._timing.buffers_of(self.plan.max_vcs, self._timing.buffer_slots)

    @cached_property
    def _port_buffers(self) -> list[int]:
        """Packet buffers at the ends of the channels behind each port."""
        vcs = self.plan.max_vcs
        slots = (max(ceil(taken), self.timing.buffer_slots) for taken in self._port_slots)
        return [self.spec.buffers or self.timing.buffers_of(vcs, each) for each in slots]

    @property
    def _port_slots(self) -> list[float]:
        """Slots from granting a packet per packet buffer behind each port to when that can be granted to the next.

        Of a narrow channel as many times those of a packet: so many packets keep its wires busy.
        """
        length, channels, slots = self.spec.packet_length, self.channels, self.timing.buffer_slots
        return [
            (slots + (own + back) / length) / interval
            for own, back, interval in zip(channels.stages, channels.credit_stages, channels.intervals, strict=True)
        ]

    @property
    def most_buffers(self) -> int:
        """Packet buffers of the port that has most."""
        return max(self.buffers, *self._port_buffers)

    @property
    def is_block_ram(self) -> bool:
        """Whether packet buffers are in block RAM."""
        if self.spec.ram == "auto":
            return self._timing.reads_block_ram and self.buffers >= BLOCK_RAM_BUFFERS
        return self.spec.ram == "block"

    @property
    def ejection_buffers(self) -> int:
        """Packet buffers of an ejection buffer."""
        return self.timing.ejection_buffers(self.buffers)

    @property
    def injection_buffers(self) -> int:
        """Packet buffers of injection: with virtual output queues, more than a few hardly bring more throughput."""
        timing = self.timing
        few = max(MATCHED_INJECTION_BUFFERS, timing.full_rate_buffers)
        return min(self.buffers, few) if timing.matches else self.buffers

    def vc_buffers(self, port: int) -> int:
        """Return the packet buffers of each virtual channel of the channels that leave by a port, at their end."""
        return buffers_per_vc(self._port_buffers[port], self.plan.num_vcs[port])

    def input_buffers(self, port: int) -> int:
        """Return the packet buffers of each virtual channel of the input at a port."""
        return self.vc_buffers(self.network.ports[port].opposite)

    def buffer_words(self, num_vcs: int, buffers: int) -> int:
        """Return the words of the memory of a port with so many virtual channels, and packet buffers of each.

        Flits and packet buffers are numbered by bits of their own.
        """
        flits = self.spec.packet_length
        return num_vcs << (max(1, (flits - 1).bit_length()) + (buffers - 1).bit_length())

    @property
    def vc_rate(self) -> float:
        """Share of the rate of a channel that a virtual channel sustains by itself, of a port that has most of them."""
        vcs = self.plan.max_vcs
        each = zip(self._port_buffers, self._port_slots, strict=True)
        return min([1.0, *(buffers_per_vc(buffers, vcs) / slots for buffers, slots in each)])

    @property
    def full_rate_buffers(self) -> int:
        """Packet buffers per port with which each virtual channel sustains the full rate, more than allowed if long."""
        return power_of_two(ceil(max(self._port_slots, default=1))) << (self.plan.max_vcs - 1).bit_length()

    @property
    def buffer_note(self) -> str | None:
        """What a user should know if a virtual channel sustains half a flit a cycle or less; None otherwise."""
        if self.vc_rate > 0.5:
            return None
        each, enough = buffers_per_vc(self.most_buffers, self.plan.max_vcs), self.full_rate_buffers
        gives = f"; {named('buffers', enough)} gives it all" if enough <= MOST_BUFFERS else ""
        return (
            f"with {each} packet buffer{'s' * (each > 1)}, a virtual channel by itself sustains "
            f"{100 * self.vc_rate:.0f} % of the rate of a channel{gives}"
        )

    @property
    def matching_rounds(self) -> int:
        """Rounds of matching of virtual output queues, 0 where packets leave first in, first out."""
        return self.timing.matching_rounds if self.timing.matches else 0

    @cached_property
    def endpoint_format(self) -> Any:
        """The :class:`hdnhw.machine.flit.HeaderFormat` of what endpoints send each other, None if there is none."""
        endpoints = self.spec.endpoints
        made = None if endpoints is None else declared("format").get(endpoints.kind)
        return None if made is None else made.of(self)

    def options(self, **kinds: bool) -> dict[str, Any]:
        """Return its options by their names, with the values that defaults stand for.

        Parameters
        ----------
        kinds : bool
            As of :func:`hdnhw.spec.options.options_of`.
        """
        ram = "block" if self.is_block_ram else "distributed"
        resolved = {"modes": self.plan.modes, "buffers": self.buffers, "ram": ram}
        return {name: resolved.get(name, getattr(self.spec, name)) for name in options_of(self.spec, **kinds)}


@lru_cache(maxsize=8)
def make_machine(spec: FabricSpec) -> Machine:
    """Return the machine that a spec describes, its plan proved deadlock-free.

    Raises
    ------
    SpecError
        If it cannot be built.
    RuleError
        If its routing is not deadlock-free.
    """
    return Machine(spec, fabric_plan(spec.network, spec.modes, spec.lanes))
