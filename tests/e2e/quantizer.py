#!/usr/bin/python3
"""Quantizes trained networks and tests them on labelled data.

    quantizer.py [--all] [NAME...]

The ranges are of a calibration set, the answers of other samples: of MNIST,
CIFAR-10, and keywords of Speech Commands in $GLOWISH_TEST_DATA (default
../shared/data). Of CIFAR-10's images each is tested, with ranges of others
(cross-validation). With the quantizer's default flags, a network may not lose
more than 0.3 points of right answers against the float one, nor against the
int8 network that TensorFlow Lite has made of it, where there is one: by more
than chance explains, which is two standard errors. Of all answers, 98.5% have
to be those of the float network. The ONNX file that the quantizer writes has to
give the same answers in ONNX Runtime, but for 0.2% whose two best classes are
as good as equal: of copies of samples it gets each fifth, or all with --all;
without bench/node_modules/onnxruntime-node, which bench/compare installs, that
is skipped. The anomaly score of an autoencoder has to be as near to the float
network's as that of TensorFlow Lite's int8 network.

$GLOWISH_BIN: the programs (default build/release/bin). Prints a table; exits 1
if a network is wrong, 77 without the data or NumPy.
"""

import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
WORK = "build/e2e/quantizer"
RUNTIME = "bench/node_modules/onnxruntime-node/package.json"
TOLERANCE = 0.3  # points
FLOAT_CLASSES = 0.985
SAME_CLASSES = 0.998
NAMES = [name for name in sys.argv[1:] if name != "--all"]
# Of the versions of samples, those that ONNX Runtime gets.
IN_RUNTIME = slice(None, None, 1 if "--all" in sys.argv[1:] else 5)

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

from cases import read_interface  # noqa: E402


# ---- Labelled samples ----

class Labelled:
    """Labelled samples, `count` of them in each of several versions: copies
    that are moved a little. The first version is for ranges, too."""

    def __init__(self, versions, labels, num_ranges, num_folds=1):
        self.versions, self.labels = versions, labels
        self.count = len(labels)
        self.num_ranges, self.num_folds = num_ranges, num_folds

    def get_folds(self):
        """(numbers of the samples for ranges, and of those that are tested):
        all that are not for ranges, or in each of several folds a part of them
        all, so that each sample is tested once."""
        if self.num_folds == 1:
            return [(range(self.num_ranges),
                     range(self.num_ranges, self.count))]
        size = self.count // self.num_folds
        return [([(end + i) % self.count for i in range(self.num_ranges)],
                 range(end - size, end))
                for end in range(size, self.count + 1, size)]


def read_idx(name, offset):
    path = os.path.join(DATA, "images", "mnist", name)
    return np.fromfile(path, np.uint8)[offset:]


def read_digits(normalize):
    images = read_idx("images-idx3-ubyte", 16).reshape(1, -1, 1, 1, 28, 28)
    return Labelled(normalize(images.astype(np.float32)),
                    read_idx("labels-idx1-ubyte", 8), 100)


def shift(array, axis, by):
    """`array` moved by `by` elements; the border is repeated."""
    indices = np.clip(np.arange(array.shape[axis]) - by, 0,
                      array.shape[axis] - 1)
    return np.take(array, indices, axis)


def read_images(normalize):
    """CIFAR-10: each image and its mirror image as they are, and in 24 copies
    that are shifted by up to two pixels."""
    path = os.path.join(DATA, "images", "cifar10_test.csv")
    rows = np.loadtxt(path, delimiter=",", dtype=np.int64)
    images = rows[:, 1:].reshape(-1, 1, 32, 32, 3).astype(np.float32)
    shifts = sorted(((down, right) for down in range(-2, 3)
                     for right in range(-2, 3)), key=lambda s: s != (0, 0))
    versions = np.stack([shift(shift(side, 2, down), 3, right)
                         for side in (images, images[:, :, :, ::-1])
                         for down, right in shifts])
    return Labelled(normalize(versions), rows[:, 0], 40, num_folds=5)


def to_planes(images):
    return np.ascontiguousarray(np.moveaxis(images, -1, -3))


def normalize_imagenet(images):
    mean, deviation = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    return to_planes(((images / 255 - mean) / deviation).astype(np.float32))


