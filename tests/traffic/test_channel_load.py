"""Loads of channels against walks of every route, arithmetic of a torus, and channels of simulated fabrics."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from pyarrow import csv, parquet

import hdnhw
from hdnhw.networks.build import build
from hdnhw.rules.plan import plan
from hdnhw.rules.schemes import fabric_plan
from hdnhw.support.errors import SpecError
from hdnhw.traffic import channel_load
from hdnhw.traffic.channel_load import ChannelLoad
from hdnhw.traffic.patterns import parse_pattern
from tests.conftest import each

TERMINAL = ("ejection", "injection")


def unequal(nodes, seed=1):
    """Return rates of nodes of which one sends nothing and others less than others."""
    rng = np.random.default_rng(seed)
    rates = rng.random((nodes, nodes)) ** 4 * rng.uniform(0.2, 1, (nodes, 1))
    rates *= rng.random((nodes, nodes)) < 0.5
    np.fill_diagonal(rates, 0)
    rates[nodes // 3] = 0
    return rates


def uniform(nodes):
    return (np.ones((nodes, nodes)) - np.eye(nodes)) / (nodes - 1)


def hotspot(nodes, share, *hot):
    rates = uniform(nodes)
    for source in set(range(nodes)) - set(hot):
        rates[source] *= 1 - share
        rates[source, hot] += share / len(hot)
    return rates


def loads_of(routes, rates):
    """Return the load of each channel, by a walk of each route: {(node, port): flits a cycle}."""
    found, rates = defaultdict(float), rates / rates.sum(axis=1).max()
    for source, destination in np.argwhere(rates):
        rate = rates[source, destination]
        for step in [(source, "injection"), *routes(source, destination), (destination, "ejection")]:
            found[step] += rate
    return found


def table_of(made, name_of):
    width = made.load.shape[1]
    return {
        (node, name): made.load[node, place]
        for node in range(len(made.load))
        for place, name in enumerate([*name_of, *TERMINAL])
        if made.load[node, place] or place >= width - 2
    }


def walk(spec):
    """Return the routes of a network, step by step, with the rule as Python interprets it."""
    made = plan(spec)
    names = [port.name for port in made.network.ports]

    def route(source, destination):
        node, steps = int(source), 0
        while node != destination:
            name = names[made.plain_route(*made.address.of_nodes[[node, destination]].tolist()) & 0xFF]
            yield node, name
            node, steps = made.network.neighbors(node)[name], steps + 1
            assert steps <= made.network.num_nodes

    return made, names, route


@each("pattern", ["unequal", "hotspot(0.3, 1, 6)"])
@each(
    "spec", ["torus(4, 5)", "dualcube(3)", "hdn(cube(2), [[0]])", "hsn(2, cube(2))", "rdn(cube(2), 1)", "fat_tree(4)"]
)
def test_loads_are_those_of_a_walk_of_all_routes(spec, pattern, monkeypatch):
    monkeypatch.setattr(channel_load, "AT_ONCE", 50)  # from some sources at a time
    made, names, route = walk(spec)
    nodes = made.network.num_terminals
    rates = unequal(nodes) if pattern == "unequal" else hotspot(nodes, 0.3, 1, 6)
    own = loads_of(route, rates)
    found = ChannelLoad(made, parse_pattern(rates if pattern == "unequal" else pattern, made.network))
    table = table_of(found, names)
    assert {step for step, load in table.items() if load} == set(own)
    assert [table[step] for step in own] == pytest.approx([*own.values()], abs=1e-11)
    assert found.bound == pytest.approx(1 / max(own.values()))
    node, channel = found.busiest
    assert own[node, [*names, *TERMINAL][channel]] == pytest.approx(max(own.values()))
    width = len(names) + 2
    for channel in (*range(len(names)), width - 1, width - 2):
        flows = found.flows(node, channel)
        step = node, [*names, *TERMINAL][channel]
        over = {
            (int(one), int(other)): rates[one, other] / rates.sum(axis=1).max()
            for one, other in np.argwhere(rates)
            if step in [(one, "injection"), *route(one, other), (other, "ejection")]
        }
        assert [flow["load"] for flow in flows] == pytest.approx(sorted(over.values(), reverse=True)[:10], abs=1e-6)
        assert all(over[flow["source"], flow["destination"]] == pytest.approx(flow["load"], abs=1e-6) for flow in flows)


def around(side, one, other):
    """Return the steps around a ring of even size: the shorter way; if both are as long, up from an even place."""
    far = (other - one) % side
    return (1, far) if far < side / 2 + (one % 2 == 0) / 2 else (-1, side - far)


def steps_of_torus(side):
    def route(source, destination):
        at, ends = [*divmod(int(source), side)], divmod(int(destination), side)
        for place in (0, 1):
            sign, far = around(side, at[place], ends[place])
            for _ in range(far):
                yield at[0] * side + at[1], f"dim{place}_{'plus' if sign > 0 else 'minus'}"
                at[place] = (at[place] + sign) % side

    return route


def test_loads_of_a_torus_of_256_nodes_are_those_of_dimension_order():
    rates, made = unequal(256), plan("torus(16, 16)")
    own = loads_of(steps_of_torus(16), rates)
    found = ChannelLoad(made, parse_pattern(rates, made.network))
    table = table_of(found, [port.name for port in made.network.ports])
    assert {step for step, load in table.items() if load} == set(own)
    assert [table[step] for step in own] == pytest.approx([*own.values()], abs=1e-11)


@each("pattern", ["uniform", "reverse", "permutation(3)", "next_group(4)", "cluster", "inter_class", "cube"])
def test_rates_are_those_of_what_is_drawn(pattern):
    network = build("dualcube(3)")
    made = parse_pattern(pattern if pattern != "cube" else unequal(32), network)
    drawn, count = np.zeros((32, 32)), 4000
    sources = np.repeat(made.senders, count)
    destinations = made.destinations(sources, np.tile(np.arange(count), len(made.senders)), 5)
    np.add.at(drawn, (sources, destinations), 1 / count)
    rates = made.rates(np.arange(32))
    sums = rates.sum(axis=1)
    assert sums.max() == pytest.approx(1)
    assert set(np.flatnonzero(sums)) == set(made.senders)
    expected = rates[made.senders] / sums[made.senders, None]
    assert abs(drawn[made.senders] - expected).max() < 5 * 0.5 / count**0.5
    assert not drawn[made.senders][expected == 0].any()


def test_all_patterns_together_are_the_bound_of_uniform_traffic():
    found = hdnhw.routing("rdn(cube(2), 1)", pattern="uniform")
    assert found.pattern_bound == found.saturation_bound


@each("spec", ["torus(16, 16)", "dualcube(3)", "hdn(cube(2), [[0], [0, 1]])", "rdn(cube(2), 1)"])
def test_a_fabric_carries_the_loads_and_accepts_what_is_offered_up_to_the_bound(spec, tmp_path):
    """With queues per way and room for 16 packets; uniform traffic on tori gets nowhere near it."""
    rates = unequal(build(spec).num_terminals, seed=6)
    share = rates.sum() / rates.sum(axis=1).max() / len(rates)
    found = hdnhw.routing(spec, pattern=rates, channels=tmp_path / "loads.csv")
    assert found.busiest_channel["port"] not in TERMINAL
    rate = 0.9 * found.pattern_bound
    options = {"pattern": rates, "queueing": "voq", "buffers": 16}
    ran = hdnhw.simulate(spec, rate=rate, cycles=50_000, channels=tmp_path / "ran.csv", **options)
    assert ran.offered_rate == pytest.approx(rate * share, rel=0.02)
    assert ran.accepted_rate == pytest.approx(ran.offered_rate, rel=0.01)
    loads, measured = (np.genfromtxt(tmp_path / name, delimiter=",", names=True) for name in ("loads.csv", "ran.csv"))
    assert abs(measured["load"] - rate * loads["load"]).max() < 0.06
    assert measured["load"][loads["load"].argmax()] == pytest.approx(0.9, rel=0.04)
    assert measured["load"].sum() == pytest.approx(rate * loads["load"].sum(), rel=0.01)
    over = min(1.0, 1.3 * found.pattern_bound)
    ran = hdnhw.simulate(spec, rate=over, cycles=20_000, **options)
    assert ran.steady is not True
    assert ran.accepted_rate < over * share


CLASSES = """
[[class]]
pattern = "rates.npy"
share = 3
lengths = "mix(1, 1, 30, 1)"
[[class]]
pattern = "hotspot(0.1, 17, 200)"
[[class]]
pattern = "complement"
share = 0.25
lengths = 64
"""


def test_three_classes_of_256_nodes(tmp_path):
    rates, path = unequal(256, seed=2), tmp_path / "classes.toml"
    np.save(tmp_path / "rates.npy", rates)
    path.write_text(CLASSES)
    own = 3 * rates / rates.sum(axis=1).max() + hotspot(256, 0.1, 17, 200) + 0.25 * np.eye(256)[::-1]
    found = hdnhw.routing("torus(16, 16)", pattern=path, channels=tmp_path / "loads.parquet")
    rows = parquet.read_table(tmp_path / "loads.parquet").to_pylist()
    loads = loads_of(steps_of_torus(16), own)
    assert {(row["node"], row["port"]): row["load"] for row in rows} == pytest.approx(loads, abs=1e-11)
    assert found.pattern_bound == pytest.approx(1 / max(loads.values()), abs=1e-6)
    rate = 0.85 * found.pattern_bound
    options = {"pattern": path, "queueing": "voq", "buffers": 16, "cycles": 50_000}
    ran = hdnhw.simulate("torus(16, 16)", rate=rate, **options, flows=tmp_path / "flows.parquet")
    assert ran.offered_rate == pytest.approx(rate * own.sum() / own.sum(axis=1).max() / 256, rel=0.02)
    assert ran.accepted_rate == pytest.approx(ran.offered_rate, rel=0.01)
    flows = parquet.read_table(tmp_path / "flows.parquet")
    counted = np.zeros((256, 256))
    counted[flows["source"], flows["destination"]] = flows["messages"]
    hot = counted[np.arange(256) % 183 != 17][:, [17, 200]].sum()
    messages = 3 / 2.5 * rates / rates.sum(axis=1).max() + hotspot(256, 0.1, 17, 200) + 0.25 / 8 * np.eye(256)[::-1]
    assert not counted[messages == 0].any()
    share = messages[np.arange(256) % 183 != 17][:, [17, 200]].sum() / messages.sum()
    assert hot / counted.sum() == pytest.approx(share, rel=0.03)


def test_the_load_of_phases_is_their_mean(tmp_path):
    rates, path = unequal(20), tmp_path / "phases.toml"
    np.save(tmp_path / "rates.npy", rates)
    path.write_text(
        "phase = [{cycles = 30, class = [{pattern = 'rates.npy'}]},"
        "{cycles = 10, class = [{pattern = 'complement', share = 2}]}]"
    )
    sent = (30 * rates / rates.sum(axis=1).max() + 20 * np.eye(20)[::-1]) / 40 / 2  # the busiest node sends 2
    made, names, route = walk("torus(4, 5)")
    pattern = parse_pattern(path, made.network)
    assert pattern.rates(np.arange(20)) == pytest.approx(sent)
    own, busiest = loads_of(route, sent), sent.sum(axis=1).max()
    found = table_of(ChannelLoad(made, pattern), names)
    assert found == pytest.approx({step: own[step] * busiest for step in found}, abs=1e-11)


def test_entries_of_a_row_are_in_order_whatever_is_rounded():
    rates = np.random.default_rng(1).random((64, 64)) * (1 - np.eye(64))
    rates[:-1, -1] = 1e-17
    given = parse_pattern(rates, build("torus(8, 8)")).given
    for first, end in pairwise(given["row"].tolist()):
        assert (np.diff(given["within"][first:end]) >= 0).all()
    assert given["within"].max() == 1


@each("file", ["loads.csv", "loads.parquet"])
def test_a_table_of_all_channels(file, tmp_path):
    path = tmp_path / file
    found = hdnhw.routing("mesh(2, 3)", pattern="hotspot(0.5, 0)", channels=path)
    rows = (csv.read_csv(path) if file.endswith("csv") else parquet.read_table(path)).to_pylist()
    assert list(rows[0]) == ["node", "port", "neighbor", "load"]
    assert len(rows) == 14 + 2 * 6
    own = loads_of(walk("mesh(2, 3)")[2], hotspot(6, 0.5, 0))
    network = build("mesh(2, 3)")
    for row in rows:
        assert row["load"] == pytest.approx(own[row["node"], row["port"]], abs=1e-9)
        assert row["neighbor"] == network.neighbors(row["node"]).get(row["port"])
    busiest = max(rows, key=lambda row: row["load"])
    assert found.busiest_channel == {name: busiest[name] for name in ("node", "port", "neighbor")}
    assert found.pattern_bound == pytest.approx(1 / busiest["load"], abs=1e-6)


def test_what_has_no_load(tmp_path, monkeypatch):
    with pytest.raises(SpecError, match=r"^channels is for a load: give pattern as well$"):
        hdnhw.routing("cube(3)", channels=tmp_path / "c.csv")
    with pytest.raises(SpecError, match=r"^channels must be a file, one of \.parquet, \.csv, not 'c\.txt'$"):
        hdnhw.routing("cube(3)", pattern="uniform", channels="c.txt")
    made = fabric_plan("star(4)", "adaptive", 1)
    with pytest.raises(SpecError, match=r"^modes 'adaptive' do not go with the load of channels: packets that leave"):
        ChannelLoad(made, parse_pattern("uniform", made.network))
    monkeypatch.setattr(channel_load, "MOST_PAIRS", 63)
    with pytest.raises(SpecError, match=r"^load of channels needs at most 63 pairs of nodes; cube\(3\) has 64$"):
        hdnhw.routing("cube(3)", pattern="uniform")
    assert not [*tmp_path.iterdir()]
