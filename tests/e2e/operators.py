#!/usr/bin/python3
"""operators.py: operators that glowish does not know, of plug-ins that this test compiles
(tests/e2e/operators) and of the application, in ONNX models, Caffe2 nets, TensorFlow Lite
files and, where PyTorch is installed, exported programs and TorchScript. What plug-ins must
not do gets one line.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if something is wrong, 77
where there is no NumPy or no clang."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "../.."))
sys.path.insert(0, HERE)
warnings.filterwarnings("ignore")

CLANG = shutil.which("clang-19") or shutil.which("clang")
try:
    import numpy as np
except ImportError:
    np = None
if not np or not CLANG:
    print("skipped: no NumPy or no clang")
    sys.exit(77)

from comparison import EXACT, check_outputs, describe_difference  # noqa: E402
from model_runs import BACKENDS, run_local, run_tool  # noqa: E402
from operators_checks import (MOST, check, check_refusal, expect_description,  # noqa: E402
                              refuse, report, run_both)
from operators_models import node, value_info, write_model  # noqa: E402
from operators_torch import test_torch, test_writes  # noqa: E402

INCLUDE = "include/glowish/Plugin"
SOURCES = "tests/e2e/operators"
EXAMPLE = "examples/plugin/operators"


def compile_library(work, name, sources, *options):
    path = os.path.join(work, f"lib{name}.so")
    subprocess.run([CLANG, "-std=c99", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC",
                    "-I" + INCLUDE, *sources, *options, "-o", path], check=True)
    return path


# -- Tests -------------------------------------------------------------------

def test_calls(library, work):
    """What functions are called with."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    # How lists are passed, and names that are no identifiers.
    attributes = {"one": 5, "real": 0.25, "text": "hello", "ints": [1, -2, 3],
                  "reals": [0.5, 0.125], "texts": ["a", "bc"], "none": [], "a-b": -1}
    cases = {
        "no input": ([], {}),
        "one": ([x], {"n": 3}),
        "attributes": ([x], attributes),
        "absent": ([None, x, None, x[:, :1]], {}),
        "kinds": ([x.astype(kind) for kind in ("float16", "float64", "int8", "uint8", "int16",
                                               "int32", "int64", "bool")], {}),
        "empty": ([np.zeros((0, 7), np.float32), np.float32(3).reshape(())], {}),
        "sizes": ([np.ones(n, np.int64) for n in (1, 3, 7, 17, 33)], {}),
    }
    given, nodes, expected = {}, [], {}
    for name, (inputs, own) in cases.items():
        for num_outputs in (1, 2):
            prefix = f"{name.replace(' ', '_')}{num_outputs}_"
            names = [prefix + f"x{i}" if value is not None else ""
                     for i, value in enumerate(inputs)]
            outputs = [prefix + "y", prefix + "count"][:num_outputs]
            given.update((name, value) for name, value in zip(names, inputs) if name)
            nodes.append(node("Describe", names, outputs, own))
            description, count = expect_description(inputs, own, num_outputs)
            expected.update(zip(outputs, (description, np.array(count, np.int64))))
    path = write_model(os.path.join(work, "describe.onnxtxt"), given, nodes, expected)
    run_both("describe", path, given, ["-operators=" + library], work,
             lambda _, out: check_outputs(out, expected))


