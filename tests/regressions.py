"""What a drawn check has found once, tests/regressions.toml, for the tests that look for it again."""

import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("regressions.toml")


def entries(kind):
    """Return the entries of a kind: ``line``, ``cosim`` or ``test``."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))[kind]


def always():
    """Return the tests that are always run, as node ids: of a case, or of a function with all its cases."""
    return [entry["test"] for entry in entries("test")]
