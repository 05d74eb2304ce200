"""The FuseSoC core file (CAPI2) beside an emitted fabric."""

import json
from importlib.metadata import version

__all__ = ["core_name", "core_text"]

_CORE = """CAPI=2:
name: {name}
description: {description}

filesets:
  rtl:
    files:
{files}
    file_type: systemVerilogSource

targets:
  default:
    filesets: [rtl]
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


def core_name(top: str) -> str:
    """Return the name under which other cores depend on fabric `top`; its version is that of hdnhw."""
    return f"hdnhw:fabric:{top}:{version('hdnhw')}"


def core_text(sources: list[str], *, fabric: str, top: str, description: str) -> str:
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
    """
    return _CORE.format(
        name=core_name(fabric),
        description=json.dumps(description),
        files="\n".join(f"      - {source}" for source in sources),
        top=top,
    )
