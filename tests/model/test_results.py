"""Files of results: shared, resumed, and refused where they are none."""

import json
import os

import pyarrow
import pytest
from pyarrow import parquet

from hdnhw.model.measure import LoadSpec
from hdnhw.model.results import ResultsFile
from hdnhw.model.sweep import Point, measure_point
from hdnhw.spec import FabricSpec, SpecError, parse

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
        ({"rate": [0.1]}, "Column key does not exist"),
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
    point = Point(fabric=FabricSpec(network=parse("cube(2)"), packet_length=1), load=load)
    row = measure_point(point)
    ResultsFile(path).add(point.key, row)
    assert json.loads(json.dumps(ResultsFile(path).get(point.key))) == json.loads(json.dumps(row))
