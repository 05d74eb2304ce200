"""The route unit against the rule it is elaborated from, for every pair of nodes and every bit pattern."""

import random

import pytest
from amaranth.hdl import Cat, Module

from hdnhw.rtl.route_unit import RouteUnit
from hdnhw.rules.plan import plan

SPECS = [
    ("rdn(cube(1), 1)", None),
    ("rdn(cube(2), 1)", None),
    ("hdn(cube(1), [[], [0]])", None),
    ("hdn(cube(1), [[], [0]])", "ff"),
    ("hdn(cube(1), [[0], [0]])", "OO"),
    ("rdn(torus(3), 1)", "O"),
    ("dualcube(2)", None),
    ("complete(2)", None),
    ("torus(5)", None),
    ("torus(4, 6)", None),
    ("mesh(2, 3)", None),
    ("ghc(3, 4)", None),
    ("torus(2, 3, 5)", None),
    ("hdn(torus(2, 3, 5), [[0, 1, 2]])", None),
    ("hsn(2, cube(2))", None),
    ("hsn(2, mesh(6), top=2)", None),
    ("folded_hsn(2, 1)", None),
    ("folded_cube(3)", None),
    ("crossed_cube(3)", None),
    ("ccc(3)", None),
    ("reduced_cube(2, 1)", None),
    ("exchanged_cube(2, 1)", None),
    ("star(4)", None),
    ("petersen()", None),
    ("rdn(star(2), 1)", None),
    ("rdn(star(3), 1)", "O"),
]


@pytest.mark.parametrize(("text", "modes"), SPECS)
def test_route_unit_follows_the_rule(simulate, text, modes):
    made = plan(text, modes)
    network, address, dut = made.network, made.address, RouteUnit(made)
    nodes, ports = range(network.num_nodes), len(network.ports)
    names = {address.of_node(node): node for node in nodes}
    assert len(dut.take) == ports + 1
    checked = []

    async def bench(ctx):
        for node in nodes:
            digits = network.decode(node)
            for dst in range(1 << address.width):
                ctx.set(Cat(dut.cur, dut.dst), address.of_node(node) | dst << address.width)
                result = ctx.get(Cat(dut.possible, dut.take, dut.vc))
                assert result & 1 == (dst in names)
                if dst in names:
                    port, vc = made.rule.next_hop(digits, network.decode(names[dst])) or (ports, None)
                    assert result >> 1 & ((1 << ports + 1) - 1) == 1 << port
                    assert vc is None or result >> ports + 2 == vc
                    checked.append((node, dst))

    simulate(dut, bench)
    assert len(checked) == len(nodes) ** 2


@pytest.mark.parametrize("text", ["rdn(cube(2), 1)", "hdn(torus(2, 3), [[0]])", "mesh(2, 3)", "complete(2)", "star(3)"])
@pytest.mark.parametrize("moves", [False, True], ids=["stands", "moves"])
def test_with_a_register_every_output_is_that_of_the_cycle_before(simulate, text, moves):
    made = plan(text)
    dut, plain, top = RouteUnit(made, registered=True, moves=moves), RouteUnit(made), Module()
    top.submodules += [dut, plain]
    top.d.comb += [plain.cur.eq(dut.cur), plain.dst.eq(dut.dst)]
    rng, nodes = random.Random(text), range(made.network.num_nodes)

    async def bench(ctx):
        for node in nodes:
            ctx.set(dut.cur, made.address.of_node(node))
            for _ in range(100):
                possible = rng.random() < 0.8
                address = made.address.of_node(rng.choice(nodes)) if possible else rng.getrandbits(made.address.width)
                ctx.set(dut.dst, address)
                if moves:
                    ctx.set(dut.cur, made.address.of_node(rng.choice(nodes)))
                expected = ctx.get(Cat(plain.take, plain.vc, plain.possible))
                await ctx.tick()
                ctx.set(dut.dst, rng.getrandbits(made.address.width))
                if moves:
                    ctx.set(dut.cur, made.address.of_node(rng.choice(nodes)))
                if made.address.is_node(address):
                    assert ctx.get(Cat(dut.take, dut.vc, dut.possible)) == expected
                assert ctx.get(dut.possible) == made.address.is_node(address)

    simulate(top, bench, cycles=10_000)


@pytest.mark.parametrize(("text", "holes"), [("torus(5)", 3), ("rdn(torus(3), 1)", 14), ("torus(2, 3, 5)", 34)])
def test_these_specs_have_holes(text, holes):
    made = plan(text)
    assert (1 << made.address.width) - made.network.num_nodes == holes
    assert made.address.has_holes
