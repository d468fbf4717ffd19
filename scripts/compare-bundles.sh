#!/usr/bin/env bash
# compare-bundles.sh OLD NEW [NETWORK...]: whether two versions of the compiler
# write the same bundles.
#
# OLD and NEW are commits, or folders that have a model-compiler. A commit is
# built in build/compare/COMMIT. Each network of $GLOWISH_MODELS (default
# build/models, as tests/e2e/networks.sh makes it), or each that is named, is
# compiled for x86-64-v3, x86-64-v4, sapphirerapids, aarch64 and cortex-m4. The
# checksums of the objects, headers and weights of a commit are kept in
# build/compare/COMMIT.txt, and networks that are there are not compiled again.
# Prints the files that differ. Exits 1 if there are any, 77 without networks.
set -euo pipefail
cd "$(dirname "$0")/.."
models=${GLOWISH_MODELS:-build/models}
jobs=${JOBS:-$(nproc)}
work=$PWD/build/compare

# NAME|options of model-compiler.
targets=(
  "x86-64-v3|-target=x86_64-linux-gnu -mcpu=x86-64-v3"
  "x86-64-v4|-target=x86_64-linux-gnu -mcpu=x86-64-v4"
  "sapphirerapids|-target=x86_64-linux-gnu -mcpu=sapphirerapids"
  "aarch64|-target=aarch64-linux-gnu"
  "cortex-m4|-target=thumbv7em-none-eabihf -mcpu=cortex-m4"
)

if [[ $# -lt 2 ]]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"
  exit 2
fi
old=$1 new=$2
shift 2
networks=("$@")
if [[ ${#networks[@]} = 0 ]]; then
  for model in "$models"/*/model.onnx; do
    [[ -e $model ]] && networks+=("$(basename "$(dirname "$model")")")
  done
fi
if [[ ${#networks[@]} = 0 ]]; then
  echo "skipped: there is no network in $models"
  exit 77
fi

# Compiles one network for one target; one line a file of the bundle, or the
# message if the network is too large for the target.
compile() { # program, network, NAME|options
  local target=${3%%|*} options=${3#*|} folder
  folder=$(mktemp -d)
  # shellcheck disable=SC2086
  if "$1" -model="$models/$2/model.onnx" -emit-bundle="$folder/out" \
    -network-name=net -bundle-api=dynamic $options >"$folder/log" 2>&1; then
    (cd "$folder/out" && sha256sum -- *) | sed "s|^|$2 $target |"
  else
    echo "$2 $target $(tr '\n' ' ' <"$folder/log")"
  fi
  rm -rf "$folder"
}
export -f compile
export models

# Prints the file with the checksums of a version.
list() { # commit or folder
  local program=$1/model-compiler sums commit missing=()
  if [[ ! -x $program ]]; then
    commit=$(git rev-parse --verify --short=12 "$1^{commit}")
    sums=$work/$commit.txt
    touch "$sums"
  else
    sums=$(mktemp)
  fi
  for network in "${networks[@]}"; do
    grep -q "^$network " "$sums" || missing+=("$network")
  done
  if [[ ${#missing[@]} -gt 0 ]]; then
    if [[ -n ${commit:-} ]]; then
      [[ -e $work/$commit ]] ||
        git worktree add --quiet --detach "$work/$commit" "$commit" >&2
      "$work/$commit/scripts/build.sh" release model-compiler >&2
      program=$work/$commit/build/release/bin/model-compiler
    fi
    for network in "${missing[@]}"; do
      for target in "${targets[@]}"; do
        printf '%s\0%s\0%s\0' "$program" "$network" "$target"
      done
    done | xargs -0 -n 3 -P "$jobs" bash -c 'compile "$@"' _ >>"$sums"
  fi
  LC_ALL=C sort -o "$sums" "$sums"
  echo "$sums"
}

mkdir -p "$work"
oldSums=$(list "$old")
newSums=$(list "$new")
pick() { # file
  grep -E "^($(IFS='|' && echo "${networks[*]}")) " "$1"
}
if diff <(pick "$oldSums") <(pick "$newSums"); then
  echo "${#networks[@]} networks: the bundles are the same"
else
  exit 1
fi
