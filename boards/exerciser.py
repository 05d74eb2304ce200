"""A fabric with a terminal at every node, and the counts of a test."""

from functools import partial
from typing import Any

from amaranth.hdl import ClockSignal, Module, ResetInserter, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.boards.terminal import Terminal, TrafficKind, balance_width
from hdnhw.rtl.fabric import Fabric
from hdnhw.rtl.part import Part, place
from hdnhw.verilog.fabric import EmittedFabric

COUNT_WIDTH = 28
"""Bits of the counters; a test that is still running when the cycle counter is full is ended."""

EVENTS = ("sent", "received", "misrouted", "corrupted", "dropped")

GROUP = 6
"""Bits that one stage of :class:`Tally` adds."""


class Tally(wiring.Component):
    """A counter of the ones among many bits, in every cycle; pipelined.

    Parameters
    ----------
    inputs : int
        Bits.
    width : int
        Bits of the count, which wraps.

    Members
    -------
    i : In(inputs)
    clear : In(1)
        Set the count to 0; bits on their way are counted after that.
    count : Out(width)
        It holds what came in up to ``latency`` cycles ago.
    """

    def __init__(self, *, inputs: int, width: int) -> None:
        self._inputs, self._width = inputs, width
        super().__init__({"i": In(inputs), "clear": In(1), "count": Out(width)})

    @property
    def latency(self) -> int:
        """Cycles from a bit to the count."""
        stages, terms = 0, self._inputs
        while terms > 1 or not stages:
            stages, terms = stages + 1, -(-terms // GROUP)
        return stages + 1

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        terms: list[Value] = list(self.i)
        for stage in range(self.latency - 1):
            sums = [sum(terms[start : start + GROUP]) for start in range(0, len(terms), GROUP)]
            terms = [Signal(Value.cast(total).shape(), name=f"sum_{stage}_{i}") for i, total in enumerate(sums)]
            m.d.sync += [term.eq(total) for term, total in zip(terms, sums, strict=True)]
        m.d.sync += self.count.eq(self.count + terms[0])
        with m.If(self.clear):
            m.d.sync += self.count.eq(0)
        return m


class Exerciser(wiring.Component):
    """A fabric, its terminals, and the counts of one test at a time.

    A test ends when nothing has moved for `quiet_cycles` cycles, so that lost packets, packets that come twice and a
    fabric that hangs show in the counts; it ends in any case.

    Parameters
    ----------
    fabric : EmittedFabric
        Its Verilog goes beside the design; the module is instantiated by name.
    packets : int
        Packets of the random test, a node.
    quiet_cycles : int
        Must be more than the longest time for which a sound fabric can be silent.

    Members
    -------
    clear : In(1)
        Reset the fabric and the terminals; not during a test.
    start : In(1)
        Begin a test.
    kind : In(TrafficKind)
        Constant from `start` to `done`.
    done : Out(1)
        No test is running; the counts are valid.
    active : Out(1)
        Flits are moving.
    sent, received, misrouted, corrupted, dropped : Out(28)
        Packets of the last test.
    cycles : Out(28)
        From the cycle in which the first flits are offered to the one in which the last is taken.
    passed : Out(1)
        Whether every packet came, or was dropped, as it must.
    """

    def __init__(self, fabric: EmittedFabric, *, packets: int, quiet_cycles: int) -> None:
        machine = fabric.machine
        self._layout, self._flits, self._nodes = machine.address, machine.flits, machine.network.num_nodes
        self._fabric = Part(partial(Fabric, machine), fabric.top, joint="_")
        self._packets, self._quiet_cycles = packets, quiet_cycles
        super().__init__(
            {
                "clear": In(1),
                "start": In(1),
                "kind": In(TrafficKind),
                "done": Out(1),
                "active": Out(1),
                **{count: Out(COUNT_WIDTH) for count in (*EVENTS, "cycles")},
                "passed": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        terminals = [
            Terminal(self._layout, self._flits, node=node, packets=self._packets) for node in range(self._nodes)
        ]
        for node, terminal in enumerate(terminals):
            m.submodules[f"terminal_{node}"] = ResetInserter(self.clear)(terminal)
            m.d.comb += [terminal.start.eq(self.start), terminal.kind.eq(self.kind)]
        self._elaborate_fabric(m, terminals)
        self._elaborate_counts(m, terminals)
        collect = Signal()
        balance = Signal(balance_width(self._flits))
        for terminal, before in zip(terminals, [None, *terminals[:-1]], strict=True):
            m.d.comb += [
                terminal.collect.eq(collect),
                terminal.balance_i.eq(0 if before is None else before.balance_o),
            ]
        busy = Signal()
        m.d.sync += busy.eq(sum(terminal.busy for terminal in terminals) != 0)
        self._elaborate_sequence(m, terminals[-1].balance_o, collect, balance)
        self._elaborate_verdict(m, busy, balance)
        return m

    def _elaborate_fabric(self, m: Module, terminals: list[Terminal]) -> None:
        clocks = {"clk": ClockSignal(), "rst": ResetSignal(allow_reset_less=True) | self.clear}
        members = {
            "inject": [terminal.inject for terminal in terminals],
            "eject": [terminal.eject for terminal in terminals],
            "dropped": [terminal.drops for terminal in terminals],
        }
        place(m, "fabric", self._fabric, members, clocks=clocks, unread=True)

    def _elaborate_counts(self, m: Module, terminals: list[Terminal]) -> None:
        for event in EVENTS:
            m.submodules[event] = tally = Tally(inputs=self._nodes, width=COUNT_WIDTH)
            m.d.comb += [getattr(self, event).eq(tally.count), tally.clear.eq(self.start)]
            m.d.comb += [tally.i[node].eq(getattr(terminal, event)) for node, terminal in enumerate(terminals)]
        m.d.sync += self.active.eq(sum(terminal.active for terminal in terminals) != 0)

    def _elaborate_sequence(self, m: Module, last_balance: Signal, collect: Signal, balance: Signal) -> None:
        """Wait for the end of a test, then add up what the terminals hold."""
        elapsed = Signal(COUNT_WIDTH)
        quiet = Signal(range(self._quiet_cycles + 1))
        left = Signal(range(self._nodes))
        with m.FSM():
            with m.State("idle"):
                m.d.comb += self.done.eq(1)
                with m.If(self.start):
                    # The first flit is offered two cycles after `start`, taken or not, and `active` two after that.
                    m.d.sync += [elapsed.eq(0), quiet.eq(0), self.cycles.eq(0)]
                    m.next = "wait"
            with m.State("wait"):
                m.d.sync += elapsed.eq(elapsed + 1)
                with m.If(self.active):
                    m.d.sync += [self.cycles.eq(elapsed - 2), quiet.eq(0)]
                with m.Else():
                    m.d.sync += quiet.eq(quiet + 1)
                with m.If((quiet == self._quiet_cycles) | elapsed.all()):
                    m.d.sync += [left.eq(self._nodes - 1), balance.eq(0)]
                    m.next = "collect"
            with m.State("collect"):
                m.d.comb += collect.eq(1)
                m.d.sync += [balance.eq(balance + last_balance), left.eq(left - 1)]
                with m.If(left == 0):
                    m.next = "idle"

    def _elaborate_verdict(self, m: Module, busy: Signal, balance: Signal) -> None:
        clean = Signal()
        complete = Signal()
        m.d.comb += [
            clean.eq(~busy & (self.misrouted == 0) & (self.corrupted == 0)),
            complete.eq((self.received == self.sent) & (balance == 0) & (self.dropped == 0)),
        ]
        with m.Switch(self.kind):
            with m.Case(TrafficKind.EXCHANGE):
                m.d.comb += self.passed.eq(clean & complete & (self.sent == self._nodes * (self._nodes - 1)))
            with m.Case(TrafficKind.RANDOM):
                m.d.comb += self.passed.eq(clean & complete & (self.sent == self._nodes * self._packets))
            with m.Case(TrafficKind.IMPOSSIBLE):
                dropped = (self.sent == self._nodes) & (self.dropped == self._nodes) & (self.received == 0)
                m.d.comb += self.passed.eq(clean & dropped)
