#!/bin/sh
# Emit the fabric, read the design as tools do, build it with its bench and run that; $1 is the folder for what is made.
set -eu
here=$(dirname "$0")
out=${1:-build/axi_wrapper}
hdnhw emit 'hdn(cube(2), [[0]])' -o "$out" --endpoints axi-stream --tuser-width 4 --wrapper
sources="$here/top.sv $out/fabric.sv $out/fabric_axi.sv $out/fabric_axi_wrap.sv"
hdnhw-tools verilator --lint-only -Wall --top-module top "-I$out" "$here/fabric.vlt" $sources
hdnhw-tools verilator --binary --timing --top-module bench "-I$out" --Mdir "$out/bench" "$here/bench.sv" $sources
"$out/bench/Vbench"
