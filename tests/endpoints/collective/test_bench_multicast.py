"""Groups and multicasts on engines in the emitted Verilog, and that engines which do them wrongly are seen."""

import random
from typing import Any

import pytest

from hdnhw.endpoints.collective.bench import CollectiveBench, CollectiveCase, OperationVerdict
from hdnhw.endpoints.collective.bench_joint import JointBench, draw_case
from hdnhw.endpoints.collective.engine import CollectiveEngine
from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.group import Group
from hdnhw.endpoints.collective.sender import Sender
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.fpga.tools import ToolError
from hdnhw.spec import MULTICAST
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

OTHERS = ("broadcast", "exchange")


def bench(text: str, *operations: str, root: int = 0, message_packets: int = 1, **machine: Any) -> CollectiveBench:
    """Return the bench of a fabric with groups; builds are kept between test runs."""
    engines = CollectiveSpec(operations=(MULTICAST, *operations), root=root, message_packets=message_packets)
    return CollectiveBench.of(emit_fabric(fabric_spec(text, endpoints=engines, **machine)))


def drawn(whole: CollectiveBench, seed: int) -> CollectiveCase:
    """Draw operations of which most are joins and multicasts, for hosts that pause, stall or go ahead."""
    rng, names = random.Random(seed), list(engines_of(whole.machine).spec.operations)
    others = [name for name in names if name not in ("join", MULTICAST)]
    joins = ["join", MULTICAST, MULTICAST]
    return CollectiveCase(
        [rng.choice(joins if rng.random() < 0.7 or not others else others) for _ in range(40)],
        stall=rng.choice((0, 60, 235)),
        pause=rng.choice((0, 20, 400)),
        ahead=rng.random() < 0.5,
        early=rng.random() < 0.5,
        seed=seed,
    )


@pytest.fixture(scope="module")
def small() -> CollectiveBench:
    """Return a bench of five nodes on a ring: a step with two ports, and announcements; the root is in the middle."""
    return bench("torus(5)", *OTHERS, root=2, packet_length=4, flit_width=16)


def test_members_alone_get_the_message_and_it_goes_only_where_they_are(small: CollectiveBench) -> None:
    groups = [[], [2], [0], [4, 0], range(5), [1, 3], [2, 4], []]
    operations = ["multicast", *(name for _ in groups for name in ("join", "multicast", "broadcast", "multicast"))]
    members = [(), *(each for group in groups for each in (group, (), (), ()))]
    for pauses in ({}, {"stall": 200, "pause": 60}, {"ahead": True, "early": True}, {"resets": (60, 151, 7)}):
        verdicts = small.run_case(CollectiveCase(operations, members=members, **pauses)).verdict.operations
        assert all(verdict.passed for verdict in verdicts), (pauses, verdicts)
        came = [one.messages for one in verdicts if isinstance(one, OperationVerdict) and one.operation == "multicast"]
        assert came == [0, *(len(group) for group in groups for _ in range(2))]


def test_groups_that_are_redrawn_between_other_operations(small: CollectiveBench) -> None:
    for seed in range(1, 13):
        case = drawn(small, seed)
        run = small.run_case(case)
        assert run.verdict.passed, (case, run.verdict)


def test_what_a_multicast_takes(small: CollectiveBench) -> None:
    measured = small.measure_multicast([1, 2])
    assert measured["delivered"]
    assert (measured["messages"], measured["lost"], measured["wrong"], measured["send_mismatches"]) == (2, 0, 0, 0)
    assert measured["cost_cycles"] == measured["join_cost_cycles"] == 3 * (measured["startup_cycles"] + 4)
    slots = 3 * 2 * 4  # on odd rings a step takes a slot more, and one with two ports another one
    for cycles in (measured["cycles"], measured["join_cycles"]):
        assert measured["cost_cycles"] <= cycles <= measured["cost_cycles"] + slots


@pytest.mark.parametrize(
    ("text", "root", "others", "machine"),
    [
        ("torus(3, 3)", 4, OTHERS, {"packet_length": 4, "flit_width": 16}),
        ("torus(4, 4)", 6, ("scatter", "barrier"), {}),
        ("ghc(3, 4)", 7, ("allgather",), {"packet_length": 5, "flit_width": 8}),
        ("hdn(cube(2), [[0]])", 3, OTHERS, {"message_packets": 3}),
        ("hsn(2, cube(2))", 5, OTHERS, {"packet_length": 4}),
        ("hsn(2, torus(6), top=3)", 0, (), {}),
        ("rdn(cube(2), 1)", 9, ("reduce",), {}),
        ("mesh(3, 2)", 1, OTHERS, {"packet_length": 2, "flit_width": 48, "message_packets": 2}),
        ("dualcube(2)", 1, ("gather", "barrier"), {"gapless_packets": True}),
    ],
)
def test_on_other_networks_and_machines(text: str, root: int, others: tuple[str, ...], machine: dict[str, Any]) -> None:
    other = bench(text, *others, root=root, **machine)
    for seed in range(1, 7):
        case = drawn(other, seed)
        run = other.run_case(case)
        assert run.verdict.passed, (case, run.verdict)


def test_a_member_is_told_to_the_part_that_moves_messages() -> None:
    joint, rng = bench("hdn(torus(3), [[0]])", "scan", "barrier", "gather", root=1, packet_length=4), random.Random(1)
    assert isinstance(joint, JointBench)
    for _ in range(8):
        case = draw_case(joint, 40, rng)
        assert joint.run_case(case).verdict.passed, case


def break_engines(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change how engines are made."""
    groups, conditions, header = CollectiveEngine._elaborate_groups, Group.elaborate, Sender._elaborate_header

    def wired(self: Any, m: Any, sorter: Any, receiver: Any, sender: Any, sequencer: Any) -> None:
        groups(self, m, sorter, receiver, sender, sequencer)
        m.d.comb += {
            "parity": m.submodules.group.told.parity.eq(sequencer.parity),
            "offered": sender.drops.eq(0),
            "never offered": sender.drops.eq(1),
            "own": m.submodules.group.member.eq(0),
            "early": m.submodules.group.ends.eq(sequencer.operation.ready),
        }[fault]

    def everywhere(self: Any, platform: Any) -> Any:
        m = conditions(self, platform)
        m.d.sync += self.uses.eq(self._elaborate_conditions(m))
        return m

    def announced(self: Any, m: Any, packet: Any, begun: Any) -> None:
        header(self, m, packet, begun)
        m.d.sync += packet.header.member.eq(self.joined)

    if fault == "everywhere":
        monkeypatch.setattr(Group, "elaborate", everywhere)
    elif fault == "announced":
        monkeypatch.setattr(Sender, "_elaborate_header", announced)
    elif fault:
        monkeypatch.setattr(CollectiveEngine, "_elaborate_groups", wired)


@pytest.mark.parametrize("fault", ["", "everywhere", "parity", "offered", "never offered", "own", "early", "announced"])
def test_engines_that_do_it_wrongly_are_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a multicast goes to all; what a packet says counts for the node's own operation; non-members get it, or
    members do not; a node does not tell of itself; a group is taken at any time; announcements tell of members, too.
    """
    break_engines(fault, monkeypatch)
    engines = bench("torus(5)", *OTHERS, root=2, packet_length=4, flit_width=16)
    is_right = True
    for seed in range(1, 7):
        try:
            is_right &= engines.run_case(drawn(engines, seed)).verdict.passed
        except ToolError:
            is_right = False
    assert is_right == (not fault)
