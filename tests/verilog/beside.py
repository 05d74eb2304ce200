"""Modules run beside the fabric that they are, or are around: the same inputs, and outputs compared in every cycle."""

import os
import re
import subprocess
from dataclasses import dataclass, field

from hdnhw.fpga.harness import ports_of
from hdnhw.sim.simulator import BUILD_ROOT, kept_objects
from hdnhw.sim.tools import tool_environment

CYCLES = 3000

CLOCKED = re.compile(r"(clk|aclk|rst|aresetn)(_\d+)?")
"""Names of clocks and resets: the fabric's, or a node's."""

RESET = 100
"""Cycles of the fabric's clock for which it is reset, where nodes have others: these are two or four times as long."""

BENCH = """
module bench;
  bit clock = 0;
  int cycle = 0, moved = 0{faults};
  int ticks = 0;
  always #1 clock = !clock;
  always @(posedge clock) ticks <= ticks + 1;
  {signals}
  {instances}
  bit [{last}:0] previous = 0;
  always @(negedge clock) begin
    cycle <= cycle + 1;
    if (cycle > 8) begin
      if (expected !== previous) moved <= moved + 1;
      previous <= expected;
      {checks}
    end
    {stimulus}
    if (cycle == {cycles}) begin
      $display("moved %0d", moved);
      {report}
      $finish;
    end
  end
endmodule
"""


@dataclass(frozen=True)
class Beside:
    """A module that is compared with a fabric.

    Attributes
    ----------
    name : str
    pins : dict of str to list of str
        Each of its ports -> ports of the fabric that it stands for, the lowest first.
    inputs : dict of str to str
        Ports that are joined to an expression.
    """

    name: str
    pins: dict[str, list[str]]
    inputs: dict[str, str] = field(default_factory=dict)


def wrapper_pins(ports):
    """Return the pins of a wrapper: a port a node is one of all nodes; those of clocks of nodes say so."""
    pins = {}
    for port in ports:
        name = re.sub(r"(?<=[a-z])_\d+(?=_|$)", "", port.name)
        of_node = CLOCKED.fullmatch(port.name) and name != port.name
        pins.setdefault(f"node_{name}" if of_node else name, []).append(port.name)
    return pins


def drawn(port, cycles):
    """Return a statement that draws an input; nothing dies in the first half, and resets last for some cycles."""
    if CLOCKED.fullmatch(port.name):
        return f"{port.name} <= (cycle < {cycles}) == {int(port.name.startswith('rst'))};"
    words = f"{port.width}'({{{', '.join(['$urandom'] * (-(-port.width // 32)))}}})"
    return f"{port.name} <= {f'cycle > {CYCLES // 2} ? {words} : 0' if port.name.startswith('dead') else words};"


def bench_text(top, ports, modules):
    """Return a bench of a fabric and modules beside it."""
    widths = {port.name: port.width for port in ports}
    inputs = {port.name for port in ports if port.is_input}
    outputs = [port.name for port in ports if not port.is_input]
    clocks = [name for name in widths if CLOCKED.fullmatch(name) and "clk" in name]
    total = sum(widths[name] for name in outputs)
    signals = [f"logic [{port.width - 1}:0] {port.name};" for port in ports if port.name not in clocks]
    signals += [
        f"wire {name} = {'clock' if place == 0 else f'ticks[{place % 2}]'};" for place, name in enumerate(clocks)
    ]
    signals += [f"wire [{total - 1}:0] expected = {{{', '.join(outputs)}}};"]
    instances = [f"{top} bare ({', '.join(f'.{port.name}({port.name})' for port in ports)});"]
    for module in modules:
        joined, slices = [f".{pin}({value})" for pin, value in module.inputs.items()], {}
        for pin, names in module.pins.items():
            if names[0] in inputs:
                joined.append(f".{pin}({{{', '.join(reversed(names))}}})")
                continue
            low = 0
            for name in names:
                slices[name] = f"{module.name}_{pin}[{low} +: {widths[name]}]"
                low += widths[name]
            signals.append(f"wire [{low - 1}:0] {module.name}_{pin};")
            joined.append(f".{pin}({module.name}_{pin})")
        signals.append(f"wire [{total - 1}:0] of_{module.name} = {{{', '.join(slices[name] for name in outputs)}}};")
        instances.append(f"{module.name} around_{module.name} ({', '.join(joined)});")
    names = [module.name for module in modules]
    return BENCH.format(
        faults="".join(f", faults_{name} = 0" for name in names),
        signals="\n  ".join(signals),
        instances="\n  ".join(instances),
        last=total - 1,
        cycles=CYCLES,
        checks="\n      ".join(f"if (of_{name} !== expected) faults_{name} <= faults_{name} + 1;" for name in names),
        stimulus="\n    ".join(
            drawn(port, RESET if len(clocks) > 1 else 4) for port in ports if port.is_input and port.name not in clocks
        ),
        report="\n      ".join(f'$display("{name} %0d", faults_{name});' for name in names),
    )


def compare(fabric, modules, sources, folder):
    """Run modules beside a fabric that is in a folder.

    Returns
    -------
    moved : int
        Cycles in which an output of the fabric changed.
    faults : dict of str to int
        Of each module, the cycles in which it gave other outputs.
    """
    ports = ports_of(fabric.files[f"{fabric.top}.sv"], fabric.top)
    found = run(bench_text(fabric.top, ports, modules), [*fabric.verilog, *sources], folder)
    return found.pop("moved"), found


def run(bench, sources, folder):
    """Build a bench with Verilator as users do, and run it; return the numbers that it prints by their names."""
    (folder / "bench.sv").write_text(bench)
    quiet = ["--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", "bench"]
    command = ["verilator", *quiet, "--Mdir", "built", "bench.sv", *sources]
    variables = kept_objects(BUILD_ROOT.absolute() / "objects") | {"OPT_FAST": ""}  # runs are short, builds are not
    environment = tool_environment(os.environ, variables)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([folder / "built" / "Vbench"], cwd=folder, capture_output=True, text=True, check=True)
    return {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", done.stdout, re.MULTILINE)}
