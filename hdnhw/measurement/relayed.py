"""Open-loop measurement of packets that go by waypoints around what is dead, on the model of relays."""

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.endpoints.relay.format import RELAY_COUNTS
from hdnhw.endpoints.relay.model import RelayCourse, Sends
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.machine.machine import Machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.statistics import summarize
from hdnhw.measurement.sweep import load_row, machine_row
from hdnhw.model.fabric import FabricModel
from hdnhw.multipath.waypoints import Detours, RouteTable
from hdnhw.rules.plan import RoutingPlan
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Progress, Stopwatch
from hdnhw.topology.faults import Faults
from hdnhw.traffic.packets import Terminals

WARMUP = 2000
"""Cycles before the interval that is measured, unless they are prescribed."""

Integers = npt.NDArray[np.int64]


def measure_relayed(model: FabricModel, load: LoadSpec, *, progress: Progress = lambda *_: None) -> dict[str, Any]:
    """Measure a fabric with relays under a load whose packets take the fewest waypoints that lead to their destination.

    Packets for which there are not waypoints enough are sent plainly, and are stranded. Those created in the interval
    have as many cycles to arrive as warm-up and interval took, at the same load.

    Parameters
    ----------
    model : FabricModel
        Of a machine with relays, with faults.
    load : LoadSpec
        Of messages of one packet.
    progress : callable
        Is told a stage and the share of it that is done.

    Returns
    -------
    dict
        What the command ``simulate`` prints.

    Raises
    ------
    SpecError
        If messages have lengths, or the pattern or the injection process cannot be.
    """
    if load.has_lengths:
        raise SpecError(
            f"{named('lengths')} cannot be combined with {named('waypoints')}: "
            "relays are measured with messages of one packet"
        )
    machine, faults = model.machine, model.faults
    assert isinstance(machine.spec.endpoints, RelaySpec)
    assert faults is not None
    watch, start = Stopwatch(), WARMUP if load.warmup is None else load.warmup
    stop = start + load.cycles
    sends, by = _sends(machine, machine.spec.endpoints.waypoints, faults, load, 2 * stop)
    course = RelayCourse(model, sends, Terminals())
    marked = (sends.earliest >= start) & (sends.earliest < stop)
    arrived, seen = np.full(len(marked), -1, np.int64), 0
    while course.cycle < stop or (course.cycle < 2 * stop and (marked & (arrived < 0) & (by >= 0)).any()):
        for _ in range(min(500, 2 * stop - course.cycle)):
            course.step()
        for cycle, _, packet in course.out[seen:]:
            if packet.number >= 0:
                arrived[packet.number] = cycle
        seen = len(course.out)
        progress("packets by waypoints", min(1.0, course.cycle / stop))
    flits = model.timing.packet_length / (len(model.address) * load.cycles)
    taken = int(((arrived >= start) & (arrived < stop)).sum())
    latency, came = arrived - sends.earliest, marked & (arrived >= 0)
    return {
        **machine_row(machine),
        **load_row(load),
        "warmup": start,
        **faults.counts,
        **asdict(machine.spec.endpoints),
        "offered_rate": round(int(marked.sum()) * flits, 6),
        "accepted_rate": round(taken * flits, 6),
        "created": int(marked.sum()),
        "by_waypoints": int((marked & (by > 0)).sum()),
        "delivered": int(came.sum()),
        "not_deliverable": int((marked & (by < 0)).sum()),
        "packet_latency": _summary(latency[came]),
        "packet_latency_plain": _summary(latency[came & (by == 0)]),
        "packet_latency_by_waypoints": _summary(latency[came & (by > 0)]),
        **dict(zip(RELAY_COUNTS, course.counts.sum(axis=0).tolist(), strict=True)),
        "cycles": course.cycle,
        "seconds": round(watch.seconds, 3),
    }


def _summary(latency: Integers) -> dict[str, float] | None:
    return summarize(np.bincount(latency)) if len(latency) else None


def _sends(machine: Machine, waypoints: int, faults: Faults, load: LoadSpec, cycles: int) -> tuple[Sends, Integers]:
    """Return the packets of a load, and how many waypoints each names; -1 for those that cannot be delivered."""
    plan = machine.plan
    messages = load.on(plan.network, machine.timing.packet_length, dead=faults.nodes).window(cycles)
    order = np.argsort(messages.source, kind="stable")
    source, destination, earliest = messages.source[order], messages.destination[order], messages.cycle[order]
    detours = Detours(RouteTable(plan), faults)
    sends, ways = sends_around(plan, detours, waypoints, source, destination, earliest)
    return sends, np.array([-1 if way is None else len(way) for way in ways], np.int64)


def sends_around(
    plan: RoutingPlan,
    detours: Detours,
    waypoints: int,
    source: Integers,
    destination: Integers,
    earliest: Integers,
) -> tuple[Sends, list[tuple[int, ...] | None]]:
    """Return packets that take the fewest waypoints to their destination, with legs healthy in both directions.

    Parameters
    ----------
    plan : RoutingPlan
    detours : Detours
    waypoints : int
        Most that a packet names.
    source, destination, earliest : ndarray of int64, shape (packets,)
        Nodes, and the cycle before which a packet is not offered; sorted by source.

    Returns
    -------
    sends, ways
        The packets, and the waypoints of each: None where there are not enough; such a packet goes plainly.
    """
    nodes = plan.network.num_nodes
    first = np.searchsorted(source, np.arange(nodes + 1))
    address = [int(plan.address.of_node(node)) for node in range(nodes)]
    stops: list[tuple[int, ...]] = []
    ways: list[tuple[int, ...] | None] = []
    for node in range(nodes):
        targets = destination[first[node] : first[node + 1]].tolist()
        chosen = detours.choose(node, waypoints, two_way=True) if targets else []
        for target in targets:
            ways.append(chosen[target])
            stops.append(tuple(address[stop] for stop in (*(chosen[target] or ()), target)))
    return Sends(first, stops, earliest), ways
