"""``collective --op barrier``: the cycles of a barrier by prediction, and on engines in the emitted Verilog."""

import argparse

from hdnhw.cli.options import DONE, FAILED, Result, fabric_spec, say
from hdnhw.cli.schedules import bench_of, checked_network, refuse
from hdnhw.kernels import Stopwatch
from hdnhw.spec import BARRIER, CollectiveSpec, SpecError

__all__ = ["run_barrier"]

OF_MESSAGES = (
    "ports",
    "root",
    "targets",
    "as_printed",
    "operator",
    "numbers",
    "algorithm",
    "trees",
    "words",
    "steps",
    "plot",
    "startup_time",
    "word_time",
    "sizes",
    "bandwidth",
)
"""Options, none of which there are by default, for operations that move messages."""


def run_barrier(options: argparse.Namespace) -> tuple[Result, int]:
    """Predict the cycles of a barrier, beside their bound; with ``--on rtl`` compare them with those of the Verilog."""
    from hdnhw.collective.barrier import barrier_cycles, barrier_rounds, signal_cycles

    refuse(options, OF_MESSAGES, f"{{}} is for operations that move messages; a {BARRIER} moves none")
    if options.on == "model":
        raise SpecError(f"--on model moves packets, and a {BARRIER} has none: give --on rtl")
    watch, network = Stopwatch(), checked_network(options)
    rounds, registers = barrier_rounds(network), options.channel_registers or 0
    hop = signal_cycles(registers)
    result: Result = {"spec": str(network.spec), "nodes": network.num_nodes, "op": BARRIER}
    result |= {"on": options.on or "schedule", "rounds": rounds, "hop_cycles": hop}
    result |= {"cycles": barrier_cycles(rounds, registers), "lower_bound_cycles": rounds * hop}
    if options.on == "rtl":
        engines = CollectiveSpec(operations=("broadcast", BARRIER))
        result |= bench_of(fabric_spec(options), engines).measure_barriers(say=say)
    result["seconds"] = round(watch.seconds, 3)
    return result, DONE if result.get("delivered", True) else FAILED
