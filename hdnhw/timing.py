"""The slot clock: which cycle does what. Model and RTL both read it here and nowhere else.

All routers share a phase that counts the L cycles of a slot. A packet is a cell of exactly L flits. It leaves a buffer
in one slot (flit p is read in phase p), stands on the channel one cycle later, and has been written one cycle after
that. Allocation looks at the queues once a slot, in the sample phase, and its grants take effect when the slot ends.
"""

from dataclasses import dataclass
from operator import index

__all__ = ["SlotTiming"]

PIPELINE = 3
"""Cycles from reading a head flit to the first allocation that can see it: traversal, route computation, allocation."""


@dataclass(frozen=True)
class SlotTiming:
    """Timing of slotted store-and-forward with packets of `packet_length` flits.

    Attributes
    ----------
    packet_length : int
        Flits a packet and cycles a slot, L.

    Examples
    --------
    >>> SlotTiming(8).hop_cycles, SlotTiming(1).hop_cycles
    (8, 3)
    """

    packet_length: int

    def __post_init__(self) -> None:
        if index(self.packet_length) < 1:
            raise ValueError(f"packet length must be at least 1 flit, not {self.packet_length}")

    @property
    def hop_slots(self) -> int:
        """Slots from leaving one router to leaving the next without waiting."""
        return -(-PIPELINE // self.packet_length)

    @property
    def hop_cycles(self) -> int:
        """Cycles a hop takes without waiting: L, or the pipeline's three cycles in whole slots if L is shorter."""
        return self.hop_slots * self.packet_length

    @property
    def sample_phase(self) -> int:
        """Phase in which allocation looks at queues and credits."""
        return min(PIPELINE - 1, self.packet_length - 1)

    @property
    def credit_slots(self) -> int:
        """Slots from the one in which a packet leaves a buffer to the first allocation that can use its place."""
        return 0 if self.packet_length > 1 else 1

    @property
    def registers_requests(self) -> bool:
        """Whether a register stands between the choice of class and output arbitration: the slot is long enough."""
        return self.packet_length > PIPELINE

    @property
    def full_rate_buffers(self) -> int:
        """Least power of two of packet slots a queue with which one flow sustains one flit a cycle."""
        needed = self.hop_slots + self.credit_slots + 1
        return 1 << (needed - 1).bit_length()

    def zero_load_latency(self, hops: int, injection_phase: int = 0) -> int:
        """Return the cycles from the one in which the head flit is accepted to the one in which the tail is delivered.

        Parameters
        ----------
        hops : int
            Channels between source and destination.
        injection_phase : int
            Phase of the slot in which the head flit is accepted; the packet waits for the next sample phase after its
            tail was accepted, up to L - 1 cycles.
        """
        length = self.packet_length
        wait = (self.sample_phase - injection_phase) % length
        return (hops * self.hop_slots + 3) * length + 1 - self.sample_phase + wait
