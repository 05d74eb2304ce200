"""The layer order of the packages, read from the imports."""

import ast
import json
import subprocess
import sys
from pathlib import Path

from hdnhw.fpga import side_by_side
from tests.closure import imports_of
from tests.conftest import each

ROOT = Path(__file__).parents[1]
ORDER = [
    {"endpoints", "support"},
    {"core", "spec"},
    {"topology"},
    {"circuits"},
    {"networks"},
    {"rules"},
    {"collectives", "multipath"},
    {"traffic"},
    {"machine"},
    {"model", "rtl"},
    {"measurement", "verilog"},
    {"claims", "fpga"},
    {"figures", "proofs"},
    {"sim"},
    {"boards"},
    {"library"},
    {"cli"},
    {"__init__", "__main__", "fusesoc", "litex"},
]
"""Layers of hdnhw: one imports itself and what stands before it, never a neighbor of its own rank.

The folders sim and boards stand beside hdnhw: the packages hdnhw.sim and hdnhw.boards. That of endpoints is what finds
their kinds; the modules of a kind belong to the layers that their names say."""
OF_A_KIND = {
    "spec": "spec",
    "format": "machine",
    "model": "model",
    "emitted": "verilog",
    "proof": "proofs",
    "bench": "sim",
}
"""Layers of the modules of a kind of endpoints, by the first word of their names; the others are RTL."""
OF_KINDS = {"collectives", "measurement", "library", "cli", "__init__"}
"""Layers that may name a kind of endpoints; the others know them all alike."""
RANK = {layer: rank for rank, layers in enumerate(ORDER) for layer in layers}
ALLOWED = {"core": {"core"}, "litex": {"spec", "support"}}
"""Of some layers, all that they may import of hdnhw."""
FINDERS = (
    "hdnhw/__init__.py",
    "hdnhw/cli/__init__.py",
    "hdnhw/endpoints/__init__.py",
    "hdnhw/networks/registry.py",
)
"""Who imports what is named at run time: all that it finds in hdnhw stands below it, or in its own layer."""
USERS_OF_CORE = ("topology", "rules", "multipath", "collectives", "traffic", "model", "measurement")
OWN = {"bench", "boards", "sim", "tests"}
"""What is imported from inside hdnhw, or by nobody."""
PLACES = {
    "amaranth": ("hdnhw/rtl/", "hdnhw/verilog/", "boards/"),
    "cocotb": ("sim/", "bench/rtl/"),
    "amaranth_boards": ("boards/",),
    "cocotb_tools": ("sim/",),
    "cocotbext": ("sim/",),
    "hypothesis": ("tests/",),
    "networkx": ("hdnhw/library/", "hdnhw/topology/graphfile.py", "tests/"),
    "pydot": ("hdnhw/topology/graphfile.py",),
    "distributed": ("hdnhw/support/workers.py", "tests/"),
    "jinja2": ("hdnhw/figures/",),
    "matplotlib": ("hdnhw/figures/",),
    "litex": ("hdnhw/litex.py",),
    "migen": ("hdnhw/litex.py",),
    "mpi4py": ("hdnhw/support/ranks.py",),
    "pyarrow": ("hdnhw/library/", "hdnhw/measurement/", "hdnhw/model/", "hdnhw/support/", "hdnhw/traffic/"),
    "pyosys": ("hdnhw/fpga/",),
    "pytest": ("tests/",),
    "scipy": ("hdnhw/multipath/", "hdnhw/rules/", "hdnhw/topology/", "tests/"),
    "yaml": ("hdnhw/fusesoc/", "tests/"),
    "z3": ("bench/", "hdnhw/rules/ranking.py", "hdnhw/proofs/invariant.py"),
}
"""Where a library may be imported."""


def layer_of(module):
    """Return the layer of a module of hdnhw, and the kind of endpoints that it is of."""
    _, layer, kind, name, *_ = [*module.split("."), "", "", ""]
    if layer != "endpoints" or not kind:
        return layer, ""
    return OF_A_KIND.get(name.partition("_")[0], "rtl") if name else layer, kind


def reached(module, names):
    """Return layers and kinds of what an import reaches; ``from hdnhw import x`` reaches x."""
    if module.split(".")[0] != "hdnhw":
        return set()
    is_package = module == "hdnhw" or (module.startswith("hdnhw.endpoints.") and module.count(".") == 2)
    return {layer_of(f"{module}.{name}") for name in names} if is_package else {layer_of(module)}


