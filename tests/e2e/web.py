#!/usr/bin/env python3
"""Runs bundles for JavaScript in Node.js.

    web.py [--all | NAME...]

The networks (or those that are named) are those of examples/ and tests/e2e/cross,
and those of the folders trained and quantized of $GLOWISH_TEST_DATA (default
../shared/data) with their inputs; of trained, without --all, those of TRAINED.
Outputs must agree with the interpreter's to 1e-5
of the largest magnitude, and those of quantized networks must have the same bits,
but for the few that TOLERANCES lists. The networks of the project also run with other
options: without vectors or instructions for memory, with relaxed SIMD, with the
weights in the module, with threads, ... With -reproducible, floats must have this machine's bits.
The types in NAME.d.ts must declare what NAME.mjs exports; where there is a
TypeScript compiler (tsc), a program that uses them must compile. The program of
docs/webassembly.md runs, too.

$GLOWISH_BIN: the programs (default build/release/bin). Prints a line for each
bundle; exits 1 if one is wrong, 77 without Node.js or wasm-ld-19.
"""

import json
import os
import re
import shutil
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
sys.path.append("tests/e2e")

import cases  # noqa: E402: beside this script
from programs import has_programs, run, tool  # noqa: E402

DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
WORK = os.path.abspath("build/e2e/web")
TARGET = ["-target=wasm32-unknown-unknown"]
SIMD = ["-mattr=+simd128"]
RELAXED = ["-mattr=+simd128,+relaxed-simd"]
FLOAT_TOLERANCE = 1e-5

# Networks that are farther from the interpreter, whose sums are of double
# precision: this machine's own code is as far from it. The last two are quantized
# and compute floats, which a sum of floats leads to: one step of 1/255 is in a
# network that ends with a softmax of int8.
TOLERANCES = {"detect_yolox_nano": 1e-4, "segment_selfie": 2e-5,
              "style_candy": 1e-3, "style_mosaic": 2e-5,
              "qdq_minimal_model": 1e-6, "tiny_resnet8_int8": 4e-3}

# The project's networks, whether quantized.
OWN = {"examples/digits/digits.onnx": False,
       "tests/e2e/cross/mlp.onnxtxt": False,
       "tests/e2e/cross/quantized.onnxtxt": True}

# Trained networks that differ in what they compute, and take little time.
TRAINED = {"digits_pytorch", "face_yunet", "speech_dtln_1", "speech_silero_vad",
           "text_byte_bilstm", "tiny_resnet8"}

# The quantized networks of MLPerf Tiny as TensorFlow Lite has them.
TFLITE = ["tiny_autoencoder_int8/ad01_int8.tflite",
          "tiny_dscnn_kws_int8/kws_ref_model.tflite",
          "tiny_mobilenet_vww_int8/vww_96_int8.tflite",
          "tiny_resnet8_int8/pretrainedResnet_quant.tflite"]

# Options that the project's networks are compiled with, beside SIMD.
VARIANTS = {"scalar": [],
            "no memory instructions": ["-mattr=+simd128,-bulk-memory"],
            "relaxed": RELAXED,
            "embedded": SIMD + ["-weights=embed"],
            "threads": SIMD + ["-threads=4"],
            "arena": SIMD + ["-io-in-activations"],
            "reproducible": SIMD + ["-reproducible"]}


def read_arrays(folder):
    """The .npy files of a folder of outputs."""
    return sorted(file[:-len(".npy")] for file in os.listdir(folder)
                  if file.endswith(".npy"))


def legalize(name):
    """A placeholder's name as that of a file of model-runner's."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)


def read_description(module):
    """What a bundle's module says of the network."""
    with open(module, encoding="utf-8") as file:
        text = file.read()
    start = text.index("export const description = ")
    return json.loads(text[text.index("{", start):text.index("\n};\n") + 2])


def get_symbols(description, direction):
    return [symbol for symbol in description["programs"][0]["symbols"]
            if direction in symbol["direction"]]


