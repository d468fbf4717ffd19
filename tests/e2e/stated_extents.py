#!/usr/bin/python3
"""Models that are compiled once for a range of extents, on both back ends,
against themselves compiled for each extent. Skipped where there is no NumPy or
no test data ($GLOWISH_TEST_DATA, default ../shared/data)."""

import os
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

from model_runs import BACKENDS, run_model  # noqa: E402

DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
TOLERANCE = 2e-6  # of the largest element
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
    return f"-onnx-define-symbol={symbol},{value}"


def find_difference(expected, actual, state):
    """What is wrong with the outputs; empty if nothing is."""
    for name, value in expected.items():
        if state and name.startswith(state[1]):
            name = state[0] + name[len(state[1]):]
        other = actual.get(name)
        if other is None or other.shape != value.shape:
            return f"{name}: {None if other is None else other.shape}, not " \
                   f"{value.shape}"
        if value.size == 0:
            continue
        difference = np.abs(other.astype(np.float64) - value).max()
        if not difference <= TOLERANCE * max(np.abs(value).max(), 1e-30):
            return f"{name}: {difference} of {np.abs(value).max()}"
    return ""


def main():
    if not os.path.isdir(DATA):
        print(f"skipped: there is no {DATA}")
        return 77
    wrong = runs = 0
    with tempfile.TemporaryDirectory() as work:
        for file, ranges, values, make_inputs, *state in CASES:
            model = os.path.join(DATA, file)
            if not os.path.exists(model):
                print(f"skipped: there is no {model}")
                continue
            # What is left open gets the extents of the inputs.
            ranged = [define(symbol, f"{low}..{high}")
                      for symbol, (low, high) in ranges.items()]
            for extents in values:
                inputs = make_inputs(*extents)
                fixed = [define(*pair) for pair in zip(ranges, extents)]
                expected, text = run_model([model], inputs, "CPU", work, fixed)
                if expected is None:
                    print(f"WRONG {file} {extents}: {text}")
                    wrong += 1
                    continue
                for backend in BACKENDS:
                    for names in [None, *state]:
                        kept = [f"-state={names[0]}*,{names[1]}*"] if names \
                            else []
                        actual, text = run_model([model], inputs, backend,
                                                 work, ranged + kept)
                        difference = text if actual is None else \
                            find_difference(expected, actual, names)
                        runs += 1
                        if difference:
                            print(f"WRONG {file} {extents} {backend} {kept}: "
                                  f"{difference}")
                            wrong += 1
    print(f"{runs} runs, {wrong} wrong")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
