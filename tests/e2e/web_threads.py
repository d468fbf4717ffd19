#!/usr/bin/env python3
"""Runs bundles for JavaScript on several threads.

    web_threads.py [--runs N]

In Node.js, networks that are compiled with -threads=4 must have the bits of those
without it, on 1, 2, 3 and 4 threads, in each of N runs (default 200; of the larger
network a tenth): tests/e2e/web/run_threads.mjs. The process ends by itself, a task
that fails in a worker is an error of the run, and the program of docs/webassembly.md
runs. In a headless Chromium the bits are compared as well, in a page and in a worker,
cross-origin isolated and not: tests/e2e/web/threads_page.mjs.

$GLOWISH_BIN: the programs (default build/release/bin). Prints a line for each check;
exits 1 if one fails, 77 without Node.js or wasm-ld-19.
"""

import argparse
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
sys.path.append("tests/e2e")

import web_page  # noqa: E402: beside this script
from programs import has_programs, run, tool  # noqa: E402

WORK = os.path.abspath("build/e2e/web-threads")
# A call that hangs is an error.
MOST_SECONDS = 300
SMALL = ["-model=tests/e2e/web/threads.onnxtxt", "-state=memory,next"]
LARGE = ["-model=examples/shapes/shapes.onnx", "-define-symbol=N,3"]


def compile_bundle(name, *options):
    folder = os.path.join(WORK, name)
    tool("model-compiler", *options, "-target=wasm32-unknown-unknown",
         "-mattr=+simd128", "-reproducible", "-emit-bundle=" + folder,
         "-network-name=network")
    return os.path.join(folder, "network.mjs")


def run_node(script, *args):
    """What a script of tests/e2e/web prints, which is nothing where all is well."""
    try:
        done = subprocess.run(["node", "tests/e2e/web/" + script, *map(str, args)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=MOST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "has not ended after %d seconds" % MOST_SECONDS
    return done.stdout.strip() or (
        "ended with %d" % done.returncode if done.returncode else "")


def check_node(runs):
    """What is wrong of networks in Node.js, by what was checked."""
    small = compile_bundle("network", *SMALL, "-threads=4")
    plain = compile_bundle("one-thread", *SMALL)
    large = compile_bundle("large", *LARGE, "-threads=4", "-weights=embed")
    streamed = compile_bundle("streamed", *LARGE, "-threads=4")
    large_plain = compile_bundle("large-one-thread", *LARGE)
    yield "states", run_node("run_threads.mjs", small, plain, large, runs)
    yield "embedded weights", run_node(
        "run_threads.mjs", large, large_plain, small, max(runs // 10, 1))
    yield "weights from a file", run_node(
        "run_threads.mjs", streamed, large_plain, small, max(runs // 10, 1))


def check_document():
    """What is wrong of the program about threads in docs/webassembly.md."""
    with open("docs/webassembly.md", encoding="utf-8") as file:
        text = file.read()
    program = re.search("## Threads\n.*?```js\n(.*?)```", text, re.DOTALL).group(1)
    folder = os.path.join(WORK, "document")
    tool("model-compiler", "-model=examples/digits/digits.onnx",
         "-target=wasm32-unknown-unknown", "-mattr=+simd128", "-threads=4",
         "-emit-bundle=" + folder, "-network-name=digits")
    path = os.path.join(folder, "program.mjs")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    printed = run("node", path).strip()
    return "" if printed == "2" else "printed " + printed


def find_compiler():
    """LLVM's compiler of its text form."""
    return (shutil.which("llc-19") or shutil.which("llc") or
            shutil.which("llc", path="/usr/lib/llvm-19/bin"))


def check_failing_task():
    """What is wrong where a task fails."""
    stem = os.path.join(WORK, "failing")
    run(find_compiler(), "-mattr=+atomics,+bulk-memory", "-filetype=obj",
        "tests/e2e/web/failing_task.ll", "-o", stem + ".o")
    run("wasm-ld-19", stem + ".o", "-o", stem + ".wasm", "--no-entry",
        "--shared-memory", "--import-memory", "--max-memory=4294967296",
        "--export-table", "--export=__stack_pointer", "--export=__heap_base")
    bundle = compile_bundle("failing", *SMALL, "-threads=2")
    printed = run_node("run_failing_task.mjs", bundle, stem + ".wasm")
    expected = "network: a worker failed: RuntimeError: unreachable"
    return "" if printed == expected + "\n" + expected else "printed " + printed


class Handler(web_page.Handler):
    """A server whose pages are isolated from others."""

    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


def check_page(browser, handler):
    """What is wrong of the page, which a server with this handler has."""
    for file in ("threads_page.html", "threads_page.mjs", "runs.mjs"):
        shutil.copy(os.path.join("tests/e2e/web", file), WORK)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=WORK))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/threads_page.html" % server.server_address[1]
    page, console = web_page.browse(browser, url, WORK + "/profile", "--dump-dom")
    server.shutdown()
    result = re.search(r'<pre id="result"[^>]*>(.*?)</pre>', page, re.DOTALL)
    text = result.group(1) if result else "the page has no result"
    return "; ".join(([] if text == "passed" else [text]) + console)


def check_all(runs):
    """What was checked, and what is wrong of it."""
    yield "docs/webassembly.md", check_document()
    yield from check_node(runs)
    if find_compiler():
        yield "a task that fails", check_failing_task()
    else:
        print("a task that fails: skipped: there is no llc-19")
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("in a browser: skipped: there is no Chromium; "
              "scripts/install-deps.sh --browser installs it")
        return
    yield "in a browser", check_page(browser, Handler)
    yield "in a browser, not isolated", check_page(browser, web_page.Handler)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    if not has_programs({"node": "nodejs", "wasm-ld-19": "lld-19"}):
        return 77
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    wrong = 0
    for what, error in check_all(runs):
        print("%-28s %s" % (what, "WRONG: " + error if error else "ok"), flush=True)
        wrong += bool(error)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
