"""The cycles of a barrier by prediction, and on engines in the emitted Verilog."""

from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.library.collectives.schedules import BACKGROUND, Row, ScheduleOptions, bench_of, checked_network, refuse
from hdnhw.library.result import Result
from hdnhw.spec import BARRIER
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Stopwatch, say

OF_MESSAGES = (
    "ports",
    "slices",
    "root",
    "targets",
    "as_printed",
    "operator",
    "numbers",
    "algorithm",
    "trees",
    "words",
    "message_packets",
    "steps",
    "plot",
    "html",
    "startup_time",
    "word_time",
    "sizes",
    "bandwidth",
    *BACKGROUND,
)
"""Options, none of which there are by default, for operations that move messages."""


def run_barrier(asked: ScheduleOptions) -> Result:
    """Predict the cycles of a barrier, beside their bound; on rtl compare them with those of the Verilog."""
    from hdnhw.collectives.barrier import barrier_cycles, barrier_rounds, signal_cycles
    from hdnhw.machine.machine import make_machine

    refuse(asked, OF_MESSAGES, f"{{}} is for operations that move messages; a {BARRIER} moves none")
    if asked.on == "model":
        raise SpecError(f"{named('on', 'model')} moves packets, and a {BARRIER} has none: give {named('on', 'rtl')}")
    watch = Stopwatch()
    asked, network = checked_network(asked)
    rounds, registers = barrier_rounds(network), make_machine(asked.fabric).signal_registers if asked.on else 0
    hop = signal_cycles(registers)
    result: Row = {"spec": str(network.spec), "nodes": network.num_nodes, "op": BARRIER}
    result |= {"on": asked.on or "schedule", "rounds": rounds, "hop_cycles": hop}
    result |= {"cycles": barrier_cycles(rounds, registers), "lower_bound_cycles": rounds * hop}
    if asked.on == "rtl":
        engines = CollectiveSpec(operations=("broadcast", BARRIER))
        result |= bench_of(asked.fabric, engines).measure_barriers(say=say)
    result["seconds"] = round(watch.seconds, 3)
    return Result(result, passed=result.get("delivered", True))
