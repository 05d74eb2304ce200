"""What ``hdnhw.cosim`` and ``hdnhw demo`` do."""

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from hdnhw.endpoints import declared
from hdnhw.endpoints.relay.bench import RelayBench
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.fpga.tools import ToolError
from hdnhw.library.cosimulation import ERROR_RATE, TESTS, CosimOptions, kinds_of_tests
from hdnhw.library.options import drawn_faults, fabric_of
from hdnhw.library.result import Result
from hdnhw.measurement.load import LoadSpec
from hdnhw.networks.parse import parse
from hdnhw.sim.chips import CLOCKS, SYSTEM_SUMMARY, SYSTEM_TESTS, SystemBench, SystemVerdict
from hdnhw.sim.clocks import ClockBench
from hdnhw.sim.compare import StreamVerdict
from hdnhw.sim.errors import ErrorBench, ErrorVerdict, check_error_rate
from hdnhw.sim.rig import RigBench, RigCase
from hdnhw.sim.rig_check import COUNTS, RigVerdict
from hdnhw.sim.runner import Bench, Run
from hdnhw.sim.stimulus import Case, load_case, make_case
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import say
from hdnhw.traffic.packets import Terminals
from hdnhw.verilog.fabric import EmittedFabric, emit_fabric, write_fabric

RANDOM_LENGTHS = (1, 4, 8)
"""Packet lengths of the random test unless one is asked for; see :func:`random_lengths`."""

OF_TESTS = {
    "faults": "faults",
    "error_rate": "errors",
    "resets": "random",
    **dict.fromkeys(("pattern", "injection", "lengths", "rate", "cycles", "source_gap", "sink_stall"), "load"),
}
"""Options that are for one test."""

Row = dict[str, Any]

BenchType = TypeVar("BenchType", bound=Bench[Any, Any])

DEMO_SPEC = "rdn(cube(2), 1)"
DEMO_FOLDER = Path("build") / "demo"


def _sum(runs: Sequence[Run[Any]]) -> Row:
    verdicts = [asdict(run.verdict) for run in runs]
    return {key: sum(verdict[key] for verdict in verdicts) for key in verdicts[0]}


def _outcome(run: Run[Any]) -> Row:
    """Return what a run showed and how long it took."""
    return {
        **asdict(run.verdict),
        "passed": run.verdict.passed,
        "seconds": round(run.seconds, 2),
        "build_seconds": round(run.build_seconds, 2),
    }


def _mark(passed: bool) -> str:
    return " - passed" if passed else " - FAILED"


def _failed(error: ToolError, **about: Any) -> Result:
    """Tell of a bench that could not be run."""
    say(f"hdnhw: {error}")
    return Result({**about, "passed": False, "error": str(error)}, passed=False)


def _row(run: Run[StreamVerdict]) -> Row:
    return {
        "test": run.test,
        "packet_length": run.machine.spec.packet_length,
        **_outcome(run),
        "packets_per_second": round(run.verdict.packets / run.seconds),
        "router_cycles_per_second": round(run.machine.network.num_nodes * run.verdict.cycles / run.seconds),
    }


def _started(bench: BenchType, asked: CosimOptions) -> BenchType:
    """Return the bench, which starts from what the seed gives if there are no initial values."""
    bench.start = asked.seed
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


def _case(bench: StreamBench, test: str, asked: CosimOptions) -> Case:
    model = bench.model
    if test == "faults":
        model = model.with_faults(drawn_faults(asked.faults, bench.machine.network, asked.seed))
    if test != "load":
        return make_case(test, model, packets=asked.packets, seed=asked.seed, resets=_resets(asked))
    terminals = Terminals(source_gap=asked.source_gap, sink_stall=asked.sink_stall, seed=asked.seed)
    return load_case(model, _load(asked), terminals)


