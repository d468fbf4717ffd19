#!/usr/bin/python3
"""Runs a module that model-compiler -emit-mlir has written.

    run_mlir.py MODULE FOLDER [--dialect=DIALECT] [--interpret] [--level=N]
                [--library=FILE]

The arguments of @main are FOLDER/input_K.bin, the results FOLDER/output_K.bin,
with the elements alone. mlir-opt-19 lowers the module to LLVM by loops, and
mlir-cpu-runner-19 compiles it, with optimization level N (default 0), and runs
it. DIALECT is linalg (the default), tosa or stablehlo; of the last one
stablehlo-opt makes linalg first, of what it has a lowering for. With --interpret
stablehlo-translate, StableHLO's reference interpreter, runs the module instead.
Both are those of $STABLEHLO_BIN or $PATH. Exit code 77 where what is needed is
not installed.

As a library: run_module(), find_missing(). Uses nothing beyond Python's
library.
"""

import argparse
import os
import shutil
import subprocess
import sys

import interpret_stablehlo
from signatures import get_element, read_signature

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = "/usr/lib/llvm-19/lib"
RUNNER_UTILS = ["libmlir_c_runner_utils.so.19.1", "libmlir_float16_utils.so.19.1"]

TOSA_PASSES = ["func.func(tosa-to-scf,tosa-to-linalg-named,tosa-to-linalg,"
               "tosa-to-arith,tosa-to-tensor)"]

STABLEHLO_PASSES = ["stablehlo-legalize-to-linalg",
                    "stablehlo-convert-to-signless",
                    "reconcile-unrealized-casts"]
# Constants of equal elements, and broadcasts, become parts of loops.
FUSION_PASSES = ["func.func(linalg-fuse-elementwise-ops)"]

# In this order.
PASSES = [
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map "
    "allow-return-allocs-from-loops}",
    "func.func(convert-linalg-to-loops)",
    "convert-scf-to-cf",
    "expand-strided-metadata",
    "lower-affine",
    "arith-expand{include-bf16}",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "finalize-memref-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
    "reconcile-unrealized-casts",
]


def find_missing(dialect="linalg", interprets=False):
    """What is not installed; empty if all is there."""
    if dialect == "stablehlo":
        tool = "stablehlo-translate" if interprets else "stablehlo-opt"
        if not interpret_stablehlo.find_tool(tool):
            return f"no {tool} in $STABLEHLO_BIN or $PATH"
        if interprets:
            return ""
    for tool in ("mlir-opt-19", "mlir-cpu-runner-19", "clang-19"):
        if not shutil.which(tool):
            return f"no {tool} (scripts/install-deps.sh --mlir)"
    for library in RUNNER_UTILS:
        if not os.path.exists(os.path.join(LIBRARIES, library)):
            return f"no {library} (scripts/install-deps.sh --mlir)"
    return ""


def get_memref(tensor):
    return "memref" + tensor[len("tensor"):]


def make_entry(arguments, results):
    """The function @run, which reads the arguments and writes the results."""
    lines = []
    for element in sorted({get_element(type) for type in arguments + results}):
        for verb in ("read", "write"):
            lines.append(f"func.func private @{verb}_{element}"
                         f"(memref<*x{element}>, i64)")
    lines.append("func.func @run() {")

    def call(verb, number, tensor, memref):
        element = get_element(tensor)
        name = f"%{verb}{number}"
        lines.append(f"{name}_number = arith.constant {number} : i64")
        lines.append(f"{name}_any = memref.cast {memref} : "
                     f"{get_memref(tensor)} to memref<*x{element}>")
        lines.append(f"func.call @{verb}_{element}({name}_any, {name}_number) : "
                     f"(memref<*x{element}>, i64) -> ()")

    for number, tensor in enumerate(arguments):
        lines.append(f"%in{number} = memref.alloc() : {get_memref(tensor)}")
        call("read", number, tensor, f"%in{number}")
        lines.append(f"%arg{number} = bufferization.to_tensor %in{number} "
                     f"restrict writable : {get_memref(tensor)}")
    names = ", ".join(f"%arg{i}" for i in range(len(arguments)))
    bound = f"%out:{len(results)} = " if results else ""
    lines.append(f"{bound}func.call @main({names}) : ({', '.join(arguments)}) "
                 f"-> ({', '.join(results)})")
    for number, tensor in enumerate(results):
        lines.append(f"%result{number} = bufferization.to_memref "
                     f"%out#{number} : {get_memref(tensor)}")
        call("write", number, tensor, f"%result{number}")
    return "\n".join(lines + ["return", "}"]) + "\n"


