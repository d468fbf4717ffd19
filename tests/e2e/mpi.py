#!/usr/bin/env python3
"""Trains on several processes, and compares with one.

    mpi.py [--full] [--hosts] [--only=FUNCTION]...

Without an option, small networks (mpi_models.py) on 2, 3 and 4 processes: losses
equal those of one process with the same batches to 1e-6 of their size, and are the
same to the bit each time; checkpoints go on with another number of processes; and
what goes wrong in one process ends all of them, with a line that names it: no
divisible batch, other data, another build, a killed process, a full disk, a loss
that is not finite.

--full: the networks of bench/training with PyTorch's first weights, 20 steps of each
solver. --hosts: two network namespaces as two hosts; as root.

$GLOWISH_BIN: the programs (default build/release/bin). Prints what is wrong; exits
1 if something is, 77 without mpirun or a build with MPI (scripts/install-deps.sh
--mpi).
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mpi_models

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
BIN = os.path.abspath(os.environ.get("GLOWISH_BIN", "build/release/bin"))
TRAINER = os.path.join(BIN, "model-trainer")
LIBRARY = os.path.join(os.path.dirname(BIN), "lib", "glowish",
                       "libglowish-mpi.so")
ALLOWED = 1e-6
# Processes that wait leave the processor to others: there may be fewer
# processors than processes.
os.environ.update({
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1"})

wrong = []


def check(holds, what):
    if not holds:
        wrong.append(what)
        print("wrong: " + what, flush=True)


def launch(processes, command):
    """The command on so many processes; on 0 without mpirun."""
    return (["mpirun", "-n", str(processes)] if processes else []) + command


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600,
                          check=False, **options)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Network:
    """A model and its data in a folder, trained in different ways."""

    def __init__(self, folder, rate, model="model.onnxtxt", batch=12,
                 solver="sgd", backend="CPU"):
        self.folder = folder
        self.options = [
            "-model=" + os.path.join(folder, model), "-data=" + folder,
            "-batch-size=%d" % batch, "-solver=" + solver,
            "-learning-rate=%g" % rate, "-backend=" + backend]
        if solver == "sgd":
            self.options.append("-momentum=0.9")

    def command(self, processes, *options, without=""):
        own = [option for option in self.options
               if not without or not option.startswith(without)]
        return launch(processes, [TRAINER] + own + list(options))

    def path(self, name):
        return os.path.join(self.folder, name)

    def train(self, processes, *options, log="losses.csv"):
        """What is printed, and the losses as they are written."""
        result = run(self.command(processes, "-loss-log=" + self.path(log),
                                  *options))
        check(result.returncode == 0, "%s on %d processes: %s" % (
            self.folder, processes, result.stdout))
        text = read(self.path(log)).decode() if not result.returncode else ""
        return result.stdout, [line.split(",")[2] for line in text.split()[1:]]


def compare(name, expected, found):
    """Losses to 1e-6; the largest difference."""
    check(len(expected) == len(found) > 0, name + ": numbers of losses differ")
    most = max([abs(float(a) - float(b)) / abs(float(a))
                for a, b in zip(expected, found)] + [0])
    check(most <= ALLOWED, "%s: losses differ by %.2g" % (name, most))
    return most


def get_numbers(text):
    """What the last line about an epoch says, without times."""
    line = [line for line in text.splitlines() if line.startswith("epoch")][-1]
    return re.findall(r"([a-z]+ (?:loss|accuracy)|loss|accuracy) ([0-9.]+)", line)


# How many processes each network is trained on.
PROCESSES = {"convolutions": [2, 3, 4], "residual": [2], "lstm": [3],
             "transformer": [4]}


def check_losses(work):
    for name, numbers in PROCESSES.items():
        folder = os.path.join(work, name)
        network = Network(folder, mpi_models.write(name, folder))
        options = ["-epochs=3", "-clip-norm=1"]
        if name == "lstm":
            options.append("-validation=0.2")
        printed, expected = network.train(0, *options)
        most = []
        for processes in numbers:
            text, losses = network.train(processes, *options)
            most.append(compare("%s on %d" % (name, processes), expected,
                                losses))
            check(get_numbers(text) == get_numbers(printed), "%s on %d: %s" % (
                name, processes, get_numbers(text)))
        _, again = network.train(processes, *options)
        check(again == losses, "%s on %d: other losses the second time" % (
            name, processes))
        print("%s on %s processes differs from one by %s" % (
            name, ", ".join(map(str, numbers)),
            ", ".join("%.1e" % each for each in most)), flush=True)


def check_buckets(work):
    """Buckets of any size come to the same: means of other tensors."""
    network = Network(os.path.join(work, "convolutions"), 0.05)
    _, expected = network.train(2)
    _, losses = network.train(2, "-bucket-bytes=1")
    check(losses == expected, "other losses with other buckets")
    text, _ = network.train(2, "-bucket-bytes=1", "-communication-report")
    # The loss, and each of six weights.
    check(" in 7 reductions a step" in text,
          "the report of communication is " + text)


def check_log(work):
    """Lines of the log name their rank; without -v there are none."""
    network = Network(os.path.join(work, "convolutions"), 0.05)
    line = r"^[IW]20\d{6} [0-9:.]+ (?:rank (\d) )?\w+\.cpp:\d+\] (.*)$"
    text, losses = network.train(2, "-v=1")
    logged = [match.groups() for match in re.finditer(line, text, re.M)]
    check({rank for rank, _ in logged} == {"0", "1"},
          "the log names the ranks %s" % {rank for rank, _ in logged})
    for rank in "01":
        check(any(rank == own and words.startswith("phase codegen took ")
                  for own, words in logged), "rank %s has no phases" % rank)
    silent, expected = network.train(2)
    check(not re.search(line, silent, re.M), "a log without -v")
    check(losses == expected, "other losses with a log")


def check_checkpoints(work):
    """Training goes on with another number of processes."""
    network = Network(os.path.join(work, "residual"), 0.05,
                      backend="Interpreter")
    state = network.path("state")
    _, expected = network.train(0, "-epochs=4")
    _, first = network.train(4, "-epochs=2", "-checkpoint=" + state)
    _, second = network.train(3, "-epochs=3", "-resume=" + state,
                              "-checkpoint=" + state)
    _, third = network.train(0, "-epochs=4", "-resume=" + state)
    compare("4, then 3, then 1", expected, first + second + third)
    _, expected = network.train(2, "-epochs=4")
    _, first = network.train(2, "-epochs=2", "-checkpoint=" + state)
    _, second = network.train(2, "-epochs=4", "-resume=" + state)
    check(first + second == expected, "2 and 2 again: other losses")
    saved = [network.path("saved%d.onnx" % i) for i in range(2)]
    for path in saved:
        network.train(3, "-save=" + path)
    check(read(saved[0]) == read(saved[1]), "other weights the second time")
    check(sorted(os.listdir(network.folder)) == sorted(
        ["label.npy", "losses.csv", "model.onnxtxt", "saved0.onnx",
         "saved1.onnx", "state", "x.npy"]),
          "left behind: %s" % os.listdir(network.folder))


FULL_STEPS = 20
# The export of torch_worker.py, for batches of any size.
EXPORT = """
import sys
import numpy, torch
sys.path.insert(0, "bench/training")
import networks
name, folder, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
_, make_batches, rates, _ = networks.NETWORKS[name]
inputs, labels = make_batches(steps)
torch.onnx.export(
    networks.make_module(name), torch.from_numpy(inputs[0]),
    folder + "/model.onnx", input_names=["x"], output_names=["y"],
    do_constant_folding=False, opset_version=15,
    training=torch.onnx.TrainingMode.TRAINING,
    dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
numpy.save(folder + "/x.npy", inputs.reshape(-1, *inputs.shape[2:]))
numpy.save(folder + "/label.npy", labels.reshape(-1, *labels.shape[2:]))
print(*rates.items(), sep="\\n")
"""


def export(name, folder):
    """The networks of bench/training; the learning rates of solvers."""
    os.makedirs(folder)
    text = subprocess.run(
        ["/usr/bin/python3", "-W", "ignore", "-c", EXPORT, name, folder,
         str(FULL_STEPS)], check=True, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout
    return {key: float(value) for key, value in
            re.findall(r"\('([a-z]+)', ([0-9.e-]+)\)", text)}


def check_full(work):
    for name in "lenet", "resnet18", "lstm", "transformer":
        folder = os.path.join(work, name)
        for solver, rate in export(name, folder).items():
            network = Network(folder, rate, "model.onnx", 24, solver)
            options = ["-steps=%d" % FULL_STEPS, "-shuffle=false"]
            _, expected = network.train(0, *options)
            most = []
            for processes in 2, 3, 4:
                _, losses = network.train(processes, *options)
                label = "%s, %s, on %d" % (name, solver, processes)
                most.append(compare(label, expected, losses))
                _, again = network.train(processes, *options)
                check(again == losses, label + ": other losses again")
            print("%s, %s, on 2, 3, 4 processes differs by %s" % (
                name, solver, ", ".join("%.1e" % each for each in most)),
                flush=True)


def expect_error(name, result, pattern, lines=1):
    """The one line about an error, and exit code 1."""
    errors = [line for line in result.stdout.splitlines()
              if line.startswith("error: ")]
    check(result.returncode == 1, "%s: exit code %d" % (name, result.returncode))
    check(len(errors) == lines and re.search(pattern, errors[0]),
          "%s: %s" % (name, result.stdout))


def check_refusals(work):
    network = Network(os.path.join(work, "convolutions"), 0.05,
                      backend="Interpreter")
    expect_error("batch", run(network.command(5)),
                 r"^error: -batch-size=12: accepted: a multiple of 5, the number "
                 "of processes$")
    expect_error("option", run(network.command(3, "-bucket-bytes=0")),
                 "^error: -bucket-bytes=0: accepted: ")
    expect_error("option of one",
                 run(network.command(1) + [":", "-n", "1"] +
                     network.command(0, "-bucket-bytes=0")),
                 "^error: rank 1: -bucket-bytes=0: accepted: ")
    expect_error("model", run(network.command(2, "-model=/nowhere.onnx",
                                              without="-model")),
                 "^error: .*/nowhere.onnx")
    expect_error("checkpoint", run(network.command(2, "-resume=/nowhere")),
                 "^error: (rank 0: )?cannot read '/nowhere'")
    expect_error("library", run(network.command(1), env=dict(
        os.environ, GLOWISH_MPI="/nowhere.so")), "libglowish-mpi.so.*/nowhere.so")
    # Other data in one process, and data that only one cannot read.
    other = Network(os.path.join(work, "other"), 0.05, backend="Interpreter")
    shutil.copytree(network.folder, other.folder)
    data = bytearray(read(other.path("x.npy")))
    data[-1] ^= 1
    with open(other.path("x.npy"), "wb") as file:
        file.write(data)

    def both(first, second):
        return run(first.command(1) + [":", "-n", "1"] + second.command(0))
    expect_error("data", both(network, other),
                 "^error: rank 1 has other data or options than rank 0$")
    os.remove(other.path("label.npy"))
    expect_error("missing data", both(network, other),
                 "^error: rank 1: .*label.npy")


def check_builds(work):
    """A copy of the tool with another build ID, or another byte."""
    network = Network(os.path.join(work, "convolutions"), 0.05,
                      backend="Interpreter")
    folder = os.path.join(work, "build")
    os.makedirs(os.path.join(folder, "bin"))
    os.symlink(os.path.dirname(os.path.dirname(LIBRARY)),
               os.path.join(folder, "lib"))
    changed = os.path.join(folder, "bin", "model-trainer")
    data = bytearray(read(TRAINER))
    note = data.find(b"\x03\0\0\0GNU\0")
    if note >= 0:
        data[note + 8] ^= 1
    else:
        text = data.find(b"Trains an ONNX model")
        data[text] ^= 0x20
    with open(changed, "wb") as file:
        file.write(data)
    os.chmod(changed, 0o755)
    alone = run([changed, "-version"])
    check(alone.returncode == 0, "the changed tool: " + alone.stdout)
    command = network.command(2) + [":", "-n", "1", changed] + network.options
    expect_error("build", run(command),
                 "^error: rank 2 runs glowish .*, build .*, rank 0 runs glowish ")


def get_processes(parent):
    """The processes below one, by the ranks that mpirun gave them."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="ascii") as file:
                above = int(file.read().rsplit(")", 1)[1].split()[1])
            if above != parent:
                continue
            variables = read("/proc/%s/environ" % pid).split(b"\0")
        except OSError:
            continue
        for variable in variables:
            if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(variable.split(b"=")[1])] = int(pid)
    return found


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_killed(work, rank=1):
    """A process that is killed while it trains."""
    folder = os.path.join(work, "killed%d" % rank)
    network = Network(folder, mpi_models.write("transformer", folder),
                      backend="Interpreter")
    state = network.path("state")
    command = network.command(3, "-epochs=1000000", "-checkpoint=" + state)
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as job:
        end = time.monotonic() + 120
        while not os.path.exists(state) and time.monotonic() < end:
            time.sleep(0.05)
        processes = get_processes(job.pid)
        check(sorted(processes) == [0, 1, 2], "the processes are %s" % processes)
        os.kill(processes[rank], signal.SIGKILL)
        # What it prints fills the pipe.
        text = job.communicate(timeout=60)[0]
    check(job.returncode != 0, "a job of which a process was killed succeeds")
    check(re.search("rank %d.*signal 9" % rank, text.replace("\n", " ")),
          "the killed process is not named: " + text[-1000:])
    end = time.monotonic() + 10
    while any(map(is_running, processes.values())) and time.monotonic() < end:
        time.sleep(0.05)
    check(not any(map(is_running, processes.values())), "a process goes on")
    left = set(os.listdir(folder)) - {"state", "x.npy", "label.npy",
                                      "model.onnxtxt"}
    # What a killed process has begun to write stays.
    check(not left or rank == 0, "left behind: %s" % left)
    result = run(network.command(2, "-resume=" + state, "-epochs=0"))
    check(result.returncode == 0, "the checkpoint: " + result.stdout)


