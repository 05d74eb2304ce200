"""Yosys as it comes with Amaranth, for many scripts: its start takes longer than most modules, and is done once.

Run as a program, it reads a list of scripts in JSON and writes what Yosys prints for each, from a new start.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

IO_ERROR = 74
"""Exit status of the program if the system refuses a file; its error's number is all that it prints."""


def run_scripts(scripts: Sequence[str]) -> list[str]:
    """Return what the Yosys that Amaranth finds prints for each script.

    Raises
    ------
    amaranth.back.verilog.YosysError
        If it refuses one.
    OSError
        If a file cannot be written.
    """
    from amaranth.back.verilog import YosysError, find_yosys

    yosys = find_yosys(lambda version: version >= (0, 40))
    package = getattr(yosys, "YOSYS_PACKAGE", None)
    if package is None:
        return [str(yosys.run(["-q", "-"], script, ignore_warnings=True)) for script in scripts]
    command = [sys.executable, "-m", "hdnhw.verilog.yosys", package]
    done = subprocess.run(command, input=json.dumps(list(scripts)), capture_output=True, text=True, check=False)
    if done.returncode == IO_ERROR:
        number = int(done.stderr)
        raise OSError(number, os.strerror(number), tempfile.gettempdir())
    if done.returncode:
        raise YosysError(done.stderr.strip())
    return list(map(str, json.loads(done.stdout)))


def main() -> None:
    """Run the scripts, each in a new instance of the program of a package, up to one that is refused."""
    from wasmtime import Config, Engine, ExitTrap, Func, Linker, Module, Store, WasiConfig

    config = Config()
    config.cache = True
    engine = Engine(config)
    linker = Linker(engine)
    linker.define_wasi()
    module = Module(engine, (files(sys.argv[1]) / "yosys.wasm").read_bytes())
    texts = []
    with tempfile.TemporaryDirectory() as name:
        script, printed = Path(name) / "script", Path(name) / "printed"
        for text in json.load(sys.stdin):
            script.write_text(text)
            store, wasi = Store(engine), WasiConfig()
            wasi.argv = ("yosys", "-q", "-")
            wasi.stdin_file, wasi.stdout_file = str(script), str(printed)
            wasi.inherit_stderr()
            store.set_wasi(wasi)
            start = linker.instantiate(store, module).exports(store)["_start"]
            assert isinstance(start, Func)
            try:
                start(store)
            except ExitTrap as end:
                if end.code:
                    sys.exit(end.code)
            texts.append(printed.read_text())
    json.dump(texts, sys.stdout)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # the runtime has errors of its own, and the system's number in their text
        number = re.search(r"\[Errno (\d+)\]|\(os error (\d+)\)", str(error))
        if number is None:
            raise
        print(number[1] or number[2], file=sys.stderr)
        sys.exit(IO_ERROR)
