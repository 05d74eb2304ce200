"""Dead nodes and channels: what routing still joins, and the ways around them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from hdnhw.library.options import (
    DrawnRuleOptions,
    NetworkLike,
    NodeLike,
    PathLike,
    RuleOptions,
    check_choice,
    check_integers,
    checked_rates,
    figure_apart,
    given,
    node_of,
    spec_of,
)
from hdnhw.library.result import Result
from hdnhw.library.workers import start_of
from hdnhw.progress import ProgressBar
from hdnhw.spec import NetworkSpec, SpecError

if TYPE_CHECKING:
    from hdnhw.report.outputs import Outputs
    from hdnhw.rules.waypoints import Way
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

BY_CASE: dict[str, Any] = {
    "rates": "0,0.05,0.1,0.15,0.2,0.25,0.3",
    "paths": ["short"],
    "pairs": 1000,
}
"""Options that only counting by case reads, and what they are if not given."""


def faults(
    spec: NetworkLike,
    *,
    rate: float | None = None,
    channel_rate: float | None = None,
    trials: int = 100,
    waypoints: int = MOST_BY_DEFAULT,
    seed: int = 1,
    by_case: bool = False,
    rates: str | Sequence[float] | None = None,
    paths: Sequence[str] | None = None,
    pairs: int | None = None,
    plot: PathLike | None = None,
    html: PathLike | None = None,
    command: str = "hdnhw.faults",
    workers: int | None = None,
    cluster: str | None = None,
    **rules: Unpack[DrawnRuleOptions],
) -> Result:
    """Count the pairs that routing still joins when nodes and channels are dead, by number of waypoints.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    rate : float, optional
        Share of the nodes that are dead, at least 0 and below 1 (default 0.1).
    channel_rate : float, optional
        Share of the other channels that are dead (default 0).
    trials : int
        Sets of faults that are drawn.
    waypoints : int
        Most waypoints that a packet names, 0 to 8.
    seed : int
        Of the random numbers.
    by_case : bool
        On a dual-net, for pairs in one cluster (A), in clusters of two classes (B) and in two of a class (C): what is
        left of disjoint paths made without knowing the faults, beside what waypoints join.
    rates : str or sequence of float, optional
        Shares of the nodes, 0 to 0.95, in place of `rate`: a row for each; by case 0 to 0.3 in steps of 0.05 if
        omitted.
    paths : sequence of str, optional
        By case: ``short`` (default) and ``address`` as of :func:`hdnhw.paths`, ``mended``: the disjoint-path paper's
        Algorithm 6 over third clusters and without loops.
    pairs : int, optional
        By case: pairs drawn of each case (default 1000).
    plot : path, optional
        With `rates`, or by case: draw what is left against the rate there: .svg, .png or .pdf. Needs the extra
        ``sweep``, as what follows does.
    html : path, optional
        With `rates`, or by case: write a page there with the figure, all tables and the options.
    command : str
        What plot and page say that they were made by.
    workers : int, optional
        Processes (default: one a processor).
    cluster : str, optional
        Address of a Dask scheduler whose workers are used instead.
    modes, lanes
        See :class:`hdnhw.RuleOptions`; figures also take :class:`hdnhw.FigureOptions`.

    Returns
    -------
    Result
        As docs/faults.md describes it: shares of the pairs of healthy nodes that are ``connected``, and that are
        ``reached`` with 0, 1, ... waypoints; with `rates` in the rows ``rates``; by case, the rows ``paths_left`` and
        ``waypoints_left``.

    Raises
    ------
    SpecError
        If an option is out of range, or does not go with another.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.faults("rdn(cube(2), 1)", rate=0, trials=1, workers=1)
    >>> found.nodes, found.dead_nodes, found.reached
    (32, 0, [1.0, 1.0, 1.0, 1.0])
    """
    from hdnhw.report.look import look_of
    from hdnhw.report.outputs import Outputs
    from hdnhw.report.path_faults import PANELS
    from hdnhw.rules.survey import FaultSurvey

    check_integers(trials=trials, waypoints=waypoints, seed=seed, pairs=pairs)
    if trials < 1:
        raise SpecError(f"trials must be at least 1, not {trials}")
    _check_waypoints(waypoints)
    asked = {"rates": rates, "paths": paths, "pairs": pairs}
    drawn = {"trials": trials, "waypoints": waypoints, "seed": seed, "workers": workers, "cluster": cluster}
    of_rule, figure = figure_apart(rules)
    look = look_of(figure, plot, html, panels=len(PANELS) if by_case else 1)
    outputs = Outputs(plot, html, command, look)
    if by_case:
        if rate is not None or channel_rate is not None:
            raise SpecError("with --by-case nodes alone are dead: give --rates, not --rate or --channel-rate")
        return _by_case(spec_of(spec), BY_CASE | given(asked), drawn, of_rule, outputs)
    for name in given({"paths": paths, "pairs": pairs}):
        raise SpecError(f"--{name} is for --by-case")
    if rates is not None:
        if rate is not None:
            raise SpecError("give --rate or --rates, not both")
        return _by_rate(spec_of(spec), BY_CASE | given(asked), drawn, of_rule, outputs, channel_rate)
    for name in given({"plot": plot, "html": html}):
        raise SpecError(f"--{name} is for --rates and --by-case")
    shares: dict[str, Any] = {"rate": _checked_share("rate", 0.1 if rate is None else rate)}
    shares["channel_rate"] = _checked_share("channel rate", channel_rate or 0.0)
    survey = FaultSurvey(network=spec_of(spec), **of_rule, **shares, waypoints=waypoints, seed=seed)
    with ProgressBar() as progress:
        return Result(survey.run(trials, start_of(workers, cluster, progress.say), progress.show))


def _by_rate(
    spec: NetworkSpec,
    asked: Mapping[str, Any],
    drawn: Mapping[str, Any],
    rules: Mapping[str, Any],
    outputs: "Outputs",
    channel_rate: float | None,
) -> Result:
    """Count what routing joins at several shares of dead nodes."""
    from hdnhw.report.fault_rates import fault_rates_sheet
    from hdnhw.rules.survey import FaultSurvey

    rates = _checked_shares(asked["rates"])
    options = {**rules, "waypoints": drawn["waypoints"], "seed": drawn["seed"]}
    options["channel_rate"] = _checked_share("channel rate", channel_rate or 0.0)
    rows: list[dict[str, Any]] = []
    with ProgressBar() as bar:
        start = start_of(drawn["workers"], drawn["cluster"], bar.say)
        for rate in rates:

            def told(stage: str, share: float, done: int = len(rows)) -> None:
                bar.show(f"{done} of {len(rates)} rates: {stage}", (done + share) / len(rates))

            found = FaultSurvey(network=spec, rate=rate, **options).run(drawn["trials"], start, told)
            rows.append({"rate": rate, **{name: value for name, value in found.items() if name not in ABOUT}})
    about = {name: found[name] for name in ABOUT}
    outputs.write(fault_rates_sheet(rows, about))
    return Result({**about, "rates": rows})


def _checked_shares(rates: str | Sequence[float]) -> list[float]:
    return checked_rates(rates, 0, MOST_RATE, "0,0.05,0.1")


def _checked_share(what: str, share: float) -> float:
    if not 0 <= share < 1:
        raise SpecError(f"{what} must be at least 0 and below 1, not {share}")
    return share


def _by_case(
    spec: NetworkSpec,
    asked: Mapping[str, Any],
    drawn: Mapping[str, Any],
    rules: Mapping[str, Any],
    outputs: "Outputs",
) -> Result:
    """Count by the disjoint-path paper's cases what is left of disjoint paths, and what waypoints join."""
    from hdnhw.report.path_faults import path_faults_sheet
    from hdnhw.rules.case_survey import dual_net_of, paths_left

    rates = _checked_shares(asked["rates"])
    pairs, seed = asked["pairs"], drawn["seed"]
    if not 2 <= pairs <= MOST_PAIRS:
        raise SpecError(f"pairs must be 2 to {MOST_PAIRS}, not {pairs}")
    for kind in asked["paths"]:
        check_choice("paths", kind, PATH_KINDS)
    network = dual_net_of(spec)
    left: list[dict[str, Any]] = []
    with ProgressBar() as bar:
        joined = _waypoints_left(network, rates, drawn, rules, bar)
        for kind in dict.fromkeys(asked["paths"]):
            bar.show(f"paths: {kind}", 0.0)
            left += paths_left(network, kind, rates, pairs=pairs, seed=seed)
    head = {"spec": str(network.spec), "nodes": network.num_nodes, "pairs": pairs, "trials": drawn["trials"]}
    head["seed"] = seed
    outputs.write(path_faults_sheet(left, joined, head))
    return Result({**head, "paths_left": left, "waypoints_left": joined})


