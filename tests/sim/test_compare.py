"""The check of a run, on logs that a Verilog equal to the model would have written, and on tampered ones."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hdnhw.machine.flit import FlitFormat
from hdnhw.machine.machine import make_machine
from hdnhw.model.fabric import FabricModel
from hdnhw.sim.compare import StreamVerdict, check_ejections
from hdnhw.sim.stimulus import make_case, write_case
from tests.specs import fabric_spec

FLITS = FlitFormat(32, 2, 4)
FAULTS = ("lost", "misrouted", "payload_mismatches", "cycle_mismatches", "head_mismatches", "hop_mismatches")

Rows = list[tuple[int, int, int]]


@pytest.fixture
def verdict_of(tmp_path: Path) -> Callable[..., StreamVerdict]:
    """Return a function of changes to (node, cycle, word) rows and (packet, cycle) rows of a good run."""
    machine = make_machine(fabric_spec("cube(2)", packet_length=4, buffers=2))
    case = make_case("random", FabricModel(machine), packets=200)
    write_case(case, tmp_path, machine)
    expected = case.expected
    words = [sum(int(flit) << 32 * place for place, flit in enumerate(packet)) for packet in case.flits]
    came_out = zip(expected.node.tolist(), expected.cycle.tolist(), expected.packet.tolist(), strict=True)
    good = [(node, cycle, words[packet]) for node, cycle, packet in came_out]

    def check(
        change: Callable[[Rows], object] = len,
        change_heads: Callable[[list[list[int]]], object] = len,
        dropped: int = 0,
    ) -> StreamVerdict:
        rows, heads = list(good), [list(row) for row in enumerate(expected.head_cycle.tolist())]
        change(rows)
        change_heads(heads)
        ejections = "".join(f"{node} {cycle} {word:032x}\n" for node, cycle, word in rows)
        (tmp_path / "ejections.log").write_text("reset\n0 0 0\nreset\n" + ejections)
        (tmp_path / "heads.log").write_text("reset\n0 0\nreset\n" + "".join(f"{p} {cycle}\n" for p, cycle in heads))
        return check_ejections(tmp_path, FLITS, dropped)

    return check


def faults_of(verdict: StreamVerdict) -> dict[str, int]:
    assert verdict.passed == (verdict.faults == 0)
    return {name: getattr(verdict, name) for name in FAULTS if getattr(verdict, name)}


def test_what_the_model_says_passes(verdict_of):
    verdict = verdict_of()
    assert faults_of(verdict) == {}
    assert (verdict.packets, verdict.passed) == (200, True)


def swap(rows: list) -> None:
    rows[50], rows[51] = rows[51], rows[50]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda rows: rows.pop(), {"lost": 1, "cycle_mismatches": 1}),
        (lambda rows: rows.append(rows[-1]), {"cycle_mismatches": 1}),
        (lambda rows: rows.append((rows[-1][0], rows[-1][1] + 1, *rows.pop()[2:])), {"cycle_mismatches": 1}),
        (lambda rows: rows.append(((rows[-1][0] + 1) % 4, *rows.pop()[1:])), {"misrouted": 1, "cycle_mismatches": 1}),
        (
            lambda rows: rows.append((*rows[-1][:2], rows.pop()[2] ^ 1 << 40)),
            {"payload_mismatches": 1, "cycle_mismatches": 1},
        ),
        (swap, {"cycle_mismatches": 2}),
    ],
    ids=["lost", "twice", "late", "elsewhere", "flipped", "swapped"],
)
def test_a_changed_ejection_fails(verdict_of, change, faults):
    assert faults_of(verdict_of(change)) == faults


@pytest.mark.parametrize(
    "change",
    [
        lambda heads: heads.pop(),
        lambda heads: heads[7].__setitem__(1, heads[7][1] + 1),
    ],
    ids=["not accepted", "late"],
)
def test_a_changed_head_flit_fails(verdict_of, change):
    assert faults_of(verdict_of(change_heads=change)) == {"head_mismatches": 1}


def test_a_wrong_count_of_drops_fails(verdict_of):
    assert faults_of(verdict_of(dropped=1)) == {"cycle_mismatches": 1}


def test_heads_of_packets_under_way_at_the_end_of_the_model_are_not_compared(verdict_of, tmp_path):
    verdict_of()
    with np.load(tmp_path / "case.npz") as case:
        columns = dict(case)
    end = int(columns["head_cycle"].max())
    columns |= {"cycles": np.array(end), "head_cycle": np.where(columns["head_cycle"] < end, columns["head_cycle"], -1)}
    np.savez(tmp_path / "case.npz", **columns)
    assert check_ejections(tmp_path, FLITS, 0).head_mismatches == 0


def test_packets_that_are_alike_come_out_where_either_must(tmp_path):
    """One bit beyond the address: of two equal packets one is stranded at node 0, the other comes to node 1."""
    columns = {"packet": [0, 1], "node": [0, 1], "cycle": [5, 9], "head_cycle": [0, 4]}
    fixed = {"dropped": [False, False], "cycles": 100, "destination": [0, 1], "stranded": 1, "flits": [[1], [1]]}
    np.savez(tmp_path / "case.npz", **{name: np.array(value) for name, value in (columns | fixed).items()})
    (tmp_path / "heads.log").write_text("reset\n0 0\n1 4\n")
    for node, misrouted in ((1, 0), (2, 1)):
        (tmp_path / "ejections.log").write_text(f"reset\n0 5 1\n{node} 9 1\n")
        assert check_ejections(tmp_path, FlitFormat(2, 1, 1), 0).misrouted == misrouted
