"""The matrix of front-ends: no cell is broken, and a port or a file that a front-end leaves out is seen."""

from dataclasses import replace

import pytest
from litex.build.generic_platform import GenericPlatform

from hdnhw.litex import NetworkOnChip
from hdnhw.support.errors import SpecError
from hdnhw.verilog import core
from hdnhw.verilog.component import fabric_component
from hdnhw.verilog.fabric import emit_fabric
from hdnhw.verilog.wrapper import files, verilog, vhdl
from hdnhw.verilog.wrapper.ports import wrapper_ports
from tests.verilog import frontends


@pytest.mark.parametrize("clocks", [False, True], ids=["one clock", "node clocks"])
@pytest.mark.parametrize("kind", frontends.KINDS)
def test_every_cell_is_joined_or_refused(kind, clocks):
    cells = [cell for cell in frontends.CELLS if cell[:2] == (kind, clocks)]
    must = "refused" if (kind, clocks) in frontends.REFUSED else "joined"
    assert {cell: frontends.outcome(*cell) for cell in cells} == dict.fromkeys(cells, must)
    if must == "joined":
        for module in {*frontends.emitted(kind, clocks, True).manifest["modules"]} - {"noc"}:
            with pytest.raises(SpecError, match=r"^module name must not end in '_"):
                emit_fabric(frontends.spec_of(kind), top=module)


JOIN, ADD_SOURCE, LISTED = NetworkOnChip._join, GenericPlatform.add_source, core._listed
FAULTS = {
    "a port is left out": (
        (files, "wrapper_ports", lambda manifest: wrapper_ports(manifest)[:-1]),
        ["SystemVerilog", "Verilog", "VHDL", "FuseSoC"],
    ),
    "nodes are mixed up in arrays": (
        (verilog, "_packed_element", lambda port, _: f"{port.name}[0]"),
        ["SystemVerilog", "FuseSoC"],
    ),
    "nodes are mixed up in vectors": ((verilog, "_flat_element", lambda port, _: f"{port.name}[0]"), ["Verilog"]),
    "nodes are mixed up in VHDL": ((vhdl, "_element", lambda port, _: f"{port.name}(0)"), ["VHDL"]),
    "a pin is left out": (
        (NetworkOnChip, "_join", lambda noc, name, *of: "dead" in name or JOIN(noc, name, *of)),
        ["LiteX"],
    ),
    "a source is left out": (
        (GenericPlatform, "add_source", lambda to, path: path.endswith("noc.sv") or ADD_SOURCE(to, path)),
        ["LiteX"],
    ),
    "a member is left out": (
        (frontends, "fabric_component", lambda spec, **of: fabric_component(replace(spec, crc=False), **of)),
        ["Amaranth"],
    ),
    "a file is left out": ((core, "_listed", lambda names: LISTED(names[:-1] or names)), ["FuseSoC"]),
}
"""Something in another one's place -> front-ends that are broken then."""


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_planted_is_seen(fault, monkeypatch):
    (owner, name, other), front_ends = FAULTS[fault]
    monkeypatch.setattr(owner, name, other)
    frontends.forget()
    front_ends = [name for name in front_ends if name in frontends.FRONT_ENDS]
    outcomes = [frontends.outcome("none", False, True, name) for name in front_ends]
    frontends.forget()
    assert not {"joined", "refused"} & {*outcomes}
