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


def edited(folder, **values):
    """Return the path of a certificate in which some values are others; of None is none."""
    path = folder / "certificate.json"
    said = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps({key: value for key, value in said.items() if value is not None}))
    return path


def test_one_that_says_that_something_is_not_proved(folder):
    findings = json.loads((folder / "certificate.json").read_text())["findings"]
    findings[0]["answer"] = "undecided"
    assert main(["prove", "--check", str(edited(folder, proved=False, findings=findings))]) == 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"proved": "no"}, "check must be a file with a certificate, not "),
        ({"proved": 7}, "check must be a file with a certificate, not "),
        ({"proved": float("nan")}, "check must be a file with a certificate, not "),
        ({"digest": []}, "check must be a file with a certificate, not "),
        ({"endpoints_digest": [1]}, ""),
        ({"findings": {}}, "check must be a file with a certificate, not "),
        ({"tools": None}, "check must be a file with a certificate, not "),
        ({"proved": False}, "check must be a certificate that says what its findings do, not "),
        ({"findings": []}, "check must be a certificate that says what its findings do, not "),
        ({"findings": [{"answer": "refuted"}]}, "check must be a certificate that says what its findings do, not "),
        ({"findings": [{"answer": "sure"}]}, "check must be a certificate that says what its findings do, not "),
        ({"findings": [3]}, "check must be a certificate that says what its findings do, not "),
        ({"spec": "torus(4, 4)"}, "check must be a certificate of the fabric beside it, and "),
        ({"packet_length": 8}, "check must be a certificate of the fabric beside it, and "),
    ],
)
def test_an_edited_certificate_is_refused(values, said, folder, capsys):
    capsys.readouterr()
    assert main(["prove", "--check", str(edited(folder, **values))]) == (2 if said else 1)
    err = capsys.readouterr().err
    assert err.startswith(f"hdnhw: {said}" if said else "")
    assert err.count("\n") == bool(said)


@pytest.mark.parametrize("text", ["[]", "3", "null", "{", "\xff", "[" * 100_000, '{"endpoints": 3}', '{"digest": {}}'])
def test_a_manifest_or_certificate_that_is_none_is_refused(text, folder, capsys):
    capsys.readouterr()
    for name, asked in (
        ("certificate", ["--check", folder / "certificate.json"]),
        ("manifest", [*MACHINE, "-o", folder]),
    ):
        (folder / f"{name}.json").write_text(text, encoding="latin-1")
        assert main(["prove", *map(str, asked)]) == 2
        err = capsys.readouterr().err
        assert (err.startswith("hdnhw: "), err.count("\n")) == (True, 1)


def test_a_text_that_was_edited_beside_its_manifest_is_refused(folder, capsys):
    text = folder / "fabric.sv"
    text.write_text(text.read_text().replace("posedge", "negedge", 1))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert main(["prove", *MACHINE, "-o", str(folder)]) == 2
    assert "fabric.sv is another text" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


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
