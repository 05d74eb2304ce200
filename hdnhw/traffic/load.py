"""A load: which messages the terminals create, some cycles at a time, from one seed.

The messages of a node are the same whatever the windows, and whatever the others create: loads of one seed on networks
of as many nodes are common random numbers.
"""

from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from hdnhw.core.traffic import CoreTraffic, key_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.graph import Network
from hdnhw.traffic.injection import parse_injection
from hdnhw.traffic.lengths import packets_of, parse_lengths
from hdnhw.traffic.patterns import parse_pattern

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

    def later(self, cycles: int) -> "Messages":
        """Return the same, created so many cycles later."""
        return replace(self, cycle=self.cycle + cycles)


class Load:
    """What the terminals of a network create.

    Parameters
    ----------
    network : Network
    packet_length : int
        Flits a packet.
    pattern, injection : str
        See :func:`hdnhw.traffic.patterns.parse_pattern`, which takes more than text, and
        :func:`hdnhw.traffic.injection.parse_injection`.
    lengths : str or None
        Of messages, see :func:`hdnhw.traffic.lengths.parse_lengths`; None for one packet.
    rate : float
        Flits of packets per node per cycle, 0 to 1.
    seed : int or tuple of int
    dead : ndarray of bool, shape (nodes,), optional
        Nodes that send nothing.

    Attributes
    ----------
    core : CoreTraffic
    senders : ndarray of int64, shape (senders,)
        Nodes that send, sorted.
    most_packets : int
        Of a message.

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
        dead: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self._packet_length, drawn = packet_length, parse_pattern(pattern, network, packet_length)
        if drawn.lengths is not None and lengths is not None:
            raise SpecError(f"{named('lengths')} does not go with classes of {drawn.text} that have their own")
        sizes = drawn.lengths or parse_lengths(str(packet_length) if lengths is None else lengths)
        self.most_packets = int(packets_of(sizes.flits, packet_length).max())
        mean_packets = drawn.mean_packets * (1.0 if drawn.lengths else sizes.mean_packets(packet_length))
        self.senders = drawn.senders if dead is None else drawn.senders[~dead[drawn.senders]]
        created = parse_injection(injection, rate=rate, message_flits=mean_packets * packet_length)
        self.core = CoreTraffic(
            sender=self.senders,
            key=key_of(seed),
            flits=sizes.flits,
            up_to=np.cumsum(sizes.shares),
            **drawn.given,
            **asdict(created),
        )

    def window(self, cycles: int) -> Messages:
        """Return the messages of the next so many cycles."""
        cycle, source, destination, flits = self.core.window(cycles)
        return Messages(cycle, source, destination, flits, packets_of(flits, self._packet_length))
