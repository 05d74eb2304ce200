"""1000 random command lines, or damaged files: each accepted, or refused in one line with nothing left; ten minutes.

Commands and options are those of the parser itself, so that a new one is tried as soon as there is one; networks are
those of the families. Values are mostly plausible and sometimes anything. Each line runs in a process of its own, in a
folder with a few files, some of them damaged, with 8 GiB of address space and without a compiler: what needs one ends
there.

With ``--files`` lines are plain, and one of the files that they read is damaged (tests/damage.py): manifests,
certificates, results, traces, graphs, tables of energy.

A line that still works when its time is up is told to end, and must. One that ends with status 70, prints a traceback,
writes more than a line when it refuses, leaves a file then, prints JSON that is none, or does not end, is a fault. It
is printed as an entry of tests/regressions.toml, which repeats it whatever later versions draw. Time is that of
processors.
"""

import argparse
import contextlib
import inspect
import json
import os
import random
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hdnhw.cli import command_parser, main
from hdnhw.measurement.results import ResultsFile
from hdnhw.networks.registry import makers
from hdnhw.support.processes import PATIENCE
from tests import damage

MEMORY = 8 << 30
"""Bytes that a line may take, beside those of the process that runs it, which in a long run of tests has many."""

SECONDS, GRACE = 20, 60
"""CPU seconds of a line before it is told to end, and then before it must have ended."""

LOOKS = 0.2
"""Seconds between two looks at the time that a line has taken."""

OF_FILES = "files "
"""How the seed begins of a case that is a damaged file."""

NOT_UTF8 = "\udc80"
"""How Python spells a byte that is no UTF-8; an entry has this escape, as TOML has no such character."""

SLOW = {"build": 0.1, "demo": 0.1, "machines": 0.1, "papers": 0.02, "prove": 0.1, "synth": 0.1}
"""How often commands are drawn that take longer than others, 1 of which are drawn."""

SOUND = ["cube(3)", "torus(4, 4)", "mesh(3, 2)", "complete(4)", "rdn(cube(1), 1)"]
SOUND += ["hdn(cube(2), [[0]])", "dualcube(2)", "star(4)", "rdn(star(3), 1)"]
HUGE = ["complete(30000)", "ghc(4000, 4000)", "cube(28)", "mesh(1000000000)"]
HUGE += ["complete(10000000000)", "cube(99999999999)"]
BROKEN = ["", "torus(4x4)", "mesh 4 4", "cube(3", "cube(3))", "cube", "3", "[", "cube(-1)"]
BROKEN += ["cube(3.5)", "sphere(3)", "product()"]
NUMBERS = ["", "-1", "0", "1e999", "nan", "inf", "-inf", "1e-300", "5e-324", "0x10", "1e3", " 7 "]
NUMBERS += ["+1", "1_000", "٣", "x", "½"]
FILES = ["missing.svg", "a.svg", "a.png", "a.html", "a.csv", "a.parquet", "b/c.svg", "grün.svg"]
FILES += ["a.svg/x.svg", "", ".", ".."]
ODD_FILES = ["/dev/zero", "/dev/full", "/dev/null", "/proc/x.svg", "/proc/self/mem"]
ODD_FILES += ["x" * 300 + ".svg", "a\nb.svg", f"{NOT_UTF8}.svg"]
PATTERNS = ["uniform", "transpose", "hotspot(0, 0.5)", "cluster", "exchange", "tornado"]
PATTERNS += ["uniform()", "hotspot(9999, 2)", "onoff(0.1, 5)"]
MODULES = ("noc", "module", "a b", "1a", "")
LENGTHS = ("1", "1,64:0.5", "8:0.5,64:0.5", "0", "64,", "1e9")


