"""The machine: a fabric spec with its proved routing plan, and all that follows from the two, derived in one place.

Model, RTL, emission, synthesis, benches and boards are handed a :class:`Machine` whole and read from it what they need.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.endpoints import declared
from hdnhw.machine.crc import check_width
from hdnhw.machine.flit import FlitFormat
from hdnhw.machine.timing import BLOCK_RAM_BUFFERS, LONG_SLOT, MATCHED_INJECTION_BUFFERS, SlotTiming, buffers_per_vc
from hdnhw.rules.plan import RoutingPlan
from hdnhw.rules.schemes import fabric_plan
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.colouring import two_colours
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table


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
        least = LONG_SLOT + self.timing.matches
        if self.spec.channel_registers and self.spec.packet_length < least:
            raise SpecError(
                f"channel registers need packets of {least} flits or more with {self.spec.queueing}, not "
                f"{self.spec.packet_length}: shorter slots have no cycle for them"
            )
        if self.spec.gapless_packets and self.spec.packet_length == 1:
            raise SpecError("gapless packets must have 2 flits or more: one of a single flit has no gap")
        if self.timing.cuts_through:
            self._check_cut_through()

    def _check_cut_through(self) -> None:
        """Raise SpecError if packets cannot cut through."""
        spec, length = self.spec, self.spec.packet_length
        if length < LONG_SLOT or length % 2:
            raise SpecError(f"cut-through needs packets of an even number of flits, {LONG_SLOT} or more, not {length}")
        if spec.queueing != "fifo":
            raise SpecError(f"cut-through needs {named('queueing', 'fifo')}: matching takes more than half a slot")
        if spec.channel_registers:
            raise SpecError(f"cut-through needs {named('channel_registers', 0)}: half a slot has no cycle for one")
        if spec.crc or spec.dead_pins:
            option = "crc" if spec.crc else "dead_pins"
            raise SpecError(
                f"cut-through does not go with {named(option)}: a packet is routed before its head flit comes"
            )
        if spec.endpoints is not None and not spec.endpoints.cuts_through:
            raise SpecError(f"cut-through does not go with {named('endpoints', spec.endpoints.kind)}")
        _ = self.odd

    @property
    def network(self) -> Network:
        """The network that it is built on."""
        return self.plan.network

    @property
    def address(self) -> AddressLayout:
        """The packed address of a node."""
        return self.plan.address

    @cached_property
    def timing(self) -> SlotTiming:
        """Which cycle does what."""
        spec = self.spec
        return SlotTiming(
            spec.packet_length,
            crc=spec.crc,
            queueing=spec.queueing,
            switching=spec.switching,
            channel_registers=spec.channel_registers,
            gapless_packets=spec.gapless_packets,
        )

    @cached_property
    def odd(self) -> npt.NDArray[np.bool_]:
        """Which routers' slots begin half a slot before those of their neighbours; none do without cut-through."""
        if not self.timing.cuts_through:
            return np.zeros(self.network.num_nodes, np.bool_)
        odd = two_colours(neighbor_table(self.network))
        if odd is None:
            raise SpecError(
                f"cut-through needs a network without cycles of odd length, and {self.network.spec} has some: "
                "its neighbours cannot all be half a slot apart"
            )
        return odd

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
        """Packet buffers per port."""
        return self.timing.buffers_of(self.spec.buffers, self.plan.max_vcs)

    @property
    def is_block_ram(self) -> bool:
        """Whether packet buffers are in block RAM."""
        if self.spec.ram == "auto":
            return self.timing.reads_block_ram and self.buffers >= BLOCK_RAM_BUFFERS
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

    def buffers_per_vc(self, num_vcs: int) -> int:
        """Return the packet buffers of each virtual channel of a port that has so many."""
        return buffers_per_vc(self.buffers, num_vcs)

    def buffer_words(self, num_vcs: int, buffers: int) -> int:
        """Return the words of the memory of a port with so many virtual channels, and packet buffers of each.

        Flits and packet buffers are numbered by bits of their own.
        """
        flits = self.spec.packet_length
        return num_vcs << (max(1, (flits - 1).bit_length()) + (buffers - 1).bit_length())

    @property
    def vc_rate(self) -> float:
        """Flits a cycle that a virtual channel sustains by itself, of a port that has most of them."""
        return min(1.0, self.buffers_per_vc(self.plan.max_vcs) / self.timing.buffer_slots)

    @property
    def buffer_note(self) -> str | None:
        """What a user should know if a virtual channel sustains half a flit a cycle or less; None otherwise."""
        if self.vc_rate > 0.5:
            return None
        vcs = self.plan.max_vcs
        each, enough = self.buffers_per_vc(vcs), self.timing.full_rate_buffers << (vcs - 1).bit_length()
        return (
            f"with {each} packet buffer{'s' * (each > 1)}, a virtual channel by itself sustains "
            f"{100 * self.vc_rate:.0f} % of the rate of a channel; {named('buffers', enough)} gives it all"
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