def compile_bundle(args, folder, options):
    tool("model-compiler", *args, *TARGET, *options, "-emit-bundle=" + folder,
         "-network-name=network")
    return read_description(os.path.join(folder, "network.mjs"))


def make_inputs(description, folder):
    """Random inputs of a network: .npy files by name."""
    files = {}
    for symbol in get_symbols(description, "input"):
        graph = os.path.join(folder, "input.graph")
        kind = "%s<%s>" % (symbol["type"], "x".join(map(str, symbol["shape"])))
        with open(graph, "w", encoding="utf-8") as file:
            file.write('module "m"\n'
                       'placeholder %%x : %s input "x"\n'
                       'placeholder %%y : %s output "y"\n'
                       'function "main" {\n  Save(%%x, %%y)\n}\n'
                       % (kind, kind))
        out = os.path.join(folder, "input%d" % len(files))
        tool("model-runner", "-model=" + graph, "-random-inputs=7",
             "-output-dir=" + out)
        files[symbol["name"]] = os.path.join(out, "y.npy")
    return files


def read_case(source, folder):
    """The arguments of model-runner for a folder of ONNX's layout, and its
    inputs."""
    cases.add_trained(source, folder)
    with open(os.path.join(folder, "args"), encoding="utf-8") as file:
        args = file.read().split("\n")
    inputs = dict(arg[len("-input="):].rsplit("=", 1) for arg in args
                  if arg.startswith("-input="))
    return [arg for arg in args if arg.startswith("-model")], inputs


def run_here(args, inputs, out, option):
    """What model-runner makes of the inputs: folder of .npy files."""
    tool("model-runner", *args, option, "-output-dir=" + out,
         *("-input=%s=%s" % pair for pair in inputs.items()))
    return out


def run_bundle(folder, description, inputs, expected, tolerance, options):
    case = os.path.join(folder, "case.json")
    files = read_arrays(expected)
    outputs = {}
    for symbol in get_symbols(description, "output"):
        name = legalize(symbol["name"])
        if name in files:
            outputs[symbol["name"]] = os.path.join(expected, name + ".npy")
    if len(outputs) != len(files):
        raise RuntimeError("outputs %s, not %s" % (list(outputs), files))
    with open(case, "w", encoding="utf-8") as file:
        json.dump({"bundle": os.path.join(folder, "network.mjs"),
                   "inputs": inputs, "expected": outputs,
                   "tolerance": tolerance,
                   "fromBytes": options == SIMD}, file)
    flags = []
    if options == RELAXED and supports_flag():
        flags = ["--experimental-wasm-relaxed-simd"]
    return run("node", *flags, "tests/e2e/web/run_network.mjs", case).strip()


def supports_flag():
    """Whether Node.js has relaxed SIMD behind a flag, as before version 22."""
    return "relaxed-simd" in run("node", "--v8-options")


#===- Types --------------------------------------------------------------===//

# What uses the types of a bundle with the input and output in its arguments.
PROGRAM = """
import {load, Network, NetworkError} from './network.mjs';
const network: Network = await load({threads: 1});
const length: number = network.inputs[%(input)s].length;
network.run();
const threads: number = network.threads;
network.close();
const shape: readonly number[] = network.tensors[%(output)s].shape;
// @ts-expect-error
network.inputs.noSuchInput;
export {length, shape, threads, NetworkError};
"""


def check_types(folder, description):
    """What is wrong with the types of a bundle."""
    def read(suffix):
        with open(os.path.join(folder, "network" + suffix),
                  encoding="utf-8") as file:
            return file.read()
    exports = re.findall(r"^export (?:async )?(?:const|class|function) (\w+)",
                         read(".mjs"), re.MULTILINE)
    types = read(".d.ts")
    missing = [name for name in exports
               if not re.search(r"export declare (?:const|class|function) %s\b"
                                % name, types)]
    missing += [symbol["name"] for symbol in
                get_symbols(description, "put")
                if "readonly %s: " % json.dumps(symbol["name"]) not in types]
    if missing:
        raise RuntimeError("not in the types: " + ", ".join(missing))
    if not shutil.which("tsc"):
        return "types: the names (no tsc)"
    program = os.path.join(folder, "program.mts")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM % {
            "input": json.dumps(get_symbols(description, "input")[0]["name"]),
            "output": json.dumps(get_symbols(description, "output")[0]["name"])
        })
    shutil.copy(os.path.join(folder, "network.d.ts"),
                os.path.join(folder, "network.d.mts"))
    run("tsc", "--noEmit", "--strict", "--target", "es2022", "--module",
        "node16", "--moduleResolution", "node16", program)
    return "types: tsc"


