"""Spec strings: the canonical text, what is refused and where, and that nothing is evaluated."""

import builtins
import re
import sys
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hdnhw
from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.endpoints.collective.spec import CollectiveSpec
from hdnhw.endpoints.relay.spec import RelaySpec
from hdnhw.networks.families.ccc import ccc
from hdnhw.networks.families.crossed_cube import crossed_cube
from hdnhw.networks.families.dualnets import dualcube, hdn, rdn
from hdnhw.networks.families.folded_cube import folded_cube
from hdnhw.networks.families.petersen import petersen
from hdnhw.networks.families.reduced_cube import reduced_cube
from hdnhw.networks.families.star import star
from hdnhw.networks.families.swapped import folded_hsn, hcn, hcn3, hfn, hsn
from hdnhw.networks.parse import parse
from hdnhw.spec import (
    DualCube,
    DualNet,
    FabricSpec,
    Factor,
    NetworkSpec,
    Product,
    complete,
    cube,
    ghc,
    mesh,
    product,
    torus,
)
from hdnhw.support.errors import SpecError
from tests.conftest import each

ALL_NAMES = (
    "bus, butterfly, ccc, complete, concentrated, crossed_cube, cube, debruijn, dragonfly, dualcube, exchanged_cube, "
    "fat_tree, flattened_butterfly, folded_cube, folded_hsn, ghc, graph, hcn, hcn3, hdn, hfn, hsn, hypernet, "
    "jellyfish, kautz, mesh, metacube, petersen, product, rdn, reduced_cube, slim_fly, star, torus, wk"
)
CONSTRUCTORS = {name: getattr(hdnhw, name) for name in ALL_NAMES.split(", ")}


SIZES = st.lists(st.integers(2, 9), min_size=1, max_size=3)


def products(*, paths: bool) -> st.SearchStrategy[Product]:
    makers = [SIZES.map(lambda s: torus(*s)), SIZES.map(lambda s: ghc(*s))]
    makers += [st.integers(2, 9).map(complete), st.integers(1, 4).map(cube)]
    if paths:
        makers.append(SIZES.map(lambda s: mesh(*s)))
    return st.recursive(
        st.one_of(makers),
        lambda inner: st.lists(inner, min_size=1, max_size=2).map(lambda p: product(*p)),
        max_leaves=3,
    )


@st.composite
def dual_nets(draw: st.DrawFn) -> NetworkSpec:
    base = draw(products(paths=False).filter(lambda base: len(base.factors) <= 3))
    if draw(st.booleans()):
        return rdn(draw(st.sampled_from([base, rdn(base, 1), star(4), petersen(), rdn(ccc(3), 1)])), 1)
    indices = st.lists(st.integers(0, len(base.factors) - 1), unique=True)
    return hdn(base, draw(st.lists(indices, min_size=1, max_size=2)))


@st.composite
def swapped_nets(draw: st.DrawFn) -> NetworkSpec:
    others = st.one_of(st.integers(2, 4).map(folded_cube), st.integers(2, 4).map(star), st.builds(petersen))
    nucleus = draw(st.one_of(products(paths=True).filter(lambda made: len(made.factors) <= 3), others))
    levels, size = draw(st.integers(2, 4)), prod(nucleus.radices)
    if draw(st.booleans()):
        return hsn(levels, nucleus, diameter_links=draw(st.booleans()))
    return hsn(levels, nucleus, top=draw(st.sampled_from([top for top in range(2, size + 1) if size % top == 0])))


SPECS = st.one_of(
    products(paths=True),
    dual_nets(),
    swapped_nets(),
    st.integers(1, 30).map(dualcube),
    st.sampled_from(
        [ccc(5), crossed_cube(4), folded_hsn(3, 2), hcn(3), hcn3(2), hfn(3), reduced_cube(3, 2), star(5), petersen()]
    ),
    st.sampled_from([hdnhw.debruijn(2, 3), hdnhw.kautz(3, 2), hdnhw.metacube(2, 1), hdnhw.exchanged_cube(1, 2)]),
    st.sampled_from([hdnhw.butterfly(3), hdnhw.wk(3, 2), hdnhw.hypernet(3, 2)]),
)


@given(SPECS)
def test_text_round_trip(spec):
    text = str(spec)
    assert repr(spec) == text
    assert parse(text) == spec
    assert str(parse(text)) == text
    assert hash(parse(text)) == hash(spec)


