#!/usr/bin/python3
"""serving.py [--doc]: the server of examples/serving, built by its CMakeLists.txt. Each answer
must be what the interpreter says of the image, with many connections at a time; what is no
image gets its HTTP error; SIGTERM ends the server when the last request is answered. ab, where
it is installed, loads it: no request may fail. --doc writes what that measures to
docs/serving.md.

$GLOWISH_BIN: the programs (default build/release/bin). Exits with 77 where there is no NumPy or
no libmicrohttpd."""

import csv
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(ROOT)
sys.path[:0] = ["tests/e2e", "scripts"]

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy (scripts/install-deps.sh --train)")
    sys.exit(77)
if subprocess.run(["pkg-config", "--exists", "libmicrohttpd"], check=False).returncode:
    print("skipped: no libmicrohttpd (scripts/install-deps.sh --serving)")
    sys.exit(77)

import doc_tables  # noqa: E402
from model_runs import BIN, run_model  # noqa: E402

EXAMPLE = "examples/serving"
WORK = os.path.abspath("build/e2e/serving")
SHAPES = ["checks", "circle", "cross", "ring", "square", "star", "stripes", "triangle"]
MODEL = ["-model=examples/shapes/shapes.onnx", "-define-symbol=N,1"]
CLIENTS = 48
REQUESTS = 50  # of each client
wrong = []


def check(is_right, *shown):
    if not is_right:
        wrong.append(" ".join(map(str, shown)))
        print("WRONG", *shown)


def build():
    for command in (["cmake", "-S", EXAMPLE, "-B", WORK, "-G", "Ninja",
                     "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror",
                     "-DGLOWISH_MODEL_COMPILER=" + os.path.abspath(BIN + "/model-compiler")],
                    ["cmake", "--build", WORK]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout)


