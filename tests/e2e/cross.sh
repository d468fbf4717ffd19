#!/usr/bin/env bash
# cross.sh [--all] [--doc] [--only TARGET]... [--network NAME]...: bundles for
# other processors, run in QEMU. Their outputs must be the host's to 1e-4 of the
# largest magnitude, or to the bit where all is integers, and the sizes that the
# header states those in the linker's map and in the configuration. The macros of
# the static API state the same: of mlp for each target, of the others for this
# machine, as all headers print the same numbers.
#
#   --all   also larger networks, where they are: lenet, squeezenet1_1 and mlp
#           of $GLOWISH_MODELS (default build/models), and imagenet_squeezenet and
#           the 8-bit networks of MLPerf Tiny of $GLOWISH_TEST_DATA (default
#           ../shared/data)
#   --doc   also write what was measured into the table of docs/performance.md;
#           rows of other networks and targets stay
#   --only     of the targets that are listed in this file, only these
#   --network  of the networks, only these
#
# Each bundle is linked with tests/e2e/cross/run_cross.c: by clang and lld
# without a C library (output by semihosting or system calls), and, where Debian's cross
# compiler for the target is installed (scripts/install-deps.sh --cross), by
# that with its C library. Targets whose emulator is not there are skipped.
# $GLOWISH_BIN: the programs (default build/release/bin). $GLOWISH_SEED: draws
# the network integers (default 1). Exits 1 if a bundle is wrong, 77 if none could
# be run.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${GLOWISH_BIN:-build/release/bin}
models=${GLOWISH_MODELS:-build/models}
data=${GLOWISH_TEST_DATA:-../shared/data}
work=$PWD/build/e2e/cross
source=tests/e2e/cross
bound=100000 # billionths
seed=${GLOWISH_SEED:-1}

all=0 doc=0 only=() onlyNetworks=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --all) all=1; shift ;;
    --doc) doc=1; shift ;;
    --only) only+=("$2"); shift 2 ;;
    --network) onlyNetworks+=("$2"); shift 2 ;;
    *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
  esac
done

