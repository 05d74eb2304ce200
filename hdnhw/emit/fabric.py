"""Emit a fabric: Verilog, the manifest that explains it, and a FuseSoC core file."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hdnhw.collective.program import Program
from hdnhw.emit.axi import AXI_SUFFIX, axi_manifest, axi_verilog
from hdnhw.emit.collective import collective_text
from hdnhw.emit.core import core_name, core_text
from hdnhw.emit.relay import RELAY_SUFFIX, relay_manifest, relay_verilog
from hdnhw.emit.verilog import EJECTION_SUFFIX, fabric_verilog, router_names
from hdnhw.flit import FlitFormat, FrameFormat, RelayFormat
from hdnhw.routing.plan import RoutingPlan, plan
from hdnhw.routing.relays import prove_relays
from hdnhw.rtl.check import ERRORS_WIDTH
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.spec import AxiStreamSpec, CollectiveSpec, FabricSpec, RelaySpec, SpecError
from hdnhw.timing import SlotTiming, slots_per_vc
from hdnhw.topology.network import build

__all__ = ["MAX_ROUTERS", "EmittedFabric", "emit_fabric", "write_fabric"]

MAX_ROUTERS = 1 << 13
"""Most routers of an emitted fabric."""

LISTED_ADDRESSES = 4096
"""Most nodes whose packed addresses the manifest lists one by one."""


@dataclass(frozen=True)
class EmittedFabric:
    """A fabric as text.

    Attributes
    ----------
    plan : RoutingPlan
    files : dict of str to str
        File name -> text; the Verilog, the FuseSoC core file and ``manifest.json``, which comes last.
    manifest : dict
        The parsed manifest.
    program : Program or None
        What collective engines run, if there are any.
    """

    plan: RoutingPlan
    files: dict[str, str]
    manifest: dict[str, Any]
    program: Program | None

    @property
    def verilog(self) -> dict[str, str]:
        """The files of Verilog among `files`."""
        return {name: text for name, text in self.files.items() if name.endswith(".sv")}


def emit_fabric(spec: FabricSpec, *, top: str = "fabric") -> EmittedFabric:
    """Prove, elaborate and print a fabric.

    Parameters
    ----------
    spec : FabricSpec
    top : str
        Name of the top-level module and prefix of the others.

    Raises
    ------
    SpecError
        If the fabric is too large, an address does not fit into a flit, endpoints do not fit the packets, or `top` is
        not a Verilog name.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", top):
        raise SpecError(f"module name must be letters, digits and _ with no digit first, not {top!r}")
    nodes = build(spec.network).num_nodes
    if nodes > MAX_ROUTERS:
        raise SpecError(f"a fabric must have at most {MAX_ROUTERS} routers; {spec.network} has {nodes}")
    routing = plan(spec.network, spec.modes, spec.lanes)
    timing = SlotTiming(spec.packet_length, crc=spec.crc)
    flits = FlitFormat(spec.flit_width, routing.address.width, spec.packet_length)
    frames = FrameFormat(flits, spec.endpoints) if isinstance(spec.endpoints, AxiStreamSpec) else None
    packets = RelayFormat(flits, spec.endpoints) if isinstance(spec.endpoints, RelaySpec) else None
    buffers = timing.buffers_of(spec.buffers)
    text = fabric_verilog(
        routing,
        top=top,
        packet_length=spec.packet_length,
        flit_width=spec.flit_width,
        buffers=buffers,
        crossbar=spec.crossbar,
        queueing=spec.queueing,
        dead_pins=spec.dead_pins,
        crc=spec.crc,
    )
    manifest, program = _manifest(routing, timing, flits, spec, top, text), None
    files = {f"{top}.sv": text}
    if frames is not None:
        around = axi_verilog(frames, routing.address, top=top)
        files[f"{top}{AXI_SUFFIX}.sv"] = around
        manifest["endpoints"] = axi_manifest(frames, top=top, text=around)
    if packets is not None:
        around = relay_verilog(packets, routing.address, top=top, dead_pins=spec.dead_pins)
        files[f"{top}{RELAY_SUFFIX}.sv"] = around
        manifest["endpoints"] = relay_manifest(packets, top=top, text=around, ports=manifest["ports"])
        manifest["endpoints"]["proof"] = str(prove_relays(routing, packets.endpoints.waypoints))
    if isinstance(spec.endpoints, CollectiveSpec):
        engines = collective_text(routing.network, spec.endpoints, flits, top=top)
        files[f"{engines.top}.sv"] = engines.text
        manifest["endpoints"], program = engines.manifest, engines.program
    files[f"{top}.core"] = _core(manifest, list(files))
    manifest["files"] = list(files)
    files["manifest.json"] = json.dumps(manifest, indent=1) + "\n"
    return EmittedFabric(routing, files, manifest, program)


