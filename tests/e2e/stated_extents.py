#!/usr/bin/python3
"""Models that are compiled once for a range of extents and run with several, on
both back ends, against themselves compiled for each extent. Skipped where there
is no NumPy or no test data ($GLOWISH_TEST_DATA, default ../shared/data)."""

import os
import shutil
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(ROOT)
sys.path.insert(0, "tests/e2e")

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

from comparison import Tolerance, check_outputs  # noqa: E402
from model_runs import (BACKENDS, Outputs, Run, read_arrays, run_local,  # noqa: E402
                        run_tool)

DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
TOLERANCE = Tolerance(of_largest=2e-6)
RANDOM = np.random.default_rng(7)


def tokens(count, *shape):
    return RANDOM.integers(0, count, shape).astype(np.int64)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def decoder(S, P):
    """A language model with a cache."""
    inputs = {"input_ids": tokens(512, 1, S),
              "position_ids": P + np.arange(S, dtype=np.int64)[None]}
    for layer in range(5):
        for kind in ("key", "value"):
            inputs[f"past.{layer}.{kind}"] = floats(1, 4, P, 8)
    return inputs


def grouped(S, P):
    """The same with com.microsoft's operators, whose heads are padded."""
    inputs = {"input_ids": tokens(512, 1, S),
              "seqlens_k": np.array([P + S - 1], np.int32),
              "total": np.array(P + S, np.int32)}
    for layer in range(5):
        for kind in ("key", "value"):
            inputs[f"past.{layer}.{kind}"] = floats(1, 4, P, 16)
    return inputs


STATE = ("past.", "present.")


# The model; the symbols' ranges; their values; the inputs with these; the first
# parts of the names of inputs and outputs that are states.
CASES = [
    ("llm/stories260K/plain/model.onnx", {"S": (1, 17), "P": (0, 33)},
     [(1, 0), (17, 33), (1, 7), (7, 0), (3, 33)], decoder, STATE),
    ("llm/stories260K/attention/model.onnx", {"S": (1, 17), "P": (0, 33)},
     [(1, 0), (17, 33), (1, 7), (7, 0), (3, 33)], decoder, STATE),
    ("llm/stories260K/microsoft8/model.onnx", {"S": (1, 17), "P": (0, 33)},
     [(1, 0), (17, 33), (3, 33)], grouped, STATE),
    ("trained/t5_encoder/model.onnx", {"batch": (1, 3), "tokens": (1, 17)},
     [(1, 1), (2, 7), (3, 17)],
     lambda batch, length: {
         "input_ids": tokens(20, batch, length),
         "attention_mask": np.ones((batch, length), np.int64)}),
    ("trained/t5_decoder/model.onnx",
     {"target_tokens": (1, 9), "source_tokens": (1, 7)},
     [(1, 1), (9, 7), (3, 7), (9, 1)],
     lambda target, source: {
         "input_ids": tokens(20, 1, target),
         "encoder_attention_mask": np.ones((1, source), np.float32),
         "encoder_hidden_states": floats(1, source, 8)}),
    ("trained/cifar10_cnn/model.onnx", {"batch_size": (1, 5)},
     [(1,), (3,), (5,)],
     lambda batch: {"modelInput": floats(batch, 3, 32, 32)}),
    ("trained/text_magika/model.onnx", {"unk__214": (1, 3)}, [(1,), (3,)],
     lambda batch: {"bytes": tokens(256, batch, 2048).astype(np.int32)}),
]


def define(symbol, value):
    return f"-define-symbol={symbol},{value}"


def find_difference(expected, actual, state):
    """What is wrong with the outputs; empty if nothing is."""
    return check_outputs(actual, {
        state[0] + name[len(state[1]):] if state and name.startswith(state[1]) else name: value
        for name, value in expected.items()}, TOLERANCE)


def write_sets(folder, sets):
    """The inputs of each run, for -input-dir."""
    shutil.rmtree(folder, ignore_errors=True)
    for number, inputs in enumerate(sets):
        os.makedirs(f"{folder}/{number}")
        for name, value in inputs.items():
            np.save(f"{folder}/{number}/{name}.npy", value)


def run_sets(model, options, backend, sets, work):
    """The outputs of each run of one program, or what was printed."""
    out = os.path.join(work, "out")
    shutil.rmtree(out, ignore_errors=True)
    code, text = run_tool("model-runner", "-model=" + model, *options,
                          "-backend=" + backend, f"-input-dir={work}/sets",
                          "-output-dir=" + out)
    if code != 0:
        return None, text
    return [Outputs(read_arrays(os.path.join(out, number)),
                    Run([model], sets[int(number)], backend, options))
            for number in sorted(os.listdir(out), key=int)], text


def check_model(file, ranges, values, make_inputs, state, work):
    """Prints what is wrong with a model; returns how many runs there were, and
    how many of them are wrong."""
    model = os.path.join(DATA, file)
    sets = [make_inputs(*extents) for extents in values]
    expected = []
    for extents, inputs in zip(values, sets):
        fixed = [define(*pair) for pair in zip(ranges, extents)]
        outputs, text = run_local([model], inputs, "CPU", work, fixed)
        if outputs is None:
            print(f"WRONG {file} {extents}: {text}")
            return 1, 1
        expected.append(outputs)
    wrong = runs = 0

    def check(what, numbers, results, text, names):
        nonlocal wrong, runs
        for number in numbers:
            difference = text if results is None else find_difference(
                expected[number], results[number], names)
            runs += 1
            if difference:
                print(f"WRONG {file} {values[number]} {what}: {difference}")
                wrong += 1

    # What is left open gets the extents of the inputs.
    ranged = [define(symbol, f"{low}..{high}")
              for symbol, (low, high) in ranges.items()]
    outputs, text = run_local([model], sets[0], "Interpreter", work, ranged)
    check("alone", [0], outputs and [outputs], text, None)
    write_sets(os.path.join(work, "sets"), sets)
    for backend in BACKENDS:
        for names in [None, *state]:
            kept = [f"-state={names[0]}*,{names[1]}*"] if names else []
            results, text = run_sets(model, ranged + kept, backend, sets, work)
            check(f"{backend} {kept}", range(len(sets)), results, text, names)
    return runs, wrong


def main():
    if not os.path.isdir(DATA):
        print(f"skipped: there is no {DATA}")
        return 77
    wrong = runs = 0
    with tempfile.TemporaryDirectory() as work:
        for file, ranges, values, make_inputs, *state in CASES:
            if not os.path.exists(os.path.join(DATA, file)):
                print(f"skipped: there is no {DATA}/{file}")
                continue
            more_runs, more_wrong = check_model(file, ranges, values,
                                                make_inputs, state, work)
            runs += more_runs
            wrong += more_wrong
    print(f"{runs} runs, {wrong} wrong")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
