"""Collective operations on the engines of an emitted fabric: the case, its run under cocotb, and the verdict."""

import random
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collective.program import messages_of
from hdnhw.emit.fabric import emit_fabric
from hdnhw.rtl.collective.engine import startup_cycles
from hdnhw.spec import FabricSpec
from hdnhw.timing import SlotTiming
from hdnhw.traffic.packets import terminal_seeds
from sim.collective_harness import FLITS, MOST_OPERATIONS, collective_harness_text
from sim.simulator import BUILD_ROOT, Build, SimulatorError, control_text

__all__ = ["CollectiveBench", "CollectiveVerdict", "run_operation"]


@dataclass(frozen=True)
class CollectiveVerdict:
    """What a run of one operation showed.

    Attributes
    ----------
    operation : str
    messages : int
        Results that nodes had to get.
    lost : int
        Of these, how many they did not.
    wrong : int
        Results with other data than the source gave for the node, from another source, or twice.
    send_mismatches : int
        Steps, nodes and ports by which other messages went out than by the executor's count.
    cycles : int
        From the last flit of a node's own messages to the last node's end.
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


class CollectiveBench:
    """An emitted fabric with collective engines under Verilator.

    Parameters
    ----------
    spec : FabricSpec
        With collective engines.
    root : Path, optional
        Folder for builds.
    """

    def __init__(self, spec: FabricSpec, *, root: Path = BUILD_ROOT) -> None:
        self.fabric = emit_fabric(spec)
        if self.fabric.program is None:
            raise ValueError("bench must have a fabric with collective engines, not one without")
        self.manifest = self.fabric.manifest
        self.network, self.address = self.fabric.plan.network, self.fabric.plan.address
        self.program = self.fabric.program
        engine = self.manifest["endpoints"]["engine_module"]
        files = {
            "bench.vlt": control_text([*self.manifest["router_modules"], self.manifest["ejection_module"], engine]),
            **self.fabric.verilog,
            "bench.sv": collective_harness_text(self.manifest),
        }
        self.build = Build("collective", files, "bench", root=root)

    @property
    def _data_flits(self) -> int:
        return int(self.manifest["endpoints"]["packet"]["data_flits"])

    def data_of(self, place: int, operation: str) -> npt.NDArray[np.object_]:
        """Return random messages of one operation of a case.

        Returns
        -------
        ndarray of int, shape (sources, messages)
            Of each node or the root, one for each target in ascending order of packed addresses, or one for all.
        """
        nodes, root = self.network.num_nodes, self.program.schedules[operation].root
        rng = random.Random(f"{operation} {place}")
        bits = self._data_flits * self.manifest["flit_width"]
        data = np.zeros((nodes, messages_of(operation, nodes)), object)
        for source in range(nodes) if root is None else [root]:
            data[source] = [rng.getrandbits(bits) for _ in range(data.shape[1])]
        return data

    def run(
        self, operations: list[str], *, stall: int = 0, pause: int = 0, seed: int = 1, keep: bool = False
    ) -> list[CollectiveVerdict]:
        """Run operations one after the other.

        Parameters
        ----------
        operations : list of str
        stall : int
            How often, of 256 cycles, the host of an odd node offers no flit or takes none.
        pause : int
            Most cycles that a host waits before it asks for an operation; they wait for different times.
        seed : int
        keep : bool
            Whether to keep the files of a run that passed; those of one that failed are kept.

        Raises
        ------
        SimulatorError
            If the bench cannot be built or does not end.
        """
        self.build.make()
        folder = self.build.clear_run_folder()
        data = [self.data_of(place, operation) for place, operation in enumerate(operations)]
        plusargs = self._write_case(folder, operations, data, pause, seed) | {"stall": stall}
        self.build.run(
            "sim.collective_bench", folder, plusargs=[f"+{name}={value}" for name, value in plusargs.items()]
        )
        verdicts = self.check(folder, operations, data)
        if all(verdict.passed for verdict in verdicts) and not keep:
            shutil.rmtree(folder)
        return verdicts

    def _write_case(
        self, folder: Path, operations: list[str], data: list[npt.NDArray[np.object_]], pause: int, seed: int
    ) -> dict[str, Any]:
        nodes, width = self.network.num_nodes, self.manifest["flit_width"]
        names, rng = list(self.program.schedules), random.Random(seed)
        flits: list[int] = []
        first = [0]
        for operation, messages in zip(operations, data, strict=True):
            root = self.program.schedules[operation].root
            for node in range(nodes):
                own = messages[node] if root in (None, node) else []
                flits += [word >> width * place & (1 << width) - 1 for word in own for place in range(self._data_flits)]
                first.append(len(flits))
        if len(flits) > FLITS or len(operations) > MOST_OPERATIONS:
            raise ValueError(f"case must have at most {MOST_OPERATIONS} operations and {FLITS} flits, not {len(flits)}")
        columns = {
            "flits": flits,
            "operations": [names.index(operation) for operation in operations],
            "first": first,
            "pause": [rng.randint(0, pause) for _ in range(nodes * len(operations))],
            "seeds": terminal_seeds(nodes, seed),
        }
        for name, column in columns.items():
            (folder / f"{name}.hex").write_text("\n".join(f"{int(value):x}" for value in column) + "\n")
        limit = 100_000 + sum(40 * self.manifest["packet_length"] * nodes * nodes for _ in operations)
        return {"folder": folder, "count": len(operations), "total": len(flits), "limit": limit}

    def check(
        self, folder: Path, operations: list[str], data: list[npt.NDArray[np.object_]]
    ) -> list[CollectiveVerdict]:
        """Judge a run by its logs."""
        results = [line.split() for line in (folder / "results.log").read_text().splitlines()]
        sends = [line.split() for line in (folder / "sends.log").read_text().splitlines()]
        events = [line.split() for line in (folder / "events.log").read_text().splitlines()]
        if not events or events[-1][0] != "end":
            raise SimulatorError(f"the bench did not end, see {folder / 'simulation.log'}")
        verdicts = []
        for place, (operation, messages) in enumerate(zip(operations, data, strict=True)):
            of_place = [row[1:] for row in results if int(row[0]) == place]
            lost, wrong = self._check_results(operation, messages, of_place)
            mismatches = self._check_sends(operation, [row for row in sends if int(row[0]) == place])
            cycle = {
                what: max((int(row[3]) for row in events if row[0] == what and int(row[1]) == place), default=0)
                for what in ("loaded", "done")
            }
            count = sum(len(due) for due in self._due(operation, messages))
            verdicts.append(
                CollectiveVerdict(operation, count, lost, wrong, mismatches, cycle["done"] - cycle["loaded"])
            )
        return verdicts

    def _due(self, operation: str, messages: npt.NDArray[np.object_]) -> list[dict[int, int]]:
        """Return for each node the data that it must get, by source."""
        nodes, root = self.network.num_nodes, self.program.schedules[operation].root
        sources = range(nodes) if root is None else [root]
        order = np.argsort([self.address.of_node(node) for node in range(nodes)])
        place = np.argsort(order) if messages.shape[1] > 1 else np.zeros(nodes, int)
        return [{source: messages[source][place[node]] for source in sources} for node in range(nodes)]

    def _check_results(
        self, operation: str, messages: npt.NDArray[np.object_], rows: list[list[str]]
    ) -> tuple[int, int]:
        due, wrong = self._due(operation, messages), 0
        number = {self.address.of_node(node): node for node in range(self.network.num_nodes)}
        for node, source, word in rows:
            if due[int(node)].pop(number.get(int(source), -1), None) != int(word, 16):
                wrong += 1
        return sum(map(len, due)), wrong

    def _check_sends(self, operation: str, rows: list[list[str]]) -> int:
        """Compare what went out, step by step, with what the executor counted."""
        fields = self.manifest["endpoints"]["packet"]["header"]
        index = list(self.program.schedules).index(operation)
        first = self.program.sends[self.program.numbers_of(index).start].step
        sent = np.zeros_like(self.program.executions[operation].sent)
        for _, node, _, text in rows:
            header = {
                name: int(text, 16) >> field["offset"] & (1 << field["width"]) - 1 for name, field in fields.items()
            }
            if header["holds"]:
                send = self.program.sends[header["send"]]
                sent[send.step - first, int(node), send.port] += 1
        return int((sent != self.program.executions[operation].sent).sum())


def run_operation(spec: FabricSpec, operation: str, *, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Run one operation on the engines of a fabric, all nodes at once.

    Returns
    -------
    dict
        ``delivered``, the verdict's counts, ``cycles``, ``startup_cycles`` and ``word_cycles`` (t_s and t_w of engines;
        a word is a flit), and ``cost_cycles``, which the executor's counts make of them.
    """
    bench = CollectiveBench(spec)
    say(f"{operation}: {bench.network.num_nodes} engines in the emitted Verilog ...")
    try:
        (verdict,) = bench.run([operation])
    except SimulatorError as error:
        return {"delivered": False, "error": str(error)}
    execution, startup = bench.program.executions[operation], startup_cycles(SlotTiming(spec.packet_length))
    return {
        "delivered": verdict.passed,
        **asdict(verdict),
        "packet_length": spec.packet_length,
        "message_slots": bench.manifest["endpoints"]["message_slots"],
        "startup_cycles": startup,
        "word_cycles": 1,
        "cost_cycles": execution.startups * startup + execution.words * spec.packet_length,
    }