def _core(manifest: dict[str, Any], sources: list[str]) -> str:
    """Return the FuseSoC core file; its top level is the one with endpoints if there are any."""
    return core_text(
        sources,
        fabric=manifest["top"],
        top=manifest.get("endpoints", manifest)["top"],
        description=f"Network on chip {manifest['spec']}: {manifest['routers']} routers",
    )


def _manifest(
    routing: RoutingPlan, timing: SlotTiming, flits: FlitFormat, spec: FabricSpec, top: str, text: str
) -> dict[str, Any]:
    network, buffers = routing.network, timing.buffers_of(spec.buffers)
    names = router_names(routing, top)
    manifest: dict[str, Any] = {
        "spec": str(network.spec),
        "modes": routing.modes,
        "lanes": routing.lanes,
        "top": top,
        "files": [],
        "core": core_name(top),
        "digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "routers": network.num_nodes,
        "router_modules": list(names),
        "ejection_module": top + EJECTION_SUFFIX,
        "num_vcs": routing.max_vcs,
        "num_vcs_of_port": {port.name: routing.num_vcs[i] for i, port in enumerate(network.ports)},
        "packet_length": timing.packet_length,
        "flit_width": flits.flit_width,
        "buffers": buffers,
        "crossbar": spec.crossbar,
        "queueing": spec.queueing,
        "dead_pins": spec.dead_pins,
        "crc": spec.crc,
        "slots_per_vc_of_port": {
            port.name: slots_per_vc(buffers, routing.num_vcs[i]) for i, port in enumerate(network.ports)
        },
        "proof": {**asdict(routing.proof), "summary": str(routing.proof)},
        "latency": _latency(timing),
        "ports": _ports(flits, [port.name for port in network.ports], spec),
        "packet": {
            "flits": timing.packet_length,
            "destination": {"flit": 0, "offset": 0, "width": flits.address_width},
            "payload": {"head_offset": flits.address_width, "width": flits.payload_width},
            "impossible_destination": "dropped at injection and counted in dropped__N",
        },
        "address": {
            "width": flits.address_width,
            "fields": [asdict(field) for field in routing.address.fields],
            "numbering": "node N is the mixed-radix number of the digits in `fields`, the first most significant; "
            "of a dual-cube, the fields b* and u1_* of class 1 change places in N",
        },
    }
    if network.num_nodes <= LISTED_ADDRESSES:
        manifest["address"]["of_node"] = [routing.address.of_node(node) for node in range(network.num_nodes)]
    return manifest


def _latency(timing: SlotTiming) -> dict[str, Any]:
    """Explain the zero-load latency, see :meth:`SlotTiming.zero_load_latency`."""
    length, sample = timing.packet_length, timing.sample_phase
    constant = timing.zero_load_latency(0, sample % length)
    return {
        "hop_cycles": timing.hop_cycles,
        "zero_load": f"{timing.hop_cycles}*hops + {constant} + (({sample} - phase) mod {length})",
        "unit": "cycles from the one in which the head flit is accepted to the one in which the tail is delivered",
        "phase": f"cycles since reset, modulo {length}, in which the head flit is accepted",
    }


