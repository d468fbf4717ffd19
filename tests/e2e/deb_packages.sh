#!/usr/bin/env bash
# deb_packages.sh BUILD_FOLDER [ROOT]: makes the Debian packages of that build and checks
# what is in them: made again at another time, in another folder and with another umask,
# locale and time zone they have the same bytes, lintian finds no error, the list of what
# they are made of is complete, programs and libraries are hardened, the tools run, and a
# network is compiled and linked with the packages' files alone. With ROOT, a folder that is made if it isn't
# there, they are also installed into a bare Debian 12 in it (as root; needs debootstrap),
# mobilenet_v2 of $GLOWISH_MODELS (see networks.sh) is compiled, linked and run there,
# and the times are stated.
set -euo pipefail
trap 'echo "failed: line $LINENO" >&2' ERR
build=$(realpath "$1")
root=${2:+$(realpath -m "$2")}
model=$(realpath -m "${GLOWISH_MODELS:-$(dirname "$0")/../../build/models}/mobilenet_v2")
cd "$(dirname "$0")/../.."
for program in dpkg-deb dpkg-shlibdeps file readelf nm man; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: $program is not installed (scripts/install-deps.sh)"
    exit 77
  fi
done

work=$build/deb-packages-test
rm -rf "$work"
mkdir "$work"

