#!/bin/sh
# Emit the fabric, build four accelerators between two memories with their bench, run it and compare with NumPy; $1 is the folder for what is made.
set -eu
here=$(dirname "$0")
out=${1:-build/accelerators}
hdnhw system "$here/system.toml" -o "$out"
hdnhw-tools verilator --binary --timing --top-module bench -Wno-lint "-I$out" --output-split 0 --Mdir "$out/bench" "$here/../memory.sv" \
  "$here/bench.sv" "$here/soc.sv" "$here/accelerator.sv" "$out/noc.sv" "$out/noc_system.sv"
python "$here/check.py" "$out/samples.bin"
"$out/bench/Vbench" "+samples=$out/samples.bin" "+file=$out/results.hex"
python "$here/check.py" "$out/samples.bin" "$out/results.hex"
