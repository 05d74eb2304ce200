"""The files of a fabric's wrappers."""

from typing import Any

from hdnhw.verilog.wrapper.constants import constants_text
from hdnhw.verilog.wrapper.ports import wrapper_ports
from hdnhw.verilog.wrapper.verilog import flat_text, packed_text
from hdnhw.verilog.wrapper.vhdl import entity_text, package_text

__all__ = ["wrapper_files"]


def wrapper_files(manifest: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the wrappers of a fabric, and what the manifest says of them.

    Returns
    -------
    files : dict of str to str
        File name -> text; those of one language in the order in which tools are to read them.
    entry : dict
        The manifest's entry ``wrappers``.
    """
    top, ports = manifest["top"], wrapper_ports(manifest)
    names = {kind: f"{top}_{kind}" for kind in ("wrap", "flat", "pkg", "vhdl")}
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
