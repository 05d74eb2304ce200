"""The claims of the HSN paper: verdicts that are known, and that a wrong figure changes them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hdnhw.claims import (
    hsn,
    hsn_algorithms,
    hsn_corollaries,
    hsn_diameters,
    hsn_divisors,
    hsn_hypergraphs,
    hsn_nuclei,
    hsn_slowdown,
)
from hdnhw.claims.claim import Verdict
from hdnhw.collectives.emulated import published_steps
from hdnhw.networks.build import build
from hdnhw.topology.metrics import neighbor_table, summarize_distances
from hdnhw.topology.swapped import SwappedNetwork

CLAIMS = {claim.check.__name__: claim for claim in hsn.CLAIMS}
KNOWN = {
    "sizes": (Verdict.HOLDS, None),
    "degrees": (Verdict.HOLDS, None),
    "leaders": (Verdict.PARTLY, "hsn(2, complete(3), diameter_links=True): 3 leaders linked published, 2 leaders"),
    "subclasses": (Verdict.HOLDS, None),
    "subclass_degrees": (Verdict.HOLDS, None),
    "hcn_diameters": (Verdict.PARTLY, "hcn(1): below 2 published, 2 computed"),
    "hfn_diameters": (Verdict.HOLDS, None),
    "hcn3_diameters": (Verdict.PARTLY, "hcn3(1): below 3 published, 3 computed"),
    "hcn3_without_links": (Verdict.FALSE, "hsn(3, cube(1)): below 3 published, 5 computed"),
    "printed_path": (Verdict.MISPRINT, "hsn(2, cube(1)): as printed published, not"),
    "diameters": (Verdict.HOLDS, None),
    "divisors": (Verdict.HOLDS, None),
    "exchange_steps": (Verdict.HOLDS, None),
    "cube_step": (Verdict.HOLDS, None),
    "cube_all_port": (Verdict.HOLDS, None),
    "timetables": (Verdict.HOLDS, None),
    "complete_all_port": (Verdict.HOLDS, None),
    "mesh_all_port": (Verdict.HOLDS, None),
    "mesh_degrees": (Verdict.PARTLY, "hsn(2, mesh(2)): 3 published, 2 computed"),
    "folded_below_cube": (Verdict.PARTLY, "folded_hsn(2, 1): below 2 published, 2 computed"),
    "folded_below_nuclei": (Verdict.PARTLY, "folded_hsn(2, 2): below 3 published, 3 computed"),
    "cube_in_folded": (Verdict.HOLDS, None),
    "emulation": (Verdict.HOLDS, None),
    "total_exchange": (Verdict.HOLDS, None),
    "optimal_diameter": (Verdict.HOLDS, None),
    "radix_slowdown": (Verdict.HOLDS, None),
    "bus_nuclei": (Verdict.HOLDS, None),
    "applications": (Verdict.HOLDS, None),
    "beside_others": (Verdict.PARTLY, "hsn(2, cube(3)): 3, and 6 or more on the others published, 3, and 2 at least"),
    "folded_nuclei_step": (Verdict.HOLDS, None),
    "constant_diameter": (Verdict.HOLDS, None),
    "as_the_star": (Verdict.HOLDS, None),
    "grid_nuclei": (Verdict.HOLDS, None),
    "star_nuclei": (Verdict.FALSE, "hsn(114, star(3)): of the order of the least published, 10.55 times computed"),
}


def test_results_on_divisors(monkeypatch):
    monkeypatch.setattr(hsn_divisors, "MOST", 20)
    hsn_divisors._networks.cache_clear()
    kinds = {"cube": ["cube(2)"], "complete": ["complete(4)"], "mesh": ["mesh(3, 2)"], "ghc": ["ghc(2, 3)"]}
    monkeypatch.setattr(hsn_divisors, "KINDS", kinds | {"folded_cube": ["folded_cube(2)"]})
    found = hsn_divisors.results()
    missing = {row["result"].split(":")[0]: row["not on"] for row in found.table if row["not on"]}
    assert missing == {
        "Theorem 2.1": "hsn(2, cube(2), top=2)",
        "Theorem 5.1": "hsn(2, mesh(3, 2), top=3)",
        "Theorem 5.2": "hsn(2, mesh(3, 2), top=3)",
        "section 5.3": "hsn(2, ghc(2, 3), top=2)",
    }
    assert found.verdict == Verdict.HOLDS
    emulate = hsn_divisors.emulate
    monkeypatch.setattr(hsn_divisors, "emulate", lambda *args: replace(emulate(*args), steps=30))
    assert hsn_divisors.results().verdict == Verdict.FALSE
    hsn_divisors._networks.cache_clear()


def test_an_application_that_is_wrong(monkeypatch):
    right = hsn_algorithms.run_algorithm
    monkeypatch.setattr(
        hsn_algorithms,
        "run_algorithm",
        lambda network, name: replace(right(network, name), verified=name != "matrix"),
    )
    monkeypatch.setattr(hsn_algorithms, "MOST_VALUES", 8)
    found = hsn_algorithms.applications()
    assert found.verdict == Verdict.FALSE
    assert found.counterexample.startswith(
        "matrix on hsn(2, cube(1)): 2 + at most 6 steps published, 2 + 2 steps, right"
    )


def test_steps_of_a_hypercube_on_other_networks(monkeypatch):
    """Two data on one link, and data that do not arrive, are found; d links carry a bit's d 2^d data in d steps."""
    monkeypatch.setattr(hsn_slowdown, "HOSTS", {4: hsn_slowdown.HOSTS[4]})
    row = dict(CLAIMS["beside_others"].check().table[0])
    assert (row["HSN"], row["CCC"], row["CCC at least"], row["butterfly at least"]) == (3, 5, 4, 2)
    assert (row["hypernet at least"], row["hypernet, all bits"]) == (32, 189)
    table = np.array([[1, -1], [0, 2], [-1, 1]])
    assert hsn_slowdown._move(table, np.array([0, 2]), [np.array([0, 1]), np.array([1, 0])]).tolist() == [2, 0]
    for starts, ports in (([0, 0], [0, 0]), ([0], [1])):
        with pytest.raises(AssertionError):
            hsn_slowdown._move(table, np.array(starts), [np.array(ports)])
    with pytest.raises(AssertionError, match="the neighbors of w"):
        hsn_slowdown._butterfly_word(np.roll(hsn_slowdown._butterfly(4), 1, axis=0), 4, 0)
    table = neighbor_table(build("hypernet(4, 2)")).astype(np.int64)
    assert [hsn_slowdown._hypernet_bit(table, (4, 3), bit) for bit in range(7)] == [1] * 4 + [7] * 3
    with pytest.raises(AssertionError, match="the neighbors in the hypercube"):
        hsn_slowdown._hypernet_bit(table[:, [1, 0, 2, 3, 4]], (4, 3), 6)
    for least, verdict in ((5, Verdict.FALSE), (6, Verdict.HOLDS)):
        monkeypatch.setattr(hsn_slowdown, "_least", lambda *_, least=least: least)
        assert hsn_slowdown.beside_others().verdict == verdict


