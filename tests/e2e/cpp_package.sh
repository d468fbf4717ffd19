#!/usr/bin/env bash
# cpp_package.sh BUILD_FOLDER: installs that build, moves what was installed, and
# makes examples/cpp-graph with it alone: find_package(glowish), the headers, the
# library. What the program prints is what its README shows.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/../.."

work=$build/cpp-package-test
rm -rf "$work"
mkdir "$work"
cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
mv "$work/installed" "$work/prefix"
package=$(echo "$work"/prefix/lib*/cmake/glowish)

# configure SOURCE NAME: the output goes to NAME.log.
export CC=clang-19 CXX=clang++-19
configure() {
  cmake -S "$1" -B "$work/$2" -G Ninja -Dglowish_DIR="$package" \
    >"$work/$2.log" 2>&1
}

# make_example NAME: the example with $CC and $CXX, and what it prints.
make_example() {
  configure examples/cpp-graph "$1" || {
    cat "$work/$1.log"
    exit 1
  }
  cmake --build "$work/$1"
  "$work/$1/edges" >"$work/$1.txt"
  sed -n '/^prints$/,$p' examples/cpp-graph/README.md |
    sed -n '/^```$/,/^```$/p' | grep -v '```' | diff - "$work/$1.txt"
}
make_example graph
if command -v g++ >/dev/null; then
  CC=gcc CXX=g++ make_example graph-gcc
fi

"$work/graph/edges" "$work/bundle"
printf '#include "edges.h"\nint main(void) { return EDGES_image_SIZE != 256; }\n' \
  >"$work/main.c"
clang-19 -I "$work/bundle" "$work/main.c" "$work/bundle/edges.o" -o "$work/main"
"$work/main"

# All headers compile with what is installed, in two orders, without a warning.
mkdir "$work/all"
(cd "$work/prefix/include" && find glowish -name '*.h' | sort |
  sed 's/.*/#include "&"/') >"$work/all/forwards.cpp"
tac "$work/all/forwards.cpp" >"$work/all/backwards.cpp"
[[ $(wc -l <"$work/all/forwards.cpp") -ge 50 ]]
cat >"$work/all/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(headers LANGUAGES CXX)
find_package(glowish REQUIRED COMPONENTS library)
add_library(headers OBJECT forwards.cpp backwards.cpp)
target_link_libraries(headers PRIVATE glowish::glowish)
target_compile_options(headers PRIVATE -Wall -Wextra -Werror
  -Wno-unused-parameter)
END
configure "$work/all" headers
cmake --build "$work/headers" >"$work/headers-build.log" || {
  grep -E 'error|warning' "$work/headers-build.log"
  exit 1
}

# A program with glog of its own, the shared library and, as a second copy, the static one.
# The compiler's log is there where it asks for it.
mkdir "$work/glog"
cat >"$work/glog/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(glog LANGUAGES CXX)
find_package(glowish REQUIRED COMPONENTS library)
set(libraries_shared glog gflags)
set(libraries_static -Wl,-Bstatic glog gflags -Wl,-Bdynamic unwind)
foreach(kind shared static)
  add_executable(host-\${kind} $PWD/tests/e2e/glog_host.cpp)
  target_link_libraries(host-\${kind} PRIVATE glowish::glowish \${libraries_\${kind}})
endforeach()
END
configure "$work/glog" glog-host
cmake --build "$work/glog-host" >"$work/glog-build.log" || {
  cat "$work/glog-build.log"
  exit 1
}
for host in "$work"/glog-host/host-{shared,static}; do
  "$host" examples/digits/digits.onnx >"$work/host.out" 2>"$work/host.log"
  [[ ! -s $work/host.out && $(wc -l <"$work/host.log") -eq 1 ]]
  grep -q 'glog_host.cpp:[0-9]*\] of the program$' "$work/host.log"
  "$host" examples/digits/digits.onnx 1 2>"$work/host.log"
  grep -q '^I.* Timing.cpp:[0-9]*\] phase import took ' "$work/host.log"
  grep -q 'glog_host.cpp:[0-9]*\] of the program$' "$work/host.log"
  ! grep 'pass \|not logged' "$work/host.log" || exit 1
done

# The component states why it can't be used.
mkdir "$work/c"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(c LANGUAGES C)' \
  'find_package(glowish REQUIRED COMPONENTS library)' >"$work/c/CMakeLists.txt"
! configure "$work/c" c-only || exit 1
tr -s '\n ' ' ' <"$work/c-only.log" | grep -q \
  "component library can't be used: the languages of the project have no CXX"

# Neither this build nor these sources are named in the package.
! grep -rlF -e "$build/lib" -e "$PWD/include" -e "$work/installed" \
  "$package" || exit 1

# Operators in a library of its own, and an application that has another one.
configure examples/plugin/operators operators || {
  cat "$work/operators.log"
  exit 1
}
cmake --build "$work/operators"
"$work/operators/app" >"$work/app.txt"
sed -n '/^prints$/,$p' examples/plugin/README.md |
  sed -n '/^```$/,/^```$/p;' | sed '2,/^```$/!d' | grep -v '```' |
  diff - "$work/app.txt"

# A back end in a library of its own, and libraries that are none or of another version.
configure examples/plugin/backend counting || {
  cat "$work/counting.log"
  exit 1
}
cmake --build "$work/counting"
runner=$work/prefix/bin/model-runner
model=tests/lit/forms/lstm_cell.graph
plugin=$work/counting/libcounting.so
"$runner" -model=$model -random-inputs=1 -load="$plugin" -backend=Counting \
  -output-dir="$work/counted" >"$work/counted.txt" 2>&1
