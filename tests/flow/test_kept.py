"""Results that are kept: who wants the same one waits for the first."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from hdnhw.flow.kept import kept_result


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
