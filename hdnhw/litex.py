"""A fabric, a chip or a system in a LiteX design: a module whose streams, buses and signals are the ports of its text.

LiteX and Migen are not required by hdnhw: ``pip install 'hdnhw[litex]'``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from litex.build.altera.quartus import AlteraQuartusToolchain
from litex.build.xilinx.vivado import XilinxVivadoToolchain
from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi, stream
from migen import Cat, ClockSignal, Instance, ResetSignal, Signal

from hdnhw.support.errors import SpecError
from hdnhw.support.manifest import constraints_of, counts_of, parts_of, top_ports

ADDRESS_WIDTH = 32
"""Bits of addresses that LiteX's buses have: ports with fewer read the lowest."""

_PORT = re.compile(r"(?P<stem>\w+?)_(?P<letter>[NPK])(?:_(?P<signal>\w+))?")
_CHANNEL = re.compile(r"(?P<channel>aw|ar|w|b|r)(?P<member>\w+)")
_CLOCKS = {"clk", "rst", "aclk", "aresetn"}
_BUSES = {"s_axil": "bus", "monitor": "monitor"}
"""What the names of the ports of an AXI4-Lite subordinate of the whole fabric begin with -> attribute."""

_STREAMS = ("tx", "rx")

Ports = Mapping[str, Mapping[str, Any]]
"""Names of ports, or of signals of a port -> what the manifest says of each."""


