"""Who waits for whom in a fabric that has stopped: of each packet that is first in a queue, what it waits for."""

from collections.abc import Iterator
from dataclasses import dataclass

from hdnhw.verilog.waves.packets import Packet, Waves, Way
from hdnhw.verilog.waves.wires import EJECT, INJECT

Queue = tuple[int, Way]
"""A node, and where packets have come from there."""


@dataclass(frozen=True, eq=False)
class Head:
    """What waits first in a queue.

    Attributes
    ----------
    queue : str
        As the watchdog of a simulation calls it: node.input.vc; or ``N.ejection`` and ``N.source`` of a terminal.
    packet : Packet or None
        None of a source whose packet has not come in.
    cycle : int
        Since which it is in the fabric, or is offered.
    packets : int
        In the queue.
    wanted : Queue or None
        The queue one of whose packets must leave first, None if none must.
    reason : str
        What it waits for.
    """

    queue: str
    packet: Packet | None
    cycle: int
    packets: int
    wanted: Queue | None
    reason: str


def waiting(waves: Waves) -> tuple[list[tuple[int, Head]], list[str]]:
    """Return what waits at the end of a dump, see :func:`tree_of`."""
    return tree_of(dict(_heads(waves)))


def tree_of(heads: dict[Queue, list[Head]]) -> tuple[list[tuple[int, Head]], list[str]]:
    """Return what waits, of each queue what is first in it.

    Returns
    -------
    list of (int, Head)
        What waits for nothing in the fabric, each followed by those who wait for it, one deeper; then those of circles.
    list of str
        Queues whose first packets wait for each other, each for the next and the last for the first; empty if none do.
    """
    behind: dict[Queue, list[Head]] = {}
    for found in heads.values():
        for head in found:
            if head.wanted in heads:
                behind.setdefault(head.wanted, []).append(head)
    queue_of = {head: queue for queue, found in heads.items() for head in found}
    circle = _circle(heads)
    begin = [head for head in queue_of if head.wanted not in heads] + [heads[queue][0] for queue in circle]
    told, rows, stack = set[Head](), list[tuple[int, Head]](), [(0, head) for head in reversed(begin)]
    while stack:
        depth, head = stack.pop()
        if head not in told:
            told.add(head)
            rows.append((depth, head))
            stack += [(depth + 1, other) for other in reversed(behind.get(queue_of[head], ()))]
    return rows, [heads[queue][0].queue for queue in circle]


def _heads(waves: Waves) -> Iterator[tuple[Queue, list[Head]]]:
    """Give each queue that has packets, with what is first in it."""
    for node, queues in enumerate(waves.queues):
        for origin in sorted(way for way, queue in queues.items() if queue):
            queue, name = queues[origin], waves.name(node, origin)
            if origin == (EJECT, 0):
                yield (node, origin), [Head(name, queue[0], queue[0].cycle, len(queue), None, _sink(waves, node))]
                continue
            firsts = waves.heads(node, queue)
            yield (
                (node, origin),
                [Head(name, first, first.cycle, len(queue), *_wait(waves, node, way)) for way, first in firsts.items()],
            )
        since, full = waves.blocked.get((node, INJECT), -1), waves.machine.injection_buffers
        if since >= 0 and len(queues.get((INJECT, 0), ())) >= full:
            wanted = (node, (INJECT, 0))
            reason = f"a packet buffer of {waves.name(*wanted)}"
            yield (node, (INJECT, -1)), [Head(f"{node}.source", None, since, 0, wanted, reason)]


def _sink(waves: Waves, node: int) -> str:
    since = waves.blocked.get((node, EJECT))
    return "its terminal, which takes it" if since is None else f"its terminal, not ready since cycle {since}"


def _wait(waves: Waves, node: int, way: Way) -> tuple[Queue | None, str]:
    """Return what a packet waits for that wants to leave a node by a way."""
    wanted, free = waves.behind(node, way), waves.free_of(node, way)
    name = waves.name(*wanted)
    return (None, f"its turn: {name} has {free} free") if free else (wanted, f"a packet buffer of {name}")


def _circle(heads: dict[Queue, list[Head]]) -> list[Queue]:
    """Return queues in a circle, of those of which nothing can leave; empty if there is none."""
    stuck = dict(heads)
    while free := [queue for queue, found in stuck.items() if any(head.wanted not in stuck for head in found)]:
        for queue in free:
            del stuck[queue]
    if not stuck:
        return []
    path: list[Queue] = [min(stuck)]
    while True:
        wanted = stuck[path[-1]][0].wanted
        assert wanted is not None
        if wanted in path:
            return path[path.index(wanted) :]
        path.append(wanted)
