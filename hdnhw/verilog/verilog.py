"""Verilog of a fabric: the router modules, the ejection buffer and the top level that joins them."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Value
from amaranth.lib.wiring import In

from hdnhw.machine.machine import Machine
from hdnhw.rtl.ejection import ejection_buffer
from hdnhw.rtl.fabric import Fabric, FabricModules
from hdnhw.rtl.monitor.port import MonitorPort
from hdnhw.rtl.narrow import channel_between
from hdnhw.rtl.reset import RouterReset
from hdnhw.rtl.router import Router
from hdnhw.support.errors import SpecError
from hdnhw.verilog.rtlil import with_readable_names, without_initial_values, without_needless_initial_values
from hdnhw.verilog.yosys import run_scripts

CLOCKED: dict[str, Any] = {
    "clk": {"direction": "input", "width": 1},
    "rst": {"direction": "input", "width": 1, "meaning": "synchronous, active high; hold for one cycle or more"},
}
"""The ports that every top level has, as manifests have them."""

ADVANCE = """  function [31:0] advance(input [31:0] value);
    reg [31:0] a, b;
    begin
      a = value ^ (value << 13);
      b = a ^ (a >> 17);
      advance = b ^ (b << 5);
    end
  endfunction
"""
"""For test benches and simulated wires: a step of the generators of :class:`hdnhw.traffic.packets.Terminals`."""

MAX_INPUTS = 65_000
"""Most bits of inputs of a module: Amaranth numbers them, with clock and reset, in 16 bits."""

_SCRIPT = """read_rtlil <<rtlil
{rtlil}
rtlil
proc -nomux -norom
memory_collect
{passes}
write_verilog -sv
"""

_NUMBERED = re.compile(r"^  assign (\\\S+ |\w+) *= (_\d+_);$", re.MULTILINE)
"""A signal that is all that Yosys has given a number."""

_CLOCKED = re.compile(r"\balways_ff(?= @)")
"""What only one process may write, and so no initial value (IEEE 1800-2017, 9.2.2.4)."""

_ATTRIBUTE = re.compile(r"^ *\(\* (?!(ram_style|no_rw_check|ASYNC_REG|shreg_extract) =).* \*\)\n", re.MULTILINE)
"""What Yosys notes for itself, but for how a memory is built and where a signal comes from another clock."""


def digest_of(text: bytes) -> str:
    """Return the digest of a file as manifests and certificates have it."""
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


def module_text(component: Any, name: str, *, flatten: bool, initial: bool = True) -> str:
    """Return the SystemVerilog text of an Amaranth component, see :func:`module_script`."""
    (text,) = module_texts([module_script(component, name, flatten=flatten, initial=initial)])
    return text


def module_script(component: Any, name: str, *, flatten: bool, initial: bool = True) -> str:
    """Return what makes :func:`module_texts` write an Amaranth `component` as module `name`.

    Processes come out as ``always_comb``, which Icarus evaluates at time 0, and registers as ``always``, as they have
    initial values, unless there shall be no `initial` ones. With `flatten`, submodules are merged, and the text holds
    one module.

    Raises
    ------
    SpecError
        If it has more inputs than Amaranth can number.
    """
    flat = list(component.signature.flatten(component))
    inputs = sum(len(Value.cast(value)) for _, member, value in flat if member.flow is In)
    if inputs > MAX_INPUTS:
        component._MustUse__silence = True  # no warning that it was forgotten
        raise SpecError(
            f"{name} must have at most {MAX_INPUTS} bits of inputs, not {inputs}: fewer nodes or bits of a flit"
        )
    text = without_needless_initial_values(rtlil.convert(component, name=name, emit_src=False))
    ports = {} if flatten else {"__".join(map(str, path)): "_".join(map(str, path)) for path, _, _ in flat}
    if not initial:
        text = without_initial_values(text)
    return _SCRIPT.format(
        rtlil=with_readable_names(text, ports), passes="flatten\nopt_clean" if flatten else "opt_clean -purge"
    )


def module_texts(scripts: Sequence[str]) -> list[str]:
    """Return the SystemVerilog text of each script of :func:`module_script`."""
    return [_with_names_for_numbers(_CLOCKED.sub("always", _ATTRIBUTE.sub("", each))) for each in run_scripts(scripts)]


def _with_names_for_numbers(text: str) -> str:
    """Name what Yosys has numbered: a part of the signal that it is assigned to, which may have a field `part`."""
    names = {}
    for name, number in _NUMBERED.findall(text):
        part = rf"\{name.strip().removeprefix(chr(92))}.part"
        names[number] = f"{part}_2 " if f"{part} " in text else f"{part} "
    return re.sub(r"\b_\d+_\b", lambda number: names.get(number[0], number[0]), text)


def fabric_modules(machine: Machine, top: str) -> FabricModules:
    """Return the names of the modules of a fabric: ``top_router``, numbered if there are several shapes, and so on."""
    laid, buffers = machine.channels, map(machine.vc_buffers, range(len(machine.network.ports)))
    each = zip(laid.stages, machine.plan.num_vcs, laid.intervals, laid.credit_stages, buffers, strict=True)
    kinds = [kind if kind[2] > 1 else kind[:2] for kind in each]  # of narrow ones, with what their queues hold
    long = list(dict.fromkeys(kind for kind in kinds if kind[0]))
    channels = numbered(f"{top}_channel", len(long))
    of_port = {port: channels[long.index(kind)] for port, kind in enumerate(kinds) if kind[0]}
    routers = numbered(f"{top}_router", len(machine.plan.shapes))
    reset = f"{top}_reset" if machine.spec.reset_registers else ""
    monitor = f"{top}_monitor" if machine.spec.monitor else ""
    return FabricModules(top, tuple(routers), f"{top}_ejection", monitor, of_port, reset)


def numbered(name: str, count: int) -> list[str]:
    return [f"{name}_{number}" for number in range(count)] if count > 1 else [name] * count


def fabric_verilog(machine: Machine, modules: FabricModules, *, initial: bool = True) -> str:
    """Return the text of all modules of a fabric, see :func:`module_script`; the top level comes last."""
    scripts = [
        module_script(Router(machine, shape), name, flatten=True, initial=initial)
        for shape, name in zip(machine.plan.shapes, modules.routers, strict=True)
    ]
    scripts.append(module_script(ejection_buffer(machine), modules.ejection, flatten=True, initial=initial))
    scripts += [
        module_script(channel_between(machine, port), name, flatten=True, initial=initial)
        for name, port in {name: port for port, name in modules.channels.items()}.items()
    ]
    if modules.reset:
        reset = RouterReset(machine.spec.reset_registers)
        scripts.append(module_script(reset, modules.reset, flatten=True, initial=initial))
    if modules.monitor:
        scripts.append(module_script(MonitorPort(machine), modules.monitor, flatten=True, initial=initial))
    scripts.append(module_script(Fabric(machine, modules), modules.top, flatten=False))
    return "\n".join(module_texts(scripts))
