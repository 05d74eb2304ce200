#!/bin/sh
# Compile the program, emit the fabric, build the system with its bench and run that; $1 is the folder for what is made.
# ZIG's caches go there, too. What stands behind $1 goes to the simulation: +dram_stuck=ADDRESS, +dram_alias=MASK.
set -eu
here=$(dirname "$0")
out=${1:-build/riscv}
[ $# -eq 0 ] || shift
hdnhw system "$here/system.toml" -o "$out"
export ZIG_GLOBAL_CACHE_DIR="$out/zig" ZIG_LOCAL_CACHE_DIR="$out/zig"
python -m ziglang cc -target riscv32-freestanding-none -mcpu=generic_rv32 -Os -Wall -c "$here/program.c" -o "$out/program.o"
python -m ziglang ld.lld -m elf32lriscv --oformat binary -T "$here/program.ld" "$out/program.o" -o "$out/program.bin"
core=$(python -c 'from pythondata_cpu_picorv32 import data_location; print(data_location)')
hdnhw-tools verilator --binary --timing --timescale-override 1ns/1ps --top-module bench -Wno-lint "-I$out" --output-split 0 --Mdir "$out/bench" "$here/../memory.sv" \
  "$here/bench.sv" "$here/soc.sv" "$here/dma.sv" "$core/picorv32.v" "$out/noc.sv" "$out/noc_system.sv"
"$out/bench/Vbench" "+rom=$out/program.bin" "$@"
