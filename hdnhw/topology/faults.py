"""Dead routers and channels."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.support.errors import SpecError


@dataclass(frozen=True, eq=False)
class Faults:
    """What is dead.

    Attributes
    ----------
    nodes : ndarray of bool, shape (num_nodes,)
        Dead routers, with all their channels.
    channels : ndarray of bool, shape (num_nodes, ports)
        Dead channels, by the node that they leave and its port; those of dead routers need not be among them.
    """

    nodes: npt.NDArray[np.bool_]
    channels: npt.NDArray[np.bool_]

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes and channels are dead, as commands tell it."""
        return {"dead_nodes": int(self.nodes.sum()), "dead_channels": int(self.channels.sum())}

    def all_channels(self, table: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return the dead channels and those of dead routers, shape (num_nodes, ports).

        Parameters
        ----------
        table : ndarray of int32, shape (num_nodes, ports)
            As :func:`hdnhw.topology.metrics.neighbor_table` makes it.
        """
        return (table >= 0) & (self.channels | self.nodes[:, None] | self.nodes[table])


def draw_faults(
    table: npt.NDArray[np.int32],
    rng: np.random.Generator,
    *,
    nodes: int = 0,
    channels: int = 0,
    channel_rate: float = 0.0,
) -> Faults:
    """Kill nodes, and channels that join two healthy ones, all as likely as each other.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` makes it.
    rng : numpy Generator
    nodes, channels : int
    channel_rate : float
        Of the channels between healthy nodes, rounded to whole ones: how many die beside the `channels`.

    Raises
    ------
    SpecError
        If there are not so many.
    """
    if not 0 <= nodes <= len(table):
        raise SpecError(f"dead nodes must be 0 to {len(table)}, not {nodes}")
    dead = np.zeros(len(table), np.bool_)
    dead[rng.permutation(len(table))[:nodes]] = True
    alive = np.argwhere((table >= 0) & ~dead[:, None] & ~dead[table])
    if not 0 <= channel_rate <= 1:
        raise SpecError(f"channel rate must be 0 to 1, not {channel_rate}")
    channels += round(channel_rate * len(alive))
    if not 0 <= channels <= len(alive):
        raise SpecError(f"dead channels must be 0 to {len(alive)} of those between healthy nodes, not {channels}")
    of_port = np.zeros(table.shape, np.bool_)
    chosen = alive[rng.permutation(len(alive))[:channels]]
    of_port[chosen[:, 0], chosen[:, 1]] = True
    return Faults(dead, of_port)
