"""What rematerialization in the backward pass saves and costs.

For each network the memory of a step's activations, which is the figure of the
bundle's header, the time a step, and whether the losses are the same. Prints a
table; with --doc writes it into docs/.
"""

import argparse
import re
import subprocess
import sys
import tempfile

import compare
import networks
from compare import doc_tables

KINDS = (("", []), ("-rematerialize", ["-rematerialize"]),
         ("-rematerialize-segments=4", ["-rematerialize-segments=4"]))


def get_memory(compiler, folder, options):
    subprocess.run([compiler, "-model=" + folder + "/model.onnx", "-train",
                    "-momentum=%g" % networks.MOMENTUM,
                    "-emit-bundle=" + folder + "/bundle", "-network-name=net"] +
                   options, check=True)
    with open(folder + "/bundle/net.h") as header:
        return int(re.search(r"NET_ACTIVATIONS_MEM_SIZE (\d+)",
                             header.read()).group(1))


def measure(arguments, name):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, compare.WORKER, name, "sgd",
                        str(arguments.steps), folder, "export"], check=True,
                       capture_output=True)
        sizes = [get_memory(arguments.bin + "/model-compiler", folder, options)
                 for _, options in KINDS]
        best = [None] * len(KINDS)
        for _ in range(arguments.repeat):
            for i, (_, options) in enumerate(KINDS):
                run = compare.run_glowish(arguments.bin + "/model-trainer",
                                          name, "sgd", arguments.steps, folder,
                                          options)
                if not best[i] or run["ms"] < best[i]["ms"]:
                    best[i] = run
    return [[name, kind or "none", "%.2f" % (size / 2 ** 20),
             "%.2f" % run["ms"],
             "%.1e" % compare.get_difference(run["losses"], best[0]["losses"])]
            for (kind, _), size, run in zip(KINDS, sizes, best)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", default=",".join(networks.NETWORKS))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--doc", action="store_true",
                        help="write the table into docs/")
    parser.add_argument("--bin", default=compare.ROOT + "/build/release/bin")
    arguments = parser.parse_args()
    lines = ["| network | | activations, MiB | ms a step | losses differ by |",
             "|---|---|---|---|---|"]
    for name in arguments.networks.split(","):
        for row in measure(arguments, name):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    if arguments.doc:
        doc_tables.replace("training.md", "bench/train-memory",
                           "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
