#!/usr/bin/env bash
# text-forms.sh [MODEL.onnx ...]: for each model (default: those exported to
# build/models), the graph and the IR printed, parsed and printed again are the
# same bytes, side files included.
set -euo pipefail
cd "$(dirname "$0")/../.."
opt=build/${PRESET:-release}/bin/glowish-opt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

models=("$@")
if [[ ${#models[@]} -eq 0 ]]; then
  models=(build/models/*/model.onnx)
  [[ -e ${models[0]} ]] || { echo "skipped: no models in build/models"; exit 77; }
fi

# Prints what stage.1 holds a second time, and compares.
again() {
  "$opt" "$work/$1.1" -o "$work/$1.2"
  cmp "$work/$1.1" "$work/$1.2"
  cmp "$work/$1.1.weights" "$work/$1.2.weights"
}

for model in "${models[@]}"; do
  "$opt" "$model" -o "$work/graph.1"
  again graph
  "$opt" "$model" -pipeline -o "$work/lowered.1"
  again lowered
  "$opt" "$work/lowered.1" -emit-ir -o "$work/ir.1"
  again ir
  "$opt" "$work/ir.1" -pipeline -o "$work/final.1"
  again final
  printf '%-40s graph, lowered graph, IR, optimised IR: identical\n' \
    "$(basename "$(dirname "$model")")"
done
