"""The bench of bare streams around a fabric with all its mutants: a program, run once for each mutant and case."""

import json
import subprocess
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from hdnhw.sim.compare import check_ejections, count_hop_mismatches
from hdnhw.sim.simulator import BUILD_ARGUMENTS, BUILD_ROOT, LOG, Build, control_text
from hdnhw.sim.stimulus import Case, write_case
from hdnhw.sim.streams import StreamBench
from hdnhw.support.processes import Budget, SpentError
from hdnhw.verilog.fabric import EmittedFabric
from tests.mutants.schemata import NUMBER, Mutant, with_mutants

DRIVER = """// What hdnhw.sim.streams_bench does, without Python; for cases of up to CAPACITY packets.
module driver;
  reg clk = 0, rst = 1;
  wire finished;
  wire [31:0] cycle, ejected, dropped_total;
  integer file, reset_after;

  bench #(.CAPACITY(8192)) bench(
    .clk(clk), .rst(rst), .finished(finished), .cycle(cycle), .ejected(ejected), .dropped_total(dropped_total)
  );

  always #5 clk = !clk;

  initial begin
    if (!$value$plusargs("reset_after=%d", reset_after)) $finish;
    @(negedge clk);
    rst = 0;
    if (reset_after > 0) begin
      repeat (reset_after) @(negedge clk);
      rst = 1;
      @(negedge clk);
      rst = 0;
    end
    wait (finished);
    repeat (2) @(negedge clk);
    file = $fopen("dropped", "w");
    $fwrite(file, "%0d", dropped_total);
    $fclose(file);
    $finish;
  end
endmodule
"""

MARGIN = 16
"""Cycles after the last packet in which one more would be seen; whoever is late differs anyway."""

SECONDS = 60
"""Of CPU time, after which a run that does not end is given up."""


class Seen(IntEnum):
    """What a bench sees of a mutant."""

    NOTHING = 0
    """All is as in the original."""

    TIME = 1
    """Packets come and go in other cycles, but all come out where they should, unchanged and by their way."""

    PACKETS = 2
    """One does not, or the run does not end."""


class Program(Build):
    """A build by Verilator that is a program, without cocotb."""

    def _compile(self, sources: Sequence[Path], arguments: Sequence[str], folder: Path) -> None:
        command = ["verilator", "--binary", *arguments, "--timescale", "1ns/1ns", "--top-module", self._top]
        command += ["-Mdir", str(folder), "-o", self._top, *map(str, sources)]
        with (folder / LOG).open("w") as log:
            done = subprocess.run(command, stdout=log, stderr=log, check=False)
        if done.returncode:
            raise RuntimeError(f"verilator has ended with status {done.returncode}")

    @property
    def path(self) -> Path:
        return self.folder / self._top


class MutantBench:
    """A fabric with mutants in the bench of :mod:`hdnhw.sim.harness`.

    Parameters
    ----------
    fabric : EmittedFabric
    mutants : sequence of Mutant
    patience : int
        How many times as long as the original a mutant may take for the packets of a case before they count as lost.
    root : Path
        Folder for builds.

    Attributes
    ----------
    machine : Machine
    model : FabricModel
    """

    def __init__(
        self, fabric: EmittedFabric, mutants: Sequence[Mutant], *, patience: int = 1, root: Path = BUILD_ROOT
    ) -> None:
        streams = StreamBench(fabric, root=root)
        _, files, _ = streams.sources()
        name = f"{fabric.modules.top}.sv"
        files = {**files, name: with_mutants(files[name], mutants), "driver.sv": DRIVER}
        files = {"bench.vlt": control_text(fabric.blocks), **files}
        self._program = Program("mutants", files, "driver", arguments=(*BUILD_ARGUMENTS, "-Wno-lint"), root=root)
        self.machine, self.model, self._patience = fabric.machine, streams.model, patience

    def make(self) -> float:
        """Build unless that was done before; return the seconds it took."""
        return self._program.make()

    def sees(self, number: int, case: Case, folder: Path) -> Seen:
        """Run a mutant, 0 for none, and tell what the bench sees of it.

        Parameters
        ----------
        number : int
        case : Case
        folder : Path
            Of that case alone, in which one run at a time can be; what it reads is written when it is not there.
        """
        if not folder.exists():
            plusargs = write_case(case, folder, self.machine) | {
                "limit": self._patience * case.expected.cycles + MARGIN,
                "reset_after": case.resets[0] if case.resets else 0,
            }
            (folder / "plusargs.json").write_text(json.dumps(plusargs))
        dropped = folder / "dropped"
        dropped.unlink(missing_ok=True)
        plusargs = json.loads((folder / "plusargs.json").read_text())
        options = [f"+{name}={value}" for name, value in {**plusargs, NUMBER: number}.items()]
        try:
            done = Budget(SECONDS).run([self._program.path, *options], cwd=folder)
        except SpentError:
            return Seen.PACKETS
        if done.returncode or not dropped.exists():
            return Seen.PACKETS
        verdict = check_ejections(folder, self.machine.flits, int(dropped.read_text()))
        if verdict.lost or verdict.misrouted or verdict.payload_mismatches:
            return Seen.PACKETS
        if case.test == "hops" and count_hop_mismatches(folder, self.machine):
            return Seen.PACKETS
        return Seen.NOTHING if verdict.passed else Seen.TIME
