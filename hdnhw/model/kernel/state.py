"""What a fabric and its terminals hold in the course of a run: tuples of arrays, and what each word of a row is.

Arrays are flat. A queue of a router, which is an input virtual channel, has the number ``input << vc_bits | vc``, and
an output virtual channel has ``output << vc_bits | vc``; `vc_bits` is the same everywhere. Inputs and outputs have the
order of the network's ports, and the last input is injection, the last output is ejection. Packets are rows of a pool,
and queues are lists of them.

Nodes are cut into parts, whose state fits into a cache, and a slot is worked on part by part. Routers touch no other
part: what they send to it, packets and credits, lies in lists that the other part reads a slot later or more. So
threads that share the parts among them do the same as one.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "ANYWHERE",
    "AT_HOME",
    "BUSY",
    "CHOSEN_WORDS",
    "CREATED",
    "CYCLE",
    "DESTINATION",
    "ENDED",
    "EPOCH",
    "FREED",
    "HEAD",
    "HEAD_CYCLE",
    "HOPS",
    "ITEM_WORDS",
    "LAST",
    "LEAVING",
    "LEFT",
    "LINE",
    "LOST",
    "NEXT",
    "NODE",
    "NOWHERE",
    "OFFERED",
    "OUTPUT_VC",
    "PACE",
    "PACKET_WORDS",
    "QUEUE_WORDS",
    "ROW",
    "SENDING",
    "SENT",
    "SENT_BITS",
    "SENT_MASK",
    "SLOT",
    "STRAIGHT",
    "TAG",
    "TAIL_CYCLE",
    "UNDECIDED",
    "Adaptive",
    "Arrivals",
    "Counters",
    "Credits",
    "Fabric",
    "Leaving",
    "Mail",
    "Offers",
    "Orders",
    "Parts",
    "Pauses",
    "Phases",
    "Pool",
    "Queues",
    "Routers",
    "Sinks",
    "Sources",
    "State",
    "Valiant",
    "Work",
]

Words = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]
Buffers = npt.NDArray[np.unsignedinteger[Any]]
"""Numbers of packet buffers, in as few bits as they need."""

DESTINATION, CREATED, HEAD_CYCLE, TAG, HOPS, NEXT, OUTPUT_VC, PACE = range(8)
PACKET_WORDS = 8
"""Words of a packet in the pool: packed destination, -1 if that is no node; cycle before which it is not offered; cycle
in which its head flit was accepted, -1 before; a number that its sender gave it; channels that it has crossed; the
packet behind it in a queue; the output virtual channel that it takes next; and whether sinks may pause before it."""

ANYWHERE, AT_HOME, NOWHERE = range(3)
"""Where sinks may pause before a packet: everywhere, at its destination alone, or not at all."""

NODE, TAIL_CYCLE, ROW = OUTPUT_VC, NEXT, PACE
"""Words of a packet that has left, in place of those of the pool: where it came out, the cycle of its tail, and the row
that it had."""

LINE = 16
"""Words of 64 bits from the numbers of a part or thread to those of the next: no two write a line of the cache both."""

CYCLE, SLOT, ENDED, SENT, LOST, LEFT = range(6)
"""Words of the progress of a thread: the next cycle and slot; the cycle behind the last in which a packet left or was
dropped; packets sent between routers, dropped, and left. The last three count from reset."""

BUSY, SENDING, FREED, LEAVING, OFFERED = range(5)
"""Words of a part, the lengths of its lists: routers that hold a packet; sources that have one to send; routers whose
injection buffer has lost a packet in the slot; packets that are ejected in it; and arrivals that have been offered."""

ITEM_WORDS = 3
"""Words of a packet on a channel: the next router, its queue, and the row of the pool. Of a credit there is one: the
output virtual channel, of those of all nodes."""

LAST, HEAD = range(2)
QUEUE_WORDS = 2
"""Words of a queue: its last packet, -1 less that if there are others, the first of which is behind it then; and the
output virtual channel that the first takes, in front of :data:`SENT_BITS` that say when the queue has sent last."""

EPOCH = 1 << 15
"""Slots that a queue tells from each other, and most queues of a router."""

SENT_BITS, SENT_MASK = 16, 2 * EPOCH - 1
"""When a queue has sent last: ``EPOCH + slot % EPOCH``, or if it was before this epoch, how many queues of the router
have sent before that."""


class Fabric(NamedTuple):
    """What does not change in a run.

    Attributes
    ----------
    address : ndarray of int32, axis (node)
        Packed addresses.
    neighbors : ndarray of int32, axes (node, port)
        The node behind each port, -1 where there is none.
    mirror : ndarray of int32, axis (output virtual channel)
        The queue of the next router that it leads to.
    dead : ndarray of bool, axes (node, port)
        Channels that are dead; of no nodes if none are.
    odd : ndarray of bool, axis (node)
        With cut-through, which routers' slots begin before those of the others; else of no nodes.
    decisions : ndarray of int16, axes (address, address of the destination)
        What the rule decides, in a network that is small; else of none.
    bits : int
        Of a packed address.
    ports : int
        Ports of the network.
    buffers : int
        Packet buffers of injection.
    """

    address: Words
    neighbors: Words
    mirror: Words
    dead: npt.NDArray[np.bool_]
    odd: npt.NDArray[np.bool_]
    decisions: npt.NDArray[np.int16]
    bits: int
    ports: int
    buffers: int


class Phases(NamedTuple):
    """Cycles a slot, and what is done in which of them, see :class:`hdnhw.timing.SlotTiming`.

    From `late` on to the update phase, a terminal takes a tail too late for the next allocation to use its place.
    Injection takes tails in the `injection` phase alone, or the heads of `gapless` packets. The
    kernel counts cycles by slots, at all nodes alike: where those of odd ones begin `offset` cycles before those of the
    others, their cycles are numbered so many higher, and told without.
    """

    length: int
    sample: int
    update: int
    late: int
    ejection_cycles: int
    offset: int
    injection: int
    gapless: bool


class Pauses(NamedTuple):
    """How terminals pause, see :class:`hdnhw.traffic.packets.Terminals`."""

    gap: int
    stall: int
    hold: int


class Pool(NamedTuple):
    """Packets, axes (row, :data:`PACKET_WORDS`), the rows that are free, and their number in an array of one.

    A call takes rows for its arrivals from the end of those that are free; what leaves in it is free after it.
    """

    words: Words
    free: Words
    num_free: Integers


STRAIGHT = -(1 << 31)
"""In place of a node that a packet goes by."""

UNDECIDED = 1 << 30
"""Added to the place of a node of a packet for which a switch is to choose."""

CHOSEN_WORDS = 3
"""Of what a source has chosen last."""


class Valiant(NamedTuple):
    """By which nodes packets go first, with Valiant's routing; of no nodes without.

    Attributes
    ----------
    by : ndarray of int32, axis (row of the pool)
        The place, in the next two, of the node that the packet goes by; -1 less that if it has been there, or
        :data:`STRAIGHT`.
    nodes, targets : ndarray of int32
        Packed addresses of those that are drawn from, and by which packets are routed on their way there: of a switch
        that is one of its terminals.
    room : ndarray of uint8 or uint16, axis (output virtual channel)
        Packet buffers at its end.
    chosen : ndarray of int32, axes (node, :data:`CHOSEN_WORDS`)
        Of the last packet that each source has sent: cycle, destination and `by`; of no nodes if none is sent straight.
    hangs : ndarray of bool, axis (node)
        Whether the node hangs on a switch by its only link: that chooses, as it knows of more channels.
    """

    by: Words
    nodes: Words
    targets: Words
    room: Buffers
    chosen: Words
    hangs: npt.NDArray[np.bool_]


class Adaptive(NamedTuple):
    """By which ports packets may leave the node where they are, with adaptive routing; of no packets without.

    Attributes
    ----------
    nearer : ndarray of int64, axes (row of the pool, word)
        The output virtual channel of the rule, -1 less that until the rest is known: in further words a bit for each
        port behind which the rule has fewer hops left.
    words : int
        Of a packet.
    """

    nearer: Integers
    words: int


class Queues(NamedTuple):
    """Lists of packets.

    Attributes
    ----------
    links : ndarray of int32, axes (node, queue, QUEUE_WORDS)
    present : ndarray of int64, axes (node, word)
        A bit for each queue that holds a packet.
    came : ndarray of int32, axes (node, queue)
        The slot for whose end its last packet could first be granted; of no nodes unless an allocator asks.
    size, words : int
        Queues, and words of `present`, of a node.
    """

    links: Words
    present: Integers
    came: Words
    size: int
    words: int


class Orders(NamedTuple):
    """The slots in which packets were sent last, for allocators that serve whom they have served longest ago.

    Attributes
    ----------
    by_vc : ndarray of int32, axes (node, output virtual channel)
        To it.
    by_input : ndarray of int32, axes (node, output virtual channel, input)
        To it from an input; with matching, from a queue.
    by_output : ndarray of int32, axes (node, input, output)
        With matching, from an input by an output.
    ports : int
        Inputs, and outputs, of a router.
    """

    by_vc: Words
    by_input: Words
    by_output: Words
    ports: int


class Work(NamedTuple):
    """Work space of the allocation of one router.

    Attributes
    ----------
    winner : ndarray of int64, axis (output)
        The offer that wins, -1 if none.
    queue, output_vc : ndarray of int64, axis (offer)
        What may be sent: a queue's first packet that takes an output virtual channel. Then what is sent.
    leader, partner : ndarray of int64, axes (output), (input)
        With matching: the offer that an output grants, and the output that an input accepts, -1 if none.
    """

    winner: Integers
    queue: Integers
    output_vc: Integers
    leader: Integers
    partner: Integers


class Routers(NamedTuple):
    """The packets of a fabric, the routers they are in, and how these allocate.

    Attributes
    ----------
    credits : ndarray of uint8 or uint16, axes (node, output virtual channel)
        Packet buffers at its end that may be sent to.
    several : ndarray of bool, axis (node)
        Whether an input has two virtual channels or more.
    first_vc : int
        Added to the virtual channel of the rule. Those below it are for Valiant's routing on the way to the node that a
        packet goes by, or adaptive.
    vc_bits, lane_bits : int
        Bits of the number of a virtual channel, and of the number of its lane, which are the lowest of them.
    rounds : int
        Rounds of matching: then a queue is a virtual output queue for each output virtual channel. 0 if queues are
        first in, first out.
    early : bool
        Whether the first round is of packets that were there in the slot before.
    """

    pool: Pool
    queues: Queues
    credits: Buffers
    orders: Orders
    work: Work
    several: npt.NDArray[np.bool_]
    first_vc: int
    vc_bits: int
    lane_bits: int
    rounds: int
    early: bool


class Parts(NamedTuple):
    """The parts of the nodes, and those of one thread.

    Attributes
    ----------
    bits : int
        Part p is of the nodes from ``p << bits`` on. A list of nodes of the part has its place there, too.
    number : int
        Of parts.
    begin, end : int
        Those of the thread.
    thread, threads : int
        Its number, and how many there are.
    lengths : ndarray of int64, axes (part, LINE)
        Of the lists of each part, see :data:`BUSY`.
    first : ndarray of int64, axes (thread, part)
        Where a thread's mail for a part begins in that of a slot.
    meetings, gone : ndarray of int64
        How often threads have come to where they wait for each other, and, axes (parity of meetings, thread, LINE), how
        many packets each has seen leave or be dropped.
    """

    bits: int
    number: int
    begin: int
    end: int
    thread: int
    threads: int
    lengths: Integers
    first: Integers
    meetings: Integers
    gone: Integers


class Mail(NamedTuple):
    """What goes from parts to parts, from one slot to a later one.

    Attributes
    ----------
    words : ndarray of int32, axes (slot, channel, word)
        A channel carries one item a slot at most, and there is room for it. A thread's items for a part stand together.
    ends : ndarray of int64, axes (slot, thread, part)
        The item behind the last one from a thread for a part.
    slots : int
        For which there is room: one more than the items take, as what is sent must not fall on what is read.
    room, stride : int
        Items of a slot, and the length of the last axis of `ends`.
    """

    words: Words
    ends: Integers
    slots: int
    room: int
    stride: int


class Credits(NamedTuple):
    """Credits of ejection on their way back to the same part.

    Attributes
    ----------
    place : ndarray of int32, axes (slot, node)
        Lists of output virtual channels, of those of all nodes.
    lengths : ndarray of int64, axes (slot, part, LINE)
    slots : int
    """

    place: Words
    lengths: Integers
    slots: int


class Leaving(NamedTuple):
    """Packets that are ejected in a slot, axis (node): lists of nodes and rows of the pool."""

    node: Words
    packet: Words


class Counters(NamedTuple):
    """What has been counted; of no nodes, nothing is.

    Attributes
    ----------
    sent : ndarray of int64, axes (node, channel, virtual channel)
        Packets sent. Channels are those of the outputs, ejection the last, then injection.
    stalled : ndarray of int64, axes (node, channel)
        Slots in which it carried none though one waited for it.
    held : ndarray of int64, axes (node, queue)
        The sum of the slots in which packets were there when it was allocated, less the number of the first one for
        each packet that still is.
    level : ndarray of int64, axes (node, queue)
        Packets that are there.
    """

    sent: Integers
    stalled: Integers
    held: Integers
    level: Integers


class Sources(NamedTuple):
    """What sends into the fabric, axis (node).

    Attributes
    ----------
    last : ndarray of int32
        The last packet to send, -1 if there is none: behind it in the pool stands the first, behind that the next.
    position : ndarray of int32
        Flits accepted of the first of them. Of gapless packets, which the router has as soon as it has their head, with
        pauses: 1 up to the next injection phase while one comes in.
    occupied : ndarray of int32
        Packet buffers of injection in use.
    busy : ndarray of int32
        Lists of those that have a packet to send.
    dropped : ndarray of int64
        Packets for impossible destinations.
    offering : ndarray of uint8
        With pauses: whether a flit is on offer.
    """

    last: Words
    position: Words
    occupied: Words
    busy: Words
    dropped: Integers
    offering: npt.NDArray[np.uint8]


class Sinks(NamedTuple):
    """What takes packets out of the fabric and may pause.

    Attributes
    ----------
    packet, ready : ndarray, axes (node, place)
        Ejection buffers: the row of the pool, and the cycle from which the head flit can be taken.
    head, level : ndarray of int64, axis (node)
        The place of the first packet, and how many there are.
    taken : ndarray of int64, axis (node)
        Flits taken of the first packet.
    """

    packet: Words
    ready: Integers
    head: Integers
    level: Integers
    taken: Integers


class Arrivals(NamedTuple):
    """Packets when their sources get them to send, sorted by cycle: packed destination, -1 if impossible, and tag."""

    cycle: Integers
    node: Words
    destination: Words
    tag: Words

    @classmethod
    def of(cls, cycle: Any, node: Any, destination: Any, tag: Any) -> "Arrivals":
        """Return packets of columns of any integers."""
        words = (np.ascontiguousarray(column, np.int32) for column in (node, destination, tag))
        return cls(np.ascontiguousarray(cycle, np.int64), *words)


class Offers(NamedTuple):
    """Arrivals by the part of their source: those of part p have the numbers ``order[first[p]:first[p + 1]]``."""

    arrivals: Arrivals
    first: Words
    order: Words


class State(NamedTuple):
    """All of a fabric and its terminals, as a thread has it.

    Attributes
    ----------
    busy : ndarray of int32
        Lists of the routers that hold a packet; that of a part has one place more than the part has nodes.
    freed : ndarray of int32, axis (node)
        Lists of those whose injection buffer has lost a packet in the slot, once for each.
    crossing, returning : Mail
        Packets on channels, and credits of channels between routers.
    ejected : Credits
        Of ejection where sinks never pause; else those that wait for the next allocation.
    generators : ndarray of uint32, axis (node)
        States of the generators of pauses.
    out : ndarray of int32, axes (PACKET_WORDS, packet)
        Packets that have left in a call, of the thread's parts.
    progress : ndarray of int64, axis (LINE)
        Of the thread.
    """

    fabric: Fabric
    phases: Phases
    pauses: Pauses
    parts: Parts
    routers: Routers
    valiant: Valiant
    adaptive: Adaptive
    busy: Words
    crossing: Mail
    returning: Mail
    freed: Words
    leaving: Leaving
    ejected: Credits
    sources: Sources
    sinks: Sinks
    generators: npt.NDArray[np.uint32]
    counters: Counters
    out: Words
    progress: Integers