def check_folders(work):
    """Classified files and the outputs of a folder, as one process has them."""
    folder = os.path.join(work, "classes")
    mpi_models.write("convolutions", folder)
    network = os.path.join(folder, "model.onnxtxt")
    folder = os.path.join(work, "inputs")
    os.makedirs(folder)
    draw = random.Random(4)
    for i in range(7):
        mpi_models.write_npy(os.path.join(folder, "%d.npy" % i), "f",
                             [1, 1, 12, 12],
                             [draw.gauss(0, 1) for _ in range(144)])
    classifier = [os.path.join(BIN, "image-classifier"), "-model=" + network,
                  "-image-layout=NonImage", "-minibatch=2", "-topk=2",
                  "-backend=Interpreter", folder]
    alone = run(classifier)
    check(alone.returncode == 0 and alone.stdout.count("File:") == 7,
          "one classifier: " + alone.stdout)
    for processes in 2, 5:
        check(run(launch(processes, classifier)).stdout == alone.stdout,
              "%d classifiers: other answers" % processes)
    labels = "-expected-labels=0,1,2,3,4,0,1"
    expected, found = run(classifier + [labels]), run(
        launch(2, classifier + [labels]))
    check(found.returncode == expected.returncode == 2 and
          found.stdout.startswith(expected.stdout), "labels: " + found.stdout)
    runner = [os.path.join(BIN, "model-runner"), "-model=" + network,
              "-define-symbol=N,1", "-backend=Interpreter",
              "-input-dir=" + folder]
    for processes in 0, 3, 8:
        result = run(launch(processes, runner + [
            "-output-dir=%s/outputs%d" % (work, processes)]))
        check(result.returncode == 0, "%d runners: %s" % (processes,
                                                          result.stdout))
    files = read_folder(work + "/outputs0")
    check(len(files) == 7, "the files of one runner are %s" % list(files))
    for processes in 3, 8:
        check(read_folder("%s/outputs%d" % (work, processes)) == files,
              "%d runners: other files" % processes)
    expect_error("no folder", run(launch(2, runner[:3])),
                 "^error: several processes divide the inputs of a folder")
    # A process that is killed while it waits for what it reads.
    os.mkfifo(os.path.join(folder, "6a.npy"))
    command = launch(3, runner + ["-output-dir=" + work + "/outputs"])
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as job:
        end = time.monotonic() + 60
        while len(get_processes(job.pid)) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1)
        os.kill(get_processes(job.pid)[2], signal.SIGKILL)
        text = job.communicate(timeout=60)[0]
    check(job.returncode != 0 and
          re.search("rank 2.*signal 9", text.replace("\n", " ")),
          "a killed runner: " + text)
    check(not os.path.exists(work + "/outputs"), "a killed runner leaves files")


