"""Verilog of a fabric: the router modules, the ejection buffer and the top level that joins them."""

from typing import Any

from amaranth.back import rtlil, verilog

from hdnhw.routing.plan import RoutingPlan
from hdnhw.rtl.ejection import CheckedEjectionBuffer, EjectionBuffer
from hdnhw.rtl.fabric import Fabric
from hdnhw.rtl.router import Router
from hdnhw.timing import SlotTiming

__all__ = ["EJECTION_SUFFIX", "fabric_verilog", "module_text", "router_names"]

EJECTION_SUFFIX = "_ejection"
"""Appended to the top level's name for the module of the ejection buffer."""

_SCRIPT = """read_rtlil <<rtlil
{rtlil}
rtlil
proc -nomux -norom
memory_collect
{passes}
write_verilog -sv -norename -noattr
"""


def module_text(component: Any, name: str, *, flatten: bool) -> str:
    """Return the SystemVerilog text of an Amaranth `component` as module `name`.

    Processes come out as ``always_comb``, which Icarus evaluates at time 0. With `flatten`, submodules are merged so
    that the text holds one module.
    """
    text = rtlil.convert(component, name=name, emit_src=False)
    yosys = verilog.find_yosys(lambda version: version >= (0, 40))
    script = _SCRIPT.format(rtlil=text, passes="flatten\nopt_clean" if flatten else "")
    return str(yosys.run(["-q", "-"], script, ignore_warnings=True))


def router_names(plan: RoutingPlan, top: str) -> tuple[str, ...]:
    """Return the module name of each router shape: ``top_router``, numbered if there are several shapes."""
    if len(plan.shapes) == 1:
        return (f"{top}_router",)
    return tuple(f"{top}_router_{number}" for number in range(len(plan.shapes)))


def fabric_verilog(
    plan: RoutingPlan,
    *,
    top: str,
    packet_length: int,
    flit_width: int,
    buffers: int,
    crossbar: str,
    queueing: str,
    dead_pins: bool,
    crc: bool,
) -> str:
    """Return the text of all modules of a fabric; the top level is module `top` and comes last."""
    sizes = {"packet_length": packet_length, "flit_width": flit_width}
    names = router_names(plan, top)
    options: Any = {"buffers": buffers, "crossbar": crossbar, "queueing": queueing, "dead_pins": dead_pins, "crc": crc}
    texts = [
        module_text(Router(plan, shape, **options, **sizes), name, flatten=True)
        for shape, name in zip(plan.shapes, names, strict=True)
    ]
    ejection = top + EJECTION_SUFFIX
    slots = SlotTiming(packet_length, crc=crc).ejection_buffers(buffers)
    buffer = (CheckedEjectionBuffer if crc else EjectionBuffer)(buffers=slots, **sizes)
    texts.append(module_text(buffer, ejection, flatten=True))
    fabric = Fabric(plan, router_modules=names, ejection_module=ejection, dead_pins=dead_pins, crc=crc, **sizes)
    texts.append(module_text(fabric, top, flatten=False))
    return "\n".join(texts)
