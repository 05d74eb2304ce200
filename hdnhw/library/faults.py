"""Dead nodes and channels: what routing still joins, and the ways around them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.library.asked import DrawnOptions, WorkerOptions, asks, made_by, plot_of
from hdnhw.library.options import (
    FigureOptions,
    NetworkLike,
    NodeLike,
    PathLike,
    RuleOptions,
    checked_rates,
    figure_apart,
    given,
    node_of,
    spec_of,
)
from hdnhw.library.result import Result
from hdnhw.spec import NetworkSpec
from hdnhw.spec.options import Flag, Given, Options, Rate, Several, Size, option, seed_option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.support.progress import ProgressBar
from hdnhw.support.workers import start_of

if TYPE_CHECKING:
    from hdnhw.figures.outputs import Outputs
    from hdnhw.multipath.waypoints import Way
    from hdnhw.topology.faults import Faults
    from hdnhw.topology.graph import Network

MOST_WAYPOINTS, MOST_BY_DEFAULT = 8, 3
"""Of a packet: most that there can be, and most that are looked for."""

MOST_PAIRS = 1_000_000
"""Drawn of each case."""

MOST_RATE = 0.95
"""Share of dead nodes for which pairs are told apart by case."""

PATH_KINDS = ("short", "address", "mended")
"""Algorithms of disjoint paths whose loss is counted by case."""

ABOUT = ("spec", "modes", "nodes", "channel_rate", "trials", "seed")
"""Of what a survey says: what is alike at all rates."""

RATES, PAIRS = "0,0.05,0.1,0.15,0.2,0.25,0.3", 1000
"""By case: shares of dead nodes, and pairs of each case, if none are given."""


def waypoints_option(default: int | None) -> Any:
    """Return the option that says how many waypoints a packet names."""
    most = f" (default {MOST_BY_DEFAULT})" if default is None else ""
    return option(
        default, Size, f"maximum number of waypoints per packet{most}", metavar="W", least=0, most=MOST_WAYPOINTS
    )


@dataclass(frozen=True, kw_only=True)
class FaultOptions(DrawnOptions, WorkerOptions):
    """Options of the command ``faults``."""

    fault_rate: float | None = option(
        None, Rate, "share of dead nodes (default 0.1)", metavar="F", least=0, most=1, open=True
    )
    channel_fault_rate: float | None = option(
        None, Rate, "share of the other channels that are dead (default 0)", metavar="F", least=0, most=1, open=True
    )
    trials: int = option(100, Size, "sets of faults", metavar="N", least=1)
    waypoints: int = waypoints_option(MOST_BY_DEFAULT)
    seed: int = seed_option(1)
    by_case: bool = option(
        False,
        Flag,
        "on a dual-net, for pairs in one cluster (A), in clusters of two classes (B) and in two of a class (C): what "
        "is left of disjoint paths made without knowing the faults, beside what waypoints join",
    )
    fault_rates: str | Sequence[float] | None = option(
        None,
        Given,
        f"shares of dead nodes in place of --fault-rate, 0 to {MOST_RATE}, a row for each (by case, default {RATES})",
        metavar="F,F,...",
    )
    paths: Sequence[str] | None = option(
        None,
        Several,
        "by case: by the algorithms of paths (default short), or mended: the paper's Algorithm 6 over third clusters "
        "and without loops",
        choices=PATH_KINDS,
    )
    pairs: int | None = option(
        None, Size, "by case: pairs drawn of each case (default 1000)", metavar="P", least=2, most=MOST_PAIRS
    )
    plot: PathLike | None = plot_of("what is left against the rate, with --fault-rates or --by-case")
    command: str = made_by("hdnhw.faults")


@asks
def faults(spec: NetworkLike, *, asked: FaultOptions, **rules: Annotated[Any, RuleOptions, FigureOptions]) -> Result:
    """Count the pairs of nodes that routing still joins when nodes or channels fail, by number of waypoints.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked
    modes, lanes
        See :class:`hdnhw.RuleOptions`; figures also take :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        As docs/faults.md describes it: shares of the pairs of healthy nodes that are ``connected``, and that are
        ``reached`` with 0, 1, ... waypoints; with `fault_rates` in the rows ``rates``; by case, the rows ``paths_left``
        and ``waypoints_left``.

    Raises
    ------
    SpecError
        If an option is out of range, or does not go with another.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.faults("rdn(cube(2), 1)", fault_rate=0, trials=1, workers=1)
    >>> found.nodes, found.dead_nodes, found.reached
    (32, 0, [1.0, 1.0, 1.0, 1.0])
    """
    from hdnhw.figures.path_faults import PANELS
    from hdnhw.multipath.survey import FaultSurvey

    of_rule, figure = figure_apart(rules)
    outputs = asked.outputs_of(figure, panels=len(PANELS) if asked.by_case else 1)
    if asked.by_case:
        if asked.fault_rate is not None or asked.channel_fault_rate is not None:
            given_alone = f"give {named('fault_rates')}, not {named('fault_rate')} or {named('channel_fault_rate')}"
            raise SpecError(f"with {named('by_case')} nodes alone are dead: {given_alone}")
        return _by_case(spec_of(spec), asked, of_rule, outputs)
    for name in ("paths", "pairs"):
        if getattr(asked, name) is not None:
            raise SpecError(f"{named(name)} is for {named('by_case')}")
    if asked.fault_rates is not None:
        if asked.fault_rate is not None:
            raise SpecError(f"give {named('fault_rate')} or {named('fault_rates')}, not both")
        return _by_rate(spec_of(spec), asked, of_rule, outputs)
    for name in ("plot", "html"):
        if getattr(asked, name) is not None:
            raise SpecError(f"{named(name)} is for {named('fault_rates')} and {named('by_case')}")
    rate, channel_rate = 0.1 if asked.fault_rate is None else asked.fault_rate, asked.channel_fault_rate or 0.0
    survey = FaultSurvey(
        network=spec_of(spec),
        **of_rule,
        rate=rate,
        channel_rate=channel_rate,
        waypoints=asked.waypoints,
        seed=asked.seed,
    )
    with ProgressBar() as progress:
        return Result(survey.run(asked.trials, start_of(asked.workers, asked.cluster, progress.say), progress.show))


def _by_rate(spec: NetworkSpec, asked: FaultOptions, rules: Mapping[str, Any], outputs: "Outputs") -> Result:
    """Count what routing joins at several shares of dead nodes."""
    from hdnhw.figures.fault_rates import fault_rates_sheet
    from hdnhw.multipath.survey import FaultSurvey

    rates = _checked_shares(asked)
    options = {**rules, "waypoints": asked.waypoints, "seed": asked.seed}
    options["channel_rate"] = asked.channel_fault_rate or 0.0
    rows: list[dict[str, Any]] = []
    with ProgressBar() as bar:
        start = start_of(asked.workers, asked.cluster, bar.say)
        for rate in rates:

            def told(stage: str, share: float, done: int = len(rows)) -> None:
                bar.show(f"{done} of {len(rates)} rates: {stage}", (done + share) / len(rates))

            found = FaultSurvey(network=spec, rate=rate, **options).run(asked.trials, start, told)
            rows.append({"rate": rate, **{name: value for name, value in found.items() if name not in ABOUT}})
    about = {name: found[name] for name in ABOUT}
    outputs.write(fault_rates_sheet(rows, about))
    return Result({**about, "rates": rows})


def _checked_shares(asked: FaultOptions) -> list[float]:
    rates = RATES if asked.fault_rates is None else asked.fault_rates
    return checked_rates("fault_rates", rates, 0, MOST_RATE, "0,0.05,0.1")


def _by_case(spec: NetworkSpec, asked: FaultOptions, rules: Mapping[str, Any], outputs: "Outputs") -> Result:
    """Count by the disjoint-path paper's cases what is left of disjoint paths, and what waypoints join."""
    from hdnhw.claims.literal.case_survey import dual_net_of, paths_left
    from hdnhw.figures.path_faults import path_faults_sheet

    rates, pairs = _checked_shares(asked), asked.pairs or PAIRS
    network = dual_net_of(spec)
    left: list[dict[str, Any]] = []
    with ProgressBar() as bar:
        joined = _waypoints_left(network, rates, asked, rules, bar)
        for kind in dict.fromkeys(asked.paths or PATH_KINDS[:1]):
            bar.show(f"paths: {kind}", 0.0)
            left += paths_left(network, kind, rates, pairs=pairs, seed=asked.seed)
    head = {"spec": str(network.spec), "nodes": network.num_nodes, "pairs": pairs, "trials": asked.trials}
    head["seed"] = asked.seed
    outputs.write(path_faults_sheet(left, joined, head))
    return Result({**head, "paths_left": left, "waypoints_left": joined})