def faults_of(path, source):
    """Return what is wrong with the imports of one file."""
    package, tree = tuple(path.split("/")[:-1]), ast.parse(source)
    faults = [] if path in FINDERS or path.startswith("bench/") else names_at_run_time(tree)
    own, kind = layer_of(module_of(path)) if path[:6] == "hdnhw/" else (package[0], "")
    place = path if not kind else f"{'sim' if own == 'sim' else f'hdnhw/{own}'}/"
    for module, names, _ in imports_of(tree, package):
        top = module.split(".")[0]
        if "*" in names:
            faults.append(f"star import of {module}")
        if not place.startswith(PLACES.get(top, "")):
            faults.append(f"{top} is not for this folder")
        if own != "bench":
            faults += [f"{own} imports {top}"] if top in OWN else []
            found = reached(module, names)
            faults += [f"{own} imports {layer}" for layer, _ in found if is_upward(own, layer)]
            strange = {one for _, one in found} - {"", kind, *([] if kind else "*")}
            faults += [f"{kind or own} names {one}" for one in strange if kind or own not in OF_KINDS]
    return faults


def names_at_run_time(tree):
    """Return what imports modules whose names do not stand there."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [(ast.unparse(call.func).split(".")[-1], call.args[:1]) for call in calls]
    unsaid = {name for name, first in named if not all(isinstance(one, ast.Constant) for one in first)}
    found = unsaid & {"import_module", "__import__", "declared"} | {name for name, _ in named} & {"entry_points"}
    return [f"{name} of what is named at run time" for name in found]


def is_upward(own, layer):
    if own in ALLOWED:
        return layer not in ALLOWED[own]
    return layer != own and RANK[layer] >= RANK[own]


def sources(*folders):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path):
    return str(path.relative_to(ROOT))


def module_of(path):
    """Return the dotted name of a file of hdnhw, sim or boards."""
    name = path.removesuffix(".py").replace("/", ".")
    name = name if name.startswith("hdnhw") else f"hdnhw.{name}"
    return name.removesuffix(".__init__") if name.count(".") > 1 else name


@each("path", sources("hdnhw", "sim", "boards", "bench"))
def test_imports_go_upward(path):
    assert faults_of(name_of(path), path.read_text()) == []


def test_every_layer_has_a_rank():
    parts = {path.stem if path.is_file() else path.name for path in (ROOT / "hdnhw").iterdir() if path.stem[0] != "_"}
    assert parts - {"py"} <= set(RANK)
    assert len(sources("hdnhw", "sim")) > 30


def test_the_layers_of_the_model_are_layers():
    assert set(side_by_side.MODEL) <= set(RANK)


LOADING = """
import json
import sys
from importlib import import_module

layers, allowed = json.loads(sys.argv[1]), set()
layer_of = {module: layer for layer, modules in layers for module in modules}
for layer, modules in layers:
    allowed.add(layer)
    for module in modules:
        import_module(module)
    if layer == "networks":
        from hdnhw.networks.parse import parse
        parse("rdn(cube(2), 1)")
    loaded = {layer_of[module] for module in sys.modules if module in layer_of}
    assert loaded <= allowed, (layer, loaded - allowed)
