"""The command ``emulate``: what its figures have to do with each other."""

import pytest


def test_all_ports_below_what_is_published(result_of):
    result = result_of("emulate 'hsn(3, cube(2))' --all-port --steps")
    assert (result["guest"], result["steps"], result["published_steps"], result["lower_bound_steps"]) == (
        "cube(6)",
        4,
        5,
        4,
    )
    cells = [row[port] for row in result["timetable"] for port in ("dim0", "dim1", "swap2", "swap3")]
    assert len(list(filter(None, cells))) == 14
    assert (result["delivered"], result["data"], sum(result["hops_per_step"])) == (True, 64 * 6, result["hops"])


def test_an_algorithm_on_a_dual_cube(result_of):
    result = result_of("emulate 'dualcube(3)' --run sort --swaps lazy")
    assert (result["guest"], result["verified"], result["published_exchange_steps"]) == ("cube(5)", True, None)
    assert (result["steps"], result["words"]) == (14 + 8, 42)


def test_one_swap_is_chosen_where_it_can_be(result_of):
    line = "emulate 'hsn(2, complete(5))' --all-port"
    chosen, other = result_of(line), result_of(f"{line} --ways two-swaps")
    assert (chosen["ways"], chosen["steps"], chosen["lower_bound_steps"]) == ("one-swap", 5, 5)
    assert (other["ways"], other["steps"], other["published_steps"]) == ("two-swaps", 8, 11)
    assert chosen["guest"] == "product(complete(5), complete(5))"


@pytest.mark.parametrize(("link", "steps"), [("1.ring_minus", 1), ("3.spoke", 3)])
def test_one_dimension_of_any_nucleus(result_of, link, steps):
    result = result_of(f"emulate 'hsn(3, petersen())' --step {link}")
    assert (result["guest"], result["steps"], result["published_steps"], result["data"]) == (None, steps, 3, 1000)


def test_an_algorithm(result_of):
    result = result_of("emulate 'hsn(4, cube(2))' --run ascend --seed 4")
    assert (result["verified"], result["dimension_steps"], result["exchange_steps"], result["steps"]) == (
        True,
        8,
        6,
        14,
    )
    sums = result_of("emulate 'hsn(4, cube(2))' --run prefix")
    assert result["published_exchange_steps"] == sums["published_exchange_steps"] == sums["exchange_steps"] == 6
    there, back = (result_of(f"emulate 'hsn(4, cube(2))' --run {name} --swaps lazy") for name in ("round-trip", "sort"))
    assert (there["exchange_steps"], there["published_exchange_steps"]) == (6, 12)
    assert (back["verified"], back["published_exchange_steps"]) == (True, None)


def test_an_algorithm_names_both_kinds_of_networks_that_run_it(run):
    for text in ("rdn(complete(3), 1)", "torus(4, 4)"):
        err = f"hdnhw: an algorithm of a hypercube is for dual-nets and HSNs over cubes, not {text}\n"
        assert run(f"emulate '{text}' --run ascend") == (2, "", err)
