"""Frames between random nodes of a fabric with AXI endpoints: the case, its run under cocotb, and the verdict."""

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.sim.clocks import PERIOD_NS, draw_periods
from hdnhw.sim.runner import TopLevelBench
from hdnhw.topology.address import AddressLayout
from hdnhw.verilog.fabric import EmittedFabric

IMPOSSIBLE_SHARE, OVERLONG_SHARE, HOTSPOT_SHARE = 0.02, 0.01, 0.05
AFTER_RESET = 3
"""Frames a node after the soft reset."""

OKAY, SLVERR = 0, 2

Frame = dict[str, Any]
"""One frame to send: ``source`` (node), ``dest`` (packed address), ``user`` and ``data`` (hexadecimal)."""


def make_frames(layout: AddressLayout, *, count: int, max_frame: int, users: int, seed: str) -> list[Frame]:
    """Return `count` frames between random nodes.

    Half are short, of 1 to 64 bytes; the others have 1 to `max_frame`. One in a hundred is longer than allowed, and one
    in fifty goes to an address without node where there is one. One in twenty goes to node 0, beside those that chance
    sends there.
    """
    rng = random.Random(seed)
    nodes = range(layout.network.num_nodes)
    impossible = [address for address in range(1 << layout.width) if not layout.is_node(address)]
    frames = []
    for _ in range(count):
        length = rng.randint(1, min(64, max_frame) if rng.random() < 0.5 else max_frame)
        if rng.random() < OVERLONG_SHARE:
            length = max_frame + rng.randint(1, 2 * max_frame)
        dest = layout.of_node(0 if rng.random() < HOTSPOT_SHARE else rng.choice(nodes))
        if impossible and rng.random() < IMPOSSIBLE_SHARE:
            dest = rng.choice(impossible)
        data = rng.randbytes(length).hex()
        frames.append({"source": rng.choice(nodes), "dest": dest, "user": rng.randrange(users), "data": data})
    return frames


@dataclass(frozen=True)
class AxiVerdict:
    """What a run showed.

    Attributes
    ----------
    frames : int
        Frames that had to arrive.
    lost : int
        Of these, how many did not.
    corrupted : int
        Frames that are not, in data, source, user bits and order, what their source sent to that node; and stray ones.
    impossible, overlong : int
        Frames that were sent to no node; that were cut.
    register_mismatches : int
        Registers whose value or response is wrong.
    cycles : int
        Until the last frame, in steps of 100.
    """

    frames: int
    lost: int
    corrupted: int
    impossible: int
    overlong: int
    register_mismatches: int
    cycles: int

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.corrupted or self.register_mismatches)


def check_frames(expected: list[Frame], received: list[Frame], layout: AddressLayout) -> tuple[int, int]:
    """Compare frames pair by pair in their order.

    Parameters
    ----------
    expected : list of Frame
        As sent, without those to no node, cut where they are too long.
    received : list of dict
        ``node``, the sets ``tid`` and ``tuser`` as lists, and ``data``.
    layout : AddressLayout

    Returns
    -------
    lost, corrupted : int
    """
    due: dict[tuple[int, int], list[Any]] = defaultdict(list)
    came: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for frame in expected:
        due[layout.of_node(frame["source"]), frame["dest"]].append(([frame["user"]], frame["data"]))
    for frame in received:
        source = frame["tid"][0] if len(frame["tid"]) == 1 else -1
        came[source, layout.of_node(frame["node"])].append((frame["tuser"], frame["data"]))
    lost = corrupted = 0
    for pair in due.keys() | came.keys():
        missing = len(due[pair]) - len(came[pair])
        lost += max(0, missing)
        corrupted += max(0, -missing)
        corrupted += sum(one != other for one, other in zip(due[pair], came[pair], strict=False))
    return lost, corrupted


