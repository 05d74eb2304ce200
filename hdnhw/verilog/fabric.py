"""Emit a fabric: Verilog, the manifest that explains it, and a FuseSoC core file."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hdnhw.endpoints import declared
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.machine.monitor import CYCLES, IDENTITY, WORD_WIDTH, MonitorMap, words_of
from hdnhw.networks.build import build
from hdnhw.rtl.axi_lite import axi_lite_members, described_members
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.rtl.chip import cut_into_chips
from hdnhw.rtl.fabric import Fabric, FabricModules
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.spec import FabricSpec
from hdnhw.spec.chips import ChipOptions
from hdnhw.support.errors import SpecError
from hdnhw.support.files import write_together
from hdnhw.support.manifest import constraints_of, parts_of
from hdnhw.support.naming import named
from hdnhw.verilog.assertions.binds import ASSERTIONS, CHECK, assertions_text
from hdnhw.verilog.chips import CHIP_SUFFIXES, EmittedChips
from hdnhw.verilog.clocks import CLOCKS_SUFFIX, CROSSING_SUFFIX, EmittedClocks
from hdnhw.verilog.core import core_name, core_text
from hdnhw.verilog.endpoint import MONITOR, EmittedEndpoints
from hdnhw.verilog.keywords import KEYWORDS, VHDL_KEYWORDS
from hdnhw.verilog.verilog import CLOCKED, digest_of, fabric_modules, fabric_verilog
from hdnhw.verilog.wrapper.files import WRAPPERS, wrapper_files

MAX_ROUTERS, MAX_ROUTER_PORTS = 1 << 13, 32
"""Most routers of an emitted fabric, and ports of one to others: half a minute for a router of 32."""

MAX_NAME = 200
"""Most characters of a fabric's name: those of its modules and files are longer."""

READABLE = "{}_readable.txt"
"""File of the Verilog for readers, which no manifest names, of a fabric of a name."""

ONE_CHIP = ChipOptions()

LISTED_ADDRESSES = 4096
"""Most nodes whose packed addresses the manifest lists one by one."""


@dataclass(frozen=True)
class EmittedFabric:
    """A fabric as text.

    Attributes
    ----------
    machine : Machine
    modules : FabricModules
        Names of its modules.
    endpoints : EmittedEndpoints or None
        What stands at its terminals.
    clocks : EmittedClocks or None
        The top level whose terminals have clocks of their own.
    chips : EmittedChips or None
        The chip, where the network stands on several.
    files : dict of str to str
        File name -> text; the Verilog, wrappers, the FuseSoC core file and ``manifest.json``, which comes last.
    manifest : dict
        The parsed manifest.
    """

    machine: Machine
    modules: FabricModules
    endpoints: EmittedEndpoints | None
    clocks: EmittedClocks | None
    chips: EmittedChips | None
    files: dict[str, str]
    manifest: dict[str, Any]

    @property
    def text(self) -> str:
        """The Verilog of the bare fabric."""
        return self.files[f"{self.modules.top}.sv"]

    @property
    def verilog(self) -> dict[str, str]:
        """The files of Verilog among `files` that tools read one after the other, wrappers excepted."""
        around = [part.file for part in (self.chips, self.endpoints, self.clocks) if part is not None]
        return {name: self.files[name] for name in (f"{self.modules.top}.sv", *around)}

    @property
    def checked(self) -> dict[str, str]:
        """These files, and that of the assertions, if there is one, for simulators."""
        found = self.manifest.get("assertions", {}).get("file")
        return self.verilog | ({found: self.files[found]} if found else {})

    @property
    def initial(self) -> bool:
        """Whether registers and memories have initial values."""
        return bool(self.manifest["initial_values"])

    @property
    def top(self) -> str:
        """Name of the top level: with endpoints, if there are any."""
        return str(self.manifest["top"])

    @property
    def blocks(self) -> list[str]:
        """Names of the modules of which there may be several instances, but for top levels."""
        around = [] if self.endpoints is None else self.endpoints.blocks
        crossing = [] if self.clocks is None else [self.clocks.crossing]
        chips = [] if self.chips is None else self.chips.blocks
        monitor = [self.modules.monitor] if self.modules.monitor else []
        return [*self.modules.routers, self.modules.ejection, *monitor, *self.modules.long, *around, *crossing, *chips]


