"""The layer order of the packages, read from the imports."""

import ast
from pathlib import Path

from hdnhw.flow import machines
from tests.closure import imports_of
from tests.conftest import each

ROOT = Path(__file__).parents[1]
ORDER = [
    {"ranks"},
    {"core", "progress", "signals", "spec"},
    {"processes"},
    {"topology"},
    {"rules"},
    {"crc", "files", "flit", "timing"},
    {"collectives", "frames", "traffic"},
    {"machine"},
    {"model", "rtl"},
    {"verilog"},
    {"flow", "litex", "claims"},
    {"proofs"},
    {"report"},
    {"families"},
    {"library"},
    {"cli"},
    {"__init__", "__main__", "fusesoc"},
    {"sim"},
    {"boards"},
]
"""Layers of hdnhw: one imports itself and what stands before it, never a neighbour of its own rank.

The folders sim and boards stand beside hdnhw and are links in it: the packages hdnhw.sim and hdnhw.boards.

The spec finds the families at run time, by looking for their modules: who has a spec needs to import none of them."""
RANK = {layer: rank for rank, layers in enumerate(ORDER) for layer in layers}
ALLOWED = {layer: {"spec"} for layer in ("crc", "flit", "timing")}
ALLOWED |= {"files": {"progress", "ranks", "signals", "spec"}, "processes": {"ranks", "signals"}, "signals": set()}
ALLOWED["core"] = {"core"}
ALLOWED["litex"] = {"spec"}
ALLOWED["families"] = {"families", "report", "rules", "spec", "topology"}
"""Of some layers, all that they may import of hdnhw."""
USERS_OF_CORE = ("topology", "rules", "collectives", "traffic", "model")
OWN = {"bench", "boards", "sim", "tests"}
"""What is imported from inside hdnhw, or by nobody."""
PLACES = {
    "amaranth": ("hdnhw/rtl/", "hdnhw/verilog/", "boards/"),
    "cocotb": ("sim/",),
    "amaranth_boards": ("boards/",),
    "cocotb_tools": ("sim/",),
    "cocotbext": ("sim/",),
    "hypothesis": ("tests/",),
    "networkx": ("hdnhw/library/", "hdnhw/topology/graphfile.py", "tests/"),
    "pydot": ("hdnhw/topology/graphfile.py",),
    "distributed": ("hdnhw/library/", "tests/"),
    "jinja2": ("hdnhw/report/",),
    "matplotlib": ("hdnhw/report/",),
    "litex": ("hdnhw/litex.py",),
    "migen": ("hdnhw/litex.py",),
    "mpi4py": ("hdnhw/ranks.py",),
    "pyarrow": ("hdnhw/library/", "hdnhw/model/", "hdnhw/traffic/"),
    "pyosys": ("hdnhw/flow/",),
    "pytest": ("tests/",),
    "scipy": ("hdnhw/rules/", "hdnhw/topology/", "tests/"),
    "yaml": ("hdnhw/fusesoc/", "tests/"),
    "z3": ("bench/", "hdnhw/rules/", "hdnhw/proofs/invariant.py"),
}
"""Where a library may be imported."""


def layers_imported(module, names):
    """Return the layers of hdnhw that an import reaches; ``from hdnhw import x`` reaches x."""
    parts = module.split(".")
    if parts[0] != "hdnhw":
        return set()
    return {parts[1]} if len(parts) > 1 else set(names)


def faults_of(path, source):
    """Return what is wrong with the imports of one file."""
    package = tuple(path.split("/")[:-1])
    faults = []
    for module, names, _ in imports_of(ast.parse(source), package):
        top = module.split(".")[0]
        if "*" in names:
            faults.append(f"star import of {module}")
        if not path.startswith(PLACES.get(top, "")):
            faults.append(f"{top} is not for this folder")
        own = (package[1:] or [Path(path).stem])[0] if package[0] == "hdnhw" else package[0]
        if own != "bench":
            faults += [f"{own} imports {top}"] if top in OWN else []
            faults += [f"{own} imports {layer}" for layer in layers_imported(module, names) if is_upward(own, layer)]
    return faults


def is_upward(own, layer):
    if own in ALLOWED:
        return layer not in ALLOWED[own]
    return layer != own and RANK[layer] >= RANK[own]


def sources(*folders):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path):
    return str(path.relative_to(ROOT))


