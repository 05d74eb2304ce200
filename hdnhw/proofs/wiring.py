"""The composition of an emitted fabric: each channel joins the two routers that it joins in the network."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from hdnhw.machine.monitor import MonitorMap
from hdnhw.proofs.finding import Finding
from hdnhw.proofs.netlist import Net, read_modules
from hdnhw.rtl.check_bits import ERRORS_WIDTH
from hdnhw.rtl.monitor.chain import ChainSignature
from hdnhw.rtl.router import node_pins
from hdnhw.topology.metrics import neighbor_table
from hdnhw.verilog.chips import EmittedChips
from hdnhw.verilog.endpoint import MONITOR
from hdnhw.verilog.fabric import EmittedFabric

_COUNTS = ("dropped", "paused", "bad")
"""Outputs of routers and ejection buffers that the fabric has for each node."""


class _WiringError(Exception):
    """A pin that is joined to something else."""


def read_top(fabric: EmittedFabric) -> dict[str, Any]:
    """Return the modules of a bare fabric, as :func:`hdnhw.proofs.netlist.read_modules` does."""
    return read_modules(fabric.text, fabric.modules.top, "proc\nopt_clean")


def prove_wiring(fabric: EmittedFabric, modules: dict[str, Any] | None = None) -> Finding:
    """Compare all pins of all routers and ejection buffers with the network, in modules that have been read or are."""
    top, modules = fabric.modules.top, read_top(fabric) if modules is None else modules
    nodes, pins, why = fabric.machine.network.num_nodes, 0, ""
    try:
        pins = _Wiring(fabric, modules).check()
    except _WiringError as error:
        why = str(error)
    part = f"{nodes} routers, {nodes} ejection buffers"
    return Finding.compared("wiring", top, part, method="comparison of all pins", cases=pins, why=why)


def prove_chip_wiring(fabric: EmittedFabric) -> Finding:
    """Compare all pins of all routers, ejection buffers and bridges of a chip with the part of the network on it."""
    chips, pins, why = fabric.chips, 0, ""
    assert chips is not None
    modules = read_modules(f"{fabric.text}\n{fabric.files[chips.file]}", chips.chip, "proc\nopt_clean")
    try:
        pins = _ChipWiring(fabric, modules, chips).check()
    except _WiringError as error:
        why = str(error)
    part = f"{chips.chips.num_places} routers, {len(chips.bridges)} bridges"
    return Finding.compared("chips", chips.chip, part, method="comparison of all pins", cases=pins, why=why)


class _Wiring:
    """The pins of the instances in a fabric's top level.

    Attributes
    ----------
    KNOWN : str
        Pattern of the names of instances.
    """

    KNOWN = r"(router|ejection|reset)_\d+|long_channel_\d+_\w+|monitor"

    def __init__(self, fabric: EmittedFabric, modules: dict[str, Any], top: str = "") -> None:
        self._fabric, self._machine, self._modules = fabric, fabric.machine, modules
        module = modules[top or fabric.modules.top]
        self._cells = module["cells"]
        self._ports: dict[str, list[Net]] = {name: port["bits"] for name, port in module["ports"].items()}
        self._seen: set[tuple[str, str]] = set()
        self._told: set[str] = set()

    def check(self) -> int:
        """Return how many pins were compared; of each all bits are.

        Raises
        ------
        _WiringError
            If one is joined to something else than it should be, or to nothing.
        """
        plan = self._machine.plan
        for node, own in enumerate(self._nodes):
            router, shape = f"router_{node}", plan.shape_of(own)
            self._check_kind(router, self._fabric.modules.routers[plan.shapes.index(shape)])
            self._check_kind(f"ejection_{node}", self._fabric.modules.ejection)
            for port in shape.ports:
                if self._neighbors[node, port] >= 0:
                    self._check_channel(router, port, int(self._neighbors[node, port]))
            self._check_terminal(node)
            self._check_constants(node)
            if self._machine.spec.dead_pins:
                self._check_dead(node)
            if self._machine.spec.crc:
                self._check_errors(node)
        if self._machine.spec.monitor:
            self._check_monitor()
        self._check_rest()
        return len(self._seen)

    @cached_property
    def _nodes(self) -> list[int]:
        """The node of each router."""
        return list(range(self._machine.network.num_nodes))

    @cached_property
    def _neighbors(self) -> Any:
        """The router behind each port of each router, -1 if none of these is."""
        return neighbor_table(self._machine.network)

    def _check_kind(self, cell: str, kind: str) -> None:
        if cell not in self._cells or self._cells[cell]["type"] != kind:
            raise _WiringError(f"there is no instance {cell} of {kind}")

    def _pin(self, cell: str, pin: str) -> list[Net]:
        """Return the nets of a pin, and note that it was looked at; it must not be open."""
        pins = self._cells[cell]["connections"]
        if pin not in pins:
            raise _WiringError(f"{cell} has no pin {pin}")
        if not pins[pin]:
            raise _WiringError(f"nothing is joined to {cell}.{pin}")
        self._seen.add((cell, pin))
        bits: list[Net] = pins[pin]
        return bits

    def _join(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        """Check that two pins are the same nets; Yosys refuses a text in which an output is a constant."""
        if self._pin(*one) != self._pin(*other):
            raise _WiringError(f"{'.'.join(one)} is not joined to {'.'.join(other)}")

    def _lead(self, pin: tuple[str, str], port: str) -> None:
        """Check that a pin is a port of the fabric."""
        if self._pin(*pin) != self._port(port):
            raise _WiringError(f"{'.'.join(pin)} is not the port {port}")

    def _port(self, name: str) -> list[Net]:
        """Return the nets of a port of the fabric, and note that it was looked at; none if there is no such port."""
        self._told.add(name)
        return self._ports.get(name, [])

    def _check_channel(self, router: str, port: int, neighbor: int) -> None:
        """Check the channel that leaves a router by a port: what leads there, and the credits back."""
        ports = self._machine.network.ports
        here, there = f"{ports[port].name}_o__", f"{ports[ports[port].opposite].name}_i__"
        members, end, begin = self._members(router, here), f"router_{neighbor}", (router, here)
        if port in self._fabric.modules.channels:
            long = f"long_channel_{router.removeprefix('router_')}_{ports[port].name}"
            self._check_kind(long, self._fabric.modules.channels[port])
            self._check_clock(long, int(router.removeprefix("router_")))
            for member in members:
                self._join((router, here + member), (long, f"i__{member}"))
            begin = long, "o__"
        for member in members:
            self._join((begin[0], begin[1] + member), (end, there + member))

    def _members(self, cell: str, start: str) -> list[str]:
        """Return the wires of a channel: the pins of a module whose names begin alike."""
        found = [pin.removeprefix(start) for pin in self._pins_of(cell) if pin.startswith(start)]
        if not {"valid", "data", "credit"} <= set(found):
            raise _WiringError(f"{cell} has no channel {start.strip('_')}")
        return found

    def _pins_of(self, cell: str) -> Iterable[str]:
        kind = self._cells[cell]["type"]
        if kind not in self._modules:
            raise _WiringError(f"{cell} is a {kind}, of which there is no text")
        pins: Iterable[str] = self._modules[kind]["ports"]
        return pins

    def _check_terminal(self, node: int) -> None:
        router, ejection = f"router_{node}", f"ejection_{node}"
        for member in self._members(router, "eject__"):
            self._join((router, f"eject__{member}"), (ejection, f"channel__{member}"))
        ready = self._check_reset(node)
        for side, cell in (("inject", router), ("eject", ejection)):
            for wire in ("payload", "valid", "ready"):
                if cell != router or wire != "ready" or not ready:
                    self._lead((cell, f"{side}__{wire}"), f"{side}_{node}_{wire}")
        for cell in (router, ejection):
            self._check_clock(cell, node)
            for count in set(_COUNTS) & set(self._pins_of(cell)):
                self._lead((cell, count), f"{count}_{node}")

    def _check_reset(self, node: int) -> bool:
        """Check the registers of a router's reset, and how they hold back its terminal; return whether it has any."""
        reset, module = f"reset_{node}", self._fabric.modules.reset
        if not module:
            return False
        self._check_kind(reset, module)
        for pin in ("clk", "rst"):
            self._lead((reset, pin), pin)
        self._join((f"router_{node}", "inject__ready"), (reset, "ready_i"))
        self._lead((reset, "ready_o"), f"inject_{node}_ready")
        return True

    def _check_clock(self, cell: str, node: int) -> None:
        """Check the clock of what is at a node, and its reset."""
        self._lead((cell, "clk"), "clk")
        if self._fabric.modules.reset:
            self._join((cell, "rst"), (f"reset_{node}", "o"))
        else:
            self._lead((cell, "rst"), "rst")

    def _check_monitor(self) -> None:
        """Check the chain through all routers by which a monitor is read, and that its bus is that of the fabric."""
        self._check_kind("monitor", self._fabric.modules.monitor)
        for pin in self._pins_of("monitor"):
            side, _, member = pin.partition("__")
            if side == "axi":
                self._lead(("monitor", pin), f"{MONITOR}{member}")
            elif not member:
                self._lead(("monitor", pin), pin)
        ends = [("monitor", "o"), *((f"router_{node}", "monitor_o") for node in range(len(self._nodes)))]
        for node, (cell, end) in enumerate(ends):
            there, begin = (f"router_{node}", "monitor_i") if node < len(self._nodes) else ("monitor", "i")
            for member in ChainSignature(MonitorMap.of(self._machine)).members:
                self._join((cell, f"{end}__{member}"), (there, f"{begin}__{member}"))

    def _check_constants(self, node: int) -> None:
        for name, due in self._constants(node).items():
            if self._pin(f"router_{node}", name) != due:
                digits = "".join(map(str, reversed(due)))
                said = f"{int(digits, 2):#x}" if set(digits) <= {"0", "1"} else "the chip's number and its place there"
                raise _WiringError(f"router_{node}.{name} is not {said}")

    def _constants(self, node: int) -> dict[str, list[Net]]:
        """Return what each pin must be that tells a router of its place."""
        pins = node_pins(self._machine, self._nodes[node])
        return {name: [str(value >> place & 1) for place in range(width)] for name, (value, width) in pins.items()}

    def _check_dead(self, node: int) -> None:
        """Check which ports of the fabric say that a channel is dead: at either end the same ones."""
        said = [self._said_dead(node, number) for number in range(len(self._machine.network.ports))]
        for pin, end in (("dead_o", 0), ("dead_i", 1)):
            for number, net in enumerate(self._pin(f"router_{node}", pin)):
                if self._any_of(net) != said[number][end]:
                    raise _WiringError(f"router_{node}.{pin}[{number}] is not whether that channel is dead")
        self._lead((f"router_{node}", "lost"), f"lost_{node}")

    def _said_dead(self, node: int, number: int) -> tuple[set[Net], set[Net]]:
        """Return what says that the channel which leaves a router by a port is dead, and what of that which comes."""
        ports, other = self._machine.network.ports, int(self._neighbors[node, number])
        if other < 0:
            return set(), set()
        either, port = {self._dead(node, len(ports)), self._dead(other, len(ports))}, ports[number]
        leaves, comes = either | {self._dead(node, number)}, either | {self._dead(other, port.opposite)}
        if number in self._fabric.modules.channels:  # it is told as late as flits come
            cells = [f"long_channel_{node}_{port.name}", f"long_channel_{other}_{ports[port.opposite].name}"]
            told = self._pin(cells[0], "dead_i")
            if self._any_of(told[0]) != leaves:
                raise _WiringError(f"{cells[0]}.dead_i is not whether that channel is dead")
            comes = set(self._pin(cells[1], "dead_o"))
        return leaves, comes

    def _dead(self, node: int, bit: int) -> Net:
        bits = self._port(f"dead_{node}")
        if bit >= len(bits):
            raise _WiringError(f"dead_{node} is no port of {bit + 1} bits")
        return bits[bit]

    def _any_of(self, net: Net) -> set[Net]:
        """Return the nets of which one net is the OR, through gates of one bit."""
        if net == "0":
            return set()
        cell = self._drivers.get(net)
        if cell is None or len(cell["Y"]) != 1:
            return {net}
        return self._any_of(cell["A"][0]) | self._any_of(cell["B"][0])

    @cached_property
    def _drivers(self) -> dict[Net, dict[str, list[Net]]]:
        gates = (cell for cell in self._cells.values() if cell["type"] == "$or")
        return {gate["connections"]["Y"][0]: gate["connections"] for gate in gates}

    def _check_errors(self, node: int) -> None:
        """Check that what ports have counted is told in their order; of ports that are not there, nothing."""
        due: list[Net] = []
        for number, port in enumerate(self._machine.network.ports):
            is_there = number in self._machine.plan.shape_of(self._nodes[node]).ports
            due += self._pin(f"router_{node}", f"{port.name}_errors") if is_there else ["0"] * ERRORS_WIDTH
        if self._port(f"errors_{node}") != due:
            raise _WiringError(f"errors_{node} is not what the ports of router_{node} have counted")

    def _check_rest(self) -> None:
        """Check that no pin, port or cell is left."""
        for name, cell in self._cells.items():
            if cell["type"].startswith("$"):
                if cell["type"] != "$or" or not self._machine.spec.dead_pins:
                    raise _WiringError(f"{name} is a {cell['type']}")
            elif not re.fullmatch(self.KNOWN, name):
                raise _WiringError(f"{name} is not known")
            else:
                for pin in {*self._pins_of(name), *cell["connections"]}:
                    if (name, pin) not in self._seen:
                        raise _WiringError(f"{name}.{pin} is not known")
        for port in self._ports.keys() - self._told:
            raise _WiringError(f"port {port} is not known")