def emit_fabric(
    spec: FabricSpec,
    *,
    top: str = "fabric",
    initial: bool = True,
    wrapper: bool = False,
    node_clocks: bool = False,
    cut: ChipOptions = ONE_CHIP,
    assertions: bool = False,
) -> EmittedFabric:
    """Prove, elaborate and print a fabric.

    Parameters
    ----------
    spec : FabricSpec
    top : str
        Name of the top-level module and prefix of the others.
    initial : bool
        Whether registers and memories have initial values; without, they have none before the first reset.
    wrapper : bool
        Whether there are wrappers in Verilog and VHDL too.
    node_clocks : bool
        Whether each terminal has a clock of its own.
    cut : ChipOptions
        How the network is cut into chips.
    assertions : bool
        Whether there are assertions for simulators.

    Raises
    ------
    SpecError
        If the fabric is too large, an address does not fit into a flit, endpoints do not fit the packets, `top` is not
        a name in Verilog and VHDL, or may be that of a module of another fabric, or its terminals cannot have clocks of
        their own.
    RuleError
        If its routing is not deadlock-free.
    """
    check_name(top)
    network = build(spec.network)
    nodes, ports = network.num_nodes, len(network.ports)
    if nodes > MAX_ROUTERS:
        raise SpecError(f"a fabric must have at most {MAX_ROUTERS} routers; {spec.network} has {nodes}")
    if ports > MAX_ROUTER_PORTS:
        raise SpecError(f"a router must have at most {MAX_ROUTER_PORTS} ports in Verilog; {spec.network} has {ports}")
    return emit_machine(
        make_machine(spec),
        top=top,
        initial=initial,
        wrapper=wrapper,
        node_clocks=node_clocks,
        cut=cut,
        assertions=assertions,
    )


def emit_machine(
    machine: Machine,
    *,
    top: str = "fabric",
    initial: bool = True,
    wrapper: bool = False,
    node_clocks: bool = False,
    cut: ChipOptions = ONE_CHIP,
    assertions: bool = False,
) -> EmittedFabric:
    """Elaborate and print a machine of any size, see :func:`emit_fabric`."""
    check_name(top)
    _ = machine.plan.circuit_rule
    if node_clocks:
        check_clocks(machine)
    if machine.spec.monitor and cut.chips is not None:
        raise SpecError(f"{named('chips')} does not go with {named('monitor')}: its chain goes through one chip")
    laid = None if cut.chips is None else cut_into_chips(machine, cut, node_clocks=node_clocks)
    asked = machine.spec.endpoints
    kind: Any = None if asked is None else declared("emitted")[asked.kind].of(machine)
    if laid is not None and asked is not None and not kind.on_chips:
        raise SpecError(f"{named('chips')} is for streams of flits and AXI4, not for {asked.title}")
    modules = fabric_modules(machine, top)
    text = fabric_verilog(machine, modules, initial=initial)
    manifest, parts, endpoints = _manifest(machine, modules, text) | {"initial_values": initial}, None, None
    files, ports = {f"{top}.sv": text}, manifest["ports"]
    if laid is not None:
        parts = EmittedChips(machine, modules, laid, cut, ports=ports, initial=initial)
        files[parts.file] = parts.text
    if kind is not None:
        endpoints = kind(machine, top if parts is None else parts.top, ports, initial=initial, chip=parts)
        files[endpoints.file] = endpoints.text
        manifest |= {"top": endpoints.top, "endpoints": endpoints.manifest}
    clocks = _clocks(machine, modules, endpoints, manifest, initial=initial) if node_clocks else None
    if clocks is not None:
        files[clocks.file] = clocks.text
        manifest |= {"top": clocks.top, "clocks": clocks.manifest}
    if parts is not None:
        parts.put_around(endpoints)
        manifest |= {"top": parts.outer.top, "chips": parts.manifest}
    wrappers: dict[str, str] = {}
    if wrapper:
        wrappers, manifest["wrappers"] = wrapper_files(manifest)
    files = {**files, **wrappers, f"{top}.core": _core(manifest, list(files))}
    files |= {} if endpoints is None else endpoints.beside
    files |= {} if clocks is None else clocks.constraints
    files |= {} if parts is None else {**parts.constraints, parts.system_file: parts.system_text}
    if assertions:
        checks = f"{top}{ASSERTIONS}.sv"
        files[checks] = assertions_text(machine, modules, manifest, endpoints, parts, clocks)
        manifest["assertions"] = {"file": checks, "trace": f"+{top}_trace=FILE"}
    manifest |= {"files": list(files), "modules": _modules(files)}
    files["manifest.json"] = json.dumps(manifest, indent=1) + "\n"
    return EmittedFabric(machine, modules, endpoints, clocks, parts, files, manifest)