def check_example(work):
    """The application that averages the gradients of a bundle itself."""
    outputs = []
    for processes in 1, 2:
        result = run(["examples/mpi/run.sh", str(processes)], env=dict(
            os.environ, GLOWISH_BIN=BIN,
            WORK=os.path.join(work, "example%d" % processes)))
        check(result.returncode == 0, "examples/mpi: " + result.stdout)
        outputs.append(re.findall(r"step +\d+  loss ([0-9.e+-]+)",
                                  result.stdout))
    check(len(outputs[0]) == len(outputs[1]) == 11, "losses of examples/mpi")
    check(all(abs(float(a) - float(b)) <= 1e-5 * float(a)
              for a, b in zip(*outputs)), "examples/mpi: %s" % outputs)
    check(float(outputs[1][-1]) < 0.1 * float(outputs[1][0]),
          "examples/mpi does not learn")


def read_folder(folder):
    """The contents of all files below a folder."""
    return {os.path.relpath(os.path.join(path, name), folder):
            read(os.path.join(path, name))
            for path, _, names in os.walk(folder) for name in names}


def check_full_disk(work):
    """No space for a checkpoint: the one before stays as it is."""
    network = Network(os.path.join(work, "transformer"), 0.05,
                      backend="Interpreter")
    state = network.path("state")
    network.train(2, "-epochs=1", "-checkpoint=" + state)
    before = read(state)
    # Files of 16 KiB at most, as without space; MPI must not need larger ones.
    limited = ["bash", "-c", "ulimit -f 16; exec \"$@\"", "bash"]
    command = network.command(0, "-resume=" + state, "-epochs=3",
                              "-checkpoint=" + state)
    result = run(["mpirun", "-n", "3", "--mca", "btl", "self,tcp"] + limited +
                 command)
    expect_error("full disk", result,
                 "^error: rank 0: cannot write '.*state': ")
    check(read(state) == before, "the checkpoint before has changed")
    left = [name for name in os.listdir(network.folder) if "state" not in name
            and name not in ("x.npy", "label.npy", "model.onnxtxt", "losses.csv")]
    check(not left, "left behind: %s" % left)


