"""Traffic as data: what files, arrays and mappings say, and what they must not."""

import copy
import pickle

import numpy as np
import pyarrow
import pytest
from pyarrow import csv, parquet

import hdnhw
from hdnhw.measurement.lanes import in_reach
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import measure
from hdnhw.measurement.seeds import measure_loads
from hdnhw.model.fabric import model_of
from hdnhw.networks.build import build
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.traffic.demand import Classes, read_pattern
from hdnhw.traffic.patterns import parse_pattern
from tests.conftest import each

RATES = np.array([[0, 3, 0, 1], [0, 0, 0, 0], [0.5, 0, 0, 1.25], [2, 0, 0, 0]])
PAIRS = [(int(one), int(other), float(RATES[one, other])) for one, other in np.argwhere(RATES)]
DTYPE = [("source", int), ("destination", int), ("rate", float)]
TEXT = "source,destination,rate\n" + "".join(f"{one},{other},{rate}\n" for one, other, rate in reversed(PAIRS))


def table(rows):
    return pyarrow.table(dict(zip(("source", "destination", "rate"), zip(*rows, strict=True), strict=True)))


WRITERS = {
    "matrix.csv": lambda path: np.savetxt(path, RATES, "%.17g", ","),
    "blanks.csv": lambda path: path.write_text("\n0, 3, 0, 1\n0,0,0,0\n\n0.5,0,0,125e-2\n2,0,0,0"),
    "pairs.csv": lambda path: path.write_text(TEXT),
    "quoted.csv": lambda path: csv.write_csv(table(PAIRS), path),
    "matrix.npy": lambda path: np.save(path, RATES),
    "pairs.npy": lambda path: np.save(path, np.array(PAIRS, DTYPE)),
    "matrix.parquet": lambda path: parquet.write_table(pyarrow.table([*RATES.T], ["a", "b", "c", "d"]), path),
    "pairs.parquet": lambda path: parquet.write_table(table(PAIRS), path),
}


@each("name", WRITERS)
def test_all_forms_say_the_same(name, tmp_path):
    WRITERS[name](tmp_path / name)
    array = read_pattern(RATES)
    for value in (tmp_path / name, str(tmp_path / name)):
        found = read_pattern(value)
        assert [*zip(found.source, found.destination, found.rate, strict=True)] == PAIRS
        assert found == f"{name}#{array.partition('#')[2]}"
        made = parse_pattern(found, build("cube(2)"))
        assert made.rates(np.arange(4)) == pytest.approx(RATES / 4)
        assert made.senders.tolist() == [0, 2, 3]
        assert parse_pattern(value, build("cube(2)")).text == made.text


def test_arrays_and_mappings_too_and_whole_rates():
    mapping = {(one, other): rate for one, other, rate in PAIRS}
    assert read_pattern(mapping) == read_pattern(RATES)
    assert read_pattern(mapping | {(1, 2): 0}) == read_pattern(RATES)
    assert parse_pattern(mapping | {(1, 2): 0}, build("cube(2)")).senders.tolist() == [0, 2, 3]
    assert read_pattern(RATES) != read_pattern(RATES * 2)
    assert len({read_pattern({pair: 1}) for pair in [(0, 1), (0, 2), (2, 1)]}) == 3
    twice = read_pattern(RATES.astype(np.float32) * 4), read_pattern((RATES * 4).astype(np.int16))
    assert twice[0] == twice[1]
    for same in (copy.deepcopy(twice[0]), pickle.loads(pickle.dumps(twice[0]))):
        assert same == twice[0]
        assert (same.rate == twice[0].rate).all()
    assert read_pattern("hotspot(0.2, 3)") == "hotspot(0.2, 3)"
    assert read_pattern(3) == 3


def pairs_text(*lines):
    return "source,destination,rate\n" + "\n".join(lines)


def wrong_pairs(*row, dtype=DTYPE):
    return lambda path: np.save(path, np.array([PAIRS[0], row], dtype))


