#!/usr/bin/env bash
# networks.sh [--all] [--only NAME]... [--skip-interpreter]: checks whole
# networks. Without --all or their names, the large ones below are left out.
#
# Each network runs in the interpreter and as a bundle; one of each kind, and with
# --all or their names all, also in the JIT, whose code is generated as the bundle's.
# One C program is linked with all bundles. All outputs must agree with the reference
# (PyTorch for the exported networks, ONNX Runtime or ONNX's own for the others) to
# 1e-4 of the output's largest magnitude. Magnitudes below 2e-3 count as 2e-3,
# as the references are not good to 2e-7 themselves (ONNX Runtime's sigmoid of
# -11 is off by 9e-8). ONNX Runtime's result of detect_yolox_nano is 9.4e-5 away
# from the interpreter's, whose sums are of double precision, and there 1.2e-4
# are allowed. The bundle's object may need nothing but memcpy, memmove
# and memset. resnet50 is compiled twice, and the files must be the same.
# Some networks are also compiled with -io-in-activations, and called twice.
# models.py runs what is here of the folder trained in the JIT only.
# Prints a table; exits 1 if a network fails, 77 if there is none to check.
#
# Where the networks are: $GLOWISH_MODELS (default build/models; missing ones
# are written by $GLOWISH_EXPORTER, default ../shared/tools/export_models.py,
# where that and PyTorch are there) and $GLOWISH_TEST_DATA (default
# ../shared/data, with folders trained and onnx-backend). $GLOWISH_BIN: the
# programs (default build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/../.."

models=${GLOWISH_MODELS:-build/models}
exporter=${GLOWISH_EXPORTER:-../shared/tools/export_models.py}
data=${GLOWISH_TEST_DATA:-../shared/data}
export GLOWISH_BIN=${GLOWISH_BIN:-build/release/bin}
work=build/e2e
bundles=$work/bundles
bound=1e-4

exported=(lenet resnet18 resnet50 mobilenet_v2 mobilenet_v3_large
  squeezenet1_1 vgg16 densenet121 inception_v3 efficientnet_b0 unet_small espcn
  bert_base bert_tiny gpt2_small vit_b_16 mlp mlp_b64 lstm_text dlrm)
# What takes the interpreter long, and ONNX's SqueezeNet beside squeezenet1_1.
# Smaller networks have the same operators, and ONNX's light ones are run by
# onnx-backend-test, too.
large=(vgg16 densenet121 inception_v3 bert_base gpt2_small vit_b_16
  light_bvlc_alexnet light_densenet121 light_inception_v1 light_inception_v2
  light_resnet50 light_squeezenet light_vgg19 light_zfnet512)
all=0
only=()
interpreter=1
while [[ $# -gt 0 ]]; do
  case $1 in
    --all) all=1; shift ;;
    --only) only+=("$2"); shift 2 ;;
    --skip-interpreter) interpreter=0; shift ;;
    *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
  esac
done

isWanted() {
  if [[ ${#only[@]} -gt 0 ]]; then
    [[ " ${only[*]} " == *" $1 "* ]]
  else
    [[ $all = 1 || " ${large[*]} " != *" $1 "* ]]
  fi
}

exportMissing() {
  local missing=()
  for name in "${exported[@]}"; do
    if isWanted "$name" && [[ ! -e $models/$name/output_0.npy ]]; then
      missing+=("$name")
    fi
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ -e $exporter ]] && /usr/bin/python3 -c 'import torchvision' 2>&-; then
    echo "==> exporting ${missing[*]}"
    /usr/bin/python3 "$exporter" --out "$models" "${missing[@]}" >&2
  else
    echo "skipped, as there is nothing to export them with: ${missing[*]}"
  fi
}

# The largest error that the program's output states; "-" if it failed.
largestError() {
  local log=$work/$1/$2.log
  shift 2
  if "$@" >"$log" 2>&1; then
    awk -f tests/e2e/largest_error.awk "$log"
  else
    echo "-"
  fi
}

isWithinBound() {
  local allowed=$bound
  [[ $1 != detect_yolox_nano ]] || allowed=1.2e-4
  shift
  awk -v bound="$allowed" 'BEGIN { for (i = 1; i < ARGC; ++i)
    if (ARGV[i] == "-" || ARGV[i] + 0 > bound) exit 1 }' "$@"
}

# One network of each kind: with convolutions, a large output, a recurrent layer,
# attention, tables that integers are looked up in.
isRepresentative() {
  [[ " lenet unet_small lstm_text bert_tiny dlrm " == *" $1 "* ]]
}

# With --all a larger one with convolutions, too.
sharesMemory() {
  isRepresentative "$1" || [[ $all = 1 && $1 == resnet18 ]]
}

