"""Machines: what is built on a network."""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

from hdnhw.endpoints import declared
from hdnhw.spec.endpoints import EndpointSpec
from hdnhw.spec.network import NetworkSpec
from hdnhw.spec.options import Choice, Flag, PerChannel, Size, Text, check_options, option, options_of
from hdnhw.support.errors import SpecError

CROSSBARS = ("crosspoint", "output")
"""Where the registers of a router's switch traversal stand; the first is the default."""

QUEUEINGS = ("fifo", "voq")
"""In which order packets leave a virtual channel of a router's input; the first is the default."""

SWITCHINGS = ("store-and-forward", "cut-through")
"""When a packet leaves a router: once all of it is there, or while it still comes; the first is the default."""

MOST_BUFFERS = 256
"""Packet buffers of a port."""

MOST_WIDTH = 1024
"""Bits of a flit."""

MOST_RESET_REGISTERS = 16
"""Between the reset pin and a router."""

RAMS = ("auto", "distributed", "block")
"""Which RAM packet buffers are in; the first is the default."""


@dataclass(frozen=True, kw_only=True)
class FabricSpec:
    """One machine on a network.

    Attributes
    ----------
    network : NetworkSpec
    modes : str or None
        One letter a level, from level k down to 1, ``f`` or ``O``; None for the default. See
        :func:`hdnhw.rules.schemes.fabric_plan`.
    lanes : int
        Virtual channels of a buffer class, 1 or 2.
    packet_length : int
        Flits a packet, L >= 1.
    flit_width : int
        Bits a flit.
    buffers : int or None
        Packet buffers per port, a power of two, shared evenly by its virtual channels, at least one each; None for the
        least with which each virtual channel sustains one flit per cycle, four at least for packets of eight flits or
        more.
    crossbar : str
        One of :data:`CROSSBARS`: where the registers of switch traversal stand. Cycles do not depend on it.
    queueing : str
        One of :data:`QUEUEINGS`: whether packets leave a virtual channel first in, first out, or so only among those
        that go the same way, as virtual output queues.
    switching : str
        One of :data:`SWITCHINGS`: whether a packet leaves a router once all of it is there, or while it still comes.
    channel_latency : str
        Cycles that the wires of channels are given, 1 for one without registers of its own; as
        :class:`hdnhw.spec.options.PerChannel` says.
    channel_width : str or None
        Wires for the flits of each channel, in bits, likewise; None for as many as a flit has bits.
    reset_registers : int
        Registers between the reset pin and each router.
    ram : str
        One of :data:`RAMS`: which RAM packet buffers are in. Cycles do not depend on it.
    dead_pins : bool
        Whether routers and channels can be marked dead, by pins.
    crc : bool
        Whether flits have check bits: errors are counted at every channel, and no packet that has one comes out.
    gapless_packets : bool
        Whether sources promise to send the flits of a packet in consecutive cycles: then routers allocate it when its
        head flit comes, and not when its tail does. Packets that break the promise are counted.
    monitor : bool
        Whether routers count what they do, to be read while they run.
    endpoints : EndpointSpec or None
        What stands at the terminals; None for bare streams of flits.

    Raises
    ------
    TypeError
        If a member is of another type.
    SpecError
        If a member is out of range.
    """

    network: NetworkSpec
    modes: str | None = option(
        None,
        Text,
        "one letter a level, level k first: f or O; default O..Of; of tables layers (default), updown or "
        "hops; under a load of the model also valiant, ugal or adaptive, alone or before :MODES",
        metavar="MODES",
        routes=True,
        timed=True,
    )
    lanes: int = option(
        1, Size, "virtual channels per class", metavar="N", least=1, most=2, routes=True, timed=True, drawn=(1, 2)
    )
    packet_length: int = option(8, Size, "flits per packet", metavar="L", least=1, most=256, unit="flits", timed=True)
    flit_width: int = option(32, Size, "bits per flit", metavar="W", least=1, most=MOST_WIDTH, unit="bits")
    buffers: int | None = option(
        None,
        Size,
        "packet buffers per port, shared by its virtual channels, a power of two",
        metavar="B",
        least=1,
        most=MOST_BUFFERS,
        unit="packets per port",
        power_of_two=True,
        timed=True,
        drawn=(1, 2, 4, 8),
    )
    crossbar: str = option(
        CROSSBARS[0],
        Choice,
        "where its registers stand: at the crosspoints, for the least logic on ECP5, or at the outputs, for "
        "the fewest flip-flops and the fastest place-and-route",
        choices=CROSSBARS,
    )
    queueing: str = option(
        QUEUEINGS[0],
        Choice,
        "how packets leave a virtual channel: first in, first out, for the least logic, or as virtual output "
        "queues, for the most throughput; worth it from four packet buffers per virtual channel",
        choices=QUEUEINGS,
        timed=True,
    )
    switching: str = option(
        SWITCHINGS[0],
        Choice,
        "when a packet leaves a router: once all of it is there, or while it still comes, in half the time a "
        "hop; cut-through needs a network without odd cycles and packets of an even number of flits, 8 or more",
        choices=SWITCHINGS,
        timed=True,
    )
    channel_latency: str = option(
        "1",
        PerChannel,
        "cycles of the wires of each channel, or by type, as cross1=20,dim*=2: registers for long wires",
        metavar="D",
        least=1,
        most=1024,
        unit="cycles",
        timed=True,
    )
    channel_width: str | None = option(
        None,
        PerChannel,
        "wires of each channel for its flits, or by type, as cross1=8: a flit takes several cycles over fewer wires "
        "than it has bits, and packets queue in front of them; default: as many as bits",
        metavar="W",
        least=1,
        most=MOST_WIDTH,
        unit="bits",
        timed=True,
    )
    reset_registers: int = option(
        0,
        Size,
        "registers between the reset pin and each router, for large chips; all leave reset as many cycles later",
        metavar="N",
        least=0,
        most=MOST_RESET_REGISTERS,
        unit="registers",
        drawn=(0, 1, 3),
    )
    ram: str = option(
        RAMS[0],
        Choice,
        "which RAM its packet buffers are in: block RAM, or distributed RAM, made of "
        "lookup tables; auto is block RAM from four packet buffers of eight flits on, if the device has enough",
        choices=RAMS,
    )
    dead_pins: bool = option(False, Flag, "with pins that mark routers and channels dead", pins=True)
    crc: bool = option(
        False,
        Flag,
        "with check bits: errors are counted at every channel, and no packet that has one comes out",
        timed=True,
        pins=True,
    )
    gapless_packets: bool = option(
        False,
        Flag,
        "sources send the flits of a packet in consecutive cycles, and routers send it on when its head flit "
        "comes; packets that pause inside are counted",
        timed=True,
        pins=True,
    )
    monitor: bool = option(
        False,
        Flag,
        "with counters of channels and queues in each router, read by AXI4-Lite while the fabric runs",
        pins=True,
    )
    endpoints: EndpointSpec | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, NetworkSpec):
            raise TypeError(f"network must be a network spec such as parse(...) returns, not {self.network!r}")
        check_options(self)
        if self.endpoints is None:
            return
        kinds = declared("spec").values()
        if type(self.endpoints) not in kinds:
            names = ", ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"endpoints must be {names} or None, not {self.endpoints!r}")
        for name, why in self.endpoints.refuses.items():
            if getattr(self, name):
                raise SpecError(why)

    @property
    def timed(self) -> Self:
        """The machine with defaults for all on which no cycle depends: packets come out of both in the same cycles."""
        untimed = options_of(self, timed=False)
        defaults: dict[str, Any] = {member.name: member.default for member in fields(self) if member.name in untimed}
        if self.channel_width is not None:  # how long a flit takes depends on its bits
            defaults["flit_width"] = self.flit_width
        return replace(self, **defaults, endpoints=None)
