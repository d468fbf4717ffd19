"""The TorchScript archives of the test data, for torchscript.py: each is right,
or refused for a reason that is stated here."""

import dataclasses
import os
import wave

import numpy as np
import torch

from comparison import Tolerance, check_outputs
from model_runs import (BACKENDS, run_local, run_model, run_tool,
                        state_types)

DATA = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"),
                    "torchscript")
TOLERANCE = Tolerance(of_largest=1e-5)
# Seconds of test.wav with silence and speech, of 512 samples at 16 kHz.
VOICE_RATE, VOICE_SAMPLES, VOICE_CHUNKS = 16000, 512, 6


def import_archive(path, inputs, graph, options=()):
    """Writes an archive as a text form; what was printed if it failed. The
    library that reads archives takes a second to load, in each start."""
    code, text = run_tool("glowish-opt", path, "-o", graph, *options,
                          *("-model-input=" + i for i in state_types(inputs)))
    return text.strip() if code != 0 else ""


def normal(*shape):
    torch.manual_seed(sum(shape))
    return torch.randn(*shape)


def expect(outputs, expected, what=""):
    """What is wrong with outputs; empty if nothing is."""
    wrong = check_outputs(outputs, expected, TOLERANCE)
    return wrong and what + wrong


@dataclasses.dataclass
class Entry:
    """An archive, by its path in the data, and its inputs by their names."""
    name: str
    inputs: dict = dataclasses.field(default_factory=dict)
    # The outputs, by their names, of what the program returns.
    outputs: tuple = ("output",)
    refused: str = ""
    options: tuple = ()
    is_quick: bool = False
    method: str = "forward"

    def path(self):
        return os.path.join(DATA, self.name)

    def expected(self):
        """What PyTorch computes."""
        if self.outputs == ("output.x",):
            # An object of a class, which Python cannot have; it is the input.
            return {"output.x": self.inputs["x"].numpy()}
        program = torch.jit.load(self.path())
        with torch.no_grad():
            result = getattr(program, self.method)(*self.inputs.values())
        if not isinstance(result, (tuple, list)):
            result = [result]
        return {name: np.asarray(own)
                for name, own in zip(self.outputs, result)}

    def given(self):
        """The inputs as model-runner takes them."""
        given = {}
        for name, value in self.inputs.items():
            if isinstance(value, tuple):
                kinds = {float: np.float64, int: np.int64}
                given.update({f"{name}.{i}": np.array(own, kinds[type(own)])
                              for i, own in enumerate(value)})
            elif isinstance(value, dict):
                given.update({f"{name}.{key}": own.numpy()
                              for key, own in value.items()})
            else:
                given[name] = value.numpy()
        return given

    def check(self, work):
        if self.refused:
            outputs, text = run_local([self.path()], self.given(), "CPU", work,
                                      self.options)
            if outputs is not None:
                return "is not refused"
            if self.refused not in text:
                return f"is refused with {text.strip()!r}"
            return ""
        for backend in BACKENDS:
            outputs, text = run_local([self.path()], self.given(), backend,
                                      work, self.options)
            if outputs is None:
                return text.strip()
            wrong = expect(outputs, self.expected())
            if wrong:
                return f"{backend}: {wrong}"
        return ""


class Reference(Entry):
    """A layer's archive with an independent reference."""

    def check(self, work):
        folder = os.path.join(DATA, "torchsharp/ref_l1000_100_10")
        given = {"input": np.load(os.path.join(folder, "input_0.npy"))}
        value = np.load(os.path.join(folder, "output_0.npy"))
        for backend in BACKENDS:
            outputs, text = run_local([self.path()], given, backend, work)
            if outputs is None:
                return text.strip()
            wrong = expect(outputs, {"output": value.astype(np.float32)})
            if wrong:
                return f"{backend}: {wrong}"
        return ""