class Server:
    def __init__(self, threads):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([WORK + "/serve", str(self.port), str(threads)],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        check(str(self.port) in line and f"{threads} threads" in line, "first line:", line)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def request(self, body, path="/shape", method="POST", headers=None):
        """The status and the body of the answer, which must be JSON."""
        connection = self.connect()
        status, answer = self.ask(connection, body, path, method, headers)
        connection.close()
        return status, answer

    @staticmethod
    def ask(connection, body, path="/shape", method="POST", headers=None):
        connection.request(method, path, body, headers or {},
                           encode_chunked=bool(headers) and "Transfer-Encoding" in headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(10) == 0, "exit code", self.process.returncode)


def make_images():
    """Images as [3, 32, 32] of bytes: the star, and others drawn at random."""
    with open("examples/build-systems/star.ppm", "rb") as file:
        star = np.frombuffer(file.read()[-3 * 32 * 32:], np.uint8).reshape(32, 32, 3)
    random = np.random.Generator(np.random.PCG64(1))
    images = [star.transpose(2, 0, 1)]
    y, x = np.mgrid[-1:1:32j, -1:1:32j]
    for kind in range(7):
        ink = [np.hypot(x, y) < 0.7, np.abs(np.hypot(x, y) - 0.6) < 0.15,
               (np.abs(x) < 0.6) & (np.abs(y) < 0.6), (np.abs(x) < 0.2) | (np.abs(y) < 0.2),
               np.sin(12 * x) > 0, (np.sin(9 * x) > 0) ^ (np.sin(9 * y) > 0),
               (y < 0.7) & (np.abs(x) < (y + 0.7) / 2)][kind]
        colours = random.integers(0, 256, (2, 3, 1, 1))
        noise = random.normal(0, 8, (3, 32, 32))
        images.append(np.clip(np.where(ink, *colours) + noise, 0, 255).astype(np.uint8))
    return images


def interpret(image):
    """What the interpreter says of it: shape and chance."""
    inputs = {"image": (image / np.float32(255)).astype(np.float32)[None]}
    outputs, text = run_model([MODEL[0][len("-model="):]], inputs, "Interpreter", WORK + "/run",
                              MODEL[1:])
    if outputs is None:
        sys.exit(text)
    scores = outputs["scores"][0].astype(np.float64)
    chances = np.exp(scores - scores.max())
    return SHAPES[int(scores.argmax())], float(chances.max() / chances.sum())


def make_bodies(image):
    """The image in both forms that the server takes."""
    ppm = b"P6\n32 32\n255\n" + image.transpose(1, 2, 0).tobytes()
    return ppm, (image / np.float32(255)).astype(np.float32).tobytes()


def is_answer(reply, expected):
    status, answer = reply
    return (status == 200 and answer["shape"] == expected[0] and
            abs(answer["chance"] - expected[1]) < 2e-4)


def check_errors(server, body):
    cases = [
        (400, dict(body=b"")), (400, dict(body=b"P6 32 32 255\n")),
        (400, dict(body=body[:-1])), (400, dict(body=body + b"x")),
        (400, dict(body=b"P6\n31 33\n255\n" + body[13:])),
        (400, dict(body=b"P6\n32 32\n254\n" + body[13:])),
        (400, dict(body=b"P5" + body[2:])), (400, dict(body=bytes(12287))),
        (400, dict(body=b"P6 -99 99999999999 255 ")),
        (413, dict(body=bytes(12289))), (413, dict(body=bytes(10 << 20))),
        (413, dict(body=iter([bytes(9000)] * 3), headers={"Transfer-Encoding": "chunked"})),
        (404, dict(body=body, path="/")), (404, dict(body=body, path="/shape/x")),
        (405, dict(body=None, method="GET")), (405, dict(body=body, method="PUT")),
    ]
    for status, arguments in cases:
        # A server that refuses a body by its size may close before all of it is sent.
        try:
            reply = server.request(**arguments)
        except (BrokenPipeError, ConnectionResetError):
            check(status == 413, "closed instead of", status, arguments)
            continue
        check(reply[0] == status and "error" in reply[1], reply, "instead of", status)
    check(server.request(None, "/health", "GET") == (200, {"status": "ok"}), "health")


def check_connections(server, images, expected):
    """All at a time, each with one connection: images in both forms, and errors."""
    bodies = [form for image in images for form in make_bodies(image)]
    answers = [each for each in expected for _ in range(2)]
    counts = []

    def use(number):
        connection = server.connect()
        count = 0
        for i in range(REQUESTS):
            which = (number + 7 * i) % (len(bodies) + 1)
            if which == len(bodies):
                count += server.ask(connection, b"no image")[0] == 400
            else:
                count += is_answer(server.ask(connection, bodies[which]), answers[which])
        counts.append(count)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(len(counts) == CLIENTS and sum(counts) == CLIENTS * REQUESTS,
          f"{sum(counts)} right answers of {CLIENTS * REQUESTS}")
    print(f"{CLIENTS} connections: {sum(counts)} of {CLIENTS * REQUESTS} answers are right")


def check_shutdown(body, expected):
    """A request that has begun is answered; none begins; then the server is gone."""
    server = Server(2)
    begun = server.connect()
    begun.putrequest("POST", "/shape")
    begun.putheader("Content-Length", str(len(body)))
    begun.endheaders(body[:1000])
    time.sleep(0.2)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    check(server.process.poll() is None, "the server did not wait")
    try:
        server.request(body)
        check(False, "a connection after SIGTERM was accepted")
    except OSError:
        pass
    begun.send(body[1000:])
    response = begun.getresponse()
    check(is_answer((response.status, json.loads(response.read())), expected),
          "the answer after SIGTERM")
    check(server.process.wait(5) == 0, "exit code", server.process.returncode)


def load(server, body, connections, count):
    """What ab measures: requests per second, and milliseconds of which 50 and 99 % are less."""
    with open(WORK + "/body", "wb") as file:
        file.write(body)
    table = WORK + "/ab.csv"
    done = subprocess.run(
        ["ab", "-q", "-k", "-c", str(connections), "-n", str(count), "-p", WORK + "/body",
         "-T", "image/x-portable-pixmap", "-e", table,
         f"http://127.0.0.1:{server.port}/shape"],
        capture_output=True, text=True, check=False)
    check(f"Complete requests:      {count}\n" in done.stdout and
          re.search(r"^Failed requests: +0$", done.stdout, re.M) and
          "Non-2xx" not in done.stdout, "ab:", done.stdout + done.stderr)
    with open(table) as file:
        shares = {row[0]: float(row[1]) for row in list(csv.reader(file))[1:]}
    rate = float(re.search(r"Requests per second: +([\d.]+)", done.stdout)[1])
    return rate, shares["50"], shares["99"]


# The time of one run of the network, as the server calls it.
TIMER = """
#define _POSIX_C_SOURCE 200809L
#include "shapes.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
GLOWISH_MEM_ALIGN(64) static uint8_t placeholders[SHAPES_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(64) static uint8_t activations[SHAPES_ACTIVATIONS_MEM_SIZE];
static double times[2001];
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}
static int compare(const void *a, const void *b) {
  return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}
int main(void) {
  for (int i = 0; i < 2001; ++i) {
    times[i] = now();
    if (shapes(shapes_weights, placeholders, activations) != GLOWISH_SUCCESS)
      return 1;
    times[i] = now() - times[i];
  }
  qsort(times, 2001, sizeof(double), compare);
  printf("%f\\n", times[1000]);
  return 0;
}
"""


def measure(body):
    """Writes the table: medians of three rounds."""
    with open(WORK + "/timer.c", "w") as file:
        file.write(TIMER)
    bundle = WORK + "/shapes.bundle"
    subprocess.run(["cc", "-std=c99", "-O2", "-I" + bundle, WORK + "/timer.c",
                    bundle + "/shapes.o", "-o", WORK + "/timer"], check=True)
    own, found = [], {}
    for _ in range(3):
        for threads in (1, 2):
            for connections in (1, 2, 8, 64):
                own.append(float(subprocess.run([WORK + "/timer"], check=True, text=True,
                                                capture_output=True).stdout))
                server = Server(threads)
                load(server, body, connections, 500)
                found.setdefault((threads, connections), []).append(
                    load(server, body, connections, 6000))
                server.end()
    with open("/proc/cpuinfo") as file:
        name = re.search(r"model name\s*: (.*)", file.read())[1]
    rows = ["| Threads | Connections | Requests per second | p50 ms | p99 ms |",
            "|--:|--:|--:|--:|--:|"]
    for key, rounds in found.items():
        rate, half, most = np.median(np.array(rounds), axis=0)
        rows.append(f"| {key[0]} | {key[1]} | {rate:.0f} | {half:.2f} | {most:.2f} |")
    text = (f"{name}, {os.cpu_count()} processors, which `ab` uses, too. A run of the network "
            f"takes {np.median(own):.2f} ms on one of them.\n\n" + "\n".join(rows))
    print(text)
    doc_tables.replace("serving.md", "tests/e2e/serving.py --doc", text)


def main():
    build()
    images = make_images()
    expected = [interpret(image) for image in images]
    check(expected[0][0] == "star" and len({each[0] for each in expected}) >= 4, expected)
    server = Server(3)
    for image, answer in zip(images, expected):
        for body in make_bodies(image):
            reply = server.request(body)
            check(is_answer(reply, answer), reply, "instead of", answer)
    body = make_bodies(images[0])[0]
    check_errors(server, body)
    check_connections(server, images, expected)
    if shutil.which("ab"):
        print("ab: %.0f requests per second, half of them in %.2f ms, 99 %% in %.2f ms" %
              load(server, body, 32, 3000))
    else:
        print("not tested: load, without ab (scripts/install-deps.sh --serving)")
    server.end()
    check_shutdown(body, expected[0])
    if sys.argv[1:] == ["--doc"] and not wrong:
        measure(body)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