def check_clocks(machine: Machine) -> None:
    """Raise SpecError if the terminals of a machine cannot have clocks of their own."""
    endpoints = machine.spec.endpoints
    if machine.spec.gapless_packets:
        raise SpecError("node clocks do not go with gapless packets: a flit may come a cycle later from another clock")
    if endpoints is not None and not declared("emitted")[endpoints.kind].of(machine).has_streams:
        raise SpecError(f"node clocks are for terminals that are streams alone, not for {endpoints.title}")


def _clocks(
    machine: Machine, modules: FabricModules, endpoints: EmittedEndpoints | None, manifest: Any, *, initial: bool
) -> EmittedClocks:
    """Return the top level with a clock for each terminal, around that of the fabric."""
    nodes = machine.network.num_nodes
    if endpoints is None:
        ports, inside = manifest["ports"], Fabric(machine, modules)
        return EmittedClocks(
            inside, fabric=modules.top, clock="clk", reset="rst", ports=ports, nodes=nodes, initial=initial
        )
    return EmittedClocks(
        endpoints.around(endpoints.parts()),
        fabric=endpoints.top,
        clock=endpoints.clock,
        reset=endpoints.reset,
        ports=manifest["endpoints"]["ports"],
        nodes=nodes,
        initial=initial,
    )


def check_name(top: str) -> None:
    """Refuse what cannot be the name of a module that has others beside it.

    Raises
    ------
    SpecError
    """
    if not re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", top):
        raise SpecError(f"module name must be letters, digits and single _ between them, a letter first, not {top!r}")
    if len(top) > MAX_NAME:
        raise SpecError(f"module name must have at most {MAX_NAME} characters, not {len(top)}")
    if top in KEYWORDS:
        raise SpecError(f"module name must not be a keyword of SystemVerilog such as {top!r}")
    if top.lower() in VHDL_KEYWORDS:
        raise SpecError(f"module name must not be a keyword of VHDL such as {top!r}")
    if found := re.search(rf"(_(router|channel)_\d+|{'|'.join(_suffixes())})$", top, re.IGNORECASE):
        stem = top[: found.start()]
        raise SpecError(f"module name must not end in {found[0]!r}: {top!r} may be a module of a fabric named {stem!r}")


def _suffixes() -> list[str]:
    """Return what the names of the modules of a fabric have behind that of the fabric, but for numbers."""
    kinds = declared("emitted").values()
    below = [kind.suffix + part for kind in kinds for part in (kind.unit_suffix, kind.shared_suffix) if part]
    clocks = [CLOCKS_SUFFIX, CLOCKS_SUFFIX + CROSSING_SUFFIX]
    return [
        "_router",
        "_channel",
        "_ejection",
        "_reset",
        "_monitor",
        *(kind.suffix for kind in kinds),
        *below,
        *clocks,
        *CHIP_SUFFIXES,
        rf"{CHECK}(_\w+)?",
        *(f"_{one}" for one in WRAPPERS),
    ]


def _modules(files: Mapping[str, str]) -> list[str]:
    """Return the names of the modules of Verilog, and of the entity and the package of VHDL, in some files."""
    return [
        name
        for file, text in files.items()
        if file.endswith((".sv", ".v", ".vhd"))
        for name in re.findall(r"^(?:module|entity|package) (\w+)", text, re.MULTILINE)
    ]


def _core(manifest: dict[str, Any], sources: list[str]) -> str:
    """Return the FuseSoC core file; its top level is the one with endpoints if there are any."""
    wires = [f"{one}: {{is_include_file: true}}" for part in parts_of(manifest) if (one := part.get("wires"))]
    return core_text(
        [*wires, *sources],
        fabric=manifest["fabric"],
        top=manifest["top"],
        description=f"Network on chip {manifest['spec']}: {manifest['routers']} routers",
        wrappers=manifest.get("wrappers"),
        constraints=constraints_of(manifest),
    )


