"""Limits by work: what would take all memory or hours is refused in one line, before anything is made of it."""

import json
import resource
import subprocess
import sys

import pytest

from hdnhw.cli import main

MEMORY = 8 << 30
SECONDS = 60
"""Far more than a refusal takes, and far less than the work."""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["info", "complete(30000)"], "complete(30000) has 29999 ports a node; at most 4096 are allowed"),
        (["info", "ghc(4000, 4000)"], "ghc(4000, 4000) has 7998 ports a node; at most 4096 are allowed"),
        (
            ["neighbors", "complete(10000000)", "0"],
            "complete(10000000) has 9999999 ports a node; at most 4096 are allowed",
        ),
        (["routing", "complete(10000000000)"], "9999999999 ports a node; at most 4096 are allowed"),
        (["waypoints", "complete(10000000000)", "0"], "9999999999 ports a node; at most 4096 are allowed"),
        (["simulate", "cube(28)"], "cube(28) has 7516192768 ports in all; tables are made of at most 268435456"),
        (["simulate", "mesh(1000000000)", "--faults", "8"], "mesh(1000000000) has 2000000000 ports in all"),
        (
            ["picture", "complete(1024)", "-o", "c.svg"],
            "picture must have at most 32768 ports; complete(1024) has 1047552",
        ),
        (["faults", "cube(20)"], "waypoints need at most 8192 nodes; cube(20) has 1048576"),
        (["emit", "mesh(4096)", "-o", "out"], "fabric must have at most 65000 bits of inputs, not "),
        (["paths", "complete(4096)", "0", "5"], "paths need at most 1024 ports a node; complete(4096) has 4095"),
        (
            ["paths", "cube(22)", "0", "1", "--algorithm", "flow"],
            "paths by a flow need at most 536870912 ports in all, for each of a node's; cube(22) has 2030043136",
        ),
        (["emit", "complete(64)", "-o", "out"], "a router must have at most 32 ports in Verilog; complete(64) has 63"),
        (
            ["simulate", "rdn(torus(4, 8), 2)", "--lanes", "2", "--queueing", "voq"],
            "rdn(torus(4, 8), 2) needs ",
        ),
        (
            ["routing", f"mesh({', '.join('3' * 9)})"],
            "a network must have at most 6561 kinds of routers; mesh(3, 3, 3, 3, 3, 3, 3, 3, 3) has 19683",
        ),
        (["routing", "ghc(100, 100)"], "it has 198 ports a node, and a solver proves it for at most 128"),
        (["faults", "cube(3)", "--workers", "2147483648"], "workers must be 1 to 1024, not 2147483648"),
        (["emit", "cube(14)", "-o", "out"], "a fabric must have at most 8192 routers; cube(14) has 16384"),
    ],
)
def test_refused_before_the_work(tmp_path, line, said):
    done = subprocess.run(
        [sys.executable, "-m", "hdnhw", *line],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_many_kinds_of_routers_leave_the_rest_of_info(capsys):
    assert main(["info", f"mesh({', '.join('4' * 14)})", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["diameter_formula"] == 42
    assert err.splitlines()[-1].endswith("has 4782969")


def test_a_load_that_never_ends_up_anywhere(monkeypatch, capsys):
    monkeypatch.setattr("hdnhw.model.fabric.MOST_WAITING", 1000)
    assert main(["simulate", "mesh(64)", "--rate", "1", "--cycles", "5000"]) == 2
    said = "hdnhw: more than 1000 packets wait at once: the load must be lower, or the run shorter\n"
    assert capsys.readouterr() == ("", said)
    monkeypatch.undo()
    assert main(["simulate", "mesh(64)", "--rate", "0.001", "--cycles", "5000"]) == 0
