"""What a page holds of a network: plain values, and arrays of numbers as text."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.executor import execute
from hdnhw.collectives.schedule import Schedule
from hdnhw.figures.edges import edges_of
from hdnhw.figures.explorer.script import conditions_of
from hdnhw.figures.frames import frames_of
from hdnhw.figures.picture import edge_color, edge_text, node_classes
from hdnhw.machine.machine import Machine
from hdnhw.measurement.record import Record
from hdnhw.rules.plan import RoutingPlan
from hdnhw.topology.address import AddressLayout
from hdnhw.topology.graph import Network
from hdnhw.topology.metrics import neighbor_table
from hdnhw.topology.places import RADIUS, layout

PAD, STEP = RADIUS + 9, 9
"""Space around the nodes of a cluster, pixels, and how much more around each level above."""

Data = dict[str, Any]


def packed(values: Any, kind: str) -> Data:
    """Return numbers as text: the base64 of little-endian ones of a kind, as numpy names it: ``u2``, ``i4``, ``f4``."""
    array: npt.NDArray[Any] = np.ascontiguousarray(values, np.dtype(f"<{kind}"))
    return {"kind": kind, "base64": b64encode(array.tobytes()).decode("ascii")}


def network_data(network: Network) -> Data:
    """Return nodes, their places, labels and clusters, and edges."""
    block = layout(network)
    edges = edges_of(network, block.places)
    addresses = [network.format_node(node) for node in range(network.num_nodes)]
    paper = [network.paper_address(node) for node in range(network.num_nodes)]
    colors = {edge_text(network, port): edge_color(port) for _, _, port, _ in edges}
    kinds = list(colors)
    return {
        "spec": str(network.spec),
        "nodes": network.num_nodes,
        "ports": [port.name for port in network.ports],
        "opposite": [port.opposite for port in network.ports],
        "neighbors": packed(neighbor_table(network), "i2"),
        "address": packed(AddressLayout(network).of_nodes, "i4"),
        "addresses": addresses,
        "paperAddresses": None if paper == addresses else paper,
        "places": packed(block.places, "f4"),
        "radius": RADIUS,
        "edges": {
            "one": packed([edge[0] for edge in edges], "u2"),
            "other": packed([edge[1] for edge in edges], "u2"),
            "kind": packed([kinds.index(edge_text(network, edge[2])) for edge in edges], "u1"),
            "bend": packed([edge[3] for edge in edges], "f4"),
        },
        "edgeKinds": [{"text": kind, "color": color} for kind, color in colors.items()],
        "classes": [
            sum(bit << place for place, bit in enumerate(node_classes(network, node)))
            for node in range(network.num_nodes)
        ],
        "levels": len(node_classes(network, 0)),
        "clusters": _clusters(addresses, block.places),
    }


def _clusters(addresses: list[str], places: npt.NDArray[np.float64]) -> list[Data]:
    """Return a frame around the nodes whose addresses begin with the same parts, for each number of parts but all."""
    inner = len(addresses[0].split("/")) - 1
    found = [
        frame
        for depth in range(1, inner + 1)
        for frame in frames_of(addresses, places, depth, PAD + STEP * (inner - depth))
    ]
    return [frame._asdict() | {"box": [round(float(value), 1) for value in frame.box]} for frame in found]


def routing_data(plan: RoutingPlan) -> Data:
    """Return what is said of a rule that has been proved; the rule itself is in the script."""
    return {
        "modes": plan.modes,
        "lanes": plan.lanes,
        "laneBits": (plan.lanes - 1).bit_length(),
        "vcs": list(plan.num_vcs),
        "proof": str(plan.proof),
    }


def schedule_data(schedules: Mapping[str, Schedule]) -> list[Data]:
    """Return the steps of schedules: the port and the number of the condition of each send, and the words of a step."""
    found = []
    for name, schedule in schedules.items():
        numbers = {term.index: number for number, term in enumerate(conditions_of(schedule))}
        counted = execute(schedule, all_port=False)
        found.append(
            {
                "op": name,
                "name": schedule.name,
                "root": schedule.root,
                "copies": schedule.copies,
                "steps": [
                    {"stage": step.stage, "sends": [[send.port, numbers[send.when.index]] for send in step.sends]}
                    for step in schedule.steps
                ],
                "words": list(counted.words_per_step),
            }
        )
    return found


def packet_data(machine: Machine, kept: Record, load: Data) -> Data:
    """Return a record of packets, the timing of the machine, and its buffers."""
    plan, timing = machine.plan, machine.timing
    vcs = [plan.num_vcs[port.opposite] for port in plan.network.ports]
    return {
        "load": load,
        "length": timing.packet_length,
        "sample": timing.sample_phase,
        "hopSlots": machine.hop_slots,
        "cycles": kept.cycles,
        "count": len(kept.source),
        "inputVcs": vcs,
        "buffers": [machine.input_buffers(port) for port in range(len(vcs))],
        "injectionBuffers": machine.injection_buffers,
        "source": packed(kept.source, "u2"),
        "destination": packed(kept.destination, "u2"),
        "created": packed(kept.created, "i4"),
        "head": packed(kept.head, "i4"),
        "ready": packed(kept.ready, "i4"),
        "tail": packed(kept.tail, "i4"),
        "first": packed(np.cumsum([0, *map(len, kept.left)]), "i4"),
        "left": packed([slot for slots in kept.left for slot in slots], "i4"),
    }
