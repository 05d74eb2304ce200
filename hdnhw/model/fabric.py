"""The cycle-accurate model of a fabric and its terminals: the twin of the RTL, equal to it in every ejection."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from hdnhw.kernels import compilation
from hdnhw.machine import Machine, make_machine
from hdnhw.model.counts import Counts
from hdnhw.model.kernel.compiled import viewed
from hdnhw.model.kernel.fabric import simulate, sort_arrivals
from hdnhw.model.kernel.reset import credits_under_way, make_decisions, make_routers, make_states, with_room
from hdnhw.model.kernel.state import (
    BUSY,
    DESTINATION,
    ENDED,
    HEAD,
    HEAD_CYCLE,
    HOPS,
    LAST,
    LEFT,
    LINE,
    LOST,
    NEXT,
    NODE,
    OFFERED,
    PACE,
    PACKET_WORDS,
    QUEUE_WORDS,
    ROW,
    SENT,
    SENT_BITS,
    SLOT,
    TAG,
    TAIL_CYCLE,
    UNDECIDED,
    Arrivals,
    Fabric,
    Offers,
    State,
)
from hdnhw.model.kernel.ways import WORD
from hdnhw.rules.plan import UGAL, VALIANT, RoutingPlan
from hdnhw.spec import FabricSpec, SpecError
from hdnhw.topology.faults import Faults
from hdnhw.topology.metrics import distances_from, neighbor_table
from hdnhw.traffic.packets import Terminals, Traffic

__all__ = ["Course", "Ejections", "FabricModel", "Heads", "model_of"]

ADDRESS_BITS = 31
"""Most bits of a packed address: packets are rows of 32-bit words."""

MAX_CYCLE = (1 << 31) - 1
"""Last cycle of a run, for the same reason."""

MOST_BYTES = 6 << 30
"""Of the queues of all routers."""

STEPS_TO_LOAD, STEPS_TO_COMPILE = 1 << 16, 1 << 18
"""Packets over channels that kernels simulate as Python, 30 us each, while those that are kept are loaded, and far less
than while they are compiled: a minute or two, but once."""

MOST_THREADS = 64
"""Of one run."""

MOST_WAITING = 1 << 25
"""Most packets that wait or are under way at once: 2 GiB of them."""


@dataclass(frozen=True, eq=False)
class Ejections:
    """What came out of a fabric, in the order of cycles and, within a cycle, of nodes.

    Attributes
    ----------
    packet : ndarray of int64, shape (ejections,)
        Packet number, see :class:`Traffic`.
    node : ndarray of int64, shape (ejections,)
    cycle : ndarray of int64, shape (ejections,)
        Cycle in which the tail flit was taken.
    head_cycle : ndarray of int64, shape (packets,)
        Cycle in which each packet's head flit was accepted at its source, -1 if it was not.
    dropped : ndarray of int64, shape (nodes,)
        Packets with an impossible destination dropped at each node.
    cycles : int
        Cycles simulated.
    flit_hops : int
        Flits sent over channels between routers.
    """

    packet: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    cycle: npt.NDArray[np.int64]
    head_cycle: npt.NDArray[np.int64]
    dropped: npt.NDArray[np.int64]
    cycles: int
    flit_hops: int


@dataclass(frozen=True, eq=False)
class Heads:
    """The packets at the heads of the input queues of all routers, and what they wait for.

    The queue of a virtual channel of an input has the number ``(node * (ports + 1) << vc_bits) + (input << vc_bits) +
    vc``, `vc_bits` being those of the model; the last input is injection.

    Attributes
    ----------
    queue : ndarray of int64, shape (heads,)
        Queues that hold a packet, ascending.
    packet : ndarray of int32, shape (heads, PACKET_WORDS)
        See :data:`hdnhw.model.kernel.state.PACKET_WORDS`.
    wanted : ndarray of int64, shape (heads,)
        The queue to which the packet goes next, -1 if that is the terminal.
    free : ndarray of int64, shape (heads,)
        Packet buffers there that no packet has or is on its way to; the news of them may be on its way.
    """

    queue: npt.NDArray[np.int64]
    packet: npt.NDArray[np.int32]
    wanted: npt.NDArray[np.int64]
    free: npt.NDArray[np.int64]


class FabricModel:
    """A fabric with its terminals, simulated cycle by cycle.

    Parameters
    ----------
    machine : Machine
        What stands at its terminals does not count.
    faults : Faults, optional
        What is dead from reset on: a packet whose next channel is dead leaves at the node where it is.

    Raises
    ------
    SpecError
        If the network has too many address bits, or its routers need too much memory.
    """

    def __init__(self, machine: Machine, faults: Faults | None = None) -> None:
        self.machine, self.plan, self.timing, self.faults = machine, machine.plan, machine.timing, faults
        plan, network = machine.plan, machine.network
        if plan.address.width > ADDRESS_BITS:
            raise SpecError(
                f"a network that is simulated must have at most {ADDRESS_BITS} address bits; {network.spec} has "
                f"{plan.address.width}"
            )
        self.vc_bits = (plan.max_vcs - 1).bit_length()
        vcs = range(1 << self.vc_bits)
        table = neighbor_table(network)
        if faults is not None:
            plan.check_direct("faults")
            if self.timing.cuts_through:
                raise SpecError("cut-through does not go with faults: a packet is routed before it comes")
        self._check_memory(len(vcs))
        dead = np.zeros((0, 0), np.bool_) if faults is None else faults.all_channels(table)
        self.fabric = Fabric(
            address=np.ascontiguousarray(plan.address.of_node(np.arange(network.num_nodes, dtype=np.int64)), np.int32),
            neighbors=table.reshape(-1),
            mirror=np.array([port.opposite << self.vc_bits | vc for port in network.ports for vc in vcs], np.int32),
            dead=dead.reshape(-1),
            odd=machine.odd if self.timing.cuts_through else np.zeros(0, np.bool_),
            decisions=np.zeros(0, np.int16),
            bits=plan.address.width,
            ports=len(network.ports),
            buffers=machine.injection_buffers,
        )
        buffers = [*map(machine.buffers_per_vc, plan.num_vcs), machine.ejection_buffers]
        self.vc_buffers = np.repeat(np.array(buffers, np.min_scalar_type(max(buffers))), len(vcs))
        self.several = _several(plan)
        self.hangs = np.zeros(network.num_nodes, np.bool_)
        if network.num_terminals < network.num_nodes:
            self.hangs[: network.num_terminals] = (table[: network.num_terminals] >= 0).sum(axis=1) == 1
        draws = plan.scheme in {VALIANT, UGAL}
        self.drawn = self._drawn(table) if draws else (np.zeros(0, np.int32), np.zeros(0, np.int32))

    @cached_property
    def decided(self) -> Fabric:
        """The fabric with what the rule decides, for machine code: see :attr:`Fabric.decisions`."""
        with compilation.counted():
            return self.fabric._replace(decisions=make_decisions(self.plan.route, self.fabric.bits))

    def runs_plain(self, packets: int, cycles: int, terminals: Terminals) -> bool:
        """Tell whether a run of so many packets and cycles ends sooner if its kernels are not compiled, or loaded.

        Python's bits have no end, so no router may have as many queues as a word has bits.
        """
        nodes = self.plan.network.num_nodes
        queues = (self.fabric.ports + 1) << self.vc_bits
        steps = packets + cycles * nodes // (8 if terminals.pause else 8 * self.timing.packet_length)
        if queues >= WORD or max(steps, nodes) > STEPS_TO_COMPILE:
            return False
        steps += int(packets * distances_from(self.plan.network, 0).mean())
        if "numba" not in sys.modules and steps <= STEPS_TO_LOAD:
            return True
        return steps <= STEPS_TO_COMPILE and not simulate.is_there

    @property
    def window_slots(self) -> int:
        """Slots of a window so short that no packet that leaves in it could have been waited for in it.

        One that is allocated when the window begins leaves so many cycles later, and frees others in the next one.
        """
        return (self.timing.out_cycles + 1) // self.timing.packet_length

    def _drawn(self, table: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return packed addresses of the nodes that a packet may go by, and of what it is routed to on its way there.

        Where there are switches it is that of a terminal: a packet would have to come back from the terminal itself.
        """
        network, address = self.plan.network, self.fabric.address
        targets = address[: network.num_terminals]
        if network.num_terminals == network.num_nodes:
            return targets, targets
        only = self.hangs[: network.num_terminals]
        return np.where(only, address[table[: network.num_terminals].max(axis=1)], targets), targets

    def _check_memory(self, vcs: int) -> None:
        """Raise SpecError if what :func:`hdnhw.model.kernel.reset.make_routers` makes of queues is too large.

        So no router has more queues than :data:`hdnhw.model.kernel.state.EPOCH` allows: it would have too many
        neighbours for that.
        """
        network, is_matched = self.machine.network, self.machine.matching_rounds > 0
        inputs = len(network.ports) + 1
        queues = inputs * vcs
        orders = queues * (queues if is_matched else inputs) if vcs > 1 or is_matched else 0
        size = network.num_nodes * (4 * inputs + 14 * queues + 4 * orders)
        if size > MOST_BYTES:
            raise SpecError(
                f"{network.spec} needs {size >> 20} MiB for its queues; at most {MOST_BYTES >> 20} are allowed"
            )

    def with_faults(self, faults: Faults) -> "FabricModel":
        """Return the same machine with something dead."""
        return FabricModel(self.machine, faults)

    def run(
        self, traffic: Traffic, terminals: Terminals | None = None, *, max_cycles: int, threads: int = 1
    ) -> Ejections:
        """Simulate from reset until every packet with a possible destination has left, or for `max_cycles` cycles.

        Parameters
        ----------
        traffic : Traffic
        terminals : Terminals, optional
            Ones that never pause if omitted.
        max_cycles : int
        threads : int
            That share the nodes among them; the result is the same whatever their number.

        Returns
        -------
        Ejections
        """
        nodes, count = self.plan.network.num_nodes, traffic.num_packets
        if len(traffic.first) != nodes + 1:
            raise ValueError(f"traffic must have {nodes} sources, not {len(traffic.first) - 1}")
        if count and traffic.earliest.max() > MAX_CYCLE:
            raise ValueError(f"earliest must be at most cycle {MAX_CYCLE}, not {traffic.earliest.max()}")
        pauses, last = terminals or Terminals(), int(traffic.earliest.max(initial=0))
        plain = threads == 1 and self.runs_plain(count, min(last, max_cycles), pauses)
        course = Course(self, pauses, room=count, threads=threads, plain=plain)
        left = course.advance(self._arrivals(traffic), packets=count, limit=max_cycles)
        cycles = min(course.cycles, max_cycles) if course.packets_gone == count else max_cycles
        head_cycle = np.full(count, -1, np.int64)
        for packets in (course.packets, left):
            head_cycle[packets[:, TAG]] = packets[:, HEAD_CYCLE]
        left = left[np.lexsort((left[:, NODE], left[:, TAIL_CYCLE]))]
        packet, node, cycle = left[left[:, TAIL_CYCLE] < cycles][:, [TAG, NODE, TAIL_CYCLE]].astype(np.int64).T
        flit_hops = course.packets_sent * self.timing.packet_length
        return Ejections(packet, node, cycle, head_cycle, course.dropped, cycles, flit_hops)

    def _arrivals(self, traffic: Traffic) -> Arrivals:
        """Return packets as their sources get them to send.

        As a source sends its packets in their order, a packet waits for those before it.
        """
        nodes = np.repeat(np.arange(len(traffic.first) - 1), np.diff(traffic.first))
        horizon = int(traffic.earliest.max(initial=0)) + 1
        cycle = np.maximum.accumulate(traffic.earliest + nodes * horizon) - nodes * horizon
        order = np.argsort(cycle, kind="stable")
        destination = np.where(self.plan.address.is_node(traffic.destination), traffic.destination, -1)
        return Arrivals.of(cycle[order], nodes[order], destination[order], order)


