"""Endpoints: what may stand at the terminals of a fabric in place of bare streams of flits, one class a kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from hdnhw.spec.options import Choice, Flag, Names, Node, Size, check_options, option

__all__ = [
    "ENDPOINTS",
    "EXCHANGE_ORDERS",
    "OPERATIONS",
    "AxiStreamSpec",
    "CollectiveSpec",
    "EndpointSpec",
    "ExchangeSpec",
    "RelaySpec",
]

OPERATIONS = ("broadcast", "scatter", "allgather", "exchange")
"""Collective operations."""

EXCHANGE_ORDERS = ("paper", "cluster-first")
"""Schedules of a total exchange: the papers' and the one of fewest words, see :mod:`hdnhw.collective.exchange`."""

NO_CRC = "a crc is for fabrics of bare streams: it drops packets, and no endpoints send them again"
NO_DEAD_PINS = "dead pins are for fabrics of bare streams or relays: these endpoints need all that they send to arrive"


@dataclass(frozen=True, kw_only=True)
class EndpointSpec:
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

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, kw_only=True)
class AxiStreamSpec(EndpointSpec):
    """AXI4-Stream endpoints: the terminals of a fabric that carries frames of any length.

    Attributes
    ----------
    max_frame : int
        Bytes of the longest frame, a power of two; longer ones are cut.
    tuser_width : int
        Bits of user data that travel with a frame.
    """

    kind: ClassVar[str] = "axi-stream"
    title: ClassVar[str] = "AXI4-Stream endpoints"

    max_frame: int = option(
        1024,
        Size(
            help="longest frame of AXI4-Stream endpoints",
            metavar="BYTES",
            least=16,
            most=1 << 20,
            unit="bytes",
            power_of_two=True,
        ),
    )
    tuser_width: int = option(
        1, Size(help="bits of user data a frame", metavar="BITS", least=1, most=1024, unit="bits")
    )


@dataclass(frozen=True, kw_only=True)
class CollectiveSpec(EndpointSpec):
    """Collective engines: the terminals of a fabric that runs collective operations by itself.

    Attributes
    ----------
    operations : tuple of str
        Those of :data:`OPERATIONS` that an engine can run, in their order there.
    root : int
        Node number of the only source of a broadcast or scatter.
    order : str
        One of :data:`EXCHANGE_ORDERS`.
    """

    kind: ClassVar[str] = "collective"
    title: ClassVar[str] = "collective engines"

    operations: tuple[str, ...] = option(
        OPERATIONS, Names(help="what collective engines can do", metavar="OP,...", choices=OPERATIONS)
    )
    root: int = option(0, Node(help="root of their broadcast and scatter", metavar="NODE"))
    order: str = option(EXCHANGE_ORDERS[1], Choice(help="schedule of their total exchange", choices=EXCHANGE_ORDERS))


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
        Packets of a class that a relay holds of its own user, and as many of others; a power of two.
    timeout : int
        Cycles after which a request is given up; a power of two.
    """

    kind: ClassVar[str] = "relay"
    title: ClassVar[str] = "relays"
    refuses: ClassVar[Mapping[str, str]] = {"crc": NO_CRC}

    waypoints: int = option(1, Size(help="most waypoints that a packet names to relays", metavar="W", least=1, most=8))
    relay_buffers: int = option(
        4,
        Size(
            help="packets of a class that relays hold, their own and as many of others",
            metavar="S",
            least=1,
            most=64,
            power_of_two=True,
        ),
    )
    timeout: int = option(
        1 << 16,
        Size(
            help="cycles that relays wait for each other",
            metavar="T",
            least=1 << 8,
            most=1 << 24,
            unit="cycles",
            power_of_two=True,
        ),
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

    at_once: bool = option(False, Flag(help="generators send as fast as packets are accepted, by no timetable"))


ENDPOINTS: Mapping[str, type[EndpointSpec]] = {
    spec.kind: spec for spec in (AxiStreamSpec, CollectiveSpec, RelaySpec, ExchangeSpec)
}
"""The kinds of endpoints by their names."""
