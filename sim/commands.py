"""The commands that need a simulator: ``hdnhw cosim`` and ``hdnhw demo``."""

import argparse
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from hdnhw.cli import (
    Result,
    add_command,
    add_endpoint_options,
    add_fabric_options,
    add_faults_option,
    add_load_options,
    drawn_faults,
    fabric_spec,
    load_spec,
    say,
)
from hdnhw.emit.fabric import write_fabric
from hdnhw.spec import FabricSpec, SpecError, parse
from hdnhw.traffic.packets import Terminals
from sim.axi import AxiBench
from sim.errors import ErrorRun, ErrorVerdict, make_errors, run_errors
from sim.relay import RelayBench
from sim.runner import SIMULATORS, Bench, Run, SimulatorError
from sim.stimulus import TESTS, Case, load_case, make_case

__all__ = ["add_cosim", "add_demo"]

RANDOM_LENGTHS = (1, 4, 8)
"""Packet lengths of the random test unless one is asked for."""

PAUSES = ("source_gap", "sink_stall")
LOAD_OPTIONS = ("pattern", "injection", "lengths", "rate", "cycles", *PAUSES)

MOST_PAUSES = 192
"""Of 256: with more, a run may take longer than the bench waits."""

DEMO_SPEC = "rdn(cube(2), 1)"
DEMO_FOLDER = Path("build") / "demo"


def _sum(runs: list[Run]) -> Result:
    verdicts = [asdict(run.verdict) for run in runs]
    return {key: sum(verdict[key] for verdict in verdicts) for key in verdicts[0]}


def _row(run: Run) -> Result:
    return {
        "test": run.test,
        "packet_length": run.packet_length,
        **asdict(run.verdict),
        "passed": run.verdict.passed,
        "seconds": round(run.seconds, 2),
        "build_seconds": round(run.build_seconds, 2),
        "packets_per_second": round(run.verdict.packets / run.seconds),
        "router_cycles_per_second": round(run.routers * run.verdict.cycles / run.seconds),
    }


def _run(bench: Bench, case: Case) -> Run:
    nodes, length = bench.plan.network.num_nodes, bench.flits.packet_length
    say(f"{case.test}: {nodes} routers, packets of {length} flits, {bench.build.simulator} ...")
    run = bench.run_case(case)
    verdict = run.verdict
    stranded = f" ({verdict.stranded} stranded)" if verdict.stranded else ""
    say(
        f"  {verdict.packets} packets{stranded} in {verdict.cycles} cycles: {verdict.lost} lost, "
        f"{verdict.misrouted} misrouted, {verdict.cycle_mismatches} cycle mismatches, "
        f"{verdict.head_mismatches} head mismatches"
        f"{' - passed' if verdict.passed else ' - FAILED'}"
    )
    return run


def _case(bench: Bench, test: str, options: argparse.Namespace) -> Case:
    model = bench.model
    if test == "faults":
        model = model.with_faults(drawn_faults(options, bench.plan.network, options.seed))
    machine = (model, bench.flits)
    if test != "load":
        return make_case(test, *machine, packets=options.packets, seed=options.seed)
    terminals = Terminals(source_gap=options.source_gap or 0, sink_stall=options.sink_stall or 0, seed=options.seed)
    return load_case(*machine, load_spec(options), terminals)


def _check_counts(options: argparse.Namespace) -> None:
    """Refuse counts that are out of range and options of the load test for another one."""
    for name in ("packets", "frames"):
        if getattr(options, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(options, name)}")
    if options.faults is not None and options.test != "faults":
        raise SpecError("--faults is for the faults test, see --test")
    if options.error_rate is not None and options.test != "errors":
        raise SpecError("--error-rate is for the errors test, see --test")
    for name in LOAD_OPTIONS:
        value, option = getattr(options, name), "--" + name.replace("_", "-")
        if value is not None and options.test != "load":
            raise SpecError(f"{option} is for the load test, see --test")
        if name in PAUSES and value is not None and not 0 <= value <= MOST_PAUSES:
            raise SpecError(f"{option} must be 0 to {MOST_PAUSES}, not {value}")