@each(
    ("name", "content", "said"),
    [
        ("r.csv", "0,1\n1", r"^FILE: line 2: must be 2 rates, as many as there are rows, not 1 numbers$"),
        ("r.csv", "0,1,2\n1,0,1", r"^FILE: line 1: must be 2 rates, as many as there are rows, not 3 numbers$"),
        ("r.csv", "0,1\n1,x", r"^FILE: line 2: must be numbers, not 'x'$"),
        ("r.csv", "from,to\n0,1", r"line 1: must be numbers, not 'from'; a table of pairs begins with source,dest"),
        ("r.csv", "0,-1\n1,0", r"^FILE: line 1: rate must be finite and at least 0, not -1 from 0 to 1$"),
        ("r.csv", "\n0,1\nnan,0", r"^FILE: line 3: rate must be finite and at least 0, not nan from 1 to 0$"),
        ("r.csv", "0,1\ninf,0", r"not inf from 1 to 0$"),
        ("r.csv", "0,1\n1,0.5", r"^FILE: line 2: a node must not send to itself, not 0.5 from 1 to 1$"),
        ("r.csv", "0,0\n0,0", r"^FILE: must have a rate above 0$"),
        ("r.csv", "", r"^FILE: must have a rate above 0$"),
        ("r.csv", "source,destination,rate", r"^FILE: must have a rate above 0$"),
        ("r.csv", "0,1\n1,0", r"^FILE: must have a row and a column for each of the 4 nodes of cube\(2\), not 2$"),
        ("r.csv", pairs_text("0,1,1", "0,4,1"), r"^FILE: line 3: nodes of cube\(2\) must be 0 to 3, not 0 and 4$"),
        ("r.csv", pairs_text("4,0,1"), r"^FILE: line 2: nodes of cube\(2\) must be 0 to 3, not 4 and 0$"),
        ("r.csv", pairs_text("0,1,1", "", "-1,1,1"), r"line 4: nodes must be numbers from 0 on, not 1 from -1 to 1$"),
        ("r.csv", pairs_text("0,1.5,1"), r"line 2: nodes must be numbers from 0 on, not 1 from 0 to 1.5$"),
        ("r.csv", pairs_text("0,1"), r"line 2: must be source, destination, rate, not 2 numbers$"),
        ("r.csv", pairs_text("0,1,1", "0,2,1", "0,1,3"), r"line 4: the pair from 0 to 1 stands there twice$"),
        ("r.csv", b"\xff\xfe", r"^FILE: must be a traffic matrix that can be read: .*decode"),
        ("r.csv", None, r"^FILE: must be a traffic matrix that can be read: No such file or directory$"),
        ("r.npy", b"", r"^FILE: must be a traffic matrix that can be read: "),
        ("r.npy", b"text", r"^FILE: must be a traffic matrix that can be read: "),
        (
            "r.npy",
            lambda path: np.save(path, np.ones(4)),
            r"^FILE: must be a square matrix .* not of the shape \(4,\)$",
        ),
        ("r.npy", lambda path: np.save(path, np.ones((2, 3))), r"must be a square matrix of rates, .* \(2, 3\)$"),
        ("r.npy", lambda path: np.save(path, -RATES), r"^FILE: row 0: rate must be finite"),
        ("r.npy", lambda path: np.save(path, RATES + 1j), r"^FILE: must be numbers$"),
        ("r.npy", lambda path: np.save(path, RATES.astype(str)), r"^FILE: must be numbers$"),
        ("r.npy", wrong_pairs(2, 2, 1), r"^FILE: row 1: a node must not send to itself, not 1 from 2 to 2$"),
        ("r.parquet", b"PAR1", r"^FILE: must be a traffic matrix that can be read: "),
        ("r.parquet", lambda path: parquet.write_table(table([(0, 1, "x")]), path), r"^FILE: must be numbers$"),
        ("r.parquet", lambda path: parquet.write_table(table([(0, 1, None), (0, 2, 1.0)]), path), r"row 0: rate must"),
    ],
)
def test_files_that_cannot_be(name, content, said, tmp_path):
    path = tmp_path / name
    path.unlink(missing_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        content(path)
    with pytest.raises(SpecError, match=said.replace("FILE", str(path))) as caught:
        hdnhw.simulate("cube(2)", pattern=path)
    assert "\n" not in str(caught.value)


@each(
    ("value", "said"),
    [
        (np.eye(4), r"^matrix: row 0: a node must not send to itself, not 1 from 0 to 0$"),
        (np.ones(4), r"^matrix: must be a square matrix of rates, not of the shape \(4,\)$"),
        ({(0, 1): 1.0, (2, 9): 1.0}, r"^matrix: item 1: nodes of cube\(2\) must be 0 to 3, not 2 and 9$"),
        ({(0, 1): -1.0}, r"^matrix: item 0: rate must be finite and at least 0, not -1 from 0 to 1$"),
        ({0: 1.0}, r"^pattern must be a mapping of pairs of nodes to rates, such as \{\(0, 5\): 0.25\}$"),
        ({(0, "a"): 1.0}, r"^matrix: must be numbers$"),
        ({}, r"^matrix: must have a rate above 0$"),
    ],
)
def test_objects_that_cannot_be(value, said):
    with pytest.raises(SpecError, match=said):
        hdnhw.routing("cube(2)", pattern=value)


PHASES = """
phase = [{cycles = 90, class = [{pattern = "r.csv", lengths = 20}]},
         {cycles = 40, class = [{pattern = "transpose", share = 2}, {pattern = "uniform"}]}]
"""
MATRIX = "[[class]]\npattern = 'r.csv'\n"


@each(
    ("text", "said"),
    [
        ("", r"^FILE: class must be a list of tables$"),
        ("class = []", r"^FILE: must have a class$"),
        ("class = 1", r"^FILE: class must be a list of tables, not 1$"),
        ("rate = 1\n[[class]]", r"^FILE: must have \[\[phase\]\] or \[\[class\]\] alone, not rate$"),
        ("phase = 3", r"^FILE: must have \[\[phase\]\] or \[\[class\]\] alone, not a phase that is none$"),
        ("phase = [3]", r"^FILE: cycles must be an integer$"),
        ("phase = [{cycles = 1, class = []}, {class = []}]", r"^FILE: phase 1: cycles must be an integer$"),
        ("phase = [{cycles = 0, class = []}]", r"^FILE: cycles must be 1 to 2147483647, not 0$"),
        ("phase = [{cycle = 1, class = []}]", r"^FILE: must be one of cycles, class, not 'cycle'$"),
        ("[[class]]\nshare = 1", r"^FILE: class 0: pattern must be text$"),
        ("[[class]]\npattern = 1", r"^FILE: class 0: pattern must be text, not 1$"),
        (MATRIX + "share = 0", r"^FILE: class 0: share must be above 0 and finite, not 0$"),
        (MATRIX + "share = true", r"^FILE: class 0: share must be a number, not True$"),
        (MATRIX + "weight = 1", r"^FILE: class 0: must be one of pattern, share, lengths, not 'weight'$"),
        (
            MATRIX + MATRIX.replace("r.csv", "c.toml"),
            r"^FILE: class 1: pattern must be a matrix or have a name, not be c",
        ),
        (MATRIX + MATRIX.replace("r.csv", "s.csv"), r"s.csv: must be a traffic matrix that can be read: No such file"),
        (
            MATRIX + "[[class]]\npattern = 'nowhere'",
            r"^FILE: class 1: pattern must be one of uniform, .*'nowhere'$",
        ),
        (MATRIX + "lengths = 0", r"^FILE: class 0: length of a message must be"),
        ("class = [", r"^FILE: must be a traffic matrix that can be read: "),
    ],
)
def test_classes_that_cannot_be(text, said, tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(text)
    np.savetxt(tmp_path / "r.csv", RATES, "%g", ",")
    with pytest.raises(SpecError, match=said.replace("FILE", str(path))):
        hdnhw.simulate("cube(2)", pattern=str(path))


def test_classes_are_told_apart_by_their_files(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(MATRIX)
    np.savetxt(tmp_path / "r.csv", RATES, "%g", ",")
    one = read_pattern(path)
    np.savetxt(tmp_path / "r.csv", RATES.T, "%g", ",")
    other = read_pattern(path)
    assert one != other
    assert all(isinstance(each, Classes) and each.startswith("c.toml#") for each in (one, copy.deepcopy(other)))
    assert pickle.loads(pickle.dumps(one)).phases[0][1][0][0] == one.phases[0][1][0][0]
    with pytest.raises(SpecError, match=r"^c.toml#\w+ has phases or classes, which requests have not$"):
        hdnhw.requests("cube(2)", pattern=path)
    path.write_text(MATRIX + "lengths = 3")
    with pytest.raises(SpecError, match=r"^lengths does not go with classes of c.toml#\w+ that have their own$"):
        hdnhw.simulate("cube(2)", pattern=path, lengths="5")


@each("kind", ["matrix", "classes", "phases"])
def test_engines_threads_and_lanes_agree(kind, tmp_path):
    np.savetxt(tmp_path / "r.csv", np.kron(np.ones((4, 4)), RATES) * (1 - np.eye(16)), "%g", ",")
    (tmp_path / "c.toml").write_text(PHASES if kind == "phases" else MATRIX + MATRIX.replace("r.csv", "reverse"))
    pattern = read_pattern(tmp_path / ("r.csv" if kind == "matrix" else "c.toml"))
    fabric = FabricSpec(network=hdnhw.parse("torus(4, 4)"))
    model = model_of(fabric)
    loads = [LoadSpec(pattern=pattern, rate=rate / 50, cycles=400, warmup=200) for rate in range(1, 18)]
    assert in_reach(model, loads) == (kind == "matrix")
    together = measure_loads(model, loads)
    for load, found in zip(loads, together, strict=True):
        ways = [(model, 1), *[(model, 2), (model_of(fabric, "reference"), 1)] * (load.rate == 0.2)]
        for other in [measure(one, load, threads=threads) for one, threads in ways]:
            assert other.packet_latency.tolist() == found.packet_latency.tolist()
            assert (other.created, other.packets, other.cycles) == (found.created, found.packets, found.cycles)
    assert together[9].created > 50


def test_a_sweep_of_data_keeps_text(tmp_path):
    """Whose rows are those of these rates whatever file they come from, and hold no arrays."""
    np.save(tmp_path / "r.npy", RATES)
    options = {"rates": [0.1], "cycles": 300, "workers": 1, "results": tmp_path / "kept.csv"}
    curves = hdnhw.sweep("cube(2)", pattern=[RATES, tmp_path / "r.npy", "uniform"], **options)
    names = [read_pattern(RATES), read_pattern(tmp_path / "r.npy"), "uniform"]
    assert [row["pattern"] for row in curves.points] == names
    assert all(type(row["pattern"]) is str for row in curves.points)
    one, other, _ = (row["packet_latency"] for row in curves.points)
    assert one == other
    np.save(tmp_path / "r.npy", RATES.T)
    again = hdnhw.sweep("cube(2)", pattern=tmp_path / "r.npy", **options)
    assert again.points[0]["pattern"] not in names
    assert len((tmp_path / "kept.csv").read_text().splitlines()) == 5
