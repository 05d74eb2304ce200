"""What terminals do: the packets they send and when they pause."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets to send, sorted by source; a source sends its packets in this order.

    Attributes
    ----------
    first : ndarray of int64, shape (nodes + 1,)
        Packets of node n are numbers ``first[n]`` to ``first[n + 1] - 1``.
    destination : ndarray of int64, shape (packets,)
        Packed destination address, which need not name a node.
    earliest : ndarray of int64, shape (packets,)
        Cycle before which the packet is not offered.
    """

    first: npt.NDArray[np.int64]
    destination: npt.NDArray[np.int64]
    earliest: npt.NDArray[np.int64]

    @classmethod
    def from_lists(cls, packets: Sequence[Sequence[tuple[int, int]]]) -> "Traffic":
        """Make traffic from one list of (packed destination, earliest cycle) a node."""
        flat = [packet for own in packets for packet in own]
        return cls(
            first=np.cumsum([0, *(len(own) for own in packets)], dtype=np.int64),
            destination=np.array([destination for destination, _ in flat], dtype=np.int64),
            earliest=np.array([cycle for _, cycle in flat], dtype=np.int64),
        )

    @property
    def num_packets(self) -> int:
        """Packets of all nodes."""
        return len(self.destination)


@dataclass(frozen=True, kw_only=True)
class Terminals:
    """How terminals pause, from one xorshift generator a node (Marsaglia 2003: 13, 17, 5) stepped every cycle.

    Attributes
    ----------
    source_gap : int
        Of 256 random values, how many make a source pause before a flit; before a head flit alone, if packets are
        gapless.
    sink_stall : int
        Of 256, how many make a sink not ready for a cycle; 256 for ever.
    sink_hold : int
        Cycles after reset in which no sink is ready.
    seed : int
    """

    source_gap: int = 0
    sink_stall: int = 0
    sink_hold: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        for name, value in (("source_gap", self.source_gap), ("sink_stall", self.sink_stall)):
            if not 0 <= value <= 256:
                raise ValueError(f"{name} must be 0 to 256, not {value}")
        if self.sink_hold < 0:
            raise ValueError(f"sink_hold must be at least 0, not {self.sink_hold}")

    @property
    def pause(self) -> bool:
        """Whether they do so at all."""
        return bool(self.source_gap or self.sink_stall or self.sink_hold)


def terminal_seeds(nodes: int, seed: int) -> npt.NDArray[np.uint32]:
    """Return the generator state of every node in cycle 0; none is 0."""
    mixed = (np.arange(1, nodes + 1, dtype=np.uint64) * np.uint64(0x9E3779B9)) ^ np.uint64(seed)
    return (mixed.astype(np.uint32) | np.uint32(1)).astype(np.uint32)


def advance_generators(state: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the generator states one cycle later."""
    state = state ^ state << np.uint32(13)
    state = state ^ state >> np.uint32(17)
    return state ^ state << np.uint32(5)