def test_functions(library, work):
    x = np.array([1, 2, 3], np.float32)
    option = ["-operators=" + library]
    constant = 'initializer { name: "n" data_type: 7 int64_data: 4 }'
    path = write_model(os.path.join(work, "repeat.onnxtxt"), {"x": x},
                       [node("Repeat", ["x", "n"], ["y"])], ["y"], constant)
    run_both("constant input", path, {"x": x}, option, work,
             lambda _, out: check_outputs(out, {"y": np.tile(x, 4)}))
    variable = write_model(os.path.join(work, "variable.onnxtxt"),
                           {"x": x, "n": np.int64(4).reshape(())},
                           [node("Repeat", ["x", "n"], ["y"])], ["y"])
    refuse("an input that is not constant", "accepted: a constant number", "model-runner",
           "-model=" + variable, *option, "-random-inputs=1")

    path = write_model(os.path.join(work, "positive.onnxtxt"), {"x": x},
                       [node("Positive", ["x"], ["z"]), node("Positive", ["z"], ["y"])], ["y"])
    run_both("reference and kernel", path, {"x": x}, option, work,
             lambda backend, out: check_outputs(out, {"y": x + 2000 * (backend == "CPU")}))
    for backend in BACKENDS:
        outputs, text = run_local([path], {"x": -x}, backend, os.path.join(work, "run"), option)
        check("failing function", "" if outputs is None and
              text.strip() == "error: the function of the operator 'test:Positive' failed"
              else text)
    for version in (1, 4):
        other = write_model(os.path.join(work, "opset.onnxtxt"), {"x": x},
                            [node("Positive", ["x"], ["y"])], ["y"], version=version)
        refuse(f"opset {version}", "the plug-in does not have it in domain 'test', opset",
               "model-runner", "-model=" + other, *option, "-random-inputs=1")


def test_control(library, work):
    """In the bodies of branches and loops."""
    option = ["-operators=" + library]
    branch = 'attribute { name: "%s" type: GRAPH g { name: "b" %s output { name: "%s" } } }'
    x = np.array([1, 2], np.float32)
    path = write_model(
        os.path.join(work, "if.onnxtxt"), {"x": x, "c": np.bool_(True).reshape(())},
        ['node { op_type: "If" input: "c" output: "y" %s %s }' % (
            branch % ("then_branch", node("Positive", ["x"], ["t"]), "t"),
            branch % ("else_branch", node("compose_twice", ["x"], ["e"]), "e"))], ["y"])
    for condition in (True, False):
        run_both(f"if {condition}", path, {"x": x, "c": np.bool_(condition).reshape(())},
                 option, work, lambda backend, out, condition=condition: check_outputs(
                     out, {"y": x + 1000 * (backend == "CPU") if condition
                           else x + np.array([10, 20], np.float32)}))
    body = ('attribute { name: "body" type: GRAPH g { name: "b" input { name: "i" type { '
            'tensor_type { elem_type: 7 shape { } } } } input { name: "c" type { tensor_type '
            '{ elem_type: 9 shape { } } } } input %s %s node { op_type: "Identity" input: "c" '
            'output: "c2" } output { name: "c2" } output { name: "s2" } } }')
    path = write_model(
        os.path.join(work, "loop.onnxtxt"),
        {"x": x, "n": np.int64(5).reshape(())},
        ['node { op_type: "Loop" input: "n" input: "" input: "x" output: "y" %s }' % (
            body % (value_info("s", "float32", [2]), node("Positive", ["s"], ["s2"])))], ["y"])
    for count in (0, 1, 5):
        run_both(f"loop {count}", path, {"x": x, "n": np.int64(count).reshape(())},
                 option + ["-max-trip-count=5"], work, lambda backend, out, count=count:
                 check_outputs(out, {"y": x + 1000 * count * (backend == "CPU")}))


