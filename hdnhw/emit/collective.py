"""Verilog of a fabric with collective engines, and what the manifest says of it."""

import hashlib
from dataclasses import dataclass
from typing import Any

from hdnhw.collective.program import Program, make_program
from hdnhw.emit.verilog import module_text
from hdnhw.flit import FlitFormat, MessageFormat
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.collective.engine import CollectiveEngine
from hdnhw.rtl.collective.fabric import CollectiveFabric
from hdnhw.rtl.ports import DROPPED_WIDTH
from hdnhw.spec import CollectiveSpec
from hdnhw.topology.network import Network

__all__ = ["COLLECTIVE_SUFFIX", "CollectiveText", "collective_text"]

COLLECTIVE_SUFFIX = "_collective"
"""Appended to the fabric's name for the top level with engines, and to that for its file."""
ENGINE_SUFFIX = "_engine"


@dataclass(frozen=True, eq=False)
class CollectiveText:
    """The modules around a fabric.

    Attributes
    ----------
    program : Program
    messages : MessageFormat
    top, engine_module : str
        Names of the top level and of the engine.
    slots, window : int
        Of an engine, see :class:`hdnhw.rtl.collective.engine.CollectiveEngine`.
    text : str
        The engine and, last, the top level.
    """

    program: Program
    messages: MessageFormat
    top: str
    engine_module: str
    slots: int
    window: int
    text: str

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest's entry ``endpoints``."""
        return {
            "type": "collective",
            "top": self.top,
            "file": f"{self.top}.sv",
            "digest": "sha256:" + hashlib.sha256(self.text.encode()).hexdigest(),
            "engine_module": self.engine_module,
            "operations": list(self.program.schedules),
            "roots": {name: schedule.root for name, schedule in self.program.schedules.items()},
            "message_slots": self.slots,
            "window": self.window,
            "ports": _ports(self.messages, len(self.program.schedules)),
            "packet": {
                "header": self.messages.header_positions,
                "header_flits": self.messages.header_flits,
                "data_flits": self.messages.payload_flits,
            },
        }


def collective_text(network: Network, spec: CollectiveSpec, flits: FlitFormat, *, top: str) -> CollectiveText:
    """Return the modules around fabric `top`.

    Raises
    ------
    SpecError
        If the network is too large, the root is none of its nodes, or a packet has no room for data.
    """
    program = make_program(network, spec)
    messages = MessageFormat(flits, len(program.sends), program.reads_target)
    engine, name = CollectiveEngine(program, messages), top + COLLECTIVE_SUFFIX
    module = name + ENGINE_SUFFIX
    fabric = CollectiveFabric(program, messages, fabric_module=top, engine_module=module)
    texts = [module_text(engine, module, flatten=True), module_text(fabric, name, flatten=False)]
    return CollectiveText(program, messages, name, module, engine.slots, engine.window, "\n".join(texts))


def _ports(messages: MessageFormat, operations: int) -> dict[str, Any]:
    width, address = messages.flits.flit_width, messages.flits.address_width
    fields = {
        "data": {"offset": 0, "width": width},
        "source": {"offset": width, "width": address},
        "last": {"offset": width + address, "width": 1},
    }
    ports: dict[str, Any] = {
        "clk": {"direction": "input", "width": 1},
        "rst": {"direction": "input", "width": 1, "meaning": "synchronous, active high; hold for one cycle or more"},
    }
    for name, one, other, payload in (
        ("operation", "input", "output", {"width": index_width(operations), "meaning": "place in `operations`"}),
        ("message", "input", "output", {"width": width, "meaning": "data flits of the node's own messages"}),
        ("result", "output", "input", {"width": width + address + 1, "fields": fields}),
    ):
        ports[f"{name}__N__valid"] = {"direction": one, "width": 1}
        ports[f"{name}__N__ready"] = {"direction": other, "width": 1}
        ports[f"{name}__N__payload"] = {"direction": one, **payload}
    ports["done__N"] = {
        "direction": "output",
        "width": 1,
        "meaning": "high from the end of the operation until its results have been taken",
    }
    ports["dropped__N"] = {"direction": "output", "width": DROPPED_WIDTH, "meaning": "see the fabric's; stays 0"}
    return ports
