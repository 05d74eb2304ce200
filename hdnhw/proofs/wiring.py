"""The composition of an emitted fabric: each channel joins the two routers that it joins in the network."""

from collections.abc import Iterator
from typing import Any

from hdnhw.proofs.finding import Finding
from hdnhw.proofs.netlist import Net, read_modules
from hdnhw.rtl.router import node_pins
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.fabric import EmittedFabric

__all__ = ["prove_wiring"]

_COUNTS = ("dropped", "lost", "paused", "bad")
"""Outputs of routers and ejection buffers that the fabric has for each node."""


class _WiringError(Exception):
    """A pin that is joined to something else."""


def prove_wiring(fabric: EmittedFabric) -> Finding:
    """Compare all pins of all routers and ejection buffers with the network."""
    top = fabric.modules.top
    modules = read_modules(fabric.files["fabric.sv"], top, "proc\nopt_clean")
    nodes, pins, why = fabric.machine.network.num_nodes, 0, ""
    try:
        pins = _Wiring(fabric, modules[top]).check()
    except _WiringError as error:
        why = str(error)
    return Finding(
        property="wiring",
        module=top,
        part=f"{nodes} routers, {nodes} ejection buffers",
        answer="refuted" if why else "proved",
        method="comparison of all pins",
        cases=pins,
        why=why,
    )


class _Wiring:
    """The pins of the instances in a fabric's top level."""

    def __init__(self, fabric: EmittedFabric, module: dict[str, Any]) -> None:
        self._fabric, self._machine = fabric, fabric.machine
        self._cells = module["cells"]
        self._ports: dict[str, list[Net]] = {name: port["bits"] for name, port in module["ports"].items()}
        self._seen: set[tuple[str, str]] = set()

    def check(self) -> int:
        """Return how many pins were compared; of each all bits are.

        Raises
        ------
        _WiringError
            If one is joined to something else than it should be, or to nothing.
        """
        network, plan = self._machine.network, self._machine.plan
        neighbors = neighbor_table(network)
        for node in range(network.num_nodes):
            router, shape = f"router_{node}", plan.shape_of(node)
            self._check_kind(router, self._fabric.modules.routers[plan.shapes.index(shape)])
            self._check_kind(f"ejection_{node}", self._fabric.modules.ejection)
            for port in shape.ports:
                self._check_channel(router, port, int(neighbors[node, port]))
            self._check_terminal(node)
            self._check_constants(node)
        self._check_rest()
        return len(self._seen)

    def _check_kind(self, cell: str, kind: str) -> None:
        if cell not in self._cells or self._cells[cell]["type"] != kind:
            raise _WiringError(f"there is no instance {cell} of {kind}")

    def _pin(self, cell: str, pin: str) -> list[Net]:
        """Return the nets of a pin, and note that it was looked at."""
        pins = self._cells[cell]["connections"]
        if pin not in pins:
            raise _WiringError(f"{cell} has no pin {pin}")
        self._seen.add((cell, pin))
        bits: list[Net] = pins[pin]
        return bits

    def _join(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        """Check that two pins are the same nets, none of them a constant."""
        bits = self._pin(*one)
        if bits != self._pin(*other) or not all(isinstance(bit, int) for bit in bits):
            raise _WiringError(f"{'.'.join(one)} is not joined to {'.'.join(other)}")

    def _lead(self, pin: tuple[str, str], port: str) -> None:
        """Check that a pin is a port of the fabric."""
        if port not in self._ports or self._pin(*pin) != self._ports[port]:
            raise _WiringError(f"{'.'.join(pin)} is not the port {port}")

    def _check_channel(self, router: str, port: int, neighbor: int) -> None:
        """Check the channel that leaves a router by a port: what leads there, and the credits back."""
        ports = self._machine.network.ports
        here, there = f"{ports[port].name}_o__", f"{ports[ports[port].opposite].name}_i__"
        members = [pin.removeprefix(here) for pin in self._cells[router]["connections"] if pin.startswith(here)]
        if not {"valid", "data", "credit"} <= set(members):
            raise _WiringError(f"{router} has no channel {ports[port].name}")
        for member in members:
            self._join((router, here + member), (f"router_{neighbor}", there + member))

    def _check_terminal(self, node: int) -> None:
        router, ejection = f"router_{node}", f"ejection_{node}"
        members = [pin.removeprefix("eject__") for pin in self._cells[router]["connections"] if pin[:7] == "eject__"]
        for member in members:
            self._join((router, f"eject__{member}"), (ejection, f"channel__{member}"))
        for side, cell in (("inject", router), ("eject", ejection)):
            for wire in ("payload", "valid", "ready"):
                self._lead((cell, f"{side}__{wire}"), f"{side}_{node}_{wire}")
        for cell in (router, ejection):
            for pin in ("clk", "rst"):
                self._lead((cell, pin), pin)
            for count in set(_COUNTS) & set(self._cells[cell]["connections"]):
                self._lead((cell, count), f"{count}_{node}")

    def _check_constants(self, node: int) -> None:
        for name, (value, width) in node_pins(self._machine, node).items():
            found = self._pin(f"router_{node}", name)
            if found != [str(value >> place & 1) for place in range(width)]:
                raise _WiringError(f"router_{node}.{name} is not {value:#x}")

    def _check_rest(self) -> None:
        """Check that no pin is left but those that tell of dead channels and of errors, and no other instance."""
        for cell, pin in self._left():
            if not (pin in {"dead_i", "dead_o"} or pin.endswith("_errors")):
                raise _WiringError(f"{cell}.{pin} is not known")

    def _left(self) -> Iterator[tuple[str, str]]:
        for name, cell in self._cells.items():
            if cell["type"].startswith("$"):
                continue
            if not name.startswith(("router_", "ejection_")) or not name.split("_")[1].isdecimal():
                raise _WiringError(f"{name} is not known")
            yield from ((name, pin) for pin in cell["connections"] if (name, pin) not in self._seen)
