"""An option that is added to a class is on the command line, in signature and docstring, and refused by its kind."""

import argparse
import json
import re
import sys
from dataclasses import dataclass
from inspect import signature
from pathlib import Path

import pytest

import hdnhw.cli
from hdnhw.cli import command_parser, main
from hdnhw.cli.options import Command, Parser
from hdnhw.library.asked import asks
from hdnhw.spec.options import REQUIRED, Choice, Flag, Options, Rate, Several, Size, option
from hdnhw.support.errors import SpecError
from hdnhw.support.naming import flag_of, named_by
from tests.conftest import each


@dataclass(frozen=True, kw_only=True)
class Shared(Options):
    trials: int = option(9, Size, "sets of --fresh-faults", metavar="N", least=1)


@dataclass(frozen=True, kw_only=True)
class Asked(Shared):
    share: float = option(REQUIRED, Rate, "share of the nodes", least=0, most=1, open=True, group="faults")
    fresh_faults: int | None = option(None, Size, "faults at most", metavar="F", least=0, most=3)
    order: str = option("first", Choice, "which", choices=("first", "last"))
    kinds: tuple[str, ...] = option((), Several, "of what", choices=("a", "b"))
    quick: bool = option(False, Flag, "by fewer")


@asks
def dummy(spec: str, *, asked: Asked, **machine: int) -> dict:
    """Do nothing.

    Parameters
    ----------
    spec : str
    asked
    machine
        Others.
    """
    return {"spec": spec, **vars(asked), **machine}


def test_the_command_has_the_options():
    parser = Parser(prog="hdnhw")
    command = Command(dummy, example="hdnhw dummy")
    command(parser.add_subparsers())
    words = "dummy x --share 0.5 --fresh-faults 2 --order last --kinds b a --quick"
    asked = command.asked(parser.parse_args(words.split(), argparse.Namespace(command=words)))
    assert asked == {"share": 0.5, "fresh_faults": 2, "order": "last", "kinds": ["b", "a"], "quick": True}
    shown = parser._subparsers._group_actions[0].choices["dummy"].format_help()
    for text in ("faults:\n  --share SHARE", "--order {first,last}", "which (default first)", "(default 9)"):
        assert text in shown


def test_the_function_has_the_options():
    assert str(signature(dummy)).startswith(
        "(spec: str, *, share: float, fresh_faults: int | None = None, order: str = 'first', kinds: tuple[str, ...] = "
        "(), quick: bool = False, trials: int = 9, **machine: int)"
    )
    for text in (
        "    share : float\n        Share of the nodes.\n    fresh_faults : int, optional\n        Faults at most.\n",
        "    order : {'first', 'last'}\n        Which.\n",
        "    trials : int\n        Sets of `fresh_faults`.\n    machine\n",
    ):
        assert text in dummy.__doc__
    assert dummy("x", share=0.5, kinds=["a"], trials=None, buffers=3) == {
        **{"spec": "x", "share": 0.5, "fresh_faults": None, "order": "first", "kinds": ("a",), "quick": False},
        **{"trials": 9, "buffers": 3},
    }


@each(
    ("wrong", "kind", "message"),
    [
        ({"fresh_faults": 4}, SpecError, "fresh_faults must be 0 to 3, not 4"),
        ({"trials": 0}, SpecError, "trials must be at least 1, not 0"),
        ({"trials": True}, TypeError, "trials must be an integer, not True"),
        ({"share": 1}, SpecError, "share must be at least 0 and below 1, not 1"),
        ({"share": float("nan")}, SpecError, "share must be at least 0 and below 1, not nan"),
        ({"share": "x"}, TypeError, "share must be a number, not 'x'"),
        ({"order": "x"}, SpecError, "order must be one of first, last, not 'x'"),
        ({"kinds": ["a", "c"]}, SpecError, "kinds must be one of a, b, not 'c'"),
        ({"quick": 1}, TypeError, "quick must be True or False, not 1"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_that_the_caller_knows(wrong, kind, message):
    with pytest.raises(kind, match=f"^{message}$"):
        dummy("x", **{"share": 0, **wrong})
    with named_by(flag_of), pytest.raises(kind, match=f"^--{message.replace('_', '-')}$"):
        dummy("x", **{"share": 0, **wrong})


COMMAND = """
from dataclasses import dataclass

from hdnhw.cli.options import Command
from hdnhw.library.asked import asks
from hdnhw.library.result import Result
from hdnhw.spec.options import Options, Size, option


@dataclass(frozen=True, kw_only=True)
class TwiceOptions(Options):
    number: int = option(1, Size, "a number", least=0, most=9)


@asks
def twice(spec: str, *, asked: TwiceOptions) -> Result:
    \"\"\"Return a number twice.\"\"\"
    return Result({"spec": spec, "found": 2 * asked.number})


COMMANDS = (Command(twice, example="hdnhw twice 'cube(2)'"),)
"""


def test_a_command_is_one_file(tmp_path, monkeypatch, capsys):
    (tmp_path / "twice.py").write_text(COMMAND)
    monkeypatch.setattr(hdnhw.cli, "__path__", [*hdnhw.cli.__path__, str(tmp_path)])
    try:
        assert main(["twice", "cube(2)", "--number", "4", "--json"]) == 0
        assert (
            json.loads(capsys.readouterr().out) == {"spec": "cube(2)", "found": 8} == hdnhw.twice("cube(2)", number=4)
        )
        assert str(signature(hdnhw.twice)).startswith("(spec: str, *, number: int = 1)")
        assert "twice" in dir(hdnhw)
        assert main(["twice", "cube(2)", "--number", "10"]) == 2
        assert capsys.readouterr().err == "hdnhw: --number must be 0 to 9, not 10\n"
        assert "print a number twice" in command_parser().format_help()
    finally:
        sys.modules.pop("hdnhw.cli.twice")


CHOICES = re.compile(r"must be (a |an )?(one|some) of \{|allowed are|\[:-1\]\)\} or \{")
"""How a message lists choices that does not leave it to `choices_text`."""


def test_choices_are_listed_in_one_way():
    root = Path(hdnhw.__file__).parents[1]
    files = [file for folder in ("hdnhw", "sim", "boards") for file in (root / folder).rglob("*.py")]
    found = [
        f"{file}: {line.strip()}" for file in files for line in file.read_text().splitlines() if CHOICES.search(line)
    ]
    assert found == []
    assert CHOICES.search('f"spec must be one of {names}"')