def cosim_axi(options: argparse.Namespace) -> tuple[Result, int]:
    """Send frames through the AXI endpoints of the emitted Verilog by cocotbext-axi and check each of them."""
    if options.simulator != "verilator":
        raise SpecError(f"the axi test needs verilator, not {options.simulator}")
    spec = fabric_spec(options)
    bench = AxiBench(spec)
    say(f"axi: {bench.layout.network.num_nodes} nodes, packets of {spec.packet_length} flits, verilator ...")
    try:
        run = bench.run(frames=options.frames, seed=options.seed)
    except SimulatorError as error:
        say(f"hdnhw: {error}")
        return {"test": "axi", "passed": False, "error": str(error)}, 1
    verdict = run.verdict
    say(
        f"  {verdict.frames} frames in {verdict.cycles} cycles: {verdict.lost} lost, {verdict.corrupted} corrupted"
        f"{' - passed' if verdict.passed else ' - FAILED'}"
    )
    return {
        "spec": str(spec.network),
        "test": "axi",
        "max_frame": bench.endpoints.max_frame,
        **asdict(verdict),
        "passed": verdict.passed,
        "seconds": round(run.seconds, 2),
        "build_seconds": round(run.build_seconds, 2),
    }, 0 if verdict.passed else 1


def cosim_relay(options: argparse.Namespace) -> tuple[Result, int]:
    """Send packets by waypoints around what is dead, through the relays of the emitted Verilog."""
    if options.simulator != "verilator":
        raise SpecError(f"relays need verilator, not {options.simulator}")
    spec = replace(fabric_spec(options), dead_pins=True)
    bench = RelayBench(spec)
    network = bench.plan.network
    faults = drawn_faults(options, network, options.seed)
    case = bench.make_case(faults, packets=options.packets, seed=options.seed)
    say(f"faults: {network.num_nodes} routers with relays, packets of {spec.packet_length} flits, verilator ...")
    try:
        run = bench.run(case)
    except SimulatorError as error:
        say(f"hdnhw: {error}")
        return {"test": "faults", "passed": False, "error": str(error)}, 1
    verdict = run.verdict
    say(
        f"  {verdict.packets} packets, {verdict.by_waypoints} by waypoints, in {verdict.cycles} cycles: "
        f"{verdict.delivered} of {verdict.deliverable} deliverable ones delivered, "
        f"{verdict.accounted} others accounted for, {verdict.unaccounted} not, "
        f"{verdict.cycle_mismatches} cycle mismatches"
        f"{' - passed' if verdict.passed else ' - FAILED'}"
    )
    return {
        "spec": str(spec.network),
        "test": "faults",
        "waypoints": bench.format.endpoints.waypoints,
        "dead_nodes": int(faults.nodes.sum()),
        "dead_channels": int(faults.channels.sum()),
        **asdict(verdict),
        "passed": verdict.passed,
        "seconds": round(run.seconds, 2),
        "build_seconds": round(run.build_seconds, 2),
    }, 0 if verdict.passed else 1


def _error_row(run: ErrorRun) -> Result:
    verdict = run.verdict
    say(
        f"  {verdict.packets} packets, {verdict.errors_injected} of {verdict.flits} flits on channels hit: "
        f"{verdict.packets_hit} packets hit, {verdict.detected} detected, {verdict.dropped} dropped, "
        f"{verdict.delivered_wrong} delivered wrong, {verdict.lost} lost, "
        f"{verdict.counter_mismatches} counter mismatches"
        f"{' - passed' if verdict.passed else ' - FAILED'}"
    )
    return {
        "packet_length": run.packet_length,
        **asdict(verdict),
        "passed": verdict.passed,
        "seconds": round(run.seconds, 2),
        "build_seconds": round(run.build_seconds, 2),
    }


def cosim_errors(options: argparse.Namespace) -> tuple[Result, int]:
    """Turn wires between the routers of the emitted Verilog over and check what becomes of every packet."""
    rate = 1e-4 if options.error_rate is None else options.error_rate
    about = {"spec": str(parse(options.spec)), "test": "errors", "simulator": options.simulator, "error_rate": rate}
    rows = []
    try:
        for length in RANDOM_LENGTHS if options.packet_length is None else (options.packet_length,):
            spec = replace(fabric_spec(options), crc=True, packet_length=length)
            bench = Bench(spec, simulator=options.simulator, flips=True)
            case, flips = make_errors(bench, packets=options.packets, rate=rate, seed=options.seed)
            say(f"errors: {bench.plan.network.num_nodes} routers, packets of {length} flits, {options.simulator} ...")
            rows.append(_error_row(run_errors(bench, case, flips)))
    except SimulatorError as error:
        say(f"hdnhw: {error}")
        return about | {"passed": False, "error": str(error)}, 1
    names = [field.name for field in fields(ErrorVerdict)]
    sums = {name: sum(row[name] for row in rows) for name in names}
    passed = all(row["passed"] for row in rows)
    return about | sums | {"passed": passed, "runs": rows}, 0 if passed else 1


