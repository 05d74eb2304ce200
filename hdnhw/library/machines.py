"""Machines on a network, measured side by side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from hdnhw.flow.family import FAMILIES, PLACED_FAMILIES
from hdnhw.library.options import (
    DrawnMachineOptions,
    NetworkLike,
    PathLike,
    check_choice,
    check_integers,
    figure_apart,
    machine_words,
    spec_of,
)
from hdnhw.library.result import Result
from hdnhw.library.workers import start_of
from hdnhw.progress import ProgressBar
from hdnhw.spec import FabricSpec, NetworkSpec, SpecError
from hdnhw.spec.options import options_of

if TYPE_CHECKING:
    from hdnhw.flow.machines import Measured

SHAPE = ("packet_length", "flit_width")
"""Options that say in how many flits of how many bits a packet is."""


def machines(
    spec: NetworkLike,
    *,
    machine: Sequence[Mapping[str, Any]] | None = None,
    packet_bits: int = 256,
    hops: int = 4,
    family: str = "ecp5",
    seeds: int = 3,
    plot: PathLike | None = None,
    html: PathLike | None = None,
    command: str = "hdnhw.machines",
    **options: Unpack[DrawnMachineOptions],
) -> Result:
    """Measure machines that can be built on a network, and say which are worth it.

    Needs the extras ``flow`` and ``parquet``, and for a plot ``sweep``.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    machine : sequence of mapping, optional
        Machines to measure in place of the usual ones: the options of each, as in
        ``[{"buffers": 8, "queueing": "voq"}, {"crc": True}]``.
    packet_bits : int
        Bits of a packet.
    hops : int
        Channels of the latency.
    family : str
        Of FPGAs, one that tools place and route; docs/synthesis.md lists them.
    seeds : int
        Runs of place-and-route.
    plot : path, optional
        Draw Gbit/s a node against ns there: .svg, .png or .pdf.
    html : path, optional
        Write a page there with the figure, all tables and the options.
    command : str
        What plot and page say that they were made by.
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
    from hdnhw.flow.machines import MOST_HOPS, buildable, measure_machines
    from hdnhw.report.look import look_of
    from hdnhw.report.machines import machines_sheet
    from hdnhw.report.outputs import Outputs

    network = spec_of(spec)
    check_integers(packet_bits=packet_bits, hops=hops, seeds=seeds)
    check_choice("family", family, PLACED_FAMILIES)
    if not 1 <= hops <= MOST_HOPS:
        raise SpecError(f"hops must be 1 to {MOST_HOPS}, not {hops}")
    common, figure = figure_apart(options)
    outputs = Outputs(plot, html, command, look_of(figure, plot, html))
    asked = _asked(machine, common)
    found, left_out = buildable(network, asked, packet_bits=packet_bits, family=family)
    with ProgressBar() as bar:
        start = start_of(None, None, bar.say)
        measured, failed = measure_machines(found, start, family=family, seeds=seeds, progress=bar.show)
    rows = _rows(measured, network, hops, family)
    about = {"packet_bits": packet_bits, "hops": hops, "seeds": seeds, "family": family}
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
    from hdnhw.flow.machines import usual_machines

    replaced = {*options, *(SHAPE if options.keys() & set(SHAPE) else ())}
    asked = [dict(one) for one in (usual_machines() if machine is None else machine)]
    for name in dict.fromkeys(name for one in (options, *asked) for name in one):
        if name not in options_of(FabricSpec):
            raise TypeError(f"there is no option {name!r} of a machine")
    return [{name: value for name, value in one.items() if name not in replaced} | dict(options) for one in asked]


def _rows(measured: "Sequence[Measured]", network: NetworkSpec, hops: int, family: str) -> list[dict[str, Any]]:
    """Return a row for each machine: what it is, and what it gives."""
    from hdnhw.flow.machines import default_options, front, options_given

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
