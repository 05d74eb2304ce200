"""Graphs in files: lists of edges and neighbors, GraphML, GML, GEXF, DOT, JSON, matrices, graph6 and BookSim's anynet.

Every link carries traffic in both directions, whatever a file says of its direction, length or weight; two links
between the same nodes count as one, and links of a node to itself do not count. A line tells what was not kept.
"""

import csv
import os
import re
import stat
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hdnhw.spec.checks import check_edges
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text
from hdnhw.support.progress import say
from hdnhw.topology.graph import Network

MOST_BYTES = 1 << 26
"""Of a file that is read."""

ANYNET_END = re.compile(r"(router|node) ([0-9]{1,9})(?: [0-9]{1,9})?")
ANYNET = re.compile(rf"router [0-9]{{1,9}}(?: {ANYNET_END.pattern})*")

SWITCH = "switch"
"""The attribute of a node that has no terminal."""

CHANNEL = "channel"
"""The attribute of a link that names its type of channels."""

_KEPT = ("id", "key", CHANNEL)
"""What is not dropped of a link: its type, and what tells the links of a file apart and says nothing of them."""

TYPE, UNTYPED = re.compile("[a-z_]+"), "port"
"""Of the channels of a link, with a number behind it the name of a port; and what it is if nothing is said."""

COMMENTS = ("#", "%", "//")
"""How lines begin that say nothing of a graph, in lists of edges."""

_BITS = 6
"""Of a byte of sparse6."""

ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("node1", "node2"), ("u", "v"))
"""How headers call the ends of a link."""

DOT_NAME = re.compile(r'(?P<name>"(?:[^"\\]|\\.)*"|[^:"]+)(?::.*)?', re.DOTALL)
"""A node in DOT, and behind it a port, which is a place on its outline."""


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
    types : tuple of str
        Types of the channels of each edge, ``port`` if the graph says none; empty if it says none of any.
    """

    names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    num_terminals: int
    types: tuple[str, ...] = ()


@dataclass
class _Found:
    """What a file says of a graph.

    Attributes
    ----------
    nodes : list of str
        In its order; those of links need not be there.
    edges : list of (str, str)
    switches : set of str
    besides : Counter
        What it says of links besides, such as weights -> of how many.
    is_directed : bool
    from_both : bool
        Whether a link may be there once for each end.
    types : dict of frozenset to str
        Ends of a link -> type of its channels, where it says one.
    """

    nodes: list[str] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    switches: set[str] = field(default_factory=set)
    besides: Counter[str] = field(default_factory=Counter)
    is_directed: bool = False
    from_both: bool = False
    types: dict[frozenset[str], str] = field(default_factory=dict)

    def kept(self, what: str) -> tuple[NamedGraph, str]:
        """Return the graph, and what was not kept of it."""
        links = [edge for edge in self.edges if edge[0] != edge[1]]
        ordered = self.is_directed or self.from_both
        distinct = {edge if ordered else frozenset(edge) for edge in links}
        dropped = ["directions of links"] if self.is_directed else []
        dropped += [f"{name} of {_counted(count)}" for name, count in self.besides.items()]
        for count, kind in (
            (len(links) - len(distinct), "beside another one"),
            (len(self.edges) - len(links), "of a node to itself"),
        ):
            dropped += [f"{_counted(count)} {kind}"] if count else []
        nodes = dict.fromkeys([*self.nodes, *(end for edge in self.edges for end in edge)])
        return named_graph(what, nodes, links, self.switches, self.types), ", ".join(dropped)


def _counted(links: int) -> str:
    return "1 link" if links == 1 else f"{links} links"


def named_graph(
    what: str,
    nodes: Iterable[str],
    edges: Iterable[tuple[str, str]],
    switches: Iterable[str],
    types: Mapping[frozenset[str], str] = MappingProxyType({}),
) -> NamedGraph:
    """Number the nodes of a graph: by themselves if all are numbers, else in order; switches come last.

    Raises
    ------
    SpecError
        If it has fewer than two terminals, a loop, parts that are not joined, or a type that is no word; `what` names
        it.
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
    for said in types.values():
        if TYPE.fullmatch(said) is None:
            raise SpecError(f"{what}: {CHANNEL} of a link must be lower-case letters and _, such as long, not {said!r}")
    ordered = sorted(found)
    of_each = [types.get(frozenset((names[one], names[other])), UNTYPED) for one, other in ordered] if types else ()
    return NamedGraph(tuple(names), tuple(ordered), terminals, tuple(of_each))


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
    """Return a graph of networkx, of any kind; see :func:`hdnhw.from_networkx`."""
    return _of_networkx(graph, what).kept(what)[0]


