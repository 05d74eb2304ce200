"""The constraint files: every name in them is a port that is emitted, and place and route applies them."""

import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from hdnhw.endpoints.axi_stream.spec import AxiStreamSpec
from hdnhw.fpga.yosys import run_yosys
from hdnhw.spec.chips import ChipOptions
from hdnhw.verilog.fabric import emit_fabric, write_fabric
from tests.specs import fabric_spec

FOLDER = Path(__file__).parents[2] / "constraints"
TOPS = ("fabric", "fabric_axi")
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix in {".lpf", ".pcf", ".sdc"})
CLOCKS = {"fabric": ("clk", "rst"), "fabric_axi": ("aclk", "aresetn")}
MHZ = {".lpf": 100.0, ".pcf": 50.0, ".sdc": 100.0}

SMALL = fabric_spec("complete(2)", packet_length=4, flit_width=8, endpoints=AxiStreamSpec(max_frame=16))
SMALLEST = fabric_spec("complete(2)", packet_length=1, flit_width=1)
SPECS = {
    "two nodes": SMALL,
    "cross-edges": fabric_spec("hdn(cube(1), [[]])", packet_length=4, flit_width=8),
    "wide": fabric_spec(
        "torus(5)", packet_length=2, flit_width=64, endpoints=AxiStreamSpec(max_frame=64, tuser_width=9)
    ),
    "several shapes": fabric_spec("mesh(2, 3)", packet_length=2, flit_width=8),
}

GRAMMAR = {
    ".sdc": [
        r"create_clock -name (?P<clock>\w+) -period [\d.]+ \[get_ports \{(?P<ports>\w+)\}\]",
        r"set_(?P<side>input|output)_delay -clock (?P<clock>\w+) -(?:max|min) [\d.]+ "
        r"\[get_ports \{(?P<ports>[\w* ]+)\}\]",
    ],
    ".lpf": [
        r'FREQUENCY PORT "(?P<ports>\w+)" [\d.]+ MHZ;',
        r'IOBUF PORT "(?P<ports>\w+)" IO_TYPE=LVCMOS33;',
    ],
    ".pcf": [r"set_frequency (?P<ports>\w+) \d+"],
}
"""What a line may be that is not a remark: a line of another form would hide names from the tests below."""


def statements(name):
    """Return the fields of each line of a constraint file."""
    return read((FOLDER / name).read_text(), GRAMMAR[Path(name).suffix])


def read(text, forms):
    """Return the fields of each line but remarks, which has one of some forms."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            (match,) = filter(None, (re.fullmatch(form, line) for form in forms))
            found.append(match.groupdict())
    return found


def top_of(name):
    return Path(name).stem.removesuffix("_streams")


@cache
def ports_of(spec, top):
    """Return port -> direction, as the text of the emitted top level has it."""
    text = emit_fabric(spec).files[f"{top}.sv"].split(f"\nmodule {top}(")[1]
    found = re.findall(r"^  (input|output) (?:\[\d+:0\] )?(\w+);$", text, re.MULTILINE)
    return {port: direction for direction, port in found}


def cases(names):
    """Return (file, spec) for every spec that has the file's top level."""
    pairs = [(name, spec) for name in names for spec in SPECS]
    return [(name, spec) for name, spec in pairs if top_of(name) == "fabric" or SPECS[spec].endpoints is not None]


def test_the_files_are_those_of_the_page():
    assert sorted(f"{top}{rest}" for top in TOPS for rest in (".lpf", ".pcf", ".sdc", "_streams.sdc")) == FILES
    page = (FOLDER / "README.md").read_text()
    assert [name for name in FILES if f"`{name}`" not in page] == []


@pytest.mark.parametrize(("name", "spec"), cases(FILES))
def test_every_name_is_a_port(name, spec):
    ports = ports_of(SPECS[spec], top_of(name))
    for statement in statements(name):
        assert statement.get("clock") in (None, CLOCKS[top_of(name)][0])
        for pattern in statement["ports"].split():
            directions = {direction for port, direction in ports.items() if fnmatchcase(port, pattern)}
            assert directions == {statement.get("side") or "input"}, pattern


