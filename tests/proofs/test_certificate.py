"""Certificates beside manifests: they belong to one text."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from hdnhw.cli import main
from hdnhw.proofs import certificate, prove
from hdnhw.proofs.finding import Finding

MACHINE = ["hdn(cube(1), [[]])", "--packet-length", "4"]


def leave_out_rigs(patch):
    """Let rigs say that all is proved."""
    for name in ("delivery", "waiting"):
        found = Finding.compared(name, "fabric_router", "all", method="none", cases=0, why="")
        patch.setattr(prove, f"prove_{name}", lambda *_, found=found, **__: [found])


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """An emitted fabric with a certificate; what rigs say is no matter here."""
    folder = tmp_path_factory.mktemp("certified")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_rigs(patch)
        assert main(["emit", *MACHINE, "-o", str(folder)]) == 0
        assert main(["prove", *MACHINE, "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def folder(certified, tmp_path):
    """Another copy for each test."""
    return Path(shutil.copytree(certified, tmp_path, dirs_exist_ok=True))


def test_a_certificate_belongs_to_the_files_beside_it(folder, capsys):
    said = json.loads((folder / "certificate.json").read_text())
    assert said["digests"] == [
        {"file": name, "digest": f"sha256:{hashlib.sha256((folder / name).read_bytes()).hexdigest()}"}
        for name in ("fabric.sv", "manifest.json")
    ]
    assert said["proved"]
    assert said["assumptions"]
    assert {one["property"] for one in said["findings"]} >= {"route", "wiring"}
    capsys.readouterr()
    assert main(["prove", "--check", str(folder / "certificate.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digests"] == said["digests"]


@pytest.mark.parametrize("name", ["fabric.sv", "manifest.json"])
def test_it_belongs_to_no_other_files(folder, name, capsys):
    (folder / name).write_text((folder / name).read_text() + "\n")
    assert main(["prove", "--check", str(folder / "certificate.json")]) == 2
    assert capsys.readouterr().err.endswith(f" is of another {name}\n")
    (folder / name).unlink()
    assert main(["prove", "--check", str(folder / "certificate.json")]) == 2


def edited(folder, **values):
    """Return the path of a certificate in which some values are others, of None none, and the digest is right."""
    path = folder / "certificate.json"
    said = {**json.loads(path.read_text()), **values}
    said = {key: value for key, value in said.items() if value is not None}
    path.write_text(json.dumps(said | {"digest": certificate._digest(said)}))
    return path


def test_one_that_was_edited_otherwise_is_refused(folder, capsys):
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace("fabric_router", "fabric_ejection", 1))
    capsys.readouterr()
    assert main(["prove", "--check", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"hdnhw: check must be a certificate as it was written, and {path} has been edited\n"
    )


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
        ({"digests": {}}, "check must be a file with a certificate, not "),
        ({"digests": ["fabric.sv"]}, "check must be a certificate of the files beside it, and "),
        ({"findings": {}}, "check must be a file with a certificate, not "),
        ({"tools": None}, "check must be a file with a certificate, not "),
        ({"proved": False}, "check must be a certificate that says what its findings do, not "),
        ({"findings": []}, "check must be a certificate that says what its findings do, not "),
        ({"findings": [{"answer": "refuted"}]}, "check must be a certificate that says what its findings do, not "),
        ({"findings": [{"answer": "sure"}]}, "check must be a certificate that says what its findings do, not "),
        ({"findings": [3]}, "check must be a certificate that says what its findings do, not "),
        ({"findings": [{"answer": "proved", "property": "route"}]}, "check must be a certificate that says what "),
        ({"spec": "torus(4, 4)"}, "check must be a certificate of the fabric beside it, and "),
        ({"crc": None}, "check must be a certificate of the fabric beside it, and "),
        ({"packet_length": 8}, "check must be a certificate of the fabric beside it, and "),
    ],
)
def test_an_edited_certificate_is_refused(values, said, folder, capsys):
    capsys.readouterr()
    assert main(["prove", "--check", str(edited(folder, **values))]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"hdnhw: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["[]", "3", "null", "{", "\xff", "[" * 100_000, '{"endpoints": 3}', '{"digest": {}}'])
def test_a_manifest_or_certificate_that_is_none_is_refused(text, folder, capsys):
    capsys.readouterr()
    for name, asked in (
        ("certificate", ["--check", folder / "certificate.json"]),
        ("manifest", [*MACHINE, "-o", folder]),
        ("manifest", [folder]),
    ):
        (folder / f"{name}.json").write_text(text, encoding="latin-1")
        assert main(["prove", *map(str, asked)]) == 2
        err = capsys.readouterr().err
        assert (err.startswith("hdnhw: "), err.count("\n")) == (True, 1)


def test_a_text_that_was_edited_beside_its_manifest_is_not_that_of_a_network(folder, capsys):
    text = folder / "fabric.sv"
    text.write_text(text.read_text().replace("posedge", "negedge", 1))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert main(["prove", *MACHINE, "-o", str(folder)]) == 2
    assert "fabric.sv is not the text of this fabric" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_text_that_was_edited_is_proved_as_it_stands(folder, capsys, monkeypatch):
    leave_out_rigs(monkeypatch)
    text = folder / "fabric.sv"
    text.write_bytes(text.read_bytes().replace(b"posedge", b"negedge", 1))
    capsys.readouterr()
    assert main(["prove", str(folder), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found == {
        key: value for key, value in json.loads((folder / "certificate.json").read_text()).items() if key in found
    }
    assert found["digests"][0]["digest"] == f"sha256:{hashlib.sha256(text.read_bytes()).hexdigest()}"
    assert [one["answer"] for one in found["findings"] if one["property"] == "registers"] == ["refuted"]
    assert main(["prove", "--check", str(folder / "certificate.json")]) == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--name", "noc", "--no-initial"],
        ["--endpoints", "axi-stream", "--max-frame", "64", "--node-clocks"],
        ["--endpoints", "collective", "--operations", "broadcast,allreduce", "--wrapper"],
    ],
)
def test_options_are_those_of_the_manifest(options, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(prove, "prove_delivery", lambda fabric, **_: seen.append(fabric) or [])
    for name in ("prove_waiting", "prove_endpoints"):
        monkeypatch.setattr(prove, name, lambda *_, **__: [])
    assert main(["emit", *MACHINE, *options, "-o", str(tmp_path)]) == 0
    assert main(["prove", str(tmp_path)]) == 1
    (fabric,) = seen
    assert fabric.files == {name: (tmp_path / name).read_text() for name in fabric.files}


def test_a_text_that_changes_meanwhile_gets_no_certificate(folder, capsys, monkeypatch):
    def change(*_, **__):
        (folder / "fabric.sv").write_text("")
        return []

    (folder / "certificate.json").unlink()
    monkeypatch.setattr(prove, "prove_delivery", change)
    monkeypatch.setattr(prove, "prove_waiting", lambda *_, **__: [])
    assert main(["prove", str(folder)]) == 2
    assert "fabric.sv has changed: nothing was proved of it" in capsys.readouterr().err
    assert not (folder / "certificate.json").exists()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"packet_length": 8}, "has another 'latency' than a fabric of its spec and options"),
        ({"latency": {}}, "has another 'latency' than a fabric of its spec and options"),
        ({"spec": "nothing(2)"}, "is no manifest of a fabric: spec 'nothing(2)'"),
        ({"spec": None}, "is no manifest of a fabric: lacks 'spec'"),
        ({"lanes": "two"}, "is no manifest of a fabric: lanes must be an integer"),
        ({"fabric": 3}, "is no manifest of a fabric: "),
        ({"endpoints": 3}, "is no manifest of a fabric: endpoints must be an object"),
    ],
)
def test_an_edited_manifest_is_refused(folder, values, said, capsys):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | values
    path.write_text(json.dumps({key: manifest[key] for key in manifest if values.get(key, "") is not None}))
    capsys.readouterr()
    assert main(["prove", str(folder)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"), [("[]", "it must be an object"), ("{", "Expecting property"), ("[" * 10**5, "nests too deep")]
)
def test_what_is_no_manifest_is_refused(folder, text, said, capsys):
    (folder / "manifest.json").write_text(text)
    capsys.readouterr()
    assert main(["prove", str(folder)]) == 2
    assert f"manifest.json is no manifest of a fabric: {said}" in capsys.readouterr().err


def test_a_folder_with_another_text_is_refused(folder, capsys):
    capsys.readouterr()
    assert main(["prove", "hdn(cube(1), [[]])", "-o", str(folder)]) == 2
    assert "fabric.sv is not the text of this fabric" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "prove takes either SPEC, DIR or --check FILE"),
        (["cube(2)", "--check", "x"], "prove takes either SPEC, DIR or --check FILE"),
        (["--check", "x", "--buffers", "8"], "--buffers is not for --check"),
        ([".", "--max-frame", "64"], "--max-frame is not for DIR, whose options are in its manifest"),
        ([".", "-o", "x"], "--output is not for DIR, whose options are in its manifest"),
        (["--check", "/nowhere"], "check must be a file with a certificate, not /nowhere"),
        (["cube(2)", "-o", "/nowhere"], "/nowhere/manifest.json is not there"),
    ],
)
def test_bad_arguments(arguments, said, capsys):
    assert main(["prove", *arguments]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.startswith("hdnhw: ")
    assert said in err