# Half of the time of packing is that of Debian's dpkg-shlibdeps, which reads the symbols of
# libLLVM for each package. Both times it would get the same environment from pack.sh, so for
# files with the same bytes its answer is taken from the first time; the package of MPI, whose
# libraries are small, has it asked again.
mkdir -p "$work/bin" "$work/answers"
cat >"$work/bin/dpkg-shlibdeps" <<END
#!/usr/bin/env bash
set -euo pipefail
files=()
for argument; do [[ ! -f \$argument ]] || files+=("\$argument"); done
if [[ \${#files[@]} -eq 0 || "\$*" == *libglowish-mpi* ]]; then
  exec $(command -v dpkg-shlibdeps) "\$@"
fi
key=\$({ printf '%s\n' "\$@"; sha256sum -- "\${files[@]}"; } | sha256sum | cut -c1-64)
answer="$work/answers/\$key"
[[ -e \$answer ]] || $(command -v dpkg-shlibdeps) "\$@" >"\$answer.new"
[[ -e \$answer ]] || mv "\$answer.new" "\$answer"
cat "\$answer"
END
chmod +x "$work/bin/dpkg-shlibdeps"
export PATH=$work/bin:$PATH
packaging/pack.sh "$build" "$work/packages"
(
  umask 077
  export LC_ALL=C TZ=Pacific/Auckland
  packaging/pack.sh "$build" "$work/again/packages of another time"
)
diff -r "$work/packages" "$work/again/packages of another time"
rm -r "$work/again"
if command -v lintian >/dev/null; then
  lintian --fail-on error "$work"/packages/*.deb >"$work/lintian.log" 2>&1 || {
    cat "$work/lintian.log"
    exit 1
  }
fi

#--- What is in them ---

for package in "$work"/packages/*.deb; do
  dpkg-deb -x "$package" "$work/unpacked"
done
usr=$work/unpacked/usr
tests/e2e/hardening.py "$build" "$usr"
tests/e2e/check_sbom.py "$usr/share/doc/glowish/glowish.spdx.json" "$work/unpacked"
# The tools log through glog, which programs with the library may have themselves.
dpkg-deb -f "$work"/packages/glowish_*.deb Depends | grep -q libgoogle-glog0v6
! dpkg-deb -f "$work"/packages/libglowish0*.deb Depends | grep glog || exit 1
grep -q libgoogle-glog0v6 "$usr/share/doc/glowish/glowish.spdx.json"
export LD_LIBRARY_PATH=$usr/lib
for tool in "$usr"/bin/*; do
  ! readelf -d "$tool" "$usr/lib/libglowish.so" | grep RUNPATH || exit 1
  "$tool" --version >/dev/null
  name=$(basename "$tool")
  MANPATH=$usr/share/man man --warnings "$name" 2>&1 >"$work/page.txt" | diff - /dev/null
  grep -q -e '^ *--version$' "$work/page.txt"
  [[ -e $usr/share/bash-completion/completions/$name ]]
done

# The library exports what is its own.
nm -D --defined-only "$usr/lib/libglowish.so" >"$work/symbols.txt"
grep -q 7glowish "$work/symbols.txt"
! awk '{print $3}' "$work/symbols.txt" |
  grep -v '^glowish_\|^_Z[A-Z]*7glowish\|^GLOWISH_' || exit 1

# The Python module, where it was built.
if compgen -G "$usr/lib/python3/dist-packages/glowish/_glowish.*.so" >/dev/null; then
  ! readelf -d "$usr"/lib/python3/dist-packages/glowish/*.so | grep RUNPATH || exit 1
  PYTHONPATH=$usr/lib/python3/dist-packages /usr/bin/python3 -B -c '
import glowish
assert glowish.load("examples/digits/digits.onnx").inputs'
fi

# complete WORD...: what bash would offer for the last word.
complete_words() (
  source "$usr/share/bash-completion/completions/model-compiler"
  PATH=$usr/bin:$PATH
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _glowish "$1"
  echo "${COMPREPLY[*]}"
)
[[ $(complete_words model-compiler -emit-b) == -emit-bundle= ]]
[[ $(complete_words model-compiler --weights =) == 'file text embed' ]]
[[ $(complete_words model-compiler -weights = e) == embed ]]
[[ $(complete_words model-compiler -model = LICEN) == LICENSE ]]

# Projects find them: with CMake a bundle and the library, with pkg-config both.
cmake -S examples/digits -B "$work/digits" -G Ninja -DCMAKE_C_COMPILER=clang-19 \
  -DCMAKE_BUILD_TYPE=Release -Dglowish_DIR="$usr/lib/cmake/glowish" >"$work/digits.log"
cmake --build "$work/digits" >>"$work/digits.log"
"$work/digits/recognise" examples/digits/images/3_0.png | grep -q '^3 .*3_0.png'
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$usr/lib/pkgconfig:$usr/share/pkgconfig
  [[ -x $(pkg-config --variable=model_compiler glowish) ]]
  [[ -f $(pkg-config --variable=supportdir glowish)/glowish_weights.c ]]
  # shellcheck disable=SC2046
  clang++-19 -std=c++20 $(pkg-config --cflags libglowish) examples/cpp-graph/*.cpp \
    $(pkg-config --libs libglowish) -o "$work/edges"
  "$work/edges" >"$work/edges.txt"
  [[ -s $work/edges.txt ]]
fi
# Without libglowish-dev there is no library.
rm "$usr"/lib/cmake/glowish/glowishTargets*.cmake
! cmake -S examples/cpp-graph -B "$work/graph" -G Ninja \
  -DCMAKE_CXX_COMPILER=clang++-19 -Dglowish_DIR="$usr/lib/cmake/glowish" \
  >"$work/graph.log" 2>&1 || exit 1
grep -q 'libglowish-dev' "$work/graph.log"
unset LD_LIBRARY_PATH

[[ -n $root ]] || exit 0

#--- A bare Debian 12 ---

source tests/e2e/bare_debian.sh
make_bare_debian "$root" "$work/debootstrap.log" gcc,libc6-dev
cp "$work"/packages/{glowish_,libglowish0}*.deb "$root/test"
cp "$model"/* "$root/test"
cp tests/e2e/{run_bundle.c,guarded_memory.h} "$root/test"
cat >"$root/test/run.sh" <<'END'
set -e
cd /test
before=$(date +%s%N)
apt-get install -y -qq --no-install-recommends ./*.deb >apt.log 2>&1 || { cat apt.log; exit 1; }
installed=$(date +%s%N)
model-compiler -model=model.onnx -emit-bundle=out -network-name=network -bundle-api=dynamic
compiled=$(date +%s%N)
gcc -std=c99 -O2 -Iout -DBUNDLE_HEADER='"network.h"' -DBUNDLE_CONFIG=network_config \
  -DBUNDLE_ENTRY=network -DBUNDLE_CHECK=network_check_weights run_bundle.c out/network.o \
  -lm -o run
./run out/network.weights.bin -input=input_0=input_0.npy -expect=output_0=output_0.npy
after=$(date +%s%N)
echo "installed in $(((installed - before) / 1000000)) ms, compiled in" \
  "$(((compiled - installed) / 1000000)) ms, linked and run in" \
  "$(((after - compiled) / 1000000)) ms"
END
chroot "$root" apt-get purge -y -qq glowish 'libglowish*' >/dev/null 2>&1 || :
run_in_bare_debian "$root"
