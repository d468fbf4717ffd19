#!/usr/bin/python3
"""tflite.py [--all] [--keep FOLDER] [NAME...]: TensorFlow Lite models and their outputs.

The models of the test data ($GLOWISH_TEST_DATA, default ../shared/data), or
those whose paths contain a NAME: one-operator models of Glow with inputs and
outputs, one-operator models and networks of TensorFlow Lite for
Microcontrollers, quantized, with bit-exact outputs, Coral's and MLPerf Tiny's
networks. Each runs on both back ends. Integers must be the expected ones, or
those of the other back end where nothing is expected; floats within 1e-5 of the
largest magnitude. Keyword features are classified, an anomaly is scored, words
are recognized in recordings, and images are labelled. Prints a table of the files, and why models don't
pass. tflite.txt names those that need not, and must not.

--all: also models of more than a megabyte in the interpreter, and with random
inputs where images are labelled, all of SEANet's one-operator models and not
one of three, networks that have the layers of another one, and all recordings,
which takes minutes. --keep: a new folder where inputs and outputs are left.
$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if other models
fail, 77 without data."""

import argparse
import csv
import glob
import os
import re
import struct
import sys
import tempfile
import wave
import zlib
from dataclasses import dataclass, field

try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

from comparison import Tolerance, check_outputs  # noqa: E402
from model_runs import (BACKENDS, legal, run_local, run_model,  # noqa: E402
                        run_tool, state_types)
import tflite_tensors  # noqa: E402

DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
LIST = os.path.join(HERE, "tflite.txt")
TOLERANCE = Tolerance(of_largest=1e-5, smallest=1)
# Of the 500; an independent program in float has 902 of 1,000.
KEYWORDS_RIGHT = 449
# An autoencoder, options, and its score: the published one of the float model;
# of the int8 model that of an independent program with the same arithmetic.
ANOMALIES = [
    ("ad01_fp32.tflite", [], 9.7071078),
    ("ad01_int8.tflite", ["-tflite-float-inputs", "-tflite-float-outputs"],
     10.264468)]
# Recordings of a second, the checksum (CRC-32) of the features that TensorFlow
# Lite Micro's own code makes of them, and what the network hears.
SPEECH = [("yes", 0xa83fae7a, "yes"), ("no", 0xe4c6e456, "no"),
          ("silence", 0x6ad42105, "silence"), ("noise", 0x3bbd8c92, "silence")]
SPEECH_LABELS = ["silence", "unknown", "yes", "no"]
FRAME, STRIDE = 480, 320
PASCAL_BIRD = 3
# They have the layers of mobilenet_v2_1.0_224_quant, but for the classes.
SAME_LAYERS = ("mobilenet_v2_1.0_224_inat_insect_quant",
               "mobilenet_v2_1.0_224_inat_bird_quant")
LARGE = 1 << 20
# Names of tensors may be longer than those of files.
RENAME = "-tflite-rename-tensors"
KINDS = {"float": np.float32, "int8": np.int8, "uint8": np.uint8,
         "int16": np.int16, "int32": np.int32, "int64": np.int64,
         "uint32": np.uint32, "uint64": np.uint64,
         "bool": np.bool_}


@dataclass
class Tensor:
    """A placeholder of an imported model."""
    name: str
    kind: type
    shape: tuple
    is_input: bool
    is_output: bool


@dataclass
class Result:
    """What became of a model: a line of the table."""
    path: str
    judge: str = ""
    problem: str = ""


def get_tensors(path):
    """The inputs and outputs of a model, or what the importer says. What a file
    states takes no start of a program; a shape may be left open there."""
    tensors = [Tensor(name, KINDS[kind], shape, is_input, not is_input)
               for name, kind, shape, is_input in
               tflite_tensors.read_tensors(path)]
    return (tensors, "") if all(t.shape for t in tensors) \
        else list_tensors(path)


def list_tensors(path):
    """The placeholders of a model, or what the importer says."""
    code, text = run_tool("glowish-opt", RENAME, path)
    if code != 0:
        return None, text
    pattern = re.compile(r'^placeholder %\S+ : (\w+)<([\dx]*)> '
                         r'(.*?)"((?:[^"\\]|\\.)*)"', re.M)
    return [Tensor(name, KINDS[kind],
                   tuple(int(d) for d in dims.split("x") if d),
                   "input" in how, "output" in how)
            for kind, dims, how, name in pattern.findall(text)], text