@pytest.mark.parametrize(("name", "spec"), cases([name for name in FILES if "_streams" in name]))
def test_every_port_has_one_delay_of_each_kind(name, spec):
    top = top_of(name)
    patterns = [pattern for statement in statements(name) for pattern in statement["ports"].split()]
    times = {port: sum(fnmatchcase(port, one) for one in patterns) for port in ports_of(SPECS[spec], top)}
    assert times.pop(CLOCKS[top][0]) == 0
    assert {port: count for port, count in times.items() if count != 2} == {}


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".sdc")])
def test_ports_have_a_fifth_of_the_period_at_either_side(name):
    text = (FOLDER / name).read_text()
    periods = re.findall(r"-period ([\d.]+)", text)
    delays = re.findall(r"set_(?:input|output)_delay .* -(max|min) ([\d.]+)", text)
    assert {side: {float(delay) for kind, delay in delays if kind == side} for side, _ in delays} == (
        {"max": {2.0}, "min": {0.0}} if delays else {}
    )
    assert {float(period) for period in periods} <= {10.0}


def test_remarks_name_ports_too():
    for top, names in CLOCKS.items():
        for line in (FOLDER / f"{top}.pcf").read_text().splitlines():
            if match := re.fullmatch(r"# set_io (\w+) \w+", line):
                assert match[1] in names


def test_a_renamed_port_is_seen(monkeypatch):
    renamed = {"clock" if port == "clk" else port: side for port, side in ports_of(SMALL, "fabric").items()}
    monkeypatch.setattr(sys.modules[__name__], "ports_of", lambda *_: renamed)
    for name in ("fabric.sdc", "fabric.lpf", "fabric.pcf"):
        with pytest.raises(AssertionError, match="clk"):
            test_every_name_is_a_port(name, "two nodes")


@pytest.fixture(scope="module")
def netlist(tmp_path_factory):
    """Return a function that synthesizes a top level for a family, once."""

    @cache
    def synthesized(top, family):
        folder = tmp_path_factory.mktemp("netlist")
        spec = SMALL if top == "fabric_axi" else SMALLEST
        sources = " ".join(path.name for path in write_fabric(emit_fabric(spec), folder) if path.suffix == ".sv")
        run_yosys(f"read_verilog -sv {sources}\nsynth_{family} -top {top} -json {top}.{family}\n", cwd=folder)
        return folder / f"{top}.{family}"

    return synthesized


DEVICES = {
    ("fabric", "ecp5"): ["--25k", "--package", "CABGA256", "--lpf-allow-unconstrained"],
    ("fabric_axi", "ecp5"): ["--85k", "--package", "CABGA756", "--lpf-allow-unconstrained"],
    ("fabric", "ice40"): ["--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"],
}
"""The smallest devices with pins enough; fabric_axi has more ports than any iCE40 has pins."""


def place_and_route(netlist, family, option, constraints):
    """Return the MHz asked for of each clock, and what nextpnr warned of but pins that it chose itself.

    The tool is a WebAssembly program that sees the folder in which it runs, so all files go there.
    """
    folder, report = netlist.parent, f"{netlist.name}.{constraints.name}.json"
    (folder / constraints.name).write_text(constraints.read_text())
    program = Path(sys.executable).with_name(f"yowasp-nextpnr-{family}")
    files = ["--json", netlist.name, "--report", report, option, constraints.name]
    command = [str(program), "-q", *DEVICES[netlist.stem, family], *files, "--timing-allow-fail"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    said = [
        line
        for line in done.stderr.splitlines()
        if not re.search(r"is unconstrained in|No PCF file|^\d+ warnings?, 0 errors|^Preparing to run yowasp", line)
    ]
    return [clock["constraint"] for clock in json.loads((folder / report).read_text())["fmax"].values()], said


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("ecp5", "fabric.lpf"),
        ("ecp5", "fabric.sdc"),
        ("ecp5", "fabric_axi.lpf"),
        ("ice40", "fabric.pcf"),
        ("ice40", "fabric.sdc"),
    ],
)
def test_nextpnr_applies_the_clock(netlist, family, name):
    path = FOLDER / name
    asked, said = place_and_route(netlist(top_of(name), family), family, f"--{path.suffix[1:]}", path)
    assert asked == [pytest.approx(MHZ[path.suffix], rel=1e-4)]
    assert said == []


