"""The wires of a fabric, and where they stand in a dump."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hdnhw.machine.machine import Machine
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.channel import channel_name, late_name
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.verilog.waves.dump import Dump
from hdnhw.verilog.waves.trace import Trace

INJECT, EJECT, LOCAL = -1, -2, -3
"""Places of a node beside the ports of the network: its streams, and the channel to its ejection buffer."""

NAMES = {INJECT: "inject", EJECT: "eject", LOCAL: "to_terminal"}
"""Of these places."""


class Place(NamedTuple):
    """Where flits pass; wires are places among those that are read, 0 for none.

    Of a channel, flits pass while `valid`; of a stream, while `valid` and `ready`. A head flit stands on a channel in
    the cycles since reset that are `head_phase` modulo the packet's length, a credit in those that are `credit_phase`,
    or in all if that is -1. The names of the wires begin with `name`.
    """

    name: str
    node: int
    port: int
    data: int
    valid: int
    ready: int
    vc: int
    credit: int
    num_vcs: int
    head_phase: int
    credit_phase: int


@dataclass(frozen=True)
class FabricWires:
    """The wires of a fabric in a dump.

    Attributes
    ----------
    scope : str
        Path of the fabric, that of the instance of its module.
    codes : list of str
        Of what is read, the clock and the reset first.
    places : list of Place
    """

    scope: str
    codes: list[str]
    places: list[Place]


def find_fabric(machine: Machine, dump: Dump, scope: str | None) -> FabricWires:
    """Find a fabric in a dump: in a `scope`, or in the only one that has all its wires and no others of that kind.

    Raises
    ------
    SpecError
        If there is none, or several.
    """
    widths, places = fabric_places(machine, range(machine.network.num_nodes))
    if scope is not None and scope not in dump.scopes:
        near = [path for path, wires in dump.scopes.items() if "inject_0_valid" in wires] or list(dump.scopes)
        raise SpecError(f"{named('scope')} must be a scope of {dump.path}, such as {near[:1]}, not {scope!r}")
    paths = list(dump.scopes) if scope is None else [scope]
    lacks = {path: _lack(widths, {name: bits for name, (_, bits) in dump.scopes[path].items()}) for path in paths}
    fits = [path for path in paths if not lacks[path]]
    if len(fits) > 1:
        raise SpecError(f"{dump.path} has several such fabrics: {named('scope')} {choices_text(fits, scope)}")
    if not fits:
        near = [path for path in paths if "inject_0_valid" in dump.scopes[path]] or paths
        lack = f"scope {near[0]} {lacks[near[0]]}" if near else "it has no scopes"
        raise SpecError(f"{dump.path} has no such fabric with all wires between its routers: {lack}")
    wires = dump.scopes[fits[0]]
    return FabricWires(fits[0], [wires[name][0] for name in widths], places)


def find_traced(trace: Trace, scope: str | None) -> str:
    """Return where in a trace the fabric is: the `scope`, or the only one that has packets on channels.

    Raises
    ------
    SpecError
        If there is none, or several.
    """
    paths = [path for path, found in trace.scopes.items() if any(one.name.startswith("channel_") for one in found)]
    if scope is not None and scope not in paths:
        raise SpecError(f"{named('scope')} must be a scope of {trace.path}, such as {paths[:1]}, not {scope!r}")
    if scope is None and len(paths) > 1:
        raise SpecError(f"{trace.path} has several such fabrics: {named('scope')} {choices_text(paths, scope)}")
    if not paths:
        raise SpecError(f"{trace.path} has no packet on a channel")
    return scope or paths[0]


def _lack(widths: dict[str, int], there: dict[str, int]) -> str:
    """Return what keeps a scope from being that of a fabric, empty if nothing does."""
    for name, bits in widths.items():
        if name not in there:
            return f"lacks {name}"
        if there[name] != bits:
            return f"has {name} of {there[name]} bits, not {bits}"
    more = [
        name for name in there if re.match(r"(inject|eject|channel)_\d+_.*(valid|vc)$", name) and name not in widths
    ]
    return f"has {more[0]} too" if more else ""


def fabric_places(machine: Machine, nodes: Sequence[int]) -> tuple[dict[str, int], list[Place]]:
    """Return the bits of each wire that is read, and where flits pass, by their places among these.

    Parameters
    ----------
    machine : Machine
    nodes : sequence of int
        Those of a fabric, or the node at each place of one of its chips, by which the wires are numbered.
    """
    plan, flit, timing = machine.plan, machine.spec.flit_width, machine.timing
    reset = late_name(0) if machine.spec.reset_registers else "rst"
    length, widths, places = timing.packet_length, {"clk": 1, reset: 1}, list[Place]()

    def place(number: int, port: int, prefix: str, num_vcs: int = 0, **wires: int) -> None:
        node = nodes[number]
        begins = machine.ahead(node)
        at = {name: len(widths) + wire for wire, name in enumerate(wires)}
        widths.update({f"{prefix}_{name}": bits for name, bits in wires.items()})
        ahead = 0 if port == LOCAL else length  # a credit of ejection counts in every cycle
        phase = (timing.credit_phase - begins) % length if ahead else -1
        data = at.get("data", at.get("payload", 0))
        ready, vc, credit = at.get("ready", 0), at.get("vc", 0), at.get("credit", 0)
        head = machine.leaving_phase(node)
        places.append(Place(prefix, number, port, data, at["valid"], ready, vc, credit, num_vcs, head, phase))

    for number, node in enumerate(nodes):
        place(number, INJECT, f"inject_{number}", payload=flit, valid=1, ready=1)
        for port in plan.shape_of(node).ports:
            vcs = plan.num_vcs[port]
            several = {"vc": index_width(vcs)} if vcs > 1 else {}
            name = channel_name(number, machine.network.ports[port].name)
            place(number, port, name, vcs, data=flit, valid=1, credit=vcs, **several)
        place(number, LOCAL, channel_name(number, "eject"), 1, data=flit, valid=1, credit=1)
        place(number, EJECT, f"eject_{number}", payload=flit + 1, valid=1, ready=1)
    return widths, places