def make_random(tensor, seed):
    """Any integers, and floats in [-1, 1)."""
    random = np.random.default_rng(seed)
    if tensor.kind == np.float32:
        return random.uniform(-1, 1, tensor.shape).astype(np.float32)
    if tensor.kind == np.bool_:
        return random.integers(0, 2, tensor.shape).astype(np.bool_)
    info = np.iinfo(tensor.kind)
    low, high = max(info.min, -1000), min(info.max, 1000)
    return random.integers(low, high, tensor.shape,
                           endpoint=True).astype(tensor.kind)


def read_numbers(path, tensor):
    """A file of inputs or outputs, by its ending."""
    if path.endswith(".csv"):
        with open(path, encoding="utf-8") as file:
            return np.array([int(n) for row in csv.reader(file) for n in row
                             if n.strip()], tensor.kind).reshape(tensor.shape)
    with open(path, "rb") as file:
        data = file.read()
    # Glow's have a byte in front of the elements.
    size = int(np.prod(tensor.shape)) * np.dtype(tensor.kind).itemsize
    data = data[len(data) - size:]
    return np.frombuffer(data, tensor.kind).reshape(tensor.shape)


def find_inputs(path):
    """The files of a model's inputs, in order."""
    base = path[:-len(".tflite")]
    if base.endswith("dtln_noise_suppression"):
        return [os.path.join(os.path.dirname(path), "input_int8.bin")]
    files = glob.glob(base + ".inp[0-9]*") + glob.glob(
        base + "_input[0-9]*.csv")
    return sorted(files)


def find_outputs(path):
    base = path[:-len(".tflite")]
    if base.endswith("dtln_noise_suppression"):
        return [os.path.join(os.path.dirname(path), "golden_int8.bin")]
    return sorted(glob.glob(base + ".out[0-9]*") +
                  glob.glob(base + "_golden_*.csv"))


def run(path, inputs, backend, work):
    return run_local([path], inputs, backend, work, [RENAME + "=true"])


def check(path, work, backends, is_listed):
    """Runs a model on back ends."""
    result = Result(os.path.relpath(path, DATA))
    tensors, text = get_tensors(path)
    if tensors is None:
        result.problem = text.strip().replace("\n", "; ")
        return result
    sources = [t for t in tensors if t.is_input and not t.is_output]
    sinks = [t for t in tensors if t.is_output and not t.is_input]
    files, expected = find_inputs(path), find_outputs(path)
    inputs = {tensor.name: read_numbers(files[i], tensor)
              if i < len(files) else make_random(tensor, i)
              for i, tensor in enumerate(sources)}
    result.judge = "its outputs" if expected else "the back ends"
    first = None
    for backend in backends:
        outputs, text = run(path, inputs, backend, work)
        if outputs is None:
            result.problem = f"{backend}: " + text.strip()
            return result
        judges = {sinks[i].name: read_numbers(file, sinks[i])
                  for i, file in enumerate(expected)} or first or {}
        first = first or {t.name: outputs[legal(t.name)] for t in sinks}
        problem = check_outputs(outputs, judges, TOLERANCE, keeps=not is_listed)
        if problem and not result.problem:
            result.problem = f"{backend}: {problem}"
    return result


def read_bitmap(path):
    """[height, width, channels] of an uncompressed .bmp of 8 or 24 bits: palette
    indices, or red, green and blue."""
    with open(path, "rb") as file:
        data = file.read()
    start, = struct.unpack_from("<I", data, 10)
    width, height = struct.unpack_from("<ii", data, 18)
    bits, = struct.unpack_from("<H", data, 28)
    channels = bits // 8
    stride = (width * channels + 3) // 4 * 4
    rows = np.frombuffer(data, np.uint8, stride * abs(height), start)
    image = rows.reshape(abs(height), stride)[:, :width * channels]
    image = image.reshape(abs(height), width, channels)
    return image[::-1 if height > 0 else 1, :, ::-1]


def resize(image, height, width):
    """Between the four pixels around a point, as RESIZE_BILINEAR does it."""
    image = image.astype(np.float64)
    for axis, size in enumerate((height, width)):
        at = np.arange(size) * image.shape[axis] / size
        lower = at.astype(int)
        upper = np.minimum(lower + 1, image.shape[axis] - 1)
        part = (at - lower).reshape([-1] + [1] * (2 - axis))
        image = (np.take(image, lower, axis) * (1 - part) +
                 np.take(image, upper, axis) * part)
    return np.floor(image + 0.5).astype(np.uint8)


