"""The emitted Verilog simulated beside the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from hdnhw.endpoints import declared
from hdnhw.library.asked import asks
from hdnhw.library.hardware import VerilogOptions
from hdnhw.library.options import EndpointOptions, MachineOptions, NetworkLike, given, spec_of
from hdnhw.library.result import Result
from hdnhw.library.simulation import FAULTS
from hdnhw.spec import NetworkSpec
from hdnhw.spec.load import LoadOptions
from hdnhw.spec.options import Choice, Given, Pattern, Rate, Size, option, seed_option

SIMULATORS = ("verilator", "icarus")

TESTS = ("hops", "random", "exchange")
"""The tests that run unless one is asked for."""


def kinds_of_tests() -> dict[str, str]:
    """Return the kinds of endpoints that have a test, by the names of these."""
    return {spec.test: kind for kind, spec in declared("spec").items() if spec.test}


ALL_TESTS = (*TESTS, "load", "faults", "errors", "rig", *kinds_of_tests())
"""The tests that there are."""

MOST_PAUSES = 192
"""Of 256: with more, a run may take longer than the bench waits."""

ERROR_RATE = 1e-4
"""How often a wire is turned over, unless it is said."""


@dataclass(frozen=True, kw_only=True)
class CosimOptions(VerilogOptions, LoadOptions):
    """Options of the command ``cosim``.

    Attributes
    ----------
    spec : NetworkSpec
    machine : mapping of str to Any
        Options of the machine, and of endpoints, that are given.
    said : tuple of str
        The other options that are given.
    """

    without: ClassVar[tuple[str, ...]] = ("warmup", "precision")

    test: str | None = option(
        None, Choice, "one test (default: the first three); load has options of its own", choices=ALL_TESTS
    )
    simulator: str = option(SIMULATORS[0], Choice, "what simulates", choices=SIMULATORS)
    packets: int = option(
        10_000,
        Size,
        "packets of the random, faults and errors tests, and of each router of the rig test",
        metavar="N",
        least=1,
    )
    error_rate: float | None = option(
        None,
        Rate,
        f"how often a wire of a channel is turned over in a cycle of the errors test (default {ERROR_RATE:g}), or a "
        "bit on the wires between chips (default: never, a hundredth of that, and that)",
        metavar="R",
        least=0,
        most=1,
        open=True,
    )
    resets: str | Sequence[int] | None = option(
        None,
        Given,
        "cycles after each of which the fabric is reset and the random test begins again",
        metavar="N,N",
    )
    frames: int = option(2000, Size, "frames of the axi test", metavar="N", least=1)
    bursts: int = option(2000, Size, "bursts of the axi4 test", metavar="N", least=1)
    seed: int = seed_option(1, "all but the hops and exchange tests")
    faults: str | int | tuple[int, int] | None = option(None, Given, f"faults test: {FAULTS}", metavar="N[,C]")
    pattern: str = option("uniform", Pattern, "where packets go", group="load")
    source_gap: int = option(
        0,
        Size,
        "how often a source pauses before a flit, or before a gapless packet, of 256",
        metavar="P",
        least=0,
        most=MOST_PAUSES,
        group="load",
    )
    sink_stall: int = option(
        0, Size, "how often a sink pauses in a cycle, of 256", metavar="P", least=0, most=MOST_PAUSES, group="load"
    )

    spec: NetworkSpec | None = None
    machine: Mapping[str, Any] = field(default_factory=dict)
    said: tuple[str, ...] = ()


@asks
def cosim(
    spec: NetworkLike,
    *,
    asked: CosimOptions,
    said: tuple[str, ...],
    **options: Annotated[Any, MachineOptions, EndpointOptions],
) -> Result:
    """Simulate the emitted Verilog under cocotb and compare it with the model; needs the extra ``sim``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    options
        Those of :class:`hdnhw.MachineOptions`, and of the endpoints of the test.

    Returns
    -------
    Result
        As docs/lockstep.md describes it: packets, cycles, and how many were lost, misrouted or in another cycle than
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
    from hdnhw.library.benches import cosim

    cycles = asked.resets
    if cycles is not None and not isinstance(cycles, str):
        asked = replace(asked, resets=",".join(map(str, cycles)))
    return cosim(replace(asked, spec=spec_of(spec), machine=given(options), said=said))


def demo() -> Result:
    """Do the main job on a small network, in a few minutes."""
    from hdnhw.library.benches import demo

    return demo()
