"""Operations in registers on the engines of an emitted fabric: their results beside NumPy's, and what is sent."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.operators import operator_of
from hdnhw.endpoints.collective.bench import CollectiveBench, numbers_of, word_of
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.register_engine import step_cycles
from hdnhw.topology.metrics import neighbor_table


class RegisterBench(CollectiveBench):
    """An emitted fabric with engines for operations in registers under Verilator; see :class:`CollectiveBench`."""

    name = "registers"

    @property
    def program(self) -> Any:
        """What the engines run."""
        return engines_of(self.machine).register_program

    def costs(self, operation: str) -> dict[str, Any]:
        """See :meth:`CollectiveBench.costs`."""
        execution, length = self.program.executions[operation], self.machine.spec.packet_length
        startup = step_cycles(self.machine.timing, self.machine.longest)
        return {
            "registers": len(self.program.registers),
            "startup_cycles": startup,
            "word_cycles": 1,
            "cost_cycles": execution.startups * startup + execution.words * length,
        }

    def _due(self, operation: str, messages: npt.NDArray[np.object_], operator: str) -> list[dict[int, int]]:
        """Return for each node the result that it must get; its source is the node itself."""
        formats = self.machine.endpoint_format
        given = numbers_of(formats, messages[:, 0])
        order = np.argsort([self.address.of_node(node) for node in range(len(given))])
        combine = operator_of(operator, formats.numbers)
        results = np.empty_like(given)
        if operation == "allreduce-short":
            results[:] = combine.combine_all(given)
        else:
            results[order] = combine.combine.accumulate(given[order], axis=0, dtype=formats.numbers)
        if operation == "exscan":
            results[order[1:]], results[order[0]] = results[order[:-1]], combine.identity
        return [{node: word_of(row)} for node, row in enumerate(results)]

    def _sent_in(self, operation: str) -> npt.NDArray[np.int64]:
        """See :meth:`CollectiveBench._sent_in`."""
        sent: npt.NDArray[np.int64] = self.program.executions[operation].sent
        return sent

    def _check_sends(self, operation: str, due: npt.NDArray[np.int64], parity: int, rows: list[list[str]]) -> int:
        """Compare what went out, step by step, with what the executor counted."""
        steps = [step for step, each in enumerate(self.program.schedules[operation].steps) for _ in each.registers]
        node_of = {self.address.of_node(node): node for node in range(self.network.num_nodes)}
        neighbors, sent, strays = neighbor_table(self.network), np.zeros_like(due), 0
        for _, sender, _, text in rows:
            header = self.machine.endpoint_format.fields_of(int(text, 16))
            ports = np.flatnonzero(neighbors[int(sender)] == node_of.get(header["dst"], -2))
            if not len(ports) or header["packet"] >= len(steps) or header["parity"] != parity:
                strays += 1
                continue
            step, node = steps[header["packet"]], int(sender)
            sent[step, node, max(ports, key=lambda port: due[step, node, port])] += 1
        return strays + int((sent != due).sum())
