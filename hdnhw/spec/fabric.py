"""Machines: what is built on a network."""

from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

from hdnhw.spec.checks import SpecError
from hdnhw.spec.parse import NetworkSpec

__all__ = [
    "CROSSBARS",
    "EXCHANGE_ORDERS",
    "OPERATIONS",
    "QUEUEINGS",
    "AxiStreamSpec",
    "CollectiveSpec",
    "FabricSpec",
    "RelaySpec",
]

CROSSBARS = ("crosspoint", "output")
"""Where the registers of a router's switch traversal stand; the first is the default."""

QUEUEINGS = ("fifo", "voq")
"""In which order packets leave a virtual channel of a router's input; the first is the default."""


OPERATIONS = ("broadcast", "scatter", "allgather", "exchange")
"""Collective operations."""

EXCHANGE_ORDERS = ("paper", "cluster-first")
"""Schedules of a total exchange: the papers' and the one of fewest words, see :mod:`hdnhw.collective.exchange`."""


@dataclass(frozen=True, kw_only=True)
class AxiStreamSpec:
    """AXI4-Stream endpoints: the terminals of a fabric that carries frames of any length.

    Attributes
    ----------
    max_frame : int
        Bytes of the longest frame, a power of two; longer ones are cut.
    tuser_width : int
        Bits of user data that travel with a frame.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a size is out of range.
    """

    max_frame: int = 1024
    tuser_width: int = 1

    def __post_init__(self) -> None:
        longest, user = _size("max frame", self.max_frame), _size("tuser width", self.tuser_width)
        if not 16 <= longest <= 1 << 20 or longest & (longest - 1):
            raise SpecError(f"max frame must be a power of two from 16 to {1 << 20} bytes, not {longest}")
        if not 1 <= user <= 1024:
            raise SpecError(f"tuser width must be 1 to 1024 bits, not {user}")
        object.__setattr__(self, "max_frame", longest)
        object.__setattr__(self, "tuser_width", user)


@dataclass(frozen=True, kw_only=True)
class CollectiveSpec:
    """Collective engines: the terminals of a fabric that runs collective operations by itself.

    Attributes
    ----------
    operations : tuple of str
        Those of :data:`OPERATIONS` that an engine can run, in their order there.
    root : int
        Node number of the only source of a broadcast or scatter.
    order : str
        One of :data:`EXCHANGE_ORDERS`.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If there is no such operation or order, or a root is negative.
    """

    operations: tuple[str, ...] = OPERATIONS
    root: int = 0
    order: str = EXCHANGE_ORDERS[1]

    def __post_init__(self) -> None:
        asked, root = tuple(self.operations), _size("root", self.root)
        if not asked or set(asked) - set(OPERATIONS):
            raise SpecError(f"operations must be some of {', '.join(OPERATIONS)}, not {', '.join(map(repr, asked))}")
        if self.order not in EXCHANGE_ORDERS:
            raise SpecError(f"order must be {' or '.join(EXCHANGE_ORDERS)}, not {self.order!r}")
        if root < 0:
            raise SpecError(f"root must be at least 0, not {root}")
        object.__setattr__(self, "operations", tuple(name for name in OPERATIONS if name in asked))
        object.__setattr__(self, "root", root)


LAPSES = 16
"""Of granted slots, one after the other, that may not be used before those who wait for the next one give up."""


@dataclass(frozen=True, kw_only=True)
class RelaySpec:
    """Relays: the terminals of a fabric whose packets may go by waypoints.

    Attributes
    ----------
    waypoints : int
        Most that a packet names, 1 to 8.
    slots : int
        Packets of a class that a relay holds of its own user, and as many of others; a power of two.
    timeout : int
        Cycles after which a request is given up; a power of two.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a size is out of range.
    """

    waypoints: int = 1
    slots: int = 4
    timeout: int = 1 << 16

    def __post_init__(self) -> None:
        waypoints, slots = _size("waypoints", self.waypoints), _size("slots", self.slots)
        timeout = _size("timeout", self.timeout)
        if not 1 <= waypoints <= 8:
            raise SpecError(f"waypoints must be 1 to 8, not {waypoints}")
        if not 1 <= slots <= 64 or slots & (slots - 1):
            raise SpecError(f"slots must be a power of two from 1 to 64, not {slots}")
        if not 1 << 8 <= timeout <= 1 << 24 or timeout & (timeout - 1):
            raise SpecError(f"timeout must be a power of two from {1 << 8} to {1 << 24} cycles, not {timeout}")
        object.__setattr__(self, "waypoints", waypoints)
        object.__setattr__(self, "slots", slots)
        object.__setattr__(self, "timeout", timeout)

    @property
    def lapse(self) -> int:
        """Cycles after which a slot that was granted and not used is free again."""
        return self.timeout // LAPSES


