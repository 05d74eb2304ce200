"""Networks at equal cost: widths, lengths and loads."""

import json
from pathlib import Path

import pytest

from hdnhw.library.equal import EQUALS, make_equal
from hdnhw.support.errors import SpecError
from tests.specs import fabric_spec

SIXTEEN = ("torus(4, 4)", "cube(4)", "torus(16)")


def fabrics(specs=SIXTEEN, **options):
    return [fabric_spec(spec, **options) for spec in specs]


@pytest.mark.parametrize(
    ("what", "count", "widths", "lengths"),
    [
        ("pins", "ports", [32, 32, 64], [8, 8, 4]),
        ("wires", "links", [32, 32, 64], [8, 8, 4]),
        ("bisection", "links", [32, 32, 128], [8, 8, 2]),
    ],
)
def test_widths(what, count, widths, lengths):
    """By hand: 4, 4 and 2 ports; 32, 32 and 16 links; 8, 8 and 2 links between two halves."""
    made = make_equal(fabrics(), what, None)
    assert [fabric.flit_width for fabric in made.fabrics] == widths
    assert [fabric.packet_length for fabric in made.fabrics] == lengths
    assert (
        {row[count] * row["flit_width"] for row in made.rows}
        == {row[what] for row in made.rows}
        == {32 * made.counts[0]}
    )


def test_widths_are_rounded_down_and_packets_up():
    """7 ports in place of 4: 18.3 bits; 256 bits are 14.2 flits of 18."""
    made = make_equal(fabrics(("torus(8, 16)", "cube(7)")), "pins", 256)
    assert [(row["flit_width"], row["pins"], row["packet_length"]) for row in made.rows] == [
        (32, 128, 8),
        (18, 126, 15),
    ]
    assert next((row["flit_width"], row["packet_length"]) for row in make_equal(fabrics(), "pins", 100).rows) == (32, 4)


def test_narrow_channels_count_as_wide_as_they_are():
    """By hand: a router of 3 ports has one of 8 wires; 32 cross-edges and 64 others; of two halves 8 of each type."""
    specs = ("rdn(cube(2), 1)", "cube(5)")
    for what, bits, plain in (("pins", 72, 14), ("wires", 16 * 8 + 32 * 32, 14), ("bisection", None, None)):
        made = make_equal(fabrics(specs, channel_width="cross*=8"), what, None)
        own, other = made.rows
        assert own["flit_width"] == 32
        if bits is not None:
            assert own[what] == bits
            assert other["flit_width"] == plain == bits // made.counts[1]
    narrow = make_equal(fabrics(("torus(8, 4)", specs[0]), flit_width=5, channel_width="cross*=8"), "pins", None)
    assert [(row["flit_width"], row["pins"]) for row in narrow.rows] == [(5, 20), (6, 18)]
    assert narrow.fabrics[1].channel_width == "cross*=6"


def test_rates_are_in_bits_of_packets():
    made = make_equal(fabrics(("torus(8, 16)", "cube(7)")), "pins", 256)
    assert made.most == 32
    torus, cube = made.rates([4.0, 17.0, 20.0])
    assert torus == pytest.approx([4 / 32, 17 / 32, 20 / 32])
    assert cube == pytest.approx([4 * 15 / 256, 17 * 15 / 256])  # 20 bits are more than a flit in each cycle
    with pytest.raises(SpecError, match=r"^rates must begin below the 17\.0667 bits per node per cycle of cube\(7\)$"):
        made.rates([18.0])


def test_a_sweep_at_equal_pins(run):
    line = "sweep 'torus(4, 4)' 'cube(4)' 'torus(16)' --equal pins --rates 2,6 --cycles 400 --seeds 2 --workers 1"
    status, out, _ = run(f"{line} --json --results r.json --plot p.svg --html p.html")
    result = json.loads(out)
    assert status == 0
    assert (result["equal"], result["packet_bits"]) == ("pins", 256)
    for point in result["points"]:
        bits = 256 / point["packet_length"]
        assert point["rate_bits"] in (2, 6)
        assert point["rate"] * bits == pytest.approx(point["rate_bits"])
        assert point["accepted_rate_bits"] == pytest.approx(point["accepted_rate"] * bits, abs=1e-4)
    assert all(row["same_messages"] for row in result["differences"])
    assert "bits of packets per node per cycle" in Path("p.svg").read_text()
    assert all(f'id="{name}"' in Path("p.html").read_text() for name in ("widths", "differences"))
    assert len(json.loads(Path("r.json").read_text())) == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--equal pins --packet-length 4", "with --equal packets are as long as their bits ask for"),
        ("--equal pins --lengths 9", "with --equal packets are as long as their bits ask for"),
        ("--packet-bits 256", "--packet-bits is for --equal"),
        ("--equal pins --packet-bits 0", "--packet-bits must be 1 to 65536, not 0"),
        ("--equal pins --flit-width 1 --packet-bits 512", "--packet-length must be 1 to 256 flits, not 512"),
        ("--equal pins --rates 40", "rates must be numbers from 1e-09 to 32.0, such as 2,4,8, not '40'"),
        ("--seeds 0", "seeds must be 1 to 1000, not 0"),
    ],
)
def test_what_does_not_go_together(run, options, said):
    status, out, err = run(f"sweep 'cube(2)' {options}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_too_many_ports_for_the_wires():
    with pytest.raises(SpecError, match=r"^cube\(5\) needs pins of 5 bits or more; the first network has 2$"):
        make_equal(fabrics(("torus(8)", "cube(5)"), flit_width=1), "pins", 8)


def test_networks_of_other_sizes_are_said(capsys):
    make_equal(fabrics(("cube(2)", "cube(3)")), "wires", None)
    assert (
        capsys.readouterr().err == "networks have 4 to 8 terminals: equal wires compare best where they have as many\n"
    )
    assert set(EQUALS) == {"pins", "wires", "bisection"}


def test_rates_and_bisections_are_those_of_terminals(run):
    line = "sweep 'fat_tree(4)' 'torus(4, 4)' --rates 2,4 --cycles 1000 --seeds 2 --workers 1 --json --equal"
    result = json.loads(run(f"{line} pins")[1])
    for point in result["points"]:
        assert point["offered_rate_bits"] == pytest.approx(point["rate_bits"], rel=0.1)
        assert point["accepted_rate_bits"] == pytest.approx(point["rate_bits"], rel=0.1)
    assert all(row["same_messages"] for row in result["differences"])
    widths = json.loads(run(f"{line} bisection")[1])["widths"]
    assert [row["links"] for row in widths] == [8, 8]
