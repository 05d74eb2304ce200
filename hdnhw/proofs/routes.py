"""Route units of the emitted routers: all of them equal the rule on all pairs of nodes, and lead every packet home.

What they compute is read from the text's own gates, for every router and every destination: nothing is sampled.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hdnhw.proofs.finding import Finding
from hdnhw.proofs.netlist import Cone, ForeignInputError, Net, Netlist
from hdnhw.rules.arrays import ARRAY_OPERATIONS
from hdnhw.rules.plan import RoutingPlan
from hdnhw.topology.metrics import distances_from, neighbor_table

WIRES = ("cur", "dst", "take", "vc", "possible")
"""Ends of the names of a route unit's wires, by which the units are found."""

_SLICE = 1 << 22
"""Pairs that are evaluated at once."""

_METHOD = "enumeration of all pairs"


@dataclass(frozen=True)
class HopTable:
    """The next hop of every packet at every node.

    Attributes
    ----------
    port : ndarray of uint8, shape (nodes, nodes)
        Of a node and a destination: the output port, or the number of network ports where the packet is ejected.
    vc : ndarray of uint8, shape (nodes, nodes)
        Virtual channel of the hop, 0 for ejection.
    """

    port: npt.NDArray[np.uint8]
    vc: npt.NDArray[np.uint8]


def rule_table(plan: RoutingPlan) -> HopTable:
    """Return the hops of the rule that the plan has proved free of deadlock, digit by digit as the rule is written."""
    network, rule = plan.network, plan.circuit_rule
    nodes = network.num_nodes
    every = np.arange(nodes, dtype=np.int64)
    to = {f"dst{place}": digit.astype(np.int16)[None, :] for place, digit in enumerate(network.decode(every))}
    port, vc = np.empty((nodes, nodes), np.uint8), np.empty((nodes, nodes), np.uint8)
    for rows in _slices(nodes):
        at = network.decode(every[rows])
        digits = to | {f"cur{place}": digit.astype(np.int16)[:, None] for place, digit in enumerate(at)}
        outputs = [*rule.take, rule.arrived, *rule.vc]
        values = rule.circuit.run(outputs, digits.__getitem__, ARRAY_OPERATIONS)
        ports = len(rule.take) + 1
        port[rows] = sum(number * value for number, value in enumerate(values[:ports]))
        bits = sum(value << weight for weight, value in enumerate(values[ports:]))
        vc[rows] = np.where(values[ports - 1], 0, bits)
    return HopTable(port, vc)


