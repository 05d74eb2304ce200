"""Many sets of faults drawn at random, and what routing by waypoints makes of them."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.rules.plan import plan
from hdnhw.spec import NetworkSpec
from hdnhw.support.processes import Ended
from hdnhw.support.progress import Progress
from hdnhw.topology.faults import draw_faults

BATCHES = 64
"""Tasks into which the trials are divided."""


Start = Callable[[], AbstractContextManager[Executor]]


@lru_cache(maxsize=1)
def _table(network: NetworkSpec, modes: str | None, lanes: int) -> RouteTable:
    return RouteTable(plan(network, modes, lanes))


@dataclass(frozen=True, kw_only=True)
class FaultSurvey:
    """What to draw and how to route.

    Attributes
    ----------
    network : NetworkSpec
    modes : str or None
    lanes : int
        See :func:`hdnhw.rules.plan.plan`.
    rate : float
        Share of the nodes that are dead, rounded to whole nodes.
    channel_rate : float
        Share of the channels between healthy nodes that are dead, rounded likewise.
    waypoints : int
        Most waypoints of a packet.
    seed : int
        Trial t is drawn from (seed, t), whoever works on it.
    """

    network: NetworkSpec
    modes: str | None = None
    lanes: int = 1
    rate: float
    channel_rate: float
    waypoints: int
    seed: int

    def detours(self, number: int) -> Detours:
        """Return what waypoints do for the faults of one trial."""
        table = _table(self.network, self.modes, self.lanes)
        dead = round(self.rate * len(table.neighbors))
        rng = np.random.default_rng([self.seed, number])
        return Detours(table, draw_faults(table.neighbors, rng, nodes=dead, channel_rate=self.channel_rate))

    def trial(self, number: int) -> list[float]:
        """Return the shares of one trial: of healthy pairs connected, of those joined by 0, 1, ... waypoints, and of
        those joined with legs that are healthy in both directions.
        """
        detours = self.detours(number)
        shares = [detours.fractions(self.waypoints, two_way=two_way) for two_way in (False, True)]
        return [detours.connected_share, *shares[0], *shares[1]]

    def trials(self, numbers: range) -> list[list[float]]:
        """Return :meth:`trial` of each."""
        return [self.trial(number) for number in numbers]

    def rows(self, trials: int, start: Start, progress: Progress) -> npt.NDArray[np.float64]:
        """Return :meth:`trial` of so many, made with the workers that `start` starts, shape (trials, shares)."""
        size = -(-trials // BATCHES)
        parts = [range(first, min(first + size, trials)) for first in range(0, trials, size)]
        ended: Ended[list[list[float]]] = Ended()
        progress(f"0 of {len(parts)} batches", 0.0)
        with start() as executor:
            futures: list[Future[list[list[float]]]] = []
            for part in parts:
                futures.append(executor.submit(self.trials, part))
                ended.add(futures[-1])
            done = 0
            while done < len(parts):
                for future in ended.wait():
                    future.result()
                    done += 1
                progress(f"{done} of {len(parts)} batches", done / len(parts))
        return np.array([row for future in futures for row in future.result()])

    def run(self, trials: int, start: Start, progress: Progress = lambda *_: None) -> dict[str, Any]:
        """Make so many trials with the workers that `start` starts.

        Returns
        -------
        dict
            ``reached``: the mean share of the connected pairs joined by 0, 1, ... waypoints; ``reached_least``: the
            least of any trial; ``reached_two_way``: the mean where each leg but the last is healthy in both directions;
            ``connected``: the mean share of the healthy pairs between which there is a path at all.
        """
        routing = plan(self.network, self.modes, self.lanes)
        shares = self.rows(trials, start, progress)
        return {
            "spec": str(self.network),
            "modes": routing.modes,
            "nodes": routing.network.num_nodes,
            "dead_nodes": round(self.rate * routing.network.num_nodes),
            "channel_rate": self.channel_rate,
            "trials": trials,
            "seed": self.seed,
            "connected": float(shares[:, 0].mean()),
            "reached": _rounded(shares[:, 1 : 2 + self.waypoints].mean(axis=0)),
            "reached_least": _rounded(shares[:, 1 : 2 + self.waypoints].min(axis=0)),
            "reached_two_way": _rounded(shares[:, 2 + self.waypoints :].mean(axis=0)),
        }


def _rounded(shares: npt.NDArray[np.float64]) -> list[float]:
    return [round(float(share), 8) for share in shares]
