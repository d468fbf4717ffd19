#!/bin/bash
# Every model of a folder, through the compiler and the runner: exit code 0, or
# exactly one `error:` and exit code 1 and no files. Prints what each gives.
#   malformed_models.sh [FOLDER]   (default: $GLOWISH_TEST_DATA/odd-models)
here=$(cd "$(dirname "$0")" && pwd)
bin=${GLOWISH_BIN:-$here/../../build/release/bin}
data=${1:-${GLOWISH_TEST_DATA:-$here/../../../shared/data}/odd-models}
if [ ! -d "$data" ]; then
  echo "no $data: skipped"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0 ran=0 refused=0

# check TOOL CODE: CODE and $work/err are as they must be.
check() {
  local line errors=0 others=0
  while IFS= read -r line || [[ -n $line ]]; do
    case $line in
    'error: '*) errors=$((errors + 1)) ;;
    '  '*) ;; # Further lines belong to the message: they are indented.
    *) others=$((others + 1)) ;;
    esac
  done <"$work/err"
  case $2 in
  0) [[ $errors = 0 ]] && return ;;
  1) [[ $errors = 1 && $others = 0 ]] && return ;;
  esac
  echo "WRONG $name: $1: exit code $2, $errors errors"
  wrong=$((wrong + 1))
}

shopt -s nullglob dotglob
for model in "$data"/*.onnx; do
  name=${model##*/}
  name=${name%.onnx}
  out=$work/out
  [[ ! -e $out ]] || rm -rf "$out"
  timeout 60 "$bin/model-compiler" -model="$model" -emit-bundle="$out" \
    >"$work/log" 2>"$work/err"
  compiled=$?
  check model-compiler $compiled
  text=$(<"$work/err")
  files=("$out"/*)
  if [[ $compiled = 1 && ${#files[@]} != 0 ]]; then
    echo "WRONG $name: files were left behind"
    wrong=$((wrong + 1))
  fi
  for backend in Interpreter CPU; do
    timeout 60 "$bin/model-runner" -model="$model" -backend=$backend \
      -random-inputs=1 >"$work/log" 2>"$work/err"
    code=$?
    check "model-runner -backend=$backend" $code
    # An input may still turn out wrong when the model runs.
    if [[ $compiled = 1 && $code = 0 ]]; then
      echo "WRONG $name: the compiler refuses it, $backend runs it"
      wrong=$((wrong + 1))
    fi
  done
  if [[ $compiled = 0 ]]; then
    ran=$((ran + 1))
    echo "$name: runs"
  else
    refused=$((refused + 1))
    echo "$name: ${text//"'$model': "/}"
  fi
done
echo "$ran run, $refused refused, $wrong wrong"
[[ $wrong = 0 && $((ran + refused)) != 0 ]]
