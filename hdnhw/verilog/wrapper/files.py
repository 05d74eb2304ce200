"""The files of a fabric's wrappers."""

from typing import Any

from hdnhw.support.errors import SpecError
from hdnhw.verilog.wrapper.constants import constants_text
from hdnhw.verilog.wrapper.ports import wrapper_ports
from hdnhw.verilog.wrapper.verilog import flat_text, packed_text
from hdnhw.verilog.wrapper.vhdl import entity_text, package_text

WRAPPERS = ("wrap", "flat", "pkg", "vhdl")
"""What the names of the wrappers end in: modules of SystemVerilog and Verilog, package and entity of VHDL."""

IN_VHDL = ("ieee", "std", "std_logic", "std_logic_vector", "work")
"""What the entity has names for besides its ports."""


def wrapper_files(manifest: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the wrappers of a fabric, and what the manifest says of them.

    Returns
    -------
    files : dict of str to str
        File name -> text; those of one language in the order in which tools are to read them.
    entry : dict
        The manifest's entry ``wrappers``.

    Raises
    ------
    SpecError
        If the top level is called as something else in the entity, where the component of that name would hide it.
    """
    top, ports = manifest["top"], wrapper_ports(manifest)
    if top.lower() in {*IN_VHDL, *(port.name for port in ports)}:
        raise SpecError(f"module name must not be a port, type or library of its wrapper in VHDL such as {top!r}")
    names = {kind: f"{top}_{kind}" for kind in WRAPPERS}
    files = {
        f"{top}.svh": constants_text(manifest),
        f"{names['wrap']}.sv": packed_text(manifest, names["wrap"], ports),
        f"{names['flat']}.v": flat_text(manifest, names["flat"], ports),
        f"{names['pkg']}.vhd": package_text(manifest, names["pkg"], ports),
        f"{names['vhdl']}.vhd": entity_text(manifest, names["vhdl"], names["pkg"], ports),
    }
    entry = {
        "constants": f"{top}.svh",
        "packed": {"file": f"{names['wrap']}.sv", "module": names["wrap"]},
        "flat": {"file": f"{names['flat']}.v", "module": names["flat"]},
        "vhdl": {
            "files": [f"{names['pkg']}.vhd", f"{names['vhdl']}.vhd"],
            "package": names["pkg"],
            "entity": names["vhdl"],
        },
    }
    return files, entry