class NetworkOnChip(LiteXModule):
    """A fabric that ``hdnhw emit`` has written, or a system that ``hdnhw system`` has.

    Parameters
    ----------
    platform : GenericPlatform or None
        Gets the Verilog of the fabric; and the constraints of what crosses from clock to clock, for Vivado and Quartus.
    folder : Path or str
        Where the fabric is, with its manifest.
    clock_domain : str
        Of the fabric, its counters and its registers.
    node_domains : sequence of str, optional
        Of a fabric with a clock for each node: the clock domain of the streams and buses of each, by its number.

    Attributes
    ----------
    manifest : dict
    s_axi, m_axi : list of AXIInterface
        Of AXI4 endpoints: what the manager of each node is joined to, and what its memory is. Addresses of managers
        have LiteX's 32 bits, or more if the fabric has more; those of memories as many as the fabric gives.
    s_axis, m_axis : list of AXIStreamInterface
        Of AXI4-Stream endpoints: frames that each node sends and receives.
    bus : AXILiteInterface
        Of AXI4-Stream endpoints: the registers. Its addresses begin at a multiple of 0x80000 in the design's.
    blocks : dict of str to AXIInterface, AXILiteInterface, AXIStreamInterface or Signal
        Of a system: what each block is joined to, in the clock domain that is named as its clock; and ``NAME_aresetn``
        of one that may be reset alone.
    regions : dict of str to list of SoCRegion
        Of a system: where each subordinate is in the addresses of all managers.
    monitor : AXILiteInterface
        Of fabrics with a monitor. Its addresses begin at a multiple of 2 to the power of the manifest's
        ``monitor_map.address_width`` in the design's.
    inject, eject, operation, message, result : list of Endpoint
        Streams of fabrics that have them, whose payload has the fields of the manifest, or else ``data``; ``last`` is
        the stream's own.
    link : list of SimpleNamespace
        Of a chip (``emit --chips``): its links, each with ``tx`` and ``rx``, streams of ``data``, or its pins; and with
        the manifest's other signals. Streams and signals of nodes are those of its places then, and ``chip`` is a
        signal for its number.

    Raises
    ------
    SpecError
        If `node_domains` are not one for each node of a fabric with such clocks, and none of another; or the manifest
        has a port that nothing here stands for.
    """

    def __init__(
        self,
        platform: Any,
        folder: Path | str,
        *,
        clock_domain: str = "sys",
        node_domains: Sequence[str] | None = None,
    ) -> None:
        self.manifest = json.loads(Path(folder, "manifest.json").read_text())
        self._ports: Ports = top_ports(self.manifest)
        self._clock_domain, self._pins = clock_domain, dict[str, Any]()
        self._domains = self._domains_of_nodes(node_domains)
        self._blocks: dict[str, Any] = {
            block["name"]: block for block in self.manifest.get("endpoints", {}).get("options", {}).get("blocks", ())
        }
        self.regions = {
            name: [SoCRegion(origin=base, size=size) for base, size in block["ranges"]]
            for name, block in self._blocks.items()
            if block["ranges"]
        }
        self._join_nodes()
        self._join_blocks()
        self._join_fabric()
        self.specials += Instance(self.manifest["top"], **self._pins)
        if platform is not None:
            for name in (f"{self.manifest['fabric']}.sv", *(part["file"] for part in parts_of(self.manifest))):
                platform.add_source(str(Path(folder, name)))
            self._constrain(platform, Path(folder))

    def _domains_of_nodes(self, named: Sequence[str] | None) -> list[str]:
        nodes = self.manifest["routers"]
        if "clocks" not in self.manifest:
            if named is not None:
                raise SpecError("node_domains are for fabrics with --node-clocks; this one has a clock for all nodes")
            return [self._clock_domain] * nodes
        if named is None or isinstance(named, str) or len(named) != nodes:
            raise SpecError(f"node_domains must name a clock domain for each of {nodes} nodes, not {named!r}")
        return list(named)

    def _constrain(self, platform: Any, folder: Path) -> None:
        """Hand the constraints of crossings to a toolchain that reads them, behind its clocks."""
        toolchain = getattr(platform, "toolchain", None)
        for name in constraints_of(self.manifest):
            path = str((folder / name).resolve())
            if name.endswith(".xdc") and isinstance(toolchain, XilinxVivadoToolchain):
                platform.add_source(path)
            if name.endswith(".sdc") and isinstance(toolchain, AlteraQuartusToolchain):
                toolchain.additional_qsf_commands.append(f"set_global_assignment -name SDC_FILE {path}")

    def _join(self, name: str, port: Mapping[str, Any], value: Any) -> None:
        """Join a port of the instance to a value of its width; an address that is read may be wider."""
        width, wide = port["width"], name.endswith("addr") and port["direction"] == "input"
        if len(value) < width or (len(value) > width and not wide):
            raise SpecError(f"port {name!r} of {self.manifest['top']} has {width} bits, but LiteX's {len(value)}")
        side = "i" if port["direction"] == "input" else "o"
        self._pins[f"{side}_{name}"] = value if len(value) == width else value[:width]

    def _join_fabric(self) -> None:
        """Join the ports of no node: clock and reset, the buses of registers and of a monitor, and signals."""
        for name, port in self._ports.items():
            stem, _, clock = name.partition("_") if self._blocks else (name, "", "")
            if _PORT.fullmatch(name) or self._block_of(name):
                continue
            prefix, _, signal = name.rpartition("_")
            if stem in _CLOCKS:
                self._join(name, port, _clocked(stem, clock or self._clock_domain))
            elif prefix in _BUSES:
                if not hasattr(self, _BUSES[prefix]):
                    bus = axi.AXILiteInterface(address_width=ADDRESS_WIDTH, clock_domain=self._clock_domain)
                    setattr(self, _BUSES[prefix], bus)
                self._join(name, port, self._member(getattr(self, _BUSES[prefix]), name, signal, port))
            else:
                signal = Signal(port["width"], name=name)
                setattr(self, name, signal)
                self._join(name, port, signal)

    def _join_nodes(self) -> None:
        """Join the ports of all nodes, or places and links: clocks and resets, streams, buses and signals."""
        groups: dict[tuple[str, str], dict[str, Any]] = {}
        for name, port in self._ports.items():
            if found := _PORT.fullmatch(name):
                groups.setdefault((found["stem"], found["letter"]), {})[found["signal"] or ""] = port
        counts = counts_of(self.manifest)
        for (stem, letter), signals in groups.items():
            join = self._join_link if letter == "K" else self._join_node
            joined = [join(stem, signals, number) for number in range(counts[letter])]
            if stem not in _CLOCKS:
                setattr(self, stem, joined)

    def _block_of(self, name: str) -> str:
        """Return the block of a system that a port is of, which has the longest such name; empty if of none."""
        return max((block for block in self._blocks if name.startswith(f"{block}_")), default="")

    def _join_blocks(self) -> None:
        """Join the ports of the blocks of a system."""
        self.blocks: dict[str, Any] = {}
        groups: dict[str, dict[str, Any]] = {}
        for name, port in self._ports.items():
            if block := self._block_of(name):
                groups.setdefault(block, {})[name.removeprefix(f"{block}_")] = port
        for block, signals in groups.items():
            domain = self._blocks[block]["clock"] or self._clock_domain
            if "aresetn" in signals:
                pin = f"{block}_aresetn"
                self.blocks[pin] = self._join_part(pin, {"": signals.pop("aresetn")}, domain)
            self.blocks[block] = self._join_part(block, signals, domain)

    def _join_link(self, stem: str, signals: Ports, number: int) -> Any:
        """Make what stands for a link, whose signals are those of two streams and others."""
        parts: dict[str, dict[str, Any]] = {}
        for signal, port in signals.items():
            name, _, member = signal.partition("_")
            part, member = (name, member) if name in _STREAMS else (signal, "")
            parts.setdefault(part, {})[member] = port
        domain, inside = self._clock_domain, f"{stem}_{number}"
        return SimpleNamespace(
            **{part: self._join_part(f"{inside}_{part}", own, domain) for part, own in parts.items()}
        )

    def _join_node(self, stem: str, signals: Ports, node: int) -> Any:
        """Make what stands for the signals of a node's port, join them, and return it."""
        domain, inside = self._domains[node], f"{stem}_{node}"
        if stem in _CLOCKS:
            self._join(inside, signals[""], _clocked(stem, domain))
            return None
        return self._join_part(inside, signals, domain)

    def _join_part(self, inside: str, signals: Ports, domain: str) -> Any:
        """Make a signal, or the interface that some signals are, join it, and return it."""
        if "" in signals:
            one = Signal(signals[""]["width"], name=inside)
            self._join(inside, signals[""], one)
            return one
        one = self._interface(inside, signals, domain)
        for signal, port in signals.items():
            self._join(f"{inside}_{signal}", port, self._member(one, f"{inside}_{signal}", signal, port))
        return one

    def _interface(self, stem: str, signals: Ports, domain: str) -> Any:
        """Return the interface of LiteX whose signals those of a port are."""
        widths = {name: port["width"] for name, port in signals.items()}
        if "payload" in signals:
            fields = _fields(signals["payload"])
            return stream.Endpoint([(name, width) for name, width in fields.items() if name != "last"])
        if "tdata" in signals:
            sizes = {f"{name}_width": widths.get(f"t{name}", 0) for name in ("data", "keep", "id", "dest", "user")}
            return axi.AXIStreamInterface(**sizes, clock_domain=domain)
        if "awaddr" in signals:
            address = widths["awaddr"]
            if signals["awaddr"]["direction"] == "input":
                address = max(address, ADDRESS_WIDTH)
            sizes = {"data_width": widths["wdata"], "address_width": address, "clock_domain": domain}
            if "awid" not in widths:
                return axi.AXILiteInterface(**sizes)
            users = {f"{name}_user_width": widths.get(f"{name}user", 0) for name in ("aw", "ar")}
            return axi.AXIInterface(**sizes, **users, id_width=widths["awid"])
        raise SpecError(f"port {stem}_{next(iter(signals))} of {self.manifest['top']} is of no interface of LiteX")

    def _member(self, one: Any, name: str, signal: str, port: Mapping[str, Any]) -> Any:
        """Return what an interface has for a signal of a port."""
        if signal == "payload":
            return Cat(*(getattr(one, field) for field in _fields(port)))
        owner, member = one, signal.removeprefix("t") if isinstance(one, axi.AXIStreamInterface) else signal
        found = _CHANNEL.fullmatch(signal)
        if found and isinstance(one, axi.AXIInterface | axi.AXILiteInterface):
            owner, member = getattr(one, found["channel"]), found["member"]
        if not hasattr(owner, member):
            raise SpecError(f"port {name!r} of {self.manifest['top']} is no signal of LiteX's {type(one).__name__}")
        return getattr(owner, member)


def _fields(payload: Mapping[str, Any]) -> dict[str, int]:
    """Return the fields of a payload, the lowest first, and their bits."""
    fields = payload.get("fields", {"data": {"width": payload["width"]}})
    return {name: field["width"] for name, field in fields.items()}


def _clocked(name: str, domain: str) -> Any:
    """Return what a clock or reset is joined to."""
    if name.endswith("clk"):
        return ClockSignal(domain)
    return ~ResetSignal(domain) if name.endswith("n") else ResetSignal(domain)
