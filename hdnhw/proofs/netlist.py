"""A module of emitted Verilog as gates of two inputs, and their values for many inputs at once."""

import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.fpga.tools import ToolError
from hdnhw.fpga.yosys import YosysError, run_yosys
from hdnhw.support.processes import Budget

Net = int | str
"""A net of one bit; ``"0"``, ``"1"`` and ``"x"`` are constants, the last one of no known value."""

Bits = npt.NDArray[np.uint8]
"""Values of a net, eight cases a byte."""

_GATES = "proc; flatten; setattr -set keep 1 {kept}; opt_clean; techmap; dffunmap; simplemap; aigmap; clean"


class ForeignInputError(Exception):
    """A net that depends on something that it should not depend on; the message names it."""


def read_text(script: str, *, cwd: Path, budget: Budget | None = None) -> None:
    """Run a script of Yosys.

    Raises
    ------
    ToolError
        If Yosys fails.
    SpentError
        If it takes more than a budget has.
    """
    try:
        run_yosys(script, cwd=cwd, budget=budget)
    except YosysError as error:
        raise ToolError(f"yosys has failed: {error}") from None


def text_of(text: str, module: str) -> str:
    """Return the text of one module of emitted Verilog.

    Raises
    ------
    ValueError
        If there is no such module.
    """
    found = re.search(rf"^module {re.escape(module)}\s*\(.*?^endmodule", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"module must be one of the text, not {module!r}")
    return found[0]


def read_modules(text: str, top: str, passes: str) -> dict[str, Any]:
    """Return the modules of Verilog below `top` after some passes of Yosys, as its JSON has them."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "text.sv").write_text(text)
        read_text(f"read_verilog -sv text.sv\nhierarchy -top {top}\n{passes}\nwrite_json netlist.json\n", cwd=work)
        modules: dict[str, Any] = json.loads((work / "netlist.json").read_text())["modules"]
    return modules


@dataclass(frozen=True)
class Cone:
    """The gates between some nets, in an order in which they can be evaluated.

    Attributes
    ----------
    steps : tuple of (int, Net, Net or None)
        Net, and what it is computed from: both true, or with None the opposite of the first.
    registers : dict
        Net -> the fewest and the most registers between it and the inputs that move; without it, it stands still.
    """

    steps: tuple[tuple[int, Net, Net | None], ...]
    registers: dict[Net, tuple[int, int]]

    def evaluate(self, values: Mapping[Net, Bits]) -> dict[Net, Bits]:
        """Return the value of every net once inputs have stood still for as many cycles as there are registers.

        Parameters
        ----------
        values : mapping
            Of every input, as packed bits, all of one length.
        """
        some = next(iter(values.values()))
        known: dict[Net, Bits] = {"0": np.zeros_like(some), "1": np.full_like(some, 0xFF), **values}
        for net, first, second in self.steps:
            known[net] = ~known[first] if second is None else known[first] & known[second]
        return known


class Netlist:
    """A module, flattened, as gates of two inputs and registers; memories stay as they are.

    Parameters
    ----------
    text : str
        Verilog, of which the other modules are not read.
    module : str
        One that has no others inside.
    kept : sequence of str
        Ends of the names of wires that stay, behind a dot.
    """

    def __init__(self, text: str, module: str, kept: Sequence[str]) -> None:
        passes = _GATES.format(kept=" ".join(f"w:*.{end}" for end in kept))
        self._module = read_modules(text_of(text, module), module, passes)[module]

    @cached_property
    def _drivers(self) -> dict[Net, tuple[str, list[Net]]]:
        """Net -> the kind of its gate, ``and``, ``not`` or ``register``, and what that reads."""
        drivers: dict[Net, tuple[str, list[Net]]] = {}
        for cell in self._module["cells"].values():
            kind, pins = cell["type"], cell["connections"]
            if kind == "$_AND_":
                drivers[pins["Y"][0]] = ("and", [pins["A"][0], pins["B"][0]])
            elif kind == "$_NOT_":
                drivers[pins["Y"][0]] = ("not", pins["A"])
            elif kind == "$_DFF_P_":
                drivers[pins["Q"][0]] = ("register", pins["D"])
        return drivers

    @cached_property
    def sources(self) -> dict[Net, tuple[str, list[Net]]]:
        """Net -> the kind of what drives it, as a gate, a register or a memory, and all that this depends on.

        A bit that is read from a memory depends on the address, and on all that is written to that bit, and where.
        """
        sources = dict(self._drivers)
        cells = self._module["cells"].values()
        writes = [
            (cell["parameters"]["MEMID"], cell["connections"]) for cell in cells if cell["type"].startswith("$memwr")
        ]
        for cell in cells:
            if not cell["type"].startswith("$memrd"):
                continue
            memory, pins = cell["parameters"]["MEMID"], cell["connections"]
            for place, net in enumerate(pins["DATA"]):
                reads = list(pins["ADDR"])
                for name, write in writes:
                    if name == memory:
                        reads += [*write["ADDR"], write["EN"][place], write["DATA"][place]]
                sources[net] = (f"memory {memory}", reads)
        return sources

    @cached_property
    def names(self) -> dict[str, list[Net]]:
        """The wires that have names, least significant bit first."""
        return {name: wire["bits"] for name, wire in self._module["netnames"].items()}

    @property
    def ports(self) -> list[str]:
        """The names of the ports."""
        return list(self._module["ports"])

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs."""
        return [name for name, port in self._module["ports"].items() if port["direction"] == "output"]

    def cone(self, outputs: Iterable[Net], *, moving: Iterable[Net], still: Iterable[Net] = ()) -> Cone:
        """Return the gates between inputs, those that move and those that stand still, and `outputs`.

        Raises
        ------
        ForeignInputError
            If an output depends on anything else, or on itself.
        """
        registers: dict[Net, tuple[int, int]] = dict.fromkeys(moving, (0, 0))
        done: set[Net] = {"0", "1", *registers, *still}
        steps: list[tuple[int, Net, Net | None]] = []
        open_: set[Net] = set()
        stack = list(outputs)
        while stack:
            net = stack[-1]
            if net in done:
                stack.pop()
                continue
            kind, reads = self._driver(net)
            waiting = [one for one in reads if one not in done]
            if not waiting:
                stack.pop()
                done.add(net)
                assert isinstance(net, int)
                steps.append(_step(net, kind, reads))
                _count(registers, net, reads, later=kind == "register")
            elif net in open_:
                raise ForeignInputError(f"{self._name(net)} depends on itself")
            else:
                open_.add(net)
                stack += waiting
        return Cone(tuple(steps), registers)

    def _driver(self, net: Net) -> tuple[str, list[Net]]:
        if net not in self._drivers:
            raise ForeignInputError(f"it depends on {self._name(net)}")
        return self._drivers[net]

    def _name(self, net: Net) -> str:
        return next((name for name, bits in self.names.items() if net in bits), "a value that is not known")


def _step(net: int, kind: str, reads: Sequence[Net]) -> tuple[int, Net, Net | None]:
    if kind == "not":
        return net, reads[0], None
    return net, reads[0], reads[-1]


def _count(registers: dict[Net, tuple[int, int]], net: Net, reads: Sequence[Net], *, later: bool) -> None:
    """Note the registers in front of a net from those of what it reads."""
    counts = [registers[one] for one in reads if one in registers]
    if counts:
        registers[net] = (min(low for low, _ in counts) + later, max(high for _, high in counts) + later)
