"""A sweep on a Dask cluster whose processes are killed."""

import json
import re
import subprocess
import sys
import time
from threading import Timer

import pytest

from hdnhw.support.processes import PATIENCE, limited

SECONDS = 200
"""Of CPU time, after which a process is ended."""
NO_WORKER = "the cluster has no worker: waiting for one\n"
MEASURED = re.compile(r"\d+: mesh\(3, 3\), offered .*\n")
RATES = ",".join(str(number / 1000) for number in range(1, 500))
"""More than are measured before the scheduler is killed."""


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a module as a process; none outlives the test."""
    processes = []

    def start(*arguments):
        command = [sys.executable, "-m", *arguments]
        with (tmp_path / "log").open("a") as log:
            said = subprocess.PIPE if arguments[0] == "hdnhw" else log
            process = subprocess.Popen(limited(command, SECONDS), cwd=tmp_path, stdout=log, stderr=said, text=True)
        processes.append(process)
        return process

    def end():
        for process in processes:
            process.kill()

    limit = Timer(PATIENCE * SECONDS, end)
    limit.start()
    yield start
    limit.cancel()
    end()
    for process in processes:
        process.communicate()


def next_other(sweep):
    """Return the next line that a sweep says that is no measurement."""
    while MEASURED.fullmatch(line := sweep.stderr.readline()):
        pass
    return line


def test_workers_and_the_scheduler_may_die(tmp_path, start):
    quiet = ("--no-dashboard", "--scheduler-file", "cluster.json")
    scheduler, file = (
        start("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", *quiet),
        tmp_path / "cluster.json",
    )
    while not file.exists() or not file.read_text().endswith("}"):
        assert scheduler.poll() is None
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]
    line = f"sweep|mesh(3, 3)|--rates|{RATES}|--cycles|20000000|--results|r.parquet|--cluster|{address}"
    sweep = start("hdnhw", *line.split("|"))
    assert next_other(sweep) == NO_WORKER
    for _ in range(2):
        worker = start("dask", "worker", "--no-nanny", "--nthreads", "1", *quiet)
        for _ in range(12):  # a worker that is gone between two looks is not missed
            assert MEASURED.fullmatch(sweep.stderr.readline())
        worker.kill()
        assert next_other(sweep) == NO_WORKER
    scheduler.kill()
    assert next_other(sweep) == f"hdnhw: the scheduler of the cluster at {address} is gone\n"
    assert sweep.wait() == 2
