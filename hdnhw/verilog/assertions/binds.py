"""What binds modules that check rules to an emitted fabric: an instance for each of its streams and channels."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hdnhw.machine.chips import Chips
from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.bridge.frame import LinkFormat
from hdnhw.rtl.channel import arrival_name, late_name
from hdnhw.rtl.fabric import FabricModules
from hdnhw.support.manifest import counts_of
from hdnhw.topology.address import AddressLayout
from hdnhw.verilog.endpoint import MONITOR, Clocked
from hdnhw.verilog.waves.wires import EJECT, INJECT, LOCAL, fabric_places

ASSERTIONS = "_assertions"
"""Of the file behind the fabric's name."""

CHECK = "_check"
"""Behind the fabric's name in those of the modules that check; what instances of them begin with."""

_CHANNELS = ("aw", "w", "b", "ar", "r")


def assertions_text(
    machine: Machine, modules: FabricModules, manifest: Mapping[str, Any], endpoints: Any, chips: Any, clocks: Any
) -> str:
    """Return the modules that check, and what binds them to a fabric and to all that is around it.

    Parameters
    ----------
    machine : Machine
    modules : FabricModules
    manifest : dict
    endpoints : EmittedEndpoints or None
    chips : EmittedChips or None
    clocks : EmittedClocks or None
    """
    laid, module, ports = None, modules.top, manifest["ports"]
    if chips is not None:
        laid, module = chips.chips, chips.chip
        ports = {name: port for name, port in chips.placed(ports).items() if not name.startswith("link_")}
    counts = counts_of(manifest)
    lines = [*_fabric_binds(machine, module, laid)]
    lines += _port_binds(module, ports, counts, lambda name: _clocked(machine, _node_of(name)))
    if laid is not None:
        lines += _link_binds(machine, module, laid, chips.cut.link_width)
    if endpoints is not None:
        ports = {name: port for name, port in manifest["endpoints"]["ports"].items() if not name.startswith(MONITOR)}
        lines += _port_binds(endpoints.top, ports, counts, endpoints.clocked, longest=endpoints.longest_frame)
        lines += _terminal_binds(machine, endpoints.top, ports, endpoints.clocked)
    if clocks is not None:
        ports = {name: port for name, port in clocks.manifest["ports"].items() if "_N_" in name}
        lines += _port_binds(
            clocks.top, ports, counts, clocks.clocked, longest=endpoints.longest_frame if endpoints else 0
        )
        lines += _terminal_binds(machine, clocks.top, ports, clocks.clocked)
    checkers = Path(__file__).with_name("checkers.sv").read_text(encoding="utf-8")
    name = modules.top
    named = [line.replace(f" TOP{CHECK}_", f" {name}{CHECK}_", 1) for line in lines]
    return "\n".join([re.sub(r"\bTOP(?=\b|_)", name, checkers), *named, ""])


def _bind(module: str, kind: str, name: str, clocked: Clocked, sizes: Mapping[str, int], **pins: str) -> str:
    """Return an instance of a module of a kind, in every instance of a module."""
    set_ = ", ".join(f".{size}({value})" for size, value in sizes.items())
    joined = ", ".join(f".{pin}({value})" for pin, value in {**clocked._asdict(), **pins}.items())
    return f"bind {module} TOP{CHECK}_{kind} {f'#({set_}) ' if set_ else ''}check_{name} ({joined});"


def _fabric_binds(machine: Machine, module: str, chips: Chips | None) -> Iterator[str]:
    """Give what is bound to the module of a fabric, or to a chip: channels, and the packets of terminals."""
    nodes = range(machine.network.num_nodes) if chips is None else chips.nodes[0].tolist()
    flit = machine.spec.flit_width
    for place in fabric_places(machine, nodes)[1]:
        clocked, port = _clocked(machine, place.node), place.port
        if port in (INJECT, EJECT):
            payload = f"{place.name}_payload"
            here = "" if port == INJECT else _arrives(machine, place.node, chips, payload, flit + 1)
            yield _terminal(machine, module, place.name, clocked, here)
            continue
        name, phases = place.name, (place.head_phase, place.credit_phase)
        here = _arrives(machine, place.node, chips, f"{name}_data", flit) if port == LOCAL else ""
        buffers = machine.ejection_buffers if port == LOCAL else machine.vc_buffers(port)
        yield _channel(machine, module, name, clocked, place.num_vcs, buffers, phases, here)
    for link in () if chips is None else chips.links:
        for at, port in link.ends:
            own, timing, length = machine.network.ports[port], machine.timing, machine.spec.packet_length
            head = (timing.head_phase - machine.ahead(nodes[at])) % length
            phases = head, (head + timing.credit_phase - timing.channel_cycles) % length
            vcs, name = machine.plan.num_vcs[own.opposite], arrival_name(at, own.name)
            yield _channel(machine, module, name, _clocked(machine, at), vcs, machine.input_buffers(port), phases)


