"""The registers of long channels: what a channel carries comes in the phase in which its other end looks at it.

What is claimed of the outputs of a router is what is assumed of the inputs of the next. That holds of channels without
registers between the two, and of those with as many as the slots of the two are apart, whole slots aside. What a narrow
channel takes is not counted here: :mod:`hdnhw.proofs.narrow` claims it of the text.
"""

from collections.abc import Iterator
from typing import Any

from hdnhw.proofs.finding import Finding
from hdnhw.proofs.netlist import Net, Netlist
from hdnhw.proofs.wiring import read_top
from hdnhw.verilog.fabric import EmittedFabric

_RESET = ("valid", "credit", "notice")
"""Beginnings of the names of what means something in every cycle, so that none of it may come out after a reset."""


class _PhaseError(Exception):
    """A channel whose ends do not agree."""


def prove_phases(fabric: EmittedFabric, modules: dict[str, Any] | None = None) -> Finding:
    """Count the registers of every channel in the text; compare them with the machine, and the phases at its ends.

    The `modules` are those of :func:`hdnhw.proofs.wiring.read_top`, which are read if they are not given.
    """
    count, why = 0, ""
    try:
        for _ in _agreeing(fabric, read_top(fabric) if modules is None else modules):
            count += 1
    except _PhaseError as error:
        why = str(error)
    module, method = fabric.modules.top, "comparison of all registers and phases"
    return Finding.compared("phases", module, "all channels", method=method, cases=count, why=why)


def _agreeing(fabric: EmittedFabric, modules: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield each channel of which both ends agree, up to one of which they do not."""
    machine, network = fabric.machine, fabric.machine.network
    if fabric.modules.reset:
        _check_reset(fabric.text, fabric.modules.reset, machine.spec.reset_registers)
    channels, length = machine.channels, machine.spec.packet_length
    stages = {
        port: _stages(fabric.text, module) if channels.intervals[port] == 1 else channels.stages[port]
        for port, module in fabric.modules.channels.items()
    }
    for number, (due, back) in enumerate(zip(channels.stages, channels.credit_stages, strict=True)):
        if (due - back) % length:
            raise _PhaseError(f"channels and credits by {network.ports[number].name} are not whole slots apart")
        if stages.get(number, 0) != due:
            raise _PhaseError(
                f"channels by {network.ports[number].name} have {stages.get(number, 0)} registers, not {due}"
            )
    cells = modules[fabric.modules.top]["cells"]
    odd = [cells[f"router_{node}"]["connections"].get("odd") == ["1"] for node in range(network.num_nodes)]
    for node in range(network.num_nodes):
        neighbors = network.neighbors(node)
        for number, port in enumerate(network.ports):
            there = neighbors.get(port.name)
            if there is None:
                continue
            # Of cut-through, a router looks half a slot sooner: at neighbors that begin half a slot sooner or later.
            apart = stages.get(number, 0) + machine.offset * (odd[there] - odd[node]) + machine.timing.offset
            if wrong := apart % length:
                raise _PhaseError(
                    f"what router_{node} sends by {port.name} comes {wrong} cycles behind the phase in which "
                    f"router_{there} looks for it"
                )
            yield node, number


def _stages(text: str, module: str) -> int:
    """Return the registers of a channel's module, the same from each of its inputs to an output."""
    netlist = Netlist(text, module, ())
    names, counts = netlist.names, set[int]()
    (reset,) = names["rst"]
    for out in netlist.outputs:
        is_reset = out.partition("__")[2].startswith(_RESET)
        given = "dead_i" if out == "dead_o" else f"{'o' if out.startswith('i') else 'i'}{out[1:]}"
        for net, begin in zip(names[out], names[given], strict=True):
            counts.add(_count(netlist, net, begin, f"{module}.{out}", reset=reset, is_reset=is_reset))
    if len(counts) != 1:
        raise _PhaseError(f"{module} has {' and '.join(map(str, sorted(counts)))} registers on its ways")
    return counts.pop()


def _check_reset(text: str, module: str, due: int) -> None:
    """Check that a router's reset comes as many cycles late as it should, and holds back the terminal meanwhile."""
    netlist = Netlist(text, module, ())
    ((rst,), (late,), (ready,), (taken,)) = (netlist.names[name] for name in ("rst", "o", "ready_i", "ready_o"))
    if (count := _count(netlist, late, rst, f"{module}.o", reset="")) != due:
        raise _PhaseError(f"{module} has {count} registers, not {due}")
    if _held(netlist, taken, late) != (ready, True):
        raise _PhaseError(f"{module}.ready_o is not ready_i without reset")


def _count(netlist: Netlist, net: Net, begin: Net, name: str, *, reset: Net, is_reset: bool = False) -> int:
    """Return the registers in a row between two nets, which a reset may clear and must if the row is reset."""
    count, seen = 0, set[Net]()
    while net != begin:
        kind, reads = netlist.sources.get(net, ("", []))
        held = _held(netlist, reads[0], reset) if kind == "register" and net not in seen else None
        seen.add(net)
        if held is None:
            raise _PhaseError(f"{name} does not come from registers alone")
        if is_reset and not held[1]:
            raise _PhaseError(f"{name} is not reset")
        net, count = held[0], count + 1
    return count


def _held(netlist: Netlist, net: Net, reset: Net) -> tuple[Net, bool] | None:
    """Return the net that gates pass on but for the reset, and whether that makes it 0; None if they do otherwise."""
    ends = set[Net]()

    def value(one: Net, values: dict[Net, bool], behind: tuple[Net, ...] = ()) -> bool:
        kind, reads = netlist.sources.get(one, ("", []))
        if kind in ("and", "not") and one not in behind:
            found = [value(each, values, (*behind, one)) for each in reads]
            return all(found) if kind == "and" else not found[0]
        ends.add(one)
        return values.get(one, False)

    value(net, {})
    others = ends - {reset, "0", "1"}
    if len(others) != 1:
        return None
    (other,) = others
    passed = [value(net, {"1": True, other: bit, reset: clears}) for clears in (False, True) for bit in (False, True)]
    if passed not in ([False, True, False, True], [False, True, False, False]):
        return None
    return other, not passed[3]
