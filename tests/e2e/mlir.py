#!/usr/bin/python3
"""Networks as MLIR, lowered and run by LLVM's and StableHLO's own tools.

    mlir.py [--all] [--dialect=DIALECT] [NAME...]

The networks are exported ones of $GLOWISH_MODELS (default build/models) and
quantized ones of $GLOWISH_TEST_DATA/quantized (default ../shared/data): the small
ones, all of them, or those named. Each is written in the dialects linalg, tosa and
stablehlo, or in DIALECT, lowered and run (tests/mlir/run_mlir.py). What StableHLO's
reference interpreter computes in seconds it runs too. The outputs are compared with
the interpreter's: 1e-4 of an output's largest magnitude is allowed. What a dialect
cannot express is printed. Exit code 1 if a network is wrong, 77 if there is none, no
NumPy, or no mlir-opt-19 and mlir-cpu-runner-19; StableHLO is left out without its
tools. $GLOWISH_BIN: the programs (default build/release/bin).
"""

import os
import re
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "../.."))
sys.path.insert(0, os.path.join(HERE, "../mlir"))
sys.path.insert(0, HERE)

import run_mlir  # noqa: E402 (found through the path above)
from cases import (EXPORTED, read_interface, read_npy_type,  # noqa: E402
                   read_tensor, write_npy)

MODELS = os.environ.get("GLOWISH_MODELS", "build/models")
QUANTIZED_MODELS = os.path.join(
    os.environ.get("GLOWISH_TEST_DATA", "../shared/data"), "quantized")
WORK = "build/e2e/mlir"
BOUND = 1e-4
DIALECTS = ["linalg", "tosa", "stablehlo"]
QUANTIZED = ["tiny_resnet8_int8", "tiny_dscnn_kws_int8",
             "tiny_mobilenet_vww_int8", "tiny_autoencoder_int8"]
# What ctest runs: seconds each.
SMALL = ["lenet", "mlp", "bert_tiny", "squeezenet1_1", "dlrm",
         "tiny_dscnn_kws_int8"]
# What StableHLO's interpreter runs.
INTERPRETED = ["lenet", "mlp"]
# NumPy's types by the kinds in @main's attributes.
TYPES = {"float": "<f4", "double": "<f8", "float16": "<f2", "int8": "|i1",
         "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4",
         "uint32": "<u4", "int64": "<i8", "uint64": "<u8", "bool": "|b1"}


class Inexpressible(Exception):
    """The dialect has no form of a node."""


def read_main(module):
    """The arguments and results of @main: pairs of a name and a type of
    NumPy."""
    with open(module, encoding="utf-8") as file:
        file.readline()
        sides = file.readline().split(") -> (")
    pattern = r'glowish.name = "([^"]*)", glowish.kind = "(\w+)"'
    return [[(name, TYPES[kind]) for name, kind in re.findall(pattern, side)]
            for side in sides]


def run_written(model, inputs, dialect, interprets, folder):
    """The outputs of `model`, written in `dialect`, by name."""
    module = os.path.join(folder, "model.mlir")
    code, text = model_runs.run_tool(
        "model-compiler", "-model=" + model, "-emit-mlir=" + dialect,
        "-mlir-file=" + module,
        *[f"-model-input={name},{read_npy_type(path)}"
          for name, path in inputs.items()])
    if code != 0 and "cannot express" in text:
        raise Inexpressible(text.strip())
    if code != 0:
        raise RuntimeError(text)
    arguments, results = read_main(module)
    for i, (name, _) in enumerate(arguments):
        np.load(inputs[name]).tofile(os.path.join(folder, f"input_{i}.bin"))
    # Compiling loops of whole networks takes LLVM longer than it saves.
    run_mlir.run_module(module, folder, dialect, interprets, level=0)
    return {name: np.fromfile(os.path.join(folder, f"output_{i}.bin"), type)
            for i, (name, type) in enumerate(results)}


def interpret(model, inputs, folder):
    expected, text = model_runs.run_model(
        [model], {name: np.load(path) for name, path in inputs.items()},
        "Interpreter", os.path.join(folder, "interpreter"))
    if expected is None:
        raise RuntimeError(text)
    return expected


def find_model(name):
    for models in (MODELS, QUANTIZED_MODELS):
        model = os.path.join(models, name, "model.onnx")
        if os.path.exists(model):
            return model
    return None


def find_inputs(model, folder):
    """The .npy files of the inputs, made in `folder` where there are none."""
    source, inputs = os.path.dirname(model), {}
    for i, (name, _) in enumerate(read_interface(model)[0]):
        inputs[name] = os.path.join(source, f"input_{i}.npy")
        if not os.path.exists(inputs[name]):
            inputs[name] = os.path.join(folder, f"input_{i}.npy")
            write_npy(inputs[name], *read_tensor(os.path.join(
                source, "test_data_set_0", f"input_{i}.pb")))
    return inputs


def check(name, dialects):
    """Whether the network is right in all dialects that express it."""
    model = find_model(name)
    folder = os.path.join(WORK, name)
    os.makedirs(folder, exist_ok=True)
    inputs = find_inputs(model, folder)
    expected, isRight = None, True
    runs = [(dialect, False) for dialect in dialects]
    if (name in INTERPRETED and "stablehlo" in dialects
            and not run_mlir.find_missing("stablehlo", interprets=True)):
        runs.append(("stablehlo", True))
    for dialect, interprets in runs:
        title = dialect + ("*" if interprets else "")
        start = time.monotonic()
        try:
            actual = run_written(model, inputs, dialect, interprets, folder)
            seconds = time.monotonic() - start
            expected = expected or interpret(model, inputs, folder)
            # The files of outputs have elements alone.
            problem = comparison.check_outputs(
                {model_runs.legal(output): value for output, value in actual.items()},
                {output: expected[model_runs.legal(output)].ravel() for output in actual},
                comparison.Tolerance(of_largest=BOUND), keeps=False)
            isRight = isRight and not problem
            print(f"{name:23} {title:10} {seconds:5.0f} s", "WRONG: " * bool(problem) + problem)
        except Inexpressible as error:
            print(f"{name:23} {title:10} {error}")
        except RuntimeError as error:
            isRight = False
            print(f"{name:23} {title:10} WRONG: {error}")
        sys.stdout.flush()
    shutil.rmtree(folder)
    return isRight


def main():
    names = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    dialects, everything = list(DIALECTS), False
    for option in sys.argv[1:]:
        if option.startswith("--dialect="):
            dialects = [option.split("=")[1]]
        elif option == "--all":
            everything = True
        elif option.startswith("-"):
            print(__doc__, file=sys.stderr)
            return 2
    names = names or (EXPORTED + QUANTIZED if everything else SMALL)
    names = [name for name in names if find_model(name)]
    if not names:
        print("skipped: no network in", MODELS, "or", QUANTIZED_MODELS)
        return 77
    for dialect in list(dialects):
        without = run_mlir.find_missing(dialect)
        if without:
            print(f"{dialect} is left out: {without}")
            dialects.remove(dialect)
    if not dialects:
        return 77
    print("*: by StableHLO's interpreter")
    wrong = [name for name in names if not check(name, dialects)]
    if wrong:
        print(len(wrong), "of", len(names), "networks are wrong:", *wrong)
        return 1
    print("all", len(names), "networks are right")
    return 0


missing = run_mlir.find_missing()
if not missing:
    try:
        import numpy as np
        import comparison
        import model_runs
    except ImportError:
        missing = "no NumPy"
if missing:
    print("skipped:", missing)
    sys.exit(77)
sys.exit(main())