def _clocked(machine: Machine, node: int) -> Clocked:
    """Return clock and reset of what is at a node: that of its router is later, if it has registers."""
    return Clocked("clk", f"rst || {late_name(node)}" if machine.spec.reset_registers else "rst")


def _channel(
    machine: Machine,
    module: str,
    name: str,
    clocked: Clocked,
    vcs: int,
    buffers: int,
    phases: tuple[int, int],
    known: str = "",
) -> str:
    """Bind what checks a channel, with the phases of head flits and credits, and what must hold of destinations.

    Where flits have check bits, wires may change them.
    """
    bits = machine.spec.flit_width
    known = "" if machine.spec.crc else known or _known(machine.address, f"{name}_data", bits)
    sizes = {"LENGTH": machine.spec.packet_length, "WIDTH": bits, "VCS": vcs, "VC_WIDTH": index_width(vcs)}
    sizes |= {"BUFFERS": buffers, "HEAD": phases[0], "CREDIT": phases[1], "KNOWN": int(bool(known))}
    pins = {part: f"{name}_{part}" for part in ("valid", "data", "credit")}
    pins |= {"vc": f"{name}_vc" if vcs > 1 else "1'b0", "known": known or "1'b1"}
    return _bind(module, "channel", name, clocked, sizes, **pins)


def _terminal(machine: Machine, module: str, name: str, clocked: Clocked, known: str = "") -> str:
    """Bind what checks the packets of a stream of a terminal, with what must hold of destinations that come out."""
    payload, width, is_in = f"{name}_payload", machine.spec.flit_width, name.startswith("inject")
    known = _known(machine.address, payload, width) if is_in else known
    sizes = {"LENGTH": machine.spec.packet_length, "WIDTH": width, "KNOWN": int(bool(known)), "ENDS": int(not is_in)}
    sizes["GAPLESS"] = int(is_in and machine.spec.gapless_packets)
    pins = {part: f"{name}_{part}" for part in ("valid", "ready")} | {"known": known or "1'b1"}
    pins["last"] = "1'b0" if is_in else f"{payload}[{width}]"
    pins["data"] = payload if is_in else f"{payload}[{width - 1}:0]"
    return _bind(module, "packets", name, clocked, sizes, **pins)


def _known(address: AddressLayout, data: str, bits: int) -> str:
    """Return the condition that the destination in a flit of so many bits names a node, empty if each does."""
    conditions = [
        f"({data} >> {field.offset} & {bits}'d{(1 << field.width) - 1}) < {bits}'d{field.radix}"
        for field in address.fields
        if field.radix != 1 << field.width
    ]
    return " && ".join(conditions)


def _arrives(machine: Machine, node: int, chips: Chips | None, data: str, bits: int) -> str:
    """Return the condition that a packet is where it should come out; with dead pins that may be anywhere."""
    width = machine.address.width
    if machine.spec.dead_pins or not width:
        return ""
    if chips is None:
        own = f"{bits}'d{machine.address.of_node(node)}"
    else:
        constant, of_chip = chips.address_at(node), chips.chip_bits
        pins = [f"chip[{at}]" if len(of_chip) > 1 else "chip" for at in range(len(of_chip))]
        each = [pins[of_chip.index(bit)] if bit in of_chip else f"1'b{constant >> bit & 1}" for bit in range(width)]
        above = [f"{bits - width}'d0"] if bits > width else []
        own = f"{{{', '.join([*above, *reversed(each)])}}}"
    return f"({data} & {bits}'d{(1 << width) - 1}) == {own}"


def _link_binds(machine: Machine, module: str, chips: Chips, word_width: int) -> Iterator[str]:
    """Give what is bound to a chip for the frames that leave it."""
    for number, link in enumerate(chips.links):
        form = LinkFormat(machine, link.ports, link.arrivals, word_width)
        around = form.header_words + form.check_words
        sizes = {"AROUND": around, "PACKET": form.packet_words, "PACKETS": form.most_packets}
        name = f"link_{number}_tx"
        pins = {part: f"{name}_{part}" for part in ("valid", "ready")}
        clocked, payload = _clocked(machine, link.ends[0][0]), f"{name}_payload"
        yield _bind(module, "stream", f"{name}_stream", clocked, {"WIDTH": word_width + 1}, **pins, payload=payload)
        yield _bind(module, "words", name, clocked, sizes, **pins, last=f"{payload}[{word_width}]")


