"""The pins by which an engine is told about its neighbors."""

from hdnhw.machine import Machine
from hdnhw.rtl.collective.stepper import neighbor_pins


def node_pins(machine: Machine) -> dict[str, int]:
    """Return the pins of an engine that say which neighbors it has, and how many bits each takes.

    `P_neighbor` is the packed address of the neighbor by port P, `P_present` whether there is one; both are constant. P
    is a link in pairs too, see :class:`hdnhw.collectives.program.Link`.
    """
    pins, address = dict[str, int](), machine.address.width
    for part in machine.parts:
        if part.in_registers:
            pins |= dict.fromkeys(neighbor_pins(part.register_program).values(), address)
            continue
        for name in part.program.used:
            pins |= {f"{name}_present": 1, f"{name}_neighbor": address}
    return pins


def neighbors_of(machine: Machine, node: int) -> dict[str, int]:
    """Return the node behind each P of :func:`node_pins`; without those that a node lacks."""
    behind = dict(machine.network.neighbors(node))
    for part in machine.parts:
        if not part.in_registers:
            pairs = {name: int(nodes[node]) for name, nodes in part.program.behind.items()}
            behind |= {name: neighbor for name, neighbor in pairs.items() if neighbor >= 0}
    return behind
