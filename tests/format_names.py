#!/usr/bin/env python3
"""Finds names of model formats where none should be.

A format registers all that there is of it (Importer/ModelFormat.h): the driver,
the compiler, the tools and the other interfaces ask for the format of a model, or
for all formats, and name none. Where a user is spoken to they may: those places
are in ALLOWED, and OPTIONS are the names of options that users have.

  format_names.py              checks the folders in CODE
  format_names.py -self-test   checks that names are found

Prints a line for each name and exits 1 if there is one that ALLOWED lacks, or an
entry of ALLOWED that nothing needs.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = ("lib/Driver", "include/glowish/Driver", "lib/Compiler",
        "include/glowish/Compiler", "lib/CInterface", "tools",
        "python/src/core", "python/src/bindings")
SUFFIXES = (".cpp", ".h", ".def", ".inc", ".td", ".txt")
FORMAT = re.compile("onnx|caffe2|tflite|torch", re.IGNORECASE)
OPTIONS = re.compile("onnx[-_]define[-_]symbol|-emit-onnx")

# (file, what the line has): why a format is named. An empty text allows all of
# the file.
ALLOWED = {
    ("tools/common/GlowFlags.def", ""):
        "what became of another compiler's flags, for its users",
    ("tools/common/GivenInputs.cpp", "as ONNX's "):
        "help of -test-data",
    ("tools/common/Glog.cpp", "libtorch's"):
        "a library that has a glog of its own",
    ("lib/Compiler/ModelExport.cpp", "ONNX.h"):
        "the format that -emit-onnx writes",
    ("lib/Compiler/ModelExport.cpp", "writeOnnx"):
        "does what -emit-onnx asks for",
    ("include/glowish/Compiler/ModelCompiler.h", "none for ONNX"):
        "the format that -emit-onnx writes",
    ("include/glowish/Compiler/ModelCompiler.h", "stopAfter ONNX"):
        "the format that -emit-onnx writes",
    ("lib/Compiler/ModelCompiler.cpp", "trained weights go to an ONNX"):
        "a message that names an option to make such a file",
    ("tools/model-compiler/model-compiler.cpp", "isOnnx"):
        "whether there is -emit-onnx",
    ("tools/model-compiler/model-compiler.cpp", "onnxFile"):
        "the value of -emit-onnx",
    ("tools/model-compiler/model-compiler.cpp", '"emit-onnx",'):
        "the name of an option",
    ("tools/model-compiler/model-compiler.cpp", "Write the model as ONNX"):
        "help of -emit-onnx",
    ("tools/model-trainer/Options.cpp", "file.onnx"):
        "help of -save",
    ("tools/glowish-tblgen/DocEmitter.cpp", ""):
        "text of a page of the docs",
    ("tools/glowish-tblgen/FunctionEmitter.cpp", ""):
        "generates the table of a front end",
    ("tools/glowish-tblgen/OpRecord.h", ""):
        "fields of the records",
    ("tools/glowish-tblgen/OpRecord.cpp", ""):
        "fields of the records",
    ("python/src/bindings/Arrays.cpp", "PyTorch"):
        "arrays of another package",
}


def find_names(text):
    """The numbers and texts of lines with the name of a format."""
    return [(number, line.strip())
            for number, line in enumerate(text.splitlines(), 1)
            if FORMAT.search(OPTIONS.sub("", line))]


def test_forms():
    found = find_names('#include "Importer/TFLite.h"\n'
                       "if (isCaffe2Path(path))\n"
                       '  refuse("define-symbol", name); // -emit-onnx\n'
                       "OnnxModel model;\n"
                       "takeTorch();\n")
    numbers = [number for number, _ in found]
    if numbers != [1, 2, 4, 5]:
        print(f"found in the lines {numbers}")
        return 1
    return 0


def main():
    if sys.argv[1:] == ["-self-test"]:
        return test_forms()
    unused = set(ALLOWED)
    wrong = 0
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            name = str(path.relative_to(ROOT))
            for number, line in find_names(path.read_text()):
                keys = [key for key in ALLOWED if key[0] == name and key[1] in line]
                unused.difference_update(keys)
                if not keys:
                    wrong = 1
                    print(f"{name}:{number}: {line}")
    for name, text in sorted(unused):
        wrong = 1
        print(f"{name}: no line with '{text}' names a format: take it out of "
              "ALLOWED")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
