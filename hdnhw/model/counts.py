"""What the channels and queues of a fabric did: counts, and tables made of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.machine.machine import Machine
from hdnhw.rules.plan import RoutingPlan
from hdnhw.support.columns import check_columns, write_columns
from hdnhw.topology.metrics import neighbor_table

Integers = npt.NDArray[np.int64]
Row = dict[str, Any]

TERMINAL = ("ejection", "injection")
"""Names of the channels to and from a terminal, in their order behind those of the network ports."""


@dataclass(frozen=True, eq=False)
class Counts:
    """What channels and queues did in some slots, as many cycles each as a packet has flits.

    Channels of a node are those of its outputs in the order of the network's ports, then ejection, then injection.

    Attributes
    ----------
    slots : int
        Slots counted.
    sent : ndarray of int64, shape (nodes, ports + 2, virtual channels)
        Packets that went over each virtual channel of a channel. A packet keeps a channel busy for one slot.
    stalled : ndarray of int64, shape (nodes, ports + 2)
        Slots in which none went over a channel though one waited for it: at the head of a queue of the router, or in
        the source. There was no free packet buffer at its end, or the packet's input sent another one.
    held : ndarray of int64, shape (nodes, ports + 1, virtual channels)
        Packets in each queue, summed over the slots: those that have come in whole when the slot is allocated, the one
        that leaves in it among them. Queues are those of the inputs in the order of ports, then of injection.
    most : ndarray of int64, likewise
        Most packets in each queue in one slot, since reset.
    """

    slots: int
    sent: Integers
    stalled: Integers
    held: Integers
    most: Integers

    def since(self, before: "Counts") -> "Counts":
        """Return what has been counted since `before`."""
        return Counts(
            self.slots - before.slots,
            self.sent - before.sent,
            self.stalled - before.stalled,
            self.held - before.held,
            self.most,
        )


def channel_types(plan: RoutingPlan, counts: Counts) -> list[Row]:
    """Return a row for each type of channel, named after the port that it leaves by.

    Its ``channels``, their ``load`` in flits a cycle and share of slots ``stalled``, each {mean, max}, and the mean
    ``load_by_vc``, a list.
    """
    stalled, there = counts.stalled / counts.slots, _exists(plan)
    rows = []
    for number, (name, num_vcs) in enumerate(zip(channel_names(plan), (*plan.num_vcs, 1, 1), strict=True)):
        own = counts.sent[there[:, number], number, :num_vcs]
        rows.append(
            {
                "type": name,
                "channels": len(own),
                "load": _mean_and_max(own.sum(axis=1) / counts.slots),
                "stalled": _mean_and_max(stalled[there[:, number], number]),
                "load_by_vc": (own.mean(axis=0) / counts.slots).round(6).tolist(),
            }
        )
    return rows


def _mean_and_max(values: npt.NDArray[np.float64]) -> Row:
    return {"mean": round(float(values.mean()), 6), "max": round(float(values.max()), 6)}


def buffer_classes(machine: Machine, counts: Counts) -> list[Row]:
    """Return a row for each virtual channel of each type of input, named after its port, and for injection.

    How many ``queues`` it has, the packet ``buffers`` of each, the ``packets`` held {mean, max}, and the share of the
    buffers that is ``used`` in the mean.
    """
    plan, there = machine.plan, _exists(machine.plan)
    inputs = [(plan.num_vcs[port.opposite], machine.vc_buffers(port.opposite)) for port in plan.network.ports]
    inputs.append((1, machine.injection_buffers))
    rows = []
    for number, name in enumerate([*channel_names(plan)[:-2], TERMINAL[1]]):
        num_vcs, buffers = inputs[number]
        for vc in range(num_vcs):
            packets = _mean_and_max(counts.held[there[:, number], number, vc] / counts.slots)
            used = round(packets["mean"] / buffers, 6)
            rows.append({"type": name, "vc": vc, "queues": int(there[:, number].sum()), "buffers": buffers})
            rows[-1] |= {"packets": packets, "used": used}
    return rows


def channel_names(plan: RoutingPlan) -> list[str]:
    """Return the names of the types of channels: of ports, then ejection, then injection."""
    return [port.name for port in plan.network.ports] + [*TERMINAL]


def _exists(plan: RoutingPlan) -> npt.NDArray[np.bool_]:
    """Return which channels a node has, shape (nodes, ports + 2)."""
    return np.pad(neighbor_table(plan.network) >= 0, ((0, 0), (0, 2)), constant_values=True)


def check_channels(path: Path) -> None:
    """Raise SpecError unless :func:`write_channels` can write a file of this name."""
    check_columns("channels", path)


def load_columns(plan: RoutingPlan, load: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return columns of the channels that there are, of a load of the shape (nodes, ports + 2); see write_channels."""
    import pyarrow

    node, channel = np.nonzero(_exists(plan))
    neighbor = np.pad(neighbor_table(plan.network), ((0, 0), (0, 2)), constant_values=-1)[node, channel]
    names = np.array(channel_names(plan))[channel]
    return {
        "node": node,
        "port": names,
        "neighbor": pyarrow.array(neighbor, mask=neighbor < 0),
        "load": load[node, channel],
    }


def write_channels(plan: RoutingPlan, counts: Counts, path: Path) -> None:
    """Write a row for each channel, in the order of nodes and then of ports.

    Columns are ``node``, ``port``, ``neighbor`` (null at a terminal), ``load``, ``load_vc0`` and so on (null where a
    channel has no such virtual channel) in flits per cycle, and ``stalled``, a share of the slots.
    """
    import pyarrow

    check_channels(path)
    node, channel = np.nonzero(_exists(plan))
    sent, num_vcs = counts.sent[node, channel], np.array([*plan.num_vcs, 1, 1])[channel]
    columns = load_columns(plan, counts.sent.sum(axis=2) / counts.slots) | {
        **{f"load_vc{vc}": pyarrow.array(sent[:, vc] / counts.slots, mask=num_vcs <= vc) for vc in range(plan.max_vcs)},
        "stalled": counts.stalled[node, channel] / counts.slots,
    }
    write_columns(columns, path)
