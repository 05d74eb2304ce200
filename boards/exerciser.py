"""A fabric with a terminal at every node, and the counts of a test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth.hdl import ClockSignal, Const, Module, ResetInserter, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdnhw.boards.terminal import Terminal, TrafficKind, balance_width
from hdnhw.machine.flit import FlitFormat
from hdnhw.rtl.bridge.bridge import COUNTER_WIDTH, COUNTS
from hdnhw.rtl.bridge.parallel import pins_of
from hdnhw.rtl.fabric import Fabric
from hdnhw.rtl.part import Part, place
from hdnhw.topology.address import AddressLayout
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


@dataclass(frozen=True)
class Side:
    """What is on one of two boards that share a network.

    Attributes
    ----------
    chip : int
        Of the two chips that the network is cut into.
    patience_cycles : int
        Cycles for which a test waits for the link, from power-up on.
    """

    chip: int
    patience_cycles: int


def due_balance(layout: AddressLayout, flits: FlitFormat, nodes: Sequence[int]) -> int:
    """Return what is left of the heads that some nodes send in a total exchange less those that come to them.

    Each step of the exchange takes as many packets to other nodes as from them, with the same sequence number: what
    differs is destinations and sources. Modulo a power of two, see :func:`balance_width`.
    """
    addresses = [int(layout.of_node(node)) for node in range(layout.network.num_nodes)]
    here = sum(addresses[node] for node in nodes)
    others = len(addresses) - len(nodes)
    difference = len(nodes) * (sum(addresses) - here) - others * here
    return difference * (1 - (1 << layout.width)) % (1 << balance_width(flits))


class Exerciser(wiring.Component):
    """A fabric, its terminals, and the counts of one test at a time.

    A test ends when nothing has moved for `quiet_cycles` cycles, so that lost packets, packets that come twice and a
    fabric that hangs show in the counts; it ends in any case.

    On one of two boards there is one test, a total exchange. It begins as soon as the link is up, and nothing that came
    before is forgotten: the other board may have begun sooner.

    Parameters
    ----------
    fabric : EmittedFabric
        Its Verilog goes beside the design; the module is instantiated by name.
    packets : int
        Packets of the random test, a node.
    quiet_cycles : int
        Must be more than the longest time for which a sound fabric can be silent.
    side : Side, optional
        Which part of the network is here; all of it by default.

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
    link : Out(Signature)
        The pins of the link to the other board, if there is one.
    link_damaged, link_resent, link_lost : Out(28)
        Likewise, what the link counts.
    """

    def __init__(self, fabric: EmittedFabric, *, packets: int, quiet_cycles: int, side: Side | None = None) -> None:
        machine, chips = fabric.machine, fabric.chips
        self._layout, self._flits = machine.address, machine.flits
        self._packets, self._quiet_cycles, self._side = packets, quiet_cycles, side
        own: dict[str, Any] = {}
        self._nodes = list(range(machine.network.num_nodes))
        make: Callable[[], Any] = partial(Fabric, machine)
        if side is not None and chips is not None:
            self._nodes, make = chips.chips.nodes[side.chip].tolist(), chips.pinned
            self._chip = Const(chips.chips.chip_number(side.chip), len(chips.chips.chip_bits))
            own = {"link": Out(wiring.Signature(pins_of(chips.cut.link_width)))}
            own |= {f"link_{name}": Out(COUNT_WIDTH) for name in COUNTS}
        self._fabric = Part(make, fabric.top, joint="_")
        super().__init__(
            {
                **own,
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
        terminals = [Terminal(self._layout, self._flits, node=node, packets=self._packets) for node in self._nodes]
        waits, begins = Signal(), Signal()
        forgets = self.start if self._side is None else Const(0, 1)
        for node, terminal in enumerate(terminals):
            m.submodules[f"terminal_{node}"] = ResetInserter(self.clear)(terminal)
            m.d.comb += [terminal.start.eq(begins), terminal.kind.eq(self.kind), terminal.forget.eq(forgets)]
        is_up = self._elaborate_fabric(m, terminals)
        self._elaborate_begin(m, is_up, waits, begins)
        self._elaborate_counts(m, terminals, forgets)
        collect = Signal()
        balance = Signal(balance_width(self._flits))
        for terminal, before in zip(terminals, [None, *terminals[:-1]], strict=True):
            m.d.comb += [
                terminal.collect.eq(collect),
                terminal.balance_i.eq(0 if before is None else before.balance_o),
            ]
        busy = Signal()
        m.d.sync += busy.eq(sum(terminal.busy for terminal in terminals) != 0)
        self._elaborate_sequence(m, waits, begins, terminals[-1].balance_o, collect, balance)
        self._elaborate_verdict(m, busy, balance)
        return m

    def _elaborate_fabric(self, m: Module, terminals: list[Terminal]) -> Value:
        """Join fabric and terminals; return whether the link is up, if there is one."""
        clocks: dict[str, Value] = {"clk": ClockSignal(), "rst": ResetSignal(allow_reset_less=True) | self.clear}
        members: dict[str, Any] = {
            "inject": [terminal.inject for terminal in terminals],
            "eject": [terminal.eject for terminal in terminals],
            "dropped": [terminal.drops for terminal in terminals],
        }
        is_up, link = Signal(), {}
        if self._side is not None:
            link = {path[0]: value for path, _, value in self.link.signature.flatten(self.link)}
            link |= {name: Signal(COUNTER_WIDTH, name=f"link_{name}") for name in COUNTS}
            members |= {"chip": self._chip, "wire_clk": ClockSignal(), "link": [{"up": is_up, **link}], **clocks}
            m.d.comb += [getattr(self, f"link_{name}").eq(link[name]) for name in COUNTS]
            clocks = {}
        place(m, "fabric", self._fabric, members, clocks=clocks, unread=True)
        return is_up

    def _elaborate_begin(self, m: Module, is_up: Value, waits: Signal, begins: Signal) -> None:
        """Begin a test at `start`, or on one of two boards when the link is up after that, or patience is over."""
        if self._side is None:
            m.d.comb += begins.eq(self.start)
            return
        left = Signal(range(self._side.patience_cycles + 1), init=self._side.patience_cycles)
        m.d.comb += begins.eq(waits & (is_up | ~left.any()))
        m.d.sync += [waits.eq(self.start | waits & ~begins), left.eq(left - left.any())]

    def _elaborate_counts(self, m: Module, terminals: list[Terminal], forgets: Value) -> None:
        for event in EVENTS:
            m.submodules[event] = tally = Tally(inputs=len(terminals), width=COUNT_WIDTH)
            m.d.comb += [getattr(self, event).eq(tally.count), tally.clear.eq(forgets)]
            m.d.comb += [tally.i[node].eq(getattr(terminal, event)) for node, terminal in enumerate(terminals)]
        m.d.sync += self.active.eq(sum(terminal.active for terminal in terminals) != 0)

    def _elaborate_sequence(
        self, m: Module, waits: Signal, begins: Signal, last_balance: Signal, collect: Signal, balance: Signal
    ) -> None:
        """Wait for the end of a test, then add up what the terminals hold."""
        elapsed = Signal(COUNT_WIDTH)
        quiet = Signal(range(self._quiet_cycles + 1))
        left = Signal(range(len(self._nodes)))
        with m.FSM():
            with m.State("idle"):
                m.d.comb += self.done.eq(~waits)
                with m.If(begins):
                    # The first flit is offered two cycles after `begins`, taken or not, and `active` two after that.
                    m.d.sync += [elapsed.eq(0), quiet.eq(0), self.cycles.eq(0)]
                    m.next = "wait"
            with m.State("wait"):
                m.d.sync += elapsed.eq(elapsed + 1)
                with m.If(self.active):
                    m.d.sync += [self.cycles.eq(elapsed - 2), quiet.eq(0)]
                with m.Else():
                    m.d.sync += quiet.eq(quiet + 1)
                with m.If((quiet == self._quiet_cycles) | elapsed.all()):
                    m.d.sync += [left.eq(len(self._nodes) - 1), balance.eq(0)]
                    m.next = "collect"
            with m.State("collect"):
                m.d.comb += collect.eq(1)
                m.d.sync += [balance.eq(balance + last_balance), left.eq(left - 1)]
                with m.If(left == 0):
                    m.next = "idle"

    def _elaborate_verdict(self, m: Module, busy: Signal, balance: Signal) -> None:
        nodes, others = len(self._nodes), self._layout.network.num_nodes - 1
        due = due_balance(self._layout, self._flits, self._nodes)
        clean = Signal()
        complete = Signal()
        whole = Const(1) if self._side is None else self.link_lost == 0
        m.d.comb += [
            clean.eq(~busy & (self.misrouted == 0) & (self.corrupted == 0)),
            complete.eq((self.received == self.sent) & (balance == due) & (self.dropped == 0) & whole),
        ]
        with m.Switch(self.kind):
            with m.Case(TrafficKind.EXCHANGE):
                m.d.comb += self.passed.eq(clean & complete & (self.sent == nodes * others))
            with m.Case(TrafficKind.RANDOM):
                m.d.comb += self.passed.eq(clean & complete & (self.sent == nodes * self._packets))
            with m.Case(TrafficKind.IMPOSSIBLE):
                dropped = (self.sent == nodes) & (self.dropped == nodes) & (self.received == 0)
                m.d.comb += self.passed.eq(clean & dropped)
