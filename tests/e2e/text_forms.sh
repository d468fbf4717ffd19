#!/usr/bin/env bash
# text_forms.sh [--all]: prints each exported network of $GLOWISH_MODELS (default
# build/models) in both text forms, parses that, and prints it again: the graph
# as imported and after its passes, and the IR after its own. The bytes must be
# the same. Without --all, larger forms of other networks are left out. Exits 77
# if there is no network. $GLOWISH_BIN: the programs (default build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/../.."

opt=${GLOWISH_BIN:-build/release/bin}/glowish-opt
work=build/text-forms
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# Prints INPUT with OPTIONS as FORM, reads it back, and compares.
checkForm() { # form, input, option...
  local form=$1 input=$2
  shift 2
  rm -f "$work"/*
  "$opt" "$input" "$@" -o "$work/a.$form" &&
    "$opt" "$work/a.$form" -o "$work/b.$form" &&
    cmp "$work/a.$form" "$work/b.$form" &&
    { [[ ! -e $work/a.$form.weights ]] ||
      cmp "$work/a.$form.weights" "$work/b.$form.weights"; }
}

# More layers than resnet18, and a larger batch than mlp.
larger=(resnet50 mlp_b64)
[[ ${1:-} != --all ]] || larger=()

count=0
wrong=()
for model in "${GLOWISH_MODELS:-build/models}"/*/model.onnx; do
  [[ -e $model ]] || continue
  name=$(basename "$(dirname "$model")")
  [[ " ${larger[*]} " != *" $name "* ]] || continue
  count=$((count + 1))
  for form in "graph" "graph -pipeline" "ir -emit-ir -pipeline"; do
    read -ra words <<<"$form"
    if checkForm "${words[0]}" "$model" "${words[@]:1}"; then
      echo "$name, $form: same"
    else
      echo "$name, $form: WRONG"
      wrong+=("$name")
    fi
  done
done
if [[ $count -eq 0 ]]; then
  echo "no network to check"
  exit 77
fi
[[ ${#wrong[@]} -eq 0 ]]
