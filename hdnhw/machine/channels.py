"""Channels of any length and width: the cycles of each, such that a flit stands where it should in its receiver's slot.

A channel takes a whole number of half slots both ways: what a flit takes in one direction and a credit in the other
adds up to whole slots, whatever the phases of the two routers, so that half a slot is the least step. Where a channel
takes an odd number of them, the slots of its two routers are half a slot apart.

Over a channel of fewer wires than a flit has bits a packet takes several slots. Packets queue in front of it.
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
        Cycles beside those that flits take over the channels behind each port: registers, and where they are narrow
        what it takes at least, see :func:`narrow_cycles`.
    credit_stages : tuple of int
        Registers of credits the other way, beside those.
    intervals : tuple of int
        Cycles that a flit takes, and slots that a packet takes, over the wires of these channels, R: 1 where there are
        as many wires as a flit has bits.
    odd : ndarray of bool, shape (nodes,)
        Which routers' slots begin half a slot before those of the others.
    """

    latency: tuple[int, ...]
    registers: int
    stages: tuple[int, ...]
    credit_stages: tuple[int, ...]
    intervals: tuple[int, ...]
    odd: npt.NDArray[np.bool_]


def narrow_cycles(length: int, interval: int) -> int:
    """Return the cycles that a narrow channel without registers on its wires makes packets of `length` flits later.

    The tail is there so many cycles later than it would be behind a head flit that leaves as soon as it is there; and
    flits pass four registers: into the queue, out of it, before the wires, and before the router. It is 0 if flits take
    a cycle each.

    Examples
    --------
    >>> narrow_cycles(8, 1), narrow_cycles(8, 2), narrow_cycles(8, 4)
    (0, 12, 28)
    """
    return length * (interval - 1) + 4 if interval > 1 else 0


def lay_channels(
    network: Network, latency: str, width: str | None, timing: SlotTiming, *, word_width: int, is_free: bool
) -> Channels:
    """Return the channels of a machine, given as :class:`hdnhw.spec.options.PerChannel` says.

    Parameters
    ----------
    network : Network
    latency : str
        Cycles of their wires.
    width : str or None
        Bits of their wires; None for those of a flit.
    timing : SlotTiming
        Of routers without registers of channels.
    word_width : int
        Bits of a flit, with its check bits.
    is_free : bool
        Whether one in every router costs no other register, where slots have the time for one.

    Raises
    ------
    SpecError
        If a type of channels that is named without ``*`` is none of the network's, a channel has more wires than a flit
        has bits, or packets cannot cut through.
    """
    cycles, length = said_of_ports(network, "channel_latency", latency, 1), timing.packet_length
    wires = said_of_ports(network, "channel_width", width, word_width)
    if (most := max(wires, default=0)) > word_width:
        raise SpecError(f"{named('channel_width')} must be at most the {word_width} bits of a flit, not {most}")
    intervals = tuple(-(-word_width // each) for each in wires)
    halves = 2 - length % 2  # steps of a slot
    step = length // halves
    spare = is_free and not timing.cuts_through and length >= LONG_SLOT + timing.matches
    extra = [each - 1 for each in cycles]
    wide = [each for each, interval in zip(extra, intervals, strict=True) if interval == 1]
    registers = int(spare and any(-(-(each - 1) // step) < -(-each // step) for each in wide))
    back = [-(-max(0, each - registers) // step) for each in extra]
    taken = [narrow_cycles(length, interval) for interval in intervals]
    steps = [-(-(own + each) // step) if own else least for own, each, least in zip(taken, extra, back, strict=True)]
    odd = np.zeros(network.num_nodes, np.bool_)
    if halves == 2 and (timing.cuts_through or any(each % 2 for each in steps)):
        steps, odd = _apart(network, steps, at_rest=timing.cuts_through)
    back = [least + (each - least) % halves for each, least in zip(steps, back, strict=True)]
    stages, credit_stages = (tuple(each * step for each in taken) for taken in (steps, back))
    return Channels(cycles, registers, stages, credit_stages, intervals, odd)


def said_of_ports(network: Network, name: str, text: str | None, default: int) -> tuple[int, ...]:
    """Return what an option says of the channels behind each port."""
    ports = network.ports
    found = [default] * len(ports)
    for pattern, number in by_channel(text or str(default)):
        names = [{port.name, ports[port.opposite].name} for port in ports]
        fits = [any(fnmatchcase(name, pattern) for name in both) for both in names]
        if not any(fits) and ports and "*" not in pattern:
            known = ", ".join(port.name for port in ports)
            raise SpecError(f"{named(name)} names {pattern}, and {network.spec} has the channels {known}")
        found = [number if fit else each for fit, each in zip(fits, found, strict=True)]
    return tuple(found)


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
