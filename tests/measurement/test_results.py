"""Files of results: shared, resumed, and refused where they are none."""

import json
import os

import pyarrow
import pytest
from pyarrow import parquet

from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.results import SUFFIXES, ResultsFile
from hdnhw.measurement.sweep import Point, measure_point
from hdnhw.support.errors import SpecError
from tests.specs import fabric_spec

ROW = {"spec": "cube(2)", "rate": 0.1, "zero_load_latency": 43.5}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.parquet"


def test_names_that_are_not_utf_8(tmp_path):
    path = tmp_path / os.fsdecode(b"\x80.parquet")
    ResultsFile(path).add("a", ROW)
    assert ResultsFile(path).get("a") == ROW


@pytest.mark.parametrize("content", [b"", b"not parquet", b"PAR1" * 4])
def test_files_that_are_no_results(path, content):
    path.write_bytes(content)
    with pytest.raises(SpecError, match=r"^results must be a Parquet file of a sweep, not [^\n]*$"):
        ResultsFile(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"key": [1], "zero_load_latency": [1]}, "its column key is not of strings"),
        ({"key": [["a"]], "zero_load_latency": [1]}, "its column key is not of strings"),
        ({"rate": [0.1]}, "it has no column key"),
    ],
)
def test_tables_that_are_no_results(path, columns, reason):
    parquet.write_table(pyarrow.table(columns), path)
    content = path.read_bytes()
    with pytest.raises(SpecError, match=rf"^results must be a Parquet file of a sweep, not [^\n]*{reason}[^\n]*$"):
        ResultsFile(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("rows", [0, 1])
def test_results_of_an_older_version_are_refused(path, rows):
    columns = {"key": pyarrow.array(["k"] * rows, pyarrow.string()), "rate": [0.1] * rows}
    parquet.write_table(pyarrow.table(columns), path)
    with pytest.raises(SpecError, match=r"^results of .*results.parquet' are of an older version: give"):
        ResultsFile(path)


def test_a_folder_is_no_file_of_results(tmp_path):
    with pytest.raises(SpecError, match=r"^results must be a file, and '.*' is none$"):
        ResultsFile(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(
        SpecError, match=r"^folder of results must be a folder that can be written or made, not '.*file'$"
    ):
        ResultsFile(tmp_path / "file" / "results.parquet")


def test_two_that_write_one_file_keep_each_others_rows(path):
    one, other = ResultsFile(path), ResultsFile(path)
    one.add("a", ROW)
    other.add("b", ROW | {"rate": 0.2})
    one.add("c", ROW | {"rate": 0.3})
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    for results in (one, ResultsFile(path)):
        assert [results.get(key)["rate"] for key in "abc"] == [0.1, 0.2, 0.3]
    other.add("a", ROW | {"rate": 0.9})  # measured anew: the newest stays
    assert ResultsFile(path).get("a")["rate"] == 0.9


def test_rows_are_json_after_the_file(path):
    load = LoadSpec(cycles=200, warmup=50)
    point = Point(fabric=fabric_spec("cube(2)", packet_length=1), load=load)
    row = measure_point(point)
    ResultsFile(path).add(point.key, row)
    assert json.loads(json.dumps(ResultsFile(path).get(point.key))) == json.loads(json.dumps(row))


RICH = {
    "spec": "cube(3)",
    "modes": "",
    "lengths": "9",
    "pattern": "hotspot(0.1, 0)",
    "rate": 0.1,
    "steady": True,
    "seed": 3,
    "packet_latency": {"mean": 43.25, "p50": 41},
    "network_latency": None,
    "confidence_95": None,
    "latency_of_seed": [1.5, None],
    "messages_of_seed": ["0123", "true"],
    "zero_load_latency": 42.0,
}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_come_back_from_every_format(tmp_path, suffix):
    path = tmp_path / f"results{suffix}"
    one = ResultsFile(path)
    one.add("a", RICH)
    one.add("b", RICH | {"modes": "fO", "lengths": None, "network_latency": {"mean": 40.0, "p50": 40}})
    one.add("c", ROW)  # without some columns
    again = ResultsFile(path)
    for key in "abc":
        there, kept = (
            {name: value for name, value in (results.get(key) or {}).items() if value not in (None, "")}
            for results in (again, one)
        )
        assert there == kept
    assert (again.get("a") or {})["modes"] == ""
    again.add("d", ROW)
    assert ResultsFile(path).get("a") is not None


def test_csv_and_json_are_what_others_read(tmp_path):
    for suffix in (".csv", ".json"):
        ResultsFile(tmp_path / f"r{suffix}").add("a", RICH)
    head, line = (tmp_path / "r.csv").read_text().splitlines()
    assert head.startswith("key,spec,modes,lengths,pattern,rate,steady,seed,packet_latency.mean,packet_latency.p50,")
    assert line.startswith('a,cube(3),,"""9""","hotspot(0.1, 0)",0.1,true,3,43.25,41,')
    assert json.loads((tmp_path / "r.json").read_text()) == [{"key": "a", **RICH}]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.json", "{", "JSON file of a sweep"),
        ("r.json", "[" * 100_000, "JSON file of a sweep"),
        ("r.csv", "key,spec\nx," + "[" * 100_000 + "\n", "CSV file of a sweep"),
        ("r.json", '{"key": "a"}', "it is no list of rows"),
        ("r.json", "[3]", "JSON file of a sweep"),
        ("r.json", '[{"key": 3}]', "its column key is not of strings"),
        ("r.csv", "a,b\n1,2\n", "it has no column key"),
        ("r.csv", "key,spec\nx,cube(3)\n", "of an older version"),
        ("r.csv", "", "of an older version"),
    ],
)
def test_texts_that_are_no_results(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(SpecError, match=rf"^results [^\n]*{said}[^\n]*$"):
        ResultsFile(tmp_path / name)
    assert (tmp_path / name).read_text() == content


def test_a_suffix_says_what_a_file_is(tmp_path):
    with pytest.raises(SpecError, match=r"^results must be a file, one of \.parquet, \.csv, \.json, not '.*\.txt'$"):
        ResultsFile(tmp_path / "r.txt")