# NAME|options of model-compiler|options of clang, or -|Debian's compiler with its
# options, or -|emulator. BOARD: programs without a system and a C library.
semihosting='-nographic -monitor none -serial none -semihosting-config enable=on,target=native'
board="-DBOARD -Wl,-T,$source/mps.ld -Wl,--defsym=BIG_RAM"
targets=(
  "AArch64|-target=aarch64-linux-gnu|--target=aarch64-linux-gnu|aarch64-linux-gnu-gcc|qemu-aarch64"
  "ARMv7, hard float|-target=armv7a-linux-gnueabihf -mattr=+neon|--target=armv7a-linux-gnueabihf -marm|arm-linux-gnueabihf-gcc|qemu-arm"
  "Cortex-A7, soft float ABI|-target=arm-linux-gnueabi -mcpu=cortex-a7 -float-abi=soft|--target=armv7a-linux-gnueabi -marm -mfloat-abi=softfp -mfpu=neon|-|qemu-arm"
  "RISC-V 64|-target=riscv64-linux-gnu|--target=riscv64-linux-gnu|riscv64-linux-gnu-gcc|qemu-riscv64"
  "RISC-V 64 with V|-target=riscv64-linux-gnu -mattr=+v|--target=riscv64-linux-gnu|riscv64-linux-gnu-gcc|qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0"
  "RISC-V 32 with F|-target=riscv32-unknown-elf -mattr=+m,+c,+f -mabi=ilp32f|--target=riscv32-linux-gnu -march=rv32imfc -mabi=ilp32f|-|qemu-riscv32"
  "Cortex-M0|-target=thumbv6m-none-eabi -mcpu=cortex-m0|-|arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb $board=0x21000000|qemu-system-arm $semihosting -machine mps2-an385 -kernel"
  "Cortex-M3|-target=thumbv7m-none-eabi -mcpu=cortex-m3|-|arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb $board=0x21000000|qemu-system-arm $semihosting -machine mps2-an385 -kernel"
  "Cortex-M4|-target=arm -mcpu=cortex-m4 -float-abi=hard|--target=thumbv7em-none-eabihf -mcpu=cortex-m4 $board=0x21000000|arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 $board=0x21000000|qemu-system-arm $semihosting -machine mps2-an386 -kernel"
  "Cortex-M7|-target=thumbv7em-none-eabihf -mcpu=cortex-m7|--target=thumbv7em-none-eabihf -mcpu=cortex-m7 $board=0x60000000|arm-none-eabi-gcc -mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16 $board=0x60000000|qemu-system-arm $semihosting -machine mps2-an500 -kernel"
  "Cortex-M55|-target=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55|--target=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55 $board=0x60000000|arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfloat-abi=hard $board=0x60000000|qemu-system-arm $semihosting -machine mps3-an547 -kernel"
)
# The same of what has the kernels of one of these, or scalar code: with fewer networks,
# of which one has outputs that are compared by their bits. Two need a library of a
# compiler for their arithmetic.
library() { # compiler, options
  command -v "$1" >/dev/null && "$@" -print-libgcc-file-name || echo none
}
i386=$(library clang-19 --target=i686-linux-gnu --rtlib=compiler-rt)
rv32imc=$(library riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32)
others=(
  "x86-64, no system|-target=x86_64-none-elf|--target=x86_64-linux-gnu|-|qemu-x86_64"
  "x86, 32 bits|-target=i686-linux-gnu|--target=i686-linux-gnu $i386|-|qemu-i386"
  "AArch64, no system|-target=aarch64-none-elf|--target=aarch64-linux-gnu|-|qemu-aarch64"
  "AArch64, big-endian|-target=aarch64_be-linux-gnu|--target=aarch64_be-linux-gnu|-|qemu-aarch64_be"
  "ARMv7, Android|-target=armv7a-linux-androideabi21 -mattr=+neon|--target=armv7a-linux-gnueabi -mfloat-abi=softfp -mfpu=neon|-|qemu-arm"
  "ARMv7, big-endian|-target=armebv7a-linux-gnueabihf -mattr=+neon|--target=armebv7a-linux-gnueabihf|-|qemu-armeb"
  "Cortex-R5|-target=armv7r-none-eabihf -mcpu=cortex-r5|--target=armv7a-linux-gnueabihf|-|qemu-arm"
  "RISC-V 64, no system|-target=riscv64-unknown-elf -mattr=+f,+d|--target=riscv64-linux-gnu|-|qemu-riscv64"
  "RISC-V 32|-target=riscv32-linux-gnu|--target=riscv32-linux-gnu|-|qemu-riscv32"
  "RV32IMC|-target=riscv32-unknown-elf -mattr=+m,-a,+c -mabi=ilp32|--target=riscv32-linux-gnu -march=rv32imc -mabi=ilp32 $rv32imc|-|qemu-riscv32"
  "PowerPC 64, little-endian|-target=powerpc64le-linux-gnu|--target=powerpc64le-linux-gnu|-|qemu-ppc64le"
  "PowerPC 64|-target=powerpc64-linux-gnu|-|powerpc64-linux-gnu-gcc|qemu-ppc64"
  "PowerPC 64, ELFv2|-target=powerpc64-linux-musl|--target=powerpc64-linux-gnu -mabi=elfv2|-|qemu-ppc64"
  "PowerPC 32|-target=powerpc-linux-gnu|--target=powerpc-linux-gnu|-|qemu-ppc"
  "MIPS 64, little-endian|-target=mips64el-linux-gnuabi64|--target=mips64el-linux-gnuabi64 -Wno-option-ignored|-|qemu-mips64el"
  "MIPS n32, little-endian|-target=mips64el-linux-gnuabin32|--target=mips64el-linux-gnuabin32|-|qemu-mipsn32el"
  "MIPS 32, little-endian|-target=mipsel-linux-gnu|--target=mipsel-linux-gnu|-|qemu-mipsel"
  "MIPS 64|-target=mips64-linux-gnuabi64|--target=mips64-linux-gnuabi64 -Wno-option-ignored|-|qemu-mips64"
  "MIPS 32|-target=mips-linux-gnu|--target=mips-linux-gnu|-|qemu-mips"
  "LoongArch 64|-target=loongarch64-linux-gnu|--target=loongarch64-linux-gnu -mno-lsx|-|qemu-loongarch64"
  "Hexagon|-target=hexagon-unknown-linux-musl|--target=hexagon-linux-musl -G0|-|qemu-hexagon"
  "IBM Z|-target=s390x-linux-gnu|--target=s390x-linux-gnu|s390x-linux-gnu-gcc|qemu-s390x"
  "SPARC 64|-target=sparc64-linux-gnu|--target=sparc64-linux-gnu|-|qemu-sparc64"
)
otherNetworks=(mlp integers digits)

