"""What one interface of the compiler refuses, all refuse with the same message.

The command line, the Python module and the C interface are compared for a bad value of each
setting, and for pairs of settings that can't be together, which are found by trying all.
"""
import itertools
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import glowish
import interfaces
import models
import numpy as np

# Values that a setting refuses, by its name; of all others a choice, a switch or a number
# that there is not, or a list entry without its parts.
BAD = {
    "label": "x",  # An input has that name.
    "verify_plan": "/no/such/folder/plan.json",
    "tuning_file": "/no/such/folder/tuning.json",
    "frozen": "(",
}
# Accepts any value, as by Glow.
WITHOUT_BAD = {"do_not_lower_nodes_for_profiling"}
NONE_SUCH = "no such; value,"

# What a setting needs to have an effect. {profile} and {tuning} are files.
NEEDS = {
    **dict.fromkeys(
        ("quantization_schema", "quantization_calibration", "calibrate_constants",
         "enable_channelwise", "enable_rowwise", "equalize_channels", "bias_correction",
         "assert_all_nodes_quantized", "quantization_precision",
         "quantization_precision_bias"), [("load_profile", "{profile}")]),
    **dict.fromkeys(("weights_block", "weights_search", "activations",
                     "keep_original_precision_for_nodes"),
                    [("quantize_weights", "int8")]),
    **dict.fromkeys(("fp16_format", "convert_placeholders"), [("convert_to_fp16", "true")]),
    "tuning_file": [("tune", "true")],
    "tune": [("tuning_file", "{tuning}")],
}
# Values that settings accept, where they are no choice or switch.
GOOD = {
    "define_symbol": ["N,2", "N,1,2", "N,1..4"],
    "model_input": ["x,float,[2,64]"],
    "constant_input": ["k,3.5"],
    "state": ["total,next"],
    "max_trip_count": ["5"],
    "max_extent": ["y,7"],
    "max_activation_bytes": ["100000"],
    "memory_regions": ["fast:64K,slow:256K"],
    "backend": ["CPU", "Interpreter"],
    "target": ["x86_64-linux-gnu", "wasm32-unknown-unknown", "thumbv7em-none-eabi"],
    "march": ["x86-64"],
    "mcpu": ["x86-64-v3", "x86-64-v2,x86-64-v3"],
    "mattr": ["+avx2"],
    "float_abi": ["default"],
    "code_model": ["small", "large"],
    "threads": ["2"],
    "tuning_file": ["{tuning}"],
    "load_profile": ["{profile}"],
    "keep_original_precision_for_nodes": ["MatMul"],
    "do_not_lower_nodes_for_profiling": ["MatMul"],
    "quantization_precision": ["Int8"],
    "quantization_precision_bias": ["Int32"],
    "weights_block": ["32"],
    "network_name": ["net"],
    "main_entry_name": ["go"],
    "verify_plan": [""],
    "loss": ["l1"],
    "output": ["y"],
    "label": ["truth"],
    "solver": ["adam"],
    **dict.fromkeys(("momentum", "l1", "l2", "beta1", "beta2", "decay_rate"), ["0.5"]),
    "epsilon": ["0.001"],
    "clip_norm": ["1"],
    "seed": ["3"],
    "rematerialize_segments": ["2"],
    "frozen": ["W"],
    "tflite_bias_scale_check_max_error": ["0.1"],
    "train_define_symbol": ["N,3"],
    "label_type": ["float,[2,3]"],
}
# Those for other formats than ONNX, and those that load a library.
WITHOUT_GOOD = {"function", "method", "load", "operators", "external", "mabi"}


def make_model():
    """y = (x W + B) k + total, and a state."""
    return models.model(
        [("MatMul", ["x", "W"], ["matmul"]), ("Add", ["matmul", "B"], ["biased"]),
         ("Mul", ["biased", "k"], ["scaled"]),
         ("Add", ["scaled", "total"], ["y"]),
         ("ReduceSum", ["x"], ["sum"], {"keepdims": 0}),
         ("Add", ["sum", "total"], ["next"])],
        [models.value("x", ["N", 64]), models.value("k", []), models.value("total", [])],
        [models.value("y", ["N", 3]), models.value("next", [])],
        [models.constant("W", np.ones((64, 3), np.float32)),
         models.constant("B", np.ones(3, np.float32))])


class Interfaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.model = cls.folder / "net.onnx"
        cls.model.write_bytes(make_model().SerializeToString())
        cls.files = {"profile": str(cls.folder / "profile.yaml"),
                     "tuning": str(cls.folder / "tuning.json")}
        subprocess.run([interfaces.BIN + "/model-runner", f"-model={cls.model}",
                        "-define-symbol=N,2", "-random-inputs=1",
                        f"-dump-profile={cls.files['profile']}"], check=True)
        cls.c = interfaces.CInterface()
        cls.options = {option.name: option for option in glowish.options()}

    def complete(self, settings):
        """The settings with what they need, each value once."""
        given = dict.fromkeys(name for name, _ in settings)
        result = list(settings)
        for name in list(given):
            needed = list(NEEDS.get(name, []))
            if self.options[name].group.startswith("training"):
                needed.append(("train", "true"))
            for other, value in needed:
                if other not in given:
                    given[other] = None
                    result.append((other, value))
        if "define_symbol" not in given:
            result.append(("define_symbol", "N,2"))
        return [(name, value.format(**self.files)) for name, value in result]

    def bad_values(self, name):
        if name in BAD:
            return BAD[name]
        return "maybe" if self.options[name].form == "switch" else NONE_SUCH

    def good_values(self, name):
        option = self.options[name]
        if name in GOOD:
            return GOOD[name]
        if option.form == "switch":
            return ["true"]
        choices = [choice for choice, _ in option.choices]
        return choices[:1] + choices[1:][-1:]

    def refused_by_all(self, settings):
        """The message of all interfaces, which are asked for a bundle."""
        refused = {
            "C": self.c.compile_bundle(self.model, self.folder / "none", settings),
            "Python": interfaces.compile_by_python(self.model, self.folder / "none",
                                                   settings),
            "tool": interfaces.compile_by_tool(self.model, self.folder / "none", settings)}
        self.assertEqual(len(set(refused.values())), 1, (settings, refused))
        written = self.folder / "none"
        self.assertEqual(written.exists(), refused["C"] is None, settings)
        if written.exists():
            shutil.rmtree(written)
        return refused["C"]

    def test_spelling(self):
        """Each interface names settings as its users do."""
        refused = []

        def keep(message):
            refused.append(message)
            return message

        spelled = []
        with mock.patch.object(interfaces, "normalize", keep):
            for settings in ([], [("threads", "0")], [("label", "x"), ("train", "true"),
                                                      ("define_symbol", "N,2")]):
                refused.clear()
                self.c.compile_bundle(self.model, self.folder / "o", settings)
                interfaces.compile_by_python(self.model, self.folder / "o", settings)
                interfaces.compile_by_tool(self.model, self.folder / "o", settings)
                spelled.append([message.replace(str(self.model), "net.onnx")
                                for message in refused])
        line = "'net.onnx': input 'x' has the symbolic dimension 'N'; bind it with "
        self.assertEqual(spelled[0], [
            line + "define-symbol=N,VALUE or state the type with "
                   "model-input=x,float,[...]",
            line + "define_symbol='N,VALUE' or state the type with "
                   "model_input='x,float,[...]'",
            line + "-define-symbol=N,VALUE or state the type with "
                   "-model-input=x,float,[...]"])
        line = "threads=0: accepted: an integer from 1 to 256"
        self.assertEqual(spelled[1], [line, line, "-" + line])
        for message, name in zip(spelled[2], ("label=NAME", "label=NAME", "-label=NAME")):
            self.assertIn(f"; {name} states another name", message)

    def test_warnings(self):
        settings = [("define_symbol", "N,2"), ("max_extent", "y,7")]
        with self.assertWarnsRegex(UserWarning, "max_extent='y,7' has no effect"):
            interfaces.compile_by_python(self.model, self.folder / "warned", settings)
        tool = subprocess.run(
            [interfaces.BIN + "/model-compiler", f"-model={self.model}",
             "-define-symbol=N,2", "-max-extent=y,7", "-stop-after=import"],
            capture_output=True, text=True, check=True)
        self.assertIn(" -max-extent=y,7 has no effect", tool.stderr)
        warnings = []
        self.c.compile_bundle(self.model, self.folder / "warned", settings, warnings)
        self.assertIn("max-extent=y,7 has no effect", "\n".join(warnings))
        self.assertNotIn("-max-extent", "\n".join(warnings))

    def test_names(self):
        self.assertEqual(self.c.names(), [option.name for option in glowish.options()])
        self.assertGreater(len(self.options), 80)
        for names in (BAD, WITHOUT_BAD, NEEDS, GOOD, WITHOUT_GOOD):
            self.assertLessEqual(set(names), set(self.options))

    def test_bad_values(self):
        """All interfaces refuse a bad value of each setting, with one message."""
        for name in self.options:
            settings = self.complete([(name, self.bad_values(name))])
            with self.subTest(name):
                refused = self.refused_by_all(settings)
                self.assertEqual(refused is None, name in WITHOUT_BAD, settings)

    def test_pairs(self):
        """Pairs of settings that can't be together. Each message is looked at once."""
        values = [(name, value) for name in self.options if name not in WITHOUT_GOOD
                  for value in self.good_values(name)]
        self.assertEqual({name for name, _ in values} | WITHOUT_GOOD, set(self.options))
        prepare = lambda settings: self.c.prepare_bundle(
            self.model, self.folder / "pairs", settings)
        alone = {}
        for setting in values:
            alone[setting] = prepare(self.complete([setting]))
        accepted = [setting for setting in values if alone[setting] is None]
        refused_alone = {setting for setting in values if alone[setting]}
        self.assertEqual({name for name, _ in refused_alone},
                         {name for name in self.options if name.startswith("tflite")}
                         | {"backend"}, alone)
        for setting in refused_alone:
            self.assertEqual(self.refused_by_all(self.complete([setting])),
                             alone[setting])
        found = {}
        for first, second in itertools.combinations(accepted, 2):
            if first[0] == second[0]:
                continue
            settings = self.complete([first, second])
            refused = prepare(settings)
            if refused is not None:
                found.setdefault(refused, settings)
        for settings in found.values():
            self.assertIsNotNone(self.refused_by_all(settings), settings)
        text = "\n".join(found)
        for part in ("quantize_dynamic and load_profile", "computes in float",
                     "main_entry_name has no effect with train",
                     "train takes one value of 'N'",
                     "io_in_activations: a bundle that learns",
                     "memory_regions: the programs of a bundle that learns"):
            self.assertIn(part, text)
        self.assertGreater(len(found), 20)

    def test_programs(self):
        """What a program that runs here can't have; model-runner has no options that
        are of bundles alone."""
        inputs = ["-random-inputs=1"]
        for name, option in self.options.items():
            is_of_bundles = "load" not in option.uses
            settings = self.complete([(name, self.bad_values(name))])
            if is_of_bundles:
                good = self.good_values(name)[0].format(**self.files)
                settings = [(name, good), ("define_symbol", "N,2")]
            with self.subTest(name):
                refused = [self.c.compile(self.model, settings),
                           interfaces.load_by_python(self.model, settings)]
                if is_of_bundles:
                    self.assertIn(f"{name} has no effect on a program", refused[0])
                else:
                    refused.append(interfaces.run_by_tool(self.model, inputs, settings))
                self.assertEqual(len(set(refused)), 1, refused)
                self.assertEqual(refused[0] is None, name in WITHOUT_BAD, settings)
        several = [("define_symbol", "N,1,2")]
        self.assertEqual(self.c.compile(self.model, several),
                         interfaces.load_by_python(self.model, several))


if __name__ == "__main__":
    unittest.main()
