#!/bin/sh
# Emit a chip, let LiteX make Verilog of two of them, build both and run them; $1 is the folder for what is made.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-build/litex_link}
hdnhw emit 'torus(4)' -o "$out" --chips dim0=2
cd "$out" # LiteX writes tables of memories here, and they are read from here
python "$here/chips.py" . .
hdnhw-tools verilator --binary --timing --timescale-override 1ns/1ps --top-module bench -Wno-lint -Wno-COMBDLY --Mdir bench \
  "$here/bench.sv" $(cat sources)
bench/Vbench