def cosim(options: argparse.Namespace) -> tuple[Result, int]:
    """Simulate the emitted Verilog under cocotb and compare it with the model."""
    _check_counts(options)
    by_waypoints = options.test == "faults" and options.waypoints is not None
    options.endpoints = "axi-stream" if options.test == "axi" else "relay" if by_waypoints else None
    if options.test == "axi":
        return cosim_axi(options)
    if options.test == "errors":
        return cosim_errors(options)
    if by_waypoints:
        return cosim_relay(options)
    benches: dict[FabricSpec, Bench] = {}
    runs = []
    try:
        for test in [options.test] if options.test else TESTS:
            lengths = RANDOM_LENGTHS if test in ("random", "faults") and options.packet_length is None else (None,)
            for length in lengths:
                spec = fabric_spec(options)
                spec = replace(spec, dead_pins=True) if test == "faults" else spec
                spec = spec if length is None else replace(spec, packet_length=length)
                if spec not in benches:
                    benches[spec] = Bench(spec, simulator=options.simulator)
                runs.append(_run(benches[spec], _case(benches[spec], test, options)))
    except SimulatorError as error:
        say(f"hdnhw: {error}")
        return {"test": options.test or "all", "passed": False, "error": str(error)}, 1
    passed = all(run.verdict.passed for run in runs)
    spec = str(parse(options.spec))
    result = {"spec": spec, "test": options.test or "all", "simulator": options.simulator, **_sum(runs)}
    return result | {"passed": passed, "runs": [_row(run) for run in runs]}, 0 if passed else 1


def demo(_options: argparse.Namespace) -> tuple[Result, int]:
    """Do the main job on a small network: plan, prove, emit, simulate the Verilog against the model."""
    spec = FabricSpec(network=parse(DEMO_SPEC))
    say(f"1. {spec.network}: planning its routing and proving it deadlock-free ...")
    bench = Bench(spec)
    say(f"  {bench.plan.proof}")
    files = write_fabric(bench.fabric, DEMO_FOLDER)
    say(f"2. emitted {', '.join(map(str, files))}")
    say("3. building that Verilog with Verilator and running it against the model, cycle by cycle ...")
    cases = [make_case(test, bench.model, bench.flits, packets=10_000) for test in TESTS]
    try:
        runs = [_run(bench, case) for case in cases]
    except SimulatorError as error:
        say(f"hdnhw: {error}")
        return {"spec": str(spec.network), "passed": False, "error": str(error)}, 1
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


def add_cosim(commands: Any) -> None:
    """Add ``hdnhw cosim``."""
    parser = add_command(
        commands,
        "cosim",
        cosim,
        summary="simulate the emitted Verilog under cocotb and compare it with the model",
        example="hdnhw cosim 'rdn(cube(3), 1)' --test random --packets 100000",
    )
    parser.add_argument(
        "--test", choices=(*TESTS, "load", "faults", "errors", "axi"), help="one test; the first three if omitted"
    )
    parser.add_argument("--simulator", choices=SIMULATORS, default="verilator")
    parser.add_argument(
        "--packets", type=int, default=10_000, metavar="N", help="packets of the random, faults and errors tests"
    )
    parser.add_argument(
        "--error-rate",
        type=float,
        metavar="R",
        help="how often a wire of a channel is turned over in a cycle of the errors test (default 0.0001)",
    )
    parser.add_argument("--frames", type=int, default=2000, metavar="N", help="frames of the axi test")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of all but the hops and exchange tests")
    _add_load(parser)
    add_faults_option(parser)
    add_fabric_options(parser)
    add_endpoint_options(parser)


def _add_load(parser: argparse.ArgumentParser) -> None:
    """Add the options of the load test, which begins at reset and needs no warm-up."""
    add_load_options(parser)
    parser.add_argument("--rate", type=float, metavar="R", help="flits a node and cycle of the load test (default 0.1)")
    parser.add_argument("--cycles", type=int, metavar="N", help="cycles in which it creates packets (default 10000)")
    for option, who in (("--source-gap", "a source before a flit"), ("--sink-stall", "a sink in a cycle")):
        parser.add_argument(option, type=int, metavar="P", help=f"how often {who} pauses in it, of 256 (default 0)")
    parser.set_defaults(warmup=None)


def add_demo(commands: Any) -> None:
    """Add ``hdnhw demo``."""
    add_command(
        commands,
        "demo",
        demo,
        summary="do the main job on a small network, in a few minutes",
        example="hdnhw demo",
        spec=False,
    )
