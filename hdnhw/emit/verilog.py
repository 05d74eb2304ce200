"""Verilog of a fabric: the router modules, the ejection buffer and the top level that joins them."""

import re
from typing import Any

from amaranth.back import rtlil, verilog
from amaranth.hdl import Value
from amaranth.lib.wiring import In

from hdnhw.machine import Machine
from hdnhw.rtl.ejection import CheckedEjectionBuffer, EjectionBuffer
from hdnhw.rtl.fabric import Fabric, FabricModules
from hdnhw.rtl.router import Router
from hdnhw.spec import SpecError

__all__ = ["CLOCKED", "fabric_modules", "fabric_verilog", "module_text"]

CLOCKED: dict[str, Any] = {
    "clk": {"direction": "input", "width": 1},
    "rst": {"direction": "input", "width": 1, "meaning": "synchronous, active high; hold for one cycle or more"},
}
"""The ports that every top level has, as manifests have them."""

MAX_INPUTS = 65_000
"""Most bits of inputs of a module: Amaranth numbers them, with clock and reset, in 16 bits."""

_SCRIPT = """read_rtlil <<rtlil
{rtlil}
rtlil
proc -nomux -norom
memory_collect
{passes}
write_verilog -sv -norename
"""

_ATTRIBUTE = re.compile(r"^ *\(\* (?!(ram_style|no_rw_check) =).* \*\)\n", re.MULTILINE)
"""What Yosys notes for itself, but for how a memory is built."""


def module_text(component: Any, name: str, *, flatten: bool) -> str:
    """Return the SystemVerilog text of an Amaranth `component` as module `name`.

    Processes come out as ``always_comb``, which Icarus evaluates at time 0. With `flatten`, submodules are merged so
    that the text holds one module.

    Raises
    ------
    SpecError
        If it has more inputs than Amaranth can number.
    """
    flat = component.signature.flatten(component)
    inputs = sum(len(Value.cast(value)) for _, member, value in flat if member.flow is In)
    if inputs > MAX_INPUTS:
        component._MustUse__silence = True  # no warning that it was forgotten
        raise SpecError(
            f"{name} must have at most {MAX_INPUTS} bits of inputs, not {inputs}: fewer nodes or bits of a flit"
        )
    text = rtlil.convert(component, name=name, emit_src=False)
    yosys = verilog.find_yosys(lambda version: version >= (0, 40))
    script = _SCRIPT.format(rtlil=text, passes="flatten\nopt_clean" if flatten else "")
    return _ATTRIBUTE.sub("", str(yosys.run(["-q", "-"], script, ignore_warnings=True)))


def fabric_modules(machine: Machine, top: str) -> FabricModules:
    """Return the names of the modules of a fabric: ``top_router``, numbered if there are several shapes, and so on."""
    shapes = machine.plan.shapes
    routers = [f"{top}_router_{number}" for number in range(len(shapes))] if len(shapes) > 1 else [f"{top}_router"]
    return FabricModules(top, tuple(routers), f"{top}_ejection")


def fabric_verilog(machine: Machine, modules: FabricModules) -> str:
    """Return the text of all modules of a fabric; the top level comes last."""
    texts = [
        module_text(Router(machine, shape), name, flatten=True)
        for shape, name in zip(machine.plan.shapes, modules.routers, strict=True)
    ]
    buffer = (CheckedEjectionBuffer if machine.spec.crc else EjectionBuffer)(machine)
    texts.append(module_text(buffer, modules.ejection, flatten=True))
    texts.append(module_text(Fabric(machine, modules), modules.top, flatten=False))
    return "\n".join(texts)
