"""A page on which a network is explored."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.library.asked import asks
from hdnhw.library.options import MachineOptions, NetworkLike, NodeLike, PathLike, fabric_of, given, network_of, node_of
from hdnhw.library.picture import PICTURE_LIMIT, PICTURE_PORTS
from hdnhw.library.result import Result
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import Given, Options, Origin, Pattern, Rate, Size, option, seed_option
from hdnhw.support.errors import SpecError
from hdnhw.support.files import check_output, replacing
from hdnhw.support.naming import named
from hdnhw.support.progress import ProgressBar

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

MOST_SHOWN = 1 << 14
"""Cycles of a record, at most."""

OPERATIONS = ("broadcast", "scatter", "allgather", "exchange")
"""Collective operations that a page plays."""


class Page(Result):
    """A page of :func:`explore`, and what is on it; a notebook shows the page.

    Attributes
    ----------
    html : str
        The page.

    Examples
    --------
    >>> import hdnhw
    >>> page = hdnhw.explore("cube(2)", cycles=40)
    >>> page.bytes == len(page.html)
    True
    """

    def __init__(self, html: str, items: dict[str, Any]) -> None:
        super().__init__(items)
        self.html = html

    def _repr_html_(self) -> str:
        frame = 'width="100%" height="720" style="border: 1px solid #ccc" sandbox="allow-scripts" title="hdnhw explore"'
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>'


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(Options):
    """Options of the command ``explore``."""

    root: NodeLike = option(0, Given, "source of the broadcast and the scatter", metavar="NODE")
    rate: float = option(
        0.2, Rate, "flits per node per cycle offered in the recorded run", metavar="R", least=0, most=1
    )
    pattern: str = option("uniform", Pattern, "where packets go")
    cycles: int = option(
        400, Size, "cycles from reset on in which packets are created", metavar="N", least=1, most=MOST_SHOWN
    )
    seed: int = seed_option(1)
    command: str | None = option(None, Origin, "what the page says that it was made by", plain=True)


@asks
def explore(
    spec: NetworkLike,
    output: PathLike | None = None,
    *,
    asked: ExploreOptions,
    **machine: Annotated[Any, MachineOptions],
) -> Page:
    """Write an interactive page of a network: one HTML file that needs nothing else.

    It shows routes, disjoint paths, ways around dead nodes, collective operations step by step, packets of a run of the
    cycle-accurate model, and the load of channels; docs/explore.md says what each is.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
        Of up to 1024 nodes.
    output : path, optional
        Write the page there: .html or .htm.
    asked
    machine
        See :class:`hdnhw.MachineOptions`.

    Returns
    -------
    Page
        ``nodes``, ``edges``, ``operations``, ``packets`` recorded, ``bytes``, and ``missing``: what the page does not
        have, and why.

    Examples
    --------
    >>> import hdnhw
    >>> page = hdnhw.explore("cube(2)", cycles=40)
    >>> page.nodes, page.operations, page.html[:15]
    (4, ['broadcast', 'scatter', 'allgather', 'exchange'], '<!DOCTYPE html>')
    """
    from hdnhw.figures.explorer.page import explorer_page

    file = None if output is None else Path(output)
    if file is not None:
        check_output(named("output"), file, (".html", ".htm"))
    network = network_of(spec)
    if network.num_nodes > PICTURE_LIMIT:
        raise SpecError(f"page must be of at most {PICTURE_LIMIT} nodes; {network.spec} has {network.num_nodes}")
    if network.num_ports > PICTURE_PORTS:
        raise SpecError(f"page must have at most {PICTURE_PORTS} ports; {network.spec} has {network.num_ports}")
    load = {"rate": asked.rate, "pattern": asked.pattern, "seed": asked.seed}
    fabric, first = fabric_of(network.spec, None, machine), node_of(network, asked.root)
    missing: dict[str, str] = {}
    with ProgressBar() as bar:
        bar.show("routing", 0.0)
        plan, packets = _recorded(fabric, load, asked.cycles, missing)
        bar.show("schedules", 0.3)
        schedules = _schedules(network, first, missing)
        bar.show("page", 0.6)
        html = explorer_page(
            network, plan, schedules, packets, missing=missing, command=asked.command or _call(str(network.spec))
        )
    items: dict[str, Any] = {"spec": str(network.spec)}
    if file is not None:
        with replacing(file) as new:
            new.write_text(html, encoding="utf-8")
        items["file"] = str(output)
    items |= {
        "bytes": len(html.encode()),
        "nodes": network.num_nodes,
        "edges": network.num_ports // 2,
        "operations": list(schedules),
        "packets": 0 if packets is None else packets["count"],
        "missing": missing,
    }
    return Page(html, items)


def _call(spec: str) -> str:
    return f"hdnhw.explore({spec!r})"


def _recorded(
    fabric: FabricSpec, load: dict[str, Any], cycles: int, missing: dict[str, str]
) -> tuple[Any, dict[str, Any] | None]:
    """Return the routing plan and what a page holds of a record; None where there is none, and note why."""
    from hdnhw.figures.explorer.data import packet_data
    from hdnhw.machine.machine import Machine
    from hdnhw.measurement.load import LoadSpec
    from hdnhw.measurement.record import record
    from hdnhw.model.fabric import FabricModel
    from hdnhw.rules.plan import plan

    asked = LoadSpec(**load)
    try:
        made = plan(fabric.network, **given({"modes": fabric.modes, "lanes": fabric.lanes}))
        _ = made.circuit_rule
    except SpecError as error:
        missing |= {"routes": str(error), "packets": "there are no routes"}
        return None, None
    machine = Machine(fabric, made)
    kept = record(FabricModel(machine), asked, cycles)
    return made, packet_data(machine, kept, load | {"cycles": cycles})


def _schedules(network: "Network", root: int, missing: dict[str, str]) -> dict[str, Any]:
    """Return the schedules of the operations that a network has, and note why it has no others."""
    from hdnhw.collectives.executor import check_size
    from hdnhw.collectives.operations import operation_schedule

    found = {}
    for name in OPERATIONS:
        try:
            check_size(network)
            found[name] = operation_schedule(network, name, root=root)
        except SpecError as error:
            missing[name] = str(error)
    return found
