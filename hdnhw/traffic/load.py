"""A load: which messages the terminals create, some cycles at a time, from one seed."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from hdnhw.topology.network import Network
from hdnhw.traffic.injection import parse_injection
from hdnhw.traffic.lengths import packets_of, parse_lengths
from hdnhw.traffic.patterns import parse_pattern

__all__ = ["CommonLoad", "Load", "Messages"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Messages:
    """Messages in the order of cycles; arrays of int64, shape (messages,).

    Attributes
    ----------
    cycle : ndarray
        In which each is created, from 0.
    source, destination : ndarray
        Nodes.
    flits, packets : ndarray
        Of each.
    """

    cycle: Integers
    source: Integers
    destination: Integers
    flits: Integers
    packets: Integers

    def of_sources(self, sends: npt.NDArray[np.bool_]) -> "Messages":
        """Return those of the nodes that send, shape (nodes,)."""
        return self.part(sends[self.source])

    def part(self, which: slice | npt.NDArray[np.bool_]) -> "Messages":
        """Return some of them."""
        return Messages(*(getattr(self, field.name)[which] for field in fields(self)))

    def later(self, cycles: int) -> "Messages":
        """Return the same, created so many cycles later."""
        return replace(self, cycle=self.cycle + cycles)

    @classmethod
    def joined(cls, parts: "Sequence[Messages]") -> "Messages":
        """Return all of some, which follow each other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


class Load:
    """What the terminals of a network create.

    Parameters
    ----------
    network : Network
    packet_length : int
        Flits a packet.
    pattern, injection : str
        See :func:`hdnhw.traffic.patterns.parse_pattern` and :func:`hdnhw.traffic.injection.parse_injection`.
    lengths : str or None
        Of messages, see :func:`hdnhw.traffic.lengths.parse_lengths`; None for one packet.
    rate : float
        Flits of packets a node and cycle, 0 to 1.
    seed : int or tuple of int

    Attributes
    ----------
    senders : ndarray of int64, shape (senders,)
        Nodes that send, sorted.
    one_packet : bool
        Whether every message is one packet.

    Raises
    ------
    SpecError
        If the pattern, the injection process or the lengths cannot be.
    """

    def __init__(
        self,
        network: Network,
        packet_length: int,
        *,
        pattern: str,
        injection: str,
        lengths: str | None,
        rate: float,
        seed: int | tuple[int, ...],
    ) -> None:
        self._packet_length, self._pattern = packet_length, parse_pattern(pattern, network)
        arrivals, self._destinations, self._sizes = (
            np.random.default_rng(own) for own in np.random.SeedSequence(seed).spawn(3)
        )
        self._lengths = parse_lengths(str(packet_length) if lengths is None else lengths)
        mean_packets = self._lengths.mean_packets(packet_length)
        self.senders, self.one_packet = self._pattern.senders, mean_packets == 1
        message_flits = mean_packets * packet_length
        self._injection = parse_injection(
            injection, senders=len(self.senders), rate=rate, message_flits=message_flits, rng=arrivals
        )

    def window(self, cycles: int) -> Messages:
        """Return the messages of the next so many cycles."""
        cycle, sender = self._injection.window(cycles)
        source = self.senders[sender]
        flits = self._lengths.draw(len(cycle), self._sizes)
        destination = self._pattern.draw(source, self._destinations)
        return Messages(cycle, source, destination, flits, packets_of(flits, self._packet_length))


class CommonLoad:
    """A load whose messages do not depend on how many cycles are asked for at a time.

    Machines ask for windows of other lengths, and processes draw anew in each window. Here the windows in which they
    draw are always the same, so that networks of as many nodes get the same messages: common random numbers.

    Parameters
    ----------
    load : Load
    cycles : int
        Of a window in which messages are drawn.
    """

    def __init__(self, load: Load, cycles: int) -> None:
        self._load, self._cycles = load, cycles
        self._drawn, self._there = load.window(0), 0

    def window(self, cycles: int) -> Messages:
        """Return the messages of the next so many cycles."""
        parts = [self._drawn]
        while self._there < cycles:
            parts.append(self._load.window(self._cycles).later(self._there))
            self._there += self._cycles
        drawn = Messages.joined(parts)
        end = int(np.searchsorted(drawn.cycle, cycles))
        self._drawn, self._there = drawn.part(slice(end, None)).later(-cycles), self._there - cycles
        return drawn.part(slice(end))
