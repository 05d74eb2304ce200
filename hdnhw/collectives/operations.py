"""The schedule of an operation by its name."""

from dataclasses import replace

from hdnhw.collectives.backwards import backwards, multicast_schedule
from hdnhw.collectives.combining import Phases
from hdnhw.collectives.exchange import exchange_schedule
from hdnhw.collectives.scatter import scatter_schedule
from hdnhw.collectives.schedule import Schedule
from hdnhw.collectives.spread import allgather_schedule, broadcast_schedule
from hdnhw.spec import EXCHANGE_ORDERS, JOIN, MULTICAST
from hdnhw.topology.graph import Network

BACKWARDS = {"reduce": "broadcast", "reducescatter": "allgather", "gather": "scatter"}
"""Operations, and those that they are backwards."""


def allreduce_phases(network: Network, *, all_port: bool = False) -> Phases:
    """Return an all-reduce in blocks: a reduce-scatter, and an all-gather of the results."""
    names = ("reducescatter", "allgather")
    return Phases("allreduce", tuple(operation_schedule(network, name, all_port=all_port) for name in names))


def operation_schedule(
    network: Network, operation: str, *, root: int = 0, order: str = EXCHANGE_ORDERS[1], all_port: bool = False
) -> Schedule:
    """Return the schedule of a collective operation whose messages have a source or a destination.

    Parameters
    ----------
    network : Network
    operation : str
    root : int
        Of an operation that has one.
    order : str
        Of a total exchange, one of :data:`hdnhw.spec.EXCHANGE_ORDERS`.
    all_port : bool
    """
    if operation == "exchange":
        return exchange_schedule(network, order, all_port=all_port)
    if operation == "multicast":
        return multicast_schedule(network, root, all_port=all_port)
    if operation in BACKWARDS:
        forwards = operation_schedule(network, BACKWARDS[operation], root=root, all_port=all_port)
        return backwards(forwards, operation)
    if operation == "broadcast":
        return broadcast_schedule(network, root, all_port=all_port)
    if operation == "scatter":
        return scatter_schedule(network, root, all_port=all_port)
    return allgather_schedule(network, all_port=all_port)


def operation_phases(
    network: Network, operation: str, *, root: int = 0, order: str = EXCHANGE_ORDERS[1]
) -> tuple[Schedule, ...]:
    """Return the schedules of one of :data:`hdnhw.spec.OPERATIONS`, which run one after the other.

    A multicast is a broadcast whose sends the members of a group choose, and a join is that read backwards: no message
    moves in it, but every node tells the one that would send to it of members.
    """
    if operation == "allreduce":
        return allreduce_phases(network).schedules
    if operation in (JOIN, MULTICAST):
        forwards = replace(broadcast_schedule(network, root), name=MULTICAST)
        return (replace(backwards(forwards, JOIN), combines=False, to_root=False) if operation == JOIN else forwards,)
    return (operation_schedule(network, operation, root=root, order=order),)