CHIPS = {
    "torus(4)": ChipOptions(chips="dim0=2", link="parallel", link_width=8),
    "cube(3)": ChipOptions(chips="dim0=2,dim1=2", link="parallel", link_width=8),
}
OF_CHIPS = [
    r"set hdnhw_\w+ (?:[\d.]+|\[expr \{\$hdnhw_wire_period / 4\}\])",
    r"create_clock -name (?P<clock>\w+) -period \$hdnhw_(?:wire_)?period \[get_ports \{(?P<clocked>\w+)\}\]",
    r"create_generated_clock -name (?P<made>\w+) -source \[get_ports \{wire_clk\}\] -divide_by 1 -invert "
    r"\[get_ports \{(?P<sent>\w+)\}\]",
    r"set_(?P<side>input|output)_delay -clock (?P<by>\w+) (?:-clock_fall )?-(?P<kind>max|min) -?\$hdnhw_quarter "
    r"\[get_ports \{(?P<ports>[\w* ]+)\}\]",
    r"set_false_path -from \[get_ports \{(?P<constant>chip\*)\}\]",
]
"""Forms of lines for the pins of a chip."""


@cache
def chip_of(network):
    """Return a chip with pins, and its ports."""
    spec = fabric_spec(network, packet_length=2, flit_width=8)
    fabric = emit_fabric(spec, cut=CHIPS[network])
    text = fabric.files["fabric_chip.sv"].split("\nmodule fabric_chip_pins(")[1]
    found = re.findall(r"^  (input|output) (?:\[\d+:0\] )?(\w+);$", text, re.MULTILINE)
    return fabric, {port: direction for direction, port in found}


@pytest.mark.parametrize("network", CHIPS)
def test_all_pins_of_links_are_constrained(network):
    fabric, ports = chip_of(network)
    links = len(fabric.manifest["chips"]["links"])
    lines = read(fabric.files["fabric_chip_pins_io.sdc"], OF_CHIPS)
    clocks = {line["clocked"] for line in lines if line.get("clock")}
    assert clocks == {"clk", "wire_clk", *(f"link_{link}_clk_i" for link in range(links))}
    assert all(line["clock"] == line["clocked"] for line in lines if line.get("clock"))
    sent = {line["made"]: line["sent"] for line in lines if line.get("made")}
    assert sent == {f"link_{link}_clk_o": f"link_{link}_clk_o" for link in range(links)}
    delays = {}
    for line in lines:
        for pattern in (line.get("ports") or "").split():
            (port,) = (port for port in ports if fnmatchcase(port, pattern))
            assert ports[port] == line["side"]
            assert line["by"] == f"{port[: port.index('_', 5)]}_clk_{line['side'][0]}"
            delays.setdefault(port, []).append(line["kind"])
    words = {port for port in ports if re.fullmatch(r"link_\d+_(data|mark)_[io]", port)}
    assert {port: sorted(kinds) for port, kinds in delays.items()} == {port: ["max", "min"] for port in words}
    assert len(words) == 4 * links > 0
    assert [port for port in ports if fnmatchcase(port, "chip*")] == ["chip"]


def test_nextpnr_applies_the_clocks_of_a_chip(tmp_path):
    fabric, ports = chip_of("torus(4)")
    write_fabric(fabric, tmp_path)
    sources = " ".join(fabric.verilog)
    run_yosys(f"read_verilog -sv {sources}\nsynth_ecp5 -top fabric_chip_pins -json fabric_axi.ecp5\n", cwd=tmp_path)
    lpf = tmp_path / "fabric_chip_pins_io.lpf"
    clocks = re.findall(r'^FREQUENCY PORT "(\w+)" 100.0 MHZ;$', lpf.read_text(), re.MULTILINE)
    assert {"clk", "wire_clk", "link_0_clk_i"} == {*clocks} <= {*ports}
    asked, said = place_and_route(tmp_path / "fabric_axi.ecp5", "ecp5", "--lpf", lpf)
    assert asked == [pytest.approx(100.0, rel=1e-4)] * 3
    assert said == []


def test_nextpnr_falls_back_where_the_name_is_wrong(netlist, tmp_path):
    wrong = tmp_path / "wrong.lpf"
    wrong.write_text((FOLDER / "fabric.lpf").read_text().replace('"clk"', '"clock"'))
    asked, said = place_and_route(netlist("fabric", "ecp5"), "ecp5", "--lpf", wrong)
    assert asked == [12.0]
    assert any("'clock' does not exist" in line for line in said)
