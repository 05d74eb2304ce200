"""Open-loop measurement of packets that go by waypoints around what is dead, on the model of relays."""

import time
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.flit import FlitFormat, RelayFormat
from hdnhw.model.fabric import FabricModel
from hdnhw.model.measure import LoadSpec, Progress, summarise
from hdnhw.model.relay import COUNTS, RelayCourse, Sends
from hdnhw.model.sweep import machine_row
from hdnhw.routing.waypoints import Detours, RouteTable
from hdnhw.spec import RelaySpec, SpecError
from hdnhw.topology.faults import Faults
from hdnhw.traffic.packets import Terminals

__all__ = ["measure_relayed"]

WARMUP = 2000
"""Cycles before the interval that is measured, unless they are prescribed."""

Integers = npt.NDArray[np.int64]


def measure_relayed(
    model: FabricModel, relays: RelaySpec, faults: Faults, load: LoadSpec, *, progress: Progress = lambda *_: None
) -> dict[str, Any]:
    """Measure a fabric with relays under a load whose packets take the fewest waypoints that lead to their destination.

    Packets for which there are not waypoints enough are sent plainly, and are stranded. Those created in the interval
    have as many cycles to arrive as warm-up and interval took, at the same load.

    Parameters
    ----------
    model : FabricModel
        Without faults.
    relays : RelaySpec
    faults : Faults
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
        If messages have lengths, the pattern or the injection process cannot be, or relays would not wait long enough.
    """
    if load.lengths is not None:
        raise SpecError("relays are measured with messages of one packet: --lengths does not go with --waypoints")
    RelayFormat(FlitFormat(1024, model.plan.address.width, model.timing.packet_length), relays)
    started, start = time.perf_counter(), WARMUP if load.warmup is None else load.warmup
    stop = start + load.cycles
    sends, named = _sends(model, relays, faults, load, 2 * stop)
    course = RelayCourse(model.with_faults(faults), relays, sends, Terminals())
    marked = (sends.earliest >= start) & (sends.earliest < stop)
    arrived, seen = np.full(len(marked), -1, np.int64), 0
    while course.cycle < stop or (course.cycle < 2 * stop and (marked & (arrived < 0) & (named >= 0)).any()):
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
        **machine_row(model),
        **asdict(load),
        "warmup": start,
        "dead_nodes": int(faults.nodes.sum()),
        "dead_channels": int(faults.channels.sum()),
        **asdict(relays),
        "offered_rate": round(int(marked.sum()) * flits, 6),
        "accepted_rate": round(taken * flits, 6),
        "injected": int(marked.sum()),
        "by_waypoints": int((marked & (named > 0)).sum()),
        "delivered": int(came.sum()),
        "not_deliverable": int((marked & (named < 0)).sum()),
        "packet_latency": _summary(latency[came]),
        "packet_latency_plain": _summary(latency[came & (named == 0)]),
        "packet_latency_by_waypoints": _summary(latency[came & (named > 0)]),
        **dict(zip(COUNTS, course.counts.sum(axis=0).tolist(), strict=True)),
        "cycles": course.cycle,
        "seconds": round(time.perf_counter() - started, 3),
    }


def _summary(latency: Integers) -> dict[str, float] | None:
    return summarise(np.bincount(latency)) if len(latency) else None


def _sends(
    model: FabricModel, relays: RelaySpec, faults: Faults, load: LoadSpec, cycles: int
) -> tuple[Sends, Integers]:
    """Return the packets of a load, and how many waypoints each names; -1 for those that cannot be delivered."""
    plan = model.plan
    detours, nodes = Detours(RouteTable(plan), faults), plan.network.num_nodes
    messages = load.on(plan.network, model.timing.packet_length).window(cycles).of_sources(~faults.nodes)
    order = np.argsort(messages.source, kind="stable")
    source, destination = messages.source[order], messages.destination[order]
    first = np.searchsorted(source, np.arange(nodes + 1))
    address = [int(plan.address.of_node(node)) for node in range(nodes)]
    stops: list[tuple[int, ...]] = []
    named = np.empty(len(source), np.int64)
    for node in range(nodes):
        own = range(first[node], first[node + 1])
        ways = detours.choose(node, relays.waypoints, two_way=True) if own else []
        for number in own:
            target = int(destination[number])
            way = ways[target]
            named[number] = -1 if way is None else len(way)
            stops.append(tuple(address[stop] for stop in (*(way or ()), target)))
    return Sends(first, stops, messages.cycle[order]), named