def run_batch(path, inputs, options=()):
    """The output of a model with one input and one output for a batch of
    inputs, compiled for it."""
    tensors, _ = get_tensors(path)
    source, = [t for t in tensors if t.is_input and not t.is_output]
    sink, = [t for t in tensors if t.is_output and not t.is_input]
    stated, = state_types({source.name: inputs})
    with tempfile.TemporaryDirectory() as work:
        outputs, text = run_model(
            [path], {source.name: inputs}, "CPU", os.path.join(work, "run"),
            [RENAME, "-model-input=" + stated, *options])
    if outputs is None:
        raise RuntimeError(text.strip())
    return outputs[legal(sink.name)]


def classify_keywords():
    """How many of MLPerf Tiny's labelled keyword features are right."""
    files = sorted(glob.glob(os.path.join(DATA, "tiny-eval/kws01/*.bin")))
    features = np.stack([np.fromfile(file, np.int8).reshape(49, 10, 1)
                         for file in files])
    labels = [int(re.search(r"_(\d+)\.bin$", file).group(1)) for file in files]
    scores = run_batch(os.path.join(
        DATA, "quantized/tiny_dscnn_kws_int8/kws_ref_model.tflite"), features)
    right = int(np.count_nonzero(np.argmax(scores, axis=1) == labels))
    return right == KEYWORDS_RIGHT, f"{right} of {len(files)} keywords"


def score_anomalies():
    """The mean squared error of MLPerf Tiny's autoencoders on a spectrogram."""
    path = os.path.join(
        DATA, "tiny-eval/ad01/normal_id_01_00000000_hist_librosa.bin")
    rows = np.fromfile(path, np.float32).reshape(-1, 128)
    windows = np.stack([rows[i:i + 5].reshape(640)
                        for i in range(len(rows) - 4)])
    isGood, texts = True, []
    for name, options, expected in ANOMALIES:
        model = os.path.join(DATA, "quantized/tiny_autoencoder_int8", name)
        outputs = run_batch(model, windows, options)
        score = float(np.mean(np.square(outputs.astype(np.float64) - windows)))
        isGood &= abs(score - expected) <= 1e-4
        texts.append(f"{name} {score:.6f}")
    return isGood, ", ".join(texts)


def make_speech_features(folder, name, cache, work):
    """[frames, 40] integers; what is learnt of the noise goes from one frame to
    the next. The first frame leaves its program for the others."""
    model = os.path.join(folder, "models/audio_preprocessor_int8.tflite")
    tensors, _ = list_tensors(model)
    frame, = [t for t in tensors if t.is_input and not t.is_output]
    noise, = [t for t in tensors if t.is_input and t.is_output]
    sink, = [t for t in tensors if t.is_output and not t.is_input]
    with wave.open(os.path.join(folder, f"testdata/{name}_1000ms.wav")) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    rows, state = [], np.zeros(noise.shape, noise.kind)
    for start in range(0, len(samples) - FRAME + 1, STRIDE):
        inputs = {frame.name: samples[start:start + FRAME].reshape(frame.shape),
                  noise.name: state}
        outputs, text = run_model([model], inputs, "CPU", work,
                                  [RENAME, "-cache=" + cache])
        if outputs is None:
            raise RuntimeError(text.strip())
        rows.append(outputs[legal(sink.name)].reshape(-1))
        state = outputs[legal(noise.name)]
    return np.stack(rows)


def recognize_speech(recordings):
    """Words of recordings: their features, made frame by frame, and the network
    that hears them."""
    folder = os.path.join(DATA, "tflite/tflm/micro_speech")
    isGood, texts = True, []
    with tempfile.TemporaryDirectory() as work:
        for name, checksum, expected in recordings:
            features = make_speech_features(
                folder, name, os.path.join(work, "cache"),
                os.path.join(work, "run"))
            scores = run_batch(
                os.path.join(folder, "models/micro_speech_quantized.tflite"),
                features.reshape(1, -1))[0]
            heard = SPEECH_LABELS[int(np.argmax(scores))]
            isSame = zlib.crc32(features.tobytes()) == checksum
            isGood &= isSame and heard == expected
            texts.append(f"{name}: {'the same' if isSame else 'other'} "
                         f"features, {heard}")
    return isGood, ", ".join(texts)