def test_failures(library, work):
    """What shape functions and compositions must not do."""
    x = np.ones(2, np.float32)
    messages = {
        "segfault": "shape function: it crashes (Segmentation fault)",
        "assertion": "Assertion `call->num_inputs == 99' failed",
        "exit": "shape function: it ends the process",
        "silent": "shape function: it fails without a message",
        "long_message": "shape function: xxx",
        "kind": "it returns the element kind 99",
        "quantized": "it returns the element kind 13",
        "rank": "it returns the rank 17; accepted: 0 to 16",
        "negative": "it returns a type: ",
        "huge": "it returns a type: ",
        "compose_null": "composition: it fails without a message",
        "compose_syntax": "composition of test:compose_syntax:2:",
        "compose_node": "composition of test:compose_node:2:",
        "compose_parameters": "the plug-in's composition has other parameters; accepted: "
                              "(float<2>)",
        "compose_save": "each result of the body needs one Save",
        "compose_crash": "composition: it crashes (Aborted)",
    }
    for name, message in messages.items():
        path = write_model(os.path.join(work, "failing.onnxtxt"), {"x": x},
                           [node(name, ["x"], ["y"])], ["y"])
        refuse(name, message, "model-runner", "-model=" + path, "-operators=" + library,
               "-random-inputs=1")
    # Values of the model have the composition's names.
    path = write_model(
        os.path.join(work, "names.onnxtxt"), {"x": x},
        [node("compose_twice", ["x"], ["z"]), node("compose_twice", ["z"], ["y"])], ["y"])
    run_both("names of a composition", path, {"x": x}, ["-operators=" + library], work,
             lambda _, out: check_outputs(out, {"y": x + np.array([20, 40], np.float32)}))
    path = write_model(os.path.join(work, "results.onnxtxt"), {"x": x},
                       [node("compose_twice", ["x"], ["y", "z"])], ["y", "z"])
    refuse("results", "the operator has 1 results; the model names 2", "model-runner",
           "-model=" + path, "-operators=" + library, "-random-inputs=1")
    path = write_model(os.path.join(work, "tensor.onnxtxt"), {"x": x},
                       [node("Describe", ["x"], ["y"]).replace(
                           "}", 'attribute { name: "t" type: TENSOR t { data_type: 1 } } }')],
                       ["y"])
    refuse("attribute", "attribute 't' is a tensor; accepted of an external operator",
           "model-runner", "-model=" + path, "-operators=" + library, "-random-inputs=1")


def start_forever(library, work, pool):
    """A shape function that does not return; its result, which takes ten seconds."""
    path = write_model(os.path.join(work, "forever.onnxtxt"), {"x": np.ones(2, np.float32)},
                       [node("forever", ["x"], ["y"])], ["y"])
    return pool.submit(run_tool, "model-runner", "-model=" + path, "-operators=" + library,
                       "-random-inputs=1")


