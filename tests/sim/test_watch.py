"""A look inside a fabric that runs: a simulation, stopped on purpose or not."""

import json
import socket
import threading
import time
from dataclasses import replace

import pytest

import hdnhw
from hdnhw.cli import main
from hdnhw.networks.parse import parse
from hdnhw.sim.stimulus import case_of_traffic, make_case
from hdnhw.sim.streams import StreamBench
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.words import READ, Words, addresses_of
from hdnhw.traffic.packets import Terminals, Traffic
from hdnhw.verilog.fabric import emit_fabric, write_fabric

NEVER = 1 << 30


class WatchedBench(StreamBench):
    """A bench that runs while it is watched."""

    module = "hdnhw.sim.watched"


def watching(bench, case, tmp_path, look):
    """Simulate a case and call a function of where it is watched, and of the folder of the fabric."""
    write_fabric(bench.fabric, tmp_path / "fabric")
    bench.build.make()
    folder = bench.build.run_folder("watched")

    def write(place):
        options = bench.write(case, place)
        told = [one for one in options["plusargs"] if not one.startswith("+limit=")]
        return options | {"plusargs": [*told, f"+limit={NEVER}"]}

    (folder / "port").unlink(missing_ok=True)
    thread = threading.Thread(target=bench.simulate, args=("watched", write))
    thread.start()
    while not (folder / "port").exists():
        assert thread.is_alive()
        time.sleep(0.05)
    try:
        return look(f"tcp:127.0.0.1:{(folder / 'port').read_text()}", str(tmp_path / "fabric"))
    finally:
        thread.join()


def line():
    """Return the bench of a line of four nodes."""
    return WatchedBench(emit_fabric(FabricSpec(network=parse("mesh(4)"), monitor=True)))


def test_a_sink_that_takes_nothing_is_named(tmp_path, capsys):
    bench = line()
    address = bench.machine.address.of_node(3)
    own = [[(address, 0)] * 20 if node < 2 else [] for node in range(4)]
    case = case_of_traffic("stopped", bench.model, Traffic.from_lists(own), Terminals())
    case = replace(case, terminals=Terminals(sink_hold=NEVER))

    def look(place, folder):
        assert main(["watch", place, folder, "--tables", "2", "--interval", "0.3", "--longest", "200"]) == 0
        return capsys.readouterr().out

    said = watching(bench, case, tmp_path, look)
    table = said.rpartition("waits\n")[2].splitlines()
    rows = [line.split() for line in table[1:]]
    assert [row[0] for row in rows[:-1]] == [
        "3.ejection",
        "3.dim0_minus.0",
        "2.dim0_minus.0",
        "1.dim0_minus.0",
        "0.injection",
        "1.injection",
    ]
    assert "its terminal, which takes nothing" in table[1]
    assert all("a packet buffer of" in line for line in table[2:-1])
    assert table[-1].split() == ["circle", "[]"]
    assert min(int(row[2]) for row in rows[1:-1]) > 200


def test_a_fabric_that_moves_waits_for_nothing(tmp_path):
    bench = line()
    case = make_case("random", bench.model, packets=200)

    def look(place, folder):
        time.sleep(0.5)
        return hdnhw.watch(place, folder, interval=0.1, rate=0.2)

    found = watching(bench, case, tmp_path, look)
    assert (found.spec, found.waits, found.circle) == ("mesh(4)", [], [])
    assert found.cycles > 0
    assert {row["type"] for row in found.channels} == {"dim0_plus", "dim0_minus", "ejection", "injection"}
    assert all(0 < row["model"]["load"] < 0.5 for row in found.channels)
    counts = case.expected.counts
    assert found.most_packets["injection"] == counts.most[:, -1].max()


def test_words_are_asked_for_in_commands_of_255():
    told = []

    def serve(listener):
        with listener.accept()[0] as connection:
            while request := connection.recv(6):
                told.append(request)
                connection.sendall(b"".join(address.to_bytes(4) for address in addresses_of(request)))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        words = Words(f"tcp:127.0.0.1:{listener.getsockname()[1]}", baud=1)
        assert words.read(8, 300) == [8 + 4 * number for number in range(300)]
        words.close()
        thread.join()
    assert told == [bytes([READ, 255, 0, 0, 0, 2]), bytes([READ, 45, 0, 0, 1, 1])]


@pytest.mark.parametrize("place", ["tcp:127.0.0.1:1", "tcp:here", "no/such/line"])
def test_a_place_that_is_not_there(place):
    with pytest.raises(SpecError, match=f"{place} cannot be opened: "):
        Words(place, baud=115200)


def test_a_speed_that_is_none(tmp_path):
    (tmp_path / "line").write_text("")
    with pytest.raises(SpecError, match="123 baud is no speed of a serial line"):
        Words(str(tmp_path / "line"), baud=123)


def test_a_fabric_without_a_monitor_is_refused(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(emit_fabric(FabricSpec(network=parse("mesh(2)"))).manifest))
    with pytest.raises(SpecError, match="folder must be of a fabric with monitor"):
        hdnhw.watch("tcp:127.0.0.1:1", tmp_path)
