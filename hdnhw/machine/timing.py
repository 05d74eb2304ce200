"""The slot clock: which cycle does what. Model and RTL both read it here and nowhere else.

All routers share a phase that counts the L cycles of a slot. A packet is a cell of exactly L flits. It leaves a buffer
in one slot (flit p is read in phase p), stands on the channel one cycle later (two where the slot is long enough for a
register at the buffer), and has been written one cycle after that. Allocation looks at the queues once a slot, from the
sample phase on (matching of long slots once before, too), and its grants take effect when the slot ends.
"""

from dataclasses import dataclass
from operator import index

from hdnhw.spec.machine import MOST_BUFFERS

LONG_SLOT = 8
"""Flits from which a slot has time for block RAM, and for a register in route computation."""

FLIT_REGISTER_SLOT = 4
"""Flits from which a slot has time for a register behind the buffer where packets leave first in, first out."""

HALF_SLOT = 16
"""Flits from which half a slot has time for what a slot has: packets cut through without a notice."""

ROW = 16
"""Words of a distributed RAM."""

BLOCK_RAM_BUFFERS = 4
"""Packet buffers of a port from which block RAM is worth it, where there is time to read it."""

MATCHED_INJECTION_BUFFERS = 4
"""Most packet buffers of injection with ``voq`` beside those for the full rate: more hardly bring more throughput."""

TURN_SLOTS = 256
"""Slots, a power of two, in which injection comes first once by each output virtual channel, with ``voq``."""

CLASS_SLOTS = 8
"""Slots, a power of two, in one of which outputs serve their classes in turn, with ``fifo``; else the later first."""


@dataclass(frozen=True)
class Link:
    """What a channel between routers takes, in slots.

    Between routers that are half a slot apart, both latencies are whole slots and a half.

    Attributes
    ----------
    latency : float
        From the slot in which a packet is sent to the first allocation that sees it behind the channel.
    credit_latency : float
        From the slot in which it is sent on there to the first allocation before the channel that can use its place.
    interval : int
        From one packet to the next: one that is sent sooner waits in a queue, for the wires of a narrow channel.
    """

    latency: float
    credit_latency: float
    interval: int = 1