class _ChipWiring(_Wiring):
    """The pins of the instances in a chip."""

    KNOWN = rf"{_Wiring.KNOWN}|bridge_\d+"

    def __init__(self, fabric: EmittedFabric, modules: dict[str, Any], chips: EmittedChips) -> None:
        super().__init__(fabric, modules, chips.chip)
        self._chips, self._bridges = chips.chips, chips.bridges

    @cached_property
    def _nodes(self) -> list[int]:
        nodes: list[int] = self._chips.nodes[0].tolist()
        return nodes

    @cached_property
    def _neighbors(self) -> Any:
        return self._chips.inside

    def _constants(self, node: int) -> dict[str, list[Net]]:
        chip, bits, address = self._port("chip"), self._chips.chip_bits, self._chips.address_at(node)
        if len(chip) != len(bits):
            raise _WiringError(f"chip is no port of {len(bits)} bits")
        own = [
            chip[bits.index(bit)] if bit in bits else str(address >> bit & 1)
            for bit in range(self._machine.address.width)
        ]
        return super()._constants(node) | {"address": own}

    def _said_dead(self, node: int, number: int) -> tuple[set[Net], set[Net]]:
        links = {end: link for link, each in enumerate(self._chips.links) for end in each.ends}
        if (node, number) not in links:
            return super()._said_dead(node, number)
        own = {self._dead(node, number), self._dead(node, len(self._machine.network.ports))}
        return own | set(self._port(f"link_{links[node, number]}_dead")), set()

    def check(self) -> int:
        ports = self._machine.network.ports
        for number, (link, kind) in enumerate(zip(self._chips.links, self._bridges, strict=True)):
            bridge = f"bridge_{number}"
            self._check_kind(bridge, kind)
            self._check_clock(bridge, link.ends[0][0])
            for channel, (node, port) in enumerate(link.ends):
                router = f"router_{node}"
                for here, there in ((f"{ports[port].name}_o__", "from"), (f"{ports[port].name}_i__", "to")):
                    for member in self._members(router, here):
                        self._join((router, here + member), (bridge, f"{there}_{channel}__{member}"))
            for pin in self._pins_of(bridge):
                if (bridge, pin) not in self._seen:
                    self._lead((bridge, pin), f"link_{number}_{pin.replace('__', '_')}")
        return super().check()
