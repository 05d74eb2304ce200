"""The command ``emulate``: what its figures have to do with each other."""

import pytest

from tests.conftest import each

WRONG = {
    "nothing to do": ("emulate 'hsn(2, cube(2))'", "emulate takes one of --step, --all-port and --run"),
    "two things to do": (
        "emulate 'hsn(2, cube(2))' --all-port --run sort",
        "emulate takes one of --step, --all-port and --run",
    ),
    "not an HSN": ("emulate 'cube(4)' --all-port", "an emulation is for HSNs without switches, not cube(4)"),
    "blocks that differ": (
        "emulate 'hsn(2, petersen(), top=5)' --step 1.spoke",
        "an emulation over 5 top clusters needs a nucleus that falls into connected blocks of 5 nodes",
    ),
    "no such dimension over a divisor": (
        "emulate 'hsn(2, cube(2), top=2)' --step 2.dim0",
        "--step must be a dimension of the guest; over 2 top clusters 2.dim0 is none",
    ),
    "no such level": ("emulate 'hsn(2, cube(2))' --step 3.dim0", "--step must be 1.dim0 to 2.dim1, not '3.dim0'"),
    "no such port": ("emulate 'hsn(2, cube(2))' --step 2.dim2", "--step must be 1.dim0 to 2.dim1, not '2.dim2'"),
    "a port alone": ("emulate 'hsn(2, cube(2))' --step dim0", "--step must be 1.dim0 to 2.dim1, not 'dim0'"),
    "no cube": (
        "emulate 'hsn(2, complete(3))' --run ascend",
        "an algorithm of a hypercube is for dual-nets and HSNs over cubes, not hsn(2, complete(3))",
    ),
    "too many data": (
        "emulate 'hsn(8, cube(3))' --all-port",
        "an emulation moves at most 4194304 data; hsn(8, cube(3)) has 402653184",
    ),
    "a step on a dual-cube": (
        "emulate 'dualcube(3)' --step 1.dim0",
        "an emulation is for HSNs without switches, not dualcube(3)",
    ),
    "a dual-net over no cube": (
        "emulate 'rdn(complete(4), 1)' --run ascend",
        "an algorithm of a hypercube is for dual-nets and HSNs over cubes, not rdn(complete(4), 1)",
    ),
    "no complete nucleus": (
        "emulate 'hsn(2, cube(2))' --all-port --ways one-swap",
        "data go over one swap alone on hsn(l, complete(M)), l < M, not on hsn(2, cube(2))",
    ),
    "ways of one step": ("emulate 'hsn(2, complete(4))' --step 1.dim0_by1 --ways one-swap", "--ways is for --all-port"),
    "swaps of a step": ("emulate 'hsn(2, cube(2))' --all-port --swaps lazy", "--swaps is for --run"),
    "a table of an algorithm": ("emulate 'hsn(2, cube(2))' --run sort --steps", "--steps is for --step and --all-port"),
    "a table of nodes that differ": (
        "emulate 'hsn(2, complete(4))' --all-port --steps",
        "--steps is for two-swaps; with one-swap nodes differ",
    ),
}


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


@each("what", WRONG)
def test_bad_input_is_one_line(refused, what):
    line, message = WRONG[what]
    assert message in refused(line)


def test_an_algorithm_names_both_kinds_of_networks_that_run_it(run):
    for text in ("rdn(complete(3), 1)", "torus(4, 4)"):
        err = f"hdnhw: an algorithm of a hypercube is for dual-nets and HSNs over cubes, not {text}\n"
        assert run(f"emulate '{text}' --run ascend") == (2, "", err)
