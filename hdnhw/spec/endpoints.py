"""Endpoints: what may stand at the terminals of a fabric in place of bare streams of flits, one class a kind."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from hdnhw.spec.options import Choice, Flag, Kind, Names, Node, Options, Size, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named

MOVING = ("broadcast", "scatter", "allgather", "exchange")
"""Collective operations that move messages from where they are; what engines run if nothing is said."""

JOIN, MULTICAST = "join", "multicast"
"""Of the first one each node says whether it is a member of the group that the second one brings a message to."""

OPERATIONS = (*MOVING, "reduce", "reducescatter", "gather", "allreduce", JOIN, MULTICAST)
"""Collective operations that go by a schedule of messages."""

BARRIER = "barrier"
"""The operation that ends at no node before all have begun it."""

ENGINE_OPERATIONS = (*OPERATIONS, BARRIER)
"""What collective engines can do."""

REGISTER_OPERATIONS = ("allreduce-short", "scan", "exscan")
"""Collective operations on one packet of each node, in registers: the first is an all-reduce."""

OPERATORS = ("sum", "min", "max", "and", "or", "xor")
"""What makes one number of two."""

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
"""Numbers that engines combine; sums wrap around, and ``min`` and ``max`` look at the sign of those that have one."""

MOST_MESSAGE_PACKETS = 256
"""Packets of a message of collective engines, at most."""

EXCHANGE_ORDERS = ("paper", "cluster-first")
"""Schedules of a total exchange: the papers' and the one of fewest words, see :mod:`hdnhw.collectives.exchange`."""

TUSERS = ("first", "last")
"""The transfer of a frame that says its user data."""

NO_CRC = "a crc is for fabrics of bare streams: it drops packets, and no endpoints send them again"
NO_GAPLESS = (
    "gapless packets are for sources that hold a whole packet before they send it, which these endpoints do not"
)
NO_DEAD_PINS = "dead pins are for fabrics of bare streams or relays: these endpoints need all that they send to arrive"


