#!/usr/bin/env bash
# fuzz.sh MINUTES [FUZZER...]: runs the fuzzers of the parsers (tests/parsers), all or
# some, with libFuzzer for MINUTES altogether, divided among them; as many at once as
# there are processors, or JOBS=N.
# fuzz.sh --minimize [FUZZER...]: replaces the corpora of the repository by the fewest
# inputs that cover what those and what was found in build/ cover.
#
# Builds the preset libfuzzer. What was found to cover more is kept in build/fuzz/NAME,
# where the next run goes on; what crashed, took too long or too much memory, in
# build/fuzz/findings, as small as half a minute makes it, with the command that
# reproduces it. WEIGHTS="onnx=8 graph=4" changes the share that a fuzzer has of the time,
# FLAGS has more flags of libFuzzer. Exits 1 if there are findings.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

usage() {
  sed -n '2,15s/^# \{0,1\}//p' "$0"
  exit 2
}
[[ $# -gt 0 ]] || usage
minutes=$1
shift
[[ $minutes == --minimize || $minutes =~ ^[0-9]+([.][0-9]+)?$ ]] || usage

if ! command -v clang++-19 >/dev/null; then
  echo "fuzz.sh: no clang++-19, which scripts/install-deps.sh installs" >&2
  exit 77
fi

# Those with more code behind them have more of the time.
declare -A weights=([onnx]=8 [tflite]=4 [pt2]=4 [graph]=4 [caffe2]=3 [ir]=3 [torchscript]=3)
for pair in ${WEIGHTS:-}; do weights[${pair%=*}]=${pair#*=}; done

scripts/build.sh libfuzzer glowish-parser-fuzzers
bin=$root/build/libfuzzer/bin
mapfile -t all <"$bin/parser-fuzzers"
fuzzers=("$@")
[[ $# -gt 0 ]] || fuzzers=("${all[@]}")
for name in "${fuzzers[@]}"; do
  if [[ ! -x $bin/fuzz-$name ]]; then
    echo "fuzz.sh: no fuzzer '$name'; there are: ${all[*]}" >&2
    exit 2
  fi
done

# Leaks are not looked for: a child process that reads an archive leaks, and LLVM's
# tables stay. An allocation that is too large is found by the fuzzers themselves.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=0:handle_abort=1
export UBSAN_OPTIONS=print_stacktrace=1
work=$root/build/fuzz
findings=$work/findings
mkdir -p "$findings" "$work/tmp" "$work/logs"
# Folders with external data, which a fuzzer that crashes leaves.
export TMPDIR=$work/tmp
# A fuzzer takes 15 s of processor time for an error. What libFuzzer measures is time that
# other programs may have, too: only what never ends is a finding. The fuzzers limit
# allocations themselves: libFuzzer would write an artifact for one of libtorch, which
# reads an archive in a copy of the fuzzer's process first and allocates what that states.
limits=(-timeout=300 -report_slow_units=1000 -rss_limit_mb=2048 -malloc_limit_mb=1000000)

# The folders of inputs of a fuzzer that are there.
inputFolders() {
  local folder
  for folder in "$work/$1" "$bin/fuzz-$1.inputs/seeds" \
    "$root/tests/parsers/corpus/$1" "$root/tests/parsers/regressions/$1"; do
    [[ ! -d $folder ]] || echo "$folder"
  done
}

# The most bytes of a fuzzer's corpus in the repository.
maxBytes=24576

minimize() {
  local name=$1 corpus=$root/tests/parsers/corpus/$1 merged folders size file sum=0
  merged=$(mktemp -d)
  mapfile -t folders < <(inputFolders "$name")
  read -ra options <"$bin/fuzz-$name.inputs/options"
  if ! "$bin/fuzz-$name" -merge=1 "${limits[@]}" "${options[@]}" -max_len=3000 \
    "$merged" "${folders[@]}" >"$work/logs/$name.merge" 2>&1; then
    tail -n 5 "$work/logs/$name.merge" >&2
    return 1
  fi
  rm -rf "$corpus"
  mkdir -p "$corpus"
  # The smallest cover the most for their size.
  while read -r size file; do
    sum=$((sum + size))
    [[ $sum -le $maxBytes ]] || break
    cp "$merged/$file" "$corpus/$file"
  done < <(find "$merged" -type f -printf '%s %f\n' | sort -n)
  echo "$name: $(find "$corpus" -type f | wc -l) of $(find "$merged" -type f | wc -l) inputs"
  rm -rf "$merged"
}

if [[ $minutes == --minimize ]]; then
  for name in "${fuzzers[@]}"; do minimize "$name"; done
  exit
fi

# Runs one fuzzer until its share of the time is over. libFuzzer ends at a finding, and is
# started again, a few times: what is found then is mostly what was found before.
fuzz() {
  local name=$1 seconds=$2 log=$work/logs/$1.log folders end left starts=0
  mkdir -p "$work/$name"
  mapfile -t folders < <(inputFolders "$name")
  read -ra options <"$bin/fuzz-$name.inputs/options"
  : >"$log"
  local start=$SECONDS
  end=$((SECONDS + seconds))
  while left=$((end - SECONDS)) && [[ $left -gt 0 && $((++starts)) -le 5 ]]; do
    # shellcheck disable=SC2086
    "$bin/fuzz-$name" -max_total_time="$left" -print_final_stats=1 \
      -reload=0 -artifact_prefix="$findings/$name-" "${limits[@]}" "${options[@]}" \
      ${FLAGS:-} "${folders[@]}" >>"$log" 2>&1 && break
    # At a finding in the first seconds, which is that of an input it begins with, there is
    # nothing more to find before it is mended.
    [[ $((SECONDS - end + left)) -gt 5 ]] || break
  done
  echo "stat::seconds $((SECONDS - start))" >>"$log"
}

# "EXECUTIONS SECONDS FEATURES" of a log.
statistics() {
  awk '/^stat::number_of_executed_units/ { executed += $2 }
    /^stat::seconds/ { seconds = $2 }
    / ft: / { for (i = 1; i < NF; ++i) if ($i == "ft:") features = $(i + 1) }
    END { print executed + 0, seconds + 0, features + 0 }' "$1"
}

# What this run found.
listNew() { comm -13 <(echo "$before") <(find "$findings" -type f ! -name '*.small' | sort); }

total=0
for name in "${fuzzers[@]}"; do total=$((total + ${weights[$name]:-1})); done
jobs=${JOBS:-$(nproc)}
before=$(find "$findings" -type f ! -name '*.small' | sort)
declare -A share
# The longest first, so that the processors end together.
mapfile -t sorted < <(for name in "${fuzzers[@]}"; do
  echo "${weights[$name]:-1} $name"
done | sort -rn | cut -d' ' -f2)
for name in "${sorted[@]}"; do
  share[$name]=$(awk -v m="$minutes" -v j="$jobs" -v w="${weights[$name]:-1}" -v t="$total" \
    'BEGIN { s = int(60 * m * j * w / t); print s < 1 ? 1 : s }')
  while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do wait -n || true; done
  fuzz "$name" "${share[$name]}" &
done
wait

printf '%-12s %12s %9s %9s %9s\n' fuzzer executions seconds features findings
for name in "${fuzzers[@]}"; do
  read -r executed seconds features < <(statistics "$work/logs/$name.log")
  count=$(listNew | grep -c "/$name-" || true)
  printf '%-12s %12d %9d %9d %9d\n' "$name" "$executed" "$seconds" "$features" "$count"
done

status=0
while read -r file; do
  [[ -n $file ]] || continue
  status=1
  name=$(basename "$file")
  name=${name%%-*}
  read -ra options <"$bin/fuzz-$name.inputs/options"
  small=$file.small
  case $file in
    *-crash-*)
      "$bin/fuzz-$name" -minimize_crash=1 -max_total_time=30 -exact_artifact_path="$small" \
        "${limits[@]}" "${options[@]}" "$file" >/dev/null 2>&1 || true
      ;;
  esac
  [[ -s $small ]] || cp "$file" "$small"
  echo
  # libFuzzer runs the input and tells the error again.
  echo "finding of $name: $({ "$bin/fuzz-$name" "${limits[@]}" "$small" 2>&1 || true; } |
    grep -m1 -E 'ERROR: |runtime error:|an allocation of|Assertion|^the input|^what' | cut -c1-200)"
  echo "  ASAN_OPTIONS=$ASAN_OPTIONS $bin/fuzz-$name $small"
done < <(listNew)
exit $status