def _resets(asked: CosimOptions) -> list[int]:
    """Return the cycles after which the fabric is reset."""
    words = [] if asked.resets is None else str(asked.resets).split(",")
    if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
        allowed = "numbers of cycles above 0 with commas between them"
        raise SpecError(f"{named('resets')} must be {allowed}, not {asked.resets!r}")
    return list(map(int, words))


def _check_test(asked: CosimOptions) -> None:
    """Refuse options that are for another test."""
    for name in asked.said:
        if name == "error_rate" and asked.chips is not None and asked.test in (None, *SYSTEM_TESTS):
            continue
        if OF_TESTS.get(name, asked.test) != asked.test:
            raise SpecError(f"{named(name)} is for the {OF_TESTS[name]} test, see {named('test')}")
    if asked.resets is not None and asked.node_clocks:
        raise SpecError(f"{named('resets')} is for one clock, not for {named('node_clocks')}")
    _ = _resets(asked)
    if asked.error_rate is not None:
        check_error_rate(asked.error_rate)
    clocked = ["random", *(test for test, kind in kinds_of_tests().items() if declared("emitted")[kind].has_streams)]
    if asked.node_clocks and asked.test not in clocked:
        tests = ", ".join(clocked)
        raise SpecError(f"{named('node_clocks')} is for the {tests} tests, see {named('test')}")


def _check_simulator(asked: CosimOptions, who: str) -> None:
    """Refuse another simulator than Verilator; `who` says of what test, with its verb."""
    if asked.simulator != "verilator":
        raise SpecError(f"{who} {named('simulator', 'verilator')}, not {asked.simulator}")


def run_endpoints(bench: Bench[Any, Any], case: Any, about: Row, told: str) -> Result:
    """Run the one case of a bench of endpoints; `told` is what is said of the verdict, with its fields in braces."""
    try:
        run = bench.run_case(case)
    except ToolError as error:
        return _failed(error, **about)
    outcome = _outcome(run)
    say(f"  {told.format(**outcome)}{_mark(run.verdict.passed)}")
    return Result(about | outcome, passed=run.verdict.passed)


def _endpoints(asked: CosimOptions) -> str | None:
    """Return what a test needs at the terminals."""
    by_waypoints = asked.test == "faults" and "waypoints" in asked.machine
    return RelaySpec.kind if by_waypoints else kinds_of_tests().get(asked.test or "")


def _fabric(asked: CosimOptions) -> FabricSpec:
    return fabric_of(asked.spec, _endpoints(asked), asked.machine, node_clocks=asked.node_clocks)


def _load(asked: CosimOptions) -> LoadSpec:
    return LoadSpec(**{name: getattr(asked, name) for name in options_of(LoadSpec)})


def _emitted(spec: FabricSpec, asked: CosimOptions) -> EmittedFabric:
    return emit_fabric(spec, **asked.emitting)


def cosim_clocks(asked: CosimOptions) -> Result:
    """Send packets between terminals with clocks of their own and check each of them."""
    _check_simulator(asked, "node clocks need")
    spec = _fabric(asked)
    bench = _started(ClockBench(_emitted(spec, asked)), asked)
    case = bench.make_case(packets=asked.packets, seed=asked.seed)
    nodes = bench.machine.network.num_nodes
    say(f"random: {nodes} nodes, {nodes + 1} clocks, packets of {spec.packet_length} flits, verilator ...")
    about = {"spec": str(spec.network), "test": "random", "node_clocks": True}
    told = "{packets} packets in {cycles} cycles: {lost} lost, {corrupted} corrupted, {out_of_order} out of order"
    return run_endpoints(bench, case, about, told)


