"""Bundles that Python writes."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

import glowish
import models


class Compile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_same_bytes_as_the_tool(self):
        made, _, _ = models.dense(batch=1)
        path = self.folder / "net.onnx"
        path.write_bytes(made.SerializeToString())
        glowish.compile(path, self.folder / "python", threads=2, weights="embed",
                        cpu="x86-64-v3", winograd="off")
        program = os.path.join(os.environ["GLOWISH_BIN"], "model-compiler")
        subprocess.run([program, f"-model={path}", "-threads=2", "-weights=embed",
                        "-mcpu=x86-64-v3", "-winograd=off",
                        f"-emit-bundle={self.folder}/tool"], check=True)
        names = sorted(os.listdir(self.folder / "tool"))
        self.assertIn("net.o", names)
        self.assertEqual(sorted(os.listdir(self.folder / "python")), names)
        for name in names:
            self.assertEqual((self.folder / "python" / name).read_bytes(),
                             (self.folder / "tool" / name).read_bytes(), name)

    def test_result(self):
        made, _, _ = models.dense()
        for api in ("static", "dynamic"):
            made_bundle = glowish.compile(made, self.folder / api, symbols={"N": 8},
                                          network_name="net", bundle_api=api)
            self.assertEqual(made_bundle.name, "net")
            self.assertEqual([path.name for path in made_bundle.files],
                             ["net.h", "net.o", "net.weights.bin"]
                             + ["net.weights.txt"] * (api == "static"))
            self.assertEqual(made_bundle.object, self.folder / api / "net.o")
            self.assertIsNone(made_bundle.report)
            (x,), (y,) = made_bundle.inputs, made_bundle.outputs
            self.assertEqual((x.name, x.dtype, x.shape), ("x", np.float32, (8, 4)))
            self.assertEqual((y.name, y.dtype, y.shape), ("y", np.float32, (8, 3)))

    def test_other_targets(self):
        made, _, _ = models.dense(batch=1)
        arm = glowish.compile(made, self.folder, target="aarch64-linux-gnu",
                              network_name="arm", weights="embed")
        self.assertEqual(arm.object.read_bytes()[18:20], b"\xb7\x00")
        self.assertIsNone(arm.weights)
        self.assertEqual(arm.inputs[0].shape, (1, 4))

    def test_several_values(self):
        made, _, _ = models.dense()
        several = glowish.compile(made, self.folder, symbols={"N": [1, 8]},
                                  network_name="net")
        self.assertEqual((several.inputs, several.outputs), ((), ()))
        with self.assertRaisesRegex(ValueError, "several values of a dimension"):
            several.load()

    def test_several_functions(self):
        path = Path(self.folder) / "two.graph"
        path.write_text(
            'module "two"\n'
            'placeholder %x : float<2> input "x"\n'
            'placeholder %a : float<2> output "a"\n'
            'placeholder %b : float<2> output "b"\n'
            'function "first" {\n  %r = Relu(%x) : float<2>\n  Save(%r, %a)\n}\n'
            'function "second" {\n  %t = Tanh(%x) : float<2>\n  Save(%t, %b)\n}\n')
        several = glowish.compile(path, self.folder, function="first,second",
                                  network_name="net")
        self.assertIn("int net_second(", several.header.read_text())
        self.assertEqual((several.inputs, several.outputs), ((), ()))
        with self.assertRaisesRegex(ValueError, "the bundle has several functions"):
            several.load()
        with self.assertRaisesRegex(glowish.Error, "there is no such function"):
            glowish.load(path, function="first,second")

    def test_training(self):
        made, _, _ = models.dense()
        learns = glowish.compile(made, self.folder, symbols={"N": 2}, train=True,
                                 loss="mean-squared-error", label_type="float,[2,3]",
                                 network_name="net")
        self.assertIn("net_train_step", learns.header.read_text())
        with self.assertRaisesRegex(ValueError, "the bundle learns"):
            learns.load()
        with self.assertRaisesRegex(ValueError, "^loss has no effect without train,"):
            glowish.compile(made, self.folder, symbols={"N": 2}, loss="l1")
        for refused, message in (
                ({"quantize": "float16"}, "computes in float"),
                ({"quantize_dynamic": True}, "computes in float"),
                ({"quantize_weights": "int8"}, "computes in float"),
                ({"convert_to_fp16": True}, "computes in float"),
                ({"main_entry_name": "go"}, "^main_entry_name has no effect with train"),
                ({"io_in_activations": True}, "^io_in_activations: "),
                ({"backend": "Interpreter"}, "cannot write a bundle")):
            with self.assertRaisesRegex(ValueError, message):
                glowish.compile(made, self.folder / "none", symbols={"N": 2},
                                train=True, **refused)
            self.assertFalse((self.folder / "none").exists())

    def test_nothing_is_left_of_a_failure(self):
        made, _, _ = models.dense()
        with self.assertRaisesRegex(glowish.Error, "'N'"):
            glowish.compile(made, self.folder / "out")
        with self.assertRaisesRegex(glowish.Error, "nowhere"):
            glowish.compile(made, self.folder / "out", symbols={"N": 1},
                            target="nowhere-none")
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
