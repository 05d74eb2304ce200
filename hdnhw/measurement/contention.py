"""How long a packet waits in a router for others: what follows from how the allocator chooses, see :mod:`hdnhw.rtl`.

Orders are by service. So an input that wants a way loses it at most once to each other input before it is served there,
and a queue is behind the others of its input at most until each of them has been served once.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from hdnhw.machine.timing import CLASS_SLOTS

Queue = tuple[int, int, int]
"""A node, an input, and a virtual channel there; or, of a way, an output. The last port is the terminal's."""

Turn = tuple[Queue, Queue]
"""A queue, and the way by which a packet leaves it."""


class Contention:
    """The queues of routers whose packets leave first in, first out, and who waits for whom.

    Parameters
    ----------
    turns : iterable of Turn
        All that packets take.
    chooses : callable
        Whether an input of the router of a node has several virtual channels, so that each way has its own order.
    lanes : int
        Virtual channels of a class.

    Attributes
    ----------
    ways : dict of Queue to set of Queue
        By which packets leave each queue.
    entries : dict of Queue to set of int
        Inputs from which packets leave by each way.
    """

    def __init__(self, turns: Iterable[Turn], chooses: Callable[[int], bool], lanes: int) -> None:
        self.ways: dict[Queue, set[Queue]] = defaultdict(set)
        self.entries: dict[Queue, set[int]] = defaultdict(set)
        self._leaving: dict[tuple[int, int], set[Queue]] = defaultdict(set)  # ways of an output
        self._waiting: dict[tuple[int, int], set[Queue]] = defaultdict(set)  # queues of an input
        self._lanes = lanes
        for queue, way in turns:
            self.ways[queue].add(way)
            self.entries[way].add(queue[1])
            self._leaving[way[:2]].add(way)
            self._waiting[queue[:2]].add(queue)
        self._chooses = {node: chooses(node) for node in {queue[0] for queue in self.ways}}

    def _rivals(self, port: int, way: Queue) -> int:
        """Return how often others are sent by a way before an input that wants it is: once for each other input."""
        ways = {way} if self._chooses[way[0]] else self._leaving[way[:2]]
        return len(set().union(*(self.entries[each] for each in ways)) - {port})

    def _passes(self, way: Queue) -> int:
        """Return the most slots in a row in which an output is asked for a way and sends by others.

        Of a later class it may do so in all slots but one of some; there, and of the same class, each other way comes
        first at most once.
        """
        if not self._chooses[way[0]]:
            return 0
        lanes, others = self._lanes, self._leaving[way[:2]] - {way}
        later = [other for other in others if other[2] // lanes > way[2] // lanes]
        equal = [other for other in others if other[2] // lanes == way[2] // lanes]
        if later:
            return CLASS_SLOTS * len(others)
        return len(equal) + min(len(others) - len(equal), 1 + len(equal) // (CLASS_SLOTS - 1))

    def wait(self, queue: Queue, way: Queue, gaps: Mapping[Queue, int]) -> int:
        """Return the most slots in which a packet that is first in a queue waits to leave by a way.

        Other queues of its input may each be offered before it, until they are served once. In what is left it loses
        its way to every rival once, and each time waits for a credit.
        """
        own, before = self._waiting[queue[:2]], self._waiting[queue[:2]] - {queue}
        # Slots with a credit for one of those before it; the packet is offered anew, and lacks one, after each run.
        runs = slots = 0
        for rivals, taken in sorted((self._most(other) for other in before), reverse=True):
            runs, slots = 2 * runs + rivals + 1, slots + (runs + rivals + 1) * taken
        shortest = slots + self._offered(own, way, 1 + runs, gaps[way])
        # Or slots until these are served, each of them in turn, with those in which they have no credit.
        ways = {each for other in before for each in self.ways[other]}
        if ways <= gaps.keys():
            slots = sum(
                max(self._offered(own, each, len(before), gaps[each]) for each in self.ways[other]) for other in before
            )
            shortest = min(shortest, slots + self._offered(own, way, 1 + len(before), gaps[way]))
        return shortest

    def _most(self, queue: Queue) -> tuple[int, int]:
        """Return the most rivals of a queue, and the most slots in a row in which it is offered until one is served."""
        ways = self.ways[queue]
        return max(self._rivals(queue[1], way) for way in ways), 1 + max(map(self._passes, ways))

    def _offered(self, own: set[Queue], way: Queue, times: int, gap: int) -> int:
        """Return the slots of a packet of an input with some queues that is offered so often and once for each rival.

        Each time it may lack a credit, if others than itself take some.
        """
        rivals = self._rivals(next(iter(own))[1], way)
        is_shared = rivals or sum(way in self.ways[each] for each in own) > 1
        times += rivals
        return times * (1 + self._passes(way)) + (times if is_shared else 1) * gap

    def competitors(self, queue: Queue) -> set[Turn]:
        """Return the turns of packets that leave a router in slots in which the first of a queue cannot.

        They leave by an output that it wants, or that another queue of its input wants, which is offered before it; or
        from that queue.
        """
        node, port, _ = queue
        waiting = self._waiting[node, port] if self._chooses[node] else {queue}
        wanted = {way[1] for each in waiting for way in self.ways[each]}
        return {
            (other, way)
            for entry in {entry for out in wanted for each in self._leaving[node, out] for entry in self.entries[each]}
            for other in self._waiting[node, entry]
            for way in self.ways[other]
            if other != queue and way[1] in wanted
        }
