"""What ``hdnhw cosim`` and ``hdnhw demo`` do."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from hdnhw.cli import Result, drawn_faults, fabric_spec, load_spec, say
from hdnhw.emit.fabric import EmittedFabric, emit_fabric, write_fabric
from hdnhw.flow.tools import ToolError
from hdnhw.sim.axi import AxiBench
from hdnhw.sim.axi4 import MemoryBench
from hdnhw.sim.check import StreamVerdict
from hdnhw.sim.choices import TESTS
from hdnhw.sim.clocks import ClockBench
from hdnhw.sim.errors import ErrorBench, ErrorVerdict, check_error_rate
from hdnhw.sim.relay import RelayBench
from hdnhw.sim.rig import RigBench, RigCase
from hdnhw.sim.rig_check import COUNTS, RigVerdict
from hdnhw.sim.runner import Bench, Run
from hdnhw.sim.stimulus import Case, load_case, make_case
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import AxiMemorySpec, AxiStreamSpec, FabricSpec, RelaySpec, SpecError, parse
from hdnhw.traffic.packets import Terminals

__all__ = ["cosim", "demo", "random_lengths"]

RANDOM_LENGTHS = (1, 4, 8)
"""Packet lengths of the random test unless one is asked for; see :func:`random_lengths`."""

PAUSES = ("source_gap", "sink_stall")
LOAD_OPTIONS = ("pattern", "injection", "lengths", "rate", "cycles", *PAUSES)

ENDPOINTS_OF_TEST = {"axi": AxiStreamSpec.kind, "axi4": AxiMemorySpec.kind}
"""What a test needs at the terminals."""

CLOCKED_TESTS = ("random", "axi", "axi4")
"""Tests of fabrics whose nodes have clocks of their own."""

MOST_PAUSES = 192
"""Of 256: with more, a run may take longer than the bench waits."""

BenchType = TypeVar("BenchType", bound=Bench[Any, Any])

DEMO_SPEC = "rdn(cube(2), 1)"
DEMO_FOLDER = Path("build") / "demo"


def _sum(runs: Sequence[Run[Any]]) -> Result:
    verdicts = [asdict(run.verdict) for run in runs]
    return {key: sum(verdict[key] for verdict in verdicts) for key in verdicts[0]}


def _outcome(run: Run[Any]) -> Result:
    """Return what a run showed and how long it took."""
    return {
        **asdict(run.verdict),
        "passed": run.verdict.passed,
        "seconds": round(run.seconds, 2),
        "build_seconds": round(run.build_seconds, 2),
    }


def _mark(passed: bool) -> str:
    return " - passed" if passed else " - FAILED"


def _failed(error: ToolError, **about: Any) -> tuple[Result, int]:
    """Tell of a bench that could not be run."""
    say(f"hdnhw: {error}")
    return {**about, "passed": False, "error": str(error)}, 1


def _row(run: Run[StreamVerdict]) -> Result:
    return {
        "test": run.test,
        "packet_length": run.machine.spec.packet_length,
        **_outcome(run),
        "packets_per_second": round(run.verdict.packets / run.seconds),
        "router_cycles_per_second": round(run.machine.network.num_nodes * run.verdict.cycles / run.seconds),
    }


def _started(bench: BenchType, options: argparse.Namespace) -> BenchType:
    """Return the bench, which starts from what the seed gives if there are no initial values."""
    bench.start = options.seed
    return bench


def _run(bench: StreamBench, case: Case) -> Run[StreamVerdict]:
    nodes, length = bench.machine.network.num_nodes, bench.machine.spec.packet_length
    say(f"{case.test}: {nodes} routers, packets of {length} flits, {bench.build.simulator} ...")
    run = bench.run_case(case)
    verdict = run.verdict
    stranded = f" ({verdict.stranded} stranded)" if verdict.stranded else ""
    say(
        f"  {verdict.packets} packets{stranded} in {verdict.cycles} cycles: {verdict.lost} lost, "
        f"{verdict.misrouted} misrouted, {verdict.cycle_mismatches} cycle mismatches, "
        f"{verdict.head_mismatches} head mismatches"
        f"{_mark(verdict.passed)}"
    )
    return run


def _case(bench: StreamBench, test: str, options: argparse.Namespace) -> Case:
    model = bench.model
    if test == "faults":
        model = model.with_faults(drawn_faults(options.faults, bench.machine.network, options.seed))
    if test != "load":
        return make_case(test, model, packets=options.packets, seed=options.seed, resets=_resets(options))
    terminals = Terminals(source_gap=options.source_gap or 0, sink_stall=options.sink_stall or 0, seed=options.seed)
    return load_case(model, load_spec(options), terminals)


def _resets(options: argparse.Namespace) -> list[int]:
    """Return the cycles of ``--resets``."""
    words = [] if options.resets is None else options.resets.split(",")
    if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
        raise SpecError(f"resets must be numbers of cycles above 0 with commas between them, not {options.resets!r}")
    return list(map(int, words))


def _check_counts(options: argparse.Namespace) -> None:
    """Refuse counts that are out of range and options of the load test for another one."""
    for name in ("packets", "frames", "bursts"):
        if getattr(options, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(options, name)}")
    if options.faults is not None and options.test != "faults":
        raise SpecError("--faults is for the faults test, see --test")
    if options.error_rate is not None and options.test != "errors":
        raise SpecError("--error-rate is for the errors test, see --test")
    if options.resets is not None and (options.test != "random" or options.node_clocks):
        raise SpecError("--resets is for the random test with one clock, see --test")
    _ = _resets(options)
    if options.error_rate is not None:
        check_error_rate(options.error_rate)
    for name in LOAD_OPTIONS:
        value, option = getattr(options, name), "--" + name.replace("_", "-")
        if value is not None and options.test != "load":
            raise SpecError(f"{option} is for the load test, see --test")
        if name in PAUSES and value is not None and not 0 <= value <= MOST_PAUSES:
            raise SpecError(f"{option} must be 0 to {MOST_PAUSES}, not {value}")


def _check_simulator(options: argparse.Namespace, who: str) -> None:
    """Refuse another simulator than Verilator; `who` says of what test, with its verb."""
    if options.simulator != "verilator":
        raise SpecError(f"{who} verilator, not {options.simulator}")


def _run_endpoints(bench: Bench[Any, Any], case: Any, about: Result, told: str) -> tuple[Result, int]:
    """Run the one case of a bench of endpoints; `told` is what is said of the verdict, with its fields in braces."""
    try:
        run = bench.run_case(case)
    except ToolError as error:
        return _failed(error, **about)
    outcome = _outcome(run)
    say(f"  {told.format(**outcome)}{_mark(run.verdict.passed)}")
    return about | outcome, 0 if run.verdict.passed else 1


def _emitted(spec: FabricSpec, options: argparse.Namespace) -> EmittedFabric:
    return emit_fabric(spec, initial=options.initial, node_clocks=options.node_clocks)


def cosim_clocks(options: argparse.Namespace) -> tuple[Result, int]:
    """Send packets between terminals with clocks of their own and check each of them."""
    _check_simulator(options, "node clocks need")
    spec = fabric_spec(options)
    bench = _started(ClockBench(_emitted(spec, options)), options)
    case = bench.make_case(packets=options.packets, seed=options.seed)
    nodes = bench.machine.network.num_nodes
    say(f"random: {nodes} nodes, {nodes + 1} clocks, packets of {spec.packet_length} flits, verilator ...")
    about = {"spec": str(spec.network), "test": "random", "node_clocks": True}
    told = "{packets} packets in {cycles} cycles: {lost} lost, {corrupted} corrupted, {out_of_order} out of order"
    return _run_endpoints(bench, case, about, told)


def cosim_axi(options: argparse.Namespace) -> tuple[Result, int]:
    """Send frames through the AXI endpoints of the emitted Verilog by cocotbext-axi and check each of them."""
    _check_simulator(options, "the axi test needs")
    spec = fabric_spec(options)
    bench = _started(AxiBench(_emitted(spec, options)), options)
    case = bench.make_case(frames=options.frames, seed=options.seed)
    say(f"axi: {bench.layout.network.num_nodes} nodes, packets of {spec.packet_length} flits, verilator ...")
    about = {"spec": str(spec.network), "test": "axi", "max_frame": bench.endpoints.max_frame}
    return _run_endpoints(bench, case, about, "{frames} frames in {cycles} cycles: {lost} lost, {corrupted} corrupted")


def cosim_axi4(options: argparse.Namespace) -> tuple[Result, int]:
    """Send bursts between managers and memories through AXI4 endpoints by cocotbext-axi and check each of them."""
    _check_simulator(options, "the axi4 test needs")
    spec = fabric_spec(options)
    bench = _started(MemoryBench(_emitted(spec, options)), options)
    case = bench.make_case(bursts=options.bursts, seed=options.seed)
    say(f"axi4: {bench.nodes} nodes, packets of {spec.packet_length} flits, verilator ...")
    told = (
        "{bursts} bursts in {cycles} cycles: {unanswered} unanswered, {wrong_data} with wrong data, {wrong_responses} "
        "with a wrong response, {memory_mismatches} memory mismatches; {refused} refused as they should be"
    )
    about = {"spec": str(spec.network), "test": "axi4", "node_clocks": options.node_clocks}
    return _run_endpoints(bench, case, about, told)


def cosim_relay(options: argparse.Namespace) -> tuple[Result, int]:
    """Send packets by waypoints around what is dead, through the relays of the emitted Verilog."""
    _check_simulator(options, "relays need")
    spec = replace(fabric_spec(options), dead_pins=True)
    bench = _started(RelayBench(_emitted(spec, options)), options)
    network = bench.machine.network
    faults = drawn_faults(options.faults, network, options.seed)
    case = bench.make_case(faults, packets=options.packets, seed=options.seed)
    say(f"faults: {network.num_nodes} routers with relays, packets of {spec.packet_length} flits, verilator ...")
    about = {"spec": str(spec.network), "test": "faults", "waypoints": bench.format.endpoints.waypoints}
    return _run_endpoints(
        bench,
        case,
        about | faults.counts,
        "{packets} packets, {by_waypoints} by waypoints, in {cycles} cycles: {delivered} of {deliverable} deliverable "
        "ones delivered, {accounted} others accounted for, {unaccounted} not, {cycle_mismatches} cycle mismatches",
    )


def _say_errors(verdict: ErrorVerdict) -> None:
    say(
        f"  {verdict.packets} packets, {verdict.errors_injected} of {verdict.flits} flits on channels hit: "
        f"{verdict.packets_hit} packets hit, {verdict.detected} detected, {verdict.dropped} dropped, "
        f"{verdict.delivered_wrong} delivered wrong, {verdict.lost} lost, "
        f"{verdict.counter_mismatches} counter mismatches"
        f"{_mark(verdict.passed)}"
    )


def _error_row(run: Run[ErrorVerdict]) -> Result:
    return {"packet_length": run.machine.spec.packet_length, **_outcome(run)}


def cosim_errors(options: argparse.Namespace) -> tuple[Result, int]:
    """Turn wires between the routers of the emitted Verilog over and check what becomes of every packet."""
    rate = 1e-4 if options.error_rate is None else options.error_rate
    about = {"spec": str(parse(options.spec)), "test": "errors", "simulator": options.simulator, "error_rate": rate}
    runs = []
    try:
        for length in random_lengths(options) if options.packet_length is None else (options.packet_length,):
            spec = replace(fabric_spec(options), crc=True, packet_length=length)
            fabric = _emitted(spec, options)
            bench = _started(ErrorBench(fabric, simulator=options.simulator), options)
            case = bench.make_case(packets=options.packets, rate=rate, seed=options.seed)
            nodes = bench.machine.network.num_nodes
            say(f"errors: {nodes} routers, packets of {length} flits, {options.simulator} ...")
            runs.append(bench.run_case(case))
            _say_errors(runs[-1].verdict)
    except ToolError as error:
        return _failed(error, **about)
    passed = all(run.verdict.passed for run in runs)
    return about | _sum(runs) | {"passed": passed, "runs": [_error_row(run) for run in runs]}, 0 if passed else 1


def cosim_rig(options: argparse.Namespace) -> tuple[Result, int]:
    """Put each router of the emitted Verilog among neighbours that are not routers, and check what leaves it."""
    _check_simulator(options, "the rig test needs")
    about = {"spec": str(parse(options.spec)), "test": "rig", "simulator": options.simulator}
    case, rows = RigCase(options.packets, options.seed), []
    try:
        for length in _lengths("rig", options):
            spec = fabric_spec(options)
            fabric = _emitted(spec if length is None else replace(spec, packet_length=length), options)
            for number, router in enumerate(fabric.modules.routers):
                bench = _started(RigBench(fabric, number), options)
                say(f"rig: {router}, packets of {fabric.machine.spec.packet_length} flits, {options.simulator} ...")
                rows.append(_rig_row(bench.run_case(case), router))
    except ToolError as error:
        return _failed(error, **about)
    passed = all(row["passed"] for row in rows)
    total = {name: sum(row[name] for row in rows) for name in COUNTS}
    return about | total | {"passed": passed, "runs": rows}, 0 if passed else 1


def _rig_row(run: Run[RigVerdict], router: str) -> Result:
    verdict = run.verdict
    say(
        f"  {verdict.packets} packets and {verdict.resets} resets in {verdict.cycles} cycles: {verdict.lost} lost, "
        f"{verdict.strays} strays, {verdict.misrouted} misrouted, {verdict.stuck} stuck, "
        f"{verdict.frame_faults} frame faults, {verdict.credit_faults} credit faults"
        f"{_mark(verdict.passed)}"
    )
    if not verdict.passed:
        say(f"  {verdict.first}")
    return {"module": router, "packet_length": run.machine.spec.packet_length, **_outcome(run)}


def random_lengths(options: argparse.Namespace) -> tuple[int, ...]:
    """Return the packet lengths of the random test: those of which the options make a machine."""
    if options.switching == "cut-through":
        return RANDOM_LENGTHS[-1], 2 * RANDOM_LENGTHS[-1]
    return RANDOM_LENGTHS[1:] if options.gapless_packets else RANDOM_LENGTHS


def _lengths(test: str, options: argparse.Namespace) -> Sequence[int | None]:
    """Return the packet lengths of a test; None is that of the options."""
    if test not in ("random", "faults", "rig") or options.packet_length is not None:
        return (None,)
    return random_lengths(options)


def cosim(options: argparse.Namespace) -> tuple[Result, int]:
    """Simulate the emitted Verilog under cocotb and compare it with the model."""
    _check_counts(options)
    by_waypoints = options.test == "faults" and options.endpoint_waypoints is not None
    options.endpoints = RelaySpec.kind if by_waypoints else ENDPOINTS_OF_TEST.get(options.test)
    if options.node_clocks and options.test not in CLOCKED_TESTS:
        raise SpecError(f"--node-clocks is for the {', '.join(CLOCKED_TESTS)} tests, see --test")
    if options.test == "axi":
        return cosim_axi(options)
    if options.test == "axi4":
        return cosim_axi4(options)
    if options.node_clocks:
        return cosim_clocks(options)
    if options.test == "errors":
        return cosim_errors(options)
    if options.test == "rig":
        return cosim_rig(options)
    if by_waypoints:
        return cosim_relay(options)
    benches: dict[FabricSpec, StreamBench] = {}
    runs = []
    try:
        for test in [options.test] if options.test else TESTS:
            for length in _lengths(test, options):
                spec = fabric_spec(options)
                spec = replace(spec, dead_pins=True) if test == "faults" else spec
                spec = spec if length is None else replace(spec, packet_length=length)
                if spec not in benches:
                    fabric = _emitted(spec, options)
                    benches[spec] = _started(StreamBench(fabric, simulator=options.simulator), options)
                runs.append(_run(benches[spec], _case(benches[spec], test, options)))
    except ToolError as error:
        return _failed(error, test=options.test or "all")
    passed = all(run.verdict.passed for run in runs)
    name = str(parse(options.spec))
    result = {"spec": name, "test": options.test or "all", "simulator": options.simulator, **_sum(runs)}
    return result | {"passed": passed, "runs": [_row(run) for run in runs]}, 0 if passed else 1


def demo(_options: argparse.Namespace) -> tuple[Result, int]:
    """Do the main job on a small network: plan, prove, emit, simulate the Verilog against the model."""
    spec = FabricSpec(network=parse(DEMO_SPEC))
    say(f"1. {spec.network}: planning its routing and proving it deadlock-free ...")
    bench = StreamBench(emit_fabric(spec))
    say(f"  {bench.machine.plan.proof}")
    files = write_fabric(bench.fabric, DEMO_FOLDER)
    say(f"2. emitted {', '.join(map(str, files))}")
    say("3. building that Verilog with Verilator and running it against the model, cycle by cycle ...")
    cases = [make_case(test, bench.model, packets=10_000) for test in TESTS]
    try:
        runs = [_run(bench, case) for case in cases]
    except ToolError as error:
        return _failed(error, spec=str(spec.network))
    passed = all(run.verdict.passed for run in runs)
    manifest = bench.fabric.manifest
    return {
        "spec": str(spec.network),
        "routers": manifest["routers"],
        "num_vcs": manifest["num_vcs"],
        "proof": manifest["proof"]["summary"],
        "zero_load_latency": manifest["latency"]["zero_load"],
        "files": [str(path) for path in files],
        **_sum(runs),
        "passed": passed,
    }, 0 if passed else 1
