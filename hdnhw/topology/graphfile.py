"""Graphs in files: lists of edges, GraphML, DOT and the list of routers of BookSim (``anynet``), read and written.

Every link carries traffic in both directions, whatever a file says of its direction, length or weight, and two links
between the same nodes count as one.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdnhw.spec import SpecError
from hdnhw.topology.graph import Network

__all__ = ["SUFFIXES", "NamedGraph", "graph_text", "named_graph", "of_networkx", "read_graph"]

MOST_BYTES = 1 << 26
"""Of a file that is read."""

ANYNET_END = re.compile(r"(router|node) ([0-9]{1,9})(?: [0-9]{1,9})?")
ANYNET = re.compile(rf"router [0-9]{{1,9}}(?: {ANYNET_END.pattern})*")

SWITCH = "switch"
"""The attribute of a node of GraphML or DOT that has no terminal."""


@dataclass(frozen=True)
class NamedGraph:
    """A graph whose nodes are numbers, those with a terminal first.

    Attributes
    ----------
    names : tuple of str
        What each node is called.
    edges : tuple of (int, int)
        Each once, the smaller number first, sorted.
    num_terminals : int
    """

    names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    num_terminals: int


def named_graph(
    what: str, nodes: Iterable[str], edges: Iterable[tuple[str, str]], switches: Iterable[str]
) -> NamedGraph:
    """Number the nodes of a graph: by themselves if all are numbers, else in order; switches come last.

    Raises
    ------
    SpecError
        If it has fewer than two terminals, a loop, or parts that are not joined; `what` names it.
    """
    names, without = list(dict.fromkeys(nodes)), set(switches)
    if all(name.isascii() and name.isdigit() for name in names):
        names.sort(key=int)
    names.sort(key=lambda name: name in without)
    number = {name: place for place, name in enumerate(names)}
    terminals = sum(name not in without for name in names)
    found = set()
    for one, other in edges:
        if one == other:
            raise SpecError(f"{what}: a link must join two nodes, and one joins {one!r} to itself")
        ends = number[one], number[other]
        found.add((min(ends), max(ends)))
    if terminals < 2:
        raise SpecError(f"{what}: must have at least 2 nodes that send and receive, not {terminals}")
    missing = _unreached(len(names), found)
    if missing is not None:
        raise SpecError(f"{what}: must be connected, and there is no way from {names[0]!r} to {names[missing]!r}")
    return NamedGraph(tuple(names), tuple(sorted(found)), terminals)


def _unreached(num_nodes: int, edges: Iterable[tuple[int, int]]) -> int | None:
    """Return a node to which there is no way from node 0."""
    behind: list[list[int]] = [[] for _ in range(num_nodes)]
    for one, other in edges:
        behind[one].append(other)
        behind[other].append(one)
    seen, waiting = {0}, [0]
    while waiting:
        fresh = [node for node in behind[waiting.pop()] if node not in seen]
        seen.update(fresh)
        waiting += fresh
    return next((node for node in range(num_nodes) if node not in seen), None)


def of_networkx(graph: Any, what: str) -> NamedGraph:
    """Return a graph of networkx, of any kind; nodes with a true attribute ``switch`` have no terminal."""
    names = {node: str(node) for node in graph.nodes}
    if len(set(names.values())) < len(names):
        raise SpecError(f"{what}: nodes must have different names as text")
    switches = [names[node] for node, known in graph.nodes(data=SWITCH) if str(known).lower() in ("1", "true")]
    return named_graph(what, names.values(), ((names[edge[0]], names[edge[1]]) for edge in graph.edges), switches)


def _read_edges(what: str, text: str) -> NamedGraph:
    """Read two names a line; what follows them, empty lines and what stands behind a ``#`` do not count."""
    edges = []
    for place, line in enumerate(text.splitlines(), 1):
        fields = line.partition("#")[0].split()
        if len(fields) == 1:
            raise SpecError(f"{what}: line {place} must name two nodes, not {line.strip()!r}")
        if fields:
            edges.append((fields[0], fields[1]))
    return named_graph(what, (end for edge in edges for end in edge), edges, ())


def _read_anynet(what: str, text: str) -> NamedGraph:
    """Read lines ``router A router B [latency] node N ...`` as BookSim does.

    If each router has one node, that is its terminal. Otherwise nodes stand by themselves, linked to their routers,
    and are called ``node N``, routers ``router N``.
    """
    links: list[tuple[str, str]] = []
    homes: dict[str, str] = {}
    routers: dict[str, None] = {}
    for place, line in enumerate(text.splitlines(), 1):
        words = " ".join(line.split())
        if words and ANYNET.fullmatch(words) is None:
            raise SpecError(f"{what}: line {place} must be 'router N', then 'router N' or 'node N' each, not {line!r}")
        ends = [f"{kind} {int(number)}" for kind, number in ANYNET_END.findall(words)]
        for other in ends[1:]:
            if other.startswith("node"):
                homes[other] = ends[0]
            else:
                links.append((ends[0], other))
        routers |= dict.fromkeys(end for end in ends if end.startswith("router"))
    if sorted(homes.values()) == sorted(routers):
        short = {router: router.split()[1] for router in routers}
        return named_graph(what, short.values(), ((short[one], short[other]) for one, other in links), ())
    nodes = [
        *sorted(homes, key=lambda name: int(name.split()[1])),
        *sorted(routers, key=lambda name: int(name.split()[1])),
    ]
    return named_graph(what, nodes, [*links, *homes.items()], routers)


