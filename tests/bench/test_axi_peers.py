"""The top levels around interconnects of other projects: their ports are those that the bench drives, each led on."""

import re
from collections import Counter
from pathlib import Path

import pytest

from bench.rtl.axi_peers import CHANNELS, Crossbar, Mesh, Peer
from hdnhw.support.errors import SpecError

LIBRARIES = ("axi", "common_cells", "floonoc")
PEERS = (Crossbar, Mesh)


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """Return folders of the libraries, with the packages and nothing else."""
    for package in Mesh.packages:
        (tmp_path / package).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / package).touch()
    return {name: tmp_path / name for name in LIBRARIES}


@pytest.mark.parametrize("kind", PEERS)
def test_every_port_is_there_once_and_led_on(kind: type[Peer]):
    text = kind(4, {}).text()
    ports = re.findall(r"(?:in|out)put logic (?:\[\d+:0\] )?([sm]_axi_\w+)", text)
    fields = [
        f"{channel}{field}" for channel, (own, _) in CHANNELS.items() for field in ("valid", "ready", *own.split())
    ]
    assert sorted(ports) == sorted(
        f"{side}_{number}_{name}" for side in ("s_axi", "m_axi") for number in range(4) for name in fields
    )
    assigned = re.findall(r"assign (\S+) = (\S+);", text)
    assert sorted(name for pair in assigned for name in pair if "_axi_" in name) == sorted(ports)
    targets = [target for target, _ in assigned]
    assert len(set(targets)) == len(targets)


@pytest.mark.parametrize("kind", PEERS)
def test_requests_go_in_at_managers_and_out_at_memories(kind: type[Peer]):
    text = kind(4, {}).text()
    for there, back in (("s_axi_2", "in"), ("m_axi_2", "out")):
        for port, wire, goes_to_memories in (
            ("awaddr", "req[2].aw.addr", True),
            ("arvalid", "req[2].ar_valid", True),
            ("wready", "rsp[2].w_ready", False),
            ("rdata", "rsp[2].r.data", False),
            ("bvalid", "rsp[2].b_valid", False),
            ("rready", "req[2].r_ready", True),
        ):
            pair = f"{back}_{wire}", f"{there}_{port}"
            is_input = (back == "in") == goes_to_memories
            assert "assign {} = {};".format(*(pair if is_input else pair[::-1])) in text
            assert re.search(rf"{'input' if is_input else 'output'} logic \[\d+:0\] {there}_{port}\b", text)


def test_ids_of_memories_tell_the_manager_of_the_crossbar():
    text = Crossbar(5, {}).text()
    assert "input logic [3:0] s_axi_4_arid" in text
    assert "output logic [6:0] m_axi_0_arid" in text


def test_links_of_the_mesh_join_neighbors():
    """Of every channel, the port it leaves by points to where it comes in, and back again; borders are closed."""
    text = Mesh(9, {}).text()
    places = [
        (int(x), int(y)) for x, y in reversed(re.findall(r"idx: '\{x: (\d), y: (\d), port_id: 0\}, start_addr", text))
    ]
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    for kind in ("req", "rsp"):
        channels = re.findall(rf"assign {kind}_i\[(\d)\]\[(\d)\] = {kind}_o\[(\d)\]\[(\d)\];", text)
        assert len(channels) == 24
        for node, port, other, leaves in (map(int, channel) for channel in channels):
            (x, y), (dx, dy) = places[other], steps[leaves]
            assert (x + dx, y + dy) == places[node]
            assert steps[port] == (-dx, -dy)
        closed = re.findall(rf"assign {kind}_i\[(\d)\]\[\d\] = '0;", text)
        assert sorted(Counter(closed).values()) == [1, 1, 1, 1, 2, 2, 2, 2]


def test_an_address_belongs_to_one_memory():
    rules = re.findall(r"start_addr: (\d+), end_addr: (\d+)", Crossbar(4, {}).text())
    assert [(int(start), int(end)) for start, end in rules] == [(n << 16, n + 1 << 16) for n in (3, 2, 1, 0)]


def test_packages_are_read_before_the_top_level(folders: dict[str, Path]):
    packages = ["cf_math_pkg.sv", "axi_pkg.sv"]
    assert list(Crossbar(4, folders).files()) == [*packages, "peer.sv"]
    assert list(Mesh(4, folders).files()) == [*packages, "floo_pkg.sv", "peer.sv"]


@pytest.mark.parametrize("package", Mesh.packages)
def test_a_folder_without_its_package_is_refused(package: str, folders: dict[str, Path]):
    folder, _, rest = package.partition("/")
    (folders[folder] / rest).unlink()
    with pytest.raises(SpecError, match=f"--{folder.replace('_', '-')} must be a folder with {rest}"):
        Mesh(4, folders).files()
