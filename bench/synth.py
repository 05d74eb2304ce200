"""Size and speed of routers, endpoints and fabrics on ECP5 and iCE40, placed and routed; hours the first time."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hdnhw.cli import main as hdnhw
from hdnhw.cli import say
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.fpga.family import FAMILIES
from hdnhw.fpga.spec import SynthSpec
from hdnhw.fpga.synth import Result, synthesize
from hdnhw.fpga.tools import ToolError
from hdnhw.networks.parse import parse
from hdnhw.spec import CROSSBARS, FabricSpec

SEEDS = 3
COLUMNS = [
    "family",
    "unit",
    "network",
    "ports",
    "vcs",
    "flits*bits",
    "buffers",
    "crossbar",
    "queueing",
    "RAM",
    "LUT4",
    "sites",
    "FF",
    "block RAMs",
    "MHz",
    "seeds",
    "stage",
]
ECP5_ROUTERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("torus(4, 4)", {}),
    ("torus(4, 4)", {"lanes": 2}),
    ("torus(5, 5)", {}),
    ("rdn(cube(3), 1)", {}),
    ("hdn(cube(3), [[2], [0, 1, 2]])", {}),
    ("hdn(torus(2, 3, 5), [[0]])", {}),
    ("torus(4, 4)", {"buffers": 2}),
    ("rdn(cube(3), 1)", {"buffers": 2}),
    ("torus(4, 4)", {"ram": "distributed"}),
    ("rdn(cube(3), 1)", {"ram": "distributed"}),
    ("torus(4, 4)", {"queueing": "voq"}),
    ("torus(4, 4)", {"buffers": 8, "queueing": "voq"}),
    ("rdn(cube(3), 1)", {"buffers": 8}),
    ("rdn(cube(3), 1)", {"buffers": 8, "queueing": "voq"}),
)
"""Networks and options; ``torus(4, 4)`` needs no dateline and has one class; ``torus(5, 5)`` has two."""
COMPARED = ("torus(4, 4)", "rdn(cube(3), 1)", "hdn(cube(3), [[2], [0, 1, 2]])", "hdn(torus(2, 3, 5), [[0]])")
"""Networks of which all machines are measured that ``hdnhw machines`` measures unasked."""
ECP5_ENDPOINTS = (
    ("hdn(cube(2), [[0]])", AxiStreamSpec()),
    ("hdn(cube(3), [[2]])", AxiStreamSpec()),
    ("rdn(cube(3), 1)", AxiStreamSpec()),
    ("hdn(cube(3), [[2]])", RelaySpec()),
    ("rdn(cube(3), 1)", RelaySpec()),
)
LARGE_FABRICS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rdn(cube(2), 1)", {}),
    ("rdn(cube(2), 1)", {"buffers": 2, "channel_latency": "2"}),
    ("hdn(cube(1), [[], [0]])", {"buffers": 2, "channel_latency": "2"}),
)
"""Of 32 and 64 nodes, with options that suit a full device; one seed each, as they take long."""
ECP5_FABRIC = FabricSpec(network=parse("hdn(cube(2), [[0]])"), packet_length=8, flit_width=32)
SMALL_ROUTER = FabricSpec(
    network=parse("hdn(cube(1), [[]])"), packet_length=2, flit_width=8, buffers=4, crossbar="output"
)
SMALL_FABRIC = replace(SMALL_ROUTER, buffers=1)
SIXTEEN_NODES = replace(SMALL_FABRIC, network=parse("hdn(cube(2), [[0]])"), packet_length=1)


def specs() -> Iterable[SynthSpec]:
    """Yield what is measured."""
    for text, options in ECP5_ROUTERS:
        fabric = FabricSpec(network=parse(text), packet_length=8, flit_width=32, **options)
        yield SynthSpec(fabric=fabric, family="ecp5", placements=SEEDS)
    yield SynthSpec(fabric=SMALL_ROUTER, family="ice40", placements=SEEDS)
    yield SynthSpec(fabric=SMALL_FABRIC, family="ice40", unit="fabric", placements=SEEDS)
    for fabric in (replace(SIXTEEN_NODES, modes="O"), SIXTEEN_NODES):
        yield SynthSpec(fabric=fabric, family="ice40", unit="fabric", placements=SEEDS)
    for text, endpoints in ECP5_ENDPOINTS:
        fabric = FabricSpec(network=parse(text), packet_length=8, flit_width=32, endpoints=endpoints)
        yield SynthSpec(fabric=fabric, family="ecp5", unit="endpoint", placements=SEEDS)
    for crossbar in CROSSBARS:
        yield SynthSpec(fabric=replace(ECP5_FABRIC, crossbar=crossbar), family="ecp5", unit="fabric", placements=SEEDS)
    for text, options in LARGE_FABRICS:
        fabric = replace(ECP5_FABRIC, network=parse(text), crossbar="output", **options)
        yield SynthSpec(fabric=fabric, family="ecp5", unit="fabric", placements=1)


def row(spec: SynthSpec) -> str:
    """Return a row of the table."""
    try:
        result: Result = synthesize(spec, say=say)
    except ToolError as error:
        sizes = f"{spec.fabric.packet_length}*{spec.fabric.flit_width} | {spec.fabric.buffers} | {spec.fabric.crossbar}"
        what = str(error).split(", see ")[0]
        return f"| {spec.family} | {spec.unit} | `{spec.fabric.network}` | | | {sizes} | | | {what} | | | | | |"
    block_rams = result["ram_cells"][FAMILIES[spec.family].block_ram]
    cells = f"{result['luts']} | {result['comb_sites']} | {result['ff']} | {block_rams}"
    machine = " | ".join(
        str(result[name]) if name != "packet_length" else f"{result[name]}*{result['flit_width']}"
        for name in ("packet_length", "buffers", "crossbar", "queueing", "ram")
    )
    speed = f"{result['fmax_mhz']} | {', '.join(map(str, result['fmax_of_seed']))} | {result['critical_stage']}"
    shape = f"{result['ports']} | {result['num_vcs']}"
    return f"| {result['family']} | {result['unit']} | `{result['spec']}` | {shape} | {machine} | {cells} | {speed} |"


def main() -> None:
    """Print one row a design, then the machines on some networks."""
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for spec in specs():
        print(row(spec), flush=True)
    for network in COMPARED:
        print(flush=True)
        hdnhw(["machines", network])


if __name__ == "__main__":
    main()
