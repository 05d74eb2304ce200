"""Record what a short piece of traffic does at the terminals and on the channels of the emitted Verilog."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from hdnhw.figures.waveform import Bit, Bus, Lane
from hdnhw.fpga.tools import ToolError
from hdnhw.machine.flit import FlitFormat
from hdnhw.sim.simulator import Build, control_text
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.verilog.fabric import emit_fabric

POSITION_BITS, PACKET_BITS = 8, 5
"""A flit carries its position and its packet's number, counted from 1, in its most significant bits."""


@dataclass(frozen=True)
class Packet:
    """A packet to send.

    Attributes
    ----------
    source, destination : int
        Nodes.
    cycle : int
        Cycle from which it is offered, behind the earlier packets of its source.
    """

    source: int
    destination: int
    cycle: int


@dataclass(frozen=True)
class Traces:
    """What the wires of the top level did.

    Attributes
    ----------
    wires : dict of str to list of int
        Wire -> its value in each cycle; cycle 0 is the first without reset.
    flits : FlitFormat
    """

    wires: dict[str, list[int]]
    flits: FlitFormat

    @property
    def cycles(self) -> int:
        """Cycles recorded."""
        return len(self.wires["rst"])

    def packet_at(self, data: str, cycle: int) -> tuple[int, int]:
        """Return (number of the packet, position in it) of the flit on wire `data`."""
        word = self.wires[data][cycle] >> self.flits.flit_width - POSITION_BITS - PACKET_BITS
        return (word >> POSITION_BITS & (1 << PACKET_BITS) - 1) - 1, word & (1 << POSITION_BITS) - 1

    def bit(self, name: str, wire: str) -> Bit:
        """Return a lane of one bit; of a wider wire, whether any is set."""
        return Bit(name, [value != 0 for value in self.wires[wire]])

    def phases(self) -> Bus:
        """Return a lane of the phase, which counts from 0 after reset."""
        return Bus("phase", [str(cycle % self.flits.packet_length) for cycle in range(self.cycles)])

    def flit_lane(self, name: str, data: str, valid: str, ready: str | None = None) -> Bus:
        """Return a lane of packets where `valid`, and of a stream where `ready` too: A is the first packet."""
        texts, colors = [], []
        for cycle in range(self.cycles):
            passes = self.wires[valid][cycle] and (ready is None or self.wires[ready][cycle])
            packet, _ = self.packet_at(data, cycle) if passes else (-1, 0)
            texts.append("" if packet < 0 else ascii_uppercase[packet])
            colors.append(packet)
        return Bus(name, texts, colors)

    def stream(self, prefix: str, name: str) -> list[Lane]:
        """Return the lanes of the stream ``{prefix}_*``; flits are drawn in the cycles in which they are taken."""
        valid, ready = f"{prefix}_valid", f"{prefix}_ready"
        flits = self.flit_lane(f"{name} flit", f"{prefix}_payload", valid, ready)
        return [self.bit(f"{name} valid", valid), self.bit(f"{name} ready", ready), flits]

    def channel(self, prefix: str, name: str) -> list[Lane]:
        """Return the lanes of the channel ``{prefix}_*``."""
        flits = self.flit_lane(f"{name} flit", f"{prefix}_data", f"{prefix}_valid")
        return [flits, self.bit(f"{name} credit", f"{prefix}_credit")]

    def head_cycles(self, data: str, valid: str, ready: str | None = None) -> list[int]:
        """Return the cycles in which a head flit passes."""
        return [
            cycle
            for cycle in range(self.cycles)
            if self.wires[valid][cycle]
            and (ready is None or self.wires[ready][cycle])
            and self.packet_at(data, cycle)[1] == 0
        ]


class Recorder:
    """An emitted fabric under Verilator whose top-level wires can be read, built once.

    Parameters
    ----------
    spec : FabricSpec

    Raises
    ------
    SpecError
        If a head flit has no room for the address and the marks of a flit.
    """

    def __init__(self, spec: FabricSpec) -> None:
        self.fabric = emit_fabric(spec)
        self.machine, self.flits = self.fabric.machine, self.fabric.machine.flits
        needed = self.flits.address_width + POSITION_BITS + PACKET_BITS
        if spec.flit_width < needed:
            raise SpecError(f"flit width must be at least {needed} to mark flits, not {spec.flit_width}")
        self._top = self.fabric.top
        # cocotb sees the wires of the top level, channels among them, and nothing inside a router
        control = control_text(self.fabric.blocks, f'public_flat_rw -module "{self._top}" -var "*"')
        self._build = Build("waves", {"waves.vlt": control, **self.fabric.verilog}, self._top)

    def _flits_of(self, number: int, packet: Packet) -> list[int]:
        shift = self.flits.flit_width - POSITION_BITS - PACKET_BITS
        marks = [(number + 1 << POSITION_BITS | position) << shift for position in range(self.flits.packet_length)]
        marks[0] |= int(self.machine.address.of_node(packet.destination))
        return marks

    def record(self, packets: Sequence[Packet], *, cycles: int, stall: tuple[int, int] = (0, 0)) -> Traces:
        """Send packets, at most 26, into an empty fabric and record its wires.

        Parameters
        ----------
        packets : sequence of Packet
        cycles : int
        stall : (int, int)
            First cycle in which no sink is ready, and first after it in which all are again.

        Raises
        ------
        ToolError
            If the simulation cannot be built or does not end.
        """
        self._build.make()
        text = self.fabric.files[f"{self._top}.sv"].split(f"\nmodule {self._top}(")[1]
        names = re.findall(r"^  (?:input|output|wire) (?:\[\d+:0\] )?(\w+);$", text, re.MULTILINE)
        scene = {
            "nodes": self.machine.network.num_nodes,
            "packets": [
                {"source": packet.source, "cycle": packet.cycle, "flits": self._flits_of(number, packet)}
                for number, packet in enumerate(packets)
            ],
            "cycles": cycles,
            "stall": stall,
            "wires": sorted({name for name in names if re.match(r"rst$|inject_|eject_|channel_", name)}),
        }
        return self._play(json.dumps(scene, indent=1))

    def _play(self, scene: str) -> Traces:
        folder = self._build.folder / f"record-{hashlib.sha256(scene.encode()).hexdigest()[:16]}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scene.json").write_text(scene)
        traces = folder / "traces.json"
        traces.unlink(missing_ok=True)
        self._build.run("bench.rtl.waves_bench", folder)
        if not traces.exists():
            raise ToolError(f"the recording did not end, see {folder / 'simulation.log'}")
        return Traces(json.loads(traces.read_text()), self.flits)
