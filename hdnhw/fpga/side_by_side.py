"""Machines on one network side by side: the size and clock of their routers, and the rates and cycles of the model.

All have packets of the same bits, in flits of different widths. Synthesis tells sites, block RAMs and clock of a router
of the fullest shape; the model tells the saturation throughput in flits per cycle, and the timing the cycles of a
packet that nothing delays. Together they are what a user gets: nanoseconds, and bits per second.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from hdnhw.fpga.block_ram import choose_ram
from hdnhw.fpga.family import DEVICES, FAMILIES
from hdnhw.fpga.spec import SynthSpec
from hdnhw.fpga.synth import SYNTH_ROOT, synthesize
from hdnhw.fpga.tools import TooLargeError, ToolError
from hdnhw.machine.machine import Machine, make_machine
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.results import ResultsFile
from hdnhw.measurement.sweep import Sweep
from hdnhw.spec import FabricSpec, NetworkSpec
from hdnhw.spec.options import Choice, options_of
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.support.progress import Progress
from hdnhw.topology.metrics import neighbor_table

Options = Mapping[str, Any]

MODEL = (
    "core",
    "machine",
    "measurement",
    "model",
    "networks",
    "multipath",
    "circuits",
    "rules",
    "spec",
    "support",
    "topology",
    "traffic",
)
"""Folders whose code decides what the model does."""


@dataclass(frozen=True)
class LeftOut:
    """A machine without figures.

    Attributes
    ----------
    options : mapping
        Those that it was asked for with.
    why : str
    failed : bool
        Whether a tool has failed, so that it may be there another time.
    """

    options: Options
    why: str
    failed: bool = False


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A machine with its figures.

    Attributes
    ----------
    machine : Machine
    sites, block_rams : int
        Of a router.
    fmax_mhz : float
        The median of the seeds.
    fmax_of_seed : tuple of float
    saturation_throughput : float
        Flits per node per cycle, see :class:`hdnhw.measurement.sweep.Sweep`.
    saturation_bound : float or None
        Likewise; None if the network is too large to route all pairs.
    """

    machine: Machine
    sites: int
    block_rams: int
    fmax_mhz: float
    fmax_of_seed: tuple[float, ...]
    saturation_throughput: float
    saturation_bound: float | None

    def latency_cycles(self, hops: int) -> float:
        """Return the zero-load latency over so many channels, the mean over the phases in which a head flit comes.

        Where channels differ, hops take the mean of all channels.
        """
        machine, timing = self.machine, self.machine.timing
        longer = [machine.channels.stages[port] for port in np.nonzero(neighbor_table(machine.network) >= 0)[1]]
        each = (timing.zero_load_latency(hops, phase) for phase in range(timing.packet_length))
        return float(mean(each)) + (hops * mean(longer) if longer else 0.0)

    def latency_ns(self, hops: int) -> float:
        """Return :meth:`latency_cycles` at the clock of the router, in nanoseconds."""
        return 1000 * self.latency_cycles(hops) / self.fmax_mhz

    @property
    def bound_share(self) -> float | None:
        """The saturation throughput as a share of the bound, or of 1, which is all that a terminal can take."""
        return None if self.saturation_bound is None else self.saturation_throughput / min(1.0, self.saturation_bound)

    @property
    def gbits_per_node(self) -> float:
        """The saturation throughput at the clock of the router, in Gbit/s of flits per node."""
        return self.saturation_throughput * self.machine.spec.flit_width * self.fmax_mhz / 1000

    @property
    def gbits_per_1000_sites(self) -> float:
        """Gbit/s of flits per node, for each 1000 sites of its router."""
        return 1000 * self.gbits_per_node / self.sites


def usual_machines() -> list[dict[str, Any]]:
    """Return the options of the machines that are measured unless others are asked for; the first is the default.

    More and fewer packet buffers; every other value of each option that is a choice, so that a new one is there by
    itself; packets in fewer, wider flits; and those of the least latency from sources that send packets gapless.
    """
    choices = [
        {name: value}
        for name, option in options_of(FabricSpec).items()
        if isinstance(option, Choice)
        for value in option.choices[1:]
    ]
    deep = {"buffers": 8}
    fast = [options | {"gapless_packets": True} for options in ({"switching": "cut-through"}, {"packet_length": 4})]
    wide = [{"packet_length": length} for length in (4, 2)]
    return [{}, {"buffers": 2}, deep, *choices, deep | {"queueing": "voq"}, *wide, *fast]


def options_given(spec: FabricSpec) -> dict[str, Any]:
    """Return the options of a machine by their names, without the values that defaults stand for."""
    return {name: getattr(spec, name) for name in options_of(spec)}


def default_options(network: NetworkSpec, family: str) -> dict[str, Any] | None:
    """Return the options of the machine of which nothing is asked, with all values; None if it cannot be built."""
    try:
        return _on_device(FabricSpec(network=network), family).options()
    except SpecError:
        return None


def _on_device(fabric: FabricSpec, family: str) -> Machine:
    """Return a machine whose packet buffers are in the RAM that a device has for a router."""
    return make_machine(choose_ram(fabric, DEVICES[FAMILIES[family].device], routers=1))


def _fabric(network: NetworkSpec, options: Options, packet_bits: int) -> FabricSpec:
    """Return a machine whose packets have so many bits; of length and width, the one that is not given follows."""
    usual = FabricSpec(network=network).packet_length
    length, width = options.get("packet_length"), options.get("flit_width")
    if length is None:
        length = usual if width is None else packet_bits // max(1, width)
    if width is None:
        width = packet_bits // max(1, length)
    fabric = FabricSpec(network=network, **{**options, "packet_length": length, "flit_width": width})
    if length * width != packet_bits:
        raise SpecError(f"{length} flits of {width} bits are no packet of {packet_bits} bits")
    return fabric


