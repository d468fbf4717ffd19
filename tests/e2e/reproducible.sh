#!/usr/bin/env bash
# reproducible.sh [MODEL]...: -reproducible makes the same bits everywhere.
#
# Networks, or these models, are compiled with it for levels of x86-64 and for
# AArch64 and RISC-V, with one thread and three, and run on this machine or in
# QEMU. Each output must have the bits that x86-64 makes. Other processors run
# bundles without threads, linked with cross/run_cross.c by clang and lld.
#
# $GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if bits
# differ, 77 if there is no x86-64 and no emulator.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${GLOWISH_BIN:-build/release/bin}
work=$PWD/build/e2e/reproducible
source=tests/e2e/cross

# Replaces RANDOM by as many numbers as the constant has.
fill() { # file
  awk 'BEGIN { srand(7) }
    /= RANDOM/ {
      match($0, /<[0-9x]*>/)
      count = split(substr($0, RSTART + 1, RLENGTH - 2), dims, "x")
      n = 1
      for (i = 1; i <= count; ++i) n *= dims[i]
      printf "%s= [", substr($0, 1, index($0, "=") - 1)
      least = /uint4</ ? 0 : /int4</ ? -8 : -100
      range = /int4</ ? 16 : 200
      for (i = 0; i < n; ++i)
        printf /INTEGERS/ ? "%s%d" : "%s%.6f", i ? ", " : "",
          /INTEGERS/ ? int(rand() * range) + least : (rand() - 0.5) / 3
      print "]"
      next
    }
    { print }' "$1"
}

raw() { # the elements of a .npy file
  tail -c +$(($(od -An -tu2 -j8 -N2 "$1") + 11)) "$1"
}

ran=0 wrong=0
verdict() { # network, target, whether it is right
  ((++ran))
  [[ $3 == right ]] || ((++wrong))
  printf '%-16s %-44s %s\n' "$1" "$2" "$3"
}

# Compares what a level of this machine makes with the expected outputs.
runHere() { # network, model, level, threads
  local folder=$work/$1/$3-$4 result=right file
  "$bin/model-runner" -model="$2" -reproducible -mcpu="$3" -threads="$4" \
    -random-inputs=7 -output-dir="$folder" >"$folder.log" 2>&1 ||
    { cat "$folder.log"; exit 1; }
  for file in "$work/$1"/expected/*.npy; do
    cmp -s "$file" "$folder/${file##*/}" || result="WRONG: ${file##*/} differs"
  done
  verdict "$1" "$3, $4 threads" "$result"
}

stated() { # folder, region: its size, from the first comment of the header
  sed -n "s/^ \* $2 *\([0-9]*\) bytes.*/\1/p" "$1/network.h"
}

# The inputs and expected outputs in the order of the bundle's symbols, which is
# the same for all targets.
prepareData() { # network, header
  local folder=$work/$1 direction name type names=() declared=() saved=()
  : >"$folder/inputs"
  : >"$folder/outputs"
  # " * input 'NAME': TYPE, ... elements, ..."
  while IFS=$'\t' read -r direction name type; do
    if [[ $direction == output ]]; then
      raw "$folder/expected/$name.npy" >>"$folder/outputs"
      continue
    fi
    declared+=("placeholder %x${#names[@]} : $type input \"x${#names[@]}\""
      "placeholder %y${#names[@]} : $type output \"$name\"")
    saved+=("  Save(%x${#names[@]}, %y${#names[@]})")
    names+=("$name")
  done < <(sed -n "s/^ \* \(input\|output\) '\(.*\)': \([^,]*\), .*/\1\t\2\t\3/p" "$2")
  # A program that copies inputs of these types gets the same random numbers.
  printf '%s\n' 'module "m"' "${declared[@]}" 'function "main" {' "${saved[@]}" \
    '}' >"$folder/inputs.graph"
  "$bin/model-runner" -model="$folder/inputs.graph" -random-inputs=7 \
    -output-dir="$folder" >/dev/null
  for name in "${names[@]}"; do
    raw "$folder/$name.npy" >>"$folder/inputs"
  done
}