def read_keywords():
    """Each sample as it is, and up to two frames earlier and later; the files
    are in the scale of the int8 network's input."""
    folder = os.path.join(DATA, "tiny-eval", "kws01")
    names = sorted(n for n in os.listdir(folder) if n.endswith(".bin"))
    samples = np.stack([np.fromfile(os.path.join(folder, name), np.int8)
                        for name in names]).astype(np.float32)
    samples = ((samples - 83) * np.float32(0.584703)).reshape(-1, 1, 49, 10, 1)
    labels = np.array([int(name[:-4].split("_")[-1]) for name in names])
    versions = np.stack([shift(samples, 2, by) for by in (0, -2, -1, 1, 2)])
    return Labelled(versions, labels, 100)


NETWORKS = {
    "digits_cntk": lambda: read_digits(lambda x: x),
    "digits_pytorch":
        lambda: read_digits(lambda x: (x / 255 - np.float32(0.1307)) /
                            np.float32(0.3081)),
    "cifar10_cnn":
        lambda: read_images(lambda x: to_planes(x / np.float32(127.5) - 1)),
    "emotion_resnet20": lambda: read_images(normalize_imagenet),
    "tiny_resnet8": lambda: read_images(lambda x: x),
    "tiny_dscnn_kws": read_keywords,
}


# ---- Programs ----

