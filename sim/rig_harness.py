"""The test bench around one router, in SystemVerilog: neighbors that keep the channel protocol and are not routers.

They send whenever they like and have a credit, to destinations that a file names for their port and virtual channel,
and give credits whenever they like for packets that they have; what means nothing in a cycle is random, and a reset may
come in any. What a router may never do is counted where it does it; what goes in and out is written to a log, which
:mod:`hdnhw.sim.rig_check` judges.

After some traffic the neighbors keep all credits until nothing moves, and then give them all until the router is
empty; or a reset comes in its midst.
"""

from hdnhw.fpga.harness import ports_of
from hdnhw.machine.crc import check_sets
from hdnhw.machine.machine import Machine
from hdnhw.proofs.netlist import text_of
from hdnhw.rtl.bits import index_width
from hdnhw.sim.rig_body import BODY
from hdnhw.verilog.fabric import EmittedFabric

DESTINATIONS = 64
"""Destinations in the files for each queue of a router."""

FLOOD = (1 << 16) + 8
"""Packets to nowhere that follow one another, to see the counter of dropped packets stay at its maximum."""

CLAIMS = {
    1: "begins or ends a packet within a slot",
    2: "sends before it can have a packet after a reset",
    3: "changes the virtual channel within a packet, or has none such",
    4: "sends a packet without a credit",
    5: "gives a credit for a packet that is not there",
    6: "tells something else ahead than it sends",
    7: "takes no flit within a gapless packet",
}
"""What the bench itself looks at, by the number in its log: of an output, an input or, the last, of injection."""

QUIET_SLOTS = 32
"""Slots without anything that moves, after which nothing is expected to."""