def list_images(isWhole):
    """What expected.tsv of Coral's networks has: the model, the image, how many
    labels or "-", the label or a mask, and the least score."""
    folder = os.path.join(DATA, "tflite/coral")
    with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as file:
        lines = list(csv.reader(file, delimiter="\t"))[1:]
    for model, image, count, label, least, *_ in lines:
        path = os.path.join(folder, model + ".tflite")
        image = os.path.join(folder, image.split()[0])
        if "cat.bmp" in image:
            image = os.path.join(DATA, "images/coral/cat.bmp")
        if os.path.exists(path) and os.path.exists(image) and (
                isWhole or model not in SAME_LAYERS):
            yield path, image, count, label, least


def label_images(isWhole):
    """Coral's images: the label that must be among the best, and its
    score, or how well a mask is met."""
    isGood, texts = True, []
    for path, image, count, label, least in list_images(isWhole):
        tensors, _ = get_tensors(path)
        source, = [t for t in tensors if t.is_input and not t.is_output]
        pixels = resize(read_bitmap(image), *source.shape[1:3])
        sink, = [t for t in tensors if t.is_output and not t.is_input]
        options = ["-tflite-float-outputs"] if sink.kind == np.uint8 else []
        output = run_batch(path, pixels.reshape(source.shape).copy(),
                           options)[0]
        if count == "-":
            mask = os.path.join(os.path.dirname(path), label)
            mask = read_bitmap(mask)[:, :, 0]
            isBird, isMasked = output == PASCAL_BIRD, mask == PASCAL_BIRD
            score = np.sum(isBird & isMasked) / np.sum(isBird | isMasked)
            found, least = True, least.split()[-1]
        else:
            best = np.argsort(-output, kind="stable")[:int(count)]
            found, score = int(label) in best, output[int(label)]
        isGood &= bool(found) and score >= float(least)
        model = os.path.basename(path)[:-len(".tflite")]
        texts.append(f"{model} {score:.2f} ({least})")
    return isGood, ", ".join(texts)


def check_applications(isWhole):
    """Whole tasks: what is wrong with them is counted."""
    wrong = 0

    recordings = SPEECH if isWhole else SPEECH[:1]
    for task, *arguments in ((classify_keywords,), (score_anomalies,),
                             (recognize_speech, recordings),
                             (label_images, isWhole)):
        try:
            isGood, text = task(*arguments)
        except (OSError, RuntimeError, ValueError) as error:
            isGood, text = False, str(error)
        print(f"{'passed' if isGood else 'FAILED':8} {task.__name__}: {text}",
              flush=True)
        wrong += not isGood
    return wrong


def read_list():
    """The patterns of tflite.txt with their reasons."""
    expected = []
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                pattern, reason = line.strip().split(None, 1)
                expected.append((pattern, reason))
    return expected


def find_left(paths):
    """Those of all models that --all is for."""
    small = [path for path in paths if "/seanet/" in path]
    left = small[1::3] + small[2::3]
    left += [path for path in paths if any(n in path for n in SAME_LAYERS)]
    if any("/coral/" in path for path in paths):
        # label_images() runs them on the same back end.
        left += [path for path, *_ in list_images(False)
                 if os.path.getsize(path) > LARGE]
    return left


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("names", nargs="*")
    if "-h" in sys.argv or "--help" in sys.argv:
        print(__doc__)
        return 0
    options = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(DATA, "**", "*.tflite"),
                             recursive=True))
    paths = [path for path in paths
             if not options.names or any(n in path for n in options.names)]
    if not paths:
        print(f"skipped: there are no .tflite files in {DATA}")
        return 77
    if not options.all and not options.names:
        left = find_left(paths)
        paths = [path for path in paths if path not in left]
    listed = read_list()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        work = options.keep or folder
        for path in paths:
            isLarge = os.path.getsize(path) > LARGE and not options.all
            reasons = [r for p, r in listed
                       if re.fullmatch(p, os.path.relpath(path, DATA))]
            result = check(path, os.path.join(work, "run"),
                           ["CPU"] if isLarge else BACKENDS, bool(reasons))
            state = "passed"
            if result.problem:
                state = "listed" if reasons else "FAILED"
            elif reasons:
                state = "PASSED, but is listed"
            wrong += state not in ("passed", "listed")
            print(f"{state:8} {result.path} ({result.judge}) "
                  f"{result.problem}", flush=True)
    if not options.names:
        wrong += check_applications(options.all)
    print(f"{len(paths)} models, {wrong} not as expected")
    return 1 if wrong else 0


sys.exit(main())
