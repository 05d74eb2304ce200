"""The registry of families: a family in one file works everywhere, and what a family does not say is refused."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from xml.etree import ElementTree

import pytest

import hdnhw
import hdnhw.networks.registry as registry
from hdnhw.networks.build import build
from hdnhw.networks.parse import parse
from hdnhw.networks.registry import families, family_of, makers
from hdnhw.rules.hop import hop_rule
from hdnhw.rules.plan import plan
from hdnhw.spec import FabricSpec, NetworkSpec
from hdnhw.support.errors import SpecError
from hdnhw.topology.places import layout

BIPARTITE = '''
"""The complete bipartite graph of 2 n nodes, as somebody else might bring it."""

from dataclasses import dataclass

from hdnhw.circuits.step import Step
from hdnhw.topology.family import Family
from hdnhw.spec import NetworkSpec
from hdnhw.spec.checks import integer
from hdnhw.topology.graph import Network, Port


@dataclass(frozen=True, repr=False)
class Bipartite(NetworkSpec):
    n: int

    def __repr__(self):
        return f"bipartite({self.n})"

    @property
    def radices(self):
        return 2, self.n


def bipartite(n):
    return Bipartite(integer(n, "bipartite side", 2))


class BipartiteNetwork(Network):
    """Port p joins node i of one side and node p - i of the other."""

    digit_names = ("s", "i")
    node_symmetric = True
    diameter_formula = 2

    def __init__(self, spec):
        self.spec, self.radices = spec, spec.radices
        self.ports = tuple(Port(f"to{port}", port) for port in range(spec.n))

    def move(self, digits, port):
        side, place = digits
        return 1 - side, (port - place) % self.spec.n


def step(circuit, network, cur, dst, _modes):
    """Decide for the port straight to the other side; by port 0 to a node of the same side."""
    n = network.spec.n
    same, there = cur[0].eq(dst[0]), cur[1].eq(dst[1])
    straight = cur[1].submod(circuit.constant(0).submod(dst[1], n), n)
    around = [~there, *[circuit.constant(0)] * (n - 1)]
    take = {port: same.mux(around[port], straight.eq(circuit.constant(port))) for port in range(n)}
    return Step(same & there, take, dict.fromkeys(take, [~same]))


def layout(network):
    from hdnhw.topology.places import EDGE, grid, nested, ring

    return nested(ring(range(2)), ring(range(network.spec.n)))


FAMILY = Family(
    makers=(bipartite,), spec=Bipartite, network=BipartiteNetwork, step=step, is_shortest=True, layout=layout
)
'''
SOME = """
from hdnhw.topology.family import Family
from hdnhw.spec import NetworkSpec

class Some(NetworkSpec):
    pass

def some(first, second=1, *others, deep=False, wide=0):
    return Some()

def one(n, *, odd=False):
    return Some()

