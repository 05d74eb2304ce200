"""Machine code of kernels: kept for later runs, and made anew when any source of the kernels has changed."""

import numba
import pytest

from hdnhw.model.kernel import compiled


def add(a, b):
    """Return the sum."""
    return a + b


def hits(function):
    """Return how often the first call of a function, compiled by `kept`, finds kept code."""
    kept = compiled.kept(function)
    assert kept(2, 3) == 5
    return sum(kept.stats.cache_hits.values())


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """Keep code in an empty folder."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


def test_code_is_kept_until_a_source_changes(monkeypatch):
    assert (hits(add), hits(add)) == (0, 1)
    assert compiled.kept(add).is_there
    monkeypatch.setattr(compiled, "_sources", lambda: "another digest")
    assert not compiled.kept(add).is_there
    assert (hits(add), hits(add)) == (0, 1)


def test_the_digest_is_of_every_source_of_the_kernels(monkeypatch):
    read, texts = compiled.Path.read_bytes, []
    monkeypatch.setattr(compiled.Path, "read_bytes", lambda path: texts.append(path.name) or read(path))
    before = compiled._sources()
    kernels = {path.name for path in compiled.Path(compiled.__file__).parent.iterdir() if path.suffix == ".py"}
    assert set(texts) == kernels | {"timing.py", "compiled.py"}
    monkeypatch.setattr(compiled.Path, "read_bytes", lambda path: read(path) + b" " * (path.name == "queue.py"))
    assert compiled._sources() != before