"""


def test_nothing_above_is_loaded_when_a_layer_is():
    """However it is imported: all modules of each layer, and all families, are loaded, the lowest layers first."""
    modules = [module_of(name_of(path)) for path in sources("hdnhw", "sim", "boards")]
    layers = [layer for layers in ORDER if "__init__" not in layers for layer in sorted(layers)]
    of = [(layer, [module for module in modules if layer_of(module)[0] == layer]) for layer in layers]
    done = subprocess.run([sys.executable, "-c", LOADING, json.dumps(of)], text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


@each("path", sources("tests"))
def test_no_star_imports_in_tests(path):
    assert all("*" not in names for _, names, _ in imports_of(ast.parse(path.read_text()), ("tests",)))


@each(
    ("path", "source", "fault"),
    [
        ("hdnhw/spec/x.py", "import hdnhw.networks.build", "spec imports networks"),
        ("hdnhw/topology/x.py", "from hdnhw.circuits import step", "topology imports circuits"),
        ("hdnhw/topology/x.py", "from ..circuits.step import Step", "topology imports circuits"),
        ("hdnhw/networks/x.py", "from hdnhw.rules.plan import plan", "networks imports rules"),
        ("hdnhw/support/x.py", "from hdnhw.spec import FabricSpec", "support imports spec"),
        ("hdnhw/model/x.py", "from hdnhw.rtl.router import Router", "model imports rtl"),
        ("hdnhw/rtl/x.py", "def f():\n    from hdnhw.model import router", "rtl imports model"),
        ("hdnhw/verilog/x.py", "from hdnhw import cli", "verilog imports cli"),
        ("hdnhw/verilog/x.py", "import importlib\nimportlib.import_module('hdnhw.fpga.x')", "verilog imports fpga"),
        (
            "hdnhw/verilog/x.py",
            "from importlib import import_module\nimport_module('hdnhw.fpga.x')",
            "verilog imports fpga",
        ),
        ("hdnhw/topology/x.py", "from hdnhw.networks.families import star", "topology imports networks"),
        (
            "hdnhw/rules/x.py",
            "from importlib import import_module\nimport_module(NAME)",
            "import_module of what is named at run time",
        ),
        (
            "hdnhw/rtl/x.py",
            "import importlib.metadata\nimportlib.metadata.entry_points()",
            "entry_points of what is named at run time",
        ),
        ("hdnhw/core/x.py", "from hdnhw.support.errors import SpecError", "core imports support"),
        ("hdnhw/networks/families/x.py", "from hdnhw.figures.page import page", "networks imports figures"),
        ("sim/x.py", "from hdnhw.library.options import given", "sim imports library"),
        ("hdnhw/cli/x.py", "__import__('tests.helpers')", "cli imports tests"),
        ("sim/x.py", "from hdnhw.boards.uart import Uart", "sim imports boards"),
        ("boards/x.py", "import sim.listener", "boards imports sim"),
        ("hdnhw/model/x.py", "from amaranth.hdl import Module", "amaranth is not for this folder"),
        ("sim/x.py", "import amaranth", "amaranth is not for this folder"),
        ("hdnhw/rtl/x.py", "from amaranth.hdl import *", "star import of amaranth.hdl"),
        ("hdnhw/verilog/x.py", "import cocotb", "cocotb is not for this folder"),
        ("hdnhw/topology/x.py", "import networkx as nx", "networkx is not for this folder"),
        ("sim/x.py", "from tests.x import y", "sim imports tests"),
        ("hdnhw/endpoints/axi4/spec.py", "from hdnhw.machine.flit import FlitFormat", "spec imports machine"),
        ("hdnhw/endpoints/axi4/format.py", "from hdnhw.endpoints.axi4 import emitted", "machine imports verilog"),
        ("hdnhw/endpoints/axi4/format_x.py", "from hdnhw.endpoints.axi4.tags import Tags", "machine imports rtl"),
        ("hdnhw/endpoints/axi4/tags.py", "import hdnhw.endpoints.axi4.model", "rtl imports model"),
        ("hdnhw/endpoints/axi4/emitted.py", "from hdnhw.endpoints.axi4.bench import x", "verilog imports sim"),
        ("hdnhw/endpoints/axi4/bench.py", "import amaranth", "amaranth is not for this folder"),
        ("hdnhw/endpoints/axi4/tags.py", "import cocotb", "cocotb is not for this folder"),
        ("hdnhw/endpoints/axi4/tags.py", "from hdnhw.endpoints.relay.pending import x", "axi4 names relay"),
        ("hdnhw/endpoints/axi4/bench.py", "from hdnhw.endpoints import declared\ndeclared('spec')", "axi4 names *"),
        ("hdnhw/machine/x.py", "from hdnhw.endpoints import declared\ndeclared('emitted')", "machine imports verilog"),
        ("hdnhw/machine/x.py", "declared(NAME)", "declared of what is named at run time"),
        ("hdnhw/verilog/x.py", "from hdnhw.endpoints.axi4.spec import x", "verilog names axi4"),
        ("hdnhw/endpoints/__init__.py", "from hdnhw.spec import FabricSpec", "endpoints imports spec"),
    ],
)
def test_each_fault_is_seen(path, source, fault):
    assert fault in faults_of(path, source)


@each(
    ("path", "source"),
    [
        ("hdnhw/machine/flit.py", "from hdnhw.support.errors import SpecError"),
        ("hdnhw/model/x.py", "from .router import y\nfrom hdnhw.machine.timing import SlotTiming"),
        ("hdnhw/rtl/x.py", "import amaranth\nfrom hdnhw.rules.plan import plan"),
        *((f"hdnhw/{layer}/x.py", "from hdnhw.core import Function") for layer in USERS_OF_CORE),
        ("hdnhw/networks/families/x.py", "def f():\n    from hdnhw.topology.places import ring"),
        ("hdnhw/networks/families/x.py", "from hdnhw.networks.families.star import star"),
        ("sim/x.py", "import cocotb\nfrom hdnhw.model.fabric import FabricModel"),
        ("boards/x.py", "from hdnhw.sim.listener import Listener"),
        ("bench/x.py", "from hdnhw.boards.uart import Uart"),
        ("hdnhw/endpoints/axi4/tags.py", "import amaranth\nfrom hdnhw.endpoints.axi4.format import MemoryFormat"),
        ("hdnhw/endpoints/axi4/bench_x.py", "import cocotb\nfrom hdnhw.endpoints.axi4 import emitted, tags"),
        ("hdnhw/library/x.py", "from hdnhw.endpoints.axi4.spec import AxiMemorySpec"),
        ("hdnhw/spec/x.py", "from hdnhw.endpoints import declared\ndeclared('spec')"),
        ("hdnhw/verilog/x.py", "from hdnhw.endpoints import declared\ndeclared('emitted')"),
    ],
)
def test_what_is_allowed(path, source):
    assert faults_of(path, source) == []
