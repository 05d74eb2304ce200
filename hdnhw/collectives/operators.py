"""Operators that combine contributions, and the numbers that they are for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.collectives.choices import NUMBERS
from hdnhw.spec import OPERATORS
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import choices_text, named

Array = npt.NDArray[Any]

_FUNCTIONS: dict[str, Any] = {
    "sum": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@dataclass(frozen=True)
class Operator:
    """How two contributions are combined, word by word; the order does not matter but to the rounding of float32.

    Attributes
    ----------
    name : str
        One of :data:`hdnhw.collectives.choices.OPERATORS`.
    numbers : numpy.dtype
        Of a word. A sum of integers is modulo two to the power of their width.
    """

    name: str
    numbers: np.dtype[Any]

    @property
    def combine(self) -> Any:
        """The numpy function of two arrays of words."""
        return _FUNCTIONS[self.name]

    @property
    def identity(self) -> Any:
        """The word that changes nothing."""
        if self.numbers.kind == "f":
            values = {"min": np.inf, "max": -np.inf}
        else:
            whole = np.iinfo(self.numbers)
            values = {"min": whole.max, "max": whole.min, "and": whole.max if whole.min == 0 else -1}
        return self.numbers.type(values.get(self.name, 0))

    def combine_all(self, contributions: Array) -> Array:
        """Return what all rows together give, in their order."""
        result: Array = self.combine.reduce(contributions, axis=0, dtype=self.numbers)
        return result

    def combine_into(self, results: Array, rows: Array, contributions: Array) -> None:
        """Combine contributions with the rows of `results` that are named, one after the other."""
        self.combine.at(results, rows, contributions)

    def random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Return random words: integers over their whole range, float32 between -1 and 1."""
        if self.numbers.kind == "f":
            return (2 * rng.random(shape) - 1).astype(self.numbers)
        whole = np.iinfo(self.numbers)
        return rng.integers(whole.min, whole.max, shape, dtype=self.numbers, endpoint=True)


def operator_of(name: str, numbers: str) -> Operator:
    """Return an operator by its name, for numbers by their name.

    Raises
    ------
    SpecError
        If there is none.
    """
    if name not in OPERATORS:
        raise SpecError(f"{named('operator')} {choices_text(OPERATORS, name)}")
    if numbers not in NUMBERS:
        raise SpecError(f"{named('numbers')} {choices_text(NUMBERS, numbers)}")
    if numbers == "float32" and name in ("and", "or", "xor"):
        raise SpecError(f"{named('operator')} of float32 {choices_text(('sum', 'min', 'max'), name)}")
    return Operator(name, np.dtype(numbers))