# The networks of the table: imagenet_squeezenet's code is squeezenet1_1's.
names=(mlp quantized digits lenet mlp-exported squeezenet1_1 tiny_resnet8
  tiny_dscnn_kws tiny_mobilenet_vww tiny_autoencoder tflite_resnet8
  tflite_dscnn_kws tflite_mobilenet_vww tflite_autoencoder)
# NAME MODEL of the networks, and whether outputs are compared by their bits.
networks=("mlp $source/mlp.onnxtxt" "quantized $source/quantized.onnxtxt"
  "integers $work/integers.onnxtxt bits" "digits examples/digits/digits.onnx")
if [[ $all = 1 ]]; then
  for model in "$models"/{lenet,mlp,squeezenet1_1}/model.onnx \
    "$data"/trained/imagenet_squeezenet/model.onnx \
    "$data"/quantized/tiny_{resnet8,dscnn_kws,mobilenet_vww,autoencoder}_int8/model.onnx; do
    name=$(basename "$(dirname "$model")")
    name=${name%_int8}
    if [[ -e $model ]]; then
      networks+=("${name/mlp/mlp-exported} $model")
    else
      echo "skipped, as it is not there: $model"
    fi
  done
  # The same networks as TensorFlow Lite has them: all integers must be those of
  # the interpreter.
  for model in resnet8_int8/pretrainedResnet_quant \
    dscnn_kws_int8/kws_ref_model mobilenet_vww_int8/vww_96_int8 \
    autoencoder_int8/ad01_int8; do
    file=$data/quantized/tiny_$model.tflite
    if [[ -e $file ]]; then
      networks+=("tflite_${model%%_int8*} $file bits")
    else
      echo "skipped, as it is not there: $file"
    fi
  done
fi

