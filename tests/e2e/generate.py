#!/usr/bin/python3
"""Language models in bundles whose cache is a state: greedy ids of two
conversations on one set of weights, with prompts in pieces, against those of an
independent program, or of ONNX Runtime for quantized weights. Skipped where
there is no test data ($GLOWISH_TEST_DATA, default ../shared/data).
$GLOWISH_BIN: the programs (default build/release/bin)."""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(ROOT)

BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
DATA = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"),
                    "llm/stories260K")
COUNT = 301
# The form of the model; what is appended to the names of the symbols (the plain
# form has values of these names); the lengths of calls; options.
MODELS = [("plain", "_extent", "1..8", []),
          ("plain", "_extent", "1,1..8", []),
          ("attention", "", "1..8", []),
          ("attention", "", "1,5,1..8", ["-threads=2"]),
          ("attention", "", "1..8", ["-mcpu=x86-64"]),
          ("attention", "", "1,1..8", ["-mcpu=x86-64,x86-64-v3"]),
          ("microsoft", "", "1,1..8", []), ("microsoft8", "", "1..8", []),
          ("microsoft4", "", "1,1..8", [])]
# How many ids of the prompt there are, and how many each call takes.
PROMPTS = [(1, [1]), (40, [8]), (40, [3, 1, 7]), (300, [8, 5])]


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def compile_bundle(form, suffix, lengths, options, work):
    """What was printed if it failed."""
    code, text = run(os.path.join(BIN, "model-compiler"), "-backend=CPU",
                     f"-model={DATA}/{form}/model.onnx",
                     f"-define-symbol=S,{lengths}",
                     "-define-symbol=P,0..320", "-state=past.*,present.*",
                     f"-emit-bundle={work}", "-network-name=network",
                     "-weights=embed", *options)
    threads = os.path.join(work, "glowish_threads.c")
    sources = ["tests/e2e/generate.c", os.path.join(work, "network.o")]
    if os.path.exists(threads):
        sources += [threads, "-pthread"]
    if code == 0:
        code, text = run("clang-19", "-std=c11", "-O1", "-Wall", "-Wextra",
                         "-Werror", "-I" + work, f"-DLENGTH=NETWORK_S{suffix}",
                         f"-DPAST=NETWORK_P{suffix}",
                         f"-DPAST_MOST=NETWORK_P{suffix}_MOST",
                         f"-DLENGTH_MOST=NETWORK_S{suffix}_MOST",
                         "-fsanitize=address,undefined", *sources,
                         "-o", os.path.join(work, "generate"))
    return text if code != 0 else ""


def read_ids(form):
    """The ids beside the model, or those for all forms with float weights."""
    for folder in (form, "reference"):
        path = os.path.join(DATA, folder, "greedy_tokens.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return json.load(file)["tokens"][:COUNT]
    raise FileNotFoundError(path)


def main():
    if not os.path.isdir(DATA):
        print(f"skipped: there is no {DATA}")
        return 77
    wrong = runs = 0
    for form, suffix, lengths, options in MODELS:
        expected = read_ids(form)
        with tempfile.TemporaryDirectory() as work:
            text = compile_bundle(form, suffix, lengths, options, work)
            if text:
                print(f"WRONG {form} {lengths} {options}: {text}")
                wrong += 1
                continue
            for length, pieces in PROMPTS:
                code, text = run(os.path.join(work, "generate"), str(COUNT),
                                 *map(str, pieces), "--",
                                 *map(str, expected[:length]))
                runs += 1
                if code != 0 or [int(i) for i in text.split()] != expected:
                    print(f"WRONG {form} {lengths} {options}, {length} ids in "
                          f"{pieces}: exit code {code}")
                    wrong += 1
    print(f"{runs} runs, {wrong} wrong")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
