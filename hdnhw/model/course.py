"""A fabric and its terminals in the course of a simulation, from reset on: some cycles at a time, looked at between."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hdnhw.model.core import (
    AT,
    BY,
    DESTINATION,
    PLACE,
    QUEUE,
    QUEUED,
    TAG,
    WAY,
    WHERE,
    Arrivals,
    CoreFabric,
    CoreMachine,
)
from hdnhw.model.counts import Counts
from hdnhw.spec.options import MOST_THREADS
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.traffic.packets import Terminals, terminal_seeds

if TYPE_CHECKING:
    from hdnhw.model.fabric import FabricModel

MAX_CYCLE = (1 << 31) - 1
"""Last cycle of a run: packets have it in 32 bits."""

MOST_WAITING = 1 << 25
"""Most packets that wait or are under way at once: 2 GiB of them."""

PART_NODES = 0
"""Most nodes of a part, all of which is worked on before the next, a power of two; 0 for as many as fit into a cache.
The result is the same whatever their number."""

UNDECIDED = 1 << 30
"""Added to the place of a node of a packet for which a switch is to choose."""


def core_machine(
    model: "FabricModel", terminals: Terminals, *, counting: bool = False, threads: int = 1
) -> CoreMachine:
    """Return a machine with its terminals for the core."""
    return CoreMachine(
        model.plan.core_rule,
        **model.given,
        gap=terminals.source_gap,
        stall=terminals.sink_stall,
        hold=terminals.sink_hold,
        generators=terminal_seeds(model.plan.network.num_nodes, terminals.seed) if terminals.pause else None,
        counting=counting,
        threads=threads,
        part_nodes=PART_NODES,
    )


@dataclass(frozen=True, eq=False)
class Heads:
    """Packets at the heads of the input queues of routers, and what they wait for.

    The queue of a virtual channel of an input has the number ``(node * (ports + 1) << vc_bits) + (input << vc_bits) +
    vc``, `vc_bits` being those of the model; the last input is injection.

    Attributes
    ----------
    queue : ndarray of int64, shape (heads,)
        Queues that hold a packet, ascending.
    packet : ndarray of int32, shape (heads, 11)
        See :data:`hdnhw.model.core.WHERE`.
    wanted : ndarray of int64, shape (heads,)
        The queue to which the packet goes next, -1 if that is the terminal.
    free : ndarray of int64, shape (heads,)
        Packet buffers there that no packet has or is on its way to; the news of them may be on its way.
    """

    queue: npt.NDArray[np.int64]
    packet: npt.NDArray[np.int32]
    wanted: npt.NDArray[np.int64]
    free: npt.NDArray[np.int64]


class Course:
    """A fabric and its terminals in the course of a simulation, from reset on.

    Parameters
    ----------
    model : FabricModel
    terminals : Terminals
    counting : bool
        Whether there is something in :meth:`counts`.
    threads : int
        That share the nodes among them; all is the same whatever their number.
    core : CoreFabric, optional
        What simulates it, if it is not one for this run alone.

    Raises
    ------
    SpecError
        If there are too many or too few threads.
    """

    def __init__(
        self,
        model: "FabricModel",
        terminals: Terminals,
        *,
        counting: bool = False,
        threads: int = 1,
        core: CoreFabric | None = None,
    ) -> None:
        if not 1 <= threads <= MOST_THREADS:
            raise SpecError(f"{named('threads')} must be 1 to {MOST_THREADS}, not {threads}")
        self._model = model
        self.core = core or CoreFabric(core_machine(model, terminals, counting=counting, threads=threads))

    @property
    def cycles(self) -> int:
        """Cycles up to the last in which a packet left or was dropped."""
        return self.core.numbers()["ended"]

    @property
    def packets_gone(self) -> int:
        """Packets that have left or been dropped since reset."""
        numbers = self.core.numbers()
        return numbers["left"] + numbers["lost"]

    @property
    def packets_sent(self) -> int:
        """Packets sent over channels between routers since reset."""
        return self.core.numbers()["sent"]

    @property
    def slots(self) -> int:
        """Slots allocated since reset."""
        return self.core.numbers()["slot"]

    @property
    def dropped(self) -> npt.NDArray[np.int64]:
        """Packets with an impossible destination dropped at each node since reset, shape (nodes,)."""
        return self.core.sources()[0]

    @property
    def packets(self) -> npt.NDArray[np.int32]:
        """Packets that have been offered and have not come out, the dropped too; see :mod:`hdnhw.model.core`."""
        return self.core.found()

    @property
    def sending(self) -> npt.NDArray[np.bool_]:
        """Which sources have a packet that has not been accepted whole, shape (nodes,)."""
        return self.core.sources()[1] > 0

    @property
    def injected(self) -> npt.NDArray[np.int32]:
        """Flits accepted of the packet that each source sends, shape (nodes,). Of sources that work every cycle."""
        return self.core.sources()[2]

    def ejecting(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the tag of the packet that each sink takes next, -1 if none, and its flits taken; shape (nodes,).

        Of sinks that pause; those that never do have no such state.
        """
        return self.core.sinks()

    def counts(self) -> Counts:
        """Return what channels and queues have done since reset; that of no nodes without `counting`."""
        sent, stalled, *queues = self.core.counts()
        num_vcs, vcs = self._model.plan.max_vcs, sent.shape[2]
        held, most = (own.reshape(len(own), sent.shape[1] - 1, vcs)[..., :num_vcs] for own in queues)
        return Counts(self.slots, sent[..., :num_vcs], stalled, held, most)

    @property
    def holds_packets(self) -> bool:
        """Whether an input queue of a router holds a packet."""
        return bool(self.core.numbers()["holds"])

    def heads(self, *, waiting: bool) -> Heads:
        """Return the packets at the heads of the queues: those alone that wait for a buffer of a router, or all."""
        model, vc_bits = self._model, self._model.vc_bits
        heads = self.core.waiting() if waiting else self.core.found()
        if not waiting:
            heads = heads[(heads[:, WHERE] == QUEUED) & (heads[:, PLACE] == 0)]
        size = (model.ports + 1) << vc_bits
        node, way = heads[:, AT].astype(np.int64), heads[:, WAY]
        order = np.argsort(node * size + heads[:, QUEUE])
        heads, node, way = heads[order], node[order], way[order]
        free = np.zeros(len(heads), np.int64) if waiting else self.core.credits(coming=True)[node, way].astype(np.int64)
        onward, wanted = way < model.ports << vc_bits, np.full(len(node), -1)
        following = model.neighbor(node[onward], way[onward] >> vc_bits)
        wanted[onward] = following * size + model.mirror[way[onward]]
        return Heads(node * size + heads[:, QUEUE], heads, wanted, free)

    def held(self) -> npt.NDArray[np.int32]:
        """Return the tags of the packets in the input queues of all routers, in no order."""
        found = self.core.found()
        tags: npt.NDArray[np.int32] = found[found[:, WHERE] == QUEUED, TAG]
        return tags

    def farthest(self) -> tuple[npt.NDArray[np.int32], list[tuple[int, int]]] | None:
        """Return one of :attr:`packets` that has crossed most channels, and the legs of its way; None if there is none.

        The packet is a row of words. Of a leg there are the packed addresses of where it ends, and of what the packet
        is routed to: two of them where it goes by a node that was drawn.
        """
        packet = self.core.farthest()
        if packet is None:
            return None
        end, (nodes, targets) = int(packet[DESTINATION]), self._model.drawn
        legs = [(end, end)]
        if len(nodes):
            by = int(packet[BY])
            by = max(by, ~by) & (UNDECIDED - 1)
            if by < len(nodes):  # else it goes straight
                legs.insert(0, (int(nodes[by]), int(targets[by])))
        return packet, legs

    def advance(
        self,
        arrivals: Arrivals,
        *,
        packets: int,
        limit: int,
        pace: npt.NDArray[np.int32] | None = None,
    ) -> npt.NDArray[np.int32]:
        """Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached.

        A source has an arrival to send from its cycle on; those that have not come by the end are forgotten. Terminals
        that never pause are worked on once a slot: then `limit` must be in the sample phase if the run is to go on, and
        packets are told whose tails are still on their way to the terminal.

        Parameters
        ----------
        arrivals : Arrivals
            Packets that sources get to send.
        packets, limit : int
        pace : ndarray of int32, optional
            Where sinks may pause before each of these packets, see :data:`hdnhw.model.core.ANYWHERE`; everywhere if
            omitted.

        Returns
        -------
        ndarray of int32, shape (packets, 7)
            The packets that have left, see :data:`hdnhw.model.core.DESTINATION`, in no order.
        """
        if limit > MAX_CYCLE:
            raise ValueError(f"a run must end by cycle {MAX_CYCLE}, not {limit}")
        numbers = self.core.numbers()
        if numbers["offered"] - numbers["left"] - numbers["lost"] + len(arrivals.cycle) > MOST_WAITING:
            raise SpecError(
                f"more than {MOST_WAITING} packets wait at once: the load must be lower, or the run shorter"
            )
        return self.core.advance(arrivals, pace, packets, limit)
