#!/usr/bin/env python3
"""The perplexity that model-runner finds in a text of a small language model.

Of the first tokens it must be that of the logits which an independent program has
computed; of the text the same in all forms of the model, for all numbers of
tokens that a call takes, and where the text does not fit into the cache. With
quantized weights it may be larger, as much as is stated here. Prints a table.
Skipped where there is no test data ($GLOWISH_TEST_DATA, default ../shared/data).
$GLOWISH_BIN: the programs (default build/release/bin).
"""

import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(ROOT)
sys.path[:0] = ["examples", "tests/e2e"]
from cases import write_npy  # noqa: E402
from onnx_text import INT64  # noqa: E402

BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
DATA = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"),
                    "llm/stories260K")
LENGTH = 300  # tokens of the text
TOLERANCE = 1e-5  # nats a token
# The form of the model, options, and the largest difference in nats a token
# from the model with float weights. The model is tiny: 4 bits cost it much.
QUANTIZED = [
    ("microsoft8", [], 0.005), ("microsoft4", [], 0.15),
    ("microsoft", ["-quantize-weights=int8"], 0.005),
    ("attention", ["-quantize-weights=int4"], 0.15),
    ("attention", ["-quantize-weights=int4", "-activations=int8"], 0.15),
]


def read_ids():
    with open(f"{DATA}/reference/greedy_tokens.json", encoding="utf-8") as file:
        return json.load(file)["tokens"][:LENGTH]


def read_rows(path):
    """The rows of a .npy file of doubles with two dimensions."""
    with open(path, "rb") as file:
        content = file.read()
    start = 10 + struct.unpack("<H", content[8:10])[0]
    rows, words = map(int, re.search(rb"\((\d+), (\d+)\)",
                                     content[:start]).groups())
    values = struct.unpack(f"<{rows * words}d", content[start:])
    return [values[i * words:(i + 1) * words] for i in range(rows)]


def get_nats(rows, ids):
    """Nats a token of what follows each row."""
    total = 0
    for row, following in zip(rows, ids[1:]):
        most = max(row)
        total += most + math.log(sum(math.exp(x - most) for x in row))
        total -= row[following]
    return total / len(rows)


class Runner:
    def __init__(self, work):
        self.work = work

    def measure(self, form, ids, options, tokens="1..8", past="0..320"):
        """Nats a token."""
        path = os.path.join(self.work, "ids.npy")
        write_npy(path, INT64, [len(ids)], struct.pack(f"<{len(ids)}q", *ids))
        done = subprocess.run(
            [BIN + "/model-runner", f"-model={DATA}/{form}/model.onnx",
             f"-define-symbol=S,{tokens}", f"-define-symbol=P,{past}",
             "-state=past.*,present.*", f"-perplexity={path}", *options],
            capture_output=True, text=True, check=False)
        found = re.search(r"^perplexity: (\S+), (\S+) nats a token$",
                          done.stdout, re.M)
        if done.returncode or not found:
            sys.exit(f"{form} {options}: {done.stdout}{done.stderr}")
        perplexity, nats = map(float, found.groups())
        assert abs(math.log(perplexity) - nats) < 1e-3
        return nats


def list_cases(runner, ids):
    """(What, nats, expected nats, tolerance) each."""
    rows = read_rows(f"{DATA}/reference/logits_first16.npy")
    first = ids[:len(rows) + 1]
    for form in ("plain", "attention", "microsoft"):
        yield (f"{form}, {len(rows)} tokens", runner.measure(form, first, []),
               get_nats(rows, first), TOLERANCE)
    nats = runner.measure("attention", ids, [], tokens="1")
    for form, options, tokens in [
            ("plain", [], "1..8"), ("attention", [], "1..32"),
            ("microsoft", [], "1,7"),
            ("attention", ["-backend=Interpreter"], "1..8"),
            ("attention", ["-threads=2"], "1..8")]:
        yield (" ".join([form, tokens, *options]),
               runner.measure(form, ids, options, tokens), nats, TOLERANCE)
    # 100 tokens for a cache of 98: each window begins with the last token of
    # the one before.
    windows = [ids[begin:begin + 100] for begin in range(0, LENGTH - 1, 99)]
    counts = [len(window) - 1 for window in windows]
    parts = [runner.measure("attention", window, []) for window in windows]
    yield ("attention, in windows",
           runner.measure("attention", ids, [], past="0..98"),
           sum(n * p for n, p in zip(counts, parts)) / sum(counts), TOLERANCE)
    for form, options, tolerance in QUANTIZED:
        yield (" ".join([form, *options]), runner.measure(form, ids, options),
               nats, tolerance)


def main():
    if not os.path.isdir(DATA):
        print(f"skipped: there is no {DATA}")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as work:
        for what, nats, expected, tolerance in list_cases(Runner(work),
                                                          read_ids()):
            is_right = abs(nats - expected) <= tolerance
            wrong += not is_right
            print(f"{what:55} {nats:.6f} nats a token, expected {expected:.6f}"
                  f"{'' if is_right else '  WRONG'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
