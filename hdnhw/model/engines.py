"""What simulates a fabric: both do the same."""

ENGINES = COMPILED, REFERENCE = "compiled", "reference"
"""The first is the default; the second is :mod:`hdnhw.model.reference`."""
