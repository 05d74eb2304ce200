"""Packed addresses: fields, round trips and the patterns that name no node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdnhw.networks.build import build
from hdnhw.topology.address import AddressLayout, Field

TEXTS = [
    "torus(5)",
    "mesh(3, 4)",
    "cube(5)",
    "product(torus(2, 3), complete(6))",
    "hdn(torus(2, 3, 5), [[1, 2], [0, 1, 2]])",
    "hdn(torus(3, 4), [[1], [0, 1]])",
    "rdn(cube(3), 1)",
    "dualcube(4)",
]


def layout_of(text):
    return AddressLayout(build(text))


def test_fields():
    layout = layout_of("hdn(torus(2, 3, 5), [[1]])")
    assert layout.fields == (
        Field("c1", 10, 1, 2),
        Field("u1_0", 9, 1, 2),
        Field("u1_1", 6, 3, 5),
        Field("b0", 5, 1, 2),
        Field("b1", 3, 2, 3),
        Field("b2", 0, 3, 5),
    )
    assert layout.width == 11


@pytest.mark.parametrize("text", TEXTS)
def test_every_node_has_its_own_address(text):
    layout = layout_of(text)
    addresses = [layout.of_node(node) for node in range(layout.network.num_nodes)]
    assert len(set(addresses)) == layout.network.num_nodes
    assert 0 <= min(addresses) <= max(addresses) < 1 << layout.width
    for node, address in enumerate(addresses):
        digits = layout.unpack(address)
        assert digits == layout.network.decode(node)
        assert layout.pack(digits) == address
        bits = "".join(f"{digit:0{field.width}b}" for digit, field in zip(digits, layout.fields, strict=True))
        assert address == int(bits, 2)


@pytest.mark.parametrize("text", TEXTS)
def test_only_node_addresses_are_nodes(text):
    layout = layout_of(text)
    addresses = {layout.of_node(node) for node in range(layout.network.num_nodes)}
    assert {address for address in range(1 << layout.width) if layout.is_node(address)} == addresses
    assert layout.has_holes == (len(addresses) < 1 << layout.width)


def test_holes():
    assert [text for text in TEXTS if not layout_of(text).has_holes] == ["cube(5)", "rdn(cube(3), 1)", "dualcube(4)"]
    layout = layout_of("torus(3, 4)")
    assert [layout.is_node(address) for address in (-1, 0, 11, 12, 15, 16)] == [False, True, True, False, False, False]


def test_pack_wants_every_digit():
    layout = layout_of("torus(3, 4)")
    for digits in ((1,), (1, 2, 3)):
        with pytest.raises(ValueError, match=r"zip\(\)"):
            layout.pack(digits)


@pytest.mark.parametrize("text", TEXTS)
def test_arrays_are_packed_like_single_nodes(text):
    layout = layout_of(text)
    nodes = np.arange(layout.network.num_nodes)
    addresses = layout.of_node(nodes)
    assert addresses.tolist() == [layout.of_node(node) for node in nodes.tolist()]
    assert np.array_equal(layout.unpack(addresses), layout.network.decode(nodes))


@given(st.lists(st.integers(2, 40), min_size=1, max_size=6), st.data())
def test_round_trip_of_any_radices(sizes, data):
    layout = layout_of(f"torus({', '.join(map(str, sizes))})")
    digits = tuple(data.draw(st.integers(0, size - 1)) for size in sizes)
    address = layout.pack(digits)
    assert layout.unpack(address) == digits
    assert layout.is_node(address)
    for field, size in zip(layout.fields, sizes, strict=True):
        beyond = address | ((1 << field.width) - 1) << field.offset
        assert layout.is_node(beyond) == (size == 1 << field.width)
    assert layout.width == sum((size - 1).bit_length() for size in sizes)
