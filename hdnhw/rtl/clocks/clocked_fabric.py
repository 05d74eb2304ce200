"""A fabric each of whose terminals has its own clock and reset."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth.hdl import Cat, DomainRenamer, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hdnhw.rtl.clocks.crossing import Crossing, ends_of
from hdnhw.rtl.part import Part, at, place

_VALID = re.compile(r"(?P<name>\w+?)_(?P<node>\d+)_(?P<channel>[a-z]*)valid")
"""Name of a port that says that a stream of a node has something to give."""


@dataclass(frozen=True)
class NodeStream:
    """A stream of every node, as the ports of a fabric are named.

    Attributes
    ----------
    name, channel : str
        Its ports at node N are ``NAME_N_`` with the channel behind it, and ``valid``, ``ready`` or a field.
    leads_in : bool
        Whether it leads to the fabric.
    fields : tuple of (str, int)
        What else it consists of, and bits.
    """

    name: str
    channel: str
    leads_in: bool
    fields: tuple[tuple[str, int], ...]

    @property
    def width(self) -> int:
        """Bits of a transfer."""
        return sum(width for _, width in self.fields)

    @property
    def widths(self) -> tuple[tuple[str, int], ...]:
        """All that it consists of, and bits."""
        return *self.fields, ("valid", 1), ("ready", 1)

    @property
    def label(self) -> str:
        """What the crossing calls it."""
        return self.name if self.channel in ("", "t") else f"{self.name}_{self.channel}"

    def port(self, node: int, part: str) -> str:
        """Return the name of a port of it."""
        return f"{self.name}_{node}_{self.channel}{part}"


Ports = dict[str, tuple[bool, int]]
"""Names of ports -> whether it is an input, and bits."""


def ports_of(component: Any) -> Ports:
    """Return the ports of a top level as they are emitted."""
    return {
        "_".join(map(str, path)): (member.flow is In, len(Value.cast(value)))
        for path, member, value in component.signature.flatten(component)
    }


def streams_of(ports: Ports) -> list[NodeStream]:
    """Return the streams of every node, read from the ports of node 0."""
    found = []
    for name, (is_input, _) in ports.items():
        match = _VALID.fullmatch(name)
        if match and match["node"] == "0":
            stem = name.removesuffix("valid")
            parts = [(other.removeprefix(stem), bits) for other, (_, bits) in ports.items() if other.startswith(stem)]
            fields = tuple((part, bits) for part, bits in parts if part not in ("valid", "ready"))
            found.append(NodeStream(match["name"], match["channel"], is_input, fields))
    return found


class ClockedFabric(wiring.Component):
    """A fabric, with endpoints or without, and a crossing between each terminal and its user.

    It instantiates both modules by name; :mod:`hdnhw.verilog` emits them.

    Parameters
    ----------
    inside : Component
        The fabric's top level.
    fabric, crossing : str
        Names of its module and of the crossing's.
    clock, reset : str
        Names of its clock and its reset; a reset whose name ends in ``n`` is active low.
    nodes : int

    Members
    -------
    CLOCK, RESET : In(1)
        The fabric's.
    CLOCK_N, RESET_N : In(1)
        Those of node N, of the same polarity; synchronous to the node's clock.
    all ports of `inside`
        Its streams of node N belong to the node's clock, all else to the fabric's.
    """

    def __init__(self, inside: Any, *, fabric: str, crossing: str, clock: str, reset: str, nodes: int) -> None:
        self._fabric, self._crossing, self._clock, self._reset, self._nodes = fabric, crossing, clock, reset, nodes
        self.ports = {name: port for name, port in ports_of(inside).items() if name not in (clock, reset)}
        self.streams = streams_of(self.ports)
        clocks = [clock, reset, *(f"{name}_{node}" for node in range(nodes) for name in (clock, reset))]
        ports = {name: (In if is_input else Out)(bits) for name, (is_input, bits) in self.ports.items()}
        self._inside = {clock: In(1), reset: In(1), **ports}
        super().__init__({name: In(1) for name in clocks} | ports)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        inside = {name: getattr(self, name) for name in (self._clock, self._reset, *self.ports)}
        crossing = Part(
            partial(Crossing, {each.label: (each.leads_in, each.width) for each in self.streams}), self._crossing
        )
        for node in range(self._nodes):
            clocks = {
                "fabric_clk": getattr(self, self._clock),
                "fabric_rst": self._reset_of(self._reset),
                "node_clk": getattr(self, f"{self._clock}_{node}"),
                "node_rst": self._reset_of(f"{self._reset}_{node}"),
            }
            members: dict[str, Any] = {}
            for each in self.streams:
                near = {
                    each.port(node, part): Signal(width, name=f"fabric_{each.port(node, part)}")
                    for part, width in each.widths
                }
                ends = [
                    self._end(each, {name: getattr(self, name) for name in near}, node),
                    self._end(each, near, node),
                ]
                members |= zip(ends_of(each.label), ends if each.leads_in else reversed(ends), strict=True)
                inside |= near
            place(m, f"crossing_{node}", crossing, members, clocks=clocks)
        place(m, "fabric", Part(wiring.Signature(self._inside).create, self._fabric), inside, clocks={})
        return m

    def _reset_of(self, name: str) -> Value:
        """Return a reset, active high."""
        return ~getattr(self, name) if self._reset.endswith("n") else getattr(self, name)

    @staticmethod
    def _end(each: NodeStream, signals: Mapping[str, Value], node: int) -> dict[str, Value]:
        """Return one end of a stream from the signals of its ports."""
        payload = Cat(signals[each.port(node, field)] for field, _ in each.fields)
        return {"payload": payload, **{part: signals[each.port(node, part)] for part in ("valid", "ready")}}


class ClockedComponent(wiring.Component):
    """A fabric with its logic, with endpoints or without, and a crossing between each terminal and its user.

    Parameters
    ----------
    inside : Component
        The fabric; its streams of nodes are members of arrays.

    Members
    -------
    all members of `inside`
        Streams of node N belong to the clock domain ``node_N``, all else to ``sync``.
    """

    def __init__(self, inside: Any) -> None:
        self.machine, self._inside = inside.machine, inside
        super().__init__(dict(inside.signature.members.items()))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.fabric = inside = self._inside
        streams: dict[int, dict[str, tuple[bool, Any, Any]]] = {}
        for path, member, value in self.signature.flatten(self):
            is_input, other = member.flow is In, at(inside, path)
            owner = at(self, path[:-1])
            if isinstance(getattr(owner, "signature", None), stream.Signature):
                if path[-1] == "valid":
                    label = "_".join(str(part) for part in path[:-1] if isinstance(part, str))
                    streams.setdefault(path[1], {})[label] = is_input, owner, at(inside, path[:-1])
            else:
                m.d.comb += Value.cast(other).eq(value) if is_input else Value.cast(value).eq(other)
        for node, of_node in streams.items():
            self._elaborate_node(m, node, of_node)
        return m

    def _elaborate_node(self, m: Module, node: int, streams: dict[str, tuple[bool, Any, Any]]) -> None:
        """Add the crossing of a node: of each stream, whether it leads in, its end outside, and inside."""
        widths = {
            label: (leads_in, len(Value.cast(outside.payload))) for label, (leads_in, outside, _) in streams.items()
        }
        crossing: Any = Crossing(widths)
        for label, (leads_in, outside, inside) in streams.items():
            source, sink = (outside, inside) if leads_in else (inside, outside)
            i, o = (getattr(crossing, end) for end in ends_of(label))
            m.d.comb += [
                i.payload.eq(Value.cast(source.payload)),
                i.valid.eq(source.valid),
                source.ready.eq(i.ready),
                Value.cast(sink.payload).eq(o.payload),
                sink.valid.eq(o.valid),
                o.ready.eq(sink.ready),
            ]
        m.submodules[f"crossing_{node}"] = DomainRenamer({"fabric": "sync", "node": f"node_{node}"})(crossing)