def check_not_finite(work):
    """The process with the sample that makes the loss infinite is named."""
    folder = os.path.join(work, "infinite")
    network = Network(folder, mpi_models.write("convolutions", folder),
                      backend="Interpreter")
    data = bytearray(read(network.path("x.npy")))
    # The last sample is the last of a batch, and so of the last process.
    data[-4:] = b"\0\0\x80\x7f"
    with open(network.path("x.npy"), "wb") as file:
        file.write(data)
    result = run(network.command(3, "-shuffle=false"))
    expect_error("infinity", result,
                 "^error: the loss of step 4 is NaN: the first value that is not "
                 "finite is that of the input or variable 'x' on rank 2, in step "
                 "4$")


#===- Two hosts -----------------------------------------------------------===#

NAMESPACES = "glowish-mpi-1", "glowish-mpi-2"
# What mpirun starts on another host: in the namespace of its address.
REMOTE = """#!/bin/sh
# agent.sh HOST COMMAND...: as ssh.
host=$1
shift
exec ip netns exec glowish-mpi-${host##*.} sh -c "$*"
"""


def ip(*arguments):
    subprocess.run(("ip",) + arguments, check=True)


def check_hosts(work):
    """Two namespaces with a cable between them."""
    folder = os.path.join(work, "residual")
    network = Network(folder, mpi_models.write("residual", folder))
    _, expected = network.train(0, "-epochs=3")
    agent = os.path.join(work, "agent.sh")
    with open(agent, "w", encoding="utf-8") as file:
        file.write(REMOTE)
    os.chmod(agent, 0o755)
    for name in NAMESPACES:
        ip("netns", "add", name)
    try:
        ip("link", "add", "glowish1", "netns", NAMESPACES[0], "type", "veth",
           "peer", "name", "glowish2", "netns", NAMESPACES[1])
        for i, name in enumerate(NAMESPACES, 1):
            ip("-n", name, "address", "add", "10.83.0.%d/24" % i, "dev",
               "glowish%d" % i)
            for device in "lo", "glowish%d" % i:
                ip("-n", name, "link", "set", device, "up")
        # Each host has a name of its own, so that Open MPI takes the network.
        command = ["ip", "netns", "exec", NAMESPACES[0], "unshare", "--uts",
                   "sh", "-c", "hostname glowish-1; exec \"$@\"", "sh",
                   "mpirun", "-n", "4", "--host", "10.83.0.1:2,10.83.0.2:2",
                   "--mca", "plm_rsh_agent", agent, "--mca", "btl", "self,tcp",
                   "--mca", "btl_tcp_if_include", "10.83.0.0/24",
                   "--mca", "oob_tcp_if_include", "10.83.0.0/24"]
        before = get_bytes()
        log = network.path("hosts.csv")
        result = run(command + network.command(0, "-epochs=3",
                                               "-loss-log=" + log))
        check(result.returncode == 0, "two hosts: " + result.stdout)
        losses = [line.split(",")[2] for line in read(log).decode().split()[1:]]
        most = compare("two hosts", expected, losses)
        moved = get_bytes() - before
        # The gradients alone are 14 kB for each of the steps.
        check(moved > 12 * 14000, "only %d bytes went over the network" % moved)
        print("2 hosts with 2 processes each differ by %.1e; %.1f MB went from "
              "the first to the second" % (most, moved / 1e6))
    finally:
        for name in NAMESPACES:
            ip("netns", "delete", name)


