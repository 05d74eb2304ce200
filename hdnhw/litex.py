"""A fabric in a LiteX design: a module whose streams, signals and bus are the ports of an emitted fabric.

LiteX and Migen are not required by hdnhw: ``pip install 'hdnhw[litex]'``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litex.gen import LiteXModule
from litex.soc.interconnect import axi, stream
from migen import Cat, ClockSignal, Instance, ResetSignal, Signal

__all__ = ["NetworkOnChip"]

ADDRESS_WIDTH = 32
"""Bits of addresses on the bus of the registers, as LiteX has them."""


class NetworkOnChip(LiteXModule):
    """A fabric that ``hdnhw emit`` has written.

    Parameters
    ----------
    platform : GenericPlatform or None
        Gets the Verilog of the fabric.
    folder : Path or str
        Where the fabric is, with its manifest.
    clock_domain : str
        In which all of it is.

    Attributes
    ----------
    manifest : dict
    s_axis, m_axis : list of AXIStreamInterface
        Of AXI4-Stream endpoints: frames that each node sends and receives.
    bus : AXILiteInterface
        Of AXI4-Stream endpoints: the registers. Its addresses begin at a multiple of 0x80000 in the design's.
    inject, eject, operation, message, result : list of Endpoint
        Streams of fabrics that have them, whose payload has the fields of the manifest, or else ``data``; ``last`` is
        the stream's own.
    """

    def __init__(self, platform: Any, folder: Path | str, *, clock_domain: str = "sys") -> None:
        self.manifest = json.loads(Path(folder, "manifest.json").read_text())
        self._clock_domain = clock_domain
        endpoints = self.manifest.get("endpoints", {})
        ports: Mapping[str, Any] = endpoints.get("ports", self.manifest["ports"])
        pins = {**self._clocked(ports), **self._of_nodes(ports), **self._of_all(ports)}
        self.specials += Instance(self.manifest["top"], **pins)
        if platform is not None:
            for name in (f"{self.manifest['fabric']}.sv", endpoints.get("file")):
                if name is not None:
                    platform.add_source(str(Path(folder, name)))

    def _clocked(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        clock, reset = ClockSignal(self._clock_domain), ResetSignal(self._clock_domain)
        return {"i_aclk": clock, "i_aresetn": ~reset} if "aclk" in ports else {"i_clk": clock, "i_rst": reset}

    def _of_nodes(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        """Make the streams and signals of all nodes; return the pins that they are joined to."""
        pins: dict[str, Any] = {}
        nodes = range(self.manifest["routers"])
        stems = {name[: -len("_N_payload")]: self._add_stream for name in ports if name.endswith("_N_payload")}
        stems |= {name[: -len("_N_tdata")]: self._add_axi for name in ports if name.endswith("_N_tdata")}
        for stem, add in stems.items():
            setattr(self, stem, [add(pins, stem, node, ports) for node in nodes])
        for name, port in ports.items():
            if name.endswith("_N"):
                signals = [Signal(port["width"], name=f"{name[:-2]}_{node}") for node in nodes]
                setattr(self, name[:-2], signals)
                pins |= {f"{_side(port)}_{name[:-2]}_{node}": signal for node, signal in enumerate(signals)}
        return pins

    def _add_stream(self, pins: dict[str, Any], stem: str, node: int, ports: Mapping[str, Any]) -> Any:
        payload = ports[f"{stem}_N_payload"]
        fields = payload.get("fields", {"data": {"width": payload["width"]}})
        one = stream.Endpoint([(name, field["width"]) for name, field in fields.items() if name != "last"])
        inside = f"{stem}_{node}_"
        pins[f"{_side(payload)}_{inside}payload"] = Cat(*(getattr(one, name) for name in fields))
        pins |= {
            f"{_side(ports[f'{stem}_N_{name}'])}_{inside}{name}": getattr(one, name) for name in ("valid", "ready")
        }
        return one

    def _add_axi(self, pins: dict[str, Any], stem: str, node: int, ports: Mapping[str, Any]) -> Any:
        inside = {name.split("_t")[-1]: port for name, port in ports.items() if name.startswith(f"{stem}_N_t")}
        widths = {
            f"{name}_width": inside[name]["width"] for name in ("data", "keep", "id", "dest", "user") if name in inside
        }
        one = axi.AXIStreamInterface(**widths, clock_domain=self._clock_domain)
        pins |= {f"{_side(port)}_{stem}_{node}_t{name}": getattr(one, name) for name, port in inside.items()}
        return one

    def _of_all(self, ports: Mapping[str, Any]) -> dict[str, Any]:
        """Make the bus of the registers and the signals of no node; return the pins that they are joined to."""
        pins: dict[str, Any] = {}
        for name, port in ports.items():
            if "_N" in name or name in ("clk", "rst", "aclk", "aresetn") or name.startswith("s_axil_"):
                continue
            signal = Signal(port["width"], name=name)
            setattr(self, name, signal)
            pins[f"{_side(port)}_{name}"] = signal
        if "s_axil_awaddr" in ports:
            self.bus = bus = axi.AXILiteInterface(address_width=ADDRESS_WIDTH, clock_domain=self._clock_domain)
            for name, port in ports.items():
                if name.startswith("s_axil_"):
                    channel, member = _channel(name.removeprefix("s_axil_"))
                    pins[f"{_side(port)}_{name}"] = getattr(getattr(bus, channel), member)[: port["width"]]
        return pins


def _side(port: Mapping[str, Any]) -> str:
    return "i" if port["direction"] == "input" else "o"


def _channel(name: str) -> tuple[str, str]:
    """Return the channel of AXI4-Lite and the member of a signal's name, such as awaddr or rdata."""
    width = 2 if name.startswith(("aw", "ar")) else 1
    return name[:width], name[width:]
