#!/usr/bin/env bash
# models.sh [--all] [--only REGEX]: runs the models of the test data that have
# reference outputs, in the interpreter and in the JIT. Without --all or --only,
# it leaves out those that networks.sh runs so, to the same bounds (TRAINED of
# cases.py), and style_candy in the interpreter, which it takes long: the smaller
# style_mosaic has the same layers.
#
# These are the folders trained, quantized and fusion of $GLOWISH_TEST_DATA
# (default ../shared/data): NAME/model.onnx and NAME/test_data_set_0, with
# outputs of ONNX Runtime. Open dimensions get the extents of the inputs. All
# outputs must agree to 1e-4 of the output's largest magnitude. models.txt
# has what can't, with the reason: a bound of its own, or that the model does
# not run at all, which must stay true.
#
# $GLOWISH_BIN: the programs (default build/release/bin). Prints what differs
# from the rule and a count; exits 1 if a model fails, 77 if there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."

data=${GLOWISH_TEST_DATA:-../shared/data}
bin=${GLOWISH_BIN:-build/release/bin}
only=. others=
if [[ ${1:-} == --only && -n ${2:-} ]]; then
  only=$2
elif [[ $# -eq 0 ]]; then
  others=$(PYTHONPATH=tests/e2e /usr/bin/python3 -c \
    'import cases; print(*cases.TRAINED)')
elif [[ $* != --all ]]; then
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

# The largest error, and behind it whether it is within the bound.
judgeLog=$(<tests/e2e/largest_error.awk)'
END { print count && sprintf("%.1e", worst) + 0 <= bound + 0 ? "right" : "wrong" }'

# Sets verdict: whether NAME is right on BACKEND; the error goes to a log.
judge() { # name, folder, backend, bound
  local log=$work/$1.$3.log error
  if ! "$bin/model-runner" -model="$2/model.onnx" -backend="$3" \
    -test-data="$2/test_data_set_0" -rtol=0 -atol=1e30 >"$log" 2>&1; then
    if [[ $4 == refused ]]; then verdict=refused; else
      verdict="failed:$(tail -1 "$log")"
    fi
  elif [[ $4 == random ]]; then
    verdict=random
  else
    error=$(awk -v bound="$4" "$judgeLog" "$log")
    verdict=${error#*$'\n'}
    [[ $verdict == right && $4 != refused ]] || verdict="wrong:${error%$'\n'*}"
  fi
}

passed=0 excepted=0 failed=0
for model in "$data"/{trained,quantized,fusion}/*/model.onnx; do
  folder=${model%/model.onnx}
  name=${folder##*/}
  [[ -d $folder/test_data_set_0 && $name =~ $only ]] || continue
  [[ " $others " != *" $name "* ]] || continue
  bound=${bounds[$name]:-1e-4}
  for backend in Interpreter CPU; do
    [[ -z $others || $name != style_candy || $backend == CPU ]] || continue
    judge "$name" "$folder" "$backend" "$bound"
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
