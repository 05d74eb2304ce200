"""Block RAM on a device: how much packet buffers take, whether there is enough, and its output registers."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hdnhw.fpga.family import BlockRam
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.machine.monitor import WORD_WIDTH, MonitorMap
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError


def block_rams(machine: Machine, kind: BlockRam, *, routers: int | None = None) -> int:
    """Return how many block RAMs the packet buffers of a machine take, and its monitor.

    Parameters
    ----------
    machine : Machine
    kind : BlockRam
    routers : int, optional
        Count so many routers of the fullest shape instead of all that the network has.
    """
    plan, network = machine.plan, machine.network
    if routers is None:
        nodes, inputs = network.num_nodes, {port: network.port_count(port) for port in range(len(network.ports))}
    else:
        nodes, inputs = routers, dict.fromkeys(plan.shapes[0].ports, routers)
    memories = [(nodes, 1, machine.injection_buffers)]
    for port, count in inputs.items():
        num_vcs = plan.num_vcs[network.ports[port].opposite]
        memories.append((count, num_vcs, machine.input_buffers(port)))
    counters = nodes * kind.count(MonitorMap.of(machine).words, WORD_WIDTH) if machine.spec.monitor else 0
    return counters + sum(
        count * kind.count(machine.buffer_words(num_vcs, buffers), machine.word_width)
        for count, num_vcs, buffers in memories
    )


def choose_ram(spec: FabricSpec, kind: BlockRam, *, routers: int | None = None) -> FabricSpec:
    """Return `spec`, with distributed RAM if it leaves the choice and a device has too few block RAMs.

    Parameters
    ----------
    spec : FabricSpec
    kind : BlockRam
        Of the device.
    routers : int, optional
        As of :func:`block_rams`.

    Raises
    ------
    SpecError
        If it asks for block RAM and the device has too few, or the machine cannot be built.
    """
    machine = make_machine(spec)
    if not machine.is_block_ram:
        return spec
    needed = block_rams(machine, kind, routers=routers)
    if needed <= kind.available:
        return spec
    if spec.ram == "block":
        raise SpecError(
            f"ram block needs {needed} block RAMs, and the device has {kind.available}: use auto or distributed"
        )
    return replace(spec, ram="distributed")


def use_output_registers(netlist: Path) -> int:
    """Replace flip-flops behind ECP5's block RAMs by their output registers, for which Yosys has no rule.

    Parameters
    ----------
    netlist : Path
        JSON of Yosys; written anew if anything has changed. Without block RAMs of ECP5, nothing does.

    Returns
    -------
    int
        The block RAMs of which output registers are used now.
    """
    content = json.loads(netlist.read_text())
    changed = sum(_use_in_module(module) for module in content["modules"].values())
    if changed:
        netlist.write_text(json.dumps(content, separators=(",", ":")))
    return changed


def _use_in_module(module: dict[str, Any]) -> int:
    cells = module["cells"]
    rams = [cell for cell in cells.values() if cell["type"] == "DP16KD"]
    if not rams:
        return 0
    loads = Counter(_loads(module))
    flip_flops = {
        cell["connections"]["DI"][0]: name
        for name, cell in cells.items()
        if cell["type"] == "TRELLIS_FF" and cell["connections"].get("DI")
    }
    changed = 0
    for ram in rams:
        pins = ram["connections"]
        read = {pin: bits[0] for pin, bits in pins.items() if pin.startswith("DO") and bits and loads[bits[0]]}
        behind = {pin: flip_flops[bit] for pin, bit in read.items() if loads[bit] == 1 and bit in flip_flops}
        if not read or len(behind) < len(read) or not _can_register(ram, read):
            continue
        enables = [_enable(cells[name], pins["CLKB"]) for name in behind.values()]
        if enables[0] is None or enables[1:] != enables[:-1]:
            continue
        for pin, name in behind.items():
            pins[pin] = cells.pop(name)["connections"]["Q"]
        pins["OCEA"] = pins["OCEB"] = enables[0]
        ram["parameters"]["REGMODE_A"] = ram["parameters"]["REGMODE_B"] = "OUTREG"
        changed += 1
    return changed


def _loads(module: dict[str, Any]) -> Iterator[Any]:
    """Yield the net of every pin that takes a value: any of a cell not known as output, and outputs of the module."""
    for cell in module["cells"].values():
        directions = cell.get("port_directions", {})
        for pin, bits in cell["connections"].items():
            if directions.get(pin) != "output":
                yield from bits
    for port in module["ports"].values():
        if port["direction"] != "input":
            yield from port["bits"]


def _can_register(ram: dict[str, Any], read: dict[str, Any]) -> bool:
    """Whether a block RAM without output registers reads at rising edges of one clock, to the pins `read`."""
    pins, options = ram["connections"], ram["parameters"]
    if "OUTREG" in {options["REGMODE_A"], options["REGMODE_B"]}:
        return False
    one_clock = pins["CLKA"] == pins["CLKB"] and options["CLKAMUX"] == "CLKA"
    return (
        options["CLKBMUX"] == "CLKB"
        and pins["RSTB"] == ["0"]
        and (one_clock or not any(pin.startswith("DOA") for pin in read))
    )


def _enable(flip_flop: dict[str, Any], clock: list[Any]) -> list[Any] | None:
    """Return the net that enables a flip-flop at rising edges of a clock, a constant 1 if it is enabled always.

    None if it has another clock, a reset or another value than 0 at first.
    """
    pins, options = flip_flop["connections"], flip_flop["parameters"]
    plain = (
        pins["CLK"] == clock
        and options["CLKMUX"] == "CLK"
        and options["REGSET"] == "RESET"
        and pins.get("LSR", []) in ([], ["0"])
    )
    enable: list[Any] | None = {"1": ["1"], "CE": pins.get("CE")}.get(options["CEMUX"].strip())
    return enable if plain else None
