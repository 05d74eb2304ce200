"""Bounds of the latency and the rate of flows."""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from hdnhw.library.asked import asks
from hdnhw.library.options import MachineOptions, NetworkLike, PathLike, fabric_of
from hdnhw.library.result import Result
from hdnhw.spec.load import LEAST_RATE
from hdnhw.spec.options import Given, Options, Rate, Size, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.traffic.declared import MOST_BURST, all_flows, read_flows

SHOWN = 10
"""Flows that are told one by one: those with the longest latencies."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeOptions(Options):
    """Options of the command ``guarantees``."""

    rate: float | None = option(
        None,
        Rate,
        "flits per node per cycle that are declared, shared evenly by its flows to all other nodes",
        metavar="R",
        least=LEAST_RATE,
        most=1,
        unit="flits per node per cycle",
    )
    burst: int | None = option(
        None,
        Size,
        "packets of a flow that may come at once, with --rate (default 1)",
        metavar="N",
        least=1,
        most=MOST_BURST,
    )
    declared: PathLike | None = option(
        None,
        Given,
        "flows in place of those of all pairs: a text file with a line SOURCE DESTINATION [RATE [BURST]] for each, the "
        "rate in flits per cycle",
        metavar="FILE",
    )
    flows: PathLike | None = option(
        None, Given, "write a row for each flow to a file, .parquet or .csv", metavar="FILE"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.declared is not None and self.rate is not None:
            raise SpecError(f"{named('rate')} does not go with {named('declared')}: the file has the rates")
        if self.burst is not None and self.rate is None:
            raise SpecError(f"{named('burst')} needs {named('rate')}")


@asks
def guarantees(spec: NetworkLike, *, asked: GuaranteeOptions, **machine: Annotated[Any, MachineOptions]) -> Result:
    """Bound the latency and the rate of flows, for any traffic and for declared rates.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    machine
        See :class:`hdnhw.MachineOptions`.

    Returns
    -------
    Result
        ``latency``, most cycles of each flow for any traffic, and ``rate``, the least flits per cycle that each gets;
        ``declared_latency``, most cycles at the declared rates; docs/guarantees.md describes the rest.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.guarantees("torus(4)", rate=0.1, buffers=8)
    >>> found.latency["most"], found.declared_latency["most"]
    (661, 77)
    """
    from hdnhw.machine.machine import make_machine
    from hdnhw.measurement.calculus import Calculus
    from hdnhw.measurement.guarantees import Guarantees
    from hdnhw.support.columns import check_columns, write_columns

    built = make_machine(fabric_of(spec, None, machine))
    if asked.flows is not None:
        check_columns("flows", Path(asked.flows))
    if asked.declared is None:
        flows = all_flows(built.network, asked.rate, asked.burst or 1)
    else:
        flows = read_flows(Path(asked.declared), built.network)
    found = Guarantees(built, flows)
    columns: dict[str, list[Any]] = {
        "source": [flow.source for flow in flows],
        "destination": [flow.destination for flow in flows],
        "hops": [len(route) - 1 for route in found.routes],
        "zero_load_latency": found.zero_load_latency,
        "latency": found.latency,
        "rate": [float(f"{rate:.6g}") for rate in found.rate],
    }
    result: dict[str, Any] = {"spec": str(built.network.spec), "flow_count": len(flows)}
    result |= {name: _spread(columns[name]) for name in ("zero_load_latency", "latency", "rate")}
    if flows[0].rate is not None:
        declared = Calculus(found).declared()
        if declared.latency is not None:
            columns["declared_latency"] = declared.latency
        result["declared_latency"] = _spread(declared.latency) if declared.latency else None
        result["note"] = None if declared.latency else _note(declared.buffers)
    if asked.flows is not None:
        write_columns(columns, Path(asked.flows))
    longest = sorted(range(len(flows)), key=lambda flow: (-columns["latency"][flow], flow))[:SHOWN]
    return Result({**result, "longest": [{name: values[flow] for name, values in columns.items()} for flow in longest]})


def _spread(values: list[Any]) -> dict[str, Any]:
    return {"least": min(values), "mean": float(f"{fmean(values):.6g}"), "most": max(values)}


def _note(buffers: int | None) -> str:
    """Say why there is no bound for declared rates."""
    if buffers is None:
        return "no bound is known for these rates"
    return f"a queue may fill at these rates; with {named('buffers', buffers)} none does"