runsInJit() {
  isRepresentative "$1" || [[ $all = 1 || ${#only[@]} -gt 0 ]]
}

# Compiles a network to a bundle in $bundles.
compileBundle() { # network, name of the bundle, argument... of model-compiler
  local name=$1 bundle=$2 modelArgs
  shift 2
  mapfile -t modelArgs < <(grep -E '^-model(-input)?=' "$work/$name/args")
  "$GLOWISH_BIN/model-compiler" "${modelArgs[@]}" -backend=CPU \
    -emit-bundle="$bundles" -network-name="$bundle" -bundle-api=dynamic "$@" \
    >"$work/$name/$bundle.log" 2>&1
}

# Compiles the bundles of all networks and links them with run_bundle.c.
makeProgram() {
  local name bundle linked=() objects=() list=
  rm -rf "$bundles"
  mkdir -p "$bundles"
  for name in "${names[@]}"; do
    if compileBundle "$name" "$name"; then linked+=("$name"); fi
    if sharesMemory "$name" &&
      compileBundle "$name" "${name}_shared" -io-in-activations; then
      linked+=("${name}_shared")
    fi
  done
  for bundle in "${linked[@]}"; do
    echo "#include \"$bundle.h\"" >>"$bundles/all.h"
    list+=" {\"$bundle\", &${bundle}_config, $bundle, ${bundle}_check_weights},"
    objects+=("$bundles/$bundle.o")
  done
  echo "#define BUNDLE_LIST$list" >>"$bundles/all.h"
  clang-19 -std=c99 -O2 -Wall -Wextra -Werror -I"$bundles" \
    -DBUNDLE_HEADER='"all.h"' tests/e2e/run_bundle.c "${objects[@]}" -lm \
    -o "$bundles/run"
  llvm-nm-19 -u -A "${objects[@]}" >"$bundles/undefined"
}

# The error of a bundle.
bundleError() { # network, name of the bundle, argument... of run_bundle
  local name=$1 bundle=$2
  shift 2
  if [[ -e $bundles/$bundle.o ]]; then
    largestError "$name" "run-$bundle" "$bundles/run" \
      "$bundles/$bundle.weights.bin" -bundle="$bundle" "$@" "${args[@]}"
  else
    echo -
  fi
}

# Symbols that a bundle's object needs beyond memcpy, memmove and memset.
foreignSymbols() {
  grep -F "/$1.o:" "$bundles/undefined" | awk '{ print $NF }' |
    grep -vxE 'memcpy|memmove|memset' | tr '\n' ' ' || true
}

checkNetwork() { # name; prints the row, and fails with the network
  local name=$1 folder=$work/$1 verdict=right foreign file
  local interpreterError=skipped jitError=skipped error
  local args loose=(-rtol=0 -atol=1e30)
  mapfile -t args <"$folder/args"
  if [[ $interpreter = 1 ]]; then
    interpreterError=$(largestError "$name" interpreter "$GLOWISH_BIN/model-runner" \
      -backend=Interpreter "${args[@]}" "${loose[@]}")
  fi
  if runsInJit "$name"; then
    jitError=$(largestError "$name" jit "$GLOWISH_BIN/model-runner" -backend=CPU \
      "${args[@]}" "${loose[@]}")
  fi
  error=$(bundleError "$name" "$name")
  foreign=$(foreignSymbols "$name")
  [[ -z $foreign ]] || verdict="WRONG: needs $foreign"
  if sharesMemory "$name"; then
    [[ $(bundleError "$name" "${name}_shared" -calls=2) == "$error" ]] ||
      verdict="WRONG: other outputs with -io-in-activations"
  fi
  if [[ $name == resnet50 ]]; then
    for file in "$bundles/$name".*; do mv "$file" "$file.first"; done
    compileBundle "$name" "$name" || true
    for file in "$bundles/$name".*.first; do
      cmp -s "$file" "${file%.first}" ||
        verdict="WRONG: ${file##*/} differs when compiled again"
    done
  fi
  isWithinBound "$name" "${interpreterError/skipped/0}" "${jitError/skipped/0}" \
    "$error" || verdict=WRONG
  printf '%-22s %12s %12s %12s  %s\n' "$name" "$interpreterError" "$jitError" \
    "$error" "$verdict"
  rm -f "$bundles/$name".* "$bundles/${name}_shared".*
  [[ $verdict == right ]]
}

mkdir -p "$work"
exportMissing
names=()
for name in $(tests/e2e/cases.py --work "$work" --exported "$models" \
  --trained "$data/trained" --light "$data/onnx-backend/v1.22.0/light"); do
  if isWanted "$name"; then names+=("$name"); fi
done
if [[ ${#names[@]} -eq 0 ]]; then
  echo "no network to check"
  exit 77
fi

makeProgram
printf 'Largest error as a share of the largest magnitude; %s is allowed.\n' \
  "$bound"
printf '%-22s %12s %12s %12s  %s\n' network interpreter JIT bundle verdict
wrong=()
for name in "${names[@]}"; do
  checkNetwork "$name" || wrong+=("$name")
done
if [[ ${#wrong[@]} -gt 0 ]]; then
  echo "${#wrong[@]} of ${#names[@]} networks are wrong: ${wrong[*]}"
  echo "What the programs said is in $work/NAME/*.log."
  exit 1
fi
echo "all ${#names[@]} networks are right"
