"""Trees of routes to every destination of a graph: shortest ones, and ones that go up and then down."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, array_of

Short = npt.NDArray[np.int16]

_TABLE, _SHORT, _LONG = (array_of(np.int32), Number, Number), array_of(np.int16), array_of(np.int64)
_sums = Function("search_sums", *_TABLE, _LONG)
_short = Function("trees_short", *_TABLE, _LONG, Number, Number, Number, _SHORT, _SHORT, _SHORT, _LONG)
_classes = Function("trees_classes", *_TABLE, _LONG, Number, Number, _SHORT, _SHORT, _SHORT)
_up_down = Function("trees_up_down", *_TABLE, _LONG, _LONG, Number, _SHORT, _LONG, result=Number)


@dataclass(frozen=True, eq=False)
class Trees:
    """Shortest routes; arrays of shape (num_terminals, num_nodes), destination first.

    Attributes
    ----------
    port : ndarray of int16
        That a node takes, -1 at the destination.
    hops : ndarray of int16
        Of the distance.
    descents : ndarray of int16
        How often the route goes down in the order of channels from the node on.
    load : ndarray of int64, shape (num_nodes, ports)
        Routes between terminals through each channel.
    """

    port: Short
    hops: Short
    descents: Short
    load: npt.NDArray[np.int64]


def distance_sums(table: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the sum of the distances from every node, shape (num_nodes,)."""
    sums = np.empty(len(table), np.int64)
    _sums(table, *table.shape, sums)
    return sums


def short_trees(
    table: npt.NDArray[np.int32], rank: npt.NDArray[np.int64], terminals: int, *, by_load: bool, sweeps: int
) -> Trees:
    """Return trees of shortest routes.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
        As :func:`hdnhw.topology.metrics.neighbor_table` returns it.
    rank : ndarray of int64, shape (num_nodes, ports)
        The place of each channel in an order.
    terminals : int
        Destinations, the first nodes.
    by_load : bool
        Whether the load of the channels comes before the descents.
    sweeps : int
        How often every tree is made, each time with the load of the others.
    """
    shape = terminals, len(table)
    port, hops, descents = (np.zeros(shape, np.int16) for _ in range(3))
    load = np.zeros(table.shape, np.int64)
    _short(table, *table.shape, rank, terminals, by_load, sweeps, port, hops, descents, load)
    return Trees(port, hops, descents, load)


def shortest_classes(table: npt.NDArray[np.int32], rank: npt.NDArray[np.int64], trees: Trees) -> Short:
    """Return the class of every hop, which goes up where the route goes down in the order; shape of the trees.

    Routes to half of the destinations use the lowest classes they can, those to the others the highest.
    """
    classes, most = np.empty_like(trees.port), int(trees.descents.max())
    _classes(table, *table.shape, rank, len(classes), most, trees.port, trees.descents, classes)
    return classes


def up_down_trees(
    table: npt.NDArray[np.int32], height: npt.NDArray[np.int64], terminals: int
) -> tuple[Short, tuple[int, int]] | None:
    """Return the port of every node to every destination, so that no route goes up after it has gone down.

    Parameters
    ----------
    table : ndarray of int32, shape (num_nodes, ports)
    height : ndarray of int64, shape (num_nodes,)
        All different.
    terminals : int

    Returns
    -------
    (ndarray of int16, shape (terminals, num_nodes), (int, int)) or None
        Ports, -1 at the destination; and the hops of all routes between terminals and the load of the fullest channel.
        None if there is no such way from some node.
    """
    port, load = np.zeros((terminals, len(table)), np.int16), np.zeros(table.shape, np.int64)
    from_top = np.argsort(-height, kind="stable").astype(np.int64)
    hops = _up_down(table, *table.shape, np.ascontiguousarray(height, np.int64), from_top, terminals, port, load)
    return None if hops < 0 else (port, (int(hops), int(load.max())))
