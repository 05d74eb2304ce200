"""Invariants of rigs: another solver checks those that are found, and none that is changed."""

import json
from functools import cache

import pytest

from hdnhw.cli import main
from hdnhw.proofs import prove
from hdnhw.proofs.ejection import EjectionRig
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.inputs import InputRig
from hdnhw.proofs.invariant import check_invariant
from hdnhw.proofs.search import Recheck, settle
from hdnhw.support.processes import Budget
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec


@cache
def rig():
    return EjectionRig(emit_fabric(fabric_spec("cube(1)", packet_length=4)), 0)


@pytest.fixture(scope="module")
def invariant(tmp_path_factory):
    settled = settle(rig(), seconds=100, root=tmp_path_factory.mktemp("proofs"), invariants=True)
    assert (settled.answer, settled.invariant["rig"]) == ("proved", rig().digest)
    return json.loads(json.dumps(settled.invariant))


@pytest.fixture(scope="module")
def circuit(tmp_path_factory):
    return rig().circuit(tmp_path_factory.mktemp("circuit"), Budget(100))


def answer(invariant, tmp_path):
    return Recheck([invariant])(rig(), seconds=100, root=tmp_path)


def test_what_is_found_is_checked_by_another_solver(invariant, tmp_path):
    assert len(invariant["clauses"]) > 20
    found = answer(invariant, tmp_path)
    assert (found.answer, found.why, found.method) == ("proved", "", "inductive invariant, by z3")


def test_without_some_clauses_it_is_none(invariant, circuit):
    """Each clause alone may follow from the others; some do not."""
    clauses, whole = invariant["clauses"], invariant["outputs"]
    said = [
        check_invariant(circuit, invariant | {"clauses": clauses[:place] + clauses[place + 1 :]}, whole)
        for place in range(0, len(clauses), 10)
    ]
    assert {"it leaves a claim open", "it does not hold in the cycle after one in which it does"} & {*said}


def test_a_clause_too_many_and_a_claim_too_few_are_seen(invariant, circuit, tmp_path):
    """A register that is 0 at first and not for ever."""
    clauses, whole = invariant["clauses"], invariant["outputs"]
    said = {
        check_invariant(circuit, invariant | {"clauses": [*clauses, f"-{register}"]}, whole)
        for register in range(1, len(invariant["registers"]) + 1)
    }
    assert "it does not hold in the cycle after one in which it does" in said
    assert answer(invariant | {"outputs": whole[1:]}, tmp_path).why == "its invariant leaves out a claim"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"clauses": []}, "it leaves a claim open|it does not hold in the cycle after"),
        ({"clauses": ["1"]}, "it does not hold at first"),
        ({"clauses": ["1 2", "-1 x"]}, "it names registers or claims that the text does not have"),
        ({"clauses": [3]}, "it names registers or claims that the text does not have"),
        ({"registers": []}, "it names registers or claims that the text does not have"),
        ({"outputs": []}, "its invariant leaves out a claim"),
        ({"outputs": [*range(1000)]}, "it names registers or claims that the text does not have"),
    ],
)
def test_another_one_is_refuted(invariant, tmp_path, values, said):
    found = answer(invariant | values, tmp_path)
    assert found.answer == "refuted"
    assert any(one in found.why for one in said.split("|"))


def test_without_one_nothing_is_decided(tmp_path):
    assert answer({}, tmp_path).answer == "undecided"


def test_the_command_checks_a_certificate_and_refuses_an_edited_one(tmp_path, monkeypatch, capsys):
    waiting = Finding.compared("waiting", "fabric_router", "all", method="none", cases=0, why="")
    monkeypatch.setattr(prove, "prove_waiting", lambda *_, **__: [waiting])
    assert main(["emit", "cube(1)", "--packet-length", "4", "-o", str(tmp_path)]) == 0
    assert main(["prove", str(tmp_path)]) == 0
    path = tmp_path / "certificate.json"
    check = ["prove", "--check", str(path), "--thorough", "--json"]
    capsys.readouterr()
    assert main(check) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["proved"], found["rechecked"]) == (True, True)
    assert "inductive invariant, by z3" in {one["method"] for one in found["findings"]}
    said = json.loads(path.read_text())
    said["invariants"][0]["clauses"].pop()
    path.write_text(json.dumps(said))
    assert main(check) == 2
    err = capsys.readouterr().err.splitlines()
    assert err == [f"hdnhw: check must be a certificate as it was written, and {path} has been edited"]
    monkeypatch.setattr("hdnhw.proofs.certificate._digest", lambda one: one["digest"])
    said["invariants"][0]["clauses"] = ["1"]
    path.write_text(json.dumps(said))
    assert main(check) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("its invariant is none: it does not hold at first")
    said["invariants"].pop(0)
    path.write_text(json.dumps(said))
    assert main(check) == 1
    assert not json.loads(capsys.readouterr().out)["rechecked"]


def test_a_rig_in_which_not_all_happens_proves_nothing(tmp_path):
    idle = EjectionRig(emit_fabric(fabric_spec("cube(1)", packet_length=4)), 0)
    idle._happens("1'd0")
    found = settle(idle, seconds=100, root=tmp_path)
    assert (found.answer, found.why) == ("undecided", "the rig has not seen packets everywhere")


def test_registers_without_a_name_have_a_number(tmp_path):
    """Words that block RAM reads are in registers that the text does not name."""
    queue = InputRig(emit_fabric(fabric_spec("hdn(cube(1), [[]])")), 0, 0, 0, 0)
    found = settle(queue, seconds=100, root=tmp_path, invariants=True).invariant
    assert any(name.startswith("#") for name in found["registers"])
    assert Recheck([found])(queue, seconds=100, root=tmp_path).answer == "proved"