def cosim_chips(asked: CosimOptions) -> Result:
    """Send packets between the nodes of several chips, over links that are hurt and cut, and check each of them."""
    _check_simulator(asked, "several chips need")
    if asked.test not in (None, *SYSTEM_TESTS):
        raise SpecError(f"{named('chips')} is for the {' and '.join(SYSTEM_TESTS)} tests, not for {asked.test}")
    if asked.resets is not None:
        raise SpecError(f"{named('resets')} is for one chip, not for {named('chips')}")
    bench = _started(SystemBench(_emitted(_fabric(asked), asked)), asked)
    chips, length = bench.num_chips, bench.machine.spec.packet_length
    about = {"spec": str(asked.spec), "chips": asked.chips, "link": asked.link, "test": asked.test or "all"}
    rates = (0.0, ERROR_RATE / 100, ERROR_RATE) if asked.error_rate is None else (asked.error_rate,)
    rows: list[Row] = []
    try:
        for test, clocks, rate in product([asked.test] if asked.test else SYSTEM_TESTS, CLOCKS, rates):
            say(f"{test}: {chips} chips, {clocks} clocks, packets of {length} flits, bit errors {rate:g} ...")
            case = bench.make_case(test, packets=asked.packets, clocks=clocks, rate=rate, seed=asked.seed)
            run = bench.run_case(case)
            rows.append({"test": test, "clocks": clocks, "error_rate": rate, **_outcome(run)})
            say("  " + SYSTEM_SUMMARY.format(**rows[-1]) + _mark(run.verdict.passed))
    except ToolError as error:
        return _failed(error, **about)
    passed = all(row["passed"] for row in rows)
    counts = [field.name for field in fields(SystemVerdict)]
    total = {name: sum(row[name] for row in rows) for name in counts}
    return Result(about | total | {"passed": passed, "runs": rows}, passed=passed)


def cosim_endpoints(kind: str, asked: CosimOptions) -> Result:
    """Run the test of a kind of endpoints on the emitted Verilog."""
    _check_simulator(asked, f"the {asked.test} test needs")
    spec = _fabric(asked)
    bench = _started(declared("bench")[kind].of(_emitted(spec, asked)), asked)
    nodes = bench.machine.network.num_nodes
    case = bench.asked_case(asked)
    say(f"{asked.test}: {nodes} nodes, packets of {spec.packet_length} flits, verilator ...")
    about = {"spec": str(spec.network), "test": asked.test, **bench.about}
    return run_endpoints(bench, case, about, bench.summary)