#===- Networks -----------------------------------------------------------===//

def check_network(name, args, inputs, tolerance, variants):
    """Prints a line for each variant of a network; how many are wrong."""
    folder = os.path.join(WORK, name)
    wrong, expected = 0, None
    for variant, options in variants.items():
        bundle = os.path.join(folder, variant.replace(" ", "-"))
        try:
            description = compile_bundle(args, bundle, options)
            if inputs is None:
                inputs = make_inputs(description, folder)
            expected = expected or run_here(args, inputs, folder + "/expected",
                                            "-backend=Interpreter")
            bound = expected, tolerance
            if "-reproducible" in options:
                bound = run_here(args, inputs, bundle + "/expected",
                                 "-reproducible"), 0
            verdict = run_bundle(bundle, description, inputs, *bound, options)
            if variant == "simd" and "scalar" in variants:
                verdict += "  " + check_types(bundle, description)
        except (RuntimeError, KeyError) as error:
            verdict, wrong = "WRONG: %s" % error, wrong + 1
        size = os.path.join(bundle, "network.wasm")
        print("%-40s %-24s %8d  %s" % (
            name, variant,
            os.path.getsize(size) if os.path.exists(size) else 0, verdict),
              flush=True)
    return wrong


def check_document():
    """Runs the first commands and the first program of docs/webassembly.md;
    how much is wrong."""
    with open("docs/webassembly.md", encoding="utf-8") as file:
        text = file.read()
    command, program = (re.search("```%s\n(.*?)```" % kind, text,
                                  re.DOTALL).group(1) for kind in ("sh", "js"))
    folder = os.path.join(WORK, "document")
    args = command.replace("\\\n", " ").split()
    try:
        tool(args[0], *(("-emit-bundle=" + folder)
                        if arg.startswith("-emit-bundle=") else arg
                        for arg in args[1:]))
        path = os.path.join(folder, "program.mjs")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        printed = run("node", path).strip()
        verdict = "" if printed == "1" else "WRONG: printed " + printed
    except RuntimeError as error:
        verdict = "WRONG: %s" % error
    print("docs/webassembly.md  " + (verdict or "ok"))
    return 1 if verdict else 0


# What loads the weights of digits with another byte or another size.
SPOILT = """
import {readFileSync} from 'node:fs';
import {load} from './network.mjs';
const weights = readFileSync(new URL('network.weights.bin', import.meta.url));
const getCode = (bytes) => load({weights: bytes}).then(
    () => 0, ({code}) => code);
const other = Uint8Array.from(weights);
other[other.length >> 1] ^= 1;
console.log(await getCode(weights), await getCode(weights.subarray(1)),
            await getCode(other));
"""


def check_weights():
    """Whether wrong weights are refused; how much is wrong."""
    folder = os.path.join(WORK, "digits", "simd")
    path = os.path.join(folder, "spoilt.mjs")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SPOILT)
    printed = run("node", path).strip()
    print("wrong weights        " +
          ("ok" if printed == "0 3 4" else "WRONG: printed " + printed))
    return 0 if printed == "0 3 4" else 1


MODEL = """
ir_version: 7
opset_import { version: 13 }
graph {
  name: "net"
  node { op_type: "Neg" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "length" } dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "length" } dim { dim_value: 2 } } } } }
}
"""