def _of_networkx(graph: Any, what: str) -> _Found:
    names = {node: str(node) for node in graph.nodes}
    if len(set(names.values())) < len(names):
        raise SpecError(f"{what}: nodes must have different names as text")
    default = graph.graph.get("node_default", {}).get(SWITCH)
    return _Found(
        nodes=list(names.values()),
        edges=[(names[one], names[other]) for one, other in graph.edges()],
        switches={names[node] for node, known in graph.nodes(data=SWITCH, default=default) if _is_true(known)},
        types={
            frozenset((names[one], names[other])): str(said)
            for one, other, said in graph.edges(data=CHANNEL)
            if said is not None and one != other
        },
        besides=Counter(str(name) for *_, known in graph.edges(data=True) for name in known if name not in _KEPT),
        is_directed=graph.is_directed(),
    )


def _is_true(said: Any) -> bool:
    return str(said).lower() in ("1", "true")


def _text_of(what: str, data: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 if it begins with its byte order mark."""
    code = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(code)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise SpecError(f"{what}: cannot be read: it is no text")
    return text


def _read_edges(what: str, data: bytes) -> _Found:
    """Read two names a line, which may stand in quotes; empty lines and comments do not count."""
    rows = {}
    for place, line in enumerate(_text_of(what, data).splitlines(), 1):
        said = "" if line.lstrip().startswith(COMMENTS) else line.partition("#")[0]
        if fields := [bare or quoted for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', said)]:
            rows[place] = fields
        if len(fields) == 1:
            hint = ": commas stand between them in a file .csv" if "," in fields[0] else ""
            raise SpecError(f"{what}: line {place} must name two nodes, not {line.strip()!r}{hint}")
    return _of_rows(what, rows, "begin it with #")


def _read_csv(what: str, data: bytes) -> _Found:
    """Read two names a line, below a header or not, whose columns are called as in :data:`ENDS`."""
    text = _text_of(what, data)
    first = text.lstrip().partition("\n")[0]
    mark = next((mark for mark in ",;\t" if mark in first), ",")
    lines = csv.reader(StringIO(text, newline=""), delimiter=mark, skipinitialspace=True, strict=True)
    found = ((lines.line_num, [name.strip() for name in row]) for row in lines)
    rows = {place: row for place, row in found if any(row) and not row[0].startswith(COMMENTS)}
    header, *_ = [[name.lower() for name in row] for row in rows.values()] or [[""]]
    one, other = next((ends for ends in ENDS if set(ends) <= set(header)), ("", ""))
    if one:
        rows.pop(next(iter(rows)))
        rest = [place for place, name in enumerate(header) if name not in (one, other)]
        columns = [header.index(one), header.index(other), *rest]
        rows = {number: [row[place] for place in columns if place < len(row)] for number, row in rows.items()}
    for place, row in rows.items():
        if len(row) < 2 or not row[0] or not row[1]:
            raise SpecError(f"{what}: line {place} must name two nodes, not {mark.join(row)!r}")
    return _of_rows(what, rows, "call its columns source and target")


def _of_rows(what: str, rows: Mapping[int, Sequence[str]], hint: str) -> _Found:
    """Return the graph of lines with two names each, by their numbers; `hint` says how a header is told to be one."""
    edges = [(row[0], row[1]) for row in rows.values()]
    more = [row[2:] for row in rows.values() if any(one not in ("", "{}") for one in row[2:])]
    known = Counter(end for edge in edges for end in edge)
    if len(edges) > 1 and not any(map(_is_number, edges[0])):
        others_are_numbers = all(_is_number(end) for edge in edges[1:] for end in edge)
        if others_are_numbers or all(known[end] == 1 for end in edges[0]):
            what_else = "" if others_are_numbers else ", or is joined to no other"
            raise SpecError(f"{what}: line {next(iter(rows))} looks like a header: {hint}{what_else}")
    found = _Found(edges=edges, from_both=True)
    if more:
        is_list = len(set(map(len, rows.values()))) > 1 and all(one in known for row in more for one in row)
        found.besides["what follows two names" + (" (neighbors stand in .adjlist)" if is_list else "")] = len(more)
    return found


def _is_number(name: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", name, re.IGNORECASE) is not None


def _read_anynet(what: str, data: bytes) -> _Found:
    """Read lines ``router A router B [latency] node N ...`` as BookSim does.

    If each router has one node, that is its terminal, with the node's number. Otherwise nodes stand by themselves,
    linked to their routers, and are called ``node N``, routers ``router N``.
    """
    links: list[tuple[str, str]] = []
    homes: dict[str, str] = {}
    routers: dict[str, None] = {}
    latencies = 0
    for place, line in enumerate(_text_of(what, data).splitlines(), 1):
        words = " ".join(line.split())
        if words and ANYNET.fullmatch(words) is None:
            raise SpecError(f"{what}: line {place} must be 'router N', then 'router N' or 'node N' each, not {line!r}")
        ends = [f"{kind} {int(number)}" for kind, number in ANYNET_END.findall(words)]
        latencies += len(words.split()) - 2 * len(ends)
        for other in ends[1:]:
            if other.startswith("router"):
                links.append((ends[0], other))
            elif homes.setdefault(other, ends[0]) != ends[0]:
                raise SpecError(f"{what}: {other} must be at one router, not at {homes[other]} and {ends[0]}")
        routers |= dict.fromkeys(end for end in ends if end.startswith("router"))
    besides = Counter({"latencies": latencies} if latencies else {})
    if sorted(homes.values()) == sorted(routers):
        terminal = {router: node.split()[1] for node, router in homes.items()}
        short = [(terminal[one], terminal[other]) for one, other in links]
        return _Found(list(terminal.values()), short, besides=besides, from_both=True)
    nodes = [
        *sorted(homes, key=lambda name: int(name.split()[1])),
        *sorted(routers, key=lambda name: int(name.split()[1])),
    ]
    return _Found(nodes, [*links, *homes.items()], set(routers), besides, from_both=True)


def _read_graphml(what: str, data: bytes) -> _Found:
    from xml.etree import ElementTree

    import networkx

    root = ElementTree.fromstring(data)
    graphs = [one for one in root.iter() if one.tag.rpartition("}")[2] == "graph"]
    if len(graphs) != 1:
        raise SpecError(f"{what}: must have one graph, not {len(graphs)}")
    edges = [one for one in root.iter() if one.tag.rpartition("}")[2] == "edge"]
    # An edge may say of itself what its graph does not, which networkx refuses.
    own = {edge.attrib.pop("directed", "") for edge in edges}
    found = _of_networkx(networkx.parse_graphml(ElementTree.tostring(root, encoding="unicode")), what)
    found.is_directed |= "true" in own
    return found


def _read_gml(what: str, data: bytes) -> _Found:
    import networkx

    text = _text_of(what, data)
    try:
        return _of_networkx(networkx.parse_gml(text), what)
    except networkx.NetworkXError:  # there are no labels, or two are the same
        return _of_networkx(networkx.parse_gml(text, label="id"), what)


def _read_gexf(what: str, data: bytes) -> _Found:
    import networkx

    return _of_networkx(networkx.read_gexf(BytesIO(data)), what)


def _read_json(what: str, data: bytes) -> _Found:
    """Read nodes and links, or nodes and their neighbors, as networkx and D3 write them."""
    import json

    import networkx

    said = json.loads(_text_of(what, data))
    if isinstance(said, dict) and "adjacency" in said:
        return _of_networkx(networkx.adjacency_graph(said), what)
    if not isinstance(said, dict) or "nodes" not in said or not {"links", "edges"} & set(said):
        raise SpecError(f"{what}: must be an object with nodes and links, or nodes and adjacency")
    return _of_networkx(networkx.node_link_graph(said, edges="links" if "links" in said else "edges"), what)


def _read_adjlist(what: str, data: bytes) -> _Found:
    """Read a node a line, and behind it its neighbors."""
    found = _Found(from_both=True)
    for line in _text_of(what, data).splitlines():
        node, *others = line.partition("#")[0].split() or [""]
        if node:
            found.nodes.append(node)
            found.edges += [(node, other) for other in others]
    return found


_VALUES = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
"""Kinds of matrices in MatrixMarket -> the numbers of a value."""


def _read_matrix(what: str, data: bytes) -> _Found:
    """Read the adjacency matrix of a graph in MatrixMarket, whose nodes are numbered from 1."""
    head, *lines = [line.lower().split() for line in _text_of(what, data).splitlines() if line.strip()] or [[]]
    if len(head) != 5 or head[:2] != ["%%matrixmarket", "matrix"] or head[3] not in _VALUES:
        raise ValueError("its first line must be %%MatrixMarket matrix FORM KIND SYMMETRY")
    form, kind, symmetry = head[2:]
    size, *entries = [line for line in lines if not line[0].startswith("%")] or [[]]
    if len(size) != {"coordinate": 3, "array": 2}.get(form):
        raise ValueError(f"there must be a line of sizes, as of a matrix by {form}")
    rows, columns, *count = map(int, size)
    if rows != columns:
        raise SpecError(f"{what}: must be a square matrix, not {rows} x {columns}")
    most = count[0] if count else rows * columns
    if most > len(data):
        raise ValueError(f"it has fewer entries than the {most} that it names")
    if rows > most + 1:
        raise SpecError(f"{what}: must be connected, and has {rows} nodes and {most} links")
    if form == "array":
        entries = _coordinates(entries, rows, symmetry)
    elif len(entries) != most:
        raise ValueError(f"it has {len(entries)} entries and names {most}")
    edges = [_place(entry, rows, _VALUES[kind]) for entry in entries]
    there = set(edges)
    return _Found(
        nodes=[str(node) for node in range(1, rows + 1)],
        edges=edges,
        besides=Counter() if kind == "pattern" else Counter(weight=len(set(map(_either, edges)))),
        is_directed=symmetry == "general" and any((other, one) not in there for one, other in edges),
        from_both=symmetry == "general",
    )


def _coordinates(values: Sequence[list[str]], rows: int, symmetry: str) -> list[list[str]]:
    """Return what is not 0 of a matrix that has all values, column by column, with row and column before each."""
    least = {"general": -rows, "skew-symmetric": 1}.get(symmetry, 0)
    pairs = ((row, column) for column in range(1, rows + 1) for row in range(1, rows + 1) if row - column >= least)
    places = [[str(row), str(column)] for row, column in pairs]
    if len(places) != len(values):
        raise ValueError(f"it has {len(values)} values and not {len(places)}")
    return [[*place, *value] for place, value in zip(places, values, strict=True) if any(map(float, value))]


def _place(entry: Sequence[str], rows: int, numbers: int) -> tuple[str, str]:
    """Return the row and the column of an entry with so many numbers."""
    row, column, *value = entry
    if len(value) != numbers or not all(1 <= int(node) <= rows for node in (row, column)):
        raise ValueError(f"{' '.join(entry)!r:.60} is no entry")
    list(map(float, value))
    return str(int(row)), str(int(column))


def _read_compact(what: str, data: bytes) -> _Found:
    """Read graph6 or sparse6, a line."""
    import networkx
    from networkx.readwrite.graph6 import data_to_n

    lines = data.split()
    if len(lines) != 1:
        raise SpecError(f"{what}: must have one graph, not {len(lines)}")
    line = lines[0].removeprefix(b">>graph6<<").removeprefix(b">>sparse6<<")
    if not line.startswith(b":"):
        return _of_networkx(networkx.from_graph6_bytes(line), what)
    nodes, _ = data_to_n([byte - 63 for byte in line[1:]])
    if nodes > _BITS * len(line):  # a link takes a bit or more
        raise SpecError(f"{what}: must be connected, and has {nodes} nodes in {len(line)} bytes")
    return _of_networkx(networkx.from_sparse6_bytes(line), what)


def _read_dot(what: str, data: bytes) -> _Found:
    import pydot

    said = StringIO()
    with warnings.catch_warnings(action="ignore"), redirect_stdout(said):  # of old names; what is wrong is printed
        graphs = pydot.graph_from_dot_data(_text_of(what, data)) or []
    if not graphs:
        raise ValueError((said.getvalue().strip().splitlines() or ["no graph"])[-1])
    if len(graphs) != 1:
        raise SpecError(f"{what}: must have one graph, not {len(graphs)}")
    return _Dot(what, graphs[0].obj_dict).found


class _Dot:
    """The statements of a graph in DOT, as pydot has them, taken in order.

    What a graph says of all nodes holds for those that are first named behind it, there and in the graphs in it.
    """

    def __init__(self, what: str, graph: Mapping[str, Any]) -> None:
        self._what = what
        self.found = _Found(is_directed=graph["type"] == "digraph")
        self._known: set[str] = set()
        self._taken: dict[int, list[str]] = {}
        self._take(graph, {})
        if graph["strict"]:
            self.found.edges = list(dict.fromkeys(map(_either, self.found.edges)))

    def _take(self, graph: Mapping[str, Any], defaults: Mapping[str, Mapping[str, str]]) -> list[str]:
        """Take a graph, or one in it, and return its nodes."""
        if id(graph) in self._taken:  # as in a -- {b c} -- d, where it ends two links
            return self._taken[id(graph)]
        own = {kind: dict(said) for kind, said in defaults.items()}
        there: list[str] = []
        for kind, one in sorted(_dot_statements(graph), key=lambda statement: statement[1]["sequence"]):
            if kind == "subgraphs":
                there += self._take(one, own)
            elif kind == "edges":
                first, second = (
                    [self._node(end, own)] if isinstance(end, str) else self._take(end, own) for end in one["points"]
                )
                there += first + second
                check_edges(f"{self._what}: it", len(self.found.edges) + len(first) * len(second))
                joined = [(end, other) for end in first for other in second]
                self.found.edges += joined
                self.found.besides.update(dict.fromkeys({**own.get("edge", {}), **one["attributes"]}, len(joined)))
            elif one["name"] in ("graph", "node", "edge"):
                own.setdefault(one["name"], {}).update(one["attributes"])
            else:
                there.append(self._node(one["name"], own, one["attributes"]))
        self._taken[id(graph)] = there = list(dict.fromkeys(there))
        return there

    def _node(self, name: str, own: Mapping[str, Mapping[str, str]], said: Mapping[str, str] | None = None) -> str:
        """Take a node, and what is said of it."""
        parts = DOT_NAME.fullmatch(name)
        if parts is None or name.startswith("<"):
            raise ValueError(f"a node is called {name}")
        name = _unquoted(parts["name"])
        known = dict(said or {})
        if name not in self._known:
            self._known.add(name)
            self.found.nodes.append(name)
            known = {**own.get("node", {}), **known}
        if SWITCH in known:
            (self.found.switches.add if _is_true(_unquoted(known[SWITCH])) else self.found.switches.discard)(name)
        return name


def _dot_statements(graph: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what stands in a graph of pydot: its nodes, edges and graphs."""
    for kind in ("nodes", "edges", "subgraphs"):
        for same in graph[kind].values():
            for one in same:
                yield kind, one


def _unquoted(text: str) -> str:
    return text[1:-1].replace('\\"', '"') if text.startswith('"') else text


def _either(edge: tuple[str, str]) -> tuple[str, str]:
    """Return an edge from the one of its ends that comes first."""
    return min(edge), max(edge)


_READERS: Mapping[str, tuple[str, Callable[[str, bytes], _Found]]] = {
    ".edges": ("list of edges", _read_edges),
    ".txt": ("list of edges", _read_edges),
    ".csv": ("list of edges", _read_csv),
    ".adjlist": ("list of neighbors", _read_adjlist),
    ".graphml": ("GraphML", _read_graphml),
    ".gml": ("GML", _read_gml),
    ".gexf": ("GEXF", _read_gexf),
    ".json": ("JSON", _read_json),
    ".dot": ("DOT", _read_dot),
    ".gv": ("DOT", _read_dot),
    ".mtx": ("MatrixMarket", _read_matrix),
    ".g6": ("graph6", _read_compact),
    ".s6": ("sparse6", _read_compact),
    ".anynet": ("anynet", _read_anynet),
}
SUFFIXES = tuple(_READERS)
"""Of files of graphs."""


def read_graph(path: str) -> NamedGraph:
    """Read a file, in the format that its suffix says; a line tells what was not kept of it.

    Raises
    ------
    SpecError
        If it cannot be read, or is no connected graph of two nodes or more.
    """
    what, suffix = f"file {path!r}", Path(path).suffix
    if suffix not in _READERS:
        raise SpecError(f"{what}: suffix {choices_text(SUFFIXES, suffix)}")
    kind, reader = _READERS[suffix]
    try:
        named, dropped = reader(what, _bytes_of(what, path)).kept(what)
    except SpecError:
        raise
    except Exception as error:  # readers of libraries raise anything
        raise SpecError(f"{what}: is no {kind}: {(str(error).splitlines() or [type(error).__name__])[0]}") from None
    if dropped:
        say(f"{what}: not kept: {dropped}")
    return named


def _bytes_of(what: str, path: str) -> bytes:
    """Return what is in a file, but of no device, which may have no end."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", closefd=True) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SpecError(f"{what}: must be a file of a file system")
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SpecError(f"{what}: cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise SpecError(f"{what}: must be at most {MOST_BYTES >> 20} MiB")
    return data


def graph_text(network: Network, suffix: str) -> str:
    """Return a network as the text of a file of a suffix, so that :func:`read_graph` reads the same graph."""
    if suffix in _WITHOUT_SWITCHES and network.num_terminals < network.num_nodes:
        raise SpecError(f"{network.spec} has switches without terminals, which a list of edges cannot say; GraphML can")
    return _WRITERS[suffix](network)


def _edges(network: Network) -> list[tuple[int, int]]:
    return [
        (node, other)
        for node in range(network.num_nodes)
        for other in sorted(network.neighbors(node).values())
        if node < other
    ]


def _write_edges(network: Network) -> str:
    return "".join(f"{line}\n" for line in (f"# {network.spec}", *(f"{one} {other}" for one, other in _edges(network))))


def _write_csv(network: Network) -> str:
    return "".join(f"{one},{other}\n" for one, other in [*ENDS[:1], *_edges(network)])


def _graph(network: Network) -> Any:
    """Return a network as a graph of networkx."""
    import networkx

    spec: Any = network.spec
    graph = networkx.Graph(spec=str(spec))
    for node in range(network.num_nodes):
        graph.add_node(node, address=network.paper_address(node), switch=node >= network.num_terminals)
    graph.add_edges_from(_edges(network))
    if types := getattr(spec, "types", ()):
        networkx.set_edge_attributes(graph, dict(zip(spec.edges, types, strict=True)), CHANNEL)
    return graph


def _write_graphml(network: Network) -> str:
    import networkx

    return "\n".join(networkx.generate_graphml(_graph(network))) + "\n"


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
    ".csv": _write_csv,
    ".graphml": _write_graphml,
    ".dot": _write_dot,
    ".gv": _write_dot,
    ".anynet": _write_anynet,
}
WRITTEN = tuple(_WRITERS)
"""Suffixes of files that networks are written to."""

_WITHOUT_SWITCHES = (".edges", ".txt", ".csv")