@dataclass(frozen=True)
class SlotTiming:
    """Timing of slotted store-and-forward with packets of `packet_length` flits.

    Attributes
    ----------
    packet_length : int
        Flits a packet and cycles per slot, L.
    crc : bool
        Whether flits have check bits: the terminal gets a packet when its tail has been checked, a slot later.
    queueing : str
        One of :data:`hdnhw.spec.QUEUEINGS`: with ``voq``, slots of fewer than eight flits need all cycles for matching.
    switching : str
        One of :data:`hdnhw.spec.SWITCHINGS`: with ``cut-through`` the slots of neighbors are half a slot apart, and a
        packet leaves a router half a slot after the one before.
    channel_registers : int
        Registers that a flit passes behind that of switch traversal while it is in the router's time.
    gapless_packets : bool
        Whether sources send the flits of a packet in consecutive cycles: then its head flit, which is taken in one
        phase, makes it known to the router; otherwise its tail flit does.

    Examples
    --------
    >>> SlotTiming(8).hop_cycles, SlotTiming(1).hop_cycles
    (8, 3)
    >>> SlotTiming(8, crc=True).zero_load_latency(2) - SlotTiming(8).zero_load_latency(2)
    8
    """

    packet_length: int
    crc: bool = False
    queueing: str = "fifo"
    switching: str = "store-and-forward"
    channel_registers: int = 0
    gapless_packets: bool = False

    def __post_init__(self) -> None:
        if index(self.packet_length) < 1:
            raise ValueError(f"packet length must be at least 1 flit, not {self.packet_length}")

    @property
    def matches(self) -> bool:
        """Whether packets wait in virtual output queues, which are matched in rounds."""
        return self.queueing == "voq"

    @property
    def cuts_through(self) -> bool:
        """Whether a packet leaves a router while it still comes."""
        return self.switching == "cut-through"

    @property
    def gives_notice(self) -> bool:
        """Whether half a slot is too short to cut through unless the next router is told of a packet before it comes.

        Otherwise routers do the same as with store-and-forward, half a slot after their neighbors.
        """
        return self.cuts_through and self.packet_length < HALF_SLOT

    @property
    def offset(self) -> int:
        """Cycles by which the slots of neighbors are apart."""
        return self.packet_length // 2 if self.cuts_through else 0

    @property
    def registers_flits(self) -> bool:
        """Whether a register stands between the buffer and the crossbar."""
        return self.packet_length >= (LONG_SLOT if self.matches else FLIT_REGISTER_SLOT)

    @property
    def reads_block_ram(self) -> bool:
        """Whether packet buffers can be in block RAM, which is read ahead of the register before the crossbar."""
        return self.packet_length >= LONG_SLOT

    @property
    def most_lead(self) -> int:
        """Most phases by which a flit's address in block RAM can be ahead of its turn, 1 or 2.

        By then it is known which packet is read, first in, first out, a phase after allocation has looked at the
        credits; and to cut through, the flit has been written.
        """
        if self.matches:
            return 1
        known = self.packet_length - 2 - self.sample_phase
        return min(2, known, self.offset - self.channel_cycles - 1) if self.cuts_through else min(2, known)

    @property
    def registers_credits(self) -> bool:
        """Whether a register stands between an ejection buffer and the credit counter of its router."""
        return self.packet_length >= LONG_SLOT

    @property
    def channel_cycles(self) -> int:
        """Cycles from reading a flit to the one in which it stands at the end of the channel."""
        return 1 + self.registers_flits + self.channel_registers

    @property
    def registers_routes(self) -> bool:
        """Whether route computation takes two cycles."""
        return self.packet_length >= LONG_SLOT

    @property
    def pipeline(self) -> int:
        """Cycles from reading a head flit to the first allocation that sees it: traversal, then route computation."""
        return self.channel_cycles + 2 + self.registers_routes

    @property
    def hop_slots(self) -> int:
        """Slots from leaving one router to leaving the next without waiting; half a slot counts as one."""
        return -(-self.pipeline // self.packet_length)

    @property
    def hop_cycles(self) -> int:
        """Cycles a hop takes without waiting: L, or whole slots for the pipeline if L is short; L/2 to cut through."""
        return self.offset or self.hop_slots * self.packet_length

    @property
    def head_phase(self) -> int:
        """Phase of the router that it comes to in which a head flit stands on the channel."""
        return (self.channel_cycles - self.offset) % self.packet_length

    @property
    def tail_phase(self) -> int:
        """Phase of the router that it comes to in which a tail flit stands on the channel."""
        return (self.channel_cycles - 1 - self.offset) % self.packet_length

    @property
    def sample_phase(self) -> int:
        """Phase in which allocation starts to look at queues and credits; to cut through, once told of a packet."""
        if self.gives_notice:
            return self.offset + 1
        return min(self.pipeline - 1, self.packet_length - 1) + self.offset

    @property
    def update_phase(self) -> int:
        """Phase at whose end queues take in what comes: the one before the sample phase.

        Queues and credits take in then what goes, too, unless matching is early.
        """
        return max(0, self.sample_phase - 1)

    @property
    def injection_phase(self) -> int:
        """Phase in which injection takes the flit that makes a packet known: its tail, or the head of a gapless one.

        The route of a packet whose tail is there has been computed; that of a head flit is there in the update phase.
        """
        return self.update_phase - (self.gapless_packets and self.registers_routes)

    @property
    def matches_early(self) -> bool:
        """Whether a round of matching comes before the update phase: of packets that were there in the slot before.

        Then queues and credits take in what leaves as soon as it is known: queues before its slot begins, credits in
        the slot's first phase.
        """
        return self.matches and self.packet_length >= LONG_SLOT

    @property
    def credit_phase(self) -> int:
        """Phase at whose end credits are counted."""
        return 0 if self.matches_early else self.update_phase

    @property
    def credit_sample_phase(self) -> int:
        """Phase in which allocation first looks at the credits that have been counted."""
        return self.credit_phase + 1 if self.matches_early else self.sample_phase

    @property
    def grant_phases(self) -> tuple[int, int]:
        """Phases in which outputs grant, of two rounds of which the first is early; inputs accept a phase later.

        What is requested is known a phase before: in the second round at the end of the update phase, with the packets
        that come in.
        """
        return self.update_phase - 1, self.update_phase + 1

    @property
    def match_phases(self) -> tuple[int, int]:
        """Phases in which it is known what inputs have accepted in these rounds."""
        first, second = self.grant_phases
        return first + 2, second + 2

    @property
    def credit_slots(self) -> int:
        """Slots from the one in which a packet leaves a buffer to the first allocation that can use its place.

        To cut through with a notice, half a slot more, as long as a packet is sooner there; without, half a slot less.
        """
        return 0 if self.packet_length > 1 else 1

    @property
    def link(self) -> Link:
        """What channels take."""
        if self.cuts_through:
            return Link(0.5, self.gives_notice + 0.5)
        return Link(self.hop_slots, 1 + self.credit_slots)

    def allocation_cuts(self, *, chooses: bool) -> frozenset[str]:
        """Return where registers cut the logic from the sample phase to the commit: as many as the slot has time for.

        ``credit``: behind the look at the credits; ``choice``: behind the choice among an input's virtual channels;
        ``want``: behind what the chosen packet wants; ``grant``: behind the outputs' choice. The first three are for
        routers in which an input `chooses`; its choice must be there in the last phase.
        """
        time = self.packet_length - 1 + self.registers_flits - self.sample_phase
        if not chooses:
            return frozenset(("grant",) if time else ())
        cuts = {0: (), 1: ("want",), 2: ("credit", "want"), 3: ("credit", "want", "grant")}
        return frozenset(cuts.get(time, ("credit", "choice", "want", "grant")))

    @property
    def matching_rounds(self) -> int:
        """Rounds of matching in a router of virtual output queues: two where the slot has time for them."""
        return 2 if self.matches_early or len(self.matching_cuts) >= 3 else 1

    @property
    def matching_cuts(self) -> tuple[str, ...]:
        """Where registers cut the logic of matching from the sample phase on, if no round is early and there is time.

        ``request``: behind the look at the credits; ``grant``: behind what outputs grant in the first round;
        ``accept``: behind what inputs accept of it, and the grants of the second round.
        """
        return ("request", "grant", "accept")[: self.packet_length - 1 - self.sample_phase]

    @property
    def commit_phase(self) -> int:
        """Phase at whose end the crossbar is set for a slot: the last, or the first where flits come a cycle later."""
        return 0 if self.registers_flits else self.packet_length - 1

    @property
    def buffer_slots(self) -> int:
        """Slots from granting a packet per packet buffer to the first allocation that can grant it to the next."""
        return 1 if self.cuts_through and not self.gives_notice else self.hop_slots + self.credit_slots + 1

    @property
    def full_rate_buffers(self) -> int:
        """Fewest packet buffers, a power of two, with which a virtual channel sustains a flit a cycle by itself."""
        return power_of_two(self.buffer_slots)

    def buffers_of(self, num_vcs: int, slots: int) -> int:
        """Return the packet buffers that a port with `num_vcs` virtual channels has by default.

        Those for the full rate of each virtual channel, whose buffers are `slots` away and back, and as many as make
        block RAM worth it where there is time to read it.
        """
        enough = min(MOST_BUFFERS, power_of_two(slots) << (num_vcs - 1).bit_length())
        return max(enough, BLOCK_RAM_BUFFERS) if self.reads_block_ram else enough

    def ejection_buffers(self, buffers: int) -> int:
        """Return the packet buffers of an ejection buffer beside ports with `buffers`.

        No more than a terminal that never pauses needs for a flit per cycle; packets checked stay longer.
        """
        return min(2 * buffers if self.crc else buffers, power_of_two(self.ejection_slots))

    @property
    def ejection_cycles(self) -> int:
        """Cycles from reading a head flit to the first in which the terminal can take it."""
        return self.channel_cycles + 1 + (self.packet_length if self.crc else 0)

    @property
    def ejection_slots(self) -> int:
        """Slots from sending a packet to a terminal that takes it at once to the allocation that can use its place."""
        known = self.ejection_cycles - 1 + self.registers_credits
        return 3 + (known - self.credit_sample_phase) // self.packet_length

    @property
    def out_cycles(self) -> int:
        """Cycles from a sample phase to the delivery of the tail of a packet that is granted ejection then."""
        return 2 * self.packet_length - self.sample_phase + self.ejection_cycles - 1

    @property
    def start_phase(self) -> int:
        """Phase in which a head flit that is offered does not make its packet wait for the time of others."""
        return self.injection_phase if self.gapless_packets else self.sample_phase

    def zero_load_latency(self, hops: int, offered_phase: int = 0) -> int:
        """Return the cycles from the one in which the head flit is offered to the one in which the tail is delivered.

        Parameters
        ----------
        hops : int
            Channels between source and destination.
        offered_phase : int
            Phase of the router's slot in which the head flit is offered. There it is accepted, and the packet waits up
            to L - 1 cycles for the next sample phase after its tail was accepted; of gapless packets the head flit
            waits as long to be accepted.
        """
        known = self.sample_phase - self.injection_phase if self.gapless_packets else self.packet_length
        wait = (self.start_phase - offered_phase) % self.packet_length
        return hops * self.hop_cycles + known + self.out_cycles + wait


def power_of_two(least: int) -> int:
    """Return the least power of two that is no less."""
    return 1 << (least - 1).bit_length()


def buffers_per_vc(buffers: int, num_vcs: int) -> int:
    """Return the packet buffers of each virtual channel of a port with `buffers`: an even share, but one at least.

    Examples
    --------
    >>> buffers_per_vc(2, 1), buffers_per_vc(2, 2), buffers_per_vc(2, 4), buffers_per_vc(8, 3)
    (2, 1, 1, 2)
    """
    return 1 << max(0, (buffers // num_vcs).bit_length() - 1)