@dataclass(frozen=True, kw_only=True)
class EndpointSpec(Options):
    """Base of the kinds of endpoints, which are listed in :data:`ENDPOINTS`.

    Attributes
    ----------
    kind : str
        Name of the kind, on the command line and in manifests.
    title : str
        What such endpoints are called in messages.
    refuses : mapping of str to str
        Options of a machine that do not go with such endpoints -> why, as an error says it.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    refuses: ClassVar[Mapping[str, str]] = {"dead_pins": NO_DEAD_PINS, "crc": NO_CRC}


@dataclass(frozen=True, kw_only=True)
class AxiStreamSpec(EndpointSpec):
    """AXI4-Stream endpoints: the terminals of a fabric that carries frames of any length.

    Attributes
    ----------
    max_frame : int
        Bytes of the longest frame, a power of two; longer ones are cut.
    tuser_width : int
        Bits of user data that travel with a frame.
    tuser : str
        The transfer of a frame whose user data counts, one of :data:`TUSERS`.
    prompt_packets : int or None
        Packets of the longest frame that is sent without a grant; None for as many as there is memory for.
    """

    kind: ClassVar[str] = "axi-stream"
    title: ClassVar[str] = "AXI4-Stream endpoints"
    refuses: ClassVar[Mapping[str, str]] = {**EndpointSpec.refuses, "gapless_packets": NO_GAPLESS}

    max_frame: int = option(
        1024,
        Size,
        "longest frame of AXI4-Stream endpoints",
        metavar="BYTES",
        least=16,
        most=1 << 20,
        unit="bytes",
        power_of_two=True,
    )
    tuser_width: int = option(1, Size, "bits of user data a frame", metavar="BITS", least=1, most=1024, unit="bits")
    tuser: str = option(TUSERS[0], Choice, "transfer of a frame in which its user data is read", choices=TUSERS)
    prompt_packets: int | None = option(
        None,
        Size,
        "packets of the longest frame that is sent without a grant (default: what memory allows)",
        metavar="S",
        least=2,
        most=256,
        unit="packets",
    )


@dataclass(frozen=True, kw_only=True)
class AxiMemorySpec(EndpointSpec):
    """AXI4 endpoints: the terminals of a fabric between managers and memories.

    Attributes
    ----------
    memory_bits : int
        Address bits of a node's memory; those above name the node.
    id_width : int
        Bits of the IDs of managers.
    outstanding : int
        Packets of writes, and as many of reads, that a node has under way; a power of two.
    """

    kind: ClassVar[str] = "axi4"
    title: ClassVar[str] = "AXI4 endpoints"

    memory_bits: int = option(
        22, Size, "address bits of a node's memory", metavar="BITS", least=12, most=48, unit="bits"
    )
    id_width: int = option(4, Size, "bits of the IDs of AXI4 managers", metavar="BITS", least=1, most=16, unit="bits")
    outstanding: int = option(
        4,
        Size,
        "packets of writes, and as many of reads, that a node has under way",
        metavar="K",
        least=1,
        most=16,
        power_of_two=True,
    )


@dataclass(frozen=True, kw_only=True)
class CollectiveSpec(EndpointSpec):
    """Collective engines: the terminals of a fabric that runs collective operations by itself.

    Attributes
    ----------
    operations : tuple of str
        Those of :data:`ENGINE_OPERATIONS`, and behind them of :data:`REGISTER_OPERATIONS`, that an engine can run, in
        their order there; some other than a barrier. A join and a multicast come together.
    root : int
        Node number of the only source of a broadcast, multicast or scatter, and of the only destination of a reduce or
        gather.
    order : str
        One of :data:`EXCHANGE_ORDERS`.
    operators : tuple of str
        Those of :data:`OPERATORS` that a host may choose from where messages are combined, in their order there.
    numbers : str
        One of :data:`INTEGERS`: what a flit is made of where messages are combined.
    message_packets : int
        Packets of a message, 1 to 256; a vector of :data:`REGISTER_OPERATIONS` is one packet, and it is 1 with these
        alone.
    variable_messages : bool
        Whether messages have from none to so many packets: a flit in front of each of the node's own says how many.
    """

    kind: ClassVar[str] = "collective"
    title: ClassVar[str] = "collective engines"

    operations: tuple[str, ...] = option(
        MOVING,
        Names,
        "what collective engines can do, or all for what they can on the network",
        metavar="OP,...",
        choices=(*ENGINE_OPERATIONS, *REGISTER_OPERATIONS),
    )
    root: int = option(0, Node, "root of their broadcast, multicast, scatter, reduce and gather", metavar="NODE")
    order: str = option(EXCHANGE_ORDERS[1], Choice, "schedule of their total exchange", choices=EXCHANGE_ORDERS)
    operators: tuple[str, ...] = option(
        OPERATORS[:1], Names, "how their reductions combine numbers, or all", metavar="OP,...", choices=OPERATORS
    )
    numbers: str = option("int32", Choice, "numbers that their reductions combine", choices=INTEGERS)
    message_packets: int = option(
        1,
        Size,
        "packets of each of their messages",
        metavar="M",
        least=1,
        most=MOST_MESSAGE_PACKETS,
        unit="packets",
    )
    variable_messages: bool = option(
        False, Flag, "messages of theirs have from none to M packets, as a flit in front of each one says"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not {JOIN, MULTICAST}.isdisjoint(self.operations):
            asked = {*self.operations, JOIN, MULTICAST}
            both = tuple(name for name in (*ENGINE_OPERATIONS, *REGISTER_OPERATIONS) if name in asked)
            object.__setattr__(self, "operations", both)
        if self.operations == (BARRIER,):
            raise SpecError(
                f"operations must have one that sends packets beside {BARRIER}: without packets an engine has nothing "
                "to send through the fabric"
            )
        if set(self.operations).isdisjoint(OPERATIONS) and self.message_packets > 1:
            raise SpecError(
                f"{named('message_packets')} must be 1 for {', '.join(REGISTER_OPERATIONS)}, not "
                f"{self.message_packets}: a vector "
                "is one packet there"
            )
        if set(self.operations).isdisjoint(OPERATIONS) and self.variable_messages:
            raise SpecError(
                f"{named('variable_messages')} must be left out for {', '.join(REGISTER_OPERATIONS)}: a vector is "
                f"one packet there"
            )

    @property
    def in_registers(self) -> bool:
        """Whether the operations are those of register machines alone."""
        return set(self.operations) <= set(REGISTER_OPERATIONS)

    @property
    def is_joint(self) -> bool:
        """Whether engines are joined: one in registers, and one that moves messages, or a barrier, or both."""
        return not self.in_registers and not set(self.operations).isdisjoint(REGISTER_OPERATIONS)

    @property
    def parts(self) -> "tuple[CollectiveSpec, ...]":
        """The engines that move packets, each by itself: two of joint ones that also move messages, else one."""
        if not self.is_joint:
            return (self,)
        kinds = [tuple(name for name in kind if name in self.operations) for kind in (OPERATIONS, REGISTER_OPERATIONS)]
        moving, vectors = kinds
        parts = (
            replace(self, operations=moving) if moving else None,
            replace(self, operations=vectors, message_packets=1, variable_messages=False),
        )
        return tuple(part for part in parts if part is not None)


LAPSES = 16
"""Of granted buffers, one after the other, that may not be used before those who wait for the next one give up."""


@dataclass(frozen=True, kw_only=True)
class RelaySpec(EndpointSpec):
    """Relays: the terminals of a fabric whose packets may go by waypoints.

    Attributes
    ----------
    waypoints : int
        Most that a packet names, 1 to 8.
    relay_buffers : int
        Packets of a queue that a relay holds of its own user, and as many of others; a power of two.
    relay_queues : int
        Queues of a class, each with a request of its own; a power of two.
    timeout : int
        Cycles after which a request is given up; a power of two.
    """

    kind: ClassVar[str] = "relay"
    title: ClassVar[str] = "relays"
    refuses: ClassVar[Mapping[str, str]] = {
        "crc": NO_CRC,
        "gapless_packets": "gapless packets do not go with relays: what relays do is timed by the flits that are "
        "accepted",
    }

    waypoints: int = option(1, Size, "maximum number of waypoints per packet, at relays", metavar="W", least=1, most=8)
    relay_buffers: int = option(
        8,
        Size,
        "packets of a queue that relays hold, their own and as many of others",
        metavar="S",
        least=1,
        most=64,
        power_of_two=True,
    )
    relay_queues: int = option(
        2,
        Size,
        "queues in which packets of a class wait at relays, each of which asks for itself",
        metavar="K",
        least=1,
        most=8,
        power_of_two=True,
    )
    timeout: int = option(
        1 << 16,
        Size,
        "cycles that relays wait for each other",
        metavar="T",
        least=1 << 8,
        most=1 << 24,
        unit="cycles",
        power_of_two=True,
    )

    @property
    def lapse(self) -> int:
        """Cycles after which a buffer that was granted and not used is free again."""
        return self.timeout // LAPSES


@dataclass(frozen=True, kw_only=True)
class ExchangeSpec(EndpointSpec):
    """Generators: the terminals of a fabric that runs a total exchange by itself and checks what arrives.

    Attributes
    ----------
    at_once : bool
        Whether every node sends its packets as fast as they are accepted; otherwise they start by a timetable, the same
        at all nodes, see :func:`hdnhw.traffic.exchange.broadcast_slots`.
    """

    kind: ClassVar[str] = "exchange"
    title: ClassVar[str] = "generators of a total exchange"

    at_once: bool = option(False, Flag, "generators send as fast as packets are accepted, by no timetable")


ENDPOINTS: Mapping[str, type[EndpointSpec]] = {
    spec.kind: spec for spec in (AxiStreamSpec, AxiMemorySpec, CollectiveSpec, RelaySpec, ExchangeSpec)
}
"""The kinds of endpoints by their names."""


@dataclass(frozen=True, kw_only=True)
class TerminalOptions(Options):
    """Options of commands about a fabric with or without endpoints."""

    endpoints: str | EndpointSpec | None = option(None, Kind, "what stands at the terminals", choices=tuple(ENDPOINTS))
