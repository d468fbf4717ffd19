#!/usr/bin/python3
"""planted_difference.py: a run that differs from what a test expects leaves an archive
(archives.py), whose command shows the difference, and whose reduced model still has it.

A wrong expected value is planted into a run that is right, and a plug-in has a kernel that
computes something else than its reference (where there is clang). $GLOWISH_BIN: the programs
(default build/release/bin). Exits 1 if something is wrong, 77 where there is no NumPy."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "../.."))
sys.path.insert(0, HERE)
try:
    import numpy as np
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

import archives  # noqa: E402
from comparison import Tolerance, check_outputs, describe_difference  # noqa: E402
from model_runs import (BACKENDS, LoadedModel, glowish, read_arrays,  # noqa: E402
                        run_local, run_model, run_tool)

MODEL = "examples/digits/digits.onnx"
CLANG = shutil.which("clang-19") or shutil.which("clang")
# NumPy's own errors are far below it.
TOLERANCE = Tolerance(of_largest=1e-5)
# What the plug-in's kernel adds.
ADDED = 1000
wrong = []


def check(is_right, what, *shown):
    if not is_right:
        wrong.append(what)
        print("WRONG", what, *shown)


def find_archive(problem):
    """The folder that a message names."""
    found = re.search(r" \(kept in (\S+)\)$", problem)
    check(found, "a message without a folder:", problem)
    return found and found[1]


def run_command(folder):
    """Exit code and output of an archive's command, from another folder."""
    done = subprocess.run([os.path.join(folder, "run.sh")], cwd="/", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def read_text(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check_comparison():
    """Each kind of a difference is one."""
    x = np.array([[1, -2], [np.nan, np.inf]], np.float32)
    near, far = x + np.float32(1e-6), x + np.float32(1e-3)
    check(describe_difference(near, x, TOLERANCE) == "", "near elements")
    swapped = np.array([[np.nan, -2], [1, np.inf]], np.float32)
    infinite = np.array([[1, -2], [np.nan, -np.inf]], np.float32)
    for actual, expected in [(far, x), (near.astype(np.float64), x), (x.ravel(), x),
                             (swapped, x), (infinite, x), (np.abs(x), x),
                             (np.nan_to_num(x), x), (x, np.nan_to_num(x)),
                             (np.array([5, 1 << 20]), np.array([5, (1 << 20) + 1])),
                             (np.array([True]), np.array([False])),
                             (np.zeros(0, np.float32), np.zeros(1, np.float32))]:
        check(describe_difference(actual, expected, TOLERANCE), "a difference", actual,
              expected)
    check("there is no such output" in check_outputs({}, {"y": x}, TOLERANCE, keeps=False),
          "no output")


def check_loaded():
    """A model that is loaded once, in its second run."""
    model = LoadedModel([MODEL], BACKENDS[1])
    images = np.linspace(0, 1, 2 * 784, dtype=np.float32).reshape(2, 1, 1, 28, 28)
    first, second = (dict(model.run({"image": image})) for image in images)
    check(check_outputs(model.run({"image": images[1]}), second, TOLERANCE) == "",
          "a second run")
    check(check_outputs(model.run({"image": images[0]}), second, TOLERANCE, keeps=False),
          "the outputs of another run")
    check(check_outputs(model.run({"image": images[0]}), first, TOLERANCE) == "", "a third run")


def check_planted(run, backend, work):
    """A model with one wrong expected element."""
    image = np.linspace(0, 1, 784, dtype=np.float32).reshape(1, 1, 28, 28)
    outputs, text = run([MODEL], {"image": image}, backend, os.path.join(work, "run"))
    check(outputs is not None, "run", text)
    name, right = next(iter(outputs.items()))
    check(check_outputs(outputs, {name: right}, TOLERANCE) == "", "a right run")
    planted = right.copy()
    planted[0, 3] += 1
    quiet = check_outputs(outputs, {name: planted}, TOLERANCE, keeps=False)
    check(quiet.startswith(name + ": error 1 at [0, 3]") and not os.listdir(archives.find_folder()),
          "a difference that is expected", quiet)
    problem = check_outputs(outputs, {name: planted}, TOLERANCE)
    check(problem.startswith(quiet), "a planted difference", problem)
    folder = find_archive(problem)
    if not folder:
        return
    check({"digits.onnx", "actual", "expected", "inputs", "problem.txt", "reduced",
           "reduced.txt", "run.sh"} == set(os.listdir(folder)), "files", os.listdir(folder))
    check(np.array_equal(read_arrays(folder + "/inputs")["image"], image), "inputs")
    check(np.array_equal(read_arrays(folder + "/expected")[name], planted), "expected")
    check(np.array_equal(read_arrays(folder + "/actual")[name], right), "actual")
    check(quiet in read_text(folder, "problem.txt"), "problem.txt")
    code, text = run_command(folder)
    check(code == 2 and "1 of 10 elements over tolerance" in text, "command", code, text)
    check("code and reference agree" in read_text(folder, "reduced.txt"), "reduced.txt",
          read_text(folder, "reduced.txt"))
    again, text = run_model([folder + "/reduced/reduced.graph"],
                            read_arrays_of_reduced(folder), backend, os.path.join(work, "run"))
    check(again is not None and check_outputs(again, {name: right}, TOLERANCE, False) == "",
          "reduced model", text)
    # As if the fault were mended.
    np.save(f"{folder}/expected/{name}.npy", right)
    code, text = run_command(folder)
    check(code == 0, "command of a right run", code, text)
    shutil.rmtree(archives.find_folder() + "/planted_difference")


def read_arrays_of_reduced(folder):
    """The inputs of a reduced model."""
    folder += "/reduced"
    return {file[:-len(".npy")]: np.load(os.path.join(folder, file))
            for file in os.listdir(folder) if file.endswith(".npy")}


NETWORK = """
ir_version: 8 opset_import { domain: "" version: 17 } opset_import { domain: "test" version: 2 }
graph { name: "g"
  node { op_type: "Relu" input: "x" output: "a" }
  node { op_type: "Mul" input: "a" input: "w" output: "b" }
  node { op_type: "Positive" domain: "test" input: "b" output: "c" }
  node { op_type: "Add" input: "c" input: "x" output: "d" }
  node { op_type: "Sqrt" input: "d" output: "y" }
  node { op_type: "Exp" input: "a" output: "z" }
  initializer { name: "w" data_type: 1 dims: 3 float_data: [1, 2, 3] }
  input { name: "x" type { tensor_type { elem_type: 1
    shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
  output { name: "y" } output { name: "z" } }
"""


def check_kernel(work):
    """A kernel that is wrong inside a network: what is left of it is its operator."""
    library = os.path.join(work, "libkernel.so")
    subprocess.run([CLANG, "-std=c99", "-O1", "-shared", "-fPIC", "-Iinclude/glowish/Plugin",
                    "tests/e2e/operators/operators.c", "-o", library], check=True)
    model = os.path.join(work, "network.onnxtxt")
    with open(model, "w", encoding="utf-8") as file:
        file.write(NETWORK)
    x = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    scaled = x * np.array([1, 2, 3], np.float32)
    option = "-operators=" + library
    outputs, text = run_local([model], {"x": x}, "CPU", os.path.join(work, "run"), [option])
    check(outputs is not None, "run", text)
    check(check_outputs(outputs, {"y": np.sqrt(scaled + ADDED + x)}, TOLERANCE) == "", "kernel")
    folder = find_archive(check_outputs(outputs, {"y": np.sqrt(scaled + x), "z": np.exp(x)},
                                        TOLERANCE))
    if not folder:
        return
    os.remove(library)  # the archive has its own
    code, text = run_command(folder)
    check(code == 2 and text.startswith("y: ") and "z: " not in text, "command", code, text)
    check("2 of 8 nodes: code and reference differ" in read_text(folder, "reduced.txt"),
          "reduced.txt", read_text(folder, "reduced.txt"))
    graph = read_text(folder, "reduced/reduced.graph")
    nodes = re.findall(r" = (\w+)\(", graph.split("function")[1])
    check(nodes == ["ExternalCall"], "reduced model", graph)
    inputs = [f"-input={name}={folder}/reduced/{name}.npy"
              for name in read_arrays_of_reduced(folder)]
    code, text = run_tool("network-debugger", f"-model={folder}/reduced/reduced.graph",
                          f"-operators={folder}/libkernel.so", *inputs)
    check(code == 2 and "1 of 1 layers are bad" in text, "reduced model runs", code, text)


def check_limit(work):
    """A test that is wrong throughout does not fill the disk."""
    outputs, _ = run_local([MODEL], {"image": np.zeros((1, 1, 28, 28), np.float32)}, "CPU",
                           os.path.join(work, "run"))
    planted = {name: value + 1 for name, value in outputs.items()}
    archives.MOST_ARCHIVES = archives.made + 1
    archives.MOST_REDUCTIONS = archives.made
    folder = find_archive(check_outputs(outputs, planted, TOLERANCE))
    check(folder and "not reduced: " in read_text(folder, "reduced.txt"), "most reductions")
    problem = check_outputs(outputs, planted, TOLERANCE)
    check("(not kept: " in problem, "most archives", problem)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.environ["GLOWISH_ARCHIVES"] = os.path.join(work, "archives")
        os.makedirs(archives.find_folder())
        check_comparison()
        if glowish:
            check_loaded()
        check_planted(run_model, "Interpreter", work)
        check_planted(run_local, BACKENDS[1], work)
        if CLANG:
            check_kernel(work)
        else:
            print("without the plug-in: there is no clang")
        check_limit(work)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
