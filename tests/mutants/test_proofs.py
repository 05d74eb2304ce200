"""Mutants against proofs: what is refuted, what is proved all the same, and what benches see of that."""

import pytest

from tests.mutants import designs, proofs
from tests.mutants.program import Seen
from tests.mutants.test_mutants import fabric_on


@pytest.fixture(scope="module")
def fabric():
    return fabric_on("hdn(cube(1), [[]])", packet_length=4)


def judged(answer, seen=None):
    return proofs.Judged(None, answer, seen=seen)


def test_a_mutant_stands_in_the_text(fabric):
    mutant = designs.mutants_of(fabric)[0]
    before, now = (one.files["fabric.sv"].split("\n") for one in (fabric, proofs.mutated(fabric, mutant)))
    assert len(before) == len(now)
    (line,) = (number for number, (one, other) in enumerate(zip(before, now, strict=True)) if one != other)
    assert now[line] == f"{mutant.before}{mutant.mutated}{mutant.behind}"


def test_a_proof_is_wrong_if_packets_do_not_arrive():
    right = [judged("equivalent"), judged("refuted"), judged("proved", Seen.NOTHING), judged("proved", Seen.TIME)]
    undecided = judged("undecided", Seen.PACKETS)
    wrong = judged("proved", Seen.PACKETS)
    assert proofs.wrong_proofs([*right, undecided]) == []
    assert proofs.wrong_proofs([*right, wrong, undecided]) == [wrong]


@pytest.mark.parametrize(
    ("key", "answer", "why", "seen"),
    [
        ("dim0.tail = dim0.channel__valid & dim0.at[1]: left alone", "equivalent", "", None),
        (
            "allocator.credits_0_0.or_2 = allocator.credits_0_0.give | allocator.credits_0_0.not_1: left alone",
            "refuted",
            "delivery of switch: the router is wrong about room ahead",
            None,
        ),
        ("allocator.order_2_0_1.next = 1'h1: constant 1", "proved", "", Seen.TIME),
    ],
)
def test_mutants_are_judged(fabric, key, answer, why, seen, tmp_path):
    mutants = [one for one in designs.mutants_of(fabric) if one.key == f"fabric_router: {key}"]
    (found,) = proofs.judge_mutants(fabric, mutants, root=tmp_path)
    assert (found.answer, found.seen) == (answer, seen)
    assert found.why.startswith(why)


def test_the_command_counts_and_fails_if_a_proof_is_wrong(monkeypatch, capsys):
    def judge(_, mutants):
        yield from (proofs.Judged(one, "refuted") for one in mutants[:-1])
        yield proofs.Judged(mutants[-1], "proved", seen=Seen.PACKETS)

    monkeypatch.setattr(proofs, "judge_mutants", judge)
    assert proofs.main(["cube(1)", "--count", "5", "--seed", "2"]) == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["refuted", "4"] in lines
    assert ["proved", "1"] in lines
    assert lines[-1] == ["passed", "false"]
    assert any(line[:4] == ["proved,", "benches", "see", "packets:"] for line in lines)
    monkeypatch.setattr(proofs, "judge_mutants", lambda _, mutants: (proofs.Judged(one, "refuted") for one in mutants))
    assert proofs.main(["cube(1)"]) == 0


def test_what_cannot_be_asked_for_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        proofs.main(["--count", "0"])
    assert "seed must be at least 0 and count at least 1, not 1 and 0" in capsys.readouterr().err
