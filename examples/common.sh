# shellcheck shell=bash
# common.sh: what the train.sh of the examples share. They source it in the
# project's folder, and set `options`: those of every run of model-trainer.

# prepare FOLDER [DEPENDENCIES...]: makes the folder; installs (the options of
# install-deps.sh) and builds what is missing, unless $GLOWISH_BIN names the
# folder of programs to use.
prepare() {
  mkdir -p "$1"
  [[ -z ${GLOWISH_BIN:-} ]] || return 0
  scripts/install-deps.sh "${@:2}"
  scripts/build.sh release model-trainer model-compiler
  GLOWISH_BIN=build/release/bin
}

# Threads: $THREADS, or 2.
trainer() {
  "$GLOWISH_BIN/model-trainer" "${options[@]}" -threads="${THREADS:-2}" "$@"
}

# validate MODEL DATA "loss"|"accuracy": what model-trainer says of the model.
validate() {
  trainer -model="$1" -data="$2" -validation="$2" -epochs=0 |
    grep -oE "validation $3 [0-9.]+" | grep -oE '[0-9.]+$'
}

# report MODEL DATA WHAT LEAST: fails if fewer percent are right.
report() {
  validate "$1" "$2" accuracy | awk -v what="$3" -v least="$4" '
    { share = $1
      printf "%s: %.2f %% right (at least %s expected)\n", what, share, least }
    END { exit !(NR && share >= least) }'
}