class Draw:
    """Values of the options of one line."""

    def __init__(self, rng, files):
        self.rng, self.files = rng, files

    def any_of(self, *choices):
        """Return the value of one of some functions, or one of some values."""
        chosen = self.rng.choice(choices)
        return chosen() if callable(chosen) else chosen

    def number(self):
        """Return a number as text, mostly small."""
        small = str(self.rng.choice((1, 1, 2, 2, 3, 4, 5, 8, 16, 100)))
        large = self.rng.choice(("10000", "1000000000", "2147483648", str(2**63), str(10**30), "1" + "0" * 5000))
        return self.rng.choices((small, large, self.rng.choice(NUMBERS)), (12, 1, 1))[0]

    def share(self):
        """Return a number of 0 to 1 as text, mostly."""
        return self.rng.choices((f"{self.rng.random():.3f}", self.number()), (5, 1))[0]

    def argument(self, depth):
        """Return an argument of a constructor call."""
        kind = self.rng.random()
        if kind < 0.6:
            return str(self.rng.choice((1, 2, 2, 3, 3, 4, 5)))
        if kind < 0.75:
            return str([self.rng.sample(range(4), self.rng.randrange(3)) for _ in range(self.rng.randrange(3))])
        return self.spec(depth + 1) if depth < 3 else self.number()

    def spec(self, depth=0):
        """Return the text of a network."""
        kind = self.rng.random()
        if kind < 0.5:
            return self.rng.choice(SOUND)
        if kind < 0.6:
            return self.rng.choice((*HUGE, *BROKEN, "product(" * 2000 + ")" * 2000, "torus(" + "2," * 40 + "2)"))
        if kind < 0.7:
            return self.damaged(self.rng.choice(SOUND))
        maker = self.rng.choice(list(makers().values()))
        given, named = [], []
        for parameter in inspect.signature(maker).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                if self.rng.random() < 0.2:
                    named.append(f"{parameter.name}={self.any_of('True', 'False', self.number)}")
            else:
                many = self.rng.randrange(1, 4) if parameter.kind is parameter.VAR_POSITIONAL else 1
                given += [self.argument(depth) for _ in range(many)]
        return f"{maker.__name__}({', '.join(given + named)})"

    def damaged(self, text):
        """Return a text with a character changed, left out or twice."""
        place = self.rng.randrange(len(text) + 1)
        return (
            text[:place]
            + self.rng.choice(("", "(", ")", ",", " ", "-", "9", "é", "\n", "["))
            + text[place + self.rng.randrange(2) :]
        )

    def node(self):
        """Return a node as text."""
        return self.any_of(
            lambda: str(self.rng.randrange(10)), "0.1", "1.0.1", "0.0/1.0", "1/1", self.number, "dim0", "0."
        )

    def file(self):
        """Return the name of a file."""
        kinds = [self.rng.choice(files) for files in (FILES, self.files, ODD_FILES)]
        return self.rng.choices(kinds, (5, 4, 1))[0]

    def value(self, action):
        """Return a value of an option or argument of the parser."""
        if action.choices is not None and self.rng.random() < 0.9:
            return str(self.rng.choice(list(action.choices)))
        kinds = {
            "SPEC": self.spec,
            "NODE": self.node,
            "SRC": self.node,
            "DST": self.node,
            "FILE": self.file,
            "DIR": lambda: self.any_of("out", "out", "b/c", self.file),
            "MODES": lambda: self.any_of("f", "O", "ff", "fO", "q", ""),
            "N[,C]": lambda: self.any_of("1", "0,2", "1,1", self.number, f"{self.number()},{self.number()}"),
            "R,R,...": lambda: ",".join(self.share() for _ in range(self.rng.randrange(1, 4))),
            "NODE:PORT": lambda: f"{self.node()}:{self.any_of('dim0', 'cross1', self.number)}",
            "LEVEL.PORT": lambda: self.any_of("1.dim0", "2.dim1", "0.x", self.number),
            "OP,...": lambda: self.any_of("broadcast", "scatter,allgather", "exchange", "x,", self.number),
            "ADDRESS": lambda: self.any_of("tcp://127.0.0.1:1", "nowhere", ""),
            "NAME": lambda: self.any_of("HDN", "DC", self.number),
            "BOARD": lambda: self.any_of("ice40-hx8k", "ulx3s-85f", self.number),
            "OPTIONS": lambda: self.any_of("", "--buffers 8", "--packet-length 4 --crc", "--flit-width 7", self.number),
            "KEY": lambda: self.any_of("nodes", "cr_w", "diameter", self.number),
        }
        named = {
            "pattern": PATTERNS,
            "injection": PATTERNS,
            "lengths": LENGTHS,
            "message-sizes": LENGTHS,
            "name": MODULES,
        }
        if action.metavar in kinds:
            return kinds[action.metavar]()
        if (name := action.option_strings[-1].lstrip("-") if action.option_strings else "") in named:
            return self.rng.choice(named[name])
        return self.number() if action.type is int else self.share()

    def values(self, action):
        """Return the words that an action of the parser takes."""
        if action.nargs in ("+", "*"):
            return [self.value(action) for _ in range(self.rng.randrange(1, 4))]
        if action.nargs == 0 or (action.nargs == "?" and self.rng.random() < 0.5):
            return []
        return [self.value(action)]

    def line(self, parser):
        """Return a command line."""
        (commands,) = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        names = list(commands)
        name = self.rng.choices(names, [SLOW.get(name, 1) for name in names])[0]
        words, wanted = [], self.rng.choice((0.0, 0.1, 0.2, 0.4))
        for action in commands[name]._actions:
            if not action.option_strings:
                words += self.values(action)
            elif "--help" in action.option_strings:
                words += ["--help"] * (self.rng.random() < 0.01)
            elif action.required or action.dest == "json" or self.rng.random() < wanted:
                words += [self.rng.choice(action.option_strings), *self.values(action)]
        if self.rng.random() < 0.03 and words:
            words[self.rng.randrange(len(words))] = self.any_of("--wrong", "-x", "--", self.number, NOT_UTF8)
        if "--cycles" in commands[name]._option_string_actions and self.rng.random() < 0.7:
            words += ["--cycles", str(self.rng.choice((100, 500, 2000)))]
        return [name, *words]


