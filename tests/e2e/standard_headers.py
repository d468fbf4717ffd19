#!/usr/bin/env python3
"""standard_headers.py: headers of bundles beside all standard headers of C and C++.

Bundles of all kinds, whose networks, inputs and dimensions have names that together are
names of the library (an input MAX of a network INT32), are included behind all standard
headers, and before them: in C99 to C23 and C++11 to C++23, with GCC and Clang. Networks that
are called like a name of the library or one of its headers are refused.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if anything is wrong, 77
without a compiler.
"""

import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from standard_names import C_HEADERS, CXX_HEADERS  # noqa: E402

BIN = os.environ.get("GLOWISH_BIN", os.path.join(ROOT, "build/release/bin"))

INPUT = """input { name: "%s" type { tensor_type { elem_type: 1 shape {
  dim { dim_param: "%s" } dim { dim_value: 3 } } } } }
"""
# Names of the library with one of the networks below, or by themselves.
INPUTS = ["MAX", "t", "load", "errno", "NULL", "linux", "I", "MIN", "C", "d", "EOF"]
DIMENSION = "errno"


def make_model():
    nodes = "".join(
        'node { op_type: "Neg" input: "%s" output: "%s_y" }\n'
        'output { name: "%s_y" }\n' % (name, name, name) for name in INPUTS)
    return ("ir_version: 7 opset_import { version: 13 }\ngraph { name: \"g\"\n" + nodes +
            "".join(INPUT % (name, DIMENSION) for name in INPUTS) + "}\n")


LEARNS = """ir_version: 8 opset_import { version: 17 }
graph {
  name: "learns"
  node { input: "MAX" input: "t" output: "y" op_type: "MatMul" }
  initializer { name: "t" data_type: 1 dims: 2 dims: 1 float_data: [0.3, -0.2] }
  input { name: "MAX" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 3 } dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
"""

ONE = ["-define-symbol=errno,2"]
BUNDLES = {
    "INT32": ONE,
    "size": ONE + ["-bundle-api=dynamic"],
    "atomic": ONE + ["-weights=embed"],
    "PRI": ["-define-symbol=errno,1,2"],
    "DBL": ["-define-symbol=errno,1,2", "-bundle-api=dynamic"],
    "UINT8": ["-define-symbol=errno,1..4"],
    "wint": ONE + ["-io-in-activations"],
    "SIG": ONE + ["-memory-regions=data:1K,value:64K"],
    "FLT": ONE + ["-threads=2"],
    "LDBL": ["-train", "-loss=l1"],
    "ATOMIC": ["-train", "-loss=l1", "-gradients=external"],
}

# The first are macros, functions, objects, types and a namespace, the last headers.
REFUSED = """errno NULL assert EOF stdin linux complex signbit offsetof true I
signal index clone y0 gamma strdup exp10 environ timezone size_t FILE wint_t INT32_MAX
atomic_load thrd_create stdc_bit_width ckd_add PRId8 std
string features unistd stdbit""".split()

STANDARDS = {"c": ["c99", "c11", "c17", "c2x", "gnu2x"],
             "c++": ["c++11", "c++14", "c++17", "c++20", "c++2b", "gnu++2b"]}
COMPILERS = [("gcc", "g++"), ("clang-19", "clang++-19")]


def compile_bundles(folder):
    """Returns the headers."""
    paths = {}
    for name, text in (("net", make_model()), ("learns", LEARNS)):
        paths[name] = os.path.join(folder, name + ".onnxtxt")
        with open(paths[name], "w", encoding="utf-8") as file:
            file.write(text)
    for name, options in BUNDLES.items():
        model = paths["learns" if "-train" in options else "net"]
        subprocess.run([os.path.join(BIN, "model-compiler"), "-model=" + model,
                        "-emit-bundle=" + folder, "-network-name=" + name, *options],
                       check=True)
    return ["%s.h" % name for name in BUNDLES]


def check_refused(folder):
    """Returns the number of names that are wrong."""
    wrong = 0
    for name in REFUSED:
        done = subprocess.run(
            [os.path.join(BIN, "model-compiler"), "-emit-bundle=" + folder + "/refused",
             "-model=" + os.path.join(ROOT, "examples/digits/digits.onnx"),
             "-network-name=" + name], capture_output=True, text=True, check=False)
        if (done.returncode != 1 or done.stderr.count("\n") != 1 or
                "-network-name='%s'" % name not in done.stderr):
            print("-network-name=%s: exit code %d: %s" %
                  (name, done.returncode, done.stderr.strip()))
            wrong += 1
    return wrong + os.path.exists(folder + "/refused")


def list_standard(language, standard):
    if language == "c":
        return ["%s.h" % name for name in C_HEADERS]
    # Two headers refuse older versions of C++.
    return (["%s.h" % name for name in C_HEADERS if name != "stdatomic"] +
            [name for name in CXX_HEADERS if name != "coroutine" or standard >= "c++20"])


def check_header(compiler, language, standard, folder, bundles, is_first):
    """Returns whether the bundles' headers compile beside the standard ones."""
    own = ['#include "%s"' % name for name in bundles]
    others = ["#if __has_include(<%s>)\n#include <%s>\n#endif" % (name, name)
              for name in list_standard(language, standard)]
    path = os.path.join(folder, "all." + language)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(own + others if is_first else others + own) + "\n")
    # Some standard headers warn that they are old.
    done = subprocess.run(
        [compiler, "-x", language, "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic",
         "-Werror", "-Wno-cpp", "-Wno-deprecated", "-fsyntax-only", "-I" + folder, path]
        + (["-fcoroutines"] if compiler == "g++" and standard > "c++2" else []),
        capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return True
    print("%s -std=%s, %s the standard headers:\n%s" %
          (compiler, standard, "before" if is_first else "behind",
           "\n".join(done.stderr.splitlines()[:8])))
    return False


def main():
    compilers = [pair for pair in COMPILERS if all(map(shutil.which, pair))]
    if not compilers:
        print("no compiler")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        bundles = compile_bundles(folder)
        wrong, tried = check_refused(folder), 0
        for pair in compilers:
            for compiler, (language, standards) in zip(pair, STANDARDS.items()):
                for standard in standards:
                    for is_first in (False, True):
                        wrong += not check_header(compiler, language, standard, folder,
                                                  bundles, is_first)
                        tried += 1
        print("%d names, %d compilations of %d headers: %d wrong" %
              (len(REFUSED), tried, len(bundles), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