def test_stars_of_few_nodes_are_far_from_the_least_diameter(monkeypatch):
    """About 3 n times it, as ``log l`` is about 2 log n!; of n symbols enough it is a constant."""
    found = hsn_diameters.star_nuclei()
    assert found.corrected == "for star graphs of n = Omega(sqrt(log N / log log N)) symbols"
    ratios = {row["n"]: float(row["ratio"]) for row in found.table}
    assert all(2.5 * n < ratio < 4 * n for n, ratio in ratios.items())
    monkeypatch.setattr(hsn_diameters, "DIMENSIONS", (256, 8))
    assert hsn_diameters.as_the_star().verdict == Verdict.FALSE


def test_closed_forms_of_another_network():
    wrong = replace(hsn_diameters._swapped(2, hsn_diameters._star(3)), diameter=6)
    with pytest.raises(AssertionError, match=r"closed forms of hsn\(2, star\(3\)\)"):
        wrong.check()


def test_a_search_over_buses():
    """Three buses of three nodes in a ring share a node each."""
    assert hsn_hypergraphs._degree_and_diameter([(0, 1, 2), (2, 3, 4), (4, 5, 0)], 6) == (2, 2)
    assert sorted(hsn_hypergraphs._buses((2, 2))) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert hsn_hypergraphs._swapped(2, [(0, 1, 2)], 3) == [(0, 1, 2), (3, 4, 5), (6, 7, 8), (3, 1), (6, 2), (7, 5)]


def test_complements_in_hsns_of_folded_cubes(monkeypatch):
    """7 hops in HSN(3, FQ_4): 2 l is not enough."""
    monkeypatch.setattr(hsn_nuclei, "FOLDED", [(2, 2), (3, 2), (2, 3), (3, 3)])
    found = hsn_nuclei.complement_hops()
    assert (found.verdict, found.corrected) == (Verdict.FALSE, None)
    assert [row["hops"] for row in found.table] == [3, 5, 4, 6]
    assert hsn_nuclei.complement_grows().verdict == Verdict.HOLDS
    monkeypatch.setattr(hsn_nuclei, "distances_from", lambda network, _: np.full(network.num_nodes, 4))
    assert hsn_nuclei.complement_grows().verdict == Verdict.FALSE


def test_the_average_distance_in_corollary_3_5(monkeypatch):
    monkeypatch.setattr(hsn_corollaries, "SEARCHED", (2, 3))
    found = hsn_corollaries.total_exchange()
    assert [row["average distance"] for row in found.table] == ["2.57", "5.08", *[""] * 6]
    for k in (2, 3):
        network = hsn_corollaries.network_of(f"hsn({k}, cube({k}))")
        assert hsn_corollaries._average_distance(k) == summarize_distances(network).average_distance
    monkeypatch.setattr(hsn_corollaries, "MOVED", ())
    monkeypatch.setattr(hsn_corollaries, "_average_distance", lambda k: Fraction(k, 2))
    assert hsn_corollaries.total_exchange().verdict == Verdict.FALSE