def make_files(folder):
    """Write traces and results into a folder; return their names."""
    import pyarrow
    from pyarrow import parquet

    text = "# cycle source destination flits\n0 0 1 8\n5 1 0 16\n5 0 1 1\n"
    (folder / "trace.txt").write_text(text)
    columns = {"cycle": [0, 5, 9], "source": [0, 1, 0], "destination": [1, 0, 1], "flits": [8, 8, 1]}
    parquet.write_table(pyarrow.table(columns), folder / "trace.parquet")
    ResultsFile(folder / "results.parquet").add("a", {"created": 1, "rate": 0.1})
    (folder / "trace.tra.bz2").write_bytes(b"BZh91AY&SY" + bytes(range(256)))
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def flip(rng, folder):
    """Flip some bytes of one file."""
    path = rng.choice(sorted(path for path in folder.iterdir() if path.is_file()))
    data = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 5)):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data)


def contents(folder):
    """Return what a folder holds, but for what benches and boards keep in build."""
    paths = (path for path in folder.rglob("*") if path.relative_to(folder).parts[0] != "build")
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


@dataclass
class Case:
    """A line that runs, or has run, in a folder; `drawn` is the seed of what is damaged there, if anything is."""

    folder: Path
    words: list
    streams: str = "as they are"
    drawn: str = ""
    before: dict = None
    process: int = 0
    started: float = 0.0
    looked: float = 0.0
    told: float = 0.0
    killed: bool = False
    said: str = ""


def prepare(root, drawn):
    """Make a folder of files for a line, one of which may be damaged.

    Returns
    -------
    folder : Path
    rng : random.Random
        For what else is drawn.
    words : list of str
        Of the line that reads what is damaged, if `drawn` begins with :data:`OF_FILES`.
    """
    folder, rng = Path(tempfile.mkdtemp(dir=root)) / "folder", random.Random(drawn)
    shutil.copytree(root / "files", folder)
    words = damage.spoil(rng, folder) if drawn.startswith(OF_FILES) else []
    if drawn and not words and rng.random() < 0.3:
        flip(rng, folder)
    return folder, rng, words


def start(case):
    """Run the line of a case in a process of its own."""
    outputs = case.folder.with_suffix(".out"), case.folder.with_suffix(".err")
    case.before, case.started, case.process = contents(case.folder), time.monotonic(), os.fork()
    if case.process:
        return
    status = 99
    try:
        os.setsid()
        os.chdir(case.folder)
        for number, path in zip((1, 2), outputs, strict=True):
            os.dup2(
                os.open("/dev/full" if case.streams == f"full {number}" else path, os.O_WRONLY | os.O_CREAT), number
            )
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        encoding = "ascii" if case.streams == "ascii" else "utf-8"
        sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        if case.streams == "closed":
            sys.stdout = None
        os.environ["PATH"] = os.devnull
        most = MEMORY + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            status = main(case.words)
        except SystemExit as exit:
            status = exit.code if isinstance(exit.code, int) else 98
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status or 0)


def verdict(case, status):
    """Return what became of a line: ``accepted``, ``refused``, ``stopped``, or what is wrong."""
    outputs = case.folder.with_suffix(".out"), case.folder.with_suffix(".err")
    out, err = (path.read_text(errors="replace") if path.exists() else "" for path in outputs)
    case.said = out + err
    if case.killed:
        return f"did not end in {GRACE} CPU seconds when it was told to"
    if "Traceback" in case.said or "Exception ignored" in err or status not in (0, 1, 2, 143):
        return f"status {status}"
    if case.told:
        return "stopped" if status in (0, 1, 2, 143) else f"status {status} when it was told to end"
    if case.streams == "as they are":
        said = [line.startswith("hdnhw") for line in err.splitlines()]  # before it there may be how far the work is
        if status == 2 and (out or said[-1:] != [True] or said.count(True) != 1):
            return f"refused in {len(said)} lines, and {len(out)} characters of output"
        if status in (0, 1) and "--json" in case.words and "--help" not in case.words:
            try:
                json.loads(out, parse_constant=lambda text: (_ for _ in ()).throw(ValueError(text)))
            except ValueError as error:
                return f"JSON: {error}"
    after = contents(case.folder)
    if status == 2 and after != case.before and not case.streams.startswith("full"):  # what cannot be told is done
        return f"refused, and changed {sorted(name for name in after if after[name] != case.before.get(name, ''))}"
    return "refused" if status == 2 else "accepted"