def test_libraries(library, work):
    x = np.ones(2, np.float32)
    path = write_model(os.path.join(work, "plain.onnxtxt"), {"x": x},
                       [node("Describe", ["x"], ["y"])], ["y"])
    run = ["model-runner", "-model=" + path, "-random-inputs=1"]
    refuse("no library", "of domain 'test', opset 2", *run)
    refuse("no file", "-operators: '/none.so' cannot be loaded", *run, "-operators=/none.so")
    source = os.path.join(work, "none.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("int x;\n")
    refuse("no operators", "has no glowish_get_operators; accepted: a library with", *run,
           "-operators=" + compile_library(work, "none", [source]))
    variants = {"VERSION=99": "was compiled for version 99 of glowish_operators.h; accepted: 1",
                "NULL_LIST": "glowish_get_operators returns null",
                "NO_REFERENCE": "test:NoReference has no reference; accepted: `compose`, or",
                "TWICE": "the operator 'test:Repeat' is there already",
                "SAME_FUNCTION": "the function 'test_Repeat' is there already"}
    for define, message in variants.items():
        own = compile_library(work, define.split("=")[0].lower(), [SOURCES + "/operators.c"],
                              "-D" + define)
        refuse(define, message, *run, "-operators=" + own)
    refuse("a library twice", "is there already", *run, "-operators=" + library,
           "-operators=" + library)


def test_rules(work):
    """Functions of the application, whose types are in a file."""
    x, y = np.ones((2, 3, 4), np.float32), np.ones(3, np.int64)
    rules = os.path.join(work, "rules.txt")
    path = write_model(os.path.join(work, "rules.onnxtxt"), {"x": x, "y": y},
                       [node("Foo", ["x", "y"], ["z"], {"n": 5, "f": 0.5})], ["z"])

    def infer(text, inputs=None):
        with open(rules, "w", encoding="utf-8") as file:
            file.write(text)
        return run_tool("glowish-opt", inputs or path, "-external=test:Foo," + rules)
    good = {
        "(float<2, 3, 4>, int64<3>) -> (float<7>)": "float<7>",
        "// comment\n(float<A, B, C>, int64<B>) -> (int64<A, B>)": "int64<2x3>",
        "(T<A, B, C>, U<B>) -> (U<C, \"2*A + n\">, T<>)": "int64<4x9>",
        "(T<[S]>, U<[R]>) -> (T<[R], 9, [S]>)": None,
        "(T<[S], L>, U<[R]>) -> (T<[S]>)": "float<2x3>",
        "(T<F, [S]>, U<[R]>) -> (bool<[S], F, [R]>)": None,
        "(T<F, [S], \"2*F\">, U<[R]>) -> (bool<[S]>)": "bool<3>",
        "(float<A>, int64<B>) -> (float<>)\n(float<A, B, C>, int64<A>) -> (float<>)\n"
        "(float<A, B, C>, int64<B>) -> (uint8<C>)": "uint8<4>",
        "function my_foo schema \"test::Foo(Tensor x, Tensor y) -> Tensor\"\n"
        "(T<[S]>, U<[R]>) -> (T<[S]>)": "function = \"my_foo\"",
    }
    for text, expected in good.items():
        code, output = infer(text)
        if expected is None:  # two lists in one result
            check(text, "" if code == 1 and "at most one list" in output else output)
        else:
            check(text, "" if code == 0 and expected in output else output)
    bad = {
        "": "expected '('", "(float<A>)": "expected '->'", "(float<A>) -> ()": "has results",
        "(float<A) -> (float<>)": "expected '>'", "(float<\"A+\">) -> (float<>)": "expected an",
        "(float<A>) -> (none)": "a result is not absent", "function 1": "expected a name in C",
        "(float<A>) -> (float<A>) x": "expected '('", "(float<A>) -> (float<#>)": "unexpected",
        "(float<A>, int64<B>) -> (float<>)": "no rule is for (float<2x3x4>, int64<3>)",
        "(float<A, B, A>, int64<B>) -> (float<>)": "no rule is for",
        "(T<[S]>, T<[R]>) -> (float<>)": "no rule is for",
        "(T<[S]>, U<[R]>) -> (V<>)": "'V' is neither an element kind nor",
        "(T<[S]>, U<[R]>) -> (T<[Q]>)": "no input has the extents [Q]",
        "(T<[S]>, U<[R]>) -> (T<Q>)": "the extent 'Q' has a name that neither",
        "(T<[S]>, U<[R]>) -> (T<f>)": "the extent 'f' has a name that neither",
        "(T<[S]>, U<[R]>) -> (T<\"n - 6\">)": "rules.txt: the extent 'n - 6'",
        "(T<[S]>, U<[R]>) -> (T<\"n // 0\">)": "rules.txt: the extent 'n // 0'",
        "(T<[S]>, U<[R]>) -> (int8q<n>)": "accepted: kinds that are not quantized",
        "(T<[S]>, U<[R]>) -> (T<99999999999, 99999999999>)": "rules.txt: ",
        "function int\n(T<[S]>, U<[R]>) -> (T<[S]>)": None,
    }
    for text, expected in bad.items():
        code, output = infer(text)
        if expected:
            check(text, "" if code == 1 and expected in output and
                  output.count("\n") == 1 else f"exit code {code}: {output}")
    refuse("a keyword as a function", "the function 'int' of the operator 'test:Foo' is no name",
           "model-compiler", "-model=" + path, "-external=test:Foo," + rules,
           "-emit-bundle=" + work, "-network-name=net")
    for name in ("free", "net", "net_weights", "GLOWISH_INTS"):
        infer(f"function {name}\n(T<[S]>, U<[R]>) -> (T<[S]>)")
        refuse(name, f"the function '{name}' of the operator 'test:Foo' is", "model-compiler",
               "-model=" + path, "-external=test:Foo," + rules, "-emit-bundle=" + work,
               "-network-name=net")
    for text, message in (("Foo," + rules, "'Foo' is no operator; accepted: DOMAIN:NAME"),
                          ("test:Foo", "the form is DOMAIN:NAME,FILE"),
                          ("test:Foo,/none", "cannot read '/none'")):
        refuse(text, message, "glowish-opt", path, "-external=" + text)
    infer("(T<[S]>, U<[R]>) -> (T<[S]>)")
    refuse("no function here", "the operator 'test:Foo' is a function of the application, "
           "'test_Foo'; accepted here: bundles", "model-runner", "-model=" + path,
           "-external=test:Foo," + rules, "-random-inputs=1")
    none = write_model(os.path.join(work, "none.onnxtxt"), {"x": x},
                       [node("Foo", ["", "x"], ["z"])], ["z"])
    code, output = infer("(none, T<[S]>) -> (T<[S]>)", none)
    check("absent input", "" if code == 0 and "absent = [0]" in output else output)
    for inputs in (["x"], ["x", ""]):
        last = write_model(os.path.join(work, "last.onnxtxt"), {"x": x},
                           [node("Foo", inputs, ["z"])], ["z"])
        code, output = infer("(T<[S]>) -> (T<>)\n(T<[S]>, none) -> (T<[S]>)", last)
        check("rules in order", "" if code == 0 and ": float<>" in output else output)
        code, output = infer("(T<[S]>, none, none) -> (T<[S]>)", last)
        check("absent at the end", "" if code == 0 and ": float<2x3x4>" in output else output)
        code, output = infer("(T<[S]>, T<>) -> (T<[S]>)", last)
        check("missing at the end", "" if code == 1 and "no rule is for (float<2x3x4>)" in output
              else output)


def test_forms(library, work):
    """Nodes as text and as ONNX."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    attributes = {"one": 5, "real": 0.25, "text": 'a \\" b', "ints": [1, -2], "reals": [0.5],
                  "texts": ["a", "b c"], "none": [], "a-b": 1}
    path = write_model(os.path.join(work, "forms.onnxtxt"), {"x": x, "w": x},
                       [node("Describe", ["x", "", "w"], ["y"], attributes)], ["y"])
    graph, onnx = os.path.join(work, "forms.graph"), os.path.join(work, "forms.onnx")
    option = "-operators=" + library
    run_tool("glowish-opt", path, option, "-o", graph)
    code, text = run_tool("glowish-opt", graph)
    with open(graph, encoding="utf-8") as file:
        printed = file.read()
    check("text form", "" if code == 0 and text == printed and "absent = [1]" in printed
          else text)
    code, text = run_tool("model-compiler", "-model=" + path, option, "-emit-onnx=" + onnx)
    check("ONNX", text)
    results = [run_local([each], {"x": x, "w": x}, "CPU", os.path.join(work, "run"),
                         [option])[0] for each in (path, graph, onnx)]
    for each in results[1:]:
        check("forms", check_outputs(each, {"y": results[0]["y"]}))
    for dialect in ("linalg", "tosa", "stablehlo"):
        code, text = run_tool("model-compiler", "-model=" + path, option,
                              "-emit-mlir=" + dialect)
        check("MLIR", "" if code == 0 and "func.call @test_" in text and
              "func.func private @test_" in text else text)
        if dialect != "stablehlo" and shutil.which("mlir-opt-19"):
            read = subprocess.run(["mlir-opt-19", "-o", "/dev/null"], input=text, text=True,
                                  stderr=subprocess.PIPE, check=False)
            check("MLIR that LLVM reads", read.stderr)


def test_caffe2(library, work):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    attributes = {"one": 5, "real": 0.25, "text": "hello", "ints": [1, -2], "reals": [0.5],
                  "texts": ["a", "bc"]}
    fields = {int: "i: %d", float: "f: %r", str: 's: "%s"'}
    lists = {int: "ints: %d", float: "floats: %r", str: 'strings: "%s"'}
    args = ""
    for name, value in attributes.items():
        content = " ".join(lists[type(e)] % e for e in value) if isinstance(value, list) \
            else fields[type(value)] % value
        args += f' arg {{ name: "{name}" {content} }}'
    path = os.path.join(work, "predict.pbtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write('name: "net" external_input: "x" external_output: "y"\n'
                   f'op {{ type: "Describe" input: "x" output: "y"{args} }}\n')
    expected, _ = expect_description([x], attributes, 1)
    run_both("Caffe2", path, {"x": x}, ["-operators=" + library,
                                        "-model-input=x,float,[2,3]"], work,
             lambda _, out: check_outputs(out, {"y": expected}))
    refuse("Caffe2 without it", "(Describe)", "model-runner", "-model=" + path,
           "-model-input=x,float,[2,3]", "-random-inputs=1")


def test_tflite(library, work):
    """A file of one custom operator, whose options flatc writes as FlexBuffers."""
    flatc = shutil.which("flatc")
    if not flatc:
        print("TensorFlow Lite is not tried: there is no flatc")
        return
    attributes = {"a": 5, "b": [1, -2, 3], "c": "text", "d": 0.25, "e": ["x", "yz"],
                  "f": True}

    def convert(name, content, *options):
        path = os.path.join(work, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)
        subprocess.run([flatc, "-b", "-o", work, *options, path], check=True)

    def write(options):
        with open(os.path.join(work, "options.bin"), "rb") as file:
            data = list(file.read())
        convert("custom", {
            "version": 3, "buffers": [{}],
            "operator_codes": [{"deprecated_builtin_code": 32, "builtin_code": "CUSTOM",
                                "custom_code": "Describe"}],
            "subgraphs": [{
                "tensors": [{"shape": [2, 3], "type": "INT16", "name": "x", "buffer": 0},
                            {"shape": [MOST], "type": "FLOAT64", "name": "y", "buffer": 0}],
                "inputs": [0], "outputs": [1],
                "operators": [{"opcode_index": 0, "inputs": [0, -1, 0], "outputs": [1],
                               "custom_options": data if options else []}]}]},
                "lib/Importer/TFLite/tflite.fbs")
        return os.path.join(work, "custom.tflite")

    x = np.arange(6, dtype=np.int16).reshape(2, 3)
    convert("options", attributes, "--flexbuffers")
    for own in (attributes, {}):
        path = write(own)
        if not os.path.exists(path):
            os.rename(os.path.join(work, "custom.bin"), path)
        expected, _ = expect_description([x, None, x], own, 1)
        run_both("TensorFlow Lite", path, {"x": x}, ["-operators=" + library], work,
                 lambda _, out, expected=expected: check_outputs(out, {"y": expected}))
        os.remove(path)


def test_bundles(work):
    """Bundles call the function with the same on processors of 32 and 64 bits."""
    rules = os.path.join(work, "describe.txt")
    with open(rules, "w", encoding="utf-8") as file:
        file.write(f"(T<[S]>, none, U<[R]>) -> (double<{MOST}>)\n")
    x = np.zeros((2, 3), np.float32)
    w = np.zeros((), np.int8)
    attributes = {"one": 5, "real": 0.25, "text": "hello", "ints": [1, -2, 3], "reals": [0.5],
                  "texts": ["a", "bc"], "none": []}
    path = write_model(os.path.join(work, "bundle.onnxtxt"), {"x": x, "w": w},
                       [node("Describe", ["x", "", "w"], ["y"], attributes)], ["y"])
    expected, _ = expect_description([x, None, w], attributes, 1)
    hosted = ["-std=c99", "-Wall", "-Wextra", "-Wno-unused-function",
              "-Wno-unused-const-variable", "-Wno-unused-variable"]
    targets = {
        "this machine": ([], [CLANG, *hosted], []),
        "AArch64": (["-target=aarch64-linux-gnu"],
                    ["aarch64-linux-gnu-gcc", "-static", *hosted], ["qemu-aarch64"]),
        "ARMv7": (["-target=armv7a-linux-gnueabihf", "-mattr=+neon"],
                  ["arm-linux-gnueabihf-gcc", "-static", *hosted], ["qemu-arm"]),
        "RISC-V 64": (["-target=riscv64-linux-gnu"],
                      ["riscv64-linux-gnu-gcc", "-static", *hosted], ["qemu-riscv64"]),
    }
    for name, (options, compiler, emulator) in targets.items():
        if not all(shutil.which(each) for each in compiler[:1] + emulator):
            print(f"{name} is not tried: its compiler or its emulator is not installed")
            continue
        folder = os.path.join(work, "bundle")
        shutil.rmtree(folder, ignore_errors=True)
        code, text = run_tool("model-compiler", "-model=" + path,
                              "-external=test:Describe," + rules, "-emit-bundle=" + folder,
                              "-network-name=net", "-weights=embed", *options)
        check(f"bundle for {name}", text)
        program = os.path.join(folder, "main")
        subprocess.run([*compiler, "-I" + folder, "-I" + SOURCES, "-I" + INCLUDE,
                        SOURCES + "/describe_main.c", folder + "/net.o", "-o", program],
                       check=True)
        done = subprocess.run([*emulator, program], stdout=subprocess.PIPE, text=True,
                              check=False)
        numbers, status = done.stdout.strip().split("\n")
        check(f"call on {name}", describe_difference(
            np.array(numbers.split(), np.float64), expected, EXACT) or
              ("" if status == "status 0" else status))


def test_example(work):
    """Kernel and reference of the operator in examples/plugin against NumPy, and the files of
    its bundle."""
    median = os.path.join(work, "median.o")
    subprocess.run([CLANG, "-std=c99", "-O2", "-fPIC", "-c", EXAMPLE + "/median.c",
                    "-I" + INCLUDE, "-o", median], check=True)
    library = compile_library(
        work, "example", [EXAMPLE + "/operators.c", median], '-DMEDIAN_OBJECT="median.o"',
        '-DMEDIAN_TARGET="x86_64-linux-gnu"')
    random = np.random.default_rng(1)
    given, nodes, expected = {}, [], {}
    for i, shape in enumerate([(1,), (3,), (7,), (17,), (33,), (2, 5), (3, 1), (2, 3, 9),
                               (0,), (2, 0), (0, 4)]):
        x = given[f"x{i}"] = random.integers(-4, 4, shape).astype(np.float32)
        for size in (1, 3, 5, 31):
            nodes.append(node("Median", [f"x{i}"], [f"y{i}_{size}"], {"size": size},
                              "com.example"))
            index = np.clip(np.arange(shape[-1])[:, None] + np.arange(size) - size // 2, 0,
                            max(shape[-1] - 1, 0))
            expected[f"y{i}_{size}"] = \
                np.median(x[..., index], axis=-1).astype(np.float32) if x.size else x
    path = write_model(os.path.join(work, "median.onnxtxt"), given, nodes, expected)
    run_both("median", path, given, ["-operators=" + library], work,
             lambda _, out: check_outputs(out, expected))
    for size in (0, 2, 33):
        path = write_model(os.path.join(work, "median.onnxtxt"), {"x": np.ones(3, np.float32)},
                           [node("Median", ["x"], ["y"], {"size": size}, "com.example")], ["y"])
        refuse(f"median of {size}", "accepted: an attribute size that is odd", "model-runner",
               "-model=" + path, "-operators=" + library, "-random-inputs=1")
    folder = os.path.join(work, "example")
    arguments = ["-model=" + EXAMPLE + "/filter.onnxtxt", "-operators=" + library,
                 f"-external=com.example:Gain,{EXAMPLE}/gain.txt", "-network-name=filter"]
    code, text = run_tool("model-compiler", *arguments, "-emit-bundle=" + folder)
    check("bundle of the example", text)
    names = subprocess.run(["ar", "t", folder + "/filter.operators.a"],
                           stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    check("its archive", "" if names == ["operators0.o"] else names)
    refuse("a module for JavaScript", "'app_gain', which no module for JavaScript can have",
           "model-compiler", *arguments, "-emit-bundle=" + folder + "-web",
           "-target=wasm32-unknown-unknown", "-mattr=+simd128")


def test_web(work):
    """A module for JavaScript has the kernel, where its plug-in has an object for it."""
    if not shutil.which("node") or not shutil.which("wasm-ld-19"):
        print("WebAssembly is not tried: there is no node or no wasm-ld-19")
        return
    subprocess.run([CLANG, "--target=wasm32", "-O2", "-ffreestanding", "-c",
                    EXAMPLE + "/median.c", "-I" + INCLUDE, "-o",
                    os.path.join(work, "median.wasm.o")], check=True)
    library = compile_library(
        work, "web", [EXAMPLE + "/operators.c", EXAMPLE + "/median.c"],
        '-DMEDIAN_OBJECT="median.wasm.o"', '-DMEDIAN_TARGET="wasm32-unknown-unknown"')
    x = np.array([[3, 1, 2, 9, 4], [0, 5, 5, -1, 2]], np.float32)
    rules = os.path.join(work, "median.txt")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("function example_median\n(T<[S]>) -> (T<[S]>)\n")
    # The kernel fails for 33 elements. The plug-in's shape function refuses them, and rules
    # that name the same function don't.
    for size, domain, kind, wanted in ((3, "com.example", "Median", "3,2,2,4,4,0,5,5,2,2"),
                                       (33, "test", "Other", "9")):
        path = write_model(os.path.join(work, "web.onnxtxt"), {"x": x},
                           [node(kind, ["x"], ["y"], {"size": size}, domain)], ["y"])
        options = ["-operators=" + library, "-external=test:Other," + rules]
        folder = os.path.join(work, f"web{size}")
        code, text = run_tool("model-compiler", "-model=" + path, *options,
                              "-target=wasm32-unknown-unknown", "-mattr=+simd128",
                              "-emit-bundle=" + folder, "-network-name=net")
        check(f"WebAssembly {size}", text)
        script = os.path.join(folder, "test.mjs")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import {load} from './net.mjs';\nconst network = await load();\n"
                       f"network.inputs.x.set({x.flatten().tolist()});\n"
                       "try { console.log(network.run().y.join()); }\n"
                       "catch (error) { console.log(error.code); }\n")
        done = subprocess.run(["node", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        check(f"module {size}", "" if done.stdout.strip() == wanted else done.stdout)


def main():
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor() as pool:
        library = compile_library(work, "operators", [SOURCES + "/operators.c"])
        forever = start_forever(library, work, pool)
        test_calls(library, work)
        test_functions(library, work)
        test_control(library, work)
        test_failures(library, work)
        test_libraries(library, work)
        test_rules(work)
        test_forms(library, work)
        test_caffe2(library, work)
        test_tflite(library, work)
        test_torch(library, work)
        test_writes(library, work)
        test_bundles(work)
        test_example(work)
        test_web(work)
        check_refusal("forever", "shape function: it takes more than 10 seconds",
                      *forever.result())
    return report()


if __name__ == "__main__":
    sys.exit(main())
