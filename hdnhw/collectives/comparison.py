"""The algorithms of an all-reduce side by side: what vectors of any size cost."""

from dataclasses import dataclass

from hdnhw.collectives.baselines import Baseline, baseline_of
from hdnhw.collectives.choices import BASELINES
from hdnhw.collectives.combining import combine_and_gather, combine_registers
from hdnhw.collectives.cost import Cost, block_words
from hdnhw.collectives.executor import Execution
from hdnhw.collectives.operations import allreduce_phases
from hdnhw.collectives.operators import operator_of
from hdnhw.collectives.prefix import allreduce_schedule
from hdnhw.support.progress import Progress
from hdnhw.topology.graph import Network


@dataclass(frozen=True, eq=False)
class Algorithm:
    """An algorithm of an all-reduce on a network.

    Attributes
    ----------
    name : str
    run : Execution or Baseline
        What each node sends, of blocks of one word.
    blocks : int
        Of a vector.
    """

    name: str
    run: Execution | Baseline
    blocks: int

    def words(self, vector_words: int) -> int:
        """Return the words of a block: all are of one size."""
        return block_words(vector_words, self.blocks)

    def cost(self, vector_words: int) -> Cost:
        """Return start-ups and words for vectors of so many words; of routed messages, as if all were neighbors."""
        if isinstance(self.run, Baseline):
            return self.run.cost(vector_words)
        return Cost(self.run.startups, self.run.words) * self.words(vector_words)


def compared(network: Network, progress: Progress = lambda *_: None) -> list[Algorithm]:
    """Return the algorithms that a network can run with one port: ``doubling`` is for a power of two of nodes.

    Raises
    ------
    SpecError
        If there is no schedule for the network.
    """
    total, nodes = operator_of("sum", "int32"), network.num_nodes
    short = combine_registers(allreduce_schedule(network), total)
    long = combine_and_gather(allreduce_phases(network), total, progress=progress)
    assert short.wrong == long.wrong == 0, "tests compare the results of all schedules"
    names = [name for name in BASELINES if name != "doubling" or nodes & (nodes - 1) == 0]
    routed = [baseline_of(name, network) for name in names]
    schedules = [Algorithm("short", short.execution, 1), Algorithm("long", long.execution, nodes)]
    return schedules + [Algorithm(baseline.name, baseline, baseline.blocks) for baseline in routed]