grep -q '^ElementWiseLoop: ' "$work/counted.txt"
"$runner" -model=$model -random-inputs=1 -backend=Interpreter \
  -output-dir="$work/interpreted" >"$work/interpreted.txt" 2>&1
diff -r "$work/counted" "$work/interpreted"

# Its own pass over the lowered graph: in a body, too, and only where it is exact.
cat >"$work/quotients.graph" <<'END'
module "quotients"
placeholder %x : float<4> input "x"
placeholder %flag : bool<> input "flag"
placeholder %y : float<4> output "y"
placeholder %z : float<4> output "z"
constant %powers : float<4> = [2.0, -0.5, 1024.0, 0.125]
constant %three : float<> = [3.0]
function "main" {
  %half = Div(%x, %powers) : float<4>
  %third = Div(%half, %three) : float<4>
  Save(%third, %y)
  %if = If(%flag, %x, %powers) {thenBody = body "then" (%tx : float<4>, %tp : float<4>) -> (%ty : float<4>) {
    %q = Div(%tx, %tp) : float<4>
    Save(%q, %ty)
  }, elseBody = body "else" (%ex : float<4>, %ep : float<4>) -> (%ey : float<4>) {
    Save(%ex, %ey)
  }} : float<4>
  Save(%if, %z)
}
END
run_quotients() {
  "$runner" -model="$work/quotients.graph" -random-inputs=1 "$@" 2>&1
}
run_quotients -load="$plugin" -backend=Counting -dump-graph -check-passes \
  -output-dir="$work/multiplied" >"$work/multiplied.txt"
run_quotients -backend=Interpreter -dump-graph \
  -output-dir="$work/divided" >"$work/divided.txt"
diff -r "$work/multiplied" "$work/divided"
[[ $(grep -c ' = Div(' "$work/divided.txt") -eq 3 ]]
[[ $(grep -c ' = Div(' "$work/multiplied.txt") -eq 1 ]]
[[ $(grep -c ' = Mul(' "$work/multiplied.txt") -eq 2 ]]
run_quotients -load="$plugin" -backend=Counting -verify-each \
  -print-after=counting-reciprocals >"$work/printed.txt"
[[ $(grep -c '^// after counting-reciprocals$' "$work/printed.txt") -eq 3 ]]

# refuse TEXT OPTION...: one line that contains TEXT, and exit code 1.
refuse() {
  local text=$1 status=0
  shift
  "$runner" -model=$model -random-inputs=1 "$@" >"$work/refused.txt" 2>&1 ||
    status=$?
  [[ $status -eq 1 && $(wc -l <"$work/refused.txt") -eq 1 ]] &&
    grep -q "$text" "$work/refused.txt" || {
    cat "$work/refused.txt"
    exit 1
  }
}
refuse 'the back ends are CPU and Interpreter' -backend=Counting
refuse 'cannot be loaded' -load="$work/none.so" -backend=Counting
printf 'int x;\n' >"$work/none.c"
clang-19 -shared -fPIC "$work/none.c" -o "$work/libnone.so"
refuse 'is no plug-in: it has no glowish_plugin_version' -load="$work/libnone.so"
printf 'const unsigned glowish_plugin_version = 99;
void glowish_register_plugin(void) {}\n' >"$work/other.c"
clang-19 -shared -fPIC "$work/other.c" -o "$work/libother.so"
refuse 'version 99 of the interface of plug-ins; accepted: 2' \
  -load="$work/libother.so"
refuse 'print-after=counting-reciprocals: there is no such pass' \
  -backend=Interpreter -print-after=counting-reciprocals

# A front end in a library of its own: the same network in its format and in ONNX's.
configure examples/plugin/frontend steps || {
  cat "$work/steps.log"
  exit 1
}
cmake --build "$work/steps"
plugin=$work/steps/libsteps.so
compiler=$work/prefix/bin/model-compiler
cat >"$work/net.steps" <<'END'
steps 1
input x 2 3
const w 3 2 : 1 2 3 4 5 -6
y = matmul x w
z = relu y
output z
END
"$runner" -model="$work/net.steps" -load="$plugin" -random-inputs=1 \
  -output-dir="$work/steps-run"
"$compiler" -model="$work/net.steps" -load="$plugin" -emit-onnx="$work/net.onnx"
"$runner" -model="$work/net.onnx" -random-inputs=1 -output-dir="$work/onnx-run"
diff -r "$work/steps-run" "$work/onnx-run"
"$compiler" -model="$work/net.steps" -load="$plugin" -emit-bundle="$work/steps-bundle"
[[ -s $work/steps-bundle/net.o ]]
# By its first bytes, too; its operators are a list.
cp "$work/net.steps" "$work/net"
"$compiler" -model="$work/net" -load="$plugin" -stop-after=plan
"$compiler" -load="$plugin" -list-operators=steps | grep -q '^- matmul X Y$'
model=$work/net.steps
refuse 'not an ONNX model' -backend=Interpreter
sed -i 's/relu y/relu q/' "$work/net.steps"
refuse "net.steps': line 5: no line above has the value 'q'" -load="$plugin"
refuse "state=x,z_out: .* is a Steps model; accepted: ONNX models" \
  -load="$plugin" -state=x,z_out