@given(SPECS)
def test_text_means_the_same_in_python(spec):
    assert eval(str(spec), {"__builtins__": {}}, CONSTRUCTORS) == spec


@given(SPECS, st.sampled_from(["  ", "\t", " \t "]))
def test_spelling_does_not_matter(spec, space):
    assert parse(space + re.sub(r"([(),\[\]])", rf"\1{space}", str(spec))) == spec


def test_factor_indices_are_sorted():
    assert str(hdn(torus(2, 3, 5), [[2, 0], []])) == "hdn(torus(2, 3, 5), [[0, 2], []])"


def test_members():
    assert torus(2, 5).factors == (Factor("cycle", 2), Factor("cycle", 5))
    assert mesh(4).factors == (Factor("path", 4),)
    assert cube(2).factors == ghc(2, 2).factors == (Factor("complete", 2),) * 2
    assert complete(5).factors == (Factor("complete", 5),)
    assert product(torus(3), product(mesh(4), cube(1))).factors == torus(3).factors + mesh(4).factors + cube(1).factors
    assert parse("hdn(cube(2), [[0], []])") == DualNet(cube(2), ((0,), ()), "hdn(cube(2), [[0], []])")
    assert rdn(cube(2), 3).super_nodes == ((), (), ())
    assert parse("dualcube(4)") == DualCube(4)


@pytest.mark.parametrize(
    ("factor", "degree", "diameter", "symmetric"),
    [
        (Factor("cycle", 2), 1, 1, True),
        (Factor("cycle", 3), 2, 1, True),
        (Factor("cycle", 8), 2, 4, True),
        (Factor("path", 2), 1, 1, True),
        (Factor("path", 3), 2, 2, False),
        (Factor("complete", 2), 1, 1, True),
        (Factor("complete", 6), 5, 1, True),
    ],
)
def test_factor(factor, degree, diameter, symmetric):
    assert (factor.degree, factor.diameter, factor.is_symmetric) == (degree, diameter, symmetric)
    assert factor.is_edge == (factor.size == 2)


NO_PATHS = "rdn base must be regular; factor 0 of mesh(3) is a path of 3 nodes"
REFUSED_TEXTS = [
    ("3", f"must be a call of one of {ALL_NAMES}, not '3'"),
    ("[[0]]", f"must be a call of one of {ALL_NAMES}, not '[[0]]'"),
    ("cube", "column 1: only constructor calls, integers and lists are allowed"),
    ("cube(3.0)", "column 6: only constructor calls, integers and lists are allowed"),
    ("cube(True)", "column 6: only constructor calls, integers and lists are allowed"),
    ("cube('3')", "column 6: only constructor calls, integers and lists are allowed"),
    ("cube(2 + 1)", "column 6: only constructor calls, integers and lists are allowed"),
    ("cube(-[3])", "column 6: only constructor calls, integers and lists are allowed"),
    ("torus(*[3])", "column 7: only constructor calls, integers and lists are allowed"),
    ("torus(3)(4)", "column 1: only constructor calls, integers and lists are allowed"),
    ("rdn(ring(3), 1)", f"column 5: network must be one of {ALL_NAMES}, not 'ring' (did you mean torus?)"),
    ("rdn(cube(n=3), 1)", "column 5: cube takes no named option 'n'"),
    ("hdn(cube(3))", "column 1: hdn must be hdn(BASE, [[INDEX, ...], ...]), not 1 argument"),
    ("rdn(cube(3), 1, 2)", "column 1: rdn must be rdn(BASE, LEVELS), not 3 arguments"),
    ("complete(3, 3)", "column 1: complete must be complete(N), not 2 arguments"),
    ("cube()", "column 1: cube must be cube(N), not 0 arguments"),
    ("dualcube(2, 2)", "column 1: dualcube must be dualcube(R), not 2 arguments"),
    ("rdn(torus(1, 3), 1)", "column 5: torus size must be at least 2, not 1"),
    ("cube(-3)", "column 1: cube dimension must be at least 1, not -3"),
    ("  rdn(mesh(3), 1)", f"column 3: {NO_PATHS}"),
    ("\t rdn(\tmesh(3), 1) ", f"column 3: {NO_PATHS}"),
    (" rdn(torus(1, 3), 1)", "column 6: torus size must be at least 2, not 1"),
    ("  3", f"must be a call of one of {ALL_NAMES}, not '  3'"),
    ("   cube(3))", "column 11: unmatched ')': not a constructor expression such as rdn(cube(3), 1)"),
    (" \t", "column 3: invalid syntax: not a constructor expression such as rdn(cube(3), 1)"),
    ("rdn(cube(3),\n1)", "must be one line of ASCII characters"),
    ("\n cube(3)", "must be one line of ASCII characters"),
    ("cube(\N{FULLWIDTH DIGIT THREE})", "must be one line of ASCII characters"),
    ("cube(**{})", "column 1: cube takes no named option **"),
    ("cube(cube(3))", "column 1: cube dimension must be an integer, not cube(3)"),
    ("torus([dualcube(2)])", "column 1: torus size must be an integer, not [dualcube(2)]"),
    ("rdn(cube(1), rdn(cube(1), 1))", "column 1: rdn level count must be an integer, not rdn(cube(1), 1)"),
    ("hdn(3, [cube(1)])", "column 1: hdn base must be a network, for example cube(3), not 3"),
    ("hdn(cube(1), [cube(1)])", "column 1: hdn super-node of level 1 must be a list of factor indices, not cube(1)"),
    (f"cube(0x{1 << 20000:x})", "column 1: cube dimension must be an integer of at most 64 bits, not of 20001"),
]


