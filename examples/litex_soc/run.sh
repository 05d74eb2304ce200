#!/bin/sh
# Emit the fabric, let LiteX make Verilog of the system, build both and run them; $1 is the folder for what is made.
set -eu
here=$(dirname "$0")
out=${1:-build/litex_soc}
hdnhw emit 'torus(3)' -o "$out" --endpoints axi4 --flit-width 32  # as wide as LiteX's bridges
python "$here/soc.py" "$out" "$out"
hdnhw-tools verilator --binary --timing --timescale-override 1ns/1ps --top-module bench -Wno-lint -Wno-COMBDLY --output-split 0 --Mdir "$out/bench" \
  "$here/bench.sv" $(cat "$out/sources")
"$out/bench/Vbench"