# Links the program of a bundle for another machine.
linkProgram() { # network, its folder, target, optimization
  # The program compares the sizes and the alignment with the configuration.
  clang-19 "--target=$3" -ffreestanding -fno-builtin -fno-pic -nostdlib -static \
    -fuse-ld=lld -std=c99 "$4" -Wall -Wextra -Werror -DEXPECTS_BITS "-I$2" \
    '-DBUNDLE_HEADER="network.h"' -DBUNDLE_ENTRY=network \
    -DBUNDLE_CONFIG=network_config -DBUNDLE_WEIGHTS=network_weights \
    -DBUNDLE_CHECK=network_check_weights \
    "-DMUTABLE_SIZE=$(stated "$2" 'mutable weights')" \
    "-DACTIVATIONS_SIZE=$(stated "$2" activations)" -DREGION_ALIGNMENT=64 \
    "-DINPUTS=\"$work/$1/inputs\"" "-DOUTPUTS=\"$work/$1/outputs\"" \
    -include $source/platform_semihosted.c -include $source/test_data.c \
    $source/run_cross.c "$2/network.o" -o "$2/run"
}

runElsewhere() { # network, model, emulator, options
  local folder=$work/$1/${4//[^a-z0-9]/_} options emulator result level
  read -ra emulator <<<"$3"
  read -ra options <<<"$4"
  command -v "${emulator[0]}" >/dev/null || return 0
  mkdir -p "$folder"
  "$bin/model-compiler" -model="$2" -reproducible -emit-bundle="$folder" \
    -network-name=network -weights=embed -bundle-api=dynamic "${options[@]}" \
    >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
  [[ -e $work/$1/inputs ]] || prepareData "$1" "$folder/network.h"
  # QEMU 7.2 fails an assertion of its own over a vector conversion that crosses a
  # page; the bundle's code is elsewhere behind a program of another size.
  for level in -O2 -O1 -Os; do
    linkProgram "$1" "$folder" "${options[0]#-target=}" $level
    timeout 600 "${emulator[@]}" "$folder/run" >"$folder/output" 2>&1 </dev/null ||
      true
    grep -q '^qemu-.*decode_save_opc: Assertion' "$folder/output" || break
  done
  result=$(awk '/ error [0-9]+$/ { n++; if ($NF) wrong = wrong " " $1 }
                /^done$/ { done = 1 }
                END { print done && n && !wrong ? "right" : "WRONG:" wrong }' \
    "$folder/output")
  verdict "$1" "${options[*]#-target=}" "$result"
}

rm -rf "$work"
mkdir -p "$work"
fill tests/e2e/reproducible/layers.graph >"$work/layers.graph"
networks=("layers $work/layers.graph" "digits examples/digits/digits.onnx"
  "mlp $source/mlp.onnxtxt")
if [[ $# -gt 0 ]]; then
  networks=()
  for model; do
    networks+=("$(basename "$(dirname "$(realpath "$model")")") $model")
  done
fi
for row in "${networks[@]}"; do
  read -r name model <<<"$row"
  mkdir -p "$work/$name"
  "$bin/model-runner" -model="$model" -reproducible -random-inputs=7 \
    -output-dir="$work/$name/expected" >/dev/null
  if [[ $(uname -m) == x86_64 ]]; then
    levels=(x86-64)
    grep -qw sse4_2 /proc/cpuinfo && levels+=(x86-64-v2)
    grep -qw fma /proc/cpuinfo && levels+=(x86-64-v3)
    grep -qw avx512dq /proc/cpuinfo && levels+=(x86-64-v4)
    for level in "${levels[@]}"; do
      for threads in 1 3; do
        runHere "$name" "$model" "$level" $threads
      done
    done
  fi
  runElsewhere "$name" "$model" qemu-aarch64 -target=aarch64-linux-gnu
  runElsewhere "$name" "$model" "qemu-aarch64 -cpu max" \
    "-target=aarch64-linux-gnu -mattr=+bf16,+dotprod"
  runElsewhere "$name" "$model" "qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0" \
    "-target=riscv64-linux-gnu -mattr=+v"
done
if [[ $ran -eq 0 ]]; then
  echo "no x86-64 and no emulator: nothing was compared"
  exit 77
fi
echo "$((ran - wrong)) right, $wrong wrong"
[[ $wrong -eq 0 ]]