# What a program does with extents: the option of model-compiler, and a program that
# prints true for each thing that is right.
EXTENTS = {"range": ("length,1..4", """
const {x} = network.inputs, {y} = network.outputs;
x.set([1, 2, 3, 4, 5, 6, 7, 8]);
network.run({length: 3});
const error = catchError(() => network.run({length: 5}));
const none = catchError(() => network.run({length: 0}));
const unknown = catchError(() => network.run({length: 2, width: 5}));
const isKept = network.tensors.length.data[0] === 3n;
network.run();  // with the last extent that was accepted
console.log(y[5] === -6, !('length' in network.inputs), error.code === 6,
            error.message.includes('length is 5, accepted: 1 ... 4'),
            none.message.includes('length is 0, accepted: 1 ... 4'), isKept,
            unknown instanceof RangeError, network.getExtents('y')[0] === 3,
            network.tensors.x.dims[0] === 'length');
"""),
           "values": ("length,2,4", """
network.select({length: 4});
network.inputs.x.fill(3);
network.run();
const {y} = network.outputs;
network.select({length: 2});
const error = catchError(() => network.select({length: 3}));
console.log(y.length === 8, y[7] === -3, network.inputs.x.length === 4,
            network.getExtents('y').join() === '2,2',
            error instanceof RangeError,
            error.message.includes('accepted: length=2; length=4'));
""")}


def check_extents():
    """Bundles with extents that a run states, and with several values; how much
    is wrong."""
    folder, wrong = os.path.join(WORK, "extents"), 0
    os.makedirs(folder)
    model = os.path.join(folder, "model.onnxtxt")
    with open(model, "w", encoding="utf-8") as file:
        file.write(MODEL)
    for name, (symbol, program) in EXTENTS.items():
        bundle = os.path.join(folder, name)
        compile_bundle(["-model=" + model, "-define-symbol=" + symbol],
                       bundle, SIMD)
        path = os.path.join(bundle, "program.mjs")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import {load} from './network.mjs';\n"
                       "const catchError = (body) => {\n"
                       "  try { body(); } catch (error) { return error; }\n"
                       "};\nconst network = await load();\n" + program)
        printed = run("node", path).strip()
        is_right = set(printed.split()) == {"true"}
        wrong += not is_right
        print("%-20s %s" % (name, "ok" if is_right else "WRONG: " + printed))
    return wrong


def find_networks(has_all):
    """Name, arguments, inputs, tolerance and variants of each network; has_all:
    of the trained ones all."""
    for model, is_quantized in OWN.items():
        name = os.path.splitext(os.path.basename(model))[0]
        yield (name, ["-model=" + model], None,
               0 if is_quantized else FLOAT_TOLERANCE,
               {"simd": SIMD, **VARIANTS})
    for parent, tolerance in (("trained", FLOAT_TOLERANCE), ("quantized", 0)):
        source = os.path.join(DATA, parent)
        if not os.path.isdir(source):
            print("skipped: there is no %s" % source)
            continue
        for name in sorted(os.listdir(source)):
            if parent == "trained" and not has_all and name not in TRAINED:
                continue
            folder = os.path.join(WORK, name)
            os.makedirs(folder, exist_ok=True)
            try:
                args, inputs = read_case(os.path.join(source, name), folder)
            except (KeyError, FileNotFoundError) as error:
                print("%-40s skipped: its tensors are not read (%s)" %
                      (name, error))
                continue
            yield (name, args, inputs, TOLERANCES.get(name, tolerance),
                   {"simd": SIMD} if tolerance == 0 else
                   {"simd": SIMD, "reproducible": VARIANTS["reproducible"]})
    for model in TFLITE:
        path = os.path.join(DATA, "quantized", model)
        if os.path.exists(path):
            yield (os.path.basename(model),
                   ["-model=" + path, "-tflite-rename-tensors"], None, 0,
                   {"simd": SIMD, "scalar": VARIANTS["scalar"]})


def main():
    if not has_programs({"node": "nodejs", "wasm-ld-19": "lld-19"}):
        return 77
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    names = [name for name in sys.argv[1:] if name != "--all"]
    wrong = check_document() + check_extents()
    for name, *network in find_networks("--all" in sys.argv or names):
        if not names or name in names:
            wrong += check_network(name, *network)
    if not names:
        wrong += check_weights()
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