def cpu_seconds(session):
    """Return what the processes of a session have taken, with those that they have waited for."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = path.read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15])) if int(fields[3]) == session else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def press(case, seconds):
    """Tell a line to end that has taken its time, and end it when it has taken too much more."""
    now = time.monotonic()
    if now < case.looked + LOOKS:
        return
    case.looked = now
    taken = max(cpu_seconds(case.process), (now - case.started) / PATIENCE)
    if not case.told and taken > seconds:
        case.told = taken
        os.kill(case.process, signal.SIGTERM)
    elif case.told and not case.killed and taken > case.told + GRACE:
        case.killed = True
        os.killpg(case.process, signal.SIGKILL)


def follow(cases, seconds, processes=1):
    """Run cases of an iterator, some at a time; yield each with what became of it."""
    running = []
    while True:
        while len(running) < processes and (case := next(cases, None)):
            start(case)
            running.append(case)
        if not running:
            return
        time.sleep(0.005)
        for case in list(running):
            ended, state = os.waitpid(case.process, os.WNOHANG)
            if not ended:
                press(case, seconds)
                continue
            with contextlib.suppress(ProcessLookupError):
                os.killpg(case.process, signal.SIGKILL)
            running.remove(case)
            yield case, verdict(case, os.waitstatus_to_exitcode(state))
            shutil.rmtree(case.folder.parent, ignore_errors=True)


@contextlib.contextmanager
def files_of_lines(make):
    """Make a folder, and in it, by a function, the files that lines are given; return the folder and their names."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        (Path(name) / "files").mkdir()
        yield Path(name), make(Path(name) / "files")


def run_line(line, streams="as they are", drawn=""):
    """Run one line as others are run; return what became of it, and what it said."""
    with files_of_lines(damage.make_readable if drawn.startswith(OF_FILES) else make_files) as (root, _):
        words = shlex.split(line.replace(ascii(NOT_UTF8)[1:-1], NOT_UTF8))
        case = Case(prepare(root, drawn)[0], words[1:], streams, drawn)
        ((case, what),) = follow(iter([case]), SECONDS)
        return what, case.said


def entry(case, what):
    """Return a line as an entry of tests/regressions.toml, which are strings of JSON as well."""
    line = shlex.join(["hdnhw", *case.words]).replace(NOT_UTF8, ascii(NOT_UTF8)[1:-1])
    keys = {"what": what, "line": line, "streams": case.streams, "drawn": case.drawn}
    return "\n".join(["[[line]]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())])


def run(seed, count, seconds=SECONDS, processes=2, parser=None, of_files=False):
    """Run lines; return how many were accepted and so on, and what was wrong with the others."""
    parser, counts, faults = parser or command_parser(), Counter(), []
    with files_of_lines(damage.make_readable if of_files else make_files) as (root, files):

        def draw(number):
            drawn = f"{OF_FILES * of_files}{seed} {number}"
            folder, rng, words = prepare(root, drawn)
            if of_files:
                return Case(folder, words, drawn=drawn)
            words = [word.replace("\0", "") for word in Draw(rng, files).line(parser)]
            streams = rng.choices(("as they are", "closed", "full 1", "full 2", "ascii"), (20, 1, 1, 1, 1))[0]
            return Case(folder, words, streams, drawn)

        for case, what in follow(map(draw, range(count)), seconds, processes):
            is_fault = what not in ("accepted", "refused", "stopped")
            counts["fault" if is_fault else what] += 1
            if is_fault:
                faults.append(what)
                print(f"{entry(case, what)}\n  {case.said[-1500:]!a:.1500}", flush=True)
            elif what == "stopped":
                line = shlex.join(case.words)
                print(f"{case.drawn}: stopped after {seconds} CPU s: {line[:300]!a}", flush=True)
    return counts, faults


def fuzz(arguments=None):
    """Print the counts; return 1 if there are faults."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="of the lines (default 1)")
    parser.add_argument("--count", type=int, default=1000, help="lines (default 1000)")
    parser.add_argument("--files", action="store_true", help="damage files in place of lines")
    options = parser.parse_args(arguments)
    counts, _ = run(options.seed, options.count, of_files=options.files)
    told = ", ".join(f"{name} {counts[name]}" for name in ("accepted", "refused", "stopped", "fault"))
    print(f"{counts.total()} {'files' if options.files else 'lines'} with seed {options.seed}: {told}")
    return int(counts["fault"] > 0)


if __name__ == "__main__":
    sys.exit(fuzz())
