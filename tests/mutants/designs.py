"""The designs whose mutants are looked at, and what the project's own benches do with each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from hdnhw.endpoints.axi4.bench import MemoryBench
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi_stream.bench import AxiBench
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.exchange.bench import ExchangeBench, ExchangeCase
from hdnhw.endpoints.exchange.spec import ExchangeSpec
from hdnhw.endpoints.relay.bench import RelayBench
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.library.options import drawn_faults
from hdnhw.model.fabric import FabricModel
from hdnhw.networks.parse import parse
from hdnhw.sim.errors import ErrorBench, Flip
from hdnhw.sim.runner import Bench
from hdnhw.sim.stimulus import Case, make_case
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import FabricSpec
from hdnhw.verilog.fabric import EmittedFabric
from tests.mutants.schemata import Mutant, all_mutants, modules_of
from tests.soak.deaths import DeathBench

NETWORK = parse("hdn(cube(1), [[]])")
"""Its router has two ports beside the terminal's, with up to two classes, as dual-nets have."""

FEW_PHASES = (0, 3)
"""Of resets, where a run costs a second."""

Trial = tuple[Bench[Any, Any], Any]
"""A bench and a case of it."""


@dataclass(frozen=True)
class Design:
    """A fabric and the benches that its mutants run in.

    Attributes
    ----------
    spec : FabricSpec
    trials : callable or None
        Makes what a mutant runs through, by name, of a fabric with its text; None: :func:`stream_cases`, in a program.
    beside : str
        Another design: mutants that read as one of its are looked at there.
    sample : int or None
        How many mutants are drawn; all if None.
    about : str
        Mutants are looked at in whose place this regular expression is found.
    runs : bool
        Whether mutants that no case tells apart are compared in all runs, by :mod:`tests.mutants.sequential`.
    """

    spec: FabricSpec
    trials: Callable[[EmittedFabric], dict[str, Trial]] | None = None
    beside: str = ""
    sample: int | None = None
    about: str = ""
    runs: bool = False


class HasModel(Protocol):
    """What cases are made for."""

    @property
    def model(self) -> FabricModel:
        """The model of the machine."""


def text_of_all(fabric: EmittedFabric) -> str:
    """Return the file that has the modules of a fabric which are mutated: its endpoints', or else its routers'."""
    return fabric.files[f"{fabric.top}.sv"]


def mutants_of(fabric: EmittedFabric) -> tuple[Mutant, ...]:
    """Return the mutants of the endpoints of a fabric, or of its routers, ejection buffer and channels without."""
    modules = [*fabric.modules.routers, fabric.modules.ejection, *fabric.modules.long]
    if fabric.top != fabric.modules.top:
        modules = [name for name in modules_of(text_of_all(fabric)) if name != fabric.top]
    return all_mutants(text_of_all(fabric), modules)


def stream_cases(bench: HasModel, phases: Iterable[int] | None = None) -> dict[str, Case]:
    """Return cases of bare streams by name, in the order in which they run: the first are short, and kill the most.

    Parameters
    ----------
    bench
    phases : iterable of int
        Of a slot, in which resets come in traffic; all if it is left out.
    """
    model = bench.model
    nodes, length = model.plan.network.num_nodes, model.timing.packet_length
    cases = {
        "hops": make_case("hops", model),
        "random": make_case("random", model, packets=400),
    }
    for phase in range(length) if phases is None else phases:
        for test, packets, slot in (("random", 20, 16), ("random", 20, 24), ("held", 12, 24)):
            times = {"seed": 2 + phase, "resets": [slot * length + phase]}
            cases[f"{test}, reset in slot {slot}, phase {phase}"] = make_case(
                test, model, packets=packets * nodes, **times
            )
    cases["held"] = make_case("held", model, packets=150 * nodes, seed=10)
    cases["exchange"] = make_case("exchange", model)
    return cases


def _streams(fabric: EmittedFabric) -> dict[str, Trial]:
    bench = StreamBench(fabric)
    return {name: (bench, case) for name, case in stream_cases(bench, FEW_PHASES).items()}


def _errors(fabric: EmittedFabric) -> dict[str, Trial]:
    """Without errors, and with few and many of them."""
    bench = ErrorBench(fabric)
    rare, often = (bench.make_case(packets=packets, rate=rate) for packets, rate in ((2000, 1e-3), (4000, 1e-2)))
    return {"errors in a thousandth": (bench, rare), "errors in a hundredth": (bench, often), **_streams(fabric)}


