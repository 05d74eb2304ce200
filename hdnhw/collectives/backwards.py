"""Reduce, reduce-scatter, gather and multicast: schedules of broadcast, all-gather and scatter, read backwards.

Where a broadcast sends a message from u to v in step t of T, a reduce sends the partial result of v to u in step
T - 1 - t: by then v has the contributions of all nodes that get the message by way of it. In a broadcast every node
gets the message once, so in a reduce it gives its partial result away once, and each contribution comes to the root
once. Start-ups and words are the same.

The condition at v is that at u: with the digits of the neighbor behind the port for the own ones, and what was read of
the source read of the destination. So it is arithmetic on digits again, with no table. A scatter's condition is true
at nodes that do not have the message, too; so a gather's is that of the one node that has it in that step, whose digits
are those of the root, moved as the steps before say for this message. They follow from its source alone.

References
----------
.. [1] RDN paper (rdn-collectives), section V: what an all-to-all broadcast is good for.
"""

from collections.abc import Iterator
from dataclasses import replace

from hdnhw.circuits.circuit import Term
from hdnhw.collectives.schedule import Builder, Schedule, Send, Step, Target
from hdnhw.collectives.spread import broadcast_schedule
from hdnhw.topology.graph import Network


def backwards(schedule: Schedule, name: str) -> Schedule:
    """Return the schedule in which every message goes back to where it came from.

    Parameters
    ----------
    schedule : Schedule
        Of messages that are copied to every node once, or of one root that are handed on.
    name : str
        Of the result. What was copied is combined.
    """
    maker, root = _Backwards(schedule), schedule.root
    make = maker.combined if schedule.copies else maker.gathered
    steps = [Step(step.stage, tuple(sends)) for step, sends in zip(schedule.steps, make(), strict=True)]
    made = maker.schedule(name, steps[::-1], copies=False, root=root)
    return replace(made, combines=schedule.copies, to_root=root is not None)


def multicast_schedule(network: Network, root: int = 0, *, all_port: bool = False) -> Schedule:
    """Return the schedule in which messages of the root take the way of a broadcast, to some of the nodes.

    A message has a list of destinations, and a node sends it on with those that are behind a port: a condition on the
    own digits and those of one destination. Every destination gets the message once, no other edges are used than those
    of the broadcast, and steps in which nothing is sent cost nothing.
    """
    forwards = broadcast_schedule(network, root, all_port=all_port)
    maker = _Backwards(forwards)
    stages = [step.stage for step in reversed(forwards.steps)]
    steps = [Step(stage, tuple(sends)) for stage, sends in zip(stages, maker.handed_on(), strict=True)]
    return replace(maker.schedule("multicast", steps[::-1], copies=False, root=root), merges=True)


class _Backwards(Builder):
    def __init__(self, schedule: Schedule) -> None:
        super().__init__(schedule.network, all_port=False)
        self._forwards = schedule

    def combined(self) -> Iterator[list[Send]]:
        """Yield what is sent in each step over the other ends of the channels, when the neighbor would send."""
        for step in self._forwards.steps:
            sends = []
            for send in step.sends:
                port = self.network.ports[send.port].opposite
                neighbor, is_there = self.behind(port, self.own)
                sends.append(Send(port, is_there & self._when(send, neighbor, self.dst)))
            yield sends

    def gathered(self) -> Iterator[list[Send]]:
        """Yield what is sent in each step: the messages that move from the node that has them, for their source."""
        assert self._forwards.root is not None, "what is handed on from every node is a total exchange"
        place: Target = self.constants(self._forwards.root)
        for step in self._forwards.steps:
            sends, moved = [], dict(place)
            for send in step.sends:
                when = self._when(send, place, self.src)
                there, _ = self.behind(send.port, place)
                moved = {digit: when.mux(there[digit], moved[digit]) for digit in moved}
                sends.append(Send(self.network.ports[send.port].opposite, when))
            place = moved
            yield sends

    def handed_on(self) -> Iterator[list[Send]]:
        """Yield what is sent in each step of a broadcast to bring a message to one node, from the last step.

        That is over the way of its partial result in a reduce: from the destination, back to the root.
        """
        place: Target = dict(self.dst)
        for step in reversed(self._forwards.steps):
            sends, moved = [], dict(place)
            for send in step.sends:
                there, is_there = self.behind(self.network.ports[send.port].opposite, place)
                when = is_there & self._when(send, there, there)
                moved = {digit: when.mux(there[digit], moved[digit]) for digit in moved}
                sends.append(Send(send.port, when & self.equal(self.own, there, list(there))))
            place = moved
            yield sends

    def _when(self, send: Send, node: Target, message: Target) -> Term:
        """Return whether `node` sends that message, in the circuit of the result."""
        ends = {"own": node, "src": message, "dst": message}

        def digit(name: str) -> Term:
            return ends[name[:3]][int(name[3:])]

        return self.circuit.restated(send.when, digit)