class Policy(Entry):
    """A policy that is called four times, with states of zeros at first."""

    def check(self, work):
        folder = os.path.join(os.path.dirname(self.path()), "ref_" +
                              os.path.basename(self.path())[:-len(".pt")])
        graph = work + ".graph"
        first = {"x": np.load(f"{folder}/call0_input_0.npy")}
        wrong = import_archive(self.path(), first, graph)
        if wrong:
            return wrong
        for backend in BACKENDS:
            states = {"hidden_state": np.zeros((1, 1, 64), np.float32),
                      "cell_state": np.zeros((1, 1, 64), np.float32)}
            for call in range(4):
                given = {"x": np.load(f"{folder}/call{call}_input_0.npy")}
                outputs, text = run_model([graph], {**given, **states}, backend,
                                          work)
                if outputs is None:
                    return text.strip()
                states = {name: outputs[name] for name in states}
                value = np.load(f"{folder}/call{call}_output_0.npy")
                wrong = expect(outputs, {"output": value.astype(np.float32)},
                               f"{backend}, call {call}: ")
                if wrong:
                    return wrong
            after = {name: np.load(f"{folder}/after_{name}.npy")
                     .astype(np.float32).reshape(1, 1, 64) for name in states}
            wrong = expect(outputs, after, f"{backend}, states: ")
            if wrong:
                return wrong
        return ""


def read_voice():
    """Chunks of the recording from the first second on."""
    path = os.path.join(DATA, "silero-vad/test.wav")
    with wave.open(path, "rb") as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        assert file.getframerate() == VOICE_RATE and file.getnchannels() == 1
    start = VOICE_RATE
    for i in range(VOICE_CHUNKS):
        at = start + i * VOICE_SAMPLES
        yield (samples[at:at + VOICE_SAMPLES] / 32768).astype(np.float32)[None]


class Voice(Entry):
    """Voice activity: control flow that a rate decides, and states that the
    first run makes."""

    def check(self, work):
        options = (f"-constant-input=sr,{VOICE_RATE}",)
        for backend in BACKENDS:
            program = torch.jit.load(self.path())
            states = {"_context": np.zeros((1, 64), np.float32),
                      "_state": np.zeros((2, 1, 128), np.float32),
                      "initialized": np.zeros((), np.bool_)}
            for number, chunk in enumerate(read_voice()):
                with torch.no_grad():
                    value = program(torch.from_numpy(chunk), VOICE_RATE)
                outputs, text = run_model([self.path()],
                                          {"x": chunk, **states}, backend,
                                          work, options)
                if outputs is None:
                    return text.strip()
                states = {name: outputs[name] for name in states}
                wrong = expect(outputs, {"output": value.numpy()},
                               f"{backend}, chunk {number}: ")
                if wrong:
                    return wrong
        return ""


OLD = "PyTorch 1.3 or older"
positions = normal(5, 3)
ENTRIES = [
    Entry("djl/identity.pt", {"tokenized_data": normal(2, 3)}),
    Entry("openmm-torch/central.pt", {"pos": positions}),
    Entry("openmm-torch/global.pt", {"pos": positions,
                                     "k": torch.tensor(2.0,
                                                       dtype=torch.float64)}),
    Entry("openmm-torch/periodic.pt", {"pos": positions,
                                       "box": torch.eye(3) * 2}),
    Entry("pytorch-android-test/test.pt", refused=OLD),
    Entry("torch-js/test_model.pt", refused=OLD),
    Entry("tch-rs/foo.pt", {"x": normal(3, 4), "y": normal(3, 4)}),
    Entry("tch-rs/foo1.pt", {"x": normal(3, 4), "y": normal(3, 4)}),
    Entry("tch-rs/foo2.pt", {"x": normal(3, 4), "y": normal(3, 4)},
          outputs=("output.0", "output.1")),
    Entry("tch-rs/foo3.pt", {"x": normal(3, 4)}),
    Entry("tch-rs/foo4.pt", {"x": (1.5, 2.0, 3)}),
    Entry("tch-rs/foo5.pt", refused="is of type List[str]"),
    Entry("tch-rs/foo6.pt", {"x": normal(3, 4)}, outputs=("output.x",)),
    Entry("tch-rs/foo7.pt", refused="has no method 'forward'"),
    Entry("tch-rs/foo8.pt",
          {"batch": {"foo": normal(2), "bar": normal(3, 1)}},
          outputs=("output.0", "output.1"), method="generate"),
    Entry("torchsharp/exported.method.dat", {"x": normal(3), "y": normal(3)},
          outputs=("output.0", "output.1")),
    Entry("torchsharp/func.script.dat", {"x": normal(3), "y": normal(3)}),
    Entry("torchsharp/linrelu.script.dat", {"input": normal(3, 10)}),
    Reference("torchsharp/l1000_100_10.script.dat"),
    Policy("unitree-rl-gym/g1_motion.pt", is_quick=True),
    Policy("unitree-rl-gym/h1_motion.pt"),
    Voice("silero-vad/silero_vad.jit"),
]


def find():
    """The archives, if the data are there."""
    return ENTRIES if os.path.isdir(DATA) else []