@each("path", sources("hdnhw", "sim", "boards", "bench"))
def test_imports_go_upward(path):
    assert faults_of(name_of(path), path.read_text()) == []


def test_every_layer_has_a_rank():
    parts = {path.stem if path.is_file() else path.name for path in (ROOT / "hdnhw").iterdir() if path.stem[0] != "_"}
    assert parts - {"py"} <= set(RANK)
    assert len(sources("hdnhw", "sim")) > 30


def test_the_layers_of_the_model_are_layers():
    assert set(machines.MODEL) <= set(RANK)


@each("path", sources("tests"))
def test_no_star_imports_in_tests(path):
    assert all("*" not in names for _, names, _ in imports_of(ast.parse(path.read_text()), ("tests",)))


@each(
    ("path", "source", "fault"),
    [
        ("hdnhw/spec/parse.py", "import hdnhw.topology.network", "spec imports topology"),
        ("hdnhw/topology/x.py", "from hdnhw.rules import plan", "topology imports rules"),
        ("hdnhw/topology/x.py", "from ..rules.plan import plan", "topology imports rules"),
        ("hdnhw/flit.py", "from hdnhw.topology.network import build", "flit imports topology"),
        ("hdnhw/timing.py", "from hdnhw.flit import FlitFormat", "timing imports flit"),
        ("hdnhw/model/x.py", "from hdnhw.rtl.router import Router", "model imports rtl"),
        ("hdnhw/rtl/x.py", "def f():\n    from hdnhw.model import router", "rtl imports model"),
        ("hdnhw/verilog/x.py", "from hdnhw import cli", "verilog imports cli"),
        ("hdnhw/verilog/x.py", "import importlib\nimportlib.import_module('hdnhw.flow.x')", "verilog imports flow"),
        (
            "hdnhw/verilog/x.py",
            "from importlib import import_module\nimport_module('hdnhw.flow.x')",
            "verilog imports flow",
        ),
        ("hdnhw/report/layout.py", "from hdnhw.families import star", "report imports families"),
        ("hdnhw/spec/families.py", "import hdnhw.families", "spec imports families"),
        ("hdnhw/core/x.py", "from hdnhw.spec import SpecError", "core imports spec"),
        ("hdnhw/families/x.py", "from hdnhw.flit import FlitFormat", "families imports flit"),
        ("hdnhw/cli/x.py", "import hdnhw.sim.runner", "cli imports sim"),
        ("hdnhw/cli/x.py", "__import__('tests.helpers')", "cli imports tests"),
        ("sim/x.py", "from hdnhw.boards.uart import Uart", "sim imports boards"),
        ("boards/x.py", "import sim.listener", "boards imports sim"),
        ("hdnhw/model/x.py", "from amaranth.hdl import Module", "amaranth is not for this folder"),
        ("sim/x.py", "import amaranth", "amaranth is not for this folder"),
        ("hdnhw/rtl/x.py", "from amaranth.hdl import *", "star import of amaranth.hdl"),
        ("hdnhw/verilog/x.py", "import cocotb", "cocotb is not for this folder"),
        ("hdnhw/topology/x.py", "import networkx as nx", "networkx is not for this folder"),
        ("sim/x.py", "from tests.x import y", "sim imports tests"),
    ],
)
def test_each_fault_is_seen(path, source, fault):
    assert fault in faults_of(path, source)


@each(
    ("path", "source"),
    [
        ("hdnhw/flit.py", "from hdnhw.spec import SpecError"),
        ("hdnhw/model/x.py", "from .router import y\nfrom hdnhw.timing import SlotTiming"),
        ("hdnhw/rtl/x.py", "import amaranth\nfrom hdnhw.rules.plan import plan"),
        *((f"hdnhw/{layer}/x.py", "from hdnhw.core import Function") for layer in USERS_OF_CORE),
        ("hdnhw/families/x.py", "def f():\n    from hdnhw.report.layout import ring"),
        ("hdnhw/families/x.py", "from hdnhw.families.star import star"),
        ("sim/x.py", "import cocotb\nfrom hdnhw.model.fabric import FabricModel"),
        ("boards/x.py", "from hdnhw.sim.listener import Listener"),
        ("bench/x.py", "from hdnhw.boards.uart import Uart"),
    ],
)
def test_what_is_allowed(path, source):
    assert faults_of(path, source) == []
