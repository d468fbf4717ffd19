"""Trains the same networks with glowish and PyTorch, side by side.

Same first weights, same batches, one thread, one after the other in this run:
losses of each step, time a step, peak memory. Prints a table; with --doc writes
it with an image of the losses into docs/.
"""

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

import networks
import image

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "scripts"))
import doc_tables  # noqa: E402

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "torch_worker.py")


def run_torch(name, solver, steps, folder):
    output = subprocess.run([sys.executable, WORKER, name, solver, str(steps),
                             folder], check=True, capture_output=True, text=True)
    return json.loads(output.stdout.splitlines()[-1])


def run_glowish(trainer, name, solver, steps, folder, options=()):
    rate = networks.NETWORKS[name][2][solver]
    log = folder + "/losses.csv"
    command = [trainer, "-model=" + folder + "/model.onnx", "-data=" + folder,
               "-label=label", "-batch-size=%d" % networks.BATCH,
               "-steps=%d" % steps, "-shuffle=false", "-learning-rate=%g" % rate,
               "-solver=" + solver, "-loss-log=" + log, *options]
    if solver == "sgd":
        command.append("-momentum=%g" % networks.MOMENTUM)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("model-trainer failed for " + name)
    milliseconds = float(re.search(r"([0-9.]+) ms a step", text).group(1))
    with open(log) as lines:
        losses = [float(line.split(",")[-1]) for line in list(lines)[1:]]
    return {"losses": losses, "ms": milliseconds, "mb": usage.ru_maxrss / 1024}


def get_difference(ours, theirs):
    """The largest relative difference of the losses of a step."""
    if len(ours) != len(theirs):
        raise SystemExit("%d steps, not %d" % (len(ours), len(theirs)))
    return max(abs(a - b) / b for a, b in zip(ours, theirs))


def measure(arguments, name, solver):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, WORKER, name, solver,
                        str(arguments.steps), folder, "export"], check=True,
                       capture_output=True)
        best = {}
        for _ in range(arguments.repeat):
            for engine, run in (
                    ("torch", lambda: run_torch(name, solver, arguments.steps,
                                                folder)),
                    ("glowish", lambda: run_glowish(
                        arguments.trainer, name, solver, arguments.steps,
                        folder))):
                result = run()
                if engine not in best or result["ms"] < best[engine]["ms"]:
                    best[engine] = result
    row = {"name": name, "solver": solver, **best}
    row["difference"] = get_difference(best["glowish"]["losses"],
                                       best["torch"]["losses"])
    row["ratio"] = best["torch"]["ms"] / best["glowish"]["ms"]
    return row


def format_table(rows):
    lines = ["| network | solver | PyTorch ms | glowish ms | ratio | PyTorch MB "
             "| glowish MB | losses differ by | allowed |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        ours, theirs = row["glowish"], row["torch"]
        lines.append("| %s | %s | %.2f | %.2f | %.2f | %.0f | %.0f | %.1e | "
                     "%.0e |" % (row["name"], row["solver"], theirs["ms"],
                                 ours["ms"], row["ratio"], theirs["mb"],
                                 ours["mb"], row["difference"],
                                 networks.NETWORKS[row["name"]][3]))
    ratios = [row["ratio"] for row in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines.append("\nGeometric mean of the ratios: %.2f; least: %.2f." %
                 (mean, min(ratios)))
    return "\n".join(lines)


def write_docs(rows, table):
    with open(ROOT + "/docs/images/training-losses.svg", "w") as file:
        file.write(image.draw(rows))
    doc_tables.replace("training.md", "bench/train", table)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", default=",".join(networks.NETWORKS))
    parser.add_argument("--solvers", default=",".join(networks.SOLVERS))
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--doc", action="store_true",
                        help="write table and image into docs/")
    parser.add_argument("--trainer",
                        default=ROOT + "/build/release/bin/model-trainer")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.networks.split(","):
        for solver in arguments.solvers.split(","):
            rows.append(measure(arguments, name, solver))
            print(format_table(rows[-1:]).splitlines()[2], flush=True)
    table = format_table(rows)
    print("\n" + table)
    if arguments.doc:
        write_docs(rows, table)
    wrong = [row for row in rows
             if not row["difference"] <= networks.NETWORKS[row["name"]][3]]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
