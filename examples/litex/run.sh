#!/bin/sh
# Emit the fabric, let LiteX make Verilog of the design, build both and run them; $1 is the folder for what is made.
set -eu
here=$(dirname "$0")
out=${1:-build/litex}
hdnhw emit 'cube(2)' -o "$out" --endpoints axi-stream --max-frame 64
python "$here/chip.py" "$out" "$out"
hdnhw-tools verilator --binary --timing --timescale-override 1ns/1ps --top-module bench -Wno-lint --Mdir "$out/bench" \
  "$here/bench.sv" $(cat "$out/sources")
"$out/bench/Vbench"