# Whether a name is among others, of which none stand for all.
isChosen() { # name, others
  local name=$1 other
  shift
  [[ $# -gt 0 ]] || return 0
  for other in "$@"; do
    [[ $name != "$other" ]] || return 0
  done
  return 1
}

raw() { # the elements of a .npy file
  tail -c +$(($(od -An -tu2 -j8 -N2 "$1") + 11)) "$1"
}

# The programs that are linked compare floats: quantized inputs and outputs of
# TensorFlow Lite models become some.
modelOptions() { # model
  [[ $1 != *.tflite ]] || echo -tflite-float-inputs -tflite-float-outputs \
    -tflite-rename-tensors
}

compile() { # folder, model, API, options of model-compiler
  # shellcheck disable=SC2046
  "$bin/model-compiler" -model="$2" $(modelOptions "$2") -emit-bundle="$1" \
    -network-name=network -weights=embed -bundle-api="$3" "${@:4}" \
    >"$1.log" 2>&1
}

# The value of a macro of a header of the static API.
macro() { # header, NAME
  sed -n "s/^#define NETWORK_$2 \([0-9]*\)u*\$/\1/p" "$1"
}

# What the first comment of a header of either API calls these macros.
declare -A lines=([CONSTANT_MEM_SIZE]='constant weights'
  [MUTABLE_MEM_SIZE]='mutable weights' [ACTIVATIONS_MEM_SIZE]=activations)

# The same by that comment.
commented() { # header, NAME
  sed -n "s/^ \* ${lines[$2]} *\([0-9]*\) bytes.*/\1/p" "$1"
}

# Macros must be what the comment states.
checkMacros() { # header
  local name
  for name in "${!lines[@]}"; do
    if [[ -z $(macro "$1" "$name") ||
      $(macro "$1" "$name") != $(commented "$1" "$name") ]]; then
      echo "WRONG: $name is $(macro "$1" "$name"), and the comment of the header" \
        "states $(commented "$1" "$name")"
      exit 1
    fi
  done
}

# A random input of the network, and what this machine makes of it, which is what
# the interpreter does where bits are compared.
prepare() { # folder, model, back end
  local name type
  mkdir -p "$1"
  compile "$1/host" "$2" static
  checkMacros "$1/host/network.h"
  # " * input 'NAME': TYPE, ... elements, ..."
  IFS=$'\t' read -r name type < <(sed -n \
    "s/^ \* input '\(.*\)': \([^,]*\), .*/\1\t\2/p" "$1/host/network.h")
  printf '%s\n' 'module "m"' "placeholder %x : $type input \"x\"" \
    "placeholder %y : $type output \"input\"" \
    'function "main" {' '  Save(%x, %y)' '}' >"$1/input.graph"
  "$bin/model-runner" -model="$1/input.graph" -random-inputs=7 \
    -output-dir="$1" >/dev/null
  # shellcheck disable=SC2046
  "$bin/model-runner" -model="$2" $(modelOptions "$2") \
    -input="$name=$1/input.npy" -backend="$3" \
    -output-dir="$1/expected" >/dev/null
  raw "$1/input.npy" >"$1/inputs"
  raw "$1"/expected/*.npy >"$1/outputs"
}

# What the header states: its macros where the static API was compiled, and
# otherwise the comment, and the alignment of this machine's.
stated() { # folder, NAME
  if [[ -e $1/static/network.h ]]; then
    macro "$1/static/network.h" "$2"
  elif [[ $2 == MEM_ALIGN ]]; then
    macro "$1/../host/network.h" "$2"
  else
    commented "$1/dynamic/network.h" "$2"
  fi
}

# Links $1/run for a way, clang or gcc; fails silently if that is not there. The
# sources are one file for the compiler: most of its time is that of its starts.
# The bundle comes first, so that they don't move its code: on its addresses the fault of QEMU
# (below) depends.
link() { # folder, way, options
  local folder=$1 way=$2 compiler common=() options libraries=()
  local platform=$source/platform_semihosted.c
  read -ra options <<<"$3"
  common=(-std=c99 -O2 -Wall -Wextra -Werror "-I$folder/dynamic"
    '-DBUNDLE_HEADER="network.h"' -DBUNDLE_ENTRY=network
    -DBUNDLE_CONFIG=network_config -DBUNDLE_WEIGHTS=network_weights
    -DBUNDLE_CHECK=network_check_weights
    "-DMUTABLE_SIZE=$(stated "$folder" MUTABLE_MEM_SIZE)"
    "-DACTIVATIONS_SIZE=$(stated "$folder" ACTIVATIONS_MEM_SIZE)"
    "-DREGION_ALIGNMENT=$(stated "$folder" MEM_ALIGN)"
    "-DINPUTS=\"$folder/../inputs\"" "-DOUTPUTS=\"$folder/../outputs\"")
  [[ -z $bits ]] || common+=(-DEXPECTS_BITS)
  case $way in
    clang)
      compiler=(clang-19 "${options[@]}" -ffreestanding -fno-builtin -fno-pic
        -meabi gnu -Wno-unused-command-line-argument -nostdlib -static
        -fuse-ld=lld "-Wl,-Map=$folder/map") ;;
    gcc)
      compiler=("${options[@]}" -static)
      if [[ $3 == *-DBOARD* ]]; then
        compiler+=(-ffreestanding -fno-builtin -nostdlib
          -fno-tree-loop-distribute-patterns)
        libraries=(-lgcc)
      else
        platform=$source/platform_hosted.c
      fi ;;
  esac
  "${compiler[@]}" "${common[@]}" -include "$platform" \
    -include $source/test_data.c "$folder/dynamic/network.o" $source/run_cross.c \
    "${libraries[@]}" -o "$folder/run"
}

# Address and bytes of a symbol, or with .text of the bundle's section, in lld's
# map.
place() { # folder, name
  awk -v name="$2" '
    $5 == name || $5 ~ ("network\\.o:\\(" name "\\)$") { found = $1 " " $3 }
    END { print found }' "$1/map"
}

mapped() { # folder, name
  local address size
  read -r address size < <(place "$@")
  echo $((16#${size:-0}))
}

# Says what is wrong with the sizes that the linker gave to the regions.
checkSizes() { # folder
  local pair
  for pair in network_weights:CONSTANT_MEM_SIZE \
    region_mutable:MUTABLE_MEM_SIZE region_activations:ACTIVATIONS_MEM_SIZE; do
    if [[ $(mapped "$1" "${pair%:*}") != $(stated "$1" "${pair#*:}") ]]; then
      echo "WRONG: ${pair%:*} has $(mapped "$1" "${pair%:*}") bytes, and the" \
        "header states $(stated "$1" "${pair#*:}")"
    fi
  done
}

# QEMU 7 gives up on a conversion of floats to integers of RISC-V V, rounded
# toward zero, that begins a block of code: what is wrong there, it cannot say.
emulatorFault='decode_save_opc: Assertion'

# Runs and judges $1/run: prints "right", what is wrong, or that QEMU gave up.
judge() { # folder, emulator
  local emulator
  read -ra emulator <<<"$2"
  timeout 600 "${emulator[@]}" "$1/run" >"$1/output" 2>&1 </dev/null || true
  awk -v bound="$([[ -n $bits ]] && echo 0 || echo $bound)" \
    -v fault="$emulatorFault" '
    / error [0-9]+$/ { n++; if ($NF > bound) bad = 1 }
    /^done$/ { done = 1 }
    { last = $0 }
    END { if (done && n && !bad) print "right"
          else if (index(last, fault)) print "not run: a fault of QEMU"
          else print "WRONG: " (done ? "errors" : last) }' "$1/output"
}

# Prints the instructions of the bundle that QEMU executes when it runs
# $1/run, or nothing where it has no plugins. For the table alone: it takes a second run.
countInstructions() { # folder, emulator
  local emulator address size
  read -ra emulator <<<"$2"
  read -r address size < <(place "$1" .text)
  rm -f "$1/instructions"
  timeout 600 "${emulator[0]}" -plugin "$counter,begin=0x$address,end=$((
    16#$address + 16#$size)),output=$1/instructions" "${emulator[@]:1}" \
    "$1/run" >"$1/counted" 2>&1 </dev/null || true
  [[ ! -e $1/instructions ]] || awk '{ print $2 }' "$1/instructions"
}

ran=0 wrong=0 faults=0
rows=$work/rows
counter=$work/count_instructions.so
tryWay() { # network, target, folder, way, options, emulator
  local verdict sizes= tool
  tool=${5%% *}
  [[ $4 != clang ]] || tool=clang-19
  if [[ $5 == - || $5 == *\ none ]] || ! command -v "$tool" >/dev/null ||
    ! command -v "${6%% *}" >/dev/null; then
    return 0
  fi
  rm -f "$3/run"
  : >"$3/output"
  if ! link "$3" "$4" "$5" >"$3/link.log" 2>&1; then
    verdict="WRONG: $(grep -m1 error "$3/link.log")"
  else
    verdict=$(judge "$3" "$6")
    [[ $4 != clang ]] || sizes=$(checkSizes "$3")
    verdict=${sizes:-$verdict}
  fi
  ((++ran))
  case $verdict in
    right) ;;
    not\ run*) ((++faults)) ;;
    *) ((++wrong)) ;;
  esac
  printf '%-20s %-26s %-6s %9s  %s\n' "$1" "$2" "$4" \
    "$(awk '/ error /{ if ($NF + 0 > e) e = $NF } END { printf "%.0e", e / 1e9 }' \
      "$3/output")" "$verdict"
  if [[ $doc = 1 && $4 == clang && $verdict == right ]]; then
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" \
      "$(mapped "$3" .text)" "$(stated "$3" CONSTANT_MEM_SIZE)" \
      "$(stated "$3" MUTABLE_MEM_SIZE)" "$(stated "$3" ACTIVATIONS_MEM_SIZE)" \
      "$(awk '/^stack /{ s = $2 } END { print s }' "$3/output")" \
      "$(countInstructions "$3" "$6")" >>"$rows"
  fi
}

rm -rf "$work"
mkdir -p "$work"
python3 $source/integers.py "$seed" >"$work/integers.onnxtxt"
: >"$rows"
[[ $doc = 0 ]] || clang-19 -std=c11 -O2 -Wall -Wextra -Werror \
  -D_POSIX_C_SOURCE=200809L -shared -fPIC -o "$counter" $source/count_instructions.c
printf '%-20s %-26s %-6s %9s\n' network target linked error
for network in "${networks[@]}"; do
  read -r name model bits <<<"$network"
  isChosen "$name" "${onlyNetworks[@]}" || continue
  prepare "$work/$name" "$model" "$([[ -z $bits ]] && echo CPU || echo Interpreter)"
  allTargets=("${targets[@]}")
  ! isChosen "$name" "${otherNetworks[@]}" || allTargets+=("${others[@]}")
  for row in "${allTargets[@]}"; do
    IFS='|' read -r target options clang gcc emulator <<<"$row"
    isChosen "$target" "${only[@]}" || continue
    # Without a floating-point unit that takes hours.
    [[ $target != Cortex-M[03] || $name != *squeezenet* ]] || continue
    folder=$work/$name/${target//[^A-Za-z0-9]/_}
    mkdir -p "$folder"
    read -ra options <<<"$options"
    apis=(dynamic)
    [[ $name != mlp ]] || apis+=(static)
    for api in "${apis[@]}"; do
      compile "$folder/$api" "$model" "$api" "${options[@]}" ||
        { cat "$folder/$api.log"; exit 1; }
    done
    tryWay "$name" "$target" "$folder" clang "$clang" "$emulator"
    tryWay "$name" "$target" "$folder" gcc "$gcc" "$emulator"
  done
done

# The rows that were measured and the others of the document, by network and
# target.
table() {
  local name row
  echo '| Network | Target | Code | Weights | Inputs and outputs | Activations | Stack | Instructions |'
  echo '|---|---|---:|---:|---:|---:|---:|---:|'
  for name in "${names[@]}"; do
    for row in "${targets[@]}"; do
      grep -h -m1 "^| $name | ${row%%|*} |" "$rows" "$work/documented" |
        head -n1 || true
    done
  done
}
if [[ $doc = 1 ]]; then
  sed -n '/<!-- cross: begin -->/,/<!-- cross: end -->/p' docs/performance.md \
    >"$work/documented"
  table >"$work/table"
  awk -v table="$work/table" '
    /<!-- cross: end -->/ { skips = 0 }
    !skips { print }
    /<!-- cross: begin -->/ {
      skips = 1
      print ""
      while ((getline line < table) > 0) print line
      print ""
    }' docs/performance.md >"$work/performance.md"
  cp "$work/performance.md" docs/performance.md
fi
if [[ $ran -eq 0 ]]; then
  echo "no emulator: nothing was run"
  exit 77
fi
echo "$((ran - wrong - faults)) right, $wrong wrong, $faults where QEMU gave up"
[[ $wrong -eq 0 ]]
