#!/usr/bin/env bash
# run.sh [PROCESSES]: trains net.onnxtxt with main.c on so many processes (default 2),
# which divide batches of 32 samples. $GLOWISH_BIN: the programs (default
# build/release/bin); $WORK: another folder than build/mpi. Exits 77 without Open MPI
# (scripts/install-deps.sh --mpi).
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
bin=${GLOWISH_BIN:-$root/build/release/bin}
work=${WORK:-$root/build/mpi}
processes=${1:-2}
for program in mpicc mpirun; do
  command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
((32 % processes == 0)) || {
  echo "run.sh: $processes processes cannot divide 32 samples" >&2
  exit 1
}
mkdir -p "$work"
"$bin/model-compiler" -model="$here/net.onnxtxt" -train -gradients=external \
  -loss=mean-squared-error -label=target -solver=adam -define-symbol=N,1 \
  -train-define-symbol="N,$((32 / processes))" -network-name=net \
  -emit-bundle="$work/bundle"
mpicc -std=c99 -Wall -Wextra -O2 -I"$work/bundle" "$here/main.c" \
  "$work/bundle/net.o" -lm -o "$work/train"
mpirun -n "$processes" "$work/train" "$work/bundle/net.state.bin"
