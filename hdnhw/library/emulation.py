"""Other networks on HSNs and dual-nets: their steps, algorithms of a hypercube, and embeddings."""

from dataclasses import dataclass
from typing import Any

from hdnhw.collectives.choices import ALGORITHMS, EMBEDDINGS, SWAPS
from hdnhw.library.asked import asks
from hdnhw.library.options import NetworkLike, network_of
from hdnhw.library.result import Result
from hdnhw.spec import SwappedNet, cube
from hdnhw.spec.options import Choice, Flag, Options, Text, option, seed_option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import named
from hdnhw.support.progress import Stopwatch, say

ONE_SWAP, TWO_SWAPS = "one-swap", "two-swaps"
WAYS = (TWO_SWAPS, ONE_SWAP)
"""Of data over all ports: swap, dimension, swap; or over one swap."""

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class EmulateOptions(Options):
    """Options of the command ``emulate``."""

    step: str | None = option(
        None, Text, "one dimension: a port of the nucleus in X_i, as in 3.dim0", metavar="LEVEL.PORT"
    )
    all_port: bool = option(False, Flag, "all dimensions at once")
    run: str | None = option(
        None,
        Choice,
        "an algorithm of a hypercube: a transform, lowest or highest dimension first (ascend, descend), one there and "
        "back, bitonic sort, prefix sums, a cyclic convolution, or a product of matrices; one of --step, --all-port "
        "and --run is given",
        choices=ALGORITHMS,
    )
    ways: str | None = option(
        None,
        Choice,
        "all-port: swap, dimension, swap; or over one swap, on hsn(l, complete(M)) with l < M (default there)",
        choices=WAYS,
    )
    swaps: str | None = option(
        None, Choice, "run: back after each level (default), or when another digit is needed", choices=SWAPS
    )
    seed: int = seed_option(0, "the values of an algorithm")
    steps: bool = option(False, Flag, "show what each port carries in each step")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.step is not None) + self.all_port + (self.run is not None) != 1:
            raise SpecError(f"emulate takes one of {named('step')}, {named('all_port')} and {named('run')}")
        if self.ways and not self.all_port:
            raise SpecError(f"{named('ways')} is for {named('all_port')}")
        if self.swaps and self.run is None:
            raise SpecError(f"{named('swaps')} is for {named('run')}")
        if self.steps and self.run is not None:
            raise SpecError(f"{named('steps')} is for {named('step')} and {named('all_port')}")


@dataclass(frozen=True, kw_only=True)
class EmbedOptions(Options):
    """Options of the command ``embed``."""

    way: str | None = option(
        None,
        Choice,
        "by numbers of a hypercube, of a product or tree on a dual-net or HSN over hypercubes (cube), or along a "
        "Hamiltonian cycle of a product or dual-net (default: what has less dilation, then less congestion)",
        choices=EMBEDDINGS,
    )


@asks
def emulate(spec: NetworkLike, *, asked: EmulateOptions) -> Result:
    """Run steps or algorithms of a hypercube or another product on an HSN or a dual-net.

    Parameters
    ----------
    spec : str, NetworkSpec or Network
    asked

    Returns
    -------
    Result
        As docs/emulation.md describes it: steps beside the published ones; `passed` is whether the data that were
        moved are where, and what, they should be.

    Raises
    ------
    SpecError
        If an option does not go with another, or the network is no host.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.emulate("hsn(3, cube(2))", all_port=True)
    >>> found.guest, found.steps, found.published_steps
    ('cube(6)', 4, 5)
    >>> hdnhw.emulate("dualcube(2)", run="sort").verified
    True
    """
    from hdnhw.collectives.ascend import check_host
    from hdnhw.collectives.guest import guest_of, host_of

    watch = Stopwatch()
    host: Any = network_of(spec)
    if asked.run is not None:
        check_host(host)
        guest: Any = cube(host.num_nodes.bit_length() - 1)
    else:
        guest = guest_of(host_of(host, "an emulation"))
    head: Row = {"spec": str(host.spec), "nodes": host.num_nodes, "guest": None if guest is None else str(guest)}
    if asked.run is not None:
        result, is_right = _run(host, asked.run, asked.swaps or SWAPS[0], asked.seed)
    else:
        result, is_right = _communicate(host, asked.step, asked.ways, shown=asked.steps)
    return Result(head | result | {"seconds": round(watch.seconds, 3)}, passed=is_right)


