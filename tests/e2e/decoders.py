#!/usr/bin/python3
"""Small decoders whose keys and values are inputs and outputs, as ONNX
Runtime's optimizer writes them (com.microsoft's Attention with a past): ids by
greedy and by beam search on both back ends, against those that are published
with the models. Each step is a run of model-runner. Skipped where there is no
test data ($GLOWISH_TEST_DATA, default ../shared/data) or no NumPy. $GLOWISH_BIN:
the programs (default build/release/bin)."""

import json
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(ROOT)
sys.path.insert(0, "tests/e2e")

from model_runs import BACKENDS, run_local  # noqa: E402

DATA = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"),
                    "llm/ort-genai/hf-internal-testing")
# Both models have the same weights, rounded in the second.
MODELS = {"tiny-random-gpt2-fp32": np.float32,
          "tiny-random-gpt2-fp16-cuda": np.float16}
LAYERS, HEADS, SIZE = 5, 4, 8


class Decoder:
    """A model on a back end, and the past of the sequences of a batch."""

    def __init__(self, model, backend, batch):
        self.model, self.backend = model, backend
        shape = (2, batch, HEADS, 0, SIZE)
        self.past = [np.zeros(shape, MODELS[model])] * LAYERS

    def run(self, ids):
        """Logarithms of the probabilities of the tokens behind ids, [batch,
        new tokens]."""
        batch, count = ids.shape
        length = self.past[0].shape[3]
        total = length + count
        inputs = {
            "input_ids": ids.astype(np.int32),
            "position_ids": np.tile(
                np.arange(length, total, dtype=np.int32), (batch, 1)),
            "attention_mask": np.ones((batch, total), np.int32)}
        for i, past in enumerate(self.past):
            inputs[f"past_{i}"] = past
        symbols = {"batch_size": batch, "seq_len": count,
                   "total_seq_len": total, "past_seq_len": length}
        outputs = run_step(self.model, self.backend, symbols, inputs)
        self.past = [outputs[f"present_{i}"] for i in range(LAYERS)]
        logits = outputs["logits"][:, -1].astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def select(self, rows):
        """Goes on with these sequences of the batch."""
        self.past = [past[:, rows] for past in self.past]


def run_step(model, backend, symbols, inputs):
    options = [f"-define-symbol={name},{value}"
               for name, value in symbols.items()]
    with tempfile.TemporaryDirectory() as work:
        outputs, text = run_local([f"{DATA}/{model}/past.onnx"], inputs, backend,
                                  os.path.join(work, "run"), options)
    if outputs is None:
        sys.exit(f"{model} ({backend}): {text}")
    return outputs


def search_greedily(decoder, ids, length):
    new = ids
    while ids.shape[1] < length:
        new = decoder.run(new).argmax(axis=1)[:, None]
        ids = np.concatenate([ids, new], axis=1)
    return ids


def search_beams(decoder, ids, length, beams):
    """The best of the beams of each prompt. All have the same length, so that a
    length penalty changes nothing."""
    batch = ids.shape[0]
    ids = np.repeat(ids, beams, axis=0)
    # The first step is the same for all beams of a prompt.
    scores = np.tile([0.0] + [-np.inf] * (beams - 1), (batch, 1))
    new = ids
    while ids.shape[1] < length:
        logs = decoder.run(new)
        count = logs.shape[1]
        sums = (scores[:, :, None] + logs.reshape(batch, beams, count)).reshape(
            batch, beams * count)
        best = np.argsort(-sums, axis=1, kind="stable")[:, :beams]
        scores = np.take_along_axis(sums, best, axis=1)
        rows = (best // count + beams * np.arange(batch)[:, None]).ravel()
        new = (best % count).ravel()[:, None]
        decoder.select(rows)
        ids = np.concatenate([ids[rows], new], axis=1)
    return ids[::beams]


def check(name, actual, expected):
    if actual.tolist() == expected:
        return 0
    print(f"{name}: {actual.tolist()}, not {expected}")
    return 1


def main():
    path = os.path.join(DATA, "tiny-random-gpt2-fp32/expected_tokens.json")
    if not os.path.exists(path):
        print(f"skipped: there is no {path}")
        return 77
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    greedy, beam = cases["greedy"], cases["beam_search"]
    failed = 0
    for model in MODELS:
        for backend in BACKENDS:
            ids = np.array(greedy["input_ids"])
            found = search_greedily(Decoder(model, backend, len(ids)), ids,
                                    greedy["max_length"])
            failed += check(f"{model} ({backend}), greedy", found,
                            greedy["expected"])
            ids = np.array(beam["input_ids"])
            beams = beam["num_beams"]
            found = search_beams(Decoder(model, backend, beams * len(ids)), ids,
                                 beam["max_length"], beams)
            failed += check(f"{model} ({backend}), beams", found,
                            beam["expected"])
    print("passed" if not failed else f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