def _dead(fabric: EmittedFabric) -> dict[str, Trial]:
    bench = StreamBench(fabric)
    trials: dict[str, Trial] = {}
    for seed, dead in enumerate(("1,2", "0,1", "2,0"), 1):
        model = bench.model.with_faults(drawn_faults(dead, bench.machine.network, seed))
        trials[f"faults {dead}"] = bench, make_case("faults", model, packets=800, seed=seed)
    deaths = DeathBench(fabric)
    for phase in FEW_PHASES:
        faults = drawn_faults("1,2", bench.machine.network, phase)
        case = deaths.make_case(faults, packets=1600, dies=200 + phase, returns=900 + 2 * phase, seed=phase)
        trials[f"death in phase {phase}"] = deaths, case
    return {**trials, **_streams(fabric)}


def _relays(fabric: EmittedFabric) -> dict[str, Trial]:
    """Around what is dead, and by waypoints that nobody needs, at whose relays more packets wait; and reset in that."""
    bench = RelayBench(fabric)
    trials: dict[str, Trial] = {}
    for seed, (dead, packets) in enumerate((("1,1", 600), ("0,1", 2400), ("0,0", 4800), ("0,0", 1200)), 1):
        faults = drawn_faults(dead, bench.machine.network, seed)
        case = bench.make_case(faults, packets=packets, seed=seed, wander=dead == "0,0")
        trials[f"faults {dead}, {packets} packets"] = bench, case
    often = replace(case, resets=tuple(range(240, 480, 21)))
    return {**trials, "waypoints, resets": (bench, often)}


HELD = 4000
"""Cycles in which nothing is taken at first, so that all queues fill."""


def _frames(fabric: EmittedFabric) -> dict[str, Trial]:
    bench = AxiBench(fabric)
    return {
        "60 frames": (bench, bench.make_case(frames=60, seed=1)),
        "300 frames": (bench, bench.make_case(frames=300, seed=2)),
        "1000 short frames, held": (bench, bench.make_case(frames=1000, seed=3, hold=HELD, longest=8)),
    }


def _bursts(fabric: EmittedFabric) -> dict[str, Trial]:
    """At random memories, and at one, where writes, or reads, come to as many as may be under way."""
    bench = MemoryBench(fabric)
    return {
        "60 bursts": (bench, bench.make_case(bursts=60, seed=1)),
        "300 bursts": (bench, bench.make_case(bursts=300, seed=2)),
        "300 bursts, held": (bench, bench.make_case(bursts=300, seed=3, hold=HELD)),
        "100 bursts to one memory, writes held": (bench, bench.make_case(bursts=100, seed=4, hold=HELD, to_one=True)),
        "100 bursts to one memory, reads held": (bench, bench.make_case(bursts=100, seed=5, hold=HELD, to_one=True)),
    }


def _exchanges(fabric: EmittedFabric) -> dict[str, Trial]:
    """Undisturbed, reset in each phase of a slot, and with words turned over one by one."""
    bench = ExchangeBench(fabric, flips=True)
    rng, nodes, width = np.random.default_rng(1), bench.machine.network.num_nodes, bench.machine.spec.flit_width
    flips = tuple(Flip(cycle, int(rng.integers(nodes)), 1 << int(rng.integers(width))) for cycle in range(100, 1500, 3))
    cases = {
        "two exchanges": ExchangeCase(bench.waits),
        "exchanges, flits turned over": ExchangeCase((77, 1, 18), flips=flips),
        "exchange, resets": ExchangeCase((1,), resets=tuple(range(60, 180, 9))),
    }
    return {name: (bench, case) for name, case in cases.items()}


SAMPLE = 40

DESIGNS = {
    "default": Design(FabricSpec(network=NETWORK)),
    "voq": Design(FabricSpec(network=NETWORK, queueing="voq"), _streams, beside="default", sample=SAMPLE),
    "crc": Design(FabricSpec(network=NETWORK, crc=True), _errors, beside="default", sample=SAMPLE),
    "dead-pins": Design(FabricSpec(network=NETWORK, dead_pins=True), _dead, beside="default", sample=SAMPLE),
    "axi-stream": Design(FabricSpec(network=NETWORK, endpoints=AxiStreamSpec()), _frames, sample=SAMPLE),
    "axi4": Design(FabricSpec(network=NETWORK, endpoints=AxiMemorySpec()), _bursts, sample=SAMPLE),
    "relay": Design(FabricSpec(network=NETWORK, endpoints=RelaySpec(), dead_pins=True), _relays, sample=SAMPLE),
    "exchange": Design(FabricSpec(network=NETWORK, endpoints=ExchangeSpec()), _exchanges, sample=SAMPLE),
}
"""By name."""
