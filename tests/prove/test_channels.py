"""Proofs of the ejection buffer's channel."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from hdnhw.emit.fabric import emit_fabric
from hdnhw.prove.channels import prove_channel
from hdnhw.spec import FabricSpec, parse


def small(**options):
    return emit_fabric(FabricSpec(network=parse("hdn(cube(1), [[]])"), **options))


@pytest.mark.parametrize("options", [{}, {"packet_length": 4}, {"channel_registers": 1, "buffers": 2}])
def test_what_is_emitted_is_proved(options, tmp_path):
    finding = prove_channel(small(**options), seconds=100, root=tmp_path)
    assert (finding.answer, finding.why) == ("proved", "")


def test_a_buffer_that_gives_a_credit_for_each_flit(tmp_path):
    fabric = small(packet_length=4)
    text, count = re.subn(r"(assign channel__credit = do_take) & is_tail", r"\1", fabric.files["fabric.sv"])
    assert count == 1
    finding = prove_channel(replace(fabric, files={**fabric.files, "fabric.sv": text}), seconds=100, root=tmp_path)
    assert finding.answer == "refuted"
    assert re.search(r", in cycle \d+$", finding.why)
    assert "$enddefinitions" in Path(finding.trace).read_text()


def test_options_that_the_rig_does_not_know(tmp_path):
    finding = prove_channel(small(crc=True), seconds=100, root=tmp_path)
    assert (finding.answer, finding.why) == ("undecided", "the rig does not know --crc")
