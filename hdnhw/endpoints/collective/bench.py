"""Collective operations on the engines of an emitted fabric: the case, its run under cocotb, and the verdict."""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.backwards import multicast_schedule
from hdnhw.collectives.barrier import barrier_cycles
from hdnhw.collectives.choices import COMBINING
from hdnhw.collectives.executor import execute, sources_of
from hdnhw.collectives.operators import operator_of
from hdnhw.collectives.program import messages_of
from hdnhw.collectives.schedule import Schedule
from hdnhw.endpoints.collective.bench_harness import FLITS, MOST_OPERATIONS, collective_harness_text
from hdnhw.endpoints.collective.engine import startup_cycles
from hdnhw.endpoints.collective.format import NumberFormat
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import index_width
from hdnhw.sim.compare import log_rows
from hdnhw.sim.runner import Bench, reset_environment
from hdnhw.sim.stimulus import write_columns
from hdnhw.spec import BARRIER, JOIN, MULTICAST
from hdnhw.traffic.packets import terminal_seeds
from hdnhw.verilog.fabric import EmittedFabric

BARRIERS, MOST_PAUSE = 8, 200
"""Barriers of a measurement, and the most cycles that a node waits before it enters one."""


def numbers_of(messages: NumberFormat, words: Iterable[int]) -> npt.NDArray[Any]:
    """Return the data of some messages as rows of numpy's own numbers."""
    size = messages.message_packets * messages.payload_flits * messages.flits.flit_width // 8
    data = b"".join(int(word).to_bytes(size, "little") for word in words)
    return np.frombuffer(data, messages.numbers).reshape(-1, size * 8 // messages.number_width)


def word_of(numbers: npt.NDArray[Any]) -> int:
    """Return a row of numbers as the data of a message."""
    return int.from_bytes(numbers.tobytes(), "little")


def reduced(messages: NumberFormat, words: Iterable[int], operator: str) -> int:
    """Return the data of some messages combined into one, by numpy."""
    return word_of(operator_of(operator, messages.numbers).combine_all(numbers_of(messages, words)))


def _cut(word: int, pieces: int, bits: int) -> list[int]:
    """Return a number in pieces of so many bits, the least significant first."""
    return [word >> bits * place & (1 << bits) - 1 for place in range(pieces)]


@dataclass(frozen=True)
class OperationVerdict:
    """What a run of one operation showed.

    Attributes
    ----------
    operation : str
    messages : int
        Results that nodes had to get.
    lost : int
        Packets of these that they did not.
    wrong : int
        Packets of results with other data than the source gave for the node, or than what all gave comes to, from
        another source, of another place in the message, or twice.
    send_mismatches : int
        Steps, nodes and ports by which other packets went out than by the executor's count, and packets that say that
        they are of another operation's step.
    cycles : int
        From the last flit of a node's own messages, or where there are none from the last node's asking, to the last
        node's end.
    """

    operation: str
    messages: int
    lost: int
    wrong: int
    send_mismatches: int
    cycles: int

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return not (self.lost or self.wrong or self.send_mismatches)


@dataclass(frozen=True)
class BarrierVerdict:
    """What a run of one barrier showed.

    Attributes
    ----------
    operation : str
    early : int
        Nodes that left before the last one had entered.
    mistimed : int
        Nodes that left in another cycle than the predicted one after the last had entered, or not at all.
    strays : int
        Packets that were sent between entering and leaving.
    cycles : int
        From the last node's entry to the last node's leaving.
    """

    operation: str
    early: int
    mistimed: int
    strays: int
    cycles: int

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return not (self.early or self.mistimed or self.strays)


@dataclass(frozen=True)
class CollectiveVerdict:
    """What a run of operations one after the other showed."""

    operations: tuple[OperationVerdict | BarrierVerdict, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing differs in any."""
        return all(verdict.passed for verdict in self.operations)


@dataclass(frozen=True, eq=False)
class CollectiveCase:
    """Operations to run one after the other.

    Attributes
    ----------
    operations : sequence of str
    operators : sequence of str
        Of each operation, how it combines messages; of all the first one that the engines have if empty.
    members : sequence of collection of int
        Of each operation, the nodes that are members from there on if it is a join; if empty, drawn by `seed`.
    stall : int
        How often, of 256 cycles, the host of an odd node offers no flit or takes none.
    pause : int
        Most cycles that a host waits before it asks for an operation; they wait for different times.
    seed : int
    ahead : bool
        Whether hosts offer the next operation while one runs; without pauses.
    early : bool
        Whether hosts offer messages before their operation has been taken.
    resets : sequence of int
        Cycles after each of which all is reset, and begins again.
    packets : ndarray of int64, shape (nodes, nodes), optional
        Of the message from each node to each other one, in all operations, where messages are variable.
    """

    operations: Sequence[str]
    operators: Sequence[str] = ()
    members: Sequence[Collection[int]] = ()
    stall: int = 0
    pause: int = 0
    ahead: bool = False
    early: bool = False
    seed: int = 1
    resets: Sequence[int] = ()
    packets: npt.NDArray[np.int64] | None = None


class CollectiveBench(Bench[CollectiveCase, CollectiveVerdict]):
    """An emitted fabric with collective engines under Verilator.

    Parameters
    ----------
    fabric : EmittedFabric
        With collective engines.
    part : Machine, optional
        That part of the engines whose operations are looked at; by default all.
    """

    name, module, kind = "collective", "hdnhw.endpoints.collective.bench_cocotb", CollectiveSpec

    def __init__(self, fabric: EmittedFabric, *, part: Machine | None = None) -> None:
        super().__init__(fabric)
        self.machine = part or fabric.machine
        self._part_benches: list[CollectiveBench] = [self]
        self.network, self.address = self.machine.network, self.machine.address

    @classmethod
    def of(cls, fabric: EmittedFabric) -> "CollectiveBench":
        """See :meth:`Bench.of`."""
        from hdnhw.endpoints.collective.bench_joint import JointBench
        from hdnhw.endpoints.collective.bench_registers import RegisterBench

        if engines_of(fabric.machine).spec.is_joint:
            return JointBench(fabric)
        return RegisterBench(fabric) if engines_of(fabric.machine).spec.in_registers else cls(fabric)

    def part_of(self, operation: str) -> "CollectiveBench":
        """Return the bench of the part that has an operation; of a barrier of joined engines this one."""
        return next(
            (part for part in self._part_benches if operation in engines_of(part.machine).spec.operations), self
        )

    @property
    def program(self) -> Any:
        """What the engines run."""
        return engines_of(self.machine).program

    def measure(
        self,
        operation: str,
        *,
        packets: npt.NDArray[np.int64] | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> dict[str, Any]:
        """Run one operation, all nodes at once; return what ``collective --on rtl`` prints.

        Parameters
        ----------
        operation : str
        packets : ndarray of int64, shape (nodes, nodes), optional
            See :class:`CollectiveCase`.
        say : callable
            Is told what is done.

        Returns
        -------
        dict
            ``delivered``, the verdict's counts, ``cycles``, ``startup_cycles`` and ``word_cycles`` (t_s and t_w of
            engines; a word is a flit), and ``cost_cycles``, which the executor's counts make of them.
        """
        say(f"{operation}: {self.network.num_nodes} engines in the emitted Verilog ...")
        try:
            (verdict,) = self.run_case(CollectiveCase([operation], packets=packets)).verdict.operations
        except ToolError as error:
            return {"delivered": False, "error": str(error)}
        sizes = {"packet_length": self.machine.spec.packet_length}
        sizes["data_flits"] = self.part_of(operation).machine.endpoint_format.payload_flits
        result = {"delivered": verdict.passed, **asdict(verdict)} | sizes | self.costs(operation)
        if packets is not None:
            sent = self._sent(operation, packets)
            words = int(sent.sum(axis=2).max(axis=1).sum()) * self.machine.spec.packet_length
            result["cost_cycles"] = len(sent) * result["startup_cycles"] + words
        return result

    def measure_multicast(
        self, group: Collection[int], *, say: Callable[[str], None] = lambda _: None
    ) -> dict[str, Any]:
        """Let a group join, and bring it a message; return what ``collective --op multicast --on rtl`` prints.

        Returns
        -------
        dict
            What :meth:`measure` returns of the multicast, with the mismatches of both, and before its cycles those of
            the join: ``join_cycles`` and ``join_cost_cycles``.
        """
        say(f"{JOIN}, {MULTICAST}: {self.network.num_nodes} engines in the emitted Verilog ...")
        try:
            join, verdict = self.run_case(CollectiveCase([JOIN, MULTICAST], members=[group, ()])).verdict.operations
        except ToolError as error:
            return {"delivered": False, "error": str(error)}
        assert isinstance(join, OperationVerdict)
        assert isinstance(verdict, OperationVerdict)
        measured = asdict(verdict)
        for name in ("wrong", "send_mismatches"):
            measured[name] += getattr(join, name)
        before = {"join_cycles": join.cycles, "join_cost_cycles": self.costs(JOIN)["cost_cycles"]}
        sizes = {"packet_length": self.machine.spec.packet_length}
        sizes["data_flits"] = self.part_of(MULTICAST).machine.endpoint_format.payload_flits
        passed = join.passed and verdict.passed
        return {"delivered": passed, **measured, **before} | sizes | self.costs(MULTICAST)

    def costs(self, operation: str) -> dict[str, Any]:
        """Return what the cost model says of an operation, of messages of equal length."""
        startup = startup_cycles(self.machine.timing, self.machine.longest)
        most, endpoints = self.machine.endpoint_format.message_packets, self.fabric.manifest["endpoints"]
        return {
            "message_packets": most,
            "message_buffers": endpoints.get("messages", endpoints)["message_buffers"],
            "startup_cycles": startup,
            "word_cycles": max(self.machine.channels.intervals),
            "cost_cycles": sum(
                startup + max(sent, *slots) * self.machine.spec.packet_length
                for sent, slots in zip(
                    self.program.packets_of(operation, most), self._slots_of(operation, most), strict=True
                )
            ),
        }

    def _slots_of(self, operation: str, message_packets: int) -> list[list[int]]:
        """Return for each step the slots that its packets take of the slowest channel behind each port.

        All but one: those that the last packet takes beside its own are in the start-up.
        """
        intervals = self.machine.channels.intervals
        return [
            [
                max(0, int(most) * message_packets * interval - (interval - 1))
                for most, interval in zip(sent.max(axis=0), intervals, strict=True)
            ]
            for execution in self.program.executions[operation]
            for sent in execution.sent
        ]

    def measure_barriers(self, *, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
        """Run barriers one after the other that nodes enter at random times; return what ``collective`` prints.

        Returns
        -------
        dict
            ``delivered``, how many ``barriers``, the sums of the verdicts' counts, and the fewest and most cycles.
        """
        say(f"{BARRIERS} barriers: {self.network.num_nodes} engines in the emitted Verilog ...")
        try:
            run = self.run_case(CollectiveCase([BARRIER] * BARRIERS, pause=MOST_PAUSE)).verdict
        except ToolError as error:
            return {"delivered": False, "error": str(error)}
        counts = [asdict(verdict) for verdict in run.operations]
        cycles = [count["cycles"] for count in counts]
        summed = {name: sum(count[name] for count in counts) for name in ("early", "mistimed", "strays")}
        measured = {"cycles_least": min(cycles), "cycles_most": max(cycles)}
        return {"delivered": run.passed, "barriers": BARRIERS, **summed, **measured}

    def sources(self) -> tuple[str, dict[str, str], list[str]]:
        """See :meth:`Bench.sources`."""
        return "bench", {**self.fabric.checked, "bench.sv": collective_harness_text(self.fabric)}, []

    def has_ended(self, folder: Path) -> bool:
        """See :meth:`Bench.has_ended`."""
        events = (folder / "events.log").read_text().splitlines()
        return bool(events) and events[-1].split()[0] == "end"

    @property
    def _message_bits(self) -> int:
        messages: NumberFormat = self.machine.endpoint_format
        return messages.message_packets * messages.payload_flits * self.machine.spec.flit_width

    def data_of(self, place: int, operation: str) -> npt.NDArray[np.object_]:
        """Return random messages of one operation of a case.

        Returns
        -------
        ndarray of int, shape (sources, messages)
            Of each node or the root, one for each target in ascending order of packed addresses, or one for all.
        """
        nodes, root = self.network.num_nodes, self.program.source_of(operation)
        rng = random.Random(f"{operation} {place}")
        data = np.zeros((nodes, messages_of(operation, nodes)), object)
        for source in range(nodes) if root is None else [root]:
            data[source] = [rng.getrandbits(self._message_bits) for _ in range(data.shape[1])]
        return data

    @property
    def _spare_bits(self) -> int:
        """Bits below a result in the log, where other parts have more data flits."""
        data_flits: list[int] = [part.endpoint_format.payload_flits for part in engines_of(self.fabric.machine).parts]
        return (max(data_flits) - int(self.machine.endpoint_format.payload_flits)) * self.machine.spec.flit_width

    def packets_of(self, case: CollectiveCase, place: int) -> npt.NDArray[np.int64]:
        """Return how many packets the messages of one operation of a case have, where these are variable at random.

        Returns
        -------
        ndarray of int64, shape (nodes, nodes)
            Of the message from each node to each other one. What is combined has as many at all nodes.
        """
        nodes, operation, most = self.network.num_nodes, case.operations[place], self.machine.endpoint_format
        if case.packets is not None:
            return case.packets
        if not most.variable_messages:
            return np.full((nodes, nodes), most.message_packets)
        rng = np.random.default_rng([case.seed, place])
        drawn = rng.integers(0, most.message_packets, (nodes, nodes), endpoint=True) * (
            rng.random((nodes, nodes)) < 0.7
        )
        if messages_of(operation, nodes) == 1:
            drawn[:] = drawn[:, :1]
        if operation in COMBINING:
            drawn[:] = drawn[0]
        return drawn

    @property
    def _columns(self) -> npt.NDArray[np.int64]:
        """The place of each node among all in ascending order of packed addresses."""
        nodes = range(self.network.num_nodes)
        return np.argsort(np.argsort([self.address.of_node(node) for node in nodes]))

    def _own_messages(self, case: CollectiveCase, place: int) -> dict[int, list[int]]:
        """Return the flits that those nodes offer which have messages.

        In front of a variable message of the most packets stands that number or a greater one.
        """
        operation, messages, width = case.operations[place], self.machine.endpoint_format, self.machine.spec.flit_width
        if operation == BARRIER:
            return {}
        root, data = self.program.source_of(operation), self.data_of(place, operation)
        packets = self.packets_of(case, place)[:, np.argsort(self._columns)]
        result: dict[int, list[int]] = {}
        rng = random.Random(f"{case.seed} {place}")
        for node in range(self.network.num_nodes) if root is None else [root]:
            flits: list[int] = []
            result[node] = flits
            for column, word in enumerate(data[node]):
                count = int(packets[node, column])
                if messages.variable_messages:
                    is_most = count == messages.message_packets
                    flits.append(max(count, 1 << rng.randrange(width)) if is_most else count)
                flits += _cut(word, count * messages.payload_flits, width)
        return result

    def write(self, case: CollectiveCase, folder: Path) -> dict[str, Any]:
        """See :meth:`Bench.write`."""
        nodes = self.network.num_nodes
        rng = random.Random(case.seed)
        flits: list[int] = []
        first = [0]
        for place, operation in enumerate(case.operations):
            part = self.part_of(operation)
            own_of = part._own_messages(case, place)
            for node in range(nodes):
                flits += own_of.get(node, [])
                first.append(len(flits))
        if len(flits) > FLITS or len(case.operations) > MOST_OPERATIONS:
            raise ValueError(f"case must have at most {MOST_OPERATIONS} operations and {FLITS} flits, not {len(flits)}")
        write_columns(
            folder,
            flits=flits or [0],
            operations=[
                self._asked(case, place, node) for place in range(len(case.operations)) for node in range(nodes)
            ],
            first=first,
            pause=[rng.randint(0, case.pause) for _ in range(nodes * len(case.operations))],
            seeds=terminal_seeds(nodes, case.seed),
        )
        packets = self.machine.endpoint_format.message_packets
        limit = 100_000 + len(case.operations) * 40 * packets * self.machine.spec.packet_length * nodes * nodes
        plusargs = {"count": len(case.operations), "total": max(1, len(flits)), "limit": limit}
        return {
            "plusargs": [
                f"+{name}={value}"
                for name, value in (
                    plusargs | {"stall": case.stall, "ahead": int(case.ahead), "early": int(case.early)}
                ).items()
            ],
            "extra_env": reset_environment(case.resets),
        }

    def _operator(self, case: CollectiveCase, place: int) -> str:
        """Return how an operation of a case combines messages."""
        if case.operators:
            return case.operators[place]
        return next(iter(self.machine.endpoint_format.operators), "")

    def _members(self, case: CollectiveCase, place: int) -> Collection[int]:
        """Return the members in a join; drawn ones are any number of nodes, none and all as likely as others."""
        if case.members:
            return case.members[place]
        rng, nodes = random.Random(f"members {case.seed} {place}"), self.network.num_nodes
        return rng.sample(range(nodes), rng.randint(0, nodes))

    def group_of(self, case: CollectiveCase, place: int) -> Collection[int]:
        """Return the group to which a multicast at a place of a case goes: that of the last join before it."""
        joins = [before for before, name in enumerate(case.operations[:place]) if name == JOIN]
        return self._members(case, joins[-1]) if joins else ()

    def _asked(self, case: CollectiveCase, place: int, node: int) -> int:
        """Return what a host asks for: an operation, above it an operator, and above that whether it is a member.

        That is said in a join alone; what is said elsewhere must not matter.
        """
        names = list(engines_of(self.machine).spec.operations)
        messages: NumberFormat = self.machine.endpoint_format
        number, width = names.index(case.operations[place]), index_width(len(names))
        if messages.operator_width:
            number |= messages.operators.index(self._operator(case, place)) << width
        if messages.has_groups:
            says = node in self._members(case, place) if case.operations[place] == JOIN else (node + place) % 2
            number |= int(says) << width + messages.operator_width
        return number

    def check(self, case: CollectiveCase, folder: Path) -> CollectiveVerdict:
        """See :meth:`Bench.check`."""
        results, sends, events = (log_rows(folder / f"{name}.log") for name in ("results", "sends", "events"))
        verdicts: list[OperationVerdict | BarrierVerdict] = []
        for place, operation in enumerate(case.operations):
            if operation == BARRIER:
                of_barrier = [row for row in sends if self._place_of(case, row) == place]
                verdicts.append(self._check_barrier(place, events, of_barrier))
                continue
            part = self.part_of(operation)
            due = part._due(operation, part.data_of(place, operation), self._operator(case, place))
            group = self.group_of(case, place)
            if operation == MULTICAST:
                due = [messages if node in group else {} for node, messages in enumerate(due)]
            count = sum(map(len, due))
            of_place = [row[1:] for row in results if int(row[0]) == place]
            packets = part.packets_of(case, place)
            parts = part._parts(operation, due, packets)
            lost, wrong = part._check_results(parts, of_place)
            of_place = [row for row in sends if self._place_of(case, row) == place]
            own = [row for row in of_place if self._sender_of(int(row[3], 16)) is part]
            parity = len(part._before(case, place)) % 2
            mismatches = part._check_sends(operation, part._sent(operation, packets, group), parity, own)
            mismatches += len(of_place) - len(own)
            cycle = {
                what: max((int(row[3]) for row in events if row[0] == what and int(row[1]) == place), default=0)
                for what in ("asked", "loaded", "done")
            }
            cycles = cycle["done"] - (cycle["loaded"] or cycle["asked"])
            verdicts.append(OperationVerdict(operation, count, lost, wrong, mismatches, cycles))
        return CollectiveVerdict(tuple(verdicts))

    def _check_barrier(self, place: int, events: list[list[str]], sends: list[list[str]]) -> BarrierVerdict:
        """Compare when nodes left with when they entered."""
        entered, left = (
            {int(node): int(cycle) for kind, where, node, cycle in events if (kind, where) == (what, str(place))}
            for what in ("asked", "done")
        )
        nodes = range(self.network.num_nodes)
        last = max(entered.values(), default=0)
        due = last + barrier_cycles(engines_of(self.machine).rounds, self.machine.signal_registers)
        waits_for_some = len(entered) < len(nodes)
        return BarrierVerdict(
            BARRIER,
            early=sum(waits_for_some or cycle <= last for cycle in left.values()),
            mistimed=sum(left.get(node) != due for node in nodes),
            strays=len(sends),
            cycles=max(left.values(), default=last) - last,
        )

    def _due(self, operation: str, messages: npt.NDArray[np.object_], operator: str) -> list[dict[int, int]]:
        """Return for each node the data that it must get, by source; in a multicast as if all were members."""
        nodes, source = self.network.num_nodes, self.program.source_of(operation)
        sources = range(nodes) if source is None else [source]
        place = self._columns if messages.shape[1] > 1 else np.zeros(nodes, int)
        first = self.program.schedules[operation][0]
        targets = [first.root] if first.to_root and first.root is not None else range(nodes if operation != JOIN else 0)
        if operation not in COMBINING:
            return [
                {source: messages[source][place[node]] for source in sources} if node in targets else {}
                for node in range(nodes)
            ]
        blocks = {node: reduced(self.machine.endpoint_format, messages[:, place[node]], operator) for node in targets}
        if operation == "allreduce":
            return [dict(blocks) for _ in range(nodes)]
        return [{node: blocks[node]} if node in targets else {} for node in range(nodes)]

    def _parts(
        self, operation: str, due: list[dict[int, int]], packets: npt.NDArray[np.int64]
    ) -> list[dict[tuple[int, int], int]]:
        """Return the data that each node must get packet by packet, by source and number within the message."""
        most = self.machine.endpoint_format.message_packets
        combines = operation in COMBINING
        return [
            {
                (source, part): data
                for source, word in messages.items()
                for part, data in enumerate(_cut(word, most, self._message_bits // most))
                if part < packets[source, source if combines else node]
            }
            for node, messages in enumerate(due)
        ]

    def _check_results(self, due: list[dict[tuple[int, int], int]], rows: list[list[str]]) -> tuple[int, int]:
        wrong = 0
        number = {self.address.of_node(node): node for node in range(self.network.num_nodes)}
        for node, source, part, flits, word in rows:
            data = int(word, 16) >> self._spare_bits
            there = due[int(node)].pop((number.get(int(source), -1), int(part)), None)
            wrong += there != data or int(flits) != self.machine.endpoint_format.payload_flits
        return sum(map(len, due)), wrong

    def _sender_of(self, word: int) -> "CollectiveBench":
        """Return the bench of the part that sent a packet, by the bits of its header."""
        kind: int = self.machine.endpoint_format.fields_of(word).get("kind", 0)
        return self._part_benches[kind]

    def _before(self, case: CollectiveCase, place: int) -> list[int]:
        """Return the places of operations before one in which this part sends packets."""
        places = [
            place
            for place, name in enumerate(case.operations[:place])
            if name in engines_of(self.machine).spec.operations
        ]
        return [place for place in places if case.operations[place] != BARRIER]

    def _place_of(self, case: CollectiveCase, row: list[str]) -> int:
        """Return the place of the operation that a packet belongs to.

        A node without results, as in a gather, can have ended its operation while its last packet leaves; the parity
        of the packet tells it from one of the next operation. A barrier has no packets, and no parity.
        """
        place, word = int(row[0]), int(row[3], 16)
        part = self._sender_of(word)
        before = part._before(case, place)
        if before and len(before) % 2 != part.machine.endpoint_format.fields_of(word)["parity"]:
            return before[-1]
        return place

    @cached_property
    def _multicast(self) -> Schedule:
        """The schedule of a multicast whose messages have lists of their destinations."""
        return multicast_schedule(self.network, self.program.root_of(MULTICAST))

    def _sent_in(self, operation: str) -> npt.NDArray[np.int64]:
        """Return what the executor has counted of messages of equal length, shape (steps, nodes, ports)."""
        return np.asarray(self.program.sent_in(operation) * self.machine.endpoint_format.message_packets)

    def _sent(
        self, operation: str, packets: npt.NDArray[np.int64], group: Collection[int] = ()
    ) -> npt.NDArray[np.int64]:
        """Return what the executor counts of messages of so many packets, shape (steps, nodes, ports); of a multicast
        those for a group.
        """
        most: int = self.machine.endpoint_format.message_packets
        if operation == MULTICAST:
            root = self.program.root_of(MULTICAST)
            return np.asarray(execute(self._multicast, targets=list(group)).sent * packets[root, root])
        if operation == JOIN or (packets == most).all():
            return self._sent_in(operation)
        counted = []
        for schedule in self.program.schedules[operation]:
            if not (schedule.combines or schedule.copies):
                counted.append(execute(schedule, words=packets).sent)
                continue
            sources, own = sources_of(schedule), packets.diagonal()
            executions = [execute(schedule, sources=[s for s in sources if own[s] > part]) for part in range(most)]
            counted.append(np.sum([execution.sent for execution in executions], axis=0))
        return np.concatenate(counted)

    def _check_sends(self, operation: str, due: npt.NDArray[np.int64], parity: int, rows: list[list[str]]) -> int:
        """Compare what went out, step by step, with what the executor counted."""
        numbers = self.program.numbers_of(list(self.program.schedules).index(operation))
        first, strays = self.program.sends[numbers.start].step, 0
        sent = np.zeros_like(due)
        for _, node, _, text in rows:
            header = self.machine.endpoint_format.fields_of(int(text, 16))
            if header["send"] not in numbers or header["parity"] != parity:
                strays += 1
            elif header["holds"]:
                send = self.program.sends[header["send"]]
                sent[send.step - first, int(node), self.program.port_of(send.link, int(node))] += 1
        return strays + int((sent != due).sum())


BENCH = CollectiveBench
