"""Circuits as logic, against the same circuits on integers."""

from itertools import product

import pytest
from amaranth.hdl import Module, Signal

from hdnhw.circuits.circuit import INTEGER_OPERATIONS, Circuit
from hdnhw.networks.build import build
from hdnhw.rtl.bits import index_width
from hdnhw.rtl.circuit import OPERATIONS, elaborate_circuit
from hdnhw.topology.address import AddressLayout


@pytest.mark.parametrize("radix", range(2, 9))
def test_values_are_those_of_integers(simulate, radix):
    """With constants on either side, and differences of differences, which are sums."""
    layout = AddressLayout(build(f"torus({radix})"))
    circuit = Circuit()
    a, b = (circuit.input(f"{name}0", radix) for name in ("own", "dst"))
    constants = [circuit.constant(value) for value in range(radix)]
    negative = constants[0].submod(b, radix)
    outputs = [a.submod(b, radix), a.submod(negative, radix), a.lt(b).mux(a, b), a.eq(b) | ~a.lt(b), negative]
    narrow = a.eq(b).mux(constants[1], constants[0])
    outputs += [a.submod(narrow, radix), narrow.submod(b, radix)]
    for constant in constants:
        outputs += [constant.submod(a, radix), a.submod(constant, radix), a.eq(constant), constant.eq(b)]
        outputs += [a.lt(constant), constant.lt(b)]
        outputs += [narrow.submod(constant, radix), constant.submod(narrow, radix), narrow.eq(constant)]
        outputs += [narrow.lt(constant), constant.lt(narrow)]
    m, sides = Module(), {name: Signal(index_width(radix), name=name) for name in ("own", "dst")}
    results = [Signal(index_width(radix), name="result") for _ in outputs]
    values = elaborate_circuit(m, circuit, outputs, sides, layout)
    m.d.comb += [result.eq(value) for result, value in zip(results, values, strict=True)]

    async def bench(ctx):
        for one, other in product(range(radix), repeat=2):
            ctx.set(sides["own"], one)
            ctx.set(sides["dst"], other)
            due = circuit.run(outputs, {"own0": one, "dst0": other}.__getitem__)
            assert [ctx.get(result) for result in results] == due

    simulate(m, bench)


def test_what_is_there():
    assert set(OPERATIONS) == set(INTEGER_OPERATIONS) - {"sub"}
