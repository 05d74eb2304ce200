"""Certificates beside manifests: they belong to one text."""

import json
import re
import shutil
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.proofs import fabric as prove

MACHINE = ["hdn(cube(1), [[]])", "--packet-length", "4"]


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """An emitted fabric with a certificate; what rigs say is no matter here."""
    folder = tmp_path_factory.mktemp("certified")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("prove_delivery", "prove_waiting"):
            patch.setattr(prove, name, lambda *_, **__: [])
        assert main(["emit", *MACHINE, "-o", str(folder)]) == 0
        assert main(["prove", *MACHINE, "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def folder(certified, tmp_path):
    """Another copy for each test."""
    return Path(shutil.copytree(certified, tmp_path, dirs_exist_ok=True))


def test_a_certificate_belongs_to_the_text_beside_it(folder, capsys):
    said = json.loads((folder / "certificate.json").read_text())
    assert said["digest"] == json.loads((folder / "manifest.json").read_text())["digest"]
    assert said["proved"]
    assert said["assumptions"]
    assert {one["property"] for one in said["findings"]} >= {"route", "wiring"}
    capsys.readouterr()
    assert main(["prove", "--check", str(folder / "certificate.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"].endswith("fabric.sv")
    assert found["digest"] == said["digest"]


def test_it_belongs_to_no_other_text(folder):
    text = folder / "fabric.sv"
    text.write_text(text.read_text() + "\n")
    assert main(["prove", "--check", str(folder / "certificate.json")]) == 1


def test_one_that_says_that_something_is_not_proved(folder):
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "proved": False}))
    assert main(["prove", "--check", str(path)]) == 1


def test_a_folder_with_another_text_is_refused(folder, capsys):
    capsys.readouterr()
    assert main(["prove", "hdn(cube(1), [[]])", "-o", str(folder)]) == 2
    said = capsys.readouterr().err
    assert re.search(
        r"output must be a folder into which this fabric has been emitted, and .* of another text, sha256", said
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "prove takes either SPEC or --check FILE"),
        (["cube(2)", "--check", "x"], "prove takes either SPEC or --check FILE"),
        (["--check", "/nowhere"], "check must be a file with a certificate, not /nowhere"),
        (["cube(2)", "-o", "/nowhere"], "and /nowhere has no manifest"),
    ],
)
def test_bad_arguments(arguments, said, capsys):
    assert main(["prove", *arguments]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.startswith("hdnhw: ")
    assert said in err