def _manifest(machine: Machine, modules: FabricModules, text: str) -> dict[str, Any]:
    network, plan, flits = machine.network, machine.plan, machine.flits
    manifest: dict[str, Any] = {
        "spec": str(network.spec),
        **machine.options(routes=True),
        "top": modules.top,
        "fabric": modules.top,
        "files": [],
        "modules": [],
        "core": core_name(modules.top),
        "digest": digest_of(text.encode()),
        "routers": network.num_nodes,
        "router_modules": list(modules.routers),
        "ejection_module": modules.ejection,
        **({"monitor_module": modules.monitor, "monitor_map": _monitor(machine)} if modules.monitor else {}),
        **({"channel_modules": list(modules.long)} if modules.channels else {}),
        "num_vcs": plan.max_vcs,
        "num_vcs_of_port": {port.name: plan.num_vcs[i] for i, port in enumerate(network.ports)},
        **machine.options(routes=False),
        **_narrow(machine),
        "buffers_per_vc_of_port": {port.name: machine.vc_buffers(i) for i, port in enumerate(network.ports)},
        "proof": {**asdict(plan.proof), "summary": str(plan.proof)},
        "latency": _latency(machine),
        "ports": _ports(machine),
        "packet": {
            "flits": flits.packet_length,
            "destination": {"flit": 0, "offset": flits.destination.start, "width": flits.address_width},
            "payload": {"head_offset": flits.destination.stop, "width": flits.payload_width},
            "impossible_destination": "dropped at injection and counted in dropped_N",
        },
        "address": {
            "width": flits.address_width,
            "fields": [asdict(field) for field in plan.address.fields],
            "numbering": "node N is the mixed-radix number of the digits in `fields`, the first most significant; "
            "of a dual-cube, the fields b* and u1_* of class 1 change places in N",
        },
    }
    if network.num_nodes <= LISTED_ADDRESSES:
        manifest["address"]["of_node"] = [plan.address.of_node(node) for node in range(network.num_nodes)]
    return manifest


def _monitor(machine: Machine) -> dict[str, Any]:
    """Return where the words of a monitor are read."""
    own = MonitorMap.of(machine)
    return {
        "prefix": "monitor",
        "address_width": own.address_width,
        "data_width": WORD_WIDTH,
        "fabric": {"identification": IDENTITY, "cycles": CYCLES},
        "node_base": own.address(0, 0),
        "node_stride": own.stride,
        "words": [[word.name(machine) for word in words_of(machine, shape)] for shape in machine.plan.shapes],
        "words_of_node": [machine.plan.shapes.index(machine.plan.shape_of(node)) for node in range(own.nodes)],
    }


def _narrow(machine: Machine) -> dict[str, Any]:
    """Return the wires of each channel, where some are narrow: those for flits, and cycles of a flit over them."""
    if not machine.is_narrow:
        return {}
    names, intervals = [port.name for port in machine.network.ports], machine.channels.intervals
    return {
        "channel_wires_of_port": {name: machine.channel_wires(port) for port, name in enumerate(names)},
        "flit_cycles_of_port": dict(zip(names, intervals, strict=True)),
    }


def _latency(machine: Machine) -> dict[str, Any]:
    """Explain the zero-load latency, see :meth:`SlotTiming.zero_load_latency`."""
    timing, late = machine.timing, machine.spec.reset_registers
    since = "cycles since reset" + (f", {late} fewer" if late else "")
    length, start = timing.packet_length, timing.start_phase
    taken = "offered" if timing.gapless_packets else "accepted"
    if machine.offset:
        since += f", {machine.offset} more at the nodes listed under odd"
    constant, ports = timing.zero_load_latency(0, start), machine.network.ports
    of_port = {port.name: machine.hop_cycles(number) for number, port in enumerate(ports)}
    found: dict[str, Any] = {"hop_cycles": timing.hop_cycles}
    hops, of_hops = f"{timing.hop_cycles}*hops", ""
    if any(machine.channels.stages):
        found = {"hop_cycles_of_port": of_port}
        alike = {cycles: [name for name, own in of_port.items() if own == cycles] for cycles in of_port.values()}
        hops = " + ".join(f"{cycles}*({' + '.join(names)})" for cycles, names in alike.items())
        of_hops = "; the name of a port stands for the hops by it"
    found |= {
        "zero_load": f"{hops} + {constant} + (({start} - phase) mod {length})",
        "unit": f"cycles from the one in which the head flit is {taken} to the one in which the tail is delivered"
        + of_hops,
        "phase": f"{since}, modulo {length}, in which the head flit is {taken}",
    }
    return found | ({"odd": np.flatnonzero(machine.channels.odd).tolist()} if machine.offset else {})


