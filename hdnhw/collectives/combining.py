"""Operations that combine contributions, run on random words: results beside what numpy makes of all contributions.

An all-reduce of a long vector is a reduce-scatter of its blocks, one for each node, and an all-gather of the results.
That of a short one is by registers (:mod:`hdnhw.collectives.prefix`): fewer start-ups, more words.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.executor import Execution, Integers, execute
from hdnhw.collectives.operators import Operator
from hdnhw.collectives.registers import RegisterSchedule, run_registers
from hdnhw.collectives.schedule import Schedule, Step
from hdnhw.support.progress import Progress
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.graph import Network

SEED = 1
"""Of the contributions."""

ROUNDING = 2.0**-24
"""Most relative error of one addition of float32."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Combined:
    """What came out.

    Attributes
    ----------
    execution : Execution
    wrong : int
        Words that are not what all contributions together give: integers exactly, float32 within the most that
        rounding can do in any order of additions.
    nodes_agree : bool or None
        Whether all nodes have the same bits; None where they get different results.
    """

    execution: Execution
    wrong: int
    nodes_agree: bool | None


@dataclass(frozen=True, eq=False)
class Phases:
    """Schedules of a network that follow each other."""

    name: str
    schedules: tuple[Schedule, ...]
    root: None = None

    @property
    def network(self) -> Network:
        """The network of all of them."""
        return self.schedules[0].network

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all of them."""
        return tuple(step for schedule in self.schedules for step in schedule.steps)


def combine_and_gather(
    phases: Phases,
    operator: Operator,
    *,
    words: int = 1,
    all_port: bool = False,
    gathered: Execution | None = None,
    progress: Progress = lambda *_: None,
) -> Combined:
    """Run an all-reduce in blocks, of as many words each; see :func:`combine`.

    If the all-gather has been executed already, it is `gathered`.
    """
    scattering, gathering = phases.schedules
    first = combine(
        scattering,
        operator,
        words=words,
        all_port=all_port,
        progress=lambda stage, share: progress(stage, share / 2),
    )
    second = gathered or execute(
        gathering, all_port=all_port, progress=lambda stage, share: progress(stage, (1 + share) / 2)
    )
    sent = np.concatenate([first.execution.sent, second.sent])
    whole = Execution(sent, second.neighbors, second.messages, second.repeats, all_port)
    return Combined(whole, first.wrong, nodes_agree=True)


def combine(
    schedule: Schedule,
    operator: Operator,
    *,
    words: int = 1,
    all_port: bool = False,
    progress: Progress = lambda *_: None,
) -> Combined:
    """Run a schedule that combines, on random words.

    A node combines what comes with what it has, in the order of steps; of one step, in the order of its sends.

    Parameters
    ----------
    schedule : Schedule
    operator : Operator
    words : int
        Of a contribution to the result of one node.
    all_port, progress
        As of :func:`hdnhw.collectives.executor.execute`.
    """
    wrong = 0

    def observe(target: int, moved: Integers) -> None:
        nonlocal wrong
        rng = np.random.default_rng([SEED, target])
        given = operator.random(rng, (schedule.network.num_nodes, words))
        parts = given.copy()
        starts = np.flatnonzero(np.diff(moved[:, 0], prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(moved)], strict=True):
            _, senders, receivers = moved[start:end].T
            operator.combine_into(parts, receivers, parts[senders])
        wrong += count_wrong(operator, parts[target][None], operator.combine_all(given)[None], given)

    counted = execute(schedule, all_port=all_port, observe=observe, progress=progress)
    return Combined(counted, wrong, None)


def combine_registers(
    schedule: RegisterSchedule,
    operator: Operator,
    *,
    words: int = 1,
    progress: Progress = lambda *_: None,
) -> Combined:
    """Run a schedule in registers on random words; see :func:`combine`."""
    network = schedule.network
    nodes = np.arange(network.num_nodes, dtype=np.int64)
    given = operator.random(np.random.default_rng(SEED), (len(nodes), words))
    results, counted = run_registers(schedule, operator, given)
    progress("steps", 1.0)
    if schedule.name == "allreduce":
        right = np.broadcast_to(operator.combine_all(given), given.shape)
        return Combined(counted, count_wrong(operator, results, right, given), bool((results == results[0]).all()))
    order = np.argsort(AddressLayout(network).of_node(nodes))
    right = operator.combine.accumulate(given[order], axis=0, dtype=operator.numbers)
    if schedule.name == "exscan":
        right = np.concatenate([np.full_like(right[:1], operator.identity), right[:-1]])
    return Combined(counted, count_wrong(operator, results[order], right, given), None)


def count_wrong(operator: Operator, results: Array, right: Array, given: Array) -> int:
    """Return how many results, in rows, are not the right ones; see :class:`Combined`."""
    if operator.numbers.kind != "f" or operator.name != "sum":
        return int((results != right).sum())
    bound = 2 * len(given) * ROUNDING * np.abs(given.astype(np.float64)).sum(axis=0)
    return int((np.abs(results.astype(np.float64) - right) > bound).sum())
