#!/usr/bin/env bash
# models.sh [--only REGEX]: runs all models of the test data that have reference
# outputs, in the interpreter and in the JIT.
#
# These are the folders trained, quantized and fusion of $GLOWISH_TEST_DATA
# (default ../shared/data): NAME/model.onnx and NAME/test_data_set_0, with
# outputs of ONNX Runtime. Open dimensions get the extents of the inputs. All
# outputs must agree to 1e-4 of the output's largest magnitude. models.txt
# has what can't, with the reason: a bound of its own, or that the model does
# not run at all, which must stay true. (networks.sh also links bundles, of
# fewer networks.)
#
# $GLOWISH_BIN: the programs (default build/release/bin). Prints what differs
# from the rule and a count; exits 1 if a model fails, 77 if there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."

data=${GLOWISH_TEST_DATA:-../shared/data}
bin=${GLOWISH_BIN:-build/release/bin}
only=.
if [[ ${1:-} == --only && -n ${2:-} ]]; then
  only=$2
elif [[ $# -gt 0 ]]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"
  exit 2
fi

work=build/e2e/models
mkdir -p "$work"
declare -A bounds reasons
while read -r name bound reason; do
  [[ -n $name && $name != \#* ]] || continue
  bounds[$name]=$bound
  reasons[$name]=$reason
done <tests/e2e/models.txt

# Says in one word whether NAME is right on BACKEND; the error goes to a log.
judge() { # name, folder, backend, bound
  local log=$work/$1.$3.log error
  if ! "$bin/model-runner" -model="$2/model.onnx" -backend="$3" \
    -test-data="$2/test_data_set_0" -rtol=0 -atol=1e30 >"$log" 2>&1; then
    [[ $4 == refused ]] && echo refused || echo "failed:$(tail -1 "$log")"
    return
  fi
  error=$(awk -f tests/e2e/largest_error.awk "$log")
  if [[ $4 == refused ]]; then
    echo "runs: $error"
  elif [[ $4 == random ]]; then
    echo random
  else
    awk -v error="$error" -v bound="$4" 'BEGIN {
      print error != "-" && error + 0 <= bound + 0 ? "right" : "wrong:" error }'
  fi
}

passed=0 excepted=0 failed=0
for model in "$data"/{trained,quantized,fusion}/*/model.onnx; do
  folder=${model%/model.onnx}
  name=${folder##*/}
  [[ -d $folder/test_data_set_0 && $name =~ $only ]] || continue
  bound=${bounds[$name]:-1e-4}
  for backend in Interpreter CPU; do
    verdict=$(judge "$name" "$folder" "$backend" "$bound")
    case $verdict in
      right)
        if [[ $bound == 1e-4 ]]; then ((++passed)); else ((++excepted)); fi
        ;;
      random | refused) ((++excepted)) ;;
      *)
        ((++failed))
        echo "$name on $backend: $verdict (allowed: $bound)"
        ;;
    esac
  done
  if [[ -n ${reasons[$name]:-} ]]; then
    echo "$name: $bound: ${reasons[$name]}"
  fi
done
if [[ $((passed + excepted + failed)) -eq 0 ]]; then
  echo "no model to check"
  exit 77
fi
echo "$passed right, $excepted within a bound of their own or not compared," \
  "$failed wrong"
[[ $failed -eq 0 ]]
