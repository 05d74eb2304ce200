"""The top level around the crossbar of another project: its ports are those that the bench drives, each led to it."""

import re
from pathlib import Path

import pytest

from bench.rtl.axi_crossbar import CHANNELS, PACKAGES, Crossbar
from hdnhw.support.errors import SpecError


def test_every_port_is_there_once_and_led_to_the_crossbar():
    text = Crossbar(3, 2, Path("axi"), Path("common_cells")).text()
    ports = re.findall(r"(?:in|out)put logic (?:\[\d+:0\] )?([sm]_axi_\w+)", text)
    fields = [
        f"{channel}{field}" for channel, (own, _) in CHANNELS.items() for field in ("valid", "ready", *own.split())
    ]
    counts = {"s_axi": 3, "m_axi": 2}
    assert sorted(ports) == sorted(
        f"{side}_{n}_{name}" for side in counts for n in range(counts[side]) for name in fields
    )
    assigned = re.findall(r"assign (\S+) = (\S+);", text)
    assert sorted(name for pair in assigned for name in pair if "_axi_" in name) == sorted(ports)
    targets = [target for target, _ in assigned]
    assert len(set(targets)) == len(targets)


def test_ids_of_memories_tell_the_manager():
    text = Crossbar(5, 1, Path("axi"), Path("common_cells"), id_bits=2).text()
    assert "input logic [1:0] s_axi_4_arid" in text
    assert "output logic [4:0] m_axi_0_arid" in text


@pytest.mark.parametrize("package", PACKAGES)
def test_a_folder_without_its_package_is_refused(package, tmp_path):
    for other in PACKAGES:
        if other != package:
            (tmp_path / other).parent.mkdir(parents=True)
            (tmp_path / other).touch()
    folder, _, rest = package.partition("/")
    with pytest.raises(SpecError, match=f"--{folder.replace('_', '-')} must be a folder with {rest}"):
        Crossbar(4, 4, tmp_path / "axi", tmp_path / "common_cells").files()