class Sizes:
    """What the bench of a router is told of it.

    Parameters
    ----------
    machine : Machine
    number : int
        Of the router's shape in the plan.

    Attributes
    ----------
    ports : tuple of int
        Its ports, as indices of those of the network; what follows numbers them from 0, and the terminal behind them.
    vcs : int
        Most virtual channels of any of them.
    queues : int
        Virtual channels of all inputs, each port having `vcs` of them, and injection.
    told : int
        Bits of a notice below its virtual channel.
    """

    def __init__(self, machine: Machine, number: int) -> None:
        self.machine, self.shape = machine, machine.plan.shapes[number]
        network, self.ports = machine.network, self.shape.ports
        num_vcs = machine.plan.num_vcs
        self.in_vcs = [num_vcs[network.ports[port].opposite] for port in self.ports]
        self.out_vcs = [num_vcs[port] for port in self.ports]
        self.vcs = max(*self.in_vcs, *self.out_vcs)
        self.queues = len(self.ports) * self.vcs + 1
        self.told = (
            2 + len(network.ports) + max(1, len(machine.plan.circuit_rule.vc)) if machine.timing.gives_notice else 2
        )

    def names(self) -> list[str]:
        """Return the names of the ports, the terminal last."""
        return [*(self.machine.network.ports[port].name for port in self.ports), "the terminal's port"]

    def constants(self, visits: int) -> dict[str, int]:
        """Return the parameters of the bench."""
        machine, timing, spec = self.machine, self.machine.timing, self.machine.spec
        length, channel = timing.packet_length, timing.channel_registers
        all_ports, stages = len(machine.network.ports), 3 + channel
        commit = timing.head_phase - stages + 1  # of the neighbors, in the phases of the router
        first = length - (spec.gapless_packets and timing.commit_phase == length - 1)
        packets = 2 * (len(self.ports) + 1) * max(machine.most_buffers, machine.ejection_buffers)
        return {
            "LENGTH": length,
            "WIDTH": spec.flit_width,
            "WORD": machine.word_width,
            "ADDRESS": machine.address.width,
            "ALL_PORTS": all_ports,
            "NEIGHBORS": all_ports * machine.address.width,
            "PORTS": len(self.ports),
            "VCS": self.vcs,
            "QUEUES": self.queues,
            "VISITS": visits,
            "DESTINATIONS": DESTINATIONS,
            "TOLD": self.told,
            "NOTICE": self.told + index_width(self.vcs),
            "NOISE": 32 * -(-max(machine.word_width, self.told + index_width(self.vcs)) // 32),
            "STAGES": stages,
            "DELAY": timing.hop_cycles - timing.channel_cycles - 1,
            "CUTS": timing.gives_notice,
            "OFFSET": machine.offset,
            "GAPLESS": spec.gapless_packets,
            "CRC": spec.crc,
            "DEAD": spec.dead_pins,
            "FLOODS": machine.address.has_holes,
            "FLOOD": FLOOD,
            "HEAD": timing.head_phase,
            "TAIL": timing.tail_phase,
            "CHOICE": (commit - 1) % length,
            "NOTICE_IN": commit % length,
            "NOTICE_OUT": timing.commit_phase,
            "CREDIT": timing.credit_phase,
            "IN_CREDIT": (timing.credit_phase + timing.offset) % length,
            "OUT_HEAD": timing.channel_cycles % length,
            "OUT_TAIL": (timing.channel_cycles - 1) % length,
            "FIRST_COMMIT": first,
            "FIRST_HEAD": first + stages - 1,
            "FILL_CYCLES": length * (QUIET_SLOTS + 2 * packets),
            "QUIET": length * QUIET_SLOTS + 32,
        }


def rig_text(fabric: EmittedFabric, number: int, visits: int) -> str:
    """Return the text of a router and the bench around it.

    Parameters
    ----------
    fabric : EmittedFabric
    number : int
        Of the router's shape in the plan.
    visits : int
        Places in the network that the files have for it.
    """
    machine, module = fabric.machine, fabric.modules.routers[number]
    router, sizes = text_of(fabric.files[f"{fabric.modules.top}.sv"], module), Sizes(fabric.machine, number)
    pins = _pins(sizes)
    there = {port.name for port in ports_of(router, module)}
    if there != set(pins):
        raise ValueError(f"{module} must have the pins of its shape, not {sorted(there ^ set(pins))} more or less")
    constants = "".join(
        f"  localparam integer {name} = {int(value)};\n" for name, value in sizes.constants(visits).items()
    )
    connections = ",\n    ".join(f".{pin}({wire})" for pin, wire in pins.items())
    head = "module bench (\n  input wire clk /* verilator public_flat_rw */,\n"
    head += "  output reg finished /* verilator public_flat_rw */\n);\n"
    router_text = f"\n  {module} dut (\n    {connections}\n  );\n"
    parts = [head, constants, _check(machine), BODY, router_text, _tasks(sizes), _unused(sizes, pins), "endmodule\n"]
    return f"{router}\n{''.join(parts)}"


def _pins(sizes: Sizes) -> dict[str, str]:
    """Return what is at each pin of a router."""
    machine = sizes.machine
    spec = machine.spec
    pins = {
        "clk": "clk",
        "rst": "rst",
        "address": "address",
        "inject__valid": "inject_valid",
        "inject__payload": "inject_data",
        "inject__ready": "inject_ready",
        "dropped": "dropped",
    }
    for number, name in enumerate(sizes.names()[:-1]):
        pins |= _channel(sizes, f"{name}_o__", sizes.out_vcs[number], f"out_{{}}[{number}]")
        pins |= _channel(sizes, f"{name}_i__", sizes.in_vcs[number], f"in_{{}}[{number}]")
        if spec.crc:
            pins[f"{name}_errors"] = f"errors[{number}]"
    eject = _channel(sizes, "eject__", 1, f"out_{{}}[{len(sizes.ports)}]")
    pins |= {name: wire for name, wire in eject.items() if name != "eject__notice"}
    if machine.timing.gives_notice:
        pins["neighbors"] = "neighbors"
    if machine.offset:
        pins["odd"] = "odd"
    if spec.gapless_packets:
        pins["paused"] = "paused"
    if spec.dead_pins:
        pins |= {"dead_o": "dead_o", "dead_i": "dead_i", "lost": "lost"}
    return pins


def _channel(sizes: Sizes, name: str, vcs: int, wire: str) -> dict[str, str]:
    machine = sizes.machine
    width = machine.spec.flit_width
    pins = {
        "valid": wire.format("valid"),
        "data": f"{wire.format('word')}[{width - 1}:0]",
        "credit": f"{wire.format('credit')}[{vcs - 1}:0]",
    }
    if machine.spec.crc:
        pins["check"] = f"{wire.format('word')}[{machine.word_width - 1}:{width}]"
    if vcs > 1:
        pins["vc"] = f"{wire.format('vc')}[{index_width(vcs) - 1}:0]"
    if machine.timing.gives_notice:
        pins["notice"] = f"{wire.format('notice')}[{sizes.told + index_width(vcs) - 1}:0]"
    return {f"{name}{member}": connected for member, connected in pins.items()}


def _unused(sizes: Sizes, pins: dict[str, str]) -> str:
    """Return assignments of 0 to the bits of wires that no pin drives."""
    most = sizes.told + index_width(sizes.vcs)
    wires = [wire for wire in ("paused", "lost") if wire not in pins]
    for number in range(len(sizes.ports)):
        wires += [] if sizes.machine.spec.crc else [f"errors[{number}]"]
        wires.append(f"out_vc[{number}][7:{index_width(sizes.out_vcs[number]) if sizes.out_vcs[number] > 1 else 0}]")
        used = sizes.told + index_width(sizes.out_vcs[number]) if sizes.machine.timing.gives_notice else 0
        wires += [f"out_notice[{number}][{most - 1}:{used}]"] if used < most else []
    return "".join(f"  assign {wire} = 0;\n" for wire in wires)


def _tasks(sizes: Sizes) -> str:
    """Return the task that says how large everything is."""
    machine, lines = sizes.machine, []
    for number, (port, ins, outs) in enumerate(zip(sizes.ports, sizes.in_vcs, sizes.out_vcs, strict=True)):
        lines += [
            f"port_of[{number}] = {port};",
            f"in_vcs[{number}] = {ins};",
            f"in_slots[{number}] = {machine.input_buffers(port)};",
            f"out_vcs[{number}] = {outs};",
            f"out_slots[{number}] = {machine.vc_buffers(port)};",
        ]
    local = len(sizes.ports)
    lines += [f"out_vcs[{local}] = 1;", f"out_slots[{local}] = {machine.ejection_buffers};"]
    return "  task sizes;\n    begin\n" + "".join(f"      {line}\n" for line in lines) + "    end\n  endtask\n"


def _check(machine: Machine) -> str:
    """Return the function that puts check bits above a flit, as :mod:`hdnhw.machine.crc` makes them."""
    lines = ["with_check = 0;", "with_check[WIDTH-1:0] = flit;"]
    if machine.spec.crc:
        width = machine.spec.flit_width
        for place, own in enumerate(check_sets(width)):
            mask = sum(1 << position for position in own)
            lines.append(f"with_check[{width + place}] = ~^(flit & {width}'h{mask:x});")
    body = "".join(f"      {line}\n" for line in lines)
    head = "function automatic [WORD-1:0] with_check(input [WIDTH-1:0] flit);"
    return f"\n  {head}\n    begin\n{body}    end\n  endfunction\n"
