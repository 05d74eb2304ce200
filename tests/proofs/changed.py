"""Fabrics that are changed in their text, and what is found of them."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from hdnhw.verilog.fabric import emit_fabric
from tests.specs import fabric_spec

SECONDS = 100.0
SMALL = "hdn(cube(1), [[]])"


@cache
def emitted(endpoints, network=SMALL, **options):
    return emit_fabric(fabric_spec(network, endpoints=endpoints, **options))


def changed(fabric, pattern, becomes, count=1):
    """Return a fabric in whose endpoint, or router if it has none, the first places like `pattern` have changed."""
    file = "fabric.sv" if fabric.endpoints is None else fabric.endpoints.file
    text, found = re.subn(pattern, becomes, fabric.files[file], count=count, flags=re.MULTILINE)
    assert found, pattern
    return replace(fabric, files={**fabric.files, file: text})


def check_refuted(findings, said):
    """Check why the only part that is looked at is refuted, and that it comes with a waveform."""
    (found,) = findings
    assert found.answer == "refuted"
    assert re.search(rf"({said}).*, in cycle \d+", found.why)
    assert "$enddefinitions" in Path(found.trace).read_text()


def answers(findings):
    return {(one.answer, one.why) for one in findings}