def _slices(nodes: int) -> Iterator[slice]:
    step = max(1, _SLICE // nodes // 8 * 8)
    return (slice(first, min(first + step, nodes)) for first in range(0, nodes, step))


def prove_units(
    plan: RoutingPlan, netlist: Netlist, module: str, due: HopTable, *, cycles: int, owners: Collection[str]
) -> tuple[list[Finding], HopTable | None]:
    """Compare all route units of a router with the rule.

    Parameters
    ----------
    plan : RoutingPlan
    netlist : Netlist
        Of the router.
    module : str
        Its name.
    due : HopTable
        See :func:`rule_table`.
    cycles : int
        How much later its outputs should come than its inputs.
    owners : collection of str
        The inputs, ports or ``injection``, that must have one.

    Returns
    -------
    list of Finding
        One a unit.
    HopTable or None
        The hops of the packets that the router takes in from its terminal, from its text; None if they are no hops.
    """
    units = _units(netlist)
    findings, injected = [], None
    for unit in units:
        try:
            found = _unit_table(plan, netlist, unit, cycles)
            why = _difference(plan, found, due) or _possible(plan, netlist, unit, cycles)
        except (ForeignInputError, _NoHopError) as error:
            found, why = None, str(error)
        if unit == "injection.route":
            injected = found
        findings.append(_finding("route", module, unit, why, plan.network.num_nodes**2))
    for unit in sorted({f"{owner}.route" for owner in owners}.difference(units)):
        findings.append(_finding("route", module, unit, "there is no such route unit", 0))
    return findings, injected


def _units(netlist: Netlist) -> list[str]:
    """Return the names of the route units: instances with all the ports of one."""
    names = netlist.names
    found = (name.removesuffix(".take") for name in names if re.fullmatch(r"\w+\.\w+\.take", name))
    return sorted(unit for unit in found if all(f"{unit}.{part}" in names for part in WIRES))


def _finding(name: str, module: str, part: str, why: str, cases: int) -> Finding:
    return Finding.compared(name, module, part, method=_METHOD, cases=cases, why=why)


class _NoHopError(Exception):
    """A unit that names no output, or more than one."""


@dataclass(frozen=True)
class _Unit:
    """The nets of a route unit."""

    cur: list[Net]
    dst: list[Net]
    take: list[Net]
    vc: list[Net]
    cone: Cone


def _check_cycles(cone: Cone, outputs: list[Net], cycles: int) -> None:
    """Refuse outputs that come sooner or later than they should."""
    counts = [cone.registers[net] for net in outputs if net in cone.registers]
    if any(count != (cycles, cycles) for count in counts):
        raise ForeignInputError(f"some of its outputs do not come {cycles} cycles after its inputs")


def _unit(plan: RoutingPlan, netlist: Netlist, unit: str, cycles: int) -> _Unit:
    names = netlist.names
    cur, dst, take, vc = (names[f"{unit}.{part}"] for part in ("cur", "dst", "take", "vc"))
    if unit.endswith(".route"):
        if cur != names.get("address"):
            raise ForeignInputError("its own address is not the router's")
        owner = unit.removesuffix(".route")
        pin = "inject__payload" if owner == "injection" else f"{owner}_i__data"
        if dst != names.get(pin, [])[: plan.address.width]:
            raise ForeignInputError(f"its destination is not that of the flit on {pin} in the same cycle")
    cone = netlist.cone([*take, *vc], moving=_nets(dst), still=_nets(cur))
    _check_cycles(cone, [*take, *vc], cycles)
    if len(take) != len(plan.network.ports) + 1:
        raise _NoHopError(f"it has {len(take)} outputs, not {len(plan.network.ports) + 1}")
    return _Unit(cur, dst, take, vc, cone)


def _nets(bits: list[Net]) -> list[Net]:
    return [bit for bit in bits if isinstance(bit, int)]


def _unit_table(plan: RoutingPlan, netlist: Netlist, name: str, cycles: int) -> HopTable:
    """Evaluate a unit for every pair."""
    unit = _unit(plan, netlist, name, cycles)
    nodes = plan.network.num_nodes
    address = plan.address.of_nodes
    port, vc = np.empty((nodes, nodes), np.uint8), np.empty((nodes, nodes), np.uint8)
    for rows in _slices(nodes):
        shape = (rows.stop - rows.start, nodes)
        cur, dst = np.broadcast_to(address[rows, None], shape), np.broadcast_to(address[None, :], shape)
        values = _packed(unit.cur, cur) | _packed(unit.dst, dst)
        known = unit.cone.evaluate(values)
        take = [_unpacked(known[net], shape) for net in unit.take]
        count: npt.NDArray[np.uint8] = np.sum(take, axis=0, dtype=np.uint8)
        for row, to in np.argwhere(count != 1)[:1].tolist():
            text = plan.network.format_node
            raise _NoHopError(f"from {text(rows.start + row)} to {text(to)} it names {count[row, to]} outputs, not one")
        port[rows] = sum(number * bits.astype(np.uint8) for number, bits in enumerate(take))
        bits = sum(_unpacked(known[net], shape).astype(np.uint8) << weight for weight, net in enumerate(unit.vc))
        vc[rows] = np.where(take[-1], 0, bits)
    return HopTable(port, vc)


def _packed(nets: list[Net], numbers: npt.NDArray[np.int64]) -> dict[Net, npt.NDArray[np.uint8]]:
    """Return the bits of numbers, eight numbers a byte; a net that is a constant needs none."""
    return {net: np.packbits((numbers >> place & 1).astype(bool)) for place, net in enumerate(nets)}


def _unpacked(bits: npt.NDArray[np.uint8], shape: tuple[int, int]) -> npt.NDArray[np.bool_]:
    return np.unpackbits(bits, count=shape[0] * shape[1]).astype(bool).reshape(shape)


def _difference(plan: RoutingPlan, found: HopTable, due: HopTable) -> str:
    """Return where a unit differs from the rule; empty if nowhere."""
    wrong = np.argwhere((found.port != due.port) | (found.vc != due.vc))
    if not len(wrong):
        return ""
    cur, dst = wrong[0].tolist()
    text = plan.network.format_node

    def hop(table: HopTable) -> str:
        names = [*(port.name for port in plan.network.ports), "ejection"]
        return f"{names[int(table.port[cur, dst])]} class {int(table.vc[cur, dst])}"

    return f"{len(wrong)} pairs differ; from {text(cur)} to {text(dst)} it takes {hop(found)}, and the rule {hop(due)}"


def _possible(plan: RoutingPlan, netlist: Netlist, unit: str, cycles: int) -> str:
    """Return what is wrong with a unit's word on whether an address is one of a node; empty if nothing."""
    nets, dst = netlist.names[f"{unit}.possible"], netlist.names[f"{unit}.dst"]
    addresses = np.arange(1 << plan.address.width, dtype=np.int64)
    due = np.broadcast_to(np.asarray(plan.address.is_node(addresses)), addresses.shape)
    cone = netlist.cone(nets, moving=_nets(dst), still=netlist.names["rst"])
    _check_cycles(cone, nets, cycles)
    values = _packed(dst, addresses)
    values |= {net: np.zeros_like(values[dst[0]]) for net in netlist.names["rst"]}
    found = np.unpackbits(cone.evaluate(values)[nets[0]], count=len(addresses)).astype(bool)
    wrong = np.flatnonzero(found != due)
    if not len(wrong):
        return ""
    return f"address {int(wrong[0]):#x} is {'one' if due[wrong[0]] else 'none'} of a node, and it says the opposite"


def prove_arrival(plan: RoutingPlan, tables: Mapping[int, HopTable], modules: list[str]) -> Finding:
    """Follow the hops of the text itself from every node to every other one.

    Where the rule is known to be shortest, so is every way, by a breadth-first search.

    Parameters
    ----------
    plan : RoutingPlan
    tables : mapping
        Number of a shape in the plan -> the hops of its router.
    modules : list of str
        The routers' names.
    """
    network = plan.network
    nodes, local = network.num_nodes, len(network.ports)
    shape_of = np.array([plan.shapes.index(plan.shape_of(node)) for node in range(nodes)])
    port = np.empty((nodes, nodes), np.uint8)
    for shape, table in tables.items():
        port[shape_of == shape] = table.port[shape_of == shape]
    following = np.column_stack([neighbor_table(network), np.arange(nodes, dtype=np.int32)])
    why, longest = "", 0
    for rows in _slices(nodes):
        hops, lost = _hops(port, following, rows, local)
        if lost is not None:
            why = f"a packet from {network.format_node(lost[0])} never gets to {network.format_node(lost[1])}"
            break
        longest = max(longest, int(hops.max()))
        if plan.rule.is_shortest:
            distance = np.stack([distances_from(network, node) for node in range(rows.start, rows.stop)])
            if (hops != distance).any():
                row, to = np.argwhere(hops != distance)[0].tolist()
                ends = f"from {network.format_node(rows.start + row)} to {network.format_node(to)}"
                why = f"{ends} it takes {int(hops[row, to])} hops, and the distance is {int(distance[row, to])}"
                break
    part = "all pairs" if why else f"all pairs, at most {longest} hops"
    return _finding("arrival", ", ".join(modules), part, why, nodes**2)


def _hops(
    port: npt.NDArray[np.uint8], following: npt.NDArray[np.int32], rows: slice, local: int
) -> tuple[npt.NDArray[np.int32], tuple[int, int] | None]:
    """Return the hops from some sources to all destinations, and a pair of which the packet never arrives, or None."""
    nodes = len(port)
    to = np.arange(nodes)[None, :]
    at = np.broadcast_to(np.arange(rows.start, rows.stop)[:, None], (rows.stop - rows.start, nodes))
    hops = np.zeros(at.shape, np.int32)
    for _ in range(nodes):
        out = port[at, to]
        moves = out != local
        if not moves.any():
            break
        at = following[at, out]
        hops += moves
    lost = np.argwhere((port[at, to] != local) | (at != to))
    return hops, (rows.start + int(lost[0][0]), int(lost[0][1])) if len(lost) else None
