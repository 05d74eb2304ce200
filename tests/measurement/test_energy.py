"""Energy of flits: by hand from hops, and tables that are none."""

import pytest

from hdnhw.measurement.energy import energy_row, read_energy
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.model.fabric import model_of
from hdnhw.rules.plan import plan
from hdnhw.support.errors import SpecError
from tests.specs import fabric_spec

TABLE = "* 9\ndim* 1.5 # of a millimetre\n\n# all others\ncross1 4\nrouter 0.5\ninjection 0.25\nejection 0\n"


@pytest.fixture
def table(tmp_path):
    """Return what writes a table and returns its file."""

    def write(text):
        path = tmp_path / "energy.txt"
        path.write_text(text)
        return path

    return write


def test_names_patterns_and_comments(table):
    found = read_energy(table(TABLE), plan("rdn(cube(2), 1)"))
    assert found == {
        "dim0": 1.5,
        "dim1": 1.5,
        "cross1": 4.0,
        "ejection": 0.0,
        "injection": 0.25,
        "router": 0.5,
    }
    assert read_energy(table("dim* 1\n"), plan("cube(2)"))["router"] == 0


def test_energy_is_that_of_the_hops(table):
    """To the opposite corner of a cube every packet crosses one channel of each dimension, and four routers."""
    model = model_of(fabric_spec("cube(3)", packet_length=4))
    energy = read_energy(table("dim0 1\ndim1 2\ndim2 4\nrouter 0.5\ninjection 0.25\n"), model.plan)
    counts = measure(model, LoadSpec(pattern="complement", rate=0.2, cycles=40000, warmup=400), counting=True).counts
    row = energy_row(model.plan, counts, energy)
    assert row["pj_per_flit"] == pytest.approx(7 + 4 * 0.5 + 0.25, rel=2e-3)
    assert row["pj_per_cycle"] == pytest.approx(8 * 0.2 * 9.25, rel=0.02)
    assert row["share"]["dim2"] == pytest.approx(4 / 9.25, rel=2e-3)
    assert row["share"]["router"] == pytest.approx(2 / 9.25, rel=2e-3)
    assert sum(row["share"].values()) == pytest.approx(1, abs=1e-3)
    assert row["share"]["ejection"] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "dim* 1\nswap1 2\n",
            "line 2: type of channel must be one of dim0, dim1, ejection, injection, router, not",
        ),
        ("dim0 1\n", "there must be a line for each port; there is none for dim1"),
        ("dim*\n", "line 1: a line must be a name and 0 to 1e[+]09 picojoules a flit"),
        ("dim* 1 2\n", "line 1: a line must be a name and"),
        ("dim* -1\n", "line 1: a line must be a name and"),
        ("dim* nan\n", "line 1: a line must be a name and"),
        ("dim* much\n", "line 1: a line must be a name and"),
    ],
)
def test_what_is_no_table_is_refused(table, text, message):
    with pytest.raises(SpecError, match=message):
        read_energy(table(text), plan("cube(2)"))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SpecError, match=r"^energy must be a text file that can be read, not "):
        read_energy(tmp_path / "none.txt", plan("cube(2)"))


def test_it_does_not_go_with_what_is_not_counted(run, tmp_path):
    (tmp_path / "energy.txt").write_text("dim* 1\n")
    for options, said in (
        ("--seeds 2", "--energy must be of one run: with --seeds there are several"),
        ("--pattern exchange", "does not go with --energy"),
        ("--faults 1 --waypoints 1", "--waypoints does not go with --energy"),
    ):
        status, out, err = run(f"simulate 'cube(2)' {options} --energy {tmp_path}/energy.txt")
        assert (status, out) == (2, "")
        assert said in err