FAMILY = Family(makers=(some, one), spec=Some, network=None)
"""
ROUTE = "route 'bipartite(3)' 0.0 0.2"
EMIT = "emit 'bipartite(3)' -o out"
PICTURE = "picture 'bipartite(3)' -o picture.svg"


def result_of(run, line):
    status, out, err = run(f"{line} --json")
    assert (status, err) == (0, "")
    return json.loads(out)


def refusal_of(run, line):
    status, out, err = run(line)
    assert (status, out) == (2, "")
    return err


@pytest.fixture
def bipartite(bring):
    """Return a function that brings the family, without some of its members."""

    def bring_without(*members):
        source = BIPARTITE
        for member in members:
            source = re.sub(rf"{member}={member},?", "", source)
        bring("bipartite", source)

    return bring_without


def test_a_family_in_one_file(bipartite, run, tmp_path):
    bipartite()
    assert str(parse("bipartite( 3 )")) == "bipartite(3)"
    assert hdnhw.bipartite(3) == parse("bipartite(3)")
    assert "bipartite" in dir(hdnhw)
    info = result_of(run, "info 'bipartite(3)'")
    assert (info["nodes"], info["edges"], info["degree_max"], info["diameter"]) == (6, 9, 3, 2)
    assert (info["diameter_formula"], info["num_vcs"], info["deadlock_free"]) == (2, 2, True)
    neighbors = result_of(run, "neighbors 'bipartite(3)' 0.1")
    assert neighbors["ports"] == {"to0": 5, "to1": 3, "to2": 4}
    assert result_of(run, ROUTE)["addresses"] == ["0.0", "1.0", "0.2"]
    routing = result_of(run, "routing 'bipartite(3)'")
    assert (routing["max_hops"], routing["worst_stretch"], routing["cdg_acyclic"]) == (2, 1.0, True)
    assert result_of(run, EMIT)["routers"] == 6
    assert (tmp_path / "out" / "fabric.sv").stat().st_size > 10_000
    simulated = result_of(run, "simulate 'bipartite(3)' --pattern exchange --packet-length 1")
    assert (simulated["created"], simulated["delivered"], simulated["complete"]) == (30, 30, True)
    result_of(run, PICTURE)
    circles = ElementTree.parse(tmp_path / "picture.svg").getroot().findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 6


def test_a_nucleus_of_a_family(bipartite):
    bipartite()
    made = plan("hsn(2, bipartite(3))")
    assert made.proof.acyclic
    assert made.num_vcs == (4, 4, 4, 1)
    assert len(layout(made.network).places) == 36


def test_a_family_without_a_layout(bipartite, run, tmp_path):
    bipartite("layout")
    assert refusal_of(run, PICTURE) == "hdnhw: no picture is known for bipartite(3): its network family has no layout\n"
    assert not (tmp_path / "picture.svg").exists()
    assert result_of(run, ROUTE)["hops"] == 2


def test_a_family_without_a_rule(bipartite, run, tmp_path):
    bipartite("step")
    reason = "no hardware is made for bipartite(3): it is routed by tables, which only the model reads"
    assert refusal_of(run, EMIT) == f"hdnhw: {reason}\n"
    assert not (tmp_path / "out").exists()
    assert result_of(run, ROUTE)["hops"] == 2
    routing = result_of(run, "routing 'bipartite(3)'")
    assert (routing["max_hops"], routing["worst_stretch"], routing["cdg_acyclic"]) == (2, 1.0, True)
    assert all(plan(text).proof.acyclic for text in ("hsn(2, bipartite(3))", "rdn(bipartite(3), 1)"))
    with pytest.raises(SpecError, match=r"^no table-free routing rule is known for bipartite\(3\)$"):
        hop_rule(build("hsn(2, bipartite(3))"))


def test_a_spec_class_of_no_family():
    @dataclass(frozen=True)
    class Ring(NetworkSpec):
        n: int

    assert FabricSpec(network=Ring(3)).network == Ring(3)
    for use in (family_of, build, plan):
        with pytest.raises(SpecError, match=r"^no network family has the spec class Ring of .*Ring\(n=3\)$"):
            use(Ring(3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("some()", "some must be some(FIRST, [SECOND], OTHERS, ...), not 0 arguments"),
        ("some(1, x=2)", "some takes the named options deep and wide, not 'x'"),
        ("one(1, 2)", "one must be one(N), not 2 arguments"),
        ("one(3, n=2)", "one takes the named option odd, not 'n'"),
        ("some(cube(3), [1], -2, 3, wide=4, deep=True)", None),
        ("one(1, odd=False)", None),
    ],
)
def test_arguments_are_those_of_the_signature(bring, text, message):
    bring("some", SOME)
    if message is None:
        assert type(parse(text)).__name__ == "Some"
    else:
        with pytest.raises(SpecError) as caught:
            parse(text)
        assert str(caught.value) == f"spec {text!r}: column 1: {message}"


def test_two_families_of_one_name(bipartite, bring):
    bipartite()
    bring("again", BIPARTITE)
    message = "of one network family, not those of hdnhw.networks.families.again and hdnhw.networks.families.bipartite$"
    with pytest.raises(SpecError, match=f"^spec 'bipartite' must be {message}"):
        families()


def test_two_families_of_one_class(bring):
    bring("some", SOME)
    bring(
        "other",
        "from hdnhw.networks.families.some import FAMILY, Some\n"
        "FAMILY = type(FAMILY)(makers=(), spec=Some, network=None)",
    )
    message = "of one network family, not those of hdnhw.networks.families.other and hdnhw.networks.families.some$"
    with pytest.raises(SpecError, match=f"^class hdnhw.networks.families.some.Some must be {message}"):
        parse("cube(3)")


def test_a_module_without_a_family(bring, run):
    bring("empty", "FAMILIES = ()\n")
    message = (
        "hdnhw: module hdnhw.networks.families.empty must have a Family as FAMILY, or some as FAMILIES, not None\n"
    )
    assert refusal_of(run, "info 'cube(3)'") == message


def test_families_of_other_packages(tmp_path, monkeypatch, request):
    (tmp_path / "acme_networks.py").write_text(BIPARTITE.replace("FAMILY = ", "FAMILIES = [") + "]\n")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("networks", "acme_networks", "hdnhw.families")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == point.group else [])
    request.addfinalizer(families.cache_clear)
    families.cache_clear()
    assert parse("bipartite(4)").__module__ == "acme_networks"
    assert plan("bipartite(4)").proof.acyclic
    assert plan("petersen()").proof.acyclic


def test_what_is_declared():
    assert len(makers()) == sum(len(family.makers) for family in families()) == 35
    assert list(makers()) == sorted(makers())
    assert all(family.layout for family in families())
    by_tables = {maker.__name__ for family in families() if family.step is None for maker in family.makers}
    assert by_tables == {
        "bus",
        "butterfly",
        "concentrated",
        "debruijn",
        "dragonfly",
        "fat_tree",
        "flattened_butterfly",
        "graph",
        "hypernet",
        "jellyfish",
        "kautz",
        "metacube",
        "slim_fly",
        "wk",
    }


def test_declaring_needs_no_heavy_library():
    code = (
        "import sys, hdnhw.networks.registry as f; f.families(); "
        "print(sorted({'numpy', 'scipy', 'z3', 'amaranth', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
