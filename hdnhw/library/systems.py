"""A system of blocks with addresses: its network, their places, the Verilog and the address map."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdnhw.endpoints import declared
from hdnhw.endpoints.axi4.format import WIDE
from hdnhw.endpoints.axi4.spec import AxiMemorySpec
from hdnhw.endpoints.axi4.spec_blocks import KINDS, MOST_NODES
from hdnhw.library.asked import asks
from hdnhw.library.hardware import FileOptions
from hdnhw.library.options import PathLike, fabric_of
from hdnhw.library.result import Result
from hdnhw.library.system_file import EXAMPLE, SCHEMA_FILE, System, read_system, schema, window_of
from hdnhw.spec import FabricSpec, NetworkSpec
from hdnhw.spec.options import Flag, Size, option, seed_option
from hdnhw.support.errors import SpecError
from hdnhw.support.files import check_folder, write_together
from hdnhw.support.naming import named

if TYPE_CHECKING:
    from hdnhw.topology.graph import Network

LEAST_DEGREE, MOST_DEGREE, WITHIN = 4, 6, 1.34
"""Ports of the routers of a network that is chosen: those of a hypercube, no more than the first unless none is found
with them, and no more than the second. And its nodes for each block, at most."""


@dataclass(frozen=True, kw_only=True)
class SystemOptions(FileOptions):
    """Options of the command ``system``."""

    new: bool = option(
        False,
        Flag,
        "write an example of such a file, to be edited, in place of reading it, and its JSON Schema beside it",
    )
    bursts: int | None = option(
        None,
        Size,
        "simulate N random bursts and accesses between the blocks, by cocotbext-axi; needs the extra sim",
        metavar="N",
        least=1,
    )
    resets: bool = option(False, Flag, "with --bursts, reset the blocks that may be reset alone now and then")
    seed: int = seed_option(1, "these bursts, and of pauses, clocks and resets")


@asks
def system(file: PathLike, *, output: PathLike | None = None, asked: SystemOptions) -> Result:
    """Write the Verilog and the address map of a system of AXI4 and AXI4-Stream blocks that a file describes.

    Parameters
    ----------
    file : path
        A description in TOML; docs/system.md says what stands there.
    output : path, optional
        Folder for the files; it is made. Without it, nothing is written.
    asked

    Returns
    -------
    Result
        ``network``, ``flit_width``, ``blocks`` with their nodes and addresses, or what TDEST and TID say of them,
        ``hops``, the mean of traffic, ``files`` and ``proof``; with `bursts` what the simulation has shown: `passed`
        is whether all was as it should be.

    Raises
    ------
    SpecError
        If the file does not describe a system, with file and line.

    Examples
    --------
    >>> import hdnhw, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = hdnhw.system(f"{folder}/soc.toml", new=True)
    ...     found = hdnhw.system(f"{folder}/soc.toml")
    >>> found.network, [(block["name"], block["node"]) for block in found.blocks]
    ('cube(2)', [('cpu', 0), ('dma', 2), ('ram', 1), ('uart', 3)])
    """
    path = Path(file)
    if asked.new:
        return _write_example(path)
    from hdnhw.verilog.fabric import check_place, emit_fabric, write_fabric

    described = read_system(path)
    if output is not None:
        check_folder(named("output"), Path(output))
        check_place(Path(output), top=described.name)
    try:
        machine, hops = placed(described)
        fabric = emit_fabric(machine, top=described.name, **asked.written, initial=not asked.no_initial)
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None
    endpoints = machine.endpoints
    assert isinstance(endpoints, AxiMemorySpec)
    found: dict[str, Any] = {
        "name": described.name,
        "top": fabric.top,
        "network": str(machine.network),
        "nodes": fabric.machine.network.num_nodes,
        **{name: getattr(machine, name) for name in ("packet_length", "flit_width")},
        "hops": round(hops, 4),
        "proof": fabric.manifest["proof"]["summary"],
        "blocks": [_row(block, endpoints) for block in endpoints.blocks],
    }
    if output is not None:
        shown = asked.shown(fabric)
        shown = replace(
            shown, files={**shown.files, f"{described.name}.svg": _picture(fabric.machine.network, endpoints)}
        )
        found["files"] = [str(one) for one in write_fabric(shown, Path(output))]
    if asked.bursts is None:
        return Result(found)
    from hdnhw.library.benches import run_endpoints

    bench = declared("bench")[endpoints.kind].of(fabric)
    return run_endpoints(bench, bench.asked_case(asked), found, bench.summary)


def _picture(network: "Network", endpoints: AxiMemorySpec) -> str:
    """Return an SVG of the network, with the names of the blocks at their nodes."""
    from hdnhw.figures.marks import Marks
    from hdnhw.figures.picture import network_svg

    names: dict[int, list[str]] = {}
    for block in endpoints.blocks:
        assert block.node is not None, "it has its place"
        names.setdefault(block.node, []).append(block.name)
    notes = {node: " ".join(those) for node, those in names.items()}
    return network_svg(network, marks=Marks(notes=notes))


def _row(block: Any, endpoints: AxiMemorySpec) -> dict[str, Any]:
    reached = " ".join(f"{base:#x}+{size:#x}" for base, size in block.ranges)
    if block.is_stream:
        name, alike = ("TID", endpoints.sources) if block.is_manager else ("TDEST", endpoints.sinks)
        reached = f"{name} {alike.index(block)}"
    return {
        "name": block.name,
        "kind": block.kind,
        "node": block.node,
        "data_width": block.data_width,
        "clock": block.clock or None,
        "addresses": reached or None,
    }


def _write_example(path: Path) -> Result:
    """Write a file to be edited, and the schema by which editors check it."""
    from hdnhw.verilog.fabric import check_name

    beside = path.with_name(SCHEMA_FILE)
    text = json.dumps(schema(), indent=1) + "\n"
    for one, is_there in ((path, path.exists()), (beside, beside.exists() and beside.read_text() != text)):
        if is_there:
            raise SpecError(f"{one} is there already")
    name = "".join(letter for letter in path.stem.lower() if letter.isalnum())
    try:
        check_name(name)
    except SpecError:  # a keyword, or a digit first
        name = "soc"
    example = EXAMPLE.format(schema=SCHEMA_FILE, file=path.name, name=name, kinds=", ".join(KINDS))
    files = {path.name: example, beside.name: text}
    return Result({"files": [str(one) for one in write_together(path.parent, files)]})


def placed(described: System) -> tuple[FabricSpec, float]:
    """Return the machine of a system, whose blocks all have nodes, and the hops of its traffic in the mean."""
    import numpy as np

    from hdnhw.networks.build import build
    from hdnhw.networks.placing import place
    from hdnhw.topology.metrics import neighbor_table, table_distances

    blocks, fixed = described.blocks, {}
    for number, block in enumerate(blocks):
        if block.node is not None:
            fixed[number] = block.node
    least = len(blocks) - len(fixed) + len({*fixed.values()})
    spec = described.network or _chosen(max(least, *(node + 1 for node in fixed.values()), 2))
    network: Network = build(spec)
    if not least <= network.num_nodes <= MOST_NODES:
        raise SpecError(
            f"network must have {least} to {MOST_NODES} nodes for these blocks, and {spec} has {network.num_nodes}"
        )
    if beyond := [block for block in blocks if block.node is not None and block.node >= network.num_nodes]:
        raise SpecError(
            f"node of {beyond[0].name} must be below the {network.num_nodes} of {spec}, not {beyond[0].node}"
        )
    table = neighbor_table(network)
    distances = np.stack([table_distances(table, source) for source in range(network.num_nodes)])
    traffic = np.zeros((len(blocks), len(blocks)))
    for asks_, manager in enumerate(blocks):
        for answers, other in enumerate(blocks):
            if manager.reaches(other):
                own = described.traffic.get(manager.name)
                traffic[asks_, answers] = traffic[answers, asks_] = 1 if own is None else own.get(other.name, 0)
    nodes, cost = place(distances, traffic, fixed)
    options = dict(described.machine)
    endpoints = AxiMemorySpec(
        **({"outstanding": options.pop("outstanding")} if "outstanding" in options else {}),
        memory_bits=window_of(blocks),
        id_width=max((block.id_width for block in blocks if block.kind == KINDS[0]), default=1),
        address_width=described.address_width,
        user_width=described.user_width,
        blocks=tuple(replace(block, node=node) for block, node in zip(blocks, nodes, strict=True)),
    )
    options.setdefault("flit_width", max(WIDE, *(block.data_width for block in blocks)))
    total = traffic.sum() / 2
    return fabric_of(spec, endpoints, options), cost / total if total else 0.0


def _chosen(nodes: int) -> NetworkSpec:
    """Return a network for a number of nodes: of few ports, and then of the shortest ways."""
    from hdnhw.networks.design import search

    for degree in range(min(LEAST_DEGREE, (nodes - 1).bit_length()), MOST_DEGREE + 1):
        try:
            found = [one for one in search(nodes, degree, WITHIN, longest_ring=8) if one.nodes >= nodes]
        except SpecError:
            continue
        if found:
            best = min(found, key=lambda one: (one.average_distance or 0, one.nodes, one.degree, str(one.spec)))
            return best.spec
    most = f"{WITHIN * nodes:.0f} nodes is known with at most {MOST_DEGREE} ports"
    raise SpecError(f"network must be given: none of {nodes} to {most}")
