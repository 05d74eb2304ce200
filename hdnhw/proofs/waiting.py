"""Waiting: the first packet of a queue leaves within so many slots in which a buffer ahead is free for it.

Of each queue the rig keeps a rank, from what the router knows: how many inputs come before its own where its packet
goes, how many virtual channels come before the packet's, and in how many slots these are served in turn; and the same
of the other queue of its input while that is served first. Each slot in which the packet could leave and does not takes
the rank down, and nothing takes it up until the packet leaves. So it waits in no more slots than there are ranks.

Hints say what each register of the allocator holds in which phases; all claims follow from them by induction.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from hdnhw.machine.machine import Machine
from hdnhw.machine.timing import CLASS_SLOTS
from hdnhw.proofs.parts import RouterPart
from hdnhw.proofs.rig import RigError, at_most_one
from hdnhw.verilog.fabric import EmittedFabric

Way = tuple[int, int]

_MOST_QUEUES = 2
"""Of an input: with more, one that is served first can come and go, and the ranks would be many."""


class WaitingRig(RouterPart):
    """A rig around the allocator of a router whose queues offer the way of a packet until it leaves.

    Whether a buffer ahead is free is told by the rig, too: where one is, one is until a packet goes that way. That the
    router knows so is claimed in the rig of the switch.

    Parameters
    ----------
    fabric : EmittedFabric
    shape, bit : int
        See :class:`RouterPart`.
    port, vc : int
        Of the queue.

    Attributes
    ----------
    bound : int
        The most slots in which the first packet of the queue waits.
    """

    def __init__(self, fabric: EmittedFabric, shape: int, bit: int, port: int, vc: int) -> None:
        super().__init__(fabric, shape, bit)
        timing, length = self._timing, self._length
        self._ports = (*self._shape.ports, self._local)
        self._queues = [(port, vc) for port in self._ports for vc in range(self._num_vcs(port))]
        self._chooses = any(self._num_vcs(port) > 1 for port in self._ports)
        serve = (timing.commit_phase + 1) % length
        self._serve = self._at(serve)
        self._sample = self._at(timing.sample_phase)
        self._commit = timing.commit_phase + (length if timing.commit_phase < timing.sample_phase else 0)
        # Phases in which orders have taken in who leaves, and queues and credits have not.
        self._between = self._in_phases(*range(serve + 1, timing.update_phase + 1))
        for each in self._ports:
            self._look(f"leaves_{self._name(each)}", f"{self._name(each)}.queues__pop", self._num_vcs(each))
        for queue in self._queues:
            self._offer(*queue)
        for way in sorted({way for queue in self._queues for way in self._ways(*queue)}):
            self._have_room(*way)
        self._hint_orders()
        self._know()
        self._hint_requests()
        self._hint_grants()
        self._hint_pops()
        for queue in ((port, vc), *self._others(port, vc)):
            self._hint_order(*queue)
        self.bound = self._wait(port, vc)

    @staticmethod
    def unknown(machine: Machine) -> str:
        """Return what the rig does not know of the routers of a machine, as on the command line; empty if nothing."""
        timing, queues = machine.timing, max(machine.plan.num_vcs)
        options = {
            "--queueing voq": timing.matches,
            "--dead-pins": machine.spec.dead_pins,
            f"more than {_MOST_QUEUES} virtual channels per port": queues > _MOST_QUEUES,
            "packets of 2 flits": timing.head_phase + timing.registers_routes != timing.update_phase,
        }
        return ", ".join(option for option, is_there in options.items() if is_there)

    def _offer(self, port: int, vc: int) -> None:
        """Let a queue offer one way or none, another one when its packet has left."""
        own, width = self._id(port, vc), len(self._ways(port, vc))
        offered = self._one_of(f"next_{own}", self._free(f"f_way_{own}", width), width, default=False)
        update, push = self._at(self._timing.update_phase), self._at(self._push_phase)
        ends = f"({update} && {self._leaves(port, vc)}) || (({update} || {push}) && way_{own} == 0)"
        way = self._register(f"way_{own}", f"{ends} ? {offered} : way_{own}", width=width)
        self._hint(at_most_one(way))
        self._hint(f"sampled || {self._sample} || {way} == 0")
        self._cut(f"{self._name(port)}.queues__way_{vc}", way)

    def _have_room(self, out: int, vc: int) -> None:
        """Let there be room by a way, or not; while there is and no packet goes there, there is."""
        name = f"room_{out}_{vc}"
        goes = _any(self._goes(queue, (out, vc)) for queue in self._queues if (out, vc) in self._ways(*queue))
        stays = f"({name} && !({goes}))"
        self._register(name, f"counted ? {self._free(f'f_{name}')} || {stays} : {name}", reset="1")
        self._cut(f"allocator.credits_{self._ports.index(out)}_{vc}.available", name)

    def _id(self, port: int, vc: int) -> str:
        return f"{self._name(port)}_{vc}"

    def _room(self, way: Way) -> str:
        return f"room_{way[0]}_{way[1]}"

    def _leaves(self, port: int, vc: int) -> str:
        return f"leaves_{self._name(port)}[{vc}]"

    def _goes(self, queue: tuple[int, int], way: Way) -> str:
        """Return the condition that a packet leaves a queue by a way."""
        return f"({self._leaves(*queue)} && way_{self._id(*queue)}[{self._ways(*queue).index(way)}])"

    def _others(self, port: int, vc: int) -> list[tuple[int, int]]:
        """Return the other queues of a queue's input."""
        return [(port, each) for each in range(self._num_vcs(port)) if each != vc]

    def _vcs(self, out: int) -> list[int]:
        """Return the virtual channels by which packets leave an output."""
        return sorted({vc for queue in self._queues for to, vc in self._ways(*queue) if to == out})

    def _rivals(self, way: Way) -> list[int]:
        """Return the inputs that an order of service is of, as its bits number them."""
        if not self._chooses:
            return list(self._ports)
        return [
            port for port in self._ports if any(way in self._ways(*queue) for queue in self._queues if queue[0] == port)
        ]

    def _order(self, way: Way) -> str:
        """Return the order of service of the inputs for a way."""
        if not self._chooses:
            return "order"
        number = self._ports.index(way[0])
        return f"order_{number}_{way[1]}" if len(self._vcs(way[0])) > 1 else f"order_{number}"

    def _before(self, order: str, one: int, other: int) -> str:
        """Return the condition that one comes before the other in an order of service."""
        low, high = sorted((one, other))
        return f"{'' if one < other else '!'}is_allocator_{order}_{low}_{high}"

    def _input_before(self, way: Way, one: int, other: int) -> str:
        rivals = self._rivals(way)
        return self._before(self._order(way), rivals.index(one), rivals.index(other))

    def _vc_before(self, out: int, one: int, other: int) -> str:
        vcs = self._vcs(out)
        return self._before(f"vc_order_{self._ports.index(out)}", vcs.index(one), vcs.index(other))

    def _queue_before(self, port: int, one: int, other: int) -> str:
        return self._before(f"queue_order_{self._ports.index(port)}", one, other)

    def _steps(self, way: Way) -> int:
        """Return the ranks of a packet that no other input comes before."""
        count = len(self._vcs(way[0]))
        return (CLASS_SLOTS + 1) * count if count > 1 else 1

    def _know(self) -> None:
        """Know of each queue who comes before it; remember it, but for virtual channels' turns, in the serve phase."""
        bits = (CLASS_SLOTS - 1).bit_length()
        self._is_turned = "allocator.class_slot" in self._text
        if self._is_turned:
            self._look("class_slot", "allocator.class_slot", bits)
            self._wire("turn", f"{bits}'d{CLASS_SLOTS - 1} - class_slot", width=bits)
            self._wire("last_turn", f"turn + {bits}'d1", width=bits)
            self._wire("turn_now", f"{self._serve} ? last_turn : turn", width=bits)
        for port, vc in self._queues:
            own, ways = self._id(port, vc), self._ways(port, vc)
            ready, inputs, vcs = [], [], []
            for place, way in enumerate(ways):
                takes = f"way_{own}[{place}]"
                ready.append(f"({takes} && {self._room(way)})")
                ahead = [self._input_before(way, other, port) for other in self._rivals(way) if other != port]
                inputs.append(f"({takes} ? {_sum(ahead)} : 0)")
                first = [self._vc_before(way[0], other, way[1]) for other in self._vcs(way[0]) if other != way[1]]
                vcs.append(f"({takes} ? {_sum(first) if self._chooses else 0} : 0)")
            most = {
                "inputs": max(len(self._rivals(way)) for way in ways),
                "vcs": max(len(self._vcs(way[0])) for way in ways),
            }
            self._wire(f"asks_{own}", " || ".join(ready))
            for name, parts in (("inputs", inputs), ("vcs", vcs)):
                width = most[name].bit_length()
                self._wire(f"{name}_{own}", " | ".join(parts), width=width)
                self._register(f"{name}_of_{own}", f"{self._serve} ? {name}_{own} : {name}_of_{own}", width=width)
                self._hint(f"{name}_of_{own} < {most[name]}")
            for name, width in (("asks", 1), ("way", len(ways))):
                self._register(f"{name}_of_{own}", f"{self._serve} ? {name}_{own} : {name}_of_{own}", width=width)
        for port, vc in self._queues:
            for now in ("", "_of"):
                sooner = [
                    f"(asks{now}_{self._id(*other)} && {self._queue_before(port, other[1], vc)})"
                    for other in self._others(port, vc)
                ]
                own = self._id(port, vc)
                self._wire(f"chosen{now}_{own}", f"asks{now}_{own} && !({' || '.join(sooner) or 0})")

    def _rank(self, port: int, vc: int, *, then: bool, asks: str, jump: int = 0) -> str:
        """Return the rank of a queue by itself, now or as it is remembered; more by `jump` while it does not ask."""
        own, of, ranks = self._id(port, vc), "_of" if then else "", []
        for place, way in enumerate(self._ways(port, vc)):
            steps = self._steps(way)
            turn = ("last_turn" if then else "turn_now") if self._is_turned else "0"
            asking = f"{CLASS_SLOTS + 1} * vcs{of}_{own} + {turn}" if steps > 1 else "0"
            rank = f"{steps + jump} * inputs{of}_{own} + ({asks} ? {asking} : {steps - 1 + jump})"
            ranks.append(f"(way{of}_{own}[{place}] ? {rank} : 0)")
        return f"({' + '.join(ranks)})"

    def _wait(self, port: int, vc: int) -> int:
        """Claim how long the first packet of a queue waits; return it."""
        own, ways, others = self._id(port, vc), self._ways(port, vc), self._others(port, vc)
        jump = max(map(self._steps, ways))
        most = max(len(self._rivals(way)) * self._steps(way) for way in ways)
        extra = {
            other: max(len(self._rivals(way)) * (self._steps(way) + jump) for way in self._ways(*other))
            for other in others
        }
        bound = most - 1 + sum(most + each for each in extra.values())
        width = bound.bit_length() + 1

        def total(*, then: bool) -> str:
            of = "_of" if then else ""
            parts = [self._rank(port, vc, then=then, asks=f"chosen{of}_{own}")]
            for other, none in extra.items():
                name = self._id(*other)
                rank = self._rank(*other, then=then, asks=f"asks{of}_{name}", jump=jump)
                before = self._register(f"before_of_{own}", f"{self._serve} ? {now} : before_of_{own}") if then else now
                parts.append(f"({before} ? {most} + (way{of}_{name} != 0 ? {rank} : {none}) : 0)")
            return " + ".join(parts)

        now = self._queue_before(port, others[0][1], vc) if others else ""
        rank, was = self._wire(f"rank_{own}", total(then=False), width=width), f"rank_of_{own}"
        self._wire(was, total(then=True), width=width)
        leaves = f"(counted && {self._leaves(port, vc)})"
        self._register(
            f"waits_{own}", f"counted ? ({leaves} ? 0 : waits_{own} + asks_{own}) : waits_{own}", width=width
        )
        self._register(f"same_{own}", f"({self._serve} ? sampled && way_{own} != 0 : same_{own}) && !{leaves}")
        name = f"{self._name(port)}, virtual channel {vc}" if others else self._name(port)
        self.claims += [
            (
                f"a packet of {name} waits and comes no nearer",
                f"!({self._sample} && same_{own}) || {rank} + asks_of_{own} <= {was}",
            ),
            (f"a packet of {name} waits for more than {bound} slots", f"waits_{own} <= {bound}"),
        ]
        self._hint(f"way_{own} == 0 || {self._between} || waits_{own} + {rank} <= {bound}")
        self._hint(f"!same_{own} || !{self._between} || waits_{own} + {was} <= {bound}")
        self._hint(f"way_{own} != 0 || waits_{own} == 0")
        self._hint(f"!same_{own} || sampled")
        self._hint(f"!sampled || !{self._between} || same_{own} == (way_{own} != 0)")
        self._hint(f"waits_{own} == 0 || (sampled && (!{self._sample} || same_{own}))")
        if others:
            self._hint(f"!sampled || !{self._between} || before_of_{own} == {now}")
        self._happens(f"waits_{own} != 0 && {leaves}")
        return bound

    def _hint_order(self, port: int, vc: int) -> None:
        """Once orders know who leaves, others' packets have brought the first one of a queue nearer."""
        own = self._id(port, vc)
        when = f"!sampled || !{self._between} || way_{own} == 0"
        moves = [self._leaves(port, vc)]  # its input moves back where it goes
        for place, way in enumerate(self._ways(port, vc)):
            takes = f"way_{own}[{place}]"
            moves += [
                f"({takes} && {self._goes(queue, way)})"
                for queue in self._others(port, vc)
                if way in self._ways(*queue)
            ]
        self._hint(f"{when} || {' || '.join(moves)} || inputs_{own} <= inputs_of_{own}")
        self._hint(f"!sampled || !{self._between} || (way_{own} == way_of_{own} && asks_{own} == asks_of_{own})")
        several = [f"way_{own}[{place}]" for place, way in enumerate(self._ways(port, vc)) if self._steps(way) > 1]
        turned = " && last_turn != 0" if self._is_turned else ""
        sooner = f"({_any(several)}) && (vcs_{own} < vcs_of_{own} || (vcs_{own} == vcs_of_{own}{turned}))"
        nearer = f"inputs_{own} < inputs_of_{own} || ({sooner})"
        self._hint(f"{when} || !chosen_{own} || {self._leaves(port, vc)} || {nearer}")
        self._hint(
            f"{when} || !chosen_{own} || {self._leaves(port, vc)} || inputs_{own} < inputs_of_{own} || "
            f"vcs_{own} <= vcs_of_{own}"
        )
        for place, way in enumerate(self._ways(port, vc)):
            others = (queue for queue in self._queues if queue != (port, vc) and way in self._ways(*queue))
            taken = f"way_{own}[{place}] && chosen_{own} && ({_any(self._goes(queue, way) for queue in others)})"
            self._hint(f"{when} || !({taken}) || inputs_{own} < inputs_of_{own}")

    def _hint_requests(self) -> None:
        """From the sample phase on, registers of the allocator follow what queues offer, one behind the other."""
        cuts, sample = self._timing.allocation_cuts(chooses=self._chooses), self._timing.sample_phase
        update = self._timing.update_phase + self._length
        order = ("credit", "choice", "want", "grant")
        behind = {cut: sum(each in cuts for each in order[: order.index(cut) + 1]) for cut in order}
        stands = {cut: self._in_phases(*range(sample + late, update + 1)) for cut, late in behind.items()}
        self._register("sampled", f"{self._sample} || sampled")  # not all registers are reset
        self._wants: dict[tuple[int, Way], str] = {}
        for number, port in enumerate(self._ports):
            queues = [queue for queue in self._queues if queue[0] == port]
            ways = sorted({way for queue in queues for way in self._ways(*queue)})
            if len(queues) == 1:
                ways = list(self._ways(*queues[0]))
            for place, way in enumerate(ways):
                takes = [
                    f"(chosen_{self._id(*queue)} && way_{self._id(*queue)}[{self._ways(*queue).index(way)}])"
                    for queue in queues
                    if way in self._ways(*queue)
                ]
                self._wants[port, way] = self._wire(f"wants_{self._name(port)}_{place}", " || ".join(takes))
            wants = [self._wants[port, way] for way in ways]
            if len(queues) == 1:
                since = sample + bool({"want", "credit"} & cuts)
                self._same(f"want_{number}", wants, self._in_phases(*range(since, update + 1)))
                continue
            self._same(f"ready_{number}", [f"asks_{self._id(*queue)}" for queue in queues], stands["credit"])
            self._same(f"choice_{number}", [f"chosen_{self._id(*queue)}" for queue in queues], stands["choice"])
            self._same(f"want_{number}", wants, stands["want"])
        self._grant = self._in_phases(*range(sample + behind["grant"], self._commit + 1))

    def _hint_grants(self) -> None:
        """What outputs grant, before the commit and from it to the serve phase."""
        if self._is_turned:
            seen = self._look("in_turn", "allocator.in_turn", 1)
            committed = self._register("committed", f"{self._at(self._timing.commit_phase)} || committed")
            self._hint(f"!{committed} || {seen} == (turn == 0)")
            self._hint(f"!sampled || {committed}")
        for number, out in enumerate(self._ports):
            vcs = self._vcs(out)
            firsts = {vc: self._first(out, vc) for vc in vcs}
            picks = self._picks(out)
            if len(vcs) > 1:
                self._hint_later_classes(out)
                for vc in vcs:
                    self._same(f"first_{number}_{vc}", list(firsts[vc].values()), self._grant)
                    self._same(f"chosen_{number}_{vc}", [picks[vc]], self._grant)
            wins = [
                _any(f"({picks[vc]} && {firsts[vc][port]})" for vc in vcs if port in firsts[vc])
                for port in self._inputs_of(out)
            ]
            for net, when in (("next_idle", self._grant), ("idle", self._serve)):
                self._same(f"{net}_{number}", [f"!({each})" for each in wins], when)
            self._same(f"valid_{number}", [_any(picks.values())], self._serve)
            if out != self._local and self._plan.num_vcs[out] > 1:
                for vc in vcs:
                    self._hint_vc(out, vc, picks[vc])

    def _inputs_of(self, out: int) -> list[int]:
        """Return the inputs from which packets leave by an output."""
        return [port for port in self._ports if any((port, (out, vc)) in self._wants for vc in self._vcs(out))]

    def _first(self, out: int, vc: int) -> dict[int, str]:
        """Return for each input whether of those that want a way it comes first."""
        wants = {port: self._wants[port, (out, vc)] for port in self._ports if (port, (out, vc)) in self._wants}
        number = self._ports.index(out)
        return {
            port: self._wire(
                f"first_{number}_{vc}_{self._name(port)}",
                f"{want} && !({_any(self._sooner(wants, (out, vc), port))})",
            )
            for port, want in wants.items()
        }

    def _sooner(self, wants: Mapping[int, str], way: Way, port: int) -> list[str]:
        return [f"({want} && {self._input_before(way, other, port)})" for other, want in wants.items() if other != port]

    def _picks(self, out: int) -> dict[int, str]:
        """Return for each virtual channel of an output whether that is the one to send by."""
        asked = {
            vc: "(" + _any(want for (_, way), want in self._wants.items() if way == (out, vc)) + ")"
            for vc in self._vcs(out)
        }
        number = self._ports.index(out)
        picks = {}
        for vc, own in asked.items():
            sooner = [f"({asked[each]} && {self._goes_first(out, each, vc)})" for each in asked if each != vc]
            picks[vc] = self._wire(f"picks_{number}_{vc}", f"{own} && !({_any(sooner)})")
        return picks

    def _goes_first(self, out: int, one: int, other: int) -> str:
        """Return the condition that an output serves one virtual channel before another one."""
        before, lanes = self._vc_before(out, one, other), self._plan.lanes
        if one // lanes > other // lanes:
            return f"({before} || turn_now != 0)"
        return f"({before} && turn_now == 0)" if one // lanes < other // lanes else before

    def _hint_later_classes(self, out: int) -> None:
        """Registers say whether a virtual channel of a later class goes first."""
        vcs, lanes, number = self._vcs(out), self._plan.lanes, self._ports.index(out)
        when = self._in_phases(*range(self._timing.sample_phase, self._commit + 1))
        for one in vcs:
            for other in vcs:
                if one // lanes > other // lanes:
                    self._same(f"before_{number}_{one}_{other}", [self._goes_first(out, one, other)], when)

    def _hint_vc(self, out: int, vc: int, picks: str) -> None:
        """An output sends by the virtual channel that was picked."""
        number, bits = self._ports.index(out), (self._plan.num_vcs[out] - 1).bit_length()
        seen = self._look(f"holds_vc_{number}_{vc}", f"allocator.vc_{number}", bits)
        self._hint(f"!sampled || !{self._serve} || !{picks} || {seen} == {vc}")

    def _hint_pops(self) -> None:
        """Queues are told of what outputs hold."""
        sends: dict[int, list[str]] = {port: [] for port in self._ports}
        for number, out in enumerate(self._ports):
            inputs = self._inputs_of(out)
            seen = self._look(f"holds_{number}", f"allocator.idle_{number}", max(1, len(inputs)))
            for place, port in enumerate(inputs):
                sends[port].append(f"!{seen}[{place}]")
        for port, vc in self._queues:
            told = f"(chosen_{self._id(port, vc)} && ({_any(sends[port])}))"
            self._hint(f"!sampled || !{self._between} || {self._leaves(port, vc)} == {told}")

    def _same(self, net: str, bits: Sequence[str], when: str) -> None:
        """Give the hint that a net of the allocator has these bits in some phases."""
        with suppress(RigError):
            seen = self._look(f"is_{net}", f"allocator.{net}", len(bits))
            for place, bit in enumerate(bits):
                self._hint(f"!sampled || !{when} || {seen}[{place}] == ({bit})")


def _sum(conditions: Sequence[str]) -> str:
    return "(" + (" + ".join(f"({each} ? 1 : 0)" for each in conditions) or "0") + ")"


def _any(conditions: Iterable[str]) -> str:
    return " || ".join(conditions) or "0"