def run(arguments, text=None, codes=(0,)):
    done = subprocess.run(arguments, input=text, capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit("%s: %s" % (os.path.basename(arguments[0]), done.stderr))
    return done.stdout


def classify(model, files, *flags):
    """The class of each of `files`, an array, in glowish."""
    lines = run([os.path.join(BIN, "image-classifier"), "-model=" + model,
                 "-image-layout=NonImage", *flags, "-"],
                "\n".join(files.ravel()))
    classes = re.findall(r"Label-K1: (\d+)", lines)
    return np.array(classes, np.int64).reshape(files.shape)


def classify_in_runtime(model, files):
    classes = run(["node", "tests/e2e/quantizer_classes.mjs", model],
                  "\n".join(files.ravel())).split()
    return np.array(classes, np.int64).reshape(files.shape)


def find_model(folder, name):
    return os.path.join(DATA, folder, name, "model.onnx")


def write_samples(folder, labelled):
    """A file for each sample in each version: files[version, number]."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    files = np.array([[os.path.join(folder, "%02d_%05d.npy" % (version, i))
                       for i in range(labelled.count)]
                      for version in range(len(labelled.versions))])
    for names, samples in zip(files, labelled.versions):
        for name, sample in zip(names, samples):
            np.save(name, np.ascontiguousarray(sample))
    return files


def state_type(model, sample):
    """The only input's type, for -model-input: a batch may be open."""
    (name, _), = read_interface(model)[0]
    return "%s,float,[%s]" % (name, ",".join(map(str, sample.shape)))


# ---- Checks ----

def find_loss(classes, others, labels):
    """By how many points `classes` are right less often than `others`, less two
    standard errors. Copies of a sample are no independent samples."""
    lost = (others == labels).astype(float) - (classes == labels)
    lost = 100 * lost.mean(axis=0)
    return lost.mean() - 2 * lost.std(ddof=1) / np.sqrt(len(lost))


def explain(answers, labels):
    """What is wrong with the answers; empty if nothing is."""
    int8, wrong = answers["int8"], []
    for key in ("float", "tflite"):
        if key in answers and \
                find_loss(int8, answers[key], labels) > TOLERANCE:
            wrong.append("fewer right answers than the %s network" % key)
    if np.mean(int8 == answers["float"]) < FLOAT_CLASSES:
        wrong.append("other answers than the float network")
    if "runtime" in answers and \
            np.mean(int8[IN_RUNTIME] == answers["runtime"]) < SAME_CLASSES:
        wrong.append("ONNX Runtime gives other answers")
    return "; ".join(wrong)


def print_row(name, num_ranges, labels, answers):
    def rate(key):
        return ("%.2f" % (100 * np.mean(answers[key] == labels))
                if key in answers else "")

    def agree(key, versions=slice(None)):
        if key not in answers:
            return ""
        same = answers[key] == answers["int8"][versions]
        return "%.2f" % (100 * np.mean(same))
    print("%-18s %6d %6d %7s %7s %7s %9s %9s" % (
        name, num_ranges, answers["int8"].size, rate("float"), rate("int8"),
        rate("tflite"), agree("float"), agree("runtime", IN_RUNTIME)),
        flush=True)


def quantize(model, sample, ranges, folder):
    """The flag for the profile of the files `ranges`, and the ONNX file."""
    load = "-load-profile=" + os.path.join(folder, "profile.yaml")
    written = os.path.join(folder, "quantized.onnx")
    classify(model, ranges, load.replace("-load", "-dump"))
    run([os.path.join(BIN, "model-compiler"), "-model=" + model, load,
         "-model-input=" + state_type(model, sample), "-emit-onnx=" + written])
    return load, written


def answer_all(name, labelled, folder):
    """(the answers of each network: [version, sample], the labels of the
    samples that were tested)."""
    files = write_samples(folder, labelled)
    model, others = (find_model("trained", name),
                     find_model("quantized", name + "_int8"))
    parts = {"int8": [], "runtime": []}
    folds = labelled.get_folds()
    for ranges, tests in folds:
        load, written = quantize(model, labelled.versions[0][0],
                                 files[0, ranges], folder)
        names = files[:, tests]
        parts["int8"].append(classify(model, names, load))
        if os.path.exists(RUNTIME):
            parts["runtime"].append(
                classify_in_runtime(written, names[IN_RUNTIME]))
    answers = {key: np.concatenate(own, axis=1)
               for key, own in parts.items() if own}
    # The ranges mean nothing to these.
    tested = np.concatenate([list(tests) for _, tests in folds])
    answers["float"] = classify(model, files[:, tested])
    if os.path.exists(others):
        answers["tflite"] = classify(others, files[:, tested])
    return answers, labelled.labels[tested]


def check_network(name):
    """Prints a row; what is wrong, empty if nothing is."""
    labelled, folder = NETWORKS[name](), os.path.join(WORK, name)
    answers, labels = answer_all(name, labelled, folder)
    shutil.rmtree(folder)
    print_row(name, labelled.num_ranges, labels, answers)
    return explain(answers, labels)


def get_score(windows, outputs):
    """As MLPerf Tiny has it: the mean of the windows' mean square errors."""
    return np.mean(np.square(windows - outputs))


def run_windows(model, windows, *flags):
    folder = os.path.join(WORK, "outputs")
    np.save(os.path.join(WORK, "windows.npy"), windows)
    run([os.path.join(BIN, "model-runner"), "-model=" + model,
         "-model-input=input,float,[%d,640]" % len(windows),
         "-input=input=" + os.path.join(WORK, "windows.npy"),
         "-output-dir=" + folder, *flags])
    file, = os.listdir(folder)
    outputs = np.load(os.path.join(folder, file))
    shutil.rmtree(folder)
    return outputs


def check_autoencoder():
    """What is wrong with the anomaly score of a sound, of which the first
    quarter is for the ranges."""
    file = os.path.join(DATA, "tiny-eval", "ad01",
                        "normal_id_01_00000000_hist_librosa.bin")
    frames = np.fromfile(file, np.float32)
    windows = np.stack([frames[128 * i:128 * i + 640] for i in range(196)])
    profile = os.path.join(WORK, "profile.yaml")
    model = find_model("trained", "tiny_autoencoder")
    run_windows(model, windows[:49], "-dump-profile=" + profile)
    rest = windows[49:]
    scores = {
        "float": get_score(rest, run_windows(model, rest)),
        "int8": get_score(rest, run_windows(model, rest,
                                            "-load-profile=" + profile)),
        "tflite": get_score(rest, run_windows(
            find_model("quantized", "tiny_autoencoder_int8"), rest))}
    print("anomaly score of tiny_autoencoder: " +
          ", ".join("%s %.3f" % pair for pair in scores.items()))
    error, allowed = (abs(scores[key] - scores["float"])
                      for key in ("int8", "tflite"))
    return ("" if error <= allowed else
            "the score differs by %.3f from the float network's" % error)


def main():
    names = [name for name in NAMES or NETWORKS
             if os.path.exists(find_model("trained", name))]
    if not names:
        print("skipped: %s has no trained networks" % DATA)
        return 77
    if not os.path.exists(RUNTIME):
        print("not compared with ONNX Runtime: it is not in bench/node_modules "
              "(bench/compare installs it)")
    print("Right answers in percent, and answers that the int8 network shares:"
          "\n%-18s %6s %6s %7s %7s %7s %9s %9s" % (
              "network", "ranges", "tests", "float", "int8", "tflite",
              "= float", "= runtime"))
    wrong = [(name, check_network(name)) for name in names]
    if not NAMES:
        wrong.append(("tiny_autoencoder", check_autoencoder()))
    shutil.rmtree(WORK)
    wrong = [pair for pair in wrong if pair[1]]
    for name, reason in wrong:
        print("%s: %s" % (name, reason))
    return 1 if wrong else 0


sys.exit(main())