@asks
def embed(spec: NetworkLike, guest: NetworkLike, *, asked: EmbedOptions) -> Result:
    """Embed a guest network into another one, and route its edges.

    Parameters
    ----------
    spec, guest : str, NetworkSpec or Network
        The host, and what is placed on it: a ring, mesh, torus or hypercube, a tree, or another graph.
    asked

    Returns
    -------
    Result
        ``dilation``, hops of the longest route, ``mean_dilation``, ``congestion``, most routes over an edge,
        ``expansion``, the host's nodes over the guest's, and ``placement``, the host's node of each of the guest's.

    Raises
    ------
    SpecError
        If the guest is too large, or no way is for them.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.embed("dualcube(3)", "torus(32)")
    >>> found.way, found.dilation, found.placement[:4]
    ('cycle', 1, [4, 6, 7, 5])
    """
    from hdnhw.collectives import embedding

    watch, host, placed = Stopwatch(), network_of(spec), network_of(guest)
    found = embedding.embed(host, placed, asked.way)
    return Result(
        {
            "spec": str(host.spec),
            "nodes": host.num_nodes,
            "guest": str(placed.spec),
            "guest_nodes": placed.num_nodes,
            "guest_edges": len(found.routes),
            "way": found.way,
            "expansion": round(host.num_nodes / placed.num_nodes, 3),
            "dilation": found.dilation,
            "mean_dilation": round(found.mean_dilation, 3),
            "congestion": found.congestion,
            "placement": found.nodes.tolist(),
            "seconds": round(watch.seconds, 3),
        }
    )


def _run(host: Any, name: str, swaps: str, seed: int) -> tuple[Row, bool]:
    """Run an algorithm of a hypercube."""
    from hdnhw.collectives.ascend import run_algorithm

    run = run_algorithm(host, name, swaps, seed=seed)
    published = {}
    if isinstance(host.spec, SwappedNet):
        once = 2 * (host.spec.levels - 1)
        published = dict.fromkeys(("ascend", "descend", "prefix", "matrix"), once)
        published |= {"round-trip": 2 * once, "convolution": 3 * once}
    return {
        "run": name,
        "swaps": swaps,
        "steps": run.dimension_steps + run.exchange_steps,
        "dimension_steps": run.dimension_steps,
        "exchange_steps": run.exchange_steps,
        "words": run.words,
        "published_exchange_steps": published.get(name),
        "checked": run.checked,
        "verified": run.verified,
    }, run.verified


def _communicate(host: Any, step: str | None, ways: str | None, *, shown: bool) -> tuple[Row, bool]:
    """Emulate one step of communication: of one dimension, or of all if None."""
    from hdnhw.collectives import emulated
    from hdnhw.collectives.executor import ScheduleError

    levels, ports = host.spec.levels, len(host.nucleus.ports)
    if step is None:
        result: Row = {"ports": "all", "ways": ways or _best_ways(host)}
        table = emulated.all_port_timetable(levels, ports)
        bounds = {
            "published_steps": emulated.published_steps(host),
            "lower_bound_steps": emulated.lower_bound_steps(host),
        }
    else:
        result = {"ports": "one", "link": step}
        table = emulated.step_timetable(ports, _link(host, step))
        bounds = {"published_steps": 3}
    directly = result.get("ways") == ONE_SWAP
    if directly and shown:
        raise SpecError(f"{named('steps')} is for {TWO_SWAPS}; with {ONE_SWAP} nodes differ")
    try:
        counted = emulated.emulate_directly(host) if directly else emulated.emulate(host, table)
    except ScheduleError as error:
        say(f"hdnhw: {error}")
        return result | {"delivered": False, "error": str(error)}, False
    result |= {"steps": counted.steps, **bounds, "delivered": True, "data": counted.data, "hops": counted.hops}
    result |= {"hops_per_step": list(counted.moved), "busy": round(counted.hops / counted.steps / counted.links, 3)}
    if shown:
        result["timetable"] = _rows(host, table, counted.steps)
    return result, True


def _best_ways(host: Any) -> str:
    from hdnhw.collectives.emulated import is_direct

    return ONE_SWAP if is_direct(host) else TWO_SWAPS


def _link(host: Any, text: str) -> tuple[int, int]:
    """Read a link of the guest, as in ``3.dim0``."""
    from hdnhw.collectives.guest import guest_table

    level, _, name = text.partition(".")
    names = [port.name for port in host.nucleus.ports]
    levels = [str(level) for level in range(1, host.spec.levels + 1)]
    if level not in levels or name not in names:
        raise SpecError(f"{named('step')} must be 1.{names[0]} to {levels[-1]}.{names[-1]}, not {text!r}")
    port = names.index(name)
    if not (guest_table(host, int(level))[:, port] >= 0).any():
        raise SpecError(
            f"{named('step')} must be a dimension of the guest; over {host.spec.top} top clusters {text} is none"
        )
    return int(level), port


def _rows(host: Any, table: Any, steps: int) -> list[Row]:
    """Return for each step and port of the network the link of the guest whose data cross it."""
    rows: list[Row] = [{"step": step} | {port.name: "" for port in host.ports} for step in range(1, steps + 1)]
    for (level, port), hops in table.items():
        for step, over in hops:
            rows[step - 1][host.ports[over].name] = f"{level}.{host.nucleus.ports[port].name}"
    return rows