@each("text", ["", "cube(3", "cube(3) cube(3)", "cube(3)\0", "import os", "cube(3) = 3", "(" * 300])
def test_not_an_expression(text):
    pattern = rf"spec {re.escape(repr(text))}: column \d+: .*: not a constructor expression such as rdn\(cube\(3\), 1\)"
    with pytest.raises(SpecError) as caught:
        parse(text)
    assert re.fullmatch(pattern, str(caught.value))


@each(("text", "message"), REFUSED_TEXTS)
def test_refused_text(text, message):
    with pytest.raises(SpecError) as caught:
        parse(text)
    assert str(caught.value) == f"spec {text!r}: {message}"
    assert isinstance(caught.value, ValueError)


def test_a_line_break_at_the_end_is_no_second_line():
    assert parse("cube(3)\n") == cube(3)


DEEP = [("-" * 1000, ""), ("-" * 100_000, ""), ("[" * 150, "]" * 150)]


@pytest.mark.parametrize(("before", "after"), DEEP, ids=["1000", "100000", "lists"])
def test_deep_nesting(before, after):
    with pytest.raises(SpecError, match=r"nested too deeply|not a constructor expression|dimension must be an integer"):
        parse(f"cube({before}3{after})")


@pytest.mark.parametrize("text", [3, None, b"cube(3)", ["cube(3)"]])
def test_text_that_is_none(text):
    with pytest.raises(TypeError) as caught:
        parse(text)
    assert str(caught.value) == f"spec must be a string, not {text!r}"


def fabric(**options):
    return FabricSpec(**{"network": cube(2)} | options)


