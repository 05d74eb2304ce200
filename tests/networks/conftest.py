"""Support for tests of families: a family that a test brings itself."""

import importlib
import sys

import pytest

import hdnhw.networks.families
from hdnhw.networks.registry import families


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Return a function that writes a module of families, by its name and source, where families are looked for."""
    folder = tmp_path / "families"
    folder.mkdir()
    monkeypatch.setattr(hdnhw.networks.families, "__path__", [*hdnhw.networks.families.__path__, str(folder)])
    brought = []

    def bring(name, source):
        (folder / f"{name}.py").write_text(source)
        brought.append(f"hdnhw.networks.families.{name}")
        importlib.invalidate_caches()
        families.cache_clear()

    yield bring
    for name in brought:
        sys.modules.pop(name, None)
    families.cache_clear()