def _port_binds(
    module: str,
    ports: Mapping[str, Any],
    counts: Mapping[str, int],
    clocked: Callable[[str], Clocked],
    *,
    longest: int = 0,
) -> Iterator[str]:
    """Give what is bound to a module for the streams among its ports, and for the AXI ports that they make up.

    Parameters
    ----------
    module : str
    ports : dict
        Ports that are looked at, as manifests have them.
    counts : dict of str to int
        What the letters in their names count.
    clocked : callable
        Returns clock and reset of a port, by its name.
    longest : int
        Transfers of a frame of AXI4-Stream that comes out, 0 if frames are mixed and have no limit.
    """
    found = {name: port for each, port in ports.items() for name in _numbered(each, counts)}
    groups: dict[str, dict[str, dict[str, int]]] = {}
    for name, port in found.items():
        group, field = re.fullmatch(r"(?:(\w*_))?([^_]*)", name).groups("")  # type: ignore[union-attr]
        for channel in (*_CHANNELS, "t", ""):
            stem, part = group + channel, field.removeprefix(channel)
            if field.startswith(channel) and f"{stem}valid" in found and f"{stem}ready" in found:
                if part not in ("valid", "ready"):
                    groups.setdefault(group, {}).setdefault(channel, {})[name] = port["width"]
                break
    for group, channels in groups.items():
        for channel, fields in channels.items():
            stem, at = group + channel, clocked(group)
            payload = "{" + ", ".join(fields) + "}"
            pins = {part: f"{stem}{part}" for part in ("valid", "ready")}
            name = f"{stem.removesuffix('_')}_stream"
            yield _bind(module, "stream", name, at, {"WIDTH": sum(fields.values())}, **pins, payload=payload)
            if longest and channel == "t" and found[f"{stem}valid"]["direction"] == "output":
                yield _frames(module, group, fields, at, longest)
        if set(channels) == {*_CHANNELS}:
            yield _axi(module, group, channels, clocked(group))


def _numbered(name: str, counts: Mapping[str, int]) -> Iterable[str]:
    """Return the names that a name of a manifest stands for."""
    parts = name.split("_")
    letter = next((part for part in parts if part in counts), "")
    return [f"_{name}_".replace(f"_{letter}_", f"_{n}_")[1:-1] for n in range(counts[letter])] if letter else [name]


def _frames(module: str, group: str, fields: Mapping[str, int], clocked: Clocked, longest: int) -> str:
    """Bind what checks the frames of an AXI4-Stream that comes out."""
    tags = [f"{group}tid", f"{group}tuser"]
    keep, width = f"{group}tkeep", sum(fields[name] for name in tags)
    sizes = {"TAGS": width, "BYTES": fields[keep], "LONGEST": longest}
    pins = {part: f"{group}t{part}" for part in ("valid", "ready", "last", "keep")}
    return _bind(module, "frames", group[:-1], clocked, sizes, **pins, tags="{" + ", ".join(tags) + "}")


def _axi(module: str, group: str, channels: Mapping[str, Mapping[str, int]], clocked: Clocked) -> str:
    """Bind what checks the answers of a port of AXI4 or AXI4-Lite."""
    parts = {name for channel in _CHANNELS for name in (f"{channel}valid", f"{channel}ready")} | {"bresp", "rresp"}
    if f"{group}awlen" not in channels["aw"]:
        return _bind(module, "lite", group[:-1], clocked, {}, **{part: group + part for part in sorted(parts)})
    parts |= {f"a{way}{field}" for way in "wr" for field in ("id", "addr", "len", "size", "burst")}
    parts |= {"wlast", "bid", "rid", "rlast"}
    own = channels["aw"]
    sizes = {"ID": own[f"{group}awid"], "ADDR": own[f"{group}awaddr"], "BYTES": channels["w"][f"{group}wstrb"]}
    return _bind(module, "axi4", group[:-1], clocked, sizes, **{part: group + part for part in sorted(parts)})


def _terminal_binds(
    machine: Machine, module: str, ports: Mapping[str, Any], clocked: Callable[[str], Clocked]
) -> Iterator[str]:
    """Give what is bound to a top level around a fabric that has the streams of its terminals."""
    for node in range(machine.network.num_nodes) if "inject_N_valid" in ports else ():
        for name in (f"inject_{node}", f"eject_{node}"):
            yield _terminal(machine, module, name, clocked(f"{name}_"))


def _node_of(name: str) -> int:
    """Return the number in the name of a stream of a terminal or a link; 0 if there is none."""
    return next((int(part) for part in name.split("_") if part.isdecimal()), 0)