REFUSED_CALLS = [
    (lambda: torus(), "torus must have at least one size, for example torus(4, 4)"),
    (lambda: mesh(), "mesh must have at least one size, for example mesh(4, 4)"),
    (lambda: ghc(), "ghc must have at least one size, for example ghc(4, 4)"),
    (lambda: torus(4, 1), "torus size must be at least 2, not 1"),
    (lambda: mesh(4, "4"), "mesh size must be an integer, not '4'"),
    (lambda: ghc(True), "ghc size must be an integer, not True"),
    (lambda: complete(2.0), "complete size must be an integer, not 2.0"),
    (lambda: cube(0), "cube dimension must be at least 1, not 0"),
    (lambda: cube(None), "cube dimension must be an integer, not None"),
    (lambda: cube(61), "cube dimension must be at most 60, not 61"),
    (lambda: torus(1 << 60, 2), f"torus({1 << 60}, 2) needs 61 address bits; at most 60 are allowed"),
    (lambda: complete((1 << 60) + 1), f"complete({(1 << 60) + 1}) needs 61 address bits; at most 60 are allowed"),
    (lambda: product(), "product must have at least one network, for example product(torus(5), complete(4))"),
    (
        lambda: product(cube(1), rdn(cube(1), 1)),
        "product part must be one of torus, mesh, cube, complete, ghc, product, not rdn(cube(1), 1)",
    ),
    (lambda: product(cube(60), cube(1)), "product(cube(60), cube(1)) needs 61 address bits; at most 60 are allowed"),
    (lambda: hdn(3, [[]]), "hdn base must be a network, for example cube(3), not 3"),
    (
        lambda: hdn(product(cube(2), mesh(4)), [[]]),
        "hdn base must be regular; factor 2 of product(cube(2), mesh(4)) is a path of 4 nodes",
    ),
    (
        lambda: rdn(mesh(3), 1),
        "rdn base must be regular; factor 0 of mesh(3) is a path of 3 nodes",
    ),
    (
        lambda: hdn(cube(2), []),
        "hdn super-nodes must be a list with one list of factor indices a level, for example [[0], []]",
    ),
    (
        lambda: hdn(cube(2), 1),
        "hdn super-nodes must be a list with one list of factor indices a level, for example [[0], []]",
    ),
    (lambda: hdn(cube(2), [[0], 1]), "hdn super-node of level 2 must be a list of factor indices, not 1"),
    (lambda: hdn(cube(2), [["0"]]), "hdn super-node of level 1: factor index must be an integer, not '0'"),
    (lambda: hdn(cube(2), [[-1]]), "hdn super-node of level 1: factor index must be at least 0, not -1"),
    (lambda: hdn(cube(2), [[], [0, 2]]), "hdn super-node of level 2: factor index must be 0 to 1, not 2"),
    (lambda: hdn(cube(2), [[1, 1]]), "hdn super-node of level 1: factor indices must be distinct, not [1, 1]"),
    (lambda: hdn(cube(30), [[]]), "hdn(cube(30), [[]]) needs 61 address bits; at most 60 are allowed"),
    (lambda: rdn(cube(3), 0), "rdn level count must be at least 1, not 0"),
    (lambda: rdn(cube(3), "1"), "rdn level count must be an integer, not '1'"),
    (lambda: rdn(cube(1), 61), "rdn level count must be at most 60, not 61"),
    (lambda: hdn(cube(1), [[]] * 61), "hdn level count must be at most 60, not 61"),
    (lambda: rdn("cube(3)", 1), "rdn base must be a network, for example cube(3), not 'cube(3)'"),
    (
        lambda: product("cube(3)"),
        "product part must be one of torus, mesh, cube, complete, ghc, product, not 'cube(3)'",
    ),
    (lambda: torus(4, cube(1)), "torus size must be an integer, not cube(1)"),
    (lambda: rdn(cube(3), 4), "rdn(cube(3), 4) needs 63 address bits; at most 60 are allowed"),
    (lambda: dualcube(0), "dualcube degree must be at least 1, not 0"),
    (lambda: dualcube(2.5), "dualcube degree must be an integer, not 2.5"),
    (lambda: dualcube(31), "dualcube(31) needs 61 address bits; at most 60 are allowed"),
    (
        lambda: dualcube(10**18),
        "dualcube(1000000000000000000) needs 1999999999999999999 address bits; at most 60 are allowed",
    ),
    (lambda: dualcube(1 << 64), "dualcube degree must be an integer of at most 64 bits, not of 65"),
    (lambda: torus(-(1 << 20000)), "torus size must be an integer of at most 64 bits, not of 20001"),
    (lambda: complete(1 << 64), "complete size must be an integer of at most 64 bits, not of 65"),
    (lambda: fabric(packet_length=0), "packet_length must be 1 to 256 flits, not 0"),
    (lambda: fabric(packet_length=257), "packet_length must be 1 to 256 flits, not 257"),
    (lambda: fabric(flit_width=0), "flit_width must be 1 to 1024 bits, not 0"),
    (lambda: fabric(flit_width=1025), "flit_width must be 1 to 1024 bits, not 1025"),
    (lambda: fabric(buffers=0), "buffers must be a power of two from 1 to 256 packets per port, not 0"),
    (lambda: fabric(buffers=6), "buffers must be a power of two from 1 to 256 packets per port, not 6"),
    (lambda: fabric(buffers=512), "buffers must be a power of two from 1 to 256 packets per port, not 512"),
    (lambda: fabric(crossbar="input"), "crossbar must be one of crosspoint, output, not 'input'"),
    (lambda: fabric(queueing="lifo"), "queueing must be one of fifo, voq, not 'lifo'"),
    (lambda: AxiStreamSpec(max_frame=8), "max_frame must be a power of two from 16 to 1048576 bytes, not 8"),
    (lambda: AxiStreamSpec(max_frame=1500), "max_frame must be a power of two from 16 to 1048576 bytes, not 1500"),
    (
        lambda: AxiStreamSpec(max_frame=1 << 21),
        "max_frame must be a power of two from 16 to 1048576 bytes, not 2097152",
    ),
    (
        lambda: CollectiveSpec(operations=("scatter", "repeat")),
        "operations must be one of broadcast, scatter, allgather, exchange, reduce, reducescatter, gather, allreduce, "
        "join, multicast, barrier, allreduce-short, scan, exscan, not 'repeat'",
    ),
    (
        lambda: CollectiveSpec(operations=()),
        "operations must be one of broadcast, scatter, allgather, exchange, reduce, reducescatter, gather, allreduce, "
        "join, multicast, barrier, allreduce-short, scan, exscan, not ()",
    ),
    (lambda: CollectiveSpec(order="fast"), "order must be one of paper, cluster-first, not 'fast'"),
    (lambda: CollectiveSpec(root=-1), "root must be at least 0, not -1"),
    (lambda: AxiStreamSpec(tuser_width=0), "tuser_width must be 1 to 1024 bits, not 0"),
    (lambda: AxiStreamSpec(tuser_width=1025), "tuser_width must be 1 to 1024 bits, not 1025"),
    (lambda: AxiStreamSpec(tuser="middle"), "tuser must be one of first, last, not 'middle'"),
    (lambda: AxiStreamSpec(prompt_packets=1), "prompt_packets must be 2 to 256 packets, not 1"),
    (lambda: RelaySpec(waypoints=0), "waypoints must be 1 to 8, not 0"),
    (lambda: RelaySpec(waypoints=9), "waypoints must be 1 to 8, not 9"),
    (lambda: RelaySpec(relay_buffers=0), "relay_buffers must be a power of two from 1 to 64, not 0"),
    (lambda: RelaySpec(relay_buffers=6), "relay_buffers must be a power of two from 1 to 64, not 6"),
    (lambda: RelaySpec(relay_buffers=128), "relay_buffers must be a power of two from 1 to 64, not 128"),
    (lambda: RelaySpec(relay_queues=0), "relay_queues must be a power of two from 1 to 8, not 0"),
    (lambda: RelaySpec(relay_queues=3), "relay_queues must be a power of two from 1 to 8, not 3"),
    (lambda: RelaySpec(relay_queues=16), "relay_queues must be a power of two from 1 to 8, not 16"),
    (lambda: RelaySpec(timeout=128), "timeout must be a power of two from 256 to 16777216 cycles, not 128"),
    (lambda: RelaySpec(timeout=1000), "timeout must be a power of two from 256 to 16777216 cycles, not 1000"),
    (lambda: RelaySpec(timeout=1 << 25), "timeout must be a power of two from 256 to 16777216 cycles, not 33554432"),
    *(
        (
            lambda endpoints=endpoints: fabric(dead_pins=True, endpoints=endpoints),
            "dead pins are for fabrics of bare streams or relays: these endpoints need all that they send to arrive",
        )
        for endpoints in (AxiStreamSpec(), CollectiveSpec())
    ),
    *(
        (
            lambda endpoints=endpoints: fabric(crc=True, endpoints=endpoints),
            "a crc is for fabrics of bare streams: it drops packets, and no endpoints send them again",
        )
        for endpoints in (AxiStreamSpec(), CollectiveSpec(), RelaySpec())
    ),
    (
        lambda: fabric(gapless_packets=True, endpoints=AxiStreamSpec()),
        "gapless packets are for sources that hold a whole packet before they send it, which these endpoints do not",
    ),
    (
        lambda: fabric(gapless_packets=True, endpoints=RelaySpec()),
        "gapless packets do not go with relays: what relays do is timed by the flits that are accepted",
    ),
]


