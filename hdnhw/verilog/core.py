"""The FuseSoC core file (CAPI2) beside an emitted fabric."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

_CORE = """CAPI=2:
name: {name}
description: {description}

filesets:
  rtl:
    files:
{files}
    file_type: systemVerilogSource
{others}
targets:
  default:
    filesets: [rtl{with_others}]
    toplevel: {top}

  lint:
    description: Verilator's default warnings; there are none
    filesets: [rtl]
    toplevel: {top}
    flow: lint
    flow_options:
      tool: verilator

  synth:
    description: Yosys, for ECP5 unless another arch is given
    filesets: [rtl]
    toplevel: {top}
    flow: generic
    flow_options:
      tool: yosys
      arch: ecp5
      output_format: json
"""

_WRAPPERS = """
  wrapper:
    files:
      - {constants}: {{file_type: systemVerilogSource, is_include_file: true}}
      - {packed}: {{file_type: systemVerilogSource}}
      - {flat}: {{file_type: verilogSource}}

  vhdl:
    files:
{vhdl}
    file_type: vhdlSource
"""

_CONSTRAINTS = """
  {suffix}:
    files:
      - {file}
    file_type: {file_type}
"""

_READERS = {"xdc": ("vivado", "xdc"), "sdc": ("quartus", "SDC")}
"""Suffix of a file of constraints -> the tool that reads it, as FuseSoC calls it, and its type."""


def core_name(top: str) -> str:
    """Return the name under which other cores depend on fabric `top`; its version is that of hdnhw."""
    return f"hdnhw:fabric:{top}:{version('hdnhw')}"


def core_text(
    sources: list[str],
    *,
    fabric: str,
    top: str,
    description: str,
    wrappers: Mapping[str, Any] | None = None,
    constraints: Sequence[str] = (),
) -> str:
    """Return the text of a FuseSoC core file.

    Parameters
    ----------
    sources : list of str
        SystemVerilog files in the order in which tools are to read them.
    fabric : str
        Name of the fabric, which names the core.
    top : str
        Module that the targets ``lint`` and ``synth`` are about.
    description : str
        One line.
    wrappers : mapping, optional
        The manifest's entry ``wrappers``: a core that depends on this one has those in Verilog, and by the flag
        ``vhdl`` those in VHDL.
    constraints : sequence of str
        Files of constraints; a core that depends on this one has that of its tool.
    """
    others = {} if wrappers is None else {', wrapper, "vhdl ? (vhdl)"': _wrapper_filesets(wrappers)}
    for file in constraints:
        suffix = file.rpartition(".")[2]
        tool, file_type = _READERS[suffix]
        text = _CONSTRAINTS.format(suffix=suffix, file=file, file_type=file_type)
        others[f', "tool_{tool} ? ({suffix})"'] = text
    return _CORE.format(
        name=core_name(fabric),
        description=json.dumps(description),
        files=_listed(sources),
        others="".join(others.values()),
        with_others="".join(others),
        top=top,
    )


def _listed(files: Sequence[str]) -> str:
    return "\n".join(f"      - {file}" for file in files)


def _wrapper_filesets(wrappers: Mapping[str, Any]) -> str:
    return _WRAPPERS.format(
        constants=wrappers["constants"],
        packed=wrappers["packed"]["file"],
        flat=wrappers["flat"]["file"],
        vhdl=_listed(wrappers["vhdl"]["files"]),
    )
