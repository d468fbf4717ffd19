#!/usr/bin/env python3
"""What training on several processes costs: scaling.py [--doc] [--network=NAME]...

Measures steps of the networks of bench/training on one process and on two of this
machine (model-trainer -communication-report), with 32 samples for each process, and
SIMULATES up to 64 machines: each computes as long as bench/train has measured for one
(docs/training.md), and a network with a stated latency and bandwidth reduces the bytes in
rings. --doc writes both tables into docs/distributed-training.md.

$GLOWISH_BIN: the programs (default build/release/bin). Needs PyTorch and Open MPI
(scripts/install-deps.sh --bench --mpi).
"""

import math
import os
import re
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import mpi  # noqa: E402  (it goes to the project's folder)

SAMPLES = 32
STEPS = {"lenet": 60, "resnet18": 4, "lstm": 15, "transformer": 15}
PROCESSES = [1, 2, 4, 8, 16, 32, 64]
# Seconds for the smallest message and bytes a second. Latencies of MPI over TCP on
# Ethernet, 15 us (www.nw-grid.ac.uk/LivMPI), and over Ethernet past the system, 1.93 us
# with 93 % of the line's rate (blogs.cisco.com/performance/mpi-over-40gb-ethernet).
NETWORKS = {"10 Gbit/s, 15 us": (15e-6, 0.93 * 10e9 / 8),
            "100 Gbit/s, 2 us": (2e-6, 0.93 * 100e9 / 8)}
# Of a step, about: the backward pass computes two gradients for each product of the
# forward pass.
FORWARD = 1 / 3
BUCKET = 1 << 20


def measure(name, work):
    """Milliseconds of one process and of two, and what two report."""
    folder = os.path.join(work, name)
    rates = mpi.export(name, folder)
    best = {}
    for processes in 1, 2:
        network = mpi.Network(folder, rates["sgd"], "model.onnx",
                              SAMPLES * processes)
        options = ["-steps=%d" % STEPS[name], "-communication-report"]
        for _ in range(3):
            text, _ = network.train(processes, *options)
            found = re.findall(r"([0-9.]+) ms a step", text)
            step = float(found[-1])
            if processes not in best or step < best[processes][0]:
                best[processes] = step, text
    report = re.search(
        r"(\d+) bytes in (\d+) reductions a step; ([0-9.]+) ms of a step of "
        r"([0-9.]+) ms, of which it waited for ([0-9.]+) ms", best[2][1])
    bytes_, count, busy, step, wait = map(float, report.groups())
    return {"alone": best[1][0], "two": best[2][0], "bytes": bytes_,
            "count": count, "busy": busy, "wait": wait, "all": step}


def get_times():
    """Milliseconds of a step with SGD, by bench/train."""
    with open(os.path.join("docs", "training.md"), encoding="utf-8") as file:
        found = re.findall(r"\| (\w+) \| sgd \| [0-9.]+ \| ([0-9.]+) \|",
                           file.read())
    return {name: float(time) for name, time in found}


def ring(size, processes, network):
    """Seconds in which a ring averages so many bytes."""
    latency, rate = network
    return 2 * (processes - 1) * (latency + size / processes / rate)


def simulate(numbers, time, processes, network):
    """Seconds of a step: buckets are ready in equal distances in the backward
    pass, and are reduced one after the other, beside it; statistics of batches
    hold it up, in log2 N messages there and back."""
    compute = time / 1e3
    if processes == 1:
        return compute
    buckets = max(1, math.ceil(numbers["bytes"] / BUCKET))
    blocking = max(0, numbers["count"] - 1 - buckets)
    compute += blocking * 2 * math.ceil(math.log2(processes)) * network[0]
    end = 0
    for i in range(buckets):
        ready = compute * (FORWARD + (1 - FORWARD) * (i + 1) / buckets)
        end = max(end, ready) + ring(numbers["bytes"] / buckets, processes,
                                     network)
    return max(compute, end)


def make_tables(measured):
    rows = ["| network | one process, ms | two processes, ms | bytes a step | "
            "reductions | communication, ms | waited, ms | share of the step |",
            "|---|---|---|---|---|---|---|---|"]
    for name, n in measured.items():
        rows.append("| %s | %.2f | %.2f | %s | %d | %.2f | %.2f | %.1f %% |" % (
            name, n["alone"], n["two"], format(int(n["bytes"]), ","), n["count"],
            n["busy"], n["wait"], 100 * n["wait"] / n["all"]))
    simulated = ["| network | Ethernet | " + " | ".join(
        "%d" % p for p in PROCESSES) + " |", "|---|---|" + "---|" * len(PROCESSES)]
    times = get_times()
    for name, n in measured.items():
        for label, network in NETWORKS.items():
            shares = [times[name] / 1e3 / simulate(n, times[name], p, network)
                      for p in PROCESSES]
            simulated.append("| %s | %s | %s |" % (name, label, " | ".join(
                "%.1f" % (p * share) for p, share in zip(PROCESSES, shares))))
    return {"measured": "\n".join(rows), "simulated": "\n".join(simulated)}


def main():
    names = [name[10:] for name in sys.argv if name.startswith("--network=")]
    measured = {}
    with tempfile.TemporaryDirectory() as work:
        for name in names or STEPS:
            measured[name] = measure(name, work)
    tables = make_tables(measured)
    for name, table in tables.items():
        print(name + ":\n" + table)
    if "--doc" in sys.argv:
        path = os.path.join("docs", "distributed-training.md")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name, table in tables.items():
            text = re.sub(r"(<!-- bench/scaling %s -->\n).*?(<!-- end -->)" % name,
                          lambda found, t=table: found[1] + t + "\n" + found[2],
                          text, flags=re.S)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 1 if mpi.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
