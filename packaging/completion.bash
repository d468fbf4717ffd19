# Completion of the options of glowish's tools, which are read from their --help.

# _glowish_options TOOL: the options, with '=' where a value follows.
_glowish_options() {
  "$1" --help 2>/dev/null | sed -n 's/^  \(--[a-zA-Z0-9-]*=\{0,1\}\).*/\1/p'
}

# _glowish_values TOOL OPTION: the values that --help lists for --OPTION.
_glowish_values() {
  "$1" --help 2>/dev/null |
    sed -n "/^  --$2=/,/^  -/s/^    =\([^ ]*\) .*/\1/p"
}

_glowish() {
  local tool=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local option= values
  COMPREPLY=()
  # '=' is a word of its own, unless COMP_WORDBREAKS says otherwise.
  if [[ $word == '=' ]]; then
    option=$before word=
  elif [[ $before == '=' ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $word == -*=* ]]; then
    option=${word%%=*} word=${word#*=}
  fi
  if [[ -n $option ]]; then
    option=${option#-}
    mapfile -t values < <(_glowish_values "$tool" "${option#-}")
    if ((${#values[@]})); then
      mapfile -t COMPREPLY < <(compgen -W "${values[*]}" -- "$word")
    else
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
  elif [[ $word == -* ]]; then
    # With one dash or two, as the user writes.
    [[ $word == --* ]] || word=-$word
    mapfile -t COMPREPLY < <(compgen -W "$(_glowish_options "$tool")" -- "$word")
    [[ ${COMP_WORDS[COMP_CWORD]} == --* ]] || COMPREPLY=("${COMPREPLY[@]#-}")
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
  fi
}
complete -F _glowish model-compiler model-runner model-trainer image-classifier \
  network-debugger glowish-opt
