"""Measure a router, an endpoint, a crossing or a fabric on an FPGA: Yosys, then nextpnr with several seeds.

Measuring conditions
--------------------
- ``router``: one router of the fullest shape. A register stands at every port. Its address is a constant, that of a
  node in the middle with such a router, as after flattening in a fabric; or it comes in on a registered port.
- ``endpoint``: what the fabric has at a terminal, measured as a router is.
- ``crossing``: what stands between a terminal and the fabric where each node has its own clock, measured as a router
  is, with one clock for both sides: so ``fmax_mhz`` covers the paths between them too.
- ``fabric``: all routers and ejection buffers, flattened.
- ``chip``: one of several chips: its routers, ejection buffers and bridges, measured as a fabric is; its links are
  streams. ``bridge``: one of its bridges, measured as a router is.
- A router or endpoint on ECP5 is placed out of context, without pins. nextpnr has no such option for other families,
  and a fabric has more ports than a device has pins: there a shift register feeds all inputs, and all outputs are
  registered and joined by XOR, four a step, with a register behind every step. A fabric has three registers
  more between two ports and behind later steps, as these are far from each other. The reset comes over a global net,
  as it should in any design with a fabric: nextpnr puts it there by itself, but on ECP5, where a DCCA tells it to.
- The registers and XORs around the unit are synthesized in a module of their own and counted apart: ``luts``, ``ff``,
  ``ram_cells`` and ``comb_sites`` are those of the unit alone, the last from a run of nextpnr that only packs it. What
  is placed and routed is the unit inside its wrapper; ``fmax_mhz`` covers all paths of both. Where nextpnr packs
  nothing without pads (MachXO3, Nexus, Gowin) it packs all, and the lookup tables of the wrapper are taken away.
- Packet buffers that may be in block RAM are in distributed RAM if the device has too little for what is measured.
- ECP5's block RAM has output registers: they take the place of flip-flops right behind it, after Yosys, which has no
  rule for that.
- ECP5: ``synth_ecp5 -abc9`` with ``abc9.D`` at 1600 ps, LFE5U-85F of speed grade 6. iCE40: ``synth_ice40 -abc9 -device
  hx``, HX8K in package CT256. The others are in :mod:`hdnhw.fpga.family`. All have a target of 300 MHz. Figures are of
  the worst case that nextpnr's delay tables know, and none of them was measured on a chip. For Gowin these tables have
  no delay of block RAM. Xilinx 7 and Cyclone V end with Yosys, whose cells are counted.
"""

import hashlib
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hdnhw.fpga.block_ram import choose_ram, use_output_registers
from hdnhw.fpga.family import DEVICES, FAMILIES, Family, Placement
from hdnhw.fpga.harness import (
    UNIT,
    WRAPPER,
    parallel_wrapper,
    ports_of,
    serial_wrapper,
    unit_text,
    with_one_clock,
)
from hdnhw.fpga.kept import kept_result
from hdnhw.fpga.nextpnr import critical_path, fmax_of, read_report, sites_packed
from hdnhw.fpga.spec import ADDRESS_PINS, SynthSpec
from hdnhw.fpga.tools import TooLargeError, ToolError, run_tool, tool_versions
from hdnhw.fpga.yosys import YosysError, run_yosys
from hdnhw.machine.chips import lay_chips
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.rtl.router import Router, node_pins
from hdnhw.rules.plan import RoutingPlan
from hdnhw.verilog.fabric import emit_fabric
from hdnhw.verilog.verilog import module_text

SYNTH_ROOT = Path("build") / "synth"

REVISION = 5
"""Of the result's keys and their meaning: results of another one are measured anew."""

APART = 3
"""Registers between the ports of a fabric in the wrapper: what crosses a device takes four cycles of 300 MHz."""

Result = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True)
class _Design:
    """What goes through the tools.

    Attributes
    ----------
    about : dict
        What the result says about the design.
    text : str
        Verilog.
    script : str
        Of Yosys.
    pack, place : tuple of str
        Options of nextpnr to pack the unit, or all where that has no pads, and to place and route it in its wrapper
        with a seed; empty where nothing is placed.
    """

    family: Family
    seeds: int
    about: Result
    text: str
    script: str
    pack: tuple[str, ...]
    place: tuple[str, ...]

    @property
    def digest(self) -> str:
        """All that a result depends on, as 64 hexadecimal digits."""
        parts = [self.text, self.script, self.pack, self.place, self.seeds, self.about, self.tools, REVISION]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def tools(self) -> dict[str, str]:
        """Versions."""
        placement = self.family.placement
        used = ["yosys"] if placement is None else ["yosys", placement.tool]
        return {**tool_versions(used), "hdnhw": version("hdnhw")}


