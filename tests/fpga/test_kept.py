"""Results that are kept: who wants the same one waits for the first."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from hdnhw.fpga.kept import kept_result


def test_what_several_want_at_once_is_made_once(tmp_path):
    made, start = [], Barrier(4)

    def make(_):
        made.append(1)
        time.sleep(0.1)  # so that all would begin, if nothing held them
        return {"number": len(made)}

    def ask(_):
        start.wait()
        return kept_result(tmp_path / "digest", make)

    with ThreadPoolExecutor(4) as workers:
        found = list(workers.map(ask, range(4)))
    assert sorted(was_there for _, was_there in found) == [False, True, True, True]
    assert [result for result, _ in found] == [{"number": 1}] * 4
    assert [path.name for path in tmp_path.iterdir()] == ["digest"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: "",
        lambda text: text[:-9],
        lambda _: "[" * 100_000,
        lambda _: "[]",
        lambda _: '{"number": 9}',
        lambda text: text.replace('"number": 1', '"number": 9'),
        lambda text: text.replace('"kept": "', '"kept": "0'),
    ],
)
def test_what_is_not_as_it_was_written_is_made_anew(tmp_path, spoil):
    folder = tmp_path / "digest"
    assert kept_result(folder, lambda _: {"number": 1}) == ({"number": 1}, False)
    result = folder / "result.json"
    result.write_text(spoil(result.read_text()))
    assert kept_result(folder, lambda _: {"number": 2}) == ({"number": 2}, False)
    assert kept_result(folder, lambda _: {"number": 3}) == ({"number": 2}, True)


def test_a_result_of_something_else_is_not_taken(tmp_path):
    kept_result(tmp_path / "one", lambda _: {"number": 1})
    (tmp_path / "one").rename(tmp_path / "other")
    assert kept_result(tmp_path / "other", lambda _: {"number": 2}) == ({"number": 2}, False)
