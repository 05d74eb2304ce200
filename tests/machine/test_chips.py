"""Networks cut into chips that are alike, against the network itself: every edge, every address."""

import pytest

from hdnhw.machine.chips import lay_chips
from hdnhw.networks.build import build
from hdnhw.support.errors import SpecError
from hdnhw.topology.address import AddressLayout
from tests.conftest import each

CASES = [
    ("dualcube(4)", "1", 16, 8),
    ("hdn(cube(2), [[0]])", "1", 4, 2),
    ("rdn(cube(1), 2)", "1", 64, 4),
    ("rdn(cube(1), 2)", "2", 16, 8),
    ("hdn(cube(1), [[], [0]])", "1", 32, 3),
    ("hdn(torus(3, 2), [[0]])", "1", 4, 2),
    ("rdn(petersen(), 1)", "1", 20, 10),
    ("torus(4, 4)", "dim0=2", 2, 1),
    ("torus(4, 4)", "dim0=4", 4, 2),
    ("torus(4, 4)", "dim*=2", 4, 2),
    ("torus(4, 4)", "dim0=4,dim1=4", 16, 4),
    ("cube(4)", "dim0=2,dim3=2", 4, 2),
    ("ghc(3, 3)", "dim1=3", 3, 2),
    ("torus(6, 3)", "dim0=3", 3, 2),
]
"""Network, how it is cut, chips, and links of each."""


@each(("text", "by", "count", "links"), CASES)
def test_chips_have_every_edge_and_address(text: str, by: str, count: int, links: int) -> None:
    network = build(text)
    chips, address = lay_chips(network, by), AddressLayout(network)
    assert (chips.num_chips, len(chips.links)) == (count, links)
    assert sorted(chips.nodes.ravel().tolist()) == list(range(network.num_nodes))
    names = [port.name for port in network.ports]
    joined = 0
    for chip in range(count):
        bits = sum((chips.chip_number(chip) >> place & 1) << bit for place, bit in enumerate(chips.chip_bits))
        for place, node in enumerate(chips.nodes[chip].tolist()):
            assert chips.address_at(place) | bits == address.of_node(node)
            for name, there in network.neighbors(node).items():
                port = names.index(name)
                inside = int(chips.inside[place, port])
                if inside >= 0:
                    assert chips.nodes[chip, inside] == there
                    continue
                ((link, channel),) = (
                    (number, own.ends.index((place, port)))
                    for number, own in enumerate(chips.links)
                    if (place, port) in own.ends
                )
                peer, back = chips.peers[chip, link].tolist()
                assert chips.peers[peer, back].tolist() == [chip, link]
                end, behind = chips.links[back].ends[chips.links[link].arrivals[channel]]
                assert (chips.nodes[peer, end], behind) == (there, network.ports[port].opposite)
                joined += 1
    assert joined == count * sum(len(link.ends) for link in chips.links) > 0


@each(
    ("text", "by", "match"),
    [
        ("mesh(4, 4)", "dim0=2", "alike"),
        ("hsn(2, cube(2))", "1", "for dual-nets and products"),
        ("ccc(3)", "1", "for dual-nets and products"),
        ("torus(4, 4)", "2", "such as dim0=2, not 2: it has dim0 to dim1"),
        ("torus(4, 4)", "dim7=2", "it has dim0 to dim1"),
        ("torus(4, 4)", "cross1=2", "it has dim0 to dim1"),
        ("torus(4, 6)", "dim1=4", "dim1 of .* 6 long, into unequal parts"),
        ("torus(4, 4)", "dim0=1", "all of .* on one chip"),
        ("torus(4, 4)", "dim0=0", "1 part or more"),
        ("dualcube(3)", "0", "a level of .* 1 to 1, not 0"),
        ("dualcube(3)", "2", "a level of .* 1 to 1, not 2"),
        ("dualcube(3)", "dim0=2", "a level of .* not dim0=2"),
        ("torus(4, 4)", "dim0=x", "such as dim0=2, not dim0=x"),
        ("torus(4, 4)", "", "such as dim0=2"),
        ("dualcube(3)", "²", "a level"),
    ],
)
def test_what_cannot_be_cut(text: str, by: str, match: str) -> None:
    with pytest.raises(SpecError, match=match):
        lay_chips(build(text), by)