def get_bytes():
    """What has left the first host."""
    return int(subprocess.run(
        ["ip", "netns", "exec", NAMESPACES[0], "cat",
         "/sys/class/net/glowish1/statistics/tx_bytes"], check=True,
        stdout=subprocess.PIPE).stdout)


def main():
    if not shutil.which("mpirun"):
        print("skipped: no mpirun (scripts/install-deps.sh --mpi)")
        return 77
    if not os.path.exists(LIBRARY):
        print("skipped: no %s (built where libopenmpi-dev is)" % LIBRARY)
        return 77
    with tempfile.TemporaryDirectory() as work:
        parts = (check_losses, check_buckets, check_log, check_checkpoints,
                 check_refusals, check_builds, check_killed, check_folders,
                 check_example, check_full_disk, check_not_finite)
        if "--full" in sys.argv:
            parts = [check_full]
        if "--hosts" in sys.argv:
            if os.geteuid() != 0:
                print("skipped: --hosts needs root")
                return 77
            parts = [check_hosts]
        names = [name[7:] for name in sys.argv if name.startswith("--only=")]
        for part in parts:
            if names and part.__name__ not in names:
                continue
            begin = time.monotonic()
            part(work)
            print("%s: %.0f s" % (part.__name__, time.monotonic() - begin),
                  flush=True)
    print("%d wrong" % len(wrong) if wrong else "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