def buildable(
    network: NetworkSpec, asked: Iterable[Options], *, packet_bits: int, family: str
) -> tuple[list[Machine], list[LeftOut]]:
    """Return the machines that can be built, each once, and those that cannot.

    Parameters
    ----------
    network : NetworkSpec
    asked : iterable of mapping
        The options of each, by the names of the members of :class:`FabricSpec`.
    packet_bits : int
        Bits of a packet: all flits of it, with the header.
    family : str
        One of :data:`hdnhw.fpga.family.FAMILIES`; its device may have too few block RAMs for a router.

    Raises
    ------
    SpecError
        If none can be built.
    """
    found: dict[tuple[Any, ...], Machine] = {}
    left_out = []
    for options in asked:
        try:
            machine = _on_device(_fabric(network, options, packet_bits), family)
        except (SpecError, RuleError) as error:
            left_out.append(LeftOut(options, str(error)))
            continue
        found.setdefault(tuple(machine.options().values()), machine)
    if not found:
        raise SpecError(left_out[0].why if left_out else "there must be a machine to measure")
    return list(found.values()), left_out


def measure_machines(
    machines: Sequence[Machine],
    start: Callable[[], AbstractContextManager[Executor]],
    *,
    family: str = "ecp5",
    placements: int = 3,
    root: Path = SYNTH_ROOT,
    progress: Progress = lambda *_: None,
) -> tuple[list[Measured], list[LeftOut]]:
    """Measure machines on one network; take from `root` what is there already.

    Parameters
    ----------
    machines : sequence of Machine
    start : callable
        Starts the workers of :meth:`hdnhw.measurement.sweep.Sweep.run`.
    family : str
    placements : int
        Runs of place-and-route of each router.
    root : Path
        See :func:`hdnhw.fpga.synth.synthesize`; the points of the model are there too.
    progress : callable
        Is told what is being done and the share that is: of synthesis, then of the model.

    Returns
    -------
    measured : list of Measured
    left_out : list of LeftOut
        Those that are too large for the device, or of which a tool has failed.

    Raises
    ------
    SpecError
        If the runs are out of range, or the network is too large for the model.
    """
    specs = [SynthSpec(fabric=machine.spec, family=family, placements=placements) for machine in machines]
    distinct = {machine.spec.timed: machine.spec for machine in machines}
    results = ResultsFile(root / f"model-{_model_digest()}.parquet")
    sweep = Sweep(list(distinct.values()), LoadSpec(), rates=None, results=results, progress=progress)
    synthesized, left_out = _synthesize(specs, root, progress)
    if not synthesized:
        return [], left_out
    curves = dict(zip(distinct, sweep.run(start), strict=True))
    measured = []
    for machine in machines:
        result, curve = synthesized.get(machine.spec), curves[machine.spec.timed]
        if result is not None:
            measured.append(_measured(machine, result, curve))
    return measured, left_out


def _synthesize(
    specs: Sequence[SynthSpec], root: Path, progress: Progress
) -> tuple[dict[FabricSpec, dict[str, Any]], list[LeftOut]]:
    """Return the results of synthesis, and the machines without one."""
    results, left_out = {}, []
    for number, spec in enumerate(specs):
        fabric = spec.fabric
        shape = f"{number} of {len(specs)} machines: {fabric.packet_length} x {fabric.flit_width} bits"
        try:
            results[fabric] = synthesize(spec, root=root, say=partial(_tell, progress, shape, number / len(specs)))
        except ToolError as error:
            left_out.append(LeftOut(options_given(fabric), str(error), failed=not isinstance(error, TooLargeError)))
    return results, left_out


def _tell(progress: Progress, what: str, share: float, message: str) -> None:
    progress(f"{what}; {message.strip()}", share)


def _measured(machine: Machine, result: Mapping[str, Any], curve: Mapping[str, Any]) -> Measured:
    return Measured(
        machine=machine,
        sites=result["comb_sites"],
        block_rams=result["ram_cells"].get(FAMILIES[result["family"]].block_ram, 0),
        fmax_mhz=result["fmax_mhz"],
        fmax_of_seed=tuple(result["fmax_of_seed"]),
        saturation_throughput=curve["saturation_throughput"],
        saturation_bound=curve["saturation_bound"],
    )


def _model_digest() -> str:
    """Return 16 hexadecimal digits of the model's code, and of what runs it: points of others are measured anew."""
    package = Path(__file__).parents[1]
    paths = [*package.glob("*.py"), *(path for folder in MODEL for path in (package / folder).rglob("*.[cph]*"))]
    paths = [path for path in paths if path.suffix in (".py", ".cpp", ".hpp")]
    numpy = f"numpy {version('numpy')}".encode()
    return hashlib.sha256(b"\0".join([numpy, *(path.read_bytes() for path in sorted(paths))])).hexdigest()[:16]


def front(measured: Sequence[Measured], hops: int) -> list[Measured]:
    """Return the machines that no other one beats: in sites, block RAMs, latency over some hops, and Gbit/s per node.

    One beats another if it is no worse in any of the four and better in one.
    """
    figures = [(one.sites, one.block_rams, one.latency_ns(hops), -one.gbits_per_node) for one in measured]
    return [
        one
        for one, own in zip(measured, figures, strict=True)
        if not any(other != own and all(a <= b for a, b in zip(other, own, strict=True)) for other in figures)
    ]