def cosim_relay(asked: CosimOptions) -> Result:
    """Send packets by waypoints around what is dead, through the relays of the emitted Verilog."""
    _check_simulator(asked, "relays need")
    spec = replace(_fabric(asked), dead_pins=True)
    bench = _started(RelayBench(_emitted(spec, asked)), asked)
    network = bench.machine.network
    faults = drawn_faults(asked.faults, network, asked.seed)
    case = bench.make_case(faults, packets=asked.packets, seed=asked.seed)
    say(f"faults: {network.num_nodes} routers with relays, packets of {spec.packet_length} flits, verilator ...")
    about = {"spec": str(spec.network), "test": "faults", "waypoints": bench.format.endpoints.waypoints}
    return run_endpoints(
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


def _error_row(run: Run[ErrorVerdict]) -> Row:
    return {"packet_length": run.machine.spec.packet_length, **_outcome(run)}


def cosim_errors(asked: CosimOptions) -> Result:
    """Turn wires between the routers of the emitted Verilog over and check what becomes of every packet."""
    rate = ERROR_RATE if asked.error_rate is None else asked.error_rate
    about = {"spec": str(asked.spec), "test": "errors", "simulator": asked.simulator, "error_rate": rate}
    runs = []
    try:
        for spec in _fabrics("errors", asked):
            fabric = _emitted(replace(spec, crc=True), asked)
            bench = _started(ErrorBench(fabric, simulator=asked.simulator), asked)
            case = bench.make_case(packets=asked.packets, rate=rate, seed=asked.seed)
            nodes = bench.machine.network.num_nodes
            say(f"errors: {nodes} routers, packets of {spec.packet_length} flits, {asked.simulator} ...")
            runs.append(bench.run_case(case))
            _say_errors(runs[-1].verdict)
    except ToolError as error:
        return _failed(error, **about)
    passed = all(run.verdict.passed for run in runs)
    found = about | _sum(runs) | {"passed": passed, "runs": [_error_row(run) for run in runs]}
    return Result(found, passed=passed)


def cosim_rig(asked: CosimOptions) -> Result:
    """Put each router of the emitted Verilog among neighbors that are not routers, and check what leaves it."""
    _check_simulator(asked, "the rig test needs")
    about = {"spec": str(asked.spec), "test": "rig", "simulator": asked.simulator}
    case, rows = RigCase(asked.packets, asked.seed), []
    try:
        for spec in _fabrics("rig", asked):
            fabric = _emitted(spec, asked)
            for number, router in enumerate(fabric.modules.routers):
                bench = _started(RigBench(fabric, number), asked)
                say(f"rig: {router}, packets of {spec.packet_length} flits, {asked.simulator} ...")
                rows.append(_rig_row(bench.run_case(case), router))
    except ToolError as error:
        return _failed(error, **about)
    passed = all(row["passed"] for row in rows)
    total = {name: sum(row[name] for row in rows) for name in COUNTS}
    return Result(about | total | {"passed": passed, "runs": rows}, passed=passed)


def _rig_row(run: Run[RigVerdict], router: str) -> Row:
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


def random_lengths(spec: FabricSpec) -> tuple[int, ...]:
    """Return the packet lengths of the random test: those that a machine can have but for what it has itself."""
    if spec.switching == "cut-through":
        return RANDOM_LENGTHS[-1], 2 * RANDOM_LENGTHS[-1]
    return RANDOM_LENGTHS[1:] if spec.gapless_packets else RANDOM_LENGTHS


def _fabrics(test: str, asked: CosimOptions) -> list[FabricSpec]:
    """Return the machines of a test: of some tests with packets of several lengths, unless one is asked for."""
    spec = _fabric(asked)
    if test not in ("random", "faults", "errors", "rig") or "packet_length" in asked.machine:
        return [spec]
    return [replace(spec, packet_length=length) for length in random_lengths(spec)]


def cosim(asked: CosimOptions) -> Result:
    """Simulate the emitted Verilog under cocotb and compare it with the model."""
    _check_test(asked)
    if kind := kinds_of_tests().get(asked.test or ""):
        return cosim_endpoints(kind, asked)
    if asked.chips is not None:
        return cosim_chips(asked)
    if asked.node_clocks:
        return cosim_clocks(asked)
    if asked.test == "errors":
        return cosim_errors(asked)
    if asked.test == "rig":
        return cosim_rig(asked)
    if _endpoints(asked) == RelaySpec.kind:
        return cosim_relay(asked)
    return _cosim_streams(asked)


def _cosim_streams(asked: CosimOptions) -> Result:
    """Run tests whose packets are streams of flits at the terminals."""
    benches: dict[FabricSpec, StreamBench] = {}
    runs = []
    try:
        for test in [asked.test] if asked.test else TESTS:
            for spec in _fabrics(test, asked):
                spec = replace(spec, dead_pins=True) if test == "faults" else spec
                if spec not in benches:
                    fabric = _emitted(spec, asked)
                    benches[spec] = _started(StreamBench(fabric, simulator=asked.simulator), asked)
                runs.append(_run(benches[spec], _case(benches[spec], test, asked)))
    except ToolError as error:
        return _failed(error, test=asked.test or "all")
    passed = all(run.verdict.passed for run in runs)
    name = str(asked.spec)
    result = {"spec": name, "test": asked.test or "all", "simulator": asked.simulator, **_sum(runs)}
    return Result(result | {"passed": passed, "runs": [_row(run) for run in runs]}, passed=passed)


def demo() -> Result:
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
    found = {
        "spec": str(spec.network),
        "routers": manifest["routers"],
        "num_vcs": manifest["num_vcs"],
        "proof": manifest["proof"]["summary"],
        "zero_load_latency": manifest["latency"]["zero_load"],
        "files": [str(path) for path in files],
        **_sum(runs),
        "passed": passed,
    }
    return Result(found, passed=passed)
