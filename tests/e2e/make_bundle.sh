#!/usr/bin/env bash
# make_bundle.sh FOLDER ARGUMENT...: compiles a model to a bundle in FOLDER with
# these arguments of model-compiler and links FOLDER/run, which is run_bundle.c
# made for it. $GLOWISH_BIN: the programs (default build/release/bin).
set -euo pipefail
folder=$(realpath -m "$1")
shift
cd "$(dirname "$0")/../.."
"${GLOWISH_BIN:-build/release/bin}/model-compiler" "$@" -backend=CPU \
  -emit-bundle="$folder" -network-name=network -bundle-api=dynamic
threads=()
for argument in "$@"; do
  if [[ $argument =~ ^-threads=([0-9]+)$ && ${BASH_REMATCH[1]} -gt 1 ]]; then
    threads=(-DBUNDLE_THREADS="${BASH_REMATCH[1]}" -pthread
      "$folder/glowish_threads.c")
  fi
done
clang-19 -std=c99 -O2 -Wall -Wextra -Werror -I"$folder" \
  -DBUNDLE_HEADER='"network.h"' -DBUNDLE_CONFIG=network_config -DBUNDLE_ENTRY=network \
  -DBUNDLE_CHECK=network_check_weights tests/e2e/run_bundle.c \
  "$folder/network.o" "${threads[@]}" -lm -o "$folder/run"