def _read_graphml(what: str, text: str) -> NamedGraph:
    import networkx

    try:
        graph = networkx.parse_graphml(text)
    except Exception as error:
        raise SpecError(f"{what}: is no GraphML: {_first_line(error)}") from None
    return of_networkx(graph, what)


def _read_dot(what: str, text: str) -> NamedGraph:
    import networkx

    try:
        with warnings.catch_warnings(action="ignore"):  # of pydot, which uses old names of pyparsing
            import pydot

            graphs = pydot.graph_from_dot_data(text)
    except Exception as error:
        raise SpecError(f"{what}: is no DOT: {_first_line(error)}") from None
    if not graphs:
        raise SpecError(f"{what}: is no DOT")
    return of_networkx(networkx.nx_pydot.from_pydot(graphs[0]), what)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


_READERS: Mapping[str, Callable[[str, str], NamedGraph]] = {
    ".edges": _read_edges,
    ".txt": _read_edges,
    ".graphml": _read_graphml,
    ".dot": _read_dot,
    ".gv": _read_dot,
    ".anynet": _read_anynet,
}
SUFFIXES = tuple(_READERS)
"""Of files of graphs."""


def read_graph(path: str) -> NamedGraph:
    """Read a file, in the format that its suffix says.

    Raises
    ------
    SpecError
        If it cannot be read, or is no connected graph of two nodes or more.
    """
    what, suffix = f"file {path!r}", Path(path).suffix
    if suffix not in _READERS:
        raise SpecError(f"{what}: must be {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise SpecError(f"{what}: must be at most {MOST_BYTES >> 20} MiB")
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError(f"{what}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{what}: cannot be read: it is no text") from None
    return _READERS[suffix](what, text)


def graph_text(network: Network, suffix: str) -> str:
    """Return a network as the text of a file of a suffix, so that :func:`read_graph` reads the same graph."""
    return _WRITERS[suffix](network)


def _edges(network: Network) -> list[tuple[int, int]]:
    return [
        (node, other)
        for node in range(network.num_nodes)
        for other in sorted(network.neighbors(node).values())
        if node < other
    ]


def _write_edges(network: Network) -> str:
    if network.num_terminals < network.num_nodes:
        raise SpecError(f"{network.spec} has switches without terminals, which a list of edges cannot say; GraphML can")
    return "".join(f"{line}\n" for line in (f"# {network.spec}", *(f"{one} {other}" for one, other in _edges(network))))


def _write_graphml(network: Network) -> str:
    import networkx

    graph = networkx.Graph(spec=str(network.spec))
    for node in range(network.num_nodes):
        graph.add_node(node, address=network.paper_address(node), switch=node >= network.num_terminals)
    graph.add_edges_from(_edges(network))
    return "\n".join(networkx.generate_graphml(graph)) + "\n"


def _write_dot(network: Network) -> str:
    lines = ["graph {"]
    for node in range(network.num_nodes):
        role = ", switch=true" if node >= network.num_terminals else ""
        lines.append(f'  {node} [address="{network.paper_address(node)}"{role}];')
    lines += [f"  {one} -- {other};" for one, other in _edges(network)]
    return "\n".join([*lines, "}", ""])


def _write_anynet(network: Network) -> str:
    """Write a line for each router; where there are switches, nodes are BookSim's nodes."""
    terminals = network.num_terminals
    is_direct = terminals == network.num_nodes
    lines: dict[int, str] = {
        node: f"router {node if is_direct else node - terminals}" + (f" node {node}" if is_direct else "")
        for node in range(0 if is_direct else terminals, network.num_nodes)
    }
    for one, other in _edges(network):
        if is_direct:
            lines[one] += f" router {other}"
        elif one >= terminals:
            lines[one] += f" router {other - terminals}"
        elif other >= terminals and len(network.neighbors(one)) == 1:
            lines[other] += f" node {one}"
        else:
            raise SpecError(f"{network.spec} has switches and nodes that pass packets on, which anynet cannot say")
    return "".join(f"{line}\n" for line in lines.values())


_WRITERS: Mapping[str, Callable[[Network], str]] = {
    ".edges": _write_edges,
    ".txt": _write_edges,
    ".graphml": _write_graphml,
    ".dot": _write_dot,
    ".gv": _write_dot,
    ".anynet": _write_anynet,
}