@dataclass(frozen=True, kw_only=True)
class FabricSpec:
    """One machine on a network.

    Attributes
    ----------
    network : NetworkSpec
    modes : str or None
        One letter a level, from level k down to 1, ``f`` or ``O``; None for the default.
    lanes : int
        Virtual channels of a buffer class, 1 or 2.
    packet_length : int
        Flits a packet, L >= 1.
    flit_width : int
        Bits a flit.
    buffers : int or None
        Packet slots a port, a power of two, shared evenly by its virtual channels, at least one each; None for the
        least with which a port of one virtual channel sustains one flit a cycle.
    crossbar : str
        One of :data:`CROSSBARS`: where the registers of switch traversal stand. Cycles do not depend on it.
    queueing : str
        One of :data:`QUEUEINGS`: whether packets leave a virtual channel first in, first out, or so only among those
        that go the same way, as virtual output queues.
    dead_pins : bool
        Whether routers and channels can be marked dead, by pins.
    crc : bool
        Whether flits have check bits: errors are counted at every channel, and no packet that has one comes out.
    endpoints : AxiStreamSpec, CollectiveSpec, RelaySpec or None
        What stands at the terminals; None for bare streams of flits.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    network: NetworkSpec
    modes: str | None = None
    lanes: int = 1
    packet_length: int = 8
    flit_width: int = 32
    buffers: int | None = None
    crossbar: str = CROSSBARS[0]
    queueing: str = QUEUEINGS[0]
    dead_pins: bool = False
    crc: bool = False
    endpoints: AxiStreamSpec | CollectiveSpec | RelaySpec | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, NetworkSpec):
            raise TypeError(f"network must be a network spec such as parse(...) returns, not {self.network!r}")
        if self.modes is not None and not isinstance(self.modes, str):
            raise TypeError(f"modes must be a string or None, not {self.modes!r}")
        for what, choice, allowed in (
            ("crossbar", self.crossbar, CROSSBARS),
            ("queueing", self.queueing, QUEUEINGS),
        ):
            if choice not in allowed:
                raise SpecError(f"{what} must be {' or '.join(allowed)}, not {choice!r}")
        for what, there in (("dead pins", self.dead_pins), ("crc", self.crc)):
            if not isinstance(there, bool):
                raise TypeError(f"{what} must be True or False, not {there!r}")
        if self.endpoints is not None and not isinstance(self.endpoints, AxiStreamSpec | CollectiveSpec | RelaySpec):
            raise TypeError(
                f"endpoints must be an AxiStreamSpec, a CollectiveSpec, a RelaySpec or None, not {self.endpoints!r}"
            )
        if self.dead_pins and isinstance(self.endpoints, AxiStreamSpec | CollectiveSpec):
            raise SpecError(
                "dead pins are for fabrics of bare streams or relays: these endpoints need all that they send to arrive"
            )
        if self.crc and self.endpoints is not None:
            raise SpecError("a crc is for fabrics of bare streams: it drops packets, and no endpoints send them again")
        length, width = _size("packet length", self.packet_length), _size("flit width", self.flit_width)
        if not 1 <= length <= 256:
            raise SpecError(f"packet length must be 1 to 256 flits, not {length}")
        if not 1 <= width <= 1024:
            raise SpecError(f"flit width must be 1 to 1024 bits, not {width}")
        slots = None if self.buffers is None else _size("buffers", self.buffers)
        if slots is not None and (not 1 <= slots <= 256 or slots & (slots - 1)):
            raise SpecError(f"buffers must be a power of two from 1 to 256 packets a port, not {slots}")
        for name, value in (
            ("lanes", _size("lanes", self.lanes)),
            ("packet_length", length),
            ("flit_width", width),
            ("buffers", slots),
        ):
            object.__setattr__(self, name, value)


def _size(what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    return index(value)
