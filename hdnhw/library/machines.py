"""Machines on a network, measured side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.fpga.family import FAMILIES, PLACED_FAMILIES
from hdnhw.fpga.spec import MOST_PLACEMENTS
from hdnhw.library.asked import DrawnOptions, asks, made_by, plot_of
from hdnhw.library.options import (
    FigureOptions,
    MachineOptions,
    NetworkLike,
    PathLike,
    figure_apart,
    machine_words,
    spec_of,
)
from hdnhw.library.result import Result
from hdnhw.spec import FabricSpec, NetworkSpec
from hdnhw.spec.options import Choice, Repeated, Size, option, options_of
from hdnhw.support.progress import ProgressBar
from hdnhw.support.workers import start_of

if TYPE_CHECKING:
    from hdnhw.fpga.side_by_side import Measured

MOST_BITS, MOST_HOPS = 1 << 18, 1 << 20
"""Of a packet, and of a route."""

SHAPE = ("packet_length", "flit_width")
"""Options that say in how many flits of how many bits a packet is."""


@dataclass(frozen=True, kw_only=True)
class MachinesOptions(DrawnOptions):
    """Options of the command ``machines``."""

    machine: Sequence[Mapping[str, Any]] | None = option(
        None,
        Repeated,
        "a machine to measure in place of the usual ones, as in --machine '--buffers 8 --queueing voq' or "
        "--machine=--crc; repeat it for more; in Python a list such as [{'buffers': 8, 'queueing': 'voq'}, {'crc': "
        "True}]; options of a machine outside of it hold for all",
        metavar="OPTIONS",
    )
    packet_bits: int = option(256, Size, "bits of a packet", metavar="N", least=1, most=MOST_BITS)
    hops: int = option(4, Size, "channels of the latency", metavar="H", least=1, most=MOST_HOPS)
    family: str = option("ecp5", Choice, "FPGA family; docs/synthesis.md lists them", choices=tuple(PLACED_FAMILIES))
    placements: int = option(3, Size, "place-and-route runs", metavar="N", least=1, most=MOST_PLACEMENTS)
    plot: PathLike | None = plot_of("Gbit/s per node against ns")
    command: str = made_by("hdnhw.machines")


@asks
def machines(
    spec: NetworkLike, *, asked: MachinesOptions, **options: Annotated[Any, MachineOptions, FigureOptions]
) -> Result:
    """Compare router configurations on a network: area, clock, latency and throughput.

    Needs the extras ``flow`` and ``parquet``, and for a plot ``sweep``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    options
        See :class:`hdnhw.MachineOptions`; they hold for all machines. Also :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        ``machines``, a row for each as docs/machines.md describes it, ``left_out``, those that cannot be built and why,
        and what was asked for; `passed` is False where a tool gave up.

    Raises
    ------
    TypeError
        If there is no such option.
    SpecError
        If an option is out of range, or no machine can be built.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.machines("cube(2)", machine=[{"buffers": 4}, {"buffers": 8}])  # doctest: +SKIP
    >>> [(row["options"], row["fmax_mhz"], row["ns"]) for row in found.machines]  # doctest: +SKIP
    """
    from hdnhw.figures.machines import machines_sheet
    from hdnhw.fpga.side_by_side import buildable, measure_machines

    network, (common, figure) = spec_of(spec), figure_apart(options)
    outputs = asked.outputs_of(figure)
    family, placements = asked.family, asked.placements
    machines = _asked(asked.machine, common)
    found, left_out = buildable(network, machines, packet_bits=asked.packet_bits, family=family)
    with ProgressBar() as bar:
        start = start_of(None, None, bar.say)
        measured, failed = measure_machines(found, start, family=family, placements=placements, progress=bar.show)
    rows = _rows(measured, network, asked.hops, family)
    about = {"packet_bits": asked.packet_bits, "hops": asked.hops, "seeds": placements, "family": family}
    about |= {"device": FAMILIES[family].device, "speed": FAMILIES[family].speed}
    if rows:
        outputs.write(machines_sheet(rows, str(network), about))
    without = [{"options": machine_words(one.options), "why": one.why} for one in (*left_out, *failed)]
    return Result(
        {"spec": str(network), **about, "machines": rows, "left_out": without},
        passed=bool(rows) and not any(one.failed for one in failed),
    )


def _asked(machine: Sequence[Mapping[str, Any]] | None, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the options of the machines that are asked for: what holds for all takes the place of what each has."""
    from hdnhw.fpga.side_by_side import usual_machines

    replaced = {*options, *(SHAPE if options.keys() & set(SHAPE) else ())}
    asked = [dict(one) for one in (usual_machines() if machine is None else machine)]
    for name in dict.fromkeys(name for one in (options, *asked) for name in one):
        if name not in options_of(FabricSpec):
            raise TypeError(f"there is no option {name!r} of a machine")
    return [{name: value for name, value in one.items() if name not in replaced} | dict(options) for one in asked]


def _rows(measured: "Sequence[Measured]", network: NetworkSpec, hops: int, family: str) -> list[dict[str, Any]]:
    """Return a row for each machine: what it is, and what it gives."""
    from hdnhw.fpga.side_by_side import default_options, front, options_given

    default, best = default_options(network, family), front(measured, hops)
    rows = []
    for one in measured:
        spec, share = one.machine.spec, one.bound_share
        rows.append(
            {
                "packet": f"{spec.packet_length}x{spec.flit_width}",
                "options": machine_words(options_given(spec)),
                **one.machine.options(),
                "sites": one.sites,
                "block_rams": one.block_rams,
                "fmax_mhz": one.fmax_mhz,
                "fmax_of_seed": list(one.fmax_of_seed),
                "latency_cycles": one.latency_cycles(hops),
                "ns": round(one.latency_ns(hops), 1),
                "saturation_throughput": round(one.saturation_throughput, 6),
                "saturation_bound": one.saturation_bound,
                "bound_share": None if share is None else round(share, 4),
                "gbits_per_node": round(one.gbits_per_node, 3),
                "gbits_per_1000_sites": round(one.gbits_per_1000_sites, 3),
                "front": one in best,
                "default": one.machine.options() == default,
            }
        )
    return rows
