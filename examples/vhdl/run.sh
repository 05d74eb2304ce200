#!/bin/sh
# Emit the fabric, let GHDL read the design and make Verilog of it, build that with the fabric and run it; $1 is the folder
# for what is made. A simulator of both languages reads the VHDL as it is.
set -eu
here=$(dirname "$0")
out=${1:-build/vhdl}
hdnhw emit 'cube(2)' -o "$out" --name noc --endpoints axi-stream --max-frame 64 --wrapper
ghdl -a --std=93 "--workdir=$out" "$out/noc_axi_pkg.vhd" "$out/noc_axi_vhdl.vhd" "$here/chip.vhd"
ghdl --synth --std=93 "--workdir=$out" -Wno-binding --out=verilog chip > "$out/chip.v"
hdnhw-tools verilator --binary --timing --top-module bench -Wno-fatal -Wno-lint --Mdir "$out/bench" \
  "$here/bench.sv" "$out/chip.v" "$out/noc.sv" "$out/noc_axi.sv"
"$out/bench/Vbench"