def _waypoints_left(
    network: Any, rates: Sequence[float], drawn: Mapping[str, Any], rules: Mapping[str, Any], bar: ProgressBar
) -> list[dict[str, Any]]:
    """Return what waypoints join, a row for each case and share; none where the network is too large."""
    from hdnhw.rules.case_survey import waypoints_left
    from hdnhw.rules.waypoints import MAX_NODES

    if network.num_nodes > MAX_NODES:
        bar.say(f"{network.spec}: waypoints are looked for up to {MAX_NODES} nodes")
        return []
    return waypoints_left(
        network,
        rates,
        options={**rules, "waypoints": drawn["waypoints"], "seed": drawn["seed"]},
        trials=drawn["trials"],
        start=start_of(drawn["workers"], drawn["cluster"], bar.say),
        progress=bar.show,
    )


def waypoints(
    spec: NetworkLike,
    src: NodeLike,
    dst: NodeLike | None = None,
    *,
    dead_nodes: Sequence[NodeLike] = (),
    dead_channels: Sequence[str] = (),
    waypoints: int = MOST_BY_DEFAULT,
    one_way: bool = False,
    **rules: Unpack[RuleOptions],
) -> Result:
    """Return the waypoints that lead from a node around what is dead.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    src, dst : int or str
        Numbers or addresses of nodes; without a destination, to all nodes.
    dead_nodes : sequence of int or str
        Nodes whose routers are dead.
    dead_channels : sequence of str
        Dead channels, by the node that they leave: ``"0:cross1"``.
    waypoints : int
        Most waypoints that a packet names, 0 to 8.
    one_way : bool
        Do not ask that the legs to waypoints be healthy in both directions, as relays need them.
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

    check_integers(waypoints=waypoints)
    _check_waypoints(waypoints)
    routing = plan(spec_of(spec), **given(rules))
    network = routing.network
    dead = dead_of(network, dead_nodes, dead_channels)
    start = node_of(network, src)
    wanted = range(network.num_nodes) if dst is None else [node_of(network, dst)]
    found = _ways(routing, dead, start, waypoints, two_way=not one_way)
    return Result(
        {
            "spec": str(network.spec),
            "modes": routing.modes,
            "src": start,
            "dead_nodes": np.flatnonzero(dead.nodes).tolist(),
            "dead_channels": [
                f"{node}:{network.ports[port].name}" for node, port in np.argwhere(dead.channels).tolist()
            ],
            "most": waypoints,
            "ways": [{"dst": other, **found[other]._asdict()} for other in wanted if other != start],
        }
    )


def way_around(
    network: "Network", dead: "Faults", src: int, dst: int, *, waypoints: int, rules: Mapping[str, Any]
) -> "Way":
    """Return the way of :func:`waypoints` from a node to another, with legs that are healthy in both directions."""
    from hdnhw.rules.plan import plan

    _check_waypoints(waypoints)
    return _ways(plan(network.spec, **rules), dead, src, waypoints, two_way=True)[dst]


def _ways(routing: Any, dead: "Faults", src: int, most: int, *, two_way: bool) -> "Sequence[Way]":
    from hdnhw.rules.waypoints import Detours, RouteTable

    if dead.nodes[src]:
        raise SpecError(f"source must be a healthy node; {src} is dead")
    return Detours(RouteTable(routing), dead).ways(src, most, two_way=two_way)


def dead_of(network: "Network", dead_nodes: Sequence[NodeLike], dead_channels: Sequence[str]) -> "Faults":
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
    nodes[[node_of(network, name) for name in dead_nodes]] = True
    for name in dead_channels:
        channels[_channel_of(network, name)] = True
    return Faults(nodes, channels)


def _channel_of(network: "Network", text: str) -> tuple[int, int]:
    """Return node and port of the channel ``NODE:PORT``."""
    node, _, name = text.rpartition(":")
    if not node:
        raise SpecError(f"dead channel must be NODE:PORT, such as 0:{network.ports[0].name}, not {text!r}")
    number = node_of(network, node)
    names = list(network.neighbors(number))
    if name not in names:
        raise SpecError(f"port of node {number} must be {' or '.join(names)}, not {name!r}")
    return number, [port.name for port in network.ports].index(name)


def _check_waypoints(most: int) -> None:
    """Raise SpecError unless a packet can name so many waypoints."""
    if not 0 <= most <= MOST_WAYPOINTS:
        raise SpecError(f"waypoints must be 0 to {MOST_WAYPOINTS}, not {most}")