def synthesize(spec: SynthSpec, *, root: Path = SYNTH_ROOT, say: Say = lambda _: None) -> Result:
    """Measure a unit; take the result from ``ROOT/DIGEST`` if it is there already.

    Parameters
    ----------
    spec : SynthSpec
    root : Path
    say : callable
        Is told what goes on.

    Returns
    -------
    dict
        ``luts``, of ``lut_inputs`` each, ``ff`` and ``ram_cells`` are cells of the unit after synthesis. ``wrapper``
        tells the cells around it. What follows needs place-and-route and is missing in other families.
        ``comb_sites`` are the sites that it takes after packing: on ECP5 one for a lookup table, two for a carry, six
        for 16 x 4 bits of distributed RAM; on iCE40 one for a lookup table and the flip-flop behind it. ``untimed`` are
        cells of whose delays nextpnr knows nothing: they are not in any frequency.
        ``fmax_of_seed`` is in the order of the seeds, ``fmax_mhz`` their median. ``critical_path`` is that of
        ``critical_path_seed``, the seed at the median (the lower one of two), see
        :func:`hdnhw.fpga.nextpnr.critical_path`, and ``critical_stage`` is the stage that it ends in. ``seconds`` are
        those of the tools when they ran.

    Raises
    ------
    SpecError
        If the machine cannot be built, asks for more block RAMs than the device has, or has no such node.
    ToolError
        If a tool is missing or fails; ``ROOT/DIGEST.failed`` keeps its files. If the device has too few sites, it is a
        TooLargeError.
    """
    return _measured(_design(spec), root, say)


def synthesize_other(text: str, module: str, *, seeds: int = 3, say: Say = lambda _: None) -> Result:
    """Measure Verilog of others as a fabric on ECP5, as :func:`synthesize` does; ports `aclk` and `aresetn` are global.

    Parameters
    ----------
    text : str
        Verilog, as Yosys writes it.
    module : str
        The top level.
    seeds : int
        Of nextpnr.
    """
    family = FAMILIES["ecp5"]
    assert family.placement is not None
    about = {"spec": module, "unit": "fabric", "family": family.name, "frequency": family.placement.frequency}
    whole = (text + with_one_clock(text, module, "around"), "around")
    return _measured(_wrapped(family, about, whole, {}, is_single=False, seeds=seeds), SYNTH_ROOT, say)


def _measured(design: _Design, root: Path, say: Say) -> Result:
    result, cached = kept_result(root / design.digest, lambda work: _run_tools(design, work, say))
    return {**result, "cached": cached}


def _run_tools(design: _Design, work: Path, say: Say) -> Result:
    started = time.monotonic()
    family, about, placement = design.family, design.about, design.family.placement
    say(f"{about['spec']}: {about['unit']} on {family.name}; yosys ...")
    cells = _synthesize(design, work)
    around = {key: count for key, count in family.count(cells[WRAPPER]).items() if key != "ram_cells"}
    result = {**about, **family.count(cells[UNIT]), "lut_inputs": family.lut_inputs, "wrapper": around}
    if placement is not None:
        runs = f"{placement.tool}, seeds 1 to {design.seeds} (a first start is slow)"
        say(f"  {time.monotonic() - started:.0f} s; {runs} ...")
        result |= _placed(design, placement, work, around)
    say(f"  {time.monotonic() - started:.0f} s")
    (work / "netlist.json").unlink()
    seconds = round(time.monotonic() - started, 1)
    return {**result, "tools": design.tools, "seconds": seconds, "digest": f"sha256:{design.digest}"}


def _placed(design: _Design, placement: Placement, work: Path, around: dict[str, Any]) -> Result:
    """Pack, place and route; return what the result says of it."""
    if placement.pins is not None:
        name, text = placement.pins
        (work / name).write_text(text)
    packed, available = _pack(design, placement, work)
    with ThreadPoolExecutor(min(design.seeds, os.cpu_count() or 1)) as pool:
        try:
            reports = list(pool.map(partial(_place, design, placement, work), range(1, design.seeds + 1)))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if placement.has_pads:
        unit, beyond = packed - around["luts"], around["luts"]
    else:
        unit, beyond = packed, reports[0]["utilization"][placement.comb]["used"] - packed
    return {
        "comb_sites": unit,
        "comb_sites_of_device": available,
        "wrapper": {**around, "comb_sites": beyond},
        **_speed(reports),
        "untimed": list(placement.untimed),
    }


