"""The emitted Verilog simulated beside the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from hdnhw.library.options import NetworkLike, check_integers, given, spec_of
from hdnhw.library.result import Result
from hdnhw.spec import NetworkSpec


@dataclass(frozen=True, kw_only=True)
class CosimOptions:
    """What is asked of a simulation of the Verilog, by the names of the options of ``cosim``.

    Attributes
    ----------
    spec : NetworkSpec
    machine : mapping of str to Any
        Options of the machine, and of endpoints, that are given.
    """

    spec: NetworkSpec
    test: str | None
    simulator: str
    packets: int
    error_rate: float | None
    resets: str | None
    frames: int
    bursts: int
    seed: int
    pattern: str | None
    injection: str | None
    lengths: str | None
    rate: float | None
    cycles: int | None
    source_gap: int | None
    sink_stall: int | None
    faults: str | int | tuple[int, int] | None
    no_initial: bool
    node_clocks: bool
    machine: Mapping[str, Any]


def cosim(
    spec: NetworkLike,
    *,
    test: str | None = None,
    simulator: str = "verilator",
    packets: int = 10_000,
    error_rate: float | None = None,
    resets: str | Sequence[int] | None = None,
    frames: int = 2000,
    bursts: int = 2000,
    seed: int = 1,
    pattern: str | None = None,
    injection: str | None = None,
    lengths: str | None = None,
    rate: float | None = None,
    cycles: int | None = None,
    source_gap: int | None = None,
    sink_stall: int | None = None,
    faults: str | int | tuple[int, int] | None = None,
    no_initial: bool = False,
    node_clocks: bool = False,
    **options: Any,
) -> Result:
    """Simulate the emitted Verilog under cocotb and compare it with the model; needs the extra ``sim``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    test : str, optional
        ``hops``, ``random``, ``exchange``, ``load``, ``faults``, ``errors``, ``rig``, ``axi`` or ``axi4``; default: the
        first three.
    simulator : str
        ``verilator`` or ``icarus``.
    packets : int
        Of the random, faults and errors tests, and of each router of the rig test.
    error_rate : float, optional
        Of the errors test: how often a wire of a channel is turned over in a cycle (default 0.0001).
    resets : str or sequence of int, optional
        Of the random test: cycles after each of which the fabric is reset and the test begins again.
    frames, bursts : int
        Of the axi and the axi4 test.
    seed : int
        Of the random numbers of all but the hops and exchange tests.
    pattern, injection, lengths, rate, cycles
        Of the load test, see :func:`hdnhw.simulate`; it begins at reset.
    source_gap, sink_stall : int, optional
        Of the load test: how often a source pauses before a flit, and a sink in a cycle, of 256 (default 0).
    faults : int, str or tuple of int, optional
        Of the faults test: draw so many dead nodes, or dead nodes and dead channels.
    no_initial : bool
        No initial values of registers and memories, for ASICs: they have none before the first reset.
    node_clocks : bool
        Each node's terminal has a clock and a reset of its own.
    options
        Those of :class:`hdnhw.MachineOptions`, and of the endpoints of the test.

    Returns
    -------
    Result
        As docs/simulation.md describes it: packets, cycles, and how many were lost, misrouted or in another cycle than
        on the model, and ``runs``, a row for each; `passed` is whether all was as it should be.

    Raises
    ------
    SpecError
        If an option is out of range, or does not go with the test.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.cosim("cube(2)", test="random", packets=1000, packet_length=4)  # doctest: +SKIP
    >>> found.passed, found.packets, found.cycle_mismatches  # doctest: +SKIP
    (True, 1000, 0)
    """
    check_integers(
        packets=packets, frames=frames, bursts=bursts, seed=seed, source_gap=source_gap, sink_stall=sink_stall
    )
    asked = CosimOptions(
        spec=spec_of(spec),
        test=test,
        simulator=simulator,
        packets=packets,
        error_rate=error_rate,
        resets=resets if resets is None or isinstance(resets, str) else ",".join(map(str, resets)),
        frames=frames,
        bursts=bursts,
        seed=seed,
        pattern=pattern,
        injection=injection,
        lengths=lengths,
        rate=rate,
        cycles=cycles,
        source_gap=source_gap,
        sink_stall=sink_stall,
        faults=faults,
        no_initial=no_initial,
        node_clocks=node_clocks,
        machine=given(options),
    )
    return _bench()(asked)


def _bench() -> Callable[[CosimOptions], Result]:
    """Return what simulates; it lies outside the package, in the module of the command."""
    (point,) = entry_points(group="hdnhw.commands", name="cosim")
    run: Callable[[CosimOptions], Result] = import_module(point.module).run_cosim
    return run
