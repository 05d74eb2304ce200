"""Two bridges back to back, between routers and wires that a case describes: its run under cocotb, and the verdict."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from hdnhw.fpga.harness import CLOCK, RESET, Port, ports_of
from hdnhw.fpga.tools import ToolError
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.networks.parse import parse
from hdnhw.rtl.bridge.bridge import Bridge
from hdnhw.sim.simulator import BUILD_ARGUMENTS, Build
from hdnhw.spec import FabricSpec
from hdnhw.verilog.verilog import module_text

MODULE = "bridge"

FAULTS = ("flips", "noise", "spoils", "drops", "doubles", "merges", "cuts")
"""What can happen to a word: a wrong bit, all bits anything where it is the second to fourth one of a frame, a wrong
bit in the last one, it is dropped, it comes twice, it is no more the last one, it is taken for the last one."""


@dataclass(frozen=True)
class Stage:
    """What routers and wires do for some cycles.

    Attributes
    ----------
    cycles : int
        At most: a stage without load ends when all has come.
    load, room, pace : float
        Share of slots in which a router sends a packet for which it has a credit, and gives a credit for one that it
        has; share of cycles in which wires take a word.
    faults : mapping of str to float
        Probability of each of :data:`FAULTS`, for each word that it can happen to.
    stalls : float
        Share of cycles in which no word comes.
    away : tuple of int
        Sides whose words are all dropped.
    resets : tuple of int
        Sides that are reset in the first cycle.
    holds : tuple of str
        Queues, ``CHANNEL,VC``, of which routers give no credit.
    """

    cycles: int
    load: float = 1.0
    room: float = 1.0
    pace: float = 1.0
    faults: Mapping[str, float] = field(default_factory=dict)
    stalls: float = 0.0
    away: tuple[int, ...] = ()
    resets: tuple[int, ...] = ()
    holds: tuple[str, ...] = ()


@dataclass(frozen=True)
class LinkSpec:
    """The bridges.

    Attributes
    ----------
    network : str
    options : mapping of str to Any
        Of the machine.
    ports, arrivals, ahead, word_width
        See :class:`hdnhw.rtl.bridge.bridge.Bridge`.
    """

    network: str = "hdn(cube(1), [[]])"
    options: Mapping[str, Any] = field(default_factory=dict)
    ports: tuple[int, ...] = (1,)
    arrivals: tuple[int, ...] = (0,)
    ahead: tuple[int, ...] | None = None
    word_width: int = 32

    @property
    def machine(self) -> Machine:
        """The machine that the routers are of."""
        return make_machine(FabricSpec(network=parse(self.network), **self.options))

    @property
    def bridge(self) -> Any:
        """One side."""
        return Bridge(
            self.machine, ports=self.ports, arrivals=self.arrivals, ahead=self.ahead, word_width=self.word_width
        )


@dataclass(frozen=True)
class LinkRun:
    """What a run showed.

    Attributes
    ----------
    sent : list of dict of str to list of int
        Of each side and each queue, ``CHANNEL,VC``, the cycles in which head flits left their router.
    came : list of dict of str to list of (int, int)
        Of each side and each queue, as it came there, the cycle in which a head flit came to its router, and its place
        among those sent; -1 if no such packet was sent there.
    begun : list of int
        The cycle in which each stage began.
    seen : list of list of dict of str to int
        After each stage, and of each side, ``up``, ``damaged``, ``resent`` and ``lost``.
    happened : dict of str to int
        Faults of the wires.
    """

    sent: list[dict[str, list[int]]]
    came: list[dict[str, list[tuple[int, int]]]]
    begun: list[int]
    seen: list[list[dict[str, int]]]
    happened: dict[str, int]
    arrivals: tuple[int, ...]

    def _pairs(self, side: int) -> list[tuple[list[int], list[int]]]:
        """Return for each queue of a side when packets were sent, and the places of those that came."""
        pairs = []
        for queue, cycles in self.sent[side].items():
            channel, vc = queue.split(",")
            came = self.came[1 - side].get(f"{self.arrivals[int(channel)]},{vc}", [])
            pairs.append((cycles, [place for _, place in came]))
        return pairs

    def times(self, since: int = 0) -> list[tuple[int, int]]:
        """Return of each packet that has come the cycles in which its head flit left a router, and came to one."""
        found = []
        for side in (0, 1):
            for queue, packets in self.came[1 - side].items():
                channel, vc = queue.split(",")
                sent = self.sent[side][f"{self.arrivals[int(channel)]},{vc}"]
                found += [(sent[place], cycle) for cycle, place in packets if sent[place] >= since]
        return found

    @property
    def packets(self) -> int:
        """Packets sent."""
        return sum(len(cycles) for side in (0, 1) for cycles, _ in self._pairs(side))

    @property
    def wrong(self) -> int:
        """Packets that came and were not sent there."""
        pairs = [places for side in (0, 1) for _, places in self._pairs(side)]
        came = sum(len(own) for each in self.came for own in each.values())
        return came - sum(map(len, pairs)) + sum(places.count(-1) for places in pairs)

    @property
    def disordered(self) -> int:
        """Packets that came behind a later one, or twice."""
        pairs = [places for side in (0, 1) for _, places in self._pairs(side)]
        return sum(one >= two for places in pairs for one, two in pairwise(places))

    def missing(self, side: int, since: int = 0) -> int:
        """Return the packets that a side has sent since a cycle, and that did not come."""
        return sum(
            cycle >= since and place not in came
            for cycles, places in self._pairs(side)
            for came in (set(places),)
            for place, cycle in enumerate(cycles)
        )


class LinkBench:
    """Two bridges in Verilator.

    Parameters
    ----------
    spec : LinkSpec
    text : str, optional
        Verilog of a bridge in place of its own.
    """

    def __init__(self, spec: LinkSpec, *, text: str | None = None) -> None:
        self.spec = spec
        self._text = module_text(spec.bridge, MODULE, flatten=True) if text is None else text
        files = {"links.sv": self._harness, f"{MODULE}.sv": self._text}
        arguments = tuple(each for each in BUILD_ARGUMENTS if each != "--hierarchical")
        self._build = Build("links", files, "links", arguments=(*arguments, "--public-flat-rw"))

    @cached_property
    def _ports(self) -> list[Port]:
        return [port for port in ports_of(self._text, MODULE) if port.name not in (CLOCK, RESET)]

    @property
    def _harness(self) -> str:
        """Two bridges with one port for all that they take, and one for all that they give, the first pin lowest."""
        ends, lines = {True: 0, False: 0}, []
        for side in (0, 1):
            pins = [f".{CLOCK}({CLOCK}), .{RESET}(resets[{side}])"]
            for port in self._ports:
                begin, ends[port.is_input] = ends[port.is_input], ends[port.is_input] + port.width
                wires = "driven" if port.is_input else "watched"
                pins.append(f".{port.name}({wires}[{begin}+:{port.width}])")
            lines.append(f"  {MODULE} side_{side}({', '.join(pins)});")
        head = f"module links(input {CLOCK}, input [1:0] resets, input [{ends[True] - 1}:0] driven, "
        return "\n".join([f"{head}output [{ends[False] - 1}:0] watched);", *lines, "endmodule", ""])

    def run(self, stages: Sequence[Stage], *, delay: int = 20, seed: int = 1) -> LinkRun:
        """Run some stages over wires that take `delay` cycles.

        Raises
        ------
        ToolError
            If the bench cannot be built, or a bridge breaks the rules of a channel.
        """
        self._build.make()
        folder = self._build.clear_run_folder(f"run-{seed}")
        pins = [(port.name, port.width, port.is_input) for port in self._ports]
        told = {"spec": asdict(self.spec), "pins": pins, "stages": [asdict(stage) for stage in stages]}
        (folder / "case.json").write_text(json.dumps({**told, "delay": delay, "seed": seed}))
        self._build.run("hdnhw.sim.links_bench", folder)
        if not (folder / "result.json").exists():
            raise ToolError(f"the bench did not end, see {folder / 'simulation.log'}")
        return LinkRun(**json.loads((folder / "result.json").read_text()), arrivals=self.spec.arrivals)
