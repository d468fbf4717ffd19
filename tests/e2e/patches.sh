#!/usr/bin/env bash
# patches.sh: networks that are computed in patches, for less memory.
#
# Exported networks are compiled with -max-activation-bytes at a share of what
# they need without it, and run in the JIT. The arena must be within the limit,
# and the outputs must agree with the reference to 1e-4 of the largest magnitude.
# On the interpreter, whose sums are of double precision, the patches of
# mobilenet_v2 must give the bits of the whole.
#
# $GLOWISH_MODELS: where the networks are (default build/models, where
# networks.sh exports them). $GLOWISH_BIN: the programs (default
# build/release/bin). Exits 77 if there is no network.
set -euo pipefail
cd "$(dirname "$0")/../.."
models=${GLOWISH_MODELS:-build/models}
bin=${GLOWISH_BIN:-build/release/bin}
work=build/e2e/patches

# NAME SHARE
networks=("mobilenet_v2 0.6" "mobilenet_v2 0.2" "squeezenet1_1 0.25"
  "resnet18 0.5" "espcn 0.2" "lenet 0.4")

arena() { # model: what it needs without a limit, from the plan alone
  "$bin/model-compiler" -model="$1" -stop-after=plan -verify-plan="$work/plan"
  sed -n 's/.*"arenaBytes": \([0-9]*\),$/\1/p' "$work/plan"
}

rm -rf "$work"
mkdir -p "$work"
ran=0 wrong=0
printf '%-16s %12s %12s %12s %9s\n' network arena limit patches error
for row in "${networks[@]}"; do
  read -r name share <<<"$row"
  folder=$models/$name
  [[ -e $folder/output_0.npy ]] || continue
  run=("-model=$folder/model.onnx" "-input=input_0=$folder/input_0.npy")
  whole=$(arena "$folder/model.onnx")
  limit=$(awk -v a="$whole" -v s="$share" 'BEGIN { printf "%d", a * s }')
  error=- size=-
  if "$bin/model-runner" "${run[@]}" -max-activation-bytes="$limit" \
    -iterations=1 -warmup=0 "-expect=output_0=$folder/output_0.npy" -rtol=0 -atol=1e30 \
    >"$work/$name.log" 2>&1; then
    error=$(awk -f tests/e2e/largest_error.awk "$work/$name.log")
    size=$(sed -n 's/.*activations \([0-9]*\) (.*/\1/p' "$work/$name.log")
  fi
  verdict=
  if ! awk -v e="$error" -v s="$size" -v l="$limit" \
    'BEGIN { exit !(e != "-" && e <= 1e-4 && s <= l) }'; then
    verdict=WRONG
    ((++wrong))
  fi
  ((++ran))
  printf '%-16s %12s %12s %12s %9s %s\n' "$name" "$whole" "$limit" "$size" \
    "$error" "$verdict"
done
if [[ $ran -eq 0 ]]; then
  echo "no network: $models has none of these (tests/e2e/networks.sh exports them)"
  exit 77
fi

name=mobilenet_v2
if [[ -e $models/$name/input_0.npy ]]; then
  for limit in whole 1400000; do
    options=()
    [[ $limit == whole ]] || options=("-max-activation-bytes=$limit")
    "$bin/model-runner" -backend=Interpreter "-model=$models/$name/model.onnx" \
      "-input=input_0=$models/$name/input_0.npy" "${options[@]}" \
      -output-dir="$work/$limit" >/dev/null
  done
  if cmp "$work/whole/output_0.npy" "$work/1400000/output_0.npy"; then
    echo "$name: the interpreter gives the same bits in patches"
  else
    ((++wrong))
  fi
fi
[[ $wrong -eq 0 ]]