def _waypoints_left(
    network: Any, rates: Sequence[float], asked: FaultOptions, rules: Mapping[str, Any], bar: ProgressBar
) -> list[dict[str, Any]]:
    """Return what waypoints join, a row for each case and share; none where the network is too large."""
    from hdnhw.claims.literal.case_survey import waypoints_left
    from hdnhw.multipath.waypoints import MAX_NODES

    if network.num_nodes > MAX_NODES:
        bar.say(f"{network.spec}: waypoints are looked for up to {MAX_NODES} nodes")
        return []
    return waypoints_left(
        network,
        rates,
        options={**rules, "waypoints": asked.waypoints, "seed": asked.seed},
        trials=asked.trials,
        start=start_of(asked.workers, asked.cluster, bar.say),
        progress=bar.show,
    )


@dataclass(frozen=True, kw_only=True)
class DeadOptions(Options):
    """Options that name what is dead."""

    dead_nodes: Sequence[NodeLike] | None = option(None, Several, "dead routers, by number or address", metavar="NODE")
    dead_channels: Sequence[str] | None = option(
        None, Several, "dead channels, by the node that they leave: 0:cross1", metavar="NODE:PORT"
    )


@dataclass(frozen=True, kw_only=True)
class WaypointOptions(DeadOptions):
    """Options of the command ``waypoints``."""

    waypoints: int = waypoints_option(MOST_BY_DEFAULT)
    one_way: bool = option(
        False, Flag, "do not ask that the legs to waypoints be healthy in both directions, as relays need them"
    )