def _speed(reports: list[dict[str, Any]]) -> Result:
    fmax = [fmax_of(report) for report in reports]
    middle = fmax.index(statistics.median_low(fmax))
    path = critical_path(reports[middle])
    return {
        "fmax_mhz": round(statistics.median(fmax), 1),
        "fmax_best_mhz": round(max(fmax), 1),
        "fmax_of_seed": [round(value, 1) for value in fmax],
        "seeds": len(reports),
        "critical_stage": path[-1]["stage"] if path else None,
        "critical_path_seed": middle + 1,
        "critical_path": path,
    }


def _synthesize(design: _Design, work: Path) -> dict[str, dict[str, int]]:
    """Run Yosys, and use the output registers of block RAMs; return for each module its cells of each type, counted."""
    (work / "design.sv").write_text(design.text)
    (work / "synth.ys").write_text(design.script)
    log = work / "yosys.log"
    try:
        log.write_text(run_yosys(design.script, cwd=work))
    except YosysError as error:
        log.write_text(f"{error}\n")
        raise ToolError(f"yosys has failed: {error}, see {log}") from None
    use_output_registers(work / "netlist.json")
    modules = json.loads((work / "netlist.json").read_text())["modules"]
    return {name: dict(Counter(cell["type"] for cell in modules[name]["cells"].values())) for name in (UNIT, WRAPPER)}


def _pack(design: _Design, placement: Placement, work: Path) -> tuple[int, int]:
    """Pack the unit alone, or all of it; return the sites for lookup tables that it takes, and those of the device."""
    log = work / "pack.log"
    run_tool(placement.tool, design.pack, log=log)
    packed, available = sites_packed(log.read_text())[placement.comb]
    if packed > available:
        device = design.family.device
        raise TooLargeError(f"the unit needs {packed} {placement.comb} and {device} has {available}, see {log}")
    return packed, available


def _place(design: _Design, placement: Placement, work: Path, seed: int) -> dict[str, Any]:
    options = (*design.place, "--seed", str(seed), "--report", f"report-{seed}.json")
    run_tool(placement.tool, options, log=work / f"nextpnr-{seed}.log")
    return read_report(work / f"report-{seed}.json")


@dataclass(frozen=True)
class _Unit:
    """What is measured.

    Attributes
    ----------
    machine : Machine
    node : int or None
        Whose address it gets; None for pins, or if it has none.
    module, text : str
        Its name and its Verilog.
    routers : int
        Of a chip.
    """

    machine: Machine
    node: int | None
    module: str
    text: str
    routers: int = 0


def _design(spec: SynthSpec) -> _Design:
    unit, family = _UNITS[spec.unit](spec), FAMILIES[spec.family]
    pins = {} if unit.node is None else node_pins(unit.machine, unit.node)
    constants = {name: value for name, (value, _) in pins.items()}
    about, is_single = _about(spec, unit, family), spec.unit not in ("fabric", "chip")
    if family.placement is not None:
        about["frequency"] = family.placement.frequency if spec.frequency is None else spec.frequency
    return _wrapped(family, about, (unit.text, unit.module), constants, is_single=is_single, seeds=spec.placements)


def _wrapped(
    family: Family,
    about: Result,
    unit: tuple[str, str],
    constants: dict[str, int],
    *,
    is_single: bool,
    seeds: int,
) -> _Design:
    """Put the wrapper around a unit, its text and its name, with some inputs tied to constants."""
    placement, (unit_verilog, module) = family.placement, unit
    around, ports = unit_text(module, ports_of(unit_verilog, module), constants)
    pinless = is_single and placement is not None and bool(placement.inside)
    buffer = "" if placement is None else placement.global_buffer
    wrapper = (
        parallel_wrapper(ports)
        if pinless
        else serial_wrapper(ports, global_buffer=buffer, apart=0 if is_single else APART)
    )
    pack: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    if placement is not None:
        pack, place = _commands(placement, about["frequency"], pinless=pinless)
    return _Design(
        family=family,
        seeds=seeds,
        about=about,
        text=f"{unit_verilog}\n{around}\n{wrapper}",
        script=f"read_verilog -sv design.sv\n{family.script(WRAPPER, flat=is_single)}"
        f"write_json netlist.json\nstat {UNIT}\nstat {WRAPPER}\n",
        pack=pack,
        place=place,
    )