def _ports(flits: FlitFormat, names: list[str], spec: FabricSpec) -> dict[str, Any]:
    """Describe the ports of the top level, of a network whose ports have these names."""
    width = flits.flit_width
    ports: dict[str, Any] = {
        "clk": {"direction": "input", "width": 1},
        "rst": {"direction": "input", "width": 1, "meaning": "synchronous, active high; hold for one cycle or more"},
        "inject__N__valid": {"direction": "input", "width": 1},
        "inject__N__ready": {"direction": "output", "width": 1},
        "inject__N__payload": {
            "direction": "input",
            "width": width,
            "meaning": "one flit; L flits a packet, head first",
        },
        "eject__N__valid": {"direction": "output", "width": 1},
        "eject__N__ready": {"direction": "input", "width": 1},
        "eject__N__payload": {
            "direction": "output",
            "width": width + 1,
            "fields": {"data": {"offset": 0, "width": width}, "last": {"offset": width, "width": 1}},
        },
        "dropped__N": {
            "direction": "output",
            "width": DROPPED_WIDTH,
            "meaning": "packets dropped at node N since reset as their destination names no node; stays at its maximum",
        },
    }
    if spec.dead_pins:
        ports |= _dead_pins(names)
    return ports | _error_pins(names) if spec.crc else ports


def _dead_pins(names: list[str]) -> dict[str, Any]:
    return {
        "dead__N": {
            "direction": "input",
            "width": len(names) + 1,
            "fields": {name: {"offset": number, "width": 1} for number, name in enumerate([*names, "router"])},
            "meaning": "channels that leave node N by these ports are dead, or its router with all channels from and "
            "to it; a packet whose next channel is dead comes out at the node where it is, whatever its destination",
        },
        "lost__N": {
            "direction": "output",
            "width": DROPPED_WIDTH,
            "meaning": "packets dropped at node N since reset that were routed before their channel died; stays at its "
            "maximum",
        },
    }


def _error_pins(names: list[str]) -> dict[str, Any]:
    return {
        "errors__N": {
            "direction": "output",
            "width": ERRORS_WIDTH * len(names),
            "fields": {
                name: {"offset": ERRORS_WIDTH * number, "width": ERRORS_WIDTH} for number, name in enumerate(names)
            },
            "meaning": "packets with a wrong flit that came to node N by these ports since reset, 0 where it has none; "
            "a packet counts at every port that it comes by after it was hurt; each stays at its maximum",
        },
        "bad__N": {
            "direction": "output",
            "width": ERRORS_WIDTH,
            "meaning": "packets with a wrong flit that were dropped at node N since reset in place of coming out; "
            "stays at its maximum",
        },
    }


def write_fabric(fabric: EmittedFabric, directory: Path) -> list[Path]:
    """Write the files of a fabric, all or none: a failure leaves what was there before.

    Returns
    -------
    list of Path
        The files written.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    made = not directory.exists()
    written: list[Path] = []
    with tempfile.TemporaryDirectory(prefix=f".{directory.name}.", dir=directory.parent) as name:
        new, before = Path(name, "new"), Path(name, "before")
        new.mkdir()
        if directory.exists():
            shutil.copytree(directory, before, ignore=lambda _, names: set(names) - set(fabric.files))
        for file, text in fabric.files.items():
            (new / file).write_text(text)
        directory.mkdir(exist_ok=True)
        try:
            for file in fabric.files:
                os.replace(new / file, directory / file)
                written.append(directory / file)
        except BaseException:
            for path in written:
                path.unlink()
            if made:
                directory.rmdir()
            else:
                shutil.copytree(before, directory, dirs_exist_ok=True)
            raise
    return written
