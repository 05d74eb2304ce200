"""The generator for FuseSoC, by itself; examples/fusesoc runs it in FuseSoC."""

import pytest
import yaml

from hdnhw.fusesoc.generate import main


@pytest.fixture
def generate(tmp_path, monkeypatch, capsys):
    """Return a function of parameters: the status, what was said, and the files that were made."""
    monkeypatch.chdir(tmp_path)

    def generate(**parameters):
        asked = {"gapi": "1.0", "vlnv": "user:chip:chip-noc:2.0", "parameters": parameters, "files_root": "/nowhere"}
        (tmp_path / "input.yml").write_text(yaml.safe_dump(asked))
        status = main("input.yml")
        made = {path.name for path in tmp_path.iterdir()} - {"input.yml"}
        return status, capsys.readouterr().err, made

    return generate


def test_the_core_has_the_name_that_was_asked_for(generate, tmp_path):
    status, _, made = generate(spec="cube(1)", name="noc", options="--packet-length 1 --flit-width 8")
    assert status == 0
    assert {"noc.sv", "noc_wrap.sv", "noc.core", "manifest.json"} < made
    core = yaml.safe_load((tmp_path / "noc.core").read_text().removeprefix("CAPI=2:\n"))
    assert core["name"] == "user:chip:chip-noc:2.0"
    assert core["targets"]["default"]["toplevel"] == "noc"
    assert "[7:0]" in (tmp_path / "noc_wrap.sv").read_text()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "hdnhw_fabric: parameters must be spec, name, options: spec must be among them\n"),
        ({"spec": "cube(1)", "width": 3}, "hdnhw_fabric: parameters must be spec, name, options: not width\n"),
        (
            {"spec": "cube(1)", "options": "--crc --name=a"},
            "hdnhw_fabric: options must not have --name=a: name is a parameter, the folder FuseSoC's\n",
        ),
        (
            {"spec": "cube(1)", "options": "-oa"},
            "hdnhw_fabric: options must not have -oa: name is a parameter, the folder FuseSoC's\n",
        ),
        (
            {"spec": "cube(1)", "options": "--name 'a"},
            "hdnhw_fabric: options must be as a shell has them: No closing quotation\n",
        ),
        (
            {"spec": "cube(1)", "name": "a__b"},
            "module name must be letters, digits and single _ between them, a letter first, not 'a__b'\n",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(parameters, message, generate):
    status, said, made = generate(**parameters)
    assert (status, made) == (2, set())
    assert said.endswith(message)
    assert said.count("\n") == 1
