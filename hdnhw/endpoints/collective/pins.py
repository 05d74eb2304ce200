"""What an engine is told about its neighbors."""

from hdnhw.endpoints.collective.format_engines import engines_of
from hdnhw.endpoints.collective.stepper import neighbor_pins
from hdnhw.machine.machine import Machine


def node_pins(machine: Machine) -> dict[str, int]:
    """Return the inputs of an engine of :func:`place_of`, and how many bits each takes."""
    return {name: width for name, (_, width) in place_of(machine, 0).items()}


def place_of(machine: Machine, node: int) -> dict[str, tuple[int, int]]:
    """Return what the engine of a node is told of its neighbors, by the names of its inputs: constants, and widths.

    `P_neighbor` is the packed address of the neighbor by port P, 0 if there is none, `P_present` whether there is one.
    P is a link in pairs too, see :class:`hdnhw.collectives.program.Link`.
    """
    told, layout, neighbors = dict[str, tuple[int, int]](), machine.address, machine.network.neighbors(node)
    for part in engines_of(machine).parts:
        if engines_of(part).spec.in_registers:
            program = engines_of(part).register_program
            for port, name in neighbor_pins(program).items():
                there = neighbors.get(program.network.ports[port].name)
                told[name] = (0 if there is None else layout.of_node(there), layout.width)
            continue
        pairs = {name: int(nodes[node]) for name, nodes in engines_of(part).program.behind.items()}
        behind = {**neighbors, **{name: there for name, there in pairs.items() if there >= 0}}
        for name in engines_of(part).program.used:
            told[f"{name}_present"] = (int(name in behind), 1)
            told[f"{name}_neighbor"] = (layout.of_node(behind[name]) if name in behind else 0, layout.width)
    return told
