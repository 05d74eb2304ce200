"""Channels of any length: the registers of each, such that a flit stands where it should in the slot of its receiver.

A channel takes a whole number of half slots both ways: what a flit takes in one direction and a credit in the other
adds up to whole slots, whatever the phases of the two routers, so that half a slot is the least step. Where a channel
takes an odd number of them, the slots of its two routers are half a slot apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from hdnhw.machine.timing import LONG_SLOT, SlotTiming
from hdnhw.spec.options import by_channel
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.topology.coloring import two_colors
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table


@dataclass(frozen=True, eq=False)
class Channels:
    """Where the registers of channels are.

    Attributes
    ----------
    latency : tuple of int
        Cycles that the wires of the channels behind each port are given at least, 1 for none but those of the router.
    registers : int
        Registers in every router behind switch traversal, 0 or 1: a hop has the time for one.
    stages : tuple of int
        Registers on the channels behind each port, in both directions, beside those.
    odd : ndarray of bool, shape (nodes,)
        Which routers' slots begin half a slot before those of the others.
    """

    latency: tuple[int, ...]
    registers: int
    stages: tuple[int, ...]
    odd: npt.NDArray[np.bool_]


def lay_channels(network: Network, text: str, timing: SlotTiming, *, is_free: bool) -> Channels:
    """Return the channels of a machine whose latency is given as :class:`hdnhw.spec.options.PerChannel` says.

    Parameters
    ----------
    network : Network
    text : str
    timing : SlotTiming
        Of routers without registers of channels.
    is_free : bool
        Whether one in every router costs no other register, where slots have the time for one.

    Raises
    ------
    SpecError
        If a type of channels that is named without ``*`` is none of the network's, or packets cannot cut through.
    """
    latency, length = _latencies(network, text), timing.packet_length
    halves = 2 - length % 2  # steps of a slot
    step = length // halves
    spare = is_free and not timing.cuts_through and length >= LONG_SLOT + timing.matches
    extra = [each - 1 for each in latency]
    registers = int(spare and any(-(-(each - 1) // step) < -(-each // step) for each in extra))
    steps = [-(-max(0, each - registers) // step) for each in extra]
    odd = np.zeros(network.num_nodes, np.bool_)
    if halves == 2 and (timing.cuts_through or any(each % 2 for each in steps)):
        steps, odd = _apart(network, steps, at_rest=timing.cuts_through)
    return Channels(latency, registers, tuple(each * step for each in steps), odd)


def _latencies(network: Network, text: str) -> tuple[int, ...]:
    """Return the cycles of the wires behind each port."""
    ports = network.ports
    latency = [1] * len(ports)
    for pattern, cycles in by_channel(text):
        names = [{port.name, ports[port.opposite].name} for port in ports]
        fits = [any(fnmatchcase(name, pattern) for name in both) for both in names]
        if not any(fits) and ports and "*" not in pattern:
            known = ", ".join(port.name for port in ports)
            raise SpecError(f"{named('channel_latency')} names {pattern}, and {network.spec} has the channels {known}")
        latency = [cycles if fit else each for fit, each in zip(fits, latency, strict=True)]
    return tuple(latency)


def _apart(network: Network, steps: Sequence[int], *, at_rest: bool) -> tuple[list[int], npt.NDArray[np.bool_]]:
    """Return the half slots of each port, and the routers whose slots begin sooner.

    The ends of a channel are half a slot apart if it takes an odd number of half slots, counted with those of a router:
    one with cut-through, `at_rest`. Where that cannot be, as round a ring of odd length, channels get half a slot more.
    """
    table, mirror = neighbor_table(network), [port.opposite for port in network.ports]
    rest = np.full(len(steps), at_rest)
    odd = two_colors(table, rest)
    if odd is None:
        raise SpecError(
            f"cut-through needs a network without cycles of odd length, and {network.spec} has some: "
            "its neighbors cannot all be half a slot apart"
        )
    wanted = np.array([each % 2 == 1 for each in steps], np.bool_)
    if not wanted.any():
        return list(steps), odd
    if (whole := two_colors(table, rest ^ wanted)) is not None:
        return list(steps), whole
    kept = np.zeros(len(steps), np.bool_)
    for port in np.flatnonzero(wanted):
        if port <= mirror[port]:
            tried = kept.copy()
            tried[port] = tried[mirror[port]] = True
            if (found := two_colors(table, rest ^ tried)) is not None:
                kept, odd = tried, found
    return [each + (each % 2 and not kept[port]) for port, each in enumerate(steps)], odd
