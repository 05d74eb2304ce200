"""Proofs about bridges: what is emitted is proved, and a bridge that breaks the promise of a link is refuted."""

import re
from dataclasses import replace

import pytest

from hdnhw.proofs.bridge_words import WordsRig
from hdnhw.proofs.bridges import PARTS, prove_bridges
from hdnhw.proofs.search import Recheck, settle
from hdnhw.spec.chips import ChipOptions
from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

SECONDS = 400.0


@pytest.fixture(scope="module")
def on_chips():
    return emit_fabric(fabric_spec("hdn(cube(1), [[]])"), cut=ChipOptions(chips="1"))


@pytest.mark.parametrize("part", PARTS)
def test_what_is_emitted_is_proved(on_chips, part):
    (found,) = prove_bridges(on_chips, seconds=SECONDS, parts=[part])
    assert (found.property, found.part, found.answer, found.why) == ("links", part, "proved", "")


def test_a_fabric_on_one_chip_has_no_links():
    assert not list(prove_bridges(emit_fabric(fabric_spec("cube(2)")), seconds=SECONDS))


@pytest.mark.parametrize(
    ("part", "pattern", "becomes", "said"),
    [
        (
            "receiver",
            r"(\\receiver.good.next  = )\\receiver.\w+ ;",
            r"\1\\receiver.last_3 ;",
            "a frame counts that does not",
        ),
        (
            "receiver",
            r"(\\receiver.expected.next  = )\\receiver.due ;",
            r"\1\\receiver.header_0 [13:7] ;",
            "another packet is expected",
        ),
        ("taking", r"(\\asks.next \[0\] = )and_\w+;", r"\g<1>1'h1;", "buffer"),
        ("taking", r"(\\session.epoch.next  = )\{.*\};", r"\1\\session.epoch ;", "another epoch"),
        ("words", r"(\\sender.check )\[4\] \?", r"\1[3] ?", "out of its order"),
        ("sender", r"(\\sender.may_begin.next  = )\\sender.\w+ ;", r"\1\\sender.planned ;", "a hello tells"),
    ],
)
def test_another_bridge_is_refuted(on_chips, part, pattern, becomes, said):
    name = on_chips.chips.file
    text, count = re.subn(pattern, becomes, on_chips.files[name], count=1)
    assert count == 1
    changed = replace(on_chips, files={**on_chips.files, name: text})
    (found,) = prove_bridges(changed, seconds=SECONDS, parts=[part])
    assert found.answer == "refuted"
    assert re.search(said, found.why)


def test_what_follows_from_itself_is_checked_by_another_solver(on_chips, tmp_path):
    rig = WordsRig(on_chips, on_chips.chips.bridges[0])
    known = settle(rig, seconds=SECONDS, root=tmp_path, invariants=True).invariant
    assert (known["steps"], len(known["outputs"])) == (2, len(rig.claims) + len(rig.hints))
    assert Recheck([known])(rig, seconds=SECONDS, root=tmp_path).answer == "proved"
    alone = known | {"outputs": [*range(len(rig.claims))]}
    assert "in the cycle after some" in Recheck([alone])(rig, seconds=SECONDS, root=tmp_path).why
    moves = known | {"outputs": [*known["outputs"], len(known["outputs"])]}
    assert "in the cycle after some" in Recheck([moves])(rig, seconds=SECONDS, root=tmp_path).why
    none = known | {"steps": 0}
    assert "names" in Recheck([none])(rig, seconds=SECONDS, root=tmp_path).why