@asks
def waypoints(
    spec: NetworkLike,
    src: NodeLike,
    dst: NodeLike | None = None,
    *,
    asked: WaypointOptions,
    **rules: Annotated[Any, RuleOptions],
) -> Result:
    """Find waypoints that lead from a node around dead nodes and channels.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    src, dst : int or str
        Numbers or addresses of nodes; without a destination, to all nodes.
    asked
    modes, lanes
        See :class:`hdnhw.RuleOptions`.

    Returns
    -------
    Result
        ``ways``, a row for each destination: how it can be reached (``reach``), its ``waypoints`` and ``hops``, as
        docs/faults.md describes them; ``modes``, ``src``, ``dead_nodes`` and ``dead_channels``.

    Raises
    ------
    SpecError
        If the source is dead, or something named is not there.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.waypoints("cube(3)", 0, 3, dead_nodes=[1, 2])
    >>> found.ways[0]["waypoints"], found.ways[0]["hops"]
    ([4, 7], 4)
    """
    import numpy as np

    from hdnhw.rules.plan import plan

    routing = plan(spec_of(spec), **given(rules))
    network = routing.network
    dead = dead_of(network, asked)
    start = node_of(network, src)
    wanted = range(network.num_nodes) if dst is None else [node_of(network, dst)]
    found = _ways(routing, dead, start, asked.waypoints, two_way=not asked.one_way)
    return Result(
        {
            "spec": str(network.spec),
            "modes": routing.modes,
            "src": start,
            "dead_nodes": np.flatnonzero(dead.nodes).tolist(),
            "dead_channels": [
                f"{node}:{network.ports[port].name}" for node, port in np.argwhere(dead.channels).tolist()
            ],
            "most": asked.waypoints,
            "ways": [{"dst": other, **found[other]._asdict()} for other in wanted if other != start],
        }
    )


def way_around(
    network: "Network", dead: "Faults", src: int, dst: int, *, waypoints: int, rules: Mapping[str, Any]
) -> "Way":
    """Return the way of :func:`waypoints` from a node to another, with legs that are healthy in both directions."""
    from hdnhw.rules.plan import plan

    return _ways(plan(network.spec, **rules), dead, src, waypoints, two_way=True)[dst]


def _ways(routing: Any, dead: "Faults", src: int, most: int, *, two_way: bool) -> "Sequence[Way]":
    from hdnhw.multipath.waypoints import Detours, RouteTable

    if dead.nodes[src]:
        raise SpecError(f"source must be a healthy node; {src} is dead")
    return Detours(RouteTable(routing), dead).ways(src, most, two_way=two_way)


def dead_of(network: "Network", asked: DeadOptions) -> "Faults":
    """Return faults that are named: nodes, and channels as ``NODE:PORT``.

    Raises
    ------
    ValueError
        If there is no such node or port.
    """
    import numpy as np

    from hdnhw.topology.faults import Faults

    nodes = np.zeros(network.num_nodes, np.bool_)
    channels = np.zeros((network.num_nodes, len(network.ports)), np.bool_)
    nodes[[node_of(network, name) for name in asked.dead_nodes or ()]] = True
    for name in asked.dead_channels or ():
        channels[_channel_of(network, name)] = True
    return Faults(nodes, channels)


def _channel_of(network: "Network", text: str) -> tuple[int, int]:
    """Return node and port of the channel ``NODE:PORT``."""
    node, _, name = text.rpartition(":")
    if not node:
        raise SpecError(f"{named('dead_channels')} must be NODE:PORT, such as 0:{network.ports[0].name}, not {text!r}")
    number = node_of(network, node)
    names = list(network.neighbors(number))
    if name not in names:
        raise SpecError(f"port of node {number} {choices_text(names, name)}")
    return number, [port.name for port in network.ports].index(name)
