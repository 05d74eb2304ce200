"""What a function of the library returns: what its command prints with ``--json``."""

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


class Result(dict[str, Any]):
    """What a command prints with ``--json``, as a dictionary whose keys are attributes too.

    A notebook shows it as tables. The documentation of the command says what each key is.

    Attributes
    ----------
    passed : bool
        Whether all that was checked is true; False where the command ends with exit status 1.

    Examples
    --------
    >>> import hdnhw
    >>> found = hdnhw.info("rdn(cube(2), 1)")
    >>> found.diameter, found["average_distance_exact"]
    (6, '104/31')
    """

    def __init__(self, items: Any = (), *, passed: bool = True) -> None:
        super().__init__(items)
        self.passed = passed

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"result has no {name!r}; it has {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def table(self, name: str) -> "pyarrow.Table":
        """Return the rows under a key as a table of Apache Arrow, from which ``.to_pandas()`` makes a data frame.

        Needs the extra ``parquet``.

        Parameters
        ----------
        name : str
            A key whose value is a list of rows, for example ``points`` of a sweep.

        Raises
        ------
        ValueError
            If there are no rows under the key.

        Examples
        --------
        >>> import hdnhw
        >>> found = hdnhw.compare("cube(3)", "torus(4, 4)")
        >>> found.table("networks").column("diameter").to_pylist()
        [3, 4]
        """
        rows: Any = self.get(name)
        if not _is_rows(rows):
            known = ", ".join(key for key, value in self.items() if _is_rows(value)) or "none"
            raise ValueError(f"table must be one of the keys with rows, here {known}, not {name!r}")
        import pyarrow

        return pyarrow.Table.from_pylist(list(rows)).flatten()

    def _repr_html_(self) -> str:
        plain = {key: value for key, value in self.items() if not _is_rows(value)}
        rows = "".join(f"<tr><th>{escape(key)}</th><td>{_cell(value)}</td></tr>" for key, value in plain.items())
        parts = [f"<table>{rows}</table>"] if rows else []
        return "".join([*parts, *(_html_table(key, value) for key, value in self.items() if _is_rows(value))])


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _cell(value: Any) -> str:
    return escape("" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value))


def _html_table(key: str, rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{_cell(row.get(name))}</td>" for name in names) + "</tr>" for row in rows)
    return f"<table><caption>{escape(key)}</caption><tr>{head}</tr>{body}</table>"
