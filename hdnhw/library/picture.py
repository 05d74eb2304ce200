"""Pictures of networks, and of what goes on in them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hdnhw.collectives.choices import ROOTED, SPLITS
from hdnhw.library.asked import asks
from hdnhw.library.collectives.exchange import SPLIT
from hdnhw.library.collectives.schedules import PORTS
from hdnhw.library.faults import MOST_BY_DEFAULT, DeadOptions, dead_of, way_around, waypoints_option
from hdnhw.library.options import NetworkLike, NodeLike, PathLike, RuleOptions, given, network_of, node_of
from hdnhw.library.result import Result
from hdnhw.library.routes import PATH_ALGORITHMS, ROUTE_ALGORITHMS, paths_of, route_of, waypoints_of
from hdnhw.spec import EXCHANGE_ORDERS, MOVING
from hdnhw.spec.options import Choice, Given, Several, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named
from hdnhw.support.progress import say

if TYPE_CHECKING:
    from hdnhw.figures.marks import Marks
    from hdnhw.topology.graph import Network

PICTURE_LIMIT, PICTURE_PORTS = 1024, 1 << 15
"""Most nodes of a picture, and most ports of all of them."""

LABELS = ("number", "address")
"""What a node bears."""

DRAWN = (*MOVING, "gather", "reduce", "reducescatter")
"""Collective operations whose steps are drawn."""

KINDS = ("route", "paths", "fan", "cluster", "collective", "embed")
"""What can be drawn in a network, one at a time."""

NEEDS = {
    "algorithm": ("route", "paths"),
    "modes": ("route", "paths"),
    "lanes": ("route", "paths"),
    "waypoints": ("route",),
    "root": ("collective",),
    "step": ("collective",),
    "ports": ("collective",),
}
"""Options that say more of what is drawn: what they are for."""


class Drawing(Result):
    """What is drawn in a picture; a notebook shows the picture.

    Attributes
    ----------
    svg : str
        The picture, as SVG.

    Examples
    --------
    >>> import hdnhw
    >>> drawing = hdnhw.picture("cube(2)")
    >>> drawing.svg[:4], drawing.bytes == len(drawing.svg)
    ('<svg', True)
    """

    def __init__(self, items: Any, svg: str, *, passed: bool) -> None:
        super().__init__(items, passed=passed)
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


_ALGORITHMS = tuple(dict.fromkeys((*ROUTE_ALGORITHMS, *PATH_ALGORITHMS)))


@dataclass(frozen=True, kw_only=True)
class PictureOptions(DeadOptions):
    """Options of the command ``picture``; `rules`, those of the routing rule that are given."""

    labels: str = option(
        LABELS[0], Choice, "what a node bears: its number, or its address as the papers write it", choices=LABELS
    )
    route: Sequence[NodeLike] | None = option(
        None, Several, "draw the route from SRC to DST", number=2, metavar=("SRC", "DST"), group="what is drawn"
    )
    paths: Sequence[NodeLike] | None = option(
        None,
        Several,
        "draw paths from SRC to DST that share no other node",
        number=2,
        metavar=("SRC", "DST"),
        group="what is drawn",
    )
    fan: NodeLike | Sequence[NodeLike] | None = option(
        None,
        Several,
        "draw paths from NODE to different clusters of a dual-net: Algorithm 3 of the disjoint-path paper; with END, a "
        "node of the same cluster, Algorithm 5: one path ends there",
        metavar=("NODE", "END"),
        group="what is drawn",
    )
    cluster: NodeLike | None = option(
        None,
        Given,
        "draw the cross-edges that leave NODE's cluster in a dual-net",
        metavar="NODE",
        group="what is drawn",
    )
    collective: str | None = option(
        None,
        Choice,
        "draw what a schedule sends: arrows in the color of their step; with all steps per node also bears the first "
        "one that brings it a message, or the last in which it gives some away (gather, reduce, reducescatter)",
        choices=DRAWN,
        group="what is drawn",
    )
    embed: "NetworkLike | None" = option(
        None, Given, "draw a ring, mesh or other network, as embed places it", metavar="GUEST", group="what is drawn"
    )
    algorithm: str | None = option(
        None,
        Choice,
        "of --route: paper or hop; of --paths: short, address, flow or paper; as of the commands route and paths",
        choices=_ALGORITHMS,
    )
    waypoints: int | None = waypoints_option(None)
    root: NodeLike | None = option(
        None,
        Given,
        "source of a broadcast or scatter, destination of a gather or reduce (default 0); of an allgather or exchange, "
        "the node whose messages alone are drawn, of a reducescatter, the one whose result is",
        metavar="NODE",
    )
    step: str | int | None = option(
        None, Given, "draw this step alone, or some as 0-3; numbers as of --steps", metavar="N"
    )
    ports: str | None = option(None, Choice, "ports that a node uses in a step (default one)", choices=PORTS)
    schedule: str | None = option(
        None,
        Choice,
        "exchange: the papers' order, or the one of fewest words (default cluster-first)",
        choices=EXCHANGE_ORDERS,
    )
    split: str | None = option(None, Choice, f"exchange: {SPLIT} (default destination)", choices=SPLITS)

    rules: Mapping[str, Any] = field(default_factory=dict)


_Part = tuple["Marks", dict[str, Any], bool]
"""What is marked in a picture, what it shows, and whether all that was checked is true."""


@asks
def picture(
    spec: NetworkLike, output: PathLike | None = None, *, asked: PictureOptions, **rules: Annotated[Any, RuleOptions]
) -> Drawing:
    """Draw a network as SVG, with routes, faults or the steps of a collective operation.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    output : path, optional
        File to write, .svg; without it the picture is returned alone.
    asked
    modes, lanes
        Of the route or the paths, see :class:`hdnhw.RuleOptions`.

    Returns
    -------
    Drawing
        ``spec``, ``file``, ``bytes`` and what is drawn; `svg` is the picture, and `passed` whether paths are disjoint.

    Raises
    ------
    SpecError
        If the network is too large, or an option does not go with what is drawn.

    Examples
    --------
    >>> import hdnhw
    >>> drawing = hdnhw.picture("cube(2)", paths=(0, 3))
    >>> drawing.paths
    {'path 1': [0, 1, 3], 'path 2': [0, 2, 3]}
    """
    from hdnhw.support.files import check_output, replacing

    if output is not None:
        check_output(named("output"), Path(output), [".svg"])
    name, text, found, passed = _drawn(replace(asked, rules=given(rules)), spec)
    if output is not None:
        with replacing(Path(output)) as new:
            new.write_text(text, encoding="utf-8")
    head = {"spec": name, "file": None if output is None else str(output), "bytes": len(text)}
    return Drawing(head | found, text, passed=passed)


def _drawn(asked: PictureOptions, spec: NetworkLike) -> tuple[str, str, dict[str, Any], bool]:
    """Return the name of a network, an SVG, what it shows, and whether all that was checked is true."""
    from hdnhw.figures.picture import network_svg

    _check(asked)
    network = network_of(spec)
    if network.num_nodes > PICTURE_LIMIT:
        raise SpecError(f"picture must be of at most {PICTURE_LIMIT} nodes; {network.spec} has {network.num_nodes}")
    if network.num_ports > PICTURE_PORTS:
        raise SpecError(f"picture must have at most {PICTURE_PORTS} ports; {network.spec} has {network.num_ports}")
    makers = {"route": _route, "paths": _paths, "fan": _fan, "cluster": _cluster}
    makers |= {"collective": _collective, "embed": _embed}
    kind = next((kind for kind in KINDS if getattr(asked, kind) is not None), None)
    marks, found, passed = _plain(asked, network) if kind is None else makers[kind](asked, network)
    return str(network.spec), network_svg(network, labels=asked.labels, marks=marks), found, passed


def _check(asked: PictureOptions) -> None:
    """Refuse options that say more of what is not drawn."""
    kinds = [kind for kind in KINDS if getattr(asked, kind) is not None]
    if len(kinds) > 1:
        raise SpecError(f"{named(kinds[1])} does not go with {named(kinds[0])}")
    values = {**vars(asked), **asked.rules}
    for name, targets in NEEDS.items():
        if values.get(name) is not None and not set(targets) & set(kinds):
            raise SpecError(f"{named(name)} is for {' and '.join(map(named, targets))}")
    for name in ("collective", "cluster", "embed"):
        if name in kinds and (asked.dead_nodes or asked.dead_channels):
            raise SpecError(
                f"{named(name)} knows of nothing dead: leave out {named('dead_nodes')} and {named('dead_channels')}"
            )
    for name in ("schedule", "split"):
        if values[name] is not None and asked.collective != "exchange":
            raise SpecError(f"{named(name)} is for {named('collective', 'exchange')}")
    known = ROUTE_ALGORITHMS if asked.route is not None else PATH_ALGORITHMS
    if asked.algorithm not in (None, *known):
        raise SpecError(f"{named('algorithm')} of {named(kinds[0])} {choices_text(known, asked.algorithm)}")


def _plain(asked: PictureOptions, network: "Network") -> _Part:
    """Return the network alone, with what is dead."""
    from hdnhw.figures.marks import dead_marks

    return dead_marks(network, dead_of(network, asked)), {}, True


def _ends(network: "Network", kind: str, names: Sequence[NodeLike] | None) -> tuple[int, int]:
    nodes = [node_of(network, name) for name in names or ()]
    if len(nodes) != 2:
        raise SpecError(f"{named(kind)} takes two nodes, not {len(nodes)}")
    src, dst = nodes
    if src == dst:
        raise SpecError(f"source and destination must be two nodes, not both {src}")
    return src, dst


def _route(asked: PictureOptions, network: "Network") -> _Part:
    """Return a route, and where something on it is dead a way around by waypoints."""
    from hdnhw.figures.marks import dead_marks, is_broken, path_marks

    src, dst = _ends(network, "route", asked.route)
    faults = dead_of(network, asked)
    dead = dead_marks(network, faults)
    hops = route_of(network, src, dst, asked.algorithm or "hop", asked.rules)
    nodes = [*(node for node, _, _ in hops), dst]
    drawn, reach = {"route": nodes}, "plain"
    waypoints: list[int] = []
    if is_broken(nodes, dead):
        most = MOST_BY_DEFAULT if asked.waypoints is None else asked.waypoints
        way = way_around(network, faults, src, dst, waypoints=most, rules=asked.rules)
        reach, waypoints = way.reach, way.waypoints or []
        if way.waypoints:
            stops = [src, *way.waypoints, dst]
            legs = [route_of(network, one, other, "hop", asked.rules) for one, other in pairwise(stops)]
            drawn["way around"] = [*(node for leg in legs for node, _, _ in leg), dst]
        else:
            say(f"{network.spec}: no way around from {src} to {dst}: {reach}")
    elif asked.waypoints is not None:
        raise SpecError(f"{named('waypoints')} is for a way around what is dead; nothing on the route is")
    return path_marks(drawn, [waypoints], dead), {"reach": reach, "waypoints": waypoints, "paths": drawn}, True


def _paths(asked: PictureOptions, network: "Network") -> _Part:
    """Return the disjoint paths between two nodes; those on which something is dead are broken."""
    from hdnhw.figures.marks import dead_marks, is_broken, path_marks
    from hdnhw.multipath.flows import fault_of_paths

    src, dst = _ends(network, "paths", asked.paths)
    dead = dead_marks(network, dead_of(network, asked))
    algorithm, found = paths_of(network, src, dst, asked.algorithm)
    fault = fault_of_paths(lambda node: network.neighbors(node).values(), src, dst, found)
    waypoints = waypoints_of(network, found, asked.rules)["waypoints"] or []
    drawn = {f"path {number}": path for number, path in enumerate(found, start=1)}
    marks = path_marks(drawn, [some or [] for some in waypoints], dead)
    result = {"algorithm": algorithm, "disjoint": fault is None, "fault": fault, "paths": drawn}
    return marks, result | {"broken": [name for name, path in drawn.items() if is_broken(path, dead)]}, fault is None


def _fan(asked: PictureOptions, network: "Network") -> _Part:
    """Return the paths of Algorithm 3 from a node, whose ends should be in different clusters, or of Algorithm 5."""
    from hdnhw.claims.literal.disjoint import fan
    from hdnhw.figures.marks import dead_marks, path_marks
    from hdnhw.multipath.path_faults import clusters_of
    from hdnhw.topology.dualnet import DualNetwork

    if not isinstance(network, DualNetwork) or not network.levels:
        raise SpecError(f"{named('fan')} is for dual-nets over products, of a level or more; {network.spec} is none")
    names: Any = asked.fan
    if not 1 <= len(names) <= 2:
        raise SpecError(f"{named('fan')} takes a node, or two, not {len(names)}")
    node, *ends = [node_of(network, name) for name in names]
    if ends and clusters_of(network, ends) != clusters_of(network, [node]):
        raise SpecError(f"{named('fan')} takes two nodes of one cluster; {node} and {ends[0]} are in two")
    found = fan(network, node, end=ends[0] if ends else None)
    drawn = {f"path {number}": path for number, path in enumerate(found, start=1)}
    return path_marks(drawn, (), dead_marks(network, dead_of(network, asked))), {"paths": drawn}, True


def _cluster(asked: PictureOptions, network: "Network") -> _Part:
    """Return the cross-edges of a cluster."""
    from hdnhw.figures.marks import cluster_marks
    from hdnhw.topology.levels import LeveledNetwork

    if not isinstance(network, LeveledNetwork) or not network.levels or asked.cluster is None:
        raise SpecError(f"{named('cluster')} is for dual-nets of a level or more; {network.spec} is none")
    marks = cluster_marks(network, node_of(network, asked.cluster))
    return marks, {"edges": len(marks.traces[0].hops)}, True


def _collective(asked: PictureOptions, network: "Network") -> _Part:
    """Return the steps of a schedule."""
    from hdnhw.collectives.executor import check_size, execute
    from hdnhw.figures.marks import step_marks

    check_size(network)
    whose = _whose(asked, network)
    schedule = _schedule(asked, network, whose or 0)
    steps = _steps(asked.step, len(schedule.steps))
    sources = None if whose is None or asked.collective == "gather" else [whose]
    counted = execute(schedule, all_port=asked.ports == "all", sources=sources)
    marks = step_marks(schedule, counted, steps, whose)
    sends = {trace.text: len(trace.hops) for trace in marks.traces}
    result = {"op": asked.collective, "root": whose, "first": steps.start, "last": steps.stop - 1}
    return marks, result | {"channels_used": sends}, True


def _embed(asked: PictureOptions, network: "Network") -> _Part:
    """Return the nodes of a guest, and the routes of its edges by their length."""
    from hdnhw.collectives.embedding import embed
    from hdnhw.figures.marks import embedding_marks

    assert asked.embed is not None, "it is drawn"
    guest = network_of(asked.embed)
    found = embed(network, guest)
    marks = embedding_marks(found.nodes.tolist(), found.routes.values())
    result = {"guest": str(guest.spec), "dilation": found.dilation, "congestion": found.congestion}
    return marks, result | {"placement": found.nodes.tolist()}, True


def _whose(asked: PictureOptions, network: "Network") -> int | None:
    """Return the node at which a schedule begins or ends, or whose messages are drawn."""
    if asked.root is not None:
        return node_of(network, asked.root)
    if asked.collective in ROOTED:
        return 0
    if asked.step is None:
        what = f"a reducescatter need {named('root')}, whose result is drawn"
        if asked.collective in MOVING:
            what = f"an {asked.collective} need {named('root')}, whose messages are drawn"
        raise SpecError(f"all steps of {what}; or give {named('step')}")
    return None


def _schedule(asked: PictureOptions, network: "Network", root: int) -> Any:
    from hdnhw.collectives.exchange import exchange_schedule
    from hdnhw.collectives.operations import operation_schedule

    all_port = asked.ports == "all"
    if asked.collective != "exchange":
        return operation_schedule(network, asked.collective or "", root=root, all_port=all_port)
    order, split = asked.schedule or "cluster-first", asked.split or "destination"
    return exchange_schedule(network, order, split=split, all_port=all_port)


def _steps(asked: str | int | None, count: int) -> range:
    """Return the steps that are drawn: one, or from one to another, or all."""
    if asked is None:
        return range(count)
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", str(asked), re.ASCII)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
    if not 0 <= first <= last < count:
        raise SpecError(f"{named('step')} must be 0 to {count - 1}, or a range such as 0-{count - 1}, not {asked!r}")
    return range(first, last + 1)
