"""The router's stages on arrays, under the names they have in :mod:`hdnhw.rtl`.

Array axes: node, port (the last one is injection, or ejection), virtual channel, packet slot.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from hdnhw.routing.compiled import VC_SHIFT

__all__ = ["allocate_node", "push_decision"]

PORT_MASK = (1 << VC_SHIFT) - 1


@njit(cache=True, inline="always")
def push_decision(queue, node, port, vc, packet, decision):  # type: ignore[no-untyped-def]
    """Put a packet with its routing decision (``port | vc << VC_SHIFT``) at the end of a queue."""
    packets, decisions, head, level = queue
    slot = (head[node, port, vc] + level[node, port, vc]) % packets.shape[3]
    packets[node, port, vc, slot] = packet
    decisions[node, port, vc, slot] = decision
    level[node, port, vc] += 1


@njit(cache=True)
def _choose_vc(queue, credits, turn, node, port, num_vcs):  # type: ignore[no-untyped-def]
    """Return the virtual channel of an input whose head packet may be sent, by turns, or -1."""
    _, decisions, head, level = queue
    for step in range(num_vcs):
        vc = (turn[node, port] + step) % num_vcs
        if level[node, port, vc]:
            decision = decisions[node, port, vc, head[node, port, vc]]
            if credits[node, decision & PORT_MASK, decision >> VC_SHIFT]:
                return vc
    return -1


@njit(cache=True)
def allocate_node(queue, credits, turns, vcs_in, node, chosen, winner):  # type: ignore[no-untyped-def]
    """Match inputs and outputs of one router for the next slot; return how many outputs have a winner.

    `chosen` and `winner` are work space, shape (ports + 1,): on return, ``winner[o]`` is the input that sends to output
    o or -1, and ``chosen[i]`` the virtual channel that input i has picked. Credits are spent and turns moved on; the
    packets stay at the heads of their queues.
    """
    _, decisions, head, _ = queue
    input_turn, output_turn = turns
    ports = len(vcs_in)
    for output in range(ports):
        winner[output] = -1
    granted = 0
    for port in range(ports):
        chosen[port] = _choose_vc(queue, credits, input_turn, node, port, vcs_in[port])
        if chosen[port] < 0:
            continue
        output = decisions[node, port, chosen[port], head[node, port, chosen[port]]] & PORT_MASK
        best, turn = winner[output], output_turn[node, output]
        if best < 0:
            granted += 1
        if best < 0 or (port - turn) % ports < (best - turn) % ports:
            winner[output] = port
    for output in range(ports):
        port = winner[output]
        if port >= 0:
            decision = decisions[node, port, chosen[port], head[node, port, chosen[port]]]
            credits[node, output, decision >> VC_SHIFT] -= 1
            output_turn[node, output] = (port + 1) % ports
            input_turn[node, port] = (chosen[port] + 1) % vcs_in[port]
    return granted


def make_queues(nodes: int, ports: int, num_vcs: int, buffers: int) -> tuple[npt.NDArray[Any], ...]:
    """Return empty queues: packets, decisions (node, port, vc, slot), head and level (node, port, vc)."""
    shape = (nodes, ports, num_vcs)
    return (
        np.full((*shape, buffers), -1, np.int32),
        np.zeros((*shape, buffers), np.int32),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.int16),
    )
