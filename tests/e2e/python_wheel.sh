#!/usr/bin/env bash
# python_wheel.sh BUILD_FOLDER [ROOT]: makes the wheel of that build and checks it: made again
# it has the same bytes, its libraries are hardened, the list of what they are made of is
# complete, and it is installed into a folder and used from there, without the build. With ROOT, a folder with
# a bare Debian 12 that is made if it isn't there (as root; needs debootstrap), it is
# installed in that with the packages that docs/python.md states, mobilenet_v2 of
# $GLOWISH_MODELS (see networks.sh) is compiled and run there, and the times are stated.
# Exits 77 where the module was not built.
set -euo pipefail
trap 'echo "failed: line $LINENO" >&2' ERR
build=$(realpath "$1")
root=${2:+$(realpath -m "$2")}
model=$(realpath -m "${GLOWISH_MODELS:-$(dirname "$0")/../../build/models}/mobilenet_v2")
cd "$(dirname "$0")/../.."
python=${GLOWISH_PYTHON:-/usr/bin/python3}
if ! compgen -G "$build/python/glowish/_glowish.*.so" >/dev/null ||
  ! "$python" -c 'import numpy, wheel' 2>/dev/null; then
  echo "skipped: no Python module, NumPy or wheel (scripts/install-deps.sh --python)"
  exit 77
fi

work=$build/python-wheel-test
rm -rf "$work"
mkdir "$work"
DIST=$work/dist scripts/build-wheel.sh "$build"
wheel=$(echo "$work"/dist/*.whl)
[[ $(basename "$wheel") == glowish-0.1-cp311-cp311-linux_x86_64.whl ]]

# What is in it, unpacked as pip does.
"$python" -m wheel unpack --dest "$work" "$wheel" >/dev/null
package=$(echo "$work"/glowish-*/glowish)
[[ -e $package/py.typed && -e $package/_glowish.pyi && -e $package/backend.py ]]
readelf -d "$package"/_glowish.*.so | grep -q 'R.*PATH.*\[$ORIGIN\]'
! readelf -d "$package"/*.so* | grep "PATH.*$build" || exit 1
folder=$(dirname "$package")
tests/e2e/hardening.py "$build" "$folder"
tests/e2e/check_sbom.py "$folder"/glowish-*.dist-info/sboms/glowish.spdx.json "$folder"
# The same again, and with another umask.
(
  umask 077
  TZ=Pacific/Auckland DIST=$work/again scripts/build-wheel.sh "$build"
)
cmp "$wheel" "$work"/again/*.whl
PYTHONPATH=$(dirname "$package") "$python" - "$package" <<'END'
import os
import sys
import tempfile
import numpy as np
import glowish
assert os.path.dirname(glowish.__file__) == sys.argv[1], glowish.__file__
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1] for line in maps if "libglowish" in line}
assert loaded == {sys.argv[1] + "/libglowish.so.0.1"}, loaded
model = glowish.load("examples/digits/digits.onnx")
x = np.zeros([dim if isinstance(dim, int) else 1 for dim in model.inputs[0].shape],
             model.inputs[0].dtype)
y = model(x)
with tempfile.TemporaryDirectory() as folder:
    np.testing.assert_array_equal(
        glowish.compile("examples/digits/digits.onnx", folder, threads=2,
                        shapes={model.inputs[0].name: x.shape}).load()(x), y)
END
[[ -n $root ]] || exit 0

#--- A bare Debian 12 ---

source tests/e2e/bare_debian.sh
make_bare_debian "$root" "$work/debootstrap.log"
cp "$wheel" "$model"/* "$root/test"
packages=$(sed -n 's/^apt install \(python3-numpy .*\)/\1/p' docs/python.md)
[[ -n $packages ]]
cat >"$root/test/run.sh" <<END
set -e
cd /test
before=\$(date +%s%N)
apt-get install -y -qq --no-install-recommends $packages >apt.log 2>&1 ||
  { cat apt.log; exit 1; }
installed=\$(date +%s%N)
pip install -q --no-deps --no-index --break-system-packages --force-reinstall \
  --root-user-action=ignore ./*.whl
python3 -c '
import numpy as np, glowish
model = glowish.load("model.onnx")
y, expected = model(np.load("input_0.npy")), np.load("output_0.npy")
error = abs(y - expected).max() / abs(expected).max()
assert error < 1e-4, error
print("largest error %.1e of the largest output" % error)'
after=\$(date +%s%N)
echo "packages in \$(((installed - before) / 1000000)) ms, from the wheel to the first" \
  "result \$(((after - installed) / 1000000)) ms"
[ \$(((after - installed) / 1000000)) -lt 60000 ]
END
run_in_bare_debian "$root"
