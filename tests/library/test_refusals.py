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
from tests import test_cli
from tests.cli import test_collective, test_compare, test_emulation, test_faults_by_case, test_machines

MODULES = (test_cli, test_collective, test_compare, test_emulation, test_faults_by_case, test_machines)


def lines_of(module):
    """Return the command lines that a module of tests lets be refused."""
    return [value[0] if isinstance(value, tuple) else key for key, value in module.WRONG.items()]


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


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_refusal_has_the_words_of_its_caller(module, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    parser, told = command_parser(), 0
    for line in lines_of(module):
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
    assert told > 5