def _commands(placement: Placement, frequency: float, *, pinless: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the options of nextpnr to pack, and to place and route."""
    common = ("--json", "netlist.json", *placement.options)
    alone = ("--top", UNIT, *placement.inside) if not placement.has_pads else ("--top", WRAPPER, *placement.outside)
    timed = ("--freq", f"{frequency:g}", "--timing-allow-fail", *(placement.inside if pinless else placement.outside))
    return (*common, *alone, "--pack-only"), (*common, "--top", WRAPPER, *timed)


def _about(spec: SynthSpec, unit: _Unit, family: Family) -> Result:
    machine, node = unit.machine, unit.node
    shape = machine.plan.shapes[0] if node is None else machine.plan.shape_of(node)
    return {
        "spec": str(machine.network.spec),
        "unit": spec.unit,
        "family": family.name,
        "device": family.device,
        "speed": family.speed,
        "routers": {"router": 1, "fabric": machine.network.num_nodes, "chip": unit.routers}.get(spec.unit, 0),
        "address": None if spec.unit not in ("router", "endpoint") else ADDRESS_PINS if node is None else node,
        **machine.options(),
        "num_vcs": machine.plan.max_vcs,
        "ports": len(shape.ports) + 1,
    }


def _middle(plan: RoutingPlan) -> int:
    """Return a node in the middle of the numbers whose router is of the fullest shape."""
    count = plan.network.num_nodes
    nodes = ((count // 2 + step) % count for step in range(count))
    return next(node for node in nodes if plan.shape_of(node) == plan.shapes[0])


def _node(spec: SynthSpec, plan: RoutingPlan) -> int | None:
    """Return the node whose address a unit gets; None for pins."""
    if spec.address is None:
        return _middle(plan)
    return None if spec.address == ADDRESS_PINS else plan.network.parse_node(spec.address)


def _router(spec: SynthSpec) -> _Unit:
    device = DEVICES[FAMILIES[spec.family].device]
    machine = make_machine(choose_ram(spec.fabric, device, routers=1))
    _ = machine.plan.circuit_rule
    node = _node(spec, machine.plan)
    shape = machine.plan.shapes[0] if node is None else machine.plan.shape_of(node)
    return _Unit(machine, node, "router", module_text(Router(machine, shape), "router", flatten=True))


def _endpoint(spec: SynthSpec) -> _Unit:
    fabric = emit_fabric(spec.fabric)
    assert fabric.endpoints is not None
    return _Unit(fabric.machine, _node(spec, fabric.machine.plan), fabric.endpoints.modules.unit, fabric.endpoints.text)


def _crossing(spec: SynthSpec) -> _Unit:
    fabric = emit_fabric(spec.fabric, node_clocks=True)
    assert fabric.clocks is not None
    text, module = fabric.clocks.text, fabric.clocks.crossing
    return _Unit(fabric.machine, None, "crossing", text + with_one_clock(text, module, "crossing"))


def _fabric(spec: SynthSpec) -> _Unit:
    fabric = emit_fabric(choose_ram(spec.fabric, DEVICES[FAMILIES[spec.family].device]))
    if fabric.endpoints is None:
        return _Unit(fabric.machine, None, fabric.modules.top, fabric.text)
    text, module = f"{fabric.text}\n{fabric.endpoints.text}", fabric.endpoints.top
    return _Unit(fabric.machine, None, "around", text + with_one_clock(text, module, "around"))


def _chip(spec: SynthSpec) -> _Unit:
    device = DEVICES[FAMILIES[spec.family].device]
    places = lay_chips(make_machine(spec.fabric).network, spec.chips or "").num_places
    fabric = emit_fabric(choose_ram(spec.fabric, device, routers=places), cut=spec)
    assert fabric.chips is not None
    module = fabric.chips.chip if spec.unit == "chip" else fabric.chips.bridges[0]
    return _Unit(fabric.machine, None, module, f"{fabric.text}\n{fabric.chips.text}", routers=places)


_UNITS: dict[str, Callable[[SynthSpec], _Unit]] = {
    "router": _router,
    "endpoint": _endpoint,
    "crossing": _crossing,
    "fabric": _fabric,
    "chip": _chip,
    "bridge": _chip,
}
