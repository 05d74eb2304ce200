"""What commands write: on a full disk there is one line, and the files are as they were."""

import resource
from contextlib import contextmanager
from pathlib import Path

import pytest

from hdnhw.support.files import write_together

BYTES = 1000
"""Of a file, at most: less than anything here has."""


@contextmanager
def full_disk():
    """Let no file grow beyond so many bytes, as a stand-in for a disk without room."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


SWEEP = "sweep 'cube(2)' --rates 0.1 --cycles 200 --workers 1"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("picture 'cube(3)' -o new.svg", "new.svg"),
        ("explore 'cube(2)' --cycles 40 -o new.html", "new.html"),
        ("compare 'cube(2)' --plot new.svg", "new.svg"),
        ("design --nodes 8 --degree 3 --plot new.png", "new.png"),
        ("exchange 'cube(2)' --plot new.svg", "new.svg"),
        ("collective 'cube(2)' --op scatter --plot new.pdf", "new.pdf"),
        ("simulate 'cube(4)' --cycles 200 --channels new.csv", "new.csv"),
        ("compare 'cube(2)' --html new.html", "new.html"),
        ("simulate 'cube(2)' --cycles 1000 --plot new.svg", "new.svg"),
        (f"{SWEEP} --plot new.svg", "new.svg"),
        (f"{SWEEP} --html new.html", "new.html"),
        (f"{SWEEP} --results new.parquet", "new.parquet"),
    ],
)
@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_a_full_disk(run, line, name, old):
    assert run(line)[0] == 0  # all that is compiled and kept for later is there now
    if not old or "--results" in line:  # a sweep would find its results
        Path(name).unlink()
    before = contents()
    with full_disk():
        status, out, err = run(line)
    told = [line for line in err.splitlines() if not line.startswith("1: cube(2), ")]
    assert (status, out, told) == (2, "", [f"hdnhw: '{name}' could not be written: File too large"])
    assert contents() == before


def contents():
    """Return all that is in the working folder."""
    return {str(path): path.is_dir() or path.read_bytes() for path in Path().rglob("*")}


def test_a_folder_on_a_full_disk(tmp_path):
    write_together(tmp_path / "old", {"a": "kept", "c": "kept"})
    (tmp_path / "old" / "b").write_text("kept")
    for folder in ("old", "new/below"):
        with full_disk(), pytest.raises(OSError, match=rf"^'.*/{folder}' could not be written: File too large$"):
            write_together(tmp_path / folder, {"a": "new", "b": BYTES * "long"}, without=["c"])
    assert [(path.name, path.is_dir() or path.read_text()) for path in sorted(tmp_path.rglob("*"))] == [
        ("old", True),
        *((name, "kept") for name in "abc"),
    ]


def test_emit_keeps_a_fabric_of_another_name(run):
    assert run("emit 'complete(2)' -o out")[0] == 0
    before = contents()
    said = "hdnhw: output must be a folder for one fabric: 'out' has 'fabric', and this is 'other'\n"
    assert run("emit 'complete(2)' -o out --name other") == (2, "", said)
    assert contents() == before