@lru_cache(maxsize=2)
def model_of(spec: FabricSpec) -> FabricModel:
    """Return the model of the machine that a spec describes."""
    return FabricModel(make_machine(spec))


class Course:
    """A fabric and its terminals in the course of a simulation, from reset on.

    Parameters
    ----------
    model : FabricModel
    terminals : Terminals
    room : int
        Packets that there is room for.
    counting : bool
        Whether there is something in :meth:`counts`.
    threads : int
        That share the nodes among them; all is the same whatever their number.
    plain : bool
        Whether kernels run as Python, which needs one thread; all is the same, see :meth:`FabricModel.runs_plain`.

    Raises
    ------
    SpecError
        If there are too many or too few threads.
    """

    def __init__(
        self,
        model: FabricModel,
        terminals: Terminals,
        *,
        room: int,
        counting: bool = False,
        threads: int = 1,
        plain: bool = False,
    ) -> None:
        if not 1 <= threads <= MOST_THREADS:
            raise SpecError(f"threads must be 1 to {MOST_THREADS}, not {threads}")
        self._model, self._plain = model, plain
        fabric = model.fabric if plain else model.decided
        self._sort, self._go = (code.plain if plain else code.compiled for code in (sort_arrivals, simulate))
        self._route = model.plan.plain_route if plain else model.plan.route
        routers = make_routers(
            model.vc_buffers,
            model.several,
            first_vc=model.plan.first_vc,
            vc_bits=model.vc_bits,
            lane_bits=(model.plan.lanes - 1).bit_length(),
            rounds=model.machine.matching_rounds,
            early=model.timing.matches_early,
            held=int(model.vc_buffers.sum()),
            room=room,
        )
        self._states = make_states(
            fabric,
            routers,
            model.timing,
            terminals,
            drawn=model.drawn,
            hangs=model.hangs,
            room=model.vc_buffers,
            scheme=model.plan.scheme,
            ejection_buffers=model.machine.ejection_buffers,
            counting=counting,
            threads=threads,
        )
        # One each: threads wait for each other, so none may have the work of two.
        self._helpers = [ThreadPoolExecutor(1) for _ in range(1, threads)]

    @property
    def _state(self) -> State:
        """That of the first thread."""
        return self._states[0]

    def _sum(self, word: int) -> int:
        """Return a word of the progress, summed over all threads."""
        return sum(int(state.progress[word]) for state in self._states)

    @property
    def cycles(self) -> int:
        """Cycles up to the last in which a packet left or was dropped."""
        return max(int(state.progress[ENDED]) for state in self._states)

    @property
    def packets_gone(self) -> int:
        """Packets that have left or been dropped since reset."""
        return self._sum(LEFT) + self._sum(LOST)

    @property
    def packets_sent(self) -> int:
        """Packets sent over channels between routers since reset."""
        return self._sum(SENT)

    @property
    def slots(self) -> int:
        """Slots allocated since reset."""
        return int(self._state.progress[SLOT])

    @property
    def dropped(self) -> npt.NDArray[np.int64]:
        """Packets with an impossible destination dropped at each node since reset, shape (nodes,)."""
        return self._state.sources.dropped

    @property
    def packets(self) -> npt.NDArray[np.int32]:
        """Packets that have been offered and have not come out, the dropped too; shape (packets, PACKET_WORDS)."""
        pool = self._state.routers.pool
        there = np.ones(len(pool.free), np.bool_)
        there[pool.free[: pool.num_free[0]]] = False
        return self._rows[there]

    @property
    def _rows(self) -> npt.NDArray[np.int32]:
        """All rows of the pool of packets."""
        return self._state.routers.pool.words.reshape(-1, PACKET_WORDS)

    @property
    def sending(self) -> npt.NDArray[np.bool_]:
        """Which sources have a packet that has not been accepted whole, shape (nodes,)."""
        sending: npt.NDArray[np.bool_] = self._state.sources.last >= 0
        return sending

    @property
    def injected(self) -> npt.NDArray[np.int32]:
        """Flits accepted of the packet that each source sends, shape (nodes,). Of sources that work every cycle."""
        injected: npt.NDArray[np.int32] = self._state.sources.position.copy()
        return injected

    def ejecting(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the tag of the packet that each sink takes next, -1 if none, and its flits taken; shape (nodes,).

        Of sinks that pause; those that never do have no such state.
        """
        sinks = self._state.sinks
        rows = sinks.packet[np.arange(len(sinks.head)), sinks.head]
        tags = self._rows[np.where(sinks.level > 0, rows, 0), TAG].astype(np.int64)
        return np.where(sinks.level > 0, tags, -1), sinks.taken.copy()

    def counts(self) -> Counts:
        """Return what channels and queues have done since reset; that of no nodes without `counting`."""
        ports, vcs = self._model.fabric.ports, 1 << self._model.vc_bits
        num_vcs, counters = self._model.plan.max_vcs, self._state.counters
        return Counts(
            self.slots,
            counters.sent.reshape(-1, ports + 2, vcs)[..., :num_vcs].copy(),
            counters.stalled.reshape(-1, ports + 2).copy(),
            (counters.held + counters.level * self.slots).reshape(-1, ports + 1, vcs)[..., :num_vcs],
        )

    @property
    def holds_packets(self) -> bool:
        """Whether an input queue of a router holds a packet."""
        return bool(self._state.parts.lengths[BUSY::LINE].any())

    def heads(self) -> Heads:
        """Return the packets at the heads of the queues."""
        fabric, queues, vc_bits = self._model.fabric, self._state.routers.queues, self._model.vc_bits
        nodes = len(fabric.address)
        there = queues.present.reshape(nodes, -1)
        (busy,) = np.nonzero(there.any(axis=1))
        held = np.unpackbits(there[busy].astype("<i8").view(np.uint8), bitorder="little").reshape(
            len(busy), 64 * queues.words
        )
        place, queue = np.nonzero(held[:, : queues.size])
        node = busy[place]
        links = queues.links.reshape(nodes, queues.size, QUEUE_WORDS)[node, queue]
        first, output_vc = self._ends(links)[0], links[:, HEAD] >> np.int64(SENT_BITS)
        ahead = node * queues.size + output_vc
        free = self._state.routers.credits[ahead].astype(np.int64)
        given = np.sort(credits_under_way(self._state))
        free += np.searchsorted(given, ahead, "right") - np.searchsorted(given, ahead)
        onward, port = output_vc < fabric.ports << vc_bits, output_vc >> vc_bits
        wanted = np.full(len(node), -1)
        following = fabric.neighbors[(node * fabric.ports + port)[onward]] * np.int64(queues.size)
        wanted[onward] = following + fabric.mirror[output_vc[onward]]
        return Heads(node * queues.size + queue, self._rows[first], wanted, free)

    def _ends(self, links: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the first and last packets of queues that hold one, as rows of the pool."""
        several = links[:, LAST] < 0
        last = np.where(several, ~links[:, LAST], links[:, LAST])
        return np.where(several, self._rows[last, NEXT], last), last

    def held(self) -> npt.NDArray[np.int32]:
        """Return the tags of the packets in the input queues of all routers, in no order."""
        queues, rows = self._state.routers.queues, self._rows
        nodes = len(self._model.fabric.address)
        there = np.unpackbits(queues.present.astype("<i8").view(np.uint8), bitorder="little").reshape(nodes, -1)
        node, queue = np.nonzero(there[:, : queues.size])
        first, last = self._ends(queues.links.reshape(nodes, queues.size, QUEUE_WORDS)[node, queue])
        found = []
        while len(first):
            found.append(rows[first, TAG])
            first, last = first[first != last], last[first != last]
            first = rows[first, NEXT]
        return np.concatenate([np.empty(0, np.int32), *found])

    def farthest(self) -> tuple[npt.NDArray[np.int32], list[tuple[int, int]]] | None:
        """Return one of :attr:`packets` that has crossed most channels, and the legs of its way; None if there is none.

        The packet is a row of words. Of a leg there are the packed addresses of where it ends, and of what the packet
        is routed to: two of them where it goes by a node that was drawn.
        """
        pool = self._state.routers.pool
        hops = self._rows[:, HOPS].copy()
        hops[pool.free[: pool.num_free[0]]] = -1
        row, valiant = int(hops.argmax()), self._state.valiant
        if hops.max(initial=-1) < 0:
            return None
        end = int(self._rows[row, DESTINATION])
        legs = [(end, end)]
        if len(valiant.nodes):
            by = int(valiant.by[row])
            by = max(by, ~by) & (UNDECIDED - 1)
            if by < len(valiant.nodes):  # else it goes straight
                legs.insert(0, (int(valiant.nodes[by]), int(valiant.targets[by])))
        return self._rows[row], legs

    def _make_room(self, packets: int) -> None:
        """See that so many more packets can be offered, by doubling the pool if need be."""
        pool = self._state.routers.pool
        old, missing = len(pool.free), packets - int(pool.num_free[0])
        if old + missing > MOST_WAITING:
            raise SpecError(
                f"more than {MOST_WAITING} packets wait at once: the load must be lower, or the run shorter"
            )
        if missing > 0:
            self._states = with_room(self._states, min(old + max(old, missing), MOST_WAITING))

    def advance(
        self,
        arrivals: Arrivals,
        *,
        packets: int,
        limit: int,
        pace: npt.NDArray[np.int32] | None = None,
    ) -> npt.NDArray[np.int32]:
        """Go on until `packets` packets have left or been dropped since reset, or cycle `limit` is reached.

        Parameters
        ----------
        arrivals : Arrivals
            Packets that sources get to send.
        packets, limit : int
            See :func:`hdnhw.model.kernel.fabric.simulate`: where a run goes on, `limit` is in the sample phase.
        pace : ndarray of int32, optional
            Where sinks may pause before each of these packets, see :data:`hdnhw.model.kernel.state.PACE`; everywhere if
            omitted. None of them may leave within the call.

        Returns
        -------
        ndarray of int32, shape (packets, PACKET_WORDS)
            The packets that have left, see :data:`hdnhw.model.kernel.state.NODE`, in no order.
        """
        if limit > MAX_CYCLE:
            raise ValueError(f"a run must end by cycle {MAX_CYCLE}, not {limit}")
        offers = len(arrivals.cycle)
        self._make_room(offers)
        pool = self._state.routers.pool
        offered = pool.free[pool.num_free[0] - offers : pool.num_free[0]][::-1].copy()
        left = self._simulate(arrivals, offered, packets, limit)
        if pace is not None:
            self._rows[offered, PACE] = pace
        return left

    def _simulate(
        self, arrivals: Arrivals, rows: npt.NDArray[np.int32], packets: int, limit: int
    ) -> npt.NDArray[np.int32]:
        """Let all threads go on; return the packets that have left. Arrivals take rows of the pool."""
        pool, parts = self._state.routers.pool, self._state.parts
        first, order = np.empty(parts.number + 1, np.int32), np.empty(len(rows), np.int32)
        offers = Offers(arrivals, first, order)
        self._sort(offers, parts.bits)
        parts.lengths[OFFERED::LINE] = 0
        parts.meetings[0] = 0
        route, (own, *others) = self._route, self._states
        if self._plain:
            own, offers = viewed(own), viewed(offers)
        working = [
            helper.submit(self._go, route, state, offers, packets, limit)
            for helper, state in zip(self._helpers, others, strict=True)
        ]
        numbers = [self._go(route, own, offers, packets, limit), *(work.result() for work in working)]
        lists = [state.out.reshape(PACKET_WORDS, -1) for state in self._states]
        left = np.concatenate([out[:, :number] for out, number in zip(lists, numbers, strict=True)], axis=1).T
        ends = first[1:], first[:-1] + parts.lengths[OFFERED::LINE]
        unused = [order[taken:end] for end, taken in zip(*ends, strict=True)]
        freed = np.concatenate([left[:, ROW], rows[np.concatenate(unused)]])
        pool.num_free[0] += len(freed) - len(rows)
        pool.free[pool.num_free[0] - len(freed) : pool.num_free[0]] = freed
        return left


def _several(plan: RoutingPlan) -> npt.NDArray[np.bool_]:
    """Return for each node whether an input of its router has two virtual channels or more."""
    ports, nodes = plan.network.ports, plan.network.num_nodes
    has = {shape: any(plan.num_vcs[ports[port].opposite] > 1 for port in shape.ports) for shape in plan.shapes}
    if len(plan.shapes) == 1:
        return np.full(nodes, has[plan.shapes[0]])
    return np.array([has[plan.shape_of(node)] for node in range(nodes)])