def build_library(library):
    """Makes the shared library of tensor_files.c, if it is not there."""
    if not os.path.exists(library):
        new = f"{library}.{os.getpid()}"
        subprocess.run(["clang-19", "-shared", "-fPIC", "-O1", "-o", new,
                        os.path.join(HERE, "tensor_files.c")], check=True)
        os.rename(new, library)


def lower(source, lowered, passes):
    """Lowers the module that is read from `source`, with @run, to the file
    `lowered`."""
    head, line = b"", source.readline()
    while line and not line.startswith(b"  func.func @main("):
        head, line = head + line, source.readline()
    arguments, results = read_signature(line.decode())
    # The rest may be larger than memory.
    with subprocess.Popen(
            ["mlir-opt-19", "-", "--emit-bytecode", "-o", lowered,
             f"--pass-pipeline=builtin.module({','.join(passes)})"],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            process.stdin.write(head)
            process.stdin.write(make_entry(arguments, results).encode())
            process.stdin.write(line)
            shutil.copyfileobj(source, process.stdin, 1 << 20)
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdin = None
        errors = process.communicate()[1].decode(errors="replace")
    if process.returncode != 0:
        raise RuntimeError("mlir-opt-19: " + errors[:2000])


def lower_stablehlo(module, lowered, log):
    """The same of StableHLO; `log` is a file for what stablehlo-opt prints."""
    tool = interpret_stablehlo.find_tool("stablehlo-opt")
    with open(log, "wb") as errors, subprocess.Popen(
            [tool, module,
             f"--pass-pipeline=builtin.module({','.join(STABLEHLO_PASSES)})"],
            stdout=subprocess.PIPE, stderr=errors) as process:
        try:
            lower(process.stdout, lowered, FUSION_PASSES + PASSES)
        finally:
            process.stdout.close()
    if process.returncode != 0:
        with open(log, encoding="utf-8", errors="replace") as errors:
            raise RuntimeError("stablehlo-opt: " + errors.read(2000))


def run_module(module, folder, dialect="linalg", interprets=False, level=0,
               library=None):
    """As the command does; an error is a RuntimeError."""
    module, folder = os.path.abspath(module), os.path.abspath(folder)
    if interprets:
        interpret_stablehlo.interpret(module, folder)
        return
    lowered = os.path.join(folder, "lowered.mlirbc")
    library = library or os.path.join(folder, "libtensor_files.so")
    build_library(library)
    libraries = [library] + [
        os.path.join(LIBRARIES, name) for name in RUNNER_UTILS]
    if dialect == "stablehlo":
        lower_stablehlo(module, lowered, os.path.join(folder, "log"))
    else:
        with open(module, "rb") as source:
            lower(source, lowered,
                  (TOSA_PASSES if dialect == "tosa" else []) + PASSES)
    done = subprocess.run(
        ["mlir-cpu-runner-19", lowered, "-e", "run",
         "-entry-point-result=void", f"-O{level}",
         "-shared-libs=" + ",".join(libraries)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"mlir-cpu-runner-19: exit code {done.returncode}: "
                           + done.stdout[:2000])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("folder")
    parser.add_argument("--dialect", choices=["linalg", "tosa", "stablehlo"],
                        default="linalg")
    parser.add_argument("--interpret", action="store_true")
    parser.add_argument("--level", type=int, choices=range(4), default=0)
    parser.add_argument("--library")
    options = parser.parse_args()
    if options.interpret and options.dialect != "stablehlo":
        parser.error("--interpret goes with --dialect=stablehlo")
    missing = find_missing(options.dialect, options.interpret)
    if missing:
        print("skipped:", missing)
        return 77
    try:
        run_module(options.module, options.folder, options.dialect,
                   options.interpret, options.level, options.library)
    except (OSError, RuntimeError) as error:
        print("error:", error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
