"""A fabric that tests itself: the top that boards and the simulation share."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from hdnhw.boards.decimal import DecimalPrinter
from hdnhw.boards.exerciser import COUNT_WIDTH, Exerciser
from hdnhw.boards.pattern import HeadFormat
from hdnhw.boards.script import Count, ScriptPlayer, self_test_script
from hdnhw.boards.uart import UartTransmitter
from hdnhw.machine.machine import Machine
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import EmittedFabric


def default_quiet_cycles(machine: Machine) -> int:
    """Return for how many cycles nothing must have moved before a test is over."""
    return max(4096, 256 * (machine.timing.hop_cycles + machine.longest))


def check_testable(machine: Machine) -> None:
    """Check that a machine can be tested, before any hardware is made.

    Raises
    ------
    SpecError
        If it has one node, a head flit has no room for source and destination, or the top level of the fabric has ports
        that a self-test does not connect.
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


class SelfTest(wiring.Component):
    """A fabric with its traffic, the checks and the report; it runs again and again with other random traffic.

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
    quiet_cycles : int, optional
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
    """

    def __init__(
        self,
        fabric: EmittedFabric,
        *,
        divisor: int,
        packets: int,
        pause_cycles: int,
        quiet_cycles: int | None = None,
        activity_cycles: int = 1,
    ) -> None:
        machine, network = fabric.machine, fabric.machine.network
        sizes = f"{machine.spec.packet_length} flits of {machine.spec.flit_width} bits"
        title = f"{network.spec}, {network.num_nodes} routers, {sizes}"
        script = self_test_script(title, impossible=machine.address.has_holes)
        quiet = quiet_cycles or default_quiet_cycles(machine)
        self._exerciser = Exerciser(fabric, packets=packets, quiet_cycles=quiet)
        self._player = ScriptPlayer(script, pause_cycles=pause_cycles)
        self._uart = UartTransmitter(divisor=divisor)
        self._activity_cycles = activity_cycles
        super().__init__(
            {"tx": Out(1, init=1), "running": Out(1), "passed": Out(1), "failed": Out(1), "active": Out(1)}
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
