"""Every kind of text that is emitted, as other tools read it, and what it has in common."""

import re

import pytest

from hdnhw.fpga.harness import ports_of
from hdnhw.verilog.fabric import write_fabric
from tests.verilog import readers


@pytest.mark.parametrize("variant", readers.VARIANTS)
def test_tools_have_nothing_to_say(variant, tmp_path):
    fabric = readers.emitted(variant)
    sources = [path for path in write_fabric(fabric, tmp_path) if path.suffix == ".sv"]
    assert readers.said_of(sources, fabric.top) == []
    assert unreadable(fabric) == set()
    ports = [port.name for port in ports_of(fabric.files[f"{fabric.top}.sv"], fabric.top)]
    assert [name for name in ports if re.fullmatch(r"[a-z](_?[a-z0-9])*", name) is None] == []  # as VHDL has them


def unreadable(fabric):
    """Return the names of signals that do not say what they are: those with a dollar, and mere numbers."""
    text = "".join(fabric.verilog.values())
    assert re.search(r"^  reg .*\.next ", text, re.MULTILINE)
    return set(re.findall(r"[^\s()\[\]{},;]*\$[^\s()]*|\b_\d+_\b", text)) - {"$signed", "$unsigned"}


@pytest.mark.parametrize("variant", readers.VARIANTS)
def test_without_initial_values_there_are_none(variant, tmp_path):
    """Nothing else differs, and the tools have nothing to say."""
    fabric, bare = readers.emitted(variant), readers.emitted(variant, initial=False)
    assert (fabric.manifest["initial_values"], bare.manifest["initial_values"]) == (True, False)
    for name, text in fabric.verilog.items():
        values = re.compile(
            r"^  initial begin\n.*?^  end\n|(?<=^  reg )([^\n=]*) = \d+'\w+(?=;$)", re.MULTILINE | re.DOTALL
        )
        assert values.sub(r"\1", text) == bare.verilog[name] != text
        assert re.search(r"\binitial\b|^ *reg .*=", bare.verilog[name], re.MULTILINE) is None
    sources = [path for path in write_fabric(bare, tmp_path) if path.suffix == ".sv"]
    assert readers.said_of(sources, bare.top) == []