@each(("make", "message"), REFUSED_CALLS)
def test_refused_call(make, message):
    with pytest.raises(SpecError) as caught:
        make()
    assert str(caught.value) == message


def address_bits(base, super_nodes):
    """Count the address bits of HDN(B, k, S) from a full list of radices, digit by digit."""
    sizes, prefix = [factor.size for factor in base.factors], []
    for inside in super_nodes:
        prefix = [2, *prefix, *(size for index, size in enumerate(sizes) if index not in inside), *prefix]
    return sum((size - 1).bit_length() for size in prefix + sizes)


@given(
    st.sampled_from([cube(1), torus(3), torus(2, 3, 5), torus(1 << 40)]).flatmap(
        lambda base: st.tuples(
            st.just(base),
            st.lists(st.lists(st.integers(0, len(base.factors) - 1), unique=True), min_size=1, max_size=9),
        )
    )
)
def test_address_bits_are_counted_exactly(dual_net):
    base, super_nodes = dual_net
    bits = address_bits(base, super_nodes)
    if bits <= 60:
        assert isinstance(hdn(base, super_nodes), DualNet)
    else:
        with pytest.raises(SpecError, match=rf" needs {bits} address bits; at most 60 are allowed$"):
            hdn(base, super_nodes)


@pytest.mark.parametrize(
    "text", [f"torus({1 << 60})", "cube(60)", "dualcube(30)", "hdn(cube(30), [[0]])", "rdn(cube(1), 4)"]
)
def test_widest(text):
    assert str(parse(text)) == text


