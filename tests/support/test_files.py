"""Files that are written whole or not at all."""

import pytest

from hdnhw.support.errors import SpecError
from hdnhw.support.files import check_distinct, check_folder, check_output, replacing


def test_a_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with replacing(path) as new:
        new.write_text("new")
        assert (path.read_text(), new.suffix) == ("old", ".html")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")

    def write():
        with replacing(path) as new:
            new.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_has_the_rights_of_any_new_file(tmp_path):
    with replacing(tmp_path / "one") as new:
        new.touch()
    (tmp_path / "other").touch()
    assert (tmp_path / "one").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("page.txt", r"page must be a file, one of \.html, \.htm, not '.*page\.txt'"),
        ("folder.html", r"page must be a file, and '.*folder\.html' is none"),
        ("none/page.html", r"page must be in a folder that can be written, not '.*none/page\.html'"),
        ("file/page.html", r"page must be in a folder that can be written, not '.*file/page\.html'"),
    ],
)
def test_names_that_cannot_be(tmp_path, name, message):
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match=f"^{message}$"):
        check_output("page", tmp_path / name, (".html", ".htm"))


def test_names_that_can_be(tmp_path):
    (tmp_path / "old.htm").touch()
    for name in ("new.html", "old.htm"):
        check_output("page", tmp_path / name, (".html", ".htm"))


def test_a_folder_may_be_there_or_made(tmp_path):
    (tmp_path / "file").touch()
    for name in (".", "new", "new/below"):
        check_folder("output", tmp_path / name)
    for name in ("file", "file/below"):
        with pytest.raises(SpecError, match=f"^output must be a folder that can be written or made, not '.*/{name}'$"):
            check_folder("output", tmp_path / name)


def test_outputs_are_different_files():
    check_distinct({"--results": "a", "--plot": None, "--html": None, "-o": "b"})
    with pytest.raises(SpecError, match=r"^--results and --plot must be different files, not both '\./a'$"):
        check_distinct({"--results": "a", "--html": "b", "--plot": "./a"})