class AxiBench(TopLevelBench[dict[str, Any], AxiVerdict]):
    """An emitted fabric with AXI endpoints under Verilator."""

    name, module, kind = "axi", "hdnhw.endpoints.axi_stream.bench_cocotb", AxiStreamSpec
    summary = "{frames} frames in {cycles} cycles: {lost} lost, {corrupted} corrupted"

    def __init__(self, fabric: EmittedFabric) -> None:
        super().__init__(fabric)
        self.endpoints, self.layout = self.machine.endpoint_format.endpoints, self.machine.address

    def check(self, case: dict[str, Any], folder: Path) -> AxiVerdict:
        """See :meth:`Bench.check`."""
        received = [json.loads(line) for line in (folder / "frames.log").read_text().splitlines()]
        return self.judge(case, received, json.loads((folder / "result.json").read_text()))

    def asked_case(self, asked: Any) -> dict[str, Any]:
        """See :meth:`Bench.asked_case`."""
        return self.make_case(frames=asked.frames, seed=asked.seed)

    @property
    def about(self) -> dict[str, Any]:
        """See :meth:`Bench.about`."""
        return {"max_frame": self.endpoints.max_frame}

    def make_case(self, *, frames: int, seed: int, hold: int = 0, longest: int | None = None) -> dict[str, Any]:
        """Return what the bench is told: frames before and after a soft reset, and where the registers are.

        No sink takes anything in the first cycles, of which there are `hold`. Frames have up to `longest` bytes, or as
        many as they may have; one in a hundred has more.
        """
        sizes = {"max_frame": longest or self.endpoints.max_frame, "users": 1 << self.endpoints.tuser_width}
        nodes = self.layout.network.num_nodes
        clocked = self.fabric.clocks is not None
        case = {
            "seed": seed,
            "hold": hold,
            "period": PERIOD_NS,
            "periods": draw_periods(nodes, seed=f"{seed} clocks") if clocked else [],
            "addresses": [self.layout.of_node(node) for node in range(nodes)],
            "registers": self.fabric.manifest["endpoints"]["registers"],
            "frames": make_frames(self.layout, count=frames, seed=f"{seed} frames", **sizes),
            "after_reset": make_frames(self.layout, count=AFTER_RESET * nodes, seed=f"{seed} after", **sizes),
        }
        case["expected"] = len(self.expected(case["frames"]))
        case["expected_after_reset"] = len(self.expected(case["after_reset"]))
        return case

    def expected(self, frames: list[Frame]) -> list[Frame]:
        """Return the frames that must arrive, as they must arrive."""
        return [
            {**frame, "data": frame["data"][: self._longest]} for frame in frames if self.layout.is_node(frame["dest"])
        ]

    @property
    def _longest(self) -> int:
        """Hexadecimal digits of the longest frame's data."""
        transfers: int = self.machine.endpoint_format.max_transfers
        return 2 * self.machine.spec.flit_width // 8 * transfers

    def is_overlong(self, frame: Frame) -> bool:
        """Whether a frame that has a destination is cut."""
        return bool(self.layout.is_node(frame["dest"])) and len(frame["data"]) > self._longest

    def judge(self, case: dict[str, Any], received: list[Frame], result: dict[str, Any]) -> AxiVerdict:
        """Judge a run by its log of frames and the registers that were read."""
        frames = case["frames"]
        expected = self.expected(frames)
        lost, corrupted = check_frames(expected + self.expected(case["after_reset"]), received, self.layout)
        wrong = self._check_registers(result["registers"], frames)
        if "cleared" in result:
            wrong += self._check_registers(result["cleared"], [])
            wrong += result["writes"] != [OKAY, SLVERR]
        return AxiVerdict(
            frames=len(expected) + case["expected_after_reset"],
            lost=lost,
            corrupted=corrupted,
            impossible=len(frames) - len(expected),
            overlong=sum(map(self.is_overlong, frames)),
            register_mismatches=wrong,
            cycles=result["cycles"],
        )

    def _check_registers(self, values: dict[str, Any], frames: list[Frame]) -> int:
        """Return how many registers are not as the frames that were sent make them."""
        spec, nodes = self.machine.spec, self.layout.network.num_nodes
        fabric = {
            "identification": 0x48444E48,
            "version": 0x10000,
            "nodes": nodes,
            "packet_length": spec.packet_length,
            "flit_width": spec.flit_width,
            "max_frame": self.endpoints.max_frame,
            "tuser_width": self.endpoints.tuser_width,
            "control": 0,
        }
        due = [
            {
                "frames_sent": sum(frame["source"] == node for frame in self.expected(frames)),
                "frames_received": sum(frame["dest"] == self.layout.of_node(node) for frame in frames),
                "packets_dropped": 0,
                "frames_impossible": sum(
                    frame["source"] == node and not self.layout.is_node(frame["dest"]) for frame in frames
                ),
                "frames_overlong": sum(frame["source"] == node and self.is_overlong(frame) for frame in frames),
                "address": self.layout.of_node(node),
            }
            for node in range(nodes)
        ]
        wrong: int = sum(values["fabric"][name] != [value, OKAY] for name, value in fabric.items())
        for read, node in zip(values["nodes"], due, strict=True):
            wrong += sum(read[name] != [value, OKAY] for name, value in node.items())
        wrong += sum(response != SLVERR for response in values["holes"])
        return wrong


BENCH = AxiBench