def test_fabric_limits():
    widest = fabric(packet_length=256, flit_width=1024, buffers=256)
    assert (widest.packet_length, widest.flit_width, widest.buffers) == (256, 1024, 256)
    assert fabric(packet_length=1, flit_width=1, buffers=1) != fabric()


@each(
    ("options", "message"),
    [
        ({"packet_length": "8"}, "packet_length must be an integer, not '8'"),
        ({"packet_length": True}, "packet_length must be an integer, not True"),
        ({"packet_length": 8.0}, "packet_length must be an integer, not 8.0"),
        ({"flit_width": None}, "flit_width must be an integer, not None"),
        ({"flit_width": False}, "flit_width must be an integer, not False"),
        ({"buffers": True}, "buffers must be an integer, not True"),
        ({"buffers": "4"}, "buffers must be an integer, not '4'"),
        ({"network": "cube(2)"}, "network must be a network spec such as parse(...) returns, not 'cube(2)'"),
        ({"network": None}, "network must be a network spec such as parse(...) returns, not None"),
        ({"modes": 1}, "modes must be a string, not 1"),
        ({"modes": ["f"]}, "modes must be a string, not ['f']"),
        (
            {"endpoints": "axi-stream"},
            "endpoints must be AxiStreamSpec, AxiMemorySpec, CollectiveSpec, ExchangeSpec, RelaySpec or None, "
            "not 'axi-stream'",
        ),
    ],
)
def test_fabric_of_other_types(options, message):
    with pytest.raises(TypeError) as caught:
        fabric(**options)
    assert str(caught.value) == message


def test_fabric_sizes_are_plain_integers():
    spec = fabric(packet_length=np.int64(4), flit_width=np.uint8(64), buffers=np.int16(2))
    assert spec == fabric(packet_length=4, flit_width=64, buffers=2)
    assert {type(size) for size in (spec.packet_length, spec.flit_width, spec.buffers)} == {int}
    assert fabric(modes="f").modes == "f"


def test_endpoint_sizes_are_plain_integers():
    endpoints = AxiStreamSpec(max_frame=np.int64(64), tuser_width=np.uint8(8))
    assert fabric(endpoints=endpoints) == fabric(endpoints=AxiStreamSpec(max_frame=64, tuser_width=8)) != fabric()
    assert {type(endpoints.max_frame), type(endpoints.tuser_width)} == {int}
    assert AxiStreamSpec(max_frame=16, tuser_width=1024) != AxiStreamSpec(max_frame=1 << 20)
    for name in ("max_frame", "tuser_width"):
        with pytest.raises(TypeError, match=f"^{name} must be an integer, not '8'$"):
            AxiStreamSpec(**{name: "8"})
    relays = RelaySpec(waypoints=np.int64(2), relay_buffers=np.uint8(8), timeout=np.int32(512))
    assert fabric(endpoints=relays, dead_pins=True).endpoints == RelaySpec(waypoints=2, relay_buffers=8, timeout=512)
    assert {type(relays.waypoints), type(relays.relay_buffers), type(relays.timeout)} == {int}
    for name in ("waypoints", "relay_buffers", "relay_queues", "timeout"):
        with pytest.raises(TypeError, match=f"^{name} must be an integer, not '8'$"):
            RelaySpec(**{name: "8"})


@pytest.mark.parametrize(
    "text",
    [
        "__import__('this')",
        "__import__('this').s",
        "cube(__import__('this'))",
        "cube((lambda: spy())())",
        "[spy() for _ in (1,)]",
        "cube(spy())",
        "spy(3)",
        "cube(3) if spy() else cube(2)",
        "f'{spy()}'",
    ],
)
def test_nothing_is_evaluated(text, monkeypatch):
    calls = []
    for name in ("spy", "eval", "exec"):
        monkeypatch.setattr(builtins, name, lambda *arguments: calls.append(arguments), raising=False)
    with pytest.raises(SpecError, match=r"only constructor calls|network must be one of"):
        parse(text)
    assert calls == []
    assert "this" not in sys.modules