def _ports(machine: Machine) -> dict[str, Any]:
    """Describe the ports of the top level."""
    spec, width, names = machine.spec, machine.spec.flit_width, [port.name for port in machine.network.ports]
    ports: dict[str, Any] = {
        **CLOCKED,
        **_reset_pin(machine),
        "inject_N_valid": {"direction": "input", "width": 1},
        "inject_N_ready": {"direction": "output", "width": 1},
        "inject_N_payload": {
            "direction": "input",
            "width": width,
            "meaning": "one flit; L flits per packet, head first" + _promise(machine),
        },
        "eject_N_valid": {"direction": "output", "width": 1},
        "eject_N_ready": {"direction": "input", "width": 1},
        "eject_N_payload": {
            "direction": "output",
            "width": width + 1,
            "fields": {"data": {"offset": 0, "width": width}, "last": {"offset": width, "width": 1}},
        },
        "dropped_N": {
            "direction": "output",
            "width": DROPPED_WIDTH,
            "meaning": "packets dropped at node N since reset as their destination names no node; stays at its maximum",
        },
    }
    if spec.gapless_packets:
        ports["paused_N"] = {
            "direction": "output",
            "width": DROPPED_WIDTH,
            "meaning": "packets of node N since reset of which a flit was not valid when it was due; "
            "stays at its maximum",
        }
    if spec.dead_pins:
        ports |= _dead_pins(names)
    if spec.crc:
        ports |= _error_pins(names)
    return ports | _monitor_pins(machine) if spec.monitor else ports


def _reset_pin(machine: Machine) -> dict[str, Any]:
    """Return what is asked of the reset, where it has registers."""
    if not (late := machine.spec.reset_registers):
        return {}
    meaning = (
        f"synchronous, active high; hold for {late + 1} cycles or more: routers go into reset and leave it {late} "
        "cycles later, and take no flit until then"
    )
    return {"rst": CLOCKED["rst"] | {"meaning": meaning}}


def _promise(machine: Machine) -> str:
    """Return what is asked of sources, where that is more than a stream's rules."""
    if not machine.spec.gapless_packets:
        return ""
    return (
        ", in consecutive cycles: once a head flit has been taken ready stays high for the others, and each is taken "
        "as it is, valid or not; a packet with a gap is counted in paused_N"
    )


def _dead_pins(names: list[str]) -> dict[str, Any]:
    return {
        "dead_N": {
            "direction": "input",
            "width": len(names) + 1,
            "fields": {name: {"offset": number, "width": 1} for number, name in enumerate([*names, "router"])},
            "meaning": "channels that leave node N by these ports are dead, or its router with all channels from and "
            "to it; a packet whose next channel is dead comes out at the node where it is, whatever its destination",
        },
        "lost_N": {
            "direction": "output",
            "width": DROPPED_WIDTH,
            "meaning": "packets dropped at node N since reset that were routed before their channel died; stays at its "
            "maximum",
        },
    }


def _error_pins(names: list[str]) -> dict[str, Any]:
    return {
        "errors_N": {
            "direction": "output",
            "width": ERRORS_WIDTH * len(names),
            "fields": {
                name: {"offset": ERRORS_WIDTH * number, "width": ERRORS_WIDTH} for number, name in enumerate(names)
            },
            "meaning": "packets with a wrong flit that came to node N by these ports since reset, 0 where it has none; "
            "a packet counts at every port that it comes by after it was hurt; each stays at its maximum",
        },
        "bad_N": {
            "direction": "output",
            "width": ERRORS_WIDTH,
            "meaning": "packets with a wrong flit that were dropped at node N since reset in place of coming out; "
            "stays at its maximum",
        },
    }


def _monitor_pins(machine: Machine) -> dict[str, Any]:
    return described_members(axi_lite_members(MONITOR, MonitorMap.of(machine).address_width))


def check_place(folder: Path, *, top: str) -> set[str]:
    """Return the names of the files that an earlier fabric of the same name has in a folder.

    Raises
    ------
    SpecError
        If there is a fabric of another name, whose manifest would be lost.
    """
    try:
        old = json.loads((folder / "manifest.json").read_text())
        there, names = str(old["fabric"]), {str(name) for name in old["files"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()
    if there != top:
        raise SpecError(f"output must be a folder for one fabric: {str(folder)!r} has {there!r}, and this is {top!r}")
    shown = {name for name in (READABLE.format(top),) if (folder / name).exists()}
    return shown | {
        name for name in names if re.fullmatch(rf"{re.escape(top)}\w*\.(sv|v|svh|vhd|core|sdc|xdc|rdl|dtsi)", name)
    }


def write_fabric(fabric: EmittedFabric, folder: Path) -> list[Path]:
    """Write the files of a fabric in place of those of an earlier one, all or none: an error leaves what was there.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    SpecError
        See :func:`check_place`.
    """
    return write_together(folder, fabric.files, without=check_place(folder, top=fabric.modules.top))
