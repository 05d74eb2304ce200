"""A fabric that tests itself: the top that boards and the simulation share."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from hdnhw.boards.decimal import DecimalPrinter
from hdnhw.boards.exerciser import COUNT_WIDTH, Exerciser, Side
from hdnhw.boards.pattern import HeadFormat
from hdnhw.boards.script import Count, ScriptPlayer, self_test_script
from hdnhw.boards.uart import UartTransmitter
from hdnhw.machine.chips import lay_chips
from hdnhw.machine.machine import Machine
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.verilog.fabric import ONE_CHIP, EmittedFabric

SIDES = (0, 1)
"""The chips of a network on two boards."""

LINK_QUIET_CYCLES = 1 << 17
"""Cycles without a flit before a test on two boards is over: more than a link takes to send again what was lost."""


def default_quiet_cycles(machine: Machine, *, linked: bool = False) -> int:
    """Return for how many cycles nothing must have moved before a test is over, on one board or two that are linked."""
    return max(LINK_QUIET_CYCLES if linked else 4096, 256 * (machine.timing.hop_cycles + machine.longest))


def check_testable(machine: Machine, cut: ChipOptions = ONE_CHIP) -> None:
    """Check that a machine can be tested, before any hardware is made.

    Raises
    ------
    SpecError
        If it has one node, a head flit has no room for source and destination, the top level of the fabric has ports
        that a self-test does not connect, or it is cut into more than two chips, or their link is no pins.
    """
    network = machine.network
    if network.num_nodes < 2:
        raise SpecError(f"a self-test must have at least 2 nodes; {network.spec} has {network.num_nodes}")
    for name, value in machine.options(pins=True).items():
        if value:
            raise SpecError(f"a self-test connects nothing but streams: --{name.replace('_', '-')} is not for boards")
    if machine.spec.endpoints is not None:
        raise SpecError(f"a self-test connects nothing but streams: {machine.spec.endpoints.title} are not for boards")
    HeadFormat(machine.flits)
    if cut.chips is None:
        return
    if cut.link != "parallel":
        raise SpecError(f"{named('link')} must be parallel on boards, which have pins, not {cut.link}")
    count = lay_chips(network, cut.chips).num_chips
    if count != len(SIDES):
        raise SpecError(f"{named('chips', cut.chips)} must cut {network.spec} in two, a chip for a board, not {count}")


class SelfTest(wiring.Component):
    """A fabric with its traffic, the checks and the report; it runs again and again with other random traffic.

    On one of two boards it runs once, as a board that begins anew loses packets of the other one.

    Parameters
    ----------
    fabric : EmittedFabric
        One that :func:`check_testable` accepts.
    divisor : int
        Cycles a bit on the serial line.
    packets : int
        Packets of the random test, a node.
    pause_cycles : int
        Cycles between two runs.
    side : Side, optional
        See :class:`hdnhw.boards.exerciser.Exerciser`.
    activity_cycles : int
        Cycles for which `active` stays after the last flit.

    Members
    -------
    tx : Out(1)
        Serial line, 8N1: the report.
    running : Out(1)
        A run is under way, or its report is.
    passed : Out(1)
        The last complete run has passed.
    failed : Out(1)
        Some run since power-up has failed.
    active : Out(1)
        Flits are moving, or did a moment ago.
    link : Out(Signature)
        The pins of the link to the other board, if there is one.
    """

    def __init__(
        self,
        fabric: EmittedFabric,
        *,
        divisor: int,
        packets: int,
        pause_cycles: int,
        side: Side | None = None,
        activity_cycles: int = 1,
    ) -> None:
        machine, network = fabric.machine, fabric.machine.network
        sizes = f"{machine.spec.packet_length} flits of {machine.spec.flit_width} bits"
        where = "" if side is None else f"board {side.chip} of {len(SIDES)}, "
        title = f"{network.spec}, {network.num_nodes} routers, {where}{sizes}"
        script = self_test_script(title, impossible=machine.address.has_holes, linked=side is not None)
        quiet = default_quiet_cycles(machine, linked=side is not None)
        self._exerciser = Exerciser(fabric, packets=packets, quiet_cycles=quiet, side=side)
        self._player = ScriptPlayer(script, pause_cycles=pause_cycles if side is None else None)
        self._uart = UartTransmitter(divisor=divisor)
        self._activity_cycles = activity_cycles
        own = {name: member for name, member in self._exerciser.signature.members.items() if name == "link"}
        super().__init__(
            {"tx": Out(1, init=1), "running": Out(1), "passed": Out(1), "failed": Out(1), "active": Out(1), **own}
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.exerciser = exerciser = self._exerciser
        m.submodules.player = player = self._player
        m.submodules.uart = uart = self._uart
        m.d.comb += [
            exerciser.clear.eq(player.clear),
            exerciser.start.eq(player.start),
            exerciser.kind.eq(player.kind),
            player.done.eq(exerciser.done),
            player.passed.eq(exerciser.passed),
            self.tx.eq(uart.o),
        ]
        if "link" in self.signature.members:
            connect(m, flipped(self.link), exerciser.link)
        self._elaborate_printing(m)
        self._elaborate_lights(m)
        return m

    def _elaborate_printing(self, m: Module) -> None:
        """Send characters and digits to the serial line; the player waits while there are digits."""
        exerciser, player, uart = self._exerciser, self._player, self._uart
        m.submodules.decimal = decimal = DecimalPrinter(width=COUNT_WIDTH)
        numbers = {count: getattr(exerciser, count.name.lower(), None) for count in Count}
        lost = Mux(exerciser.sent > exerciser.received, (exerciser.sent - exerciser.received)[:COUNT_WIDTH], 0)
        numbers |= {Count.LOST: lost, Count.RUN: player.run}
        numbers = {count: value for count, value in numbers.items() if value is not None}
        with m.Switch(player.number.payload):
            for count, value in numbers.items():
                with m.Case(count):
                    m.d.comb += decimal.i.payload.eq(value)
        m.d.comb += [
            decimal.i.valid.eq(player.number.valid),
            player.number.ready.eq(decimal.i.ready),
            player.printing.eq(~decimal.i.ready),
        ]
        with m.If(player.printing):
            m.d.comb += [
                uart.i.valid.eq(decimal.o.valid),
                uart.i.payload.eq(decimal.o.payload),
                decimal.o.ready.eq(uart.i.ready),
            ]
        with m.Else():
            m.d.comb += [
                uart.i.valid.eq(player.text.valid),
                uart.i.payload.eq(player.text.payload),
                player.text.ready.eq(uart.i.ready),
            ]

    def _elaborate_lights(self, m: Module) -> None:
        player = self._player
        left = Signal(range(self._activity_cycles + 1))
        with m.If(self._exerciser.active):
            m.d.sync += left.eq(self._activity_cycles)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        m.d.comb += [self.running.eq(~player.pausing), self.active.eq(left != 0)]
        with m.If(player.pausing):
            m.d.sync += [self.passed.eq(~player.failed), self.failed.eq(self.failed | player.failed)]
