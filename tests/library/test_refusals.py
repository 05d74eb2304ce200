"""Refusals name options as their caller writes them: ``--packet-length``, or ``packet_length`` in Python."""

import argparse
import re
import shlex
from inspect import signature

import pytest

from hdnhw.cli import command_parser
from hdnhw.endpoints import declared
from hdnhw.spec import FabricSpec
from hdnhw.spec.options import options_of
from hdnhw.support.errors import RuleError, SpecError
from hdnhw.support.naming import flag_of, named_by
from tests.cli.refusals import REFUSED

BY_THE_PARSER = {"build", "draw", "inf"}
"""First words of lines of which the function of the command never hears."""


def words_of(command):
    """Return the options of a command in Python whose names are no plain words."""
    kinds = [command.options] if command.options else []
    specs = [*kinds, FabricSpec, *declared("spec").values()]
    return {name for spec in specs for name in options_of(spec) if "_" in name}


def refusal(command, options):
    """Return what the function of a command says when it refuses; nothing if it does not."""
    try:
        command._run(options)
    except (SpecError, RuleError, ValueError, TypeError, OSError) as error:
        return str(error)
    except SystemExit:  # by a parser of what stands in an option
        return ""
    return ""


@pytest.mark.parametrize("first", sorted({line.split(" ")[0] for line in REFUSED} - BY_THE_PARSER))
def test_a_refusal_has_the_words_of_its_caller(first, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").write_text("mine")
    parser, told = command_parser(), 0
    for line in (line for line in REFUSED if line.split(" ")[0] == first):
        try:
            options = parser.parse_args(shlex.split(line), argparse.Namespace(command="hdnhw"))
        except SystemExit:
            continue  # by argparse, on the command line alone
        command = options.run.__self__
        said = refusal(command, options)
        assert not re.findall(r"(?<![\w-])--[a-z]", re.sub(r"'[^']*'|\"[^\"]*\"", "", said)), (line, said)
        with named_by(flag_of):
            said = refusal(command, options)
        names = words_of(command) - set(signature(command.function).parameters).intersection(["command"])
        assert not [name for name in names if re.search(rf"\b{name}\b", said)], (line, said)
        told += bool(said)
    capsys.readouterr()
    assert told