@pytest.mark.parametrize("steps", [lambda k: k * k, lambda _: 4])
def test_steps_of_another_order_are_found(monkeypatch, steps):
    """Both are right for k = 2 and 4, and from 1/4 to 4 of k up to k = 4 and 16."""
    monkeypatch.setattr(hsn_corollaries, "_steps", steps)
    assert hsn_corollaries.emulation().verdict == Verdict.FALSE


def test_an_order_that_half_the_limit_refuses():
    assert hsn_corollaries.emulation().turned == "false with 2"
    assert hsn_corollaries.optimal_diameter().turned == "false with 2"


def test_the_least_diameter_of_a_size_and_degree():
    """Petersen's graph reaches it: 10 nodes of degree 3; 11 take one hop more."""
    assert [hsn_corollaries.least_diameter(nodes, 3) for nodes in (1, 4, 5, 10, 11, 22, 23)] == [0, 1, 2, 2, 3, 3, 4]


@pytest.mark.parametrize("name", KNOWN)
def test_verdicts_that_are_known(name, monkeypatch):
    monkeypatch.setattr(hsn_corollaries, "SEARCHED", (2, 3))
    found = CLAIMS[name].check()
    verdict, counterexample = KNOWN[name]
    assert found.verdict == verdict
    assert (found.counterexample or "").startswith(counterexample or "")
    assert (found.counterexample is None) == (counterexample is None)


def test_what_is_corrected():
    assert CLAIMS["timetables"].check().corrected == "max(2 k, l + 1), and max(3, l + 1) for k = 1"
    assert CLAIMS["printed_path"].check().corrected == "X_l X_(l-1:2) Y_l -> Y_l X_(l-1:2) X_l"


def test_diameter_links_shorten_no_complete_graph_but_every_cube():
    rows = {row["network"]: row for row in CLAIMS["diameter_with_links"].check().table}
    assert all(row["diameter"] == row["with diameter links"] for name, row in rows.items() if "complete(4)" in name)
    assert all(row["diameter"] > row["with diameter links"] for name, row in rows.items() if "cube(2)" in name[:12])


def test_steps_of_the_tables_are_those_of_the_closed_forms():
    for row in CLAIMS["complete_all_port"].check().table:
        levels, size = (int("".join(filter(str.isdigit, part))) for part in row["network"].split(","))
        assert row["published"] == max(2 * size + 1, levels + 1)
        assert row["two swaps"] == max(2 * (size - 1), levels + 1)
        assert (row["one swap"] is None) == (levels >= size)
        assert row["one swap"] is None or row["one swap"] - max(size, 2 * levels - 1) in (0, 1)
        assert row["at least"] <= row["two swaps"]


def test_a_bound_that_is_not_met(monkeypatch):
    monkeypatch.setattr(hsn_algorithms, "published_steps", lambda host: published_steps(host) - 2)
    found = CLAIMS["cube_all_port"].check()
    assert (found.verdict, found.counterexample) == (
        Verdict.FALSE,
        "hsn(2, cube(1)): 1 steps published, 3 steps computed",
    )


def test_a_transform_that_is_wrong(monkeypatch):
    right = hsn_algorithms.run_algorithm
    monkeypatch.setattr(hsn_algorithms, "run_algorithm", lambda *args: replace(right(*args), verified=False))
    monkeypatch.setattr(hsn_algorithms, "CUBES", [(2, 1), (2, 2)])
    found = CLAIMS["exchange_steps"].check()
    assert found.verdict == Verdict.FALSE
    assert (
        found.counterexample == "ascend on hsn(2, cube(1)): 2 + 2 steps published, 2 + 2 steps, right: False computed"
    )


def test_a_network_without_a_link(monkeypatch):
    has_port = SwappedNetwork.has_port

    def cut(network, digits, port):
        return has_port(network, digits, port) & ((network.encode(digits) > 1) | (port < 1))

    monkeypatch.setattr(SwappedNetwork, "has_port", cut)
    assert hsn.sizes().verdict == Verdict.FALSE
    assert hsn.subclasses().verdict == Verdict.FALSE


def test_a_diameter_that_is_wrong(monkeypatch):
    monkeypatch.setattr(hsn, "diameter_of", lambda _: 3)
    assert hsn.diameters().verdict == Verdict.FALSE


def test_a_link_that_leads_elsewhere(monkeypatch):
    neighbor_table = hsn.neighbor_table
    monkeypatch.setattr(hsn, "neighbor_table", lambda network: np.roll(neighbor_table(network), 1, axis=0))
    assert (hsn.printed_path().verdict, hsn.printed_path().corrected) == (Verdict.FALSE, None)
