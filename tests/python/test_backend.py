"""glowish as a back end of ONNX."""
import os
import subprocess
import sys
import unittest

import numpy as np
import onnx
from numpy.testing import assert_allclose, assert_array_equal
from onnx import TensorProto, helper

import glowish
import glowish.backend as backend
import models


class Backend(unittest.TestCase):
    def test_prepare(self):
        made, w, b = models.dense()
        prepared = backend.prepare(made)
        for count in (1, 5, 1):
            x = np.random.default_rng(count).random((count, 4), np.float32)
            for inputs in ([x], (x,), x, {"x": x}):
                outputs = prepared.run(inputs)
                self.assertIsInstance(outputs, tuple)
                self.assertIs(outputs[0], outputs["y"])
                assert_allclose(outputs.y, x @ w + b, rtol=1e-4, atol=1e-5)

    def test_inputs_that_decide_shapes(self):
        made = models.model([("Reshape", ["x", "s"], ["y"])],
                            [models.value("x", (2, 3)),
                             models.value("s", ("R",), "int64")],
                            [models.value("y", ("A", "B"))])
        prepared = backend.prepare(made)
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for shape in ([3, 2], [6, 1], [1, 6], [3, 2]):
            assert_array_equal(prepared.run([x, np.array(shape)])[0],
                               x.reshape(shape))

    def test_sequences_are_lists(self):
        made = models.model(
            [("SplitToSequence", ["x"], ["s"], {"axis": 0, "keepdims": 1})],
            [models.value("x", (3, 2))],
            [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)])
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        (sequence,) = backend.run_model(made, [x])
        self.assertIsInstance(sequence, list)
        assert_array_equal(np.concatenate(sequence), x)

    def test_bfloat16_is_float(self):
        made = models.unary("Neg", (4,), "bfloat16")
        x = np.array([1, -2.5, np.nan, 1 + 2 ** -8], np.float32)
        (y,) = backend.run_model(made, [x])
        assert_array_equal(y, np.array([-1, 2.5, np.nan, -1], np.float32))
        (y,) = backend.run_model(made, [np.array([0x3f80] * 4, np.uint16)])
        assert_array_equal(y, np.full(4, -1, np.float32))

    def test_run_node(self):
        x = np.array([[1, -2], [3, -4]], np.float32)
        assert_array_equal(backend.run_node(
            helper.make_node("Relu", ["x"], ["y"]), [x])[0], np.maximum(x, 0))
        assert_array_equal(backend.run_node(
            helper.make_node("Add", ["a", "b"], ["c"]), {"a": x, "b": x},
            opset_version=13)[0], 2 * x)
        values, indices = backend.run_node(
            helper.make_node("TopK", ["x", "k"], ["v", "i"]),
            [x, np.array([1], np.int64)],
            outputs_info=[(np.float32, (2, 1)), (np.int64, (2, 1))])
        assert_array_equal(values, [[1], [3]])
        assert_array_equal(indices, [[0], [0]])
        with self.assertRaises(onnx.checker.ValidationError):
            backend.run_node(helper.make_node("Relu", ["x", "x"], ["y"]), [x])

    def test_devices(self):
        self.assertTrue(backend.supports_device("CPU"))
        for device in ("CUDA", "CPU:1", "GPU", ""):
            self.assertFalse(backend.supports_device(device), device)
        made, _, _ = models.dense()
        with self.assertRaisesRegex(ValueError, "device='CUDA': accepted: 'CPU'"):
            backend.prepare(made, "CUDA")

    def test_compatibility(self):
        made, _, _ = models.dense()
        self.assertTrue(backend.is_compatible(made))
        self.assertFalse(backend.is_compatible(made, "CUDA"))
        made.graph.node[0].domain = "ai.onnx.ml"
        self.assertFalse(backend.is_compatible(made))
        text = helper.make_model(helper.make_graph(
            [helper.make_node("Identity", ["x"], ["y"])], "text",
            [helper.make_tensor_value_info("x", TensorProto.STRING, [1])],
            [helper.make_tensor_value_info("y", TensorProto.STRING, [1])]))
        self.assertFalse(backend.is_compatible(text))

    def test_options_and_errors(self):
        made, w, b = models.dense()
        x = np.ones((1, 4), np.float32)
        prepared = backend.prepare(made, backend="Interpreter")
        assert_allclose(prepared.run([x])[0], x @ w + b, rtol=1e-5)
        for kind, line, inputs in (
                (TypeError, "has 1 inputs, and 2 are given", [x, x]),
                (ValueError, r"accepted: \(N, 4\)", [x[:, :3]]),
                (TypeError, "is a sequence", [[x, x]])):
            with self.assertRaisesRegex(kind, line) as caught:
                prepared.run(inputs)
            self.assertIsInstance(caught.exception, glowish.Error)
        with self.assertRaisesRegex(TypeError, "no option 'fast'"):
            backend.run_model(made, [x], fast=True)


class OnnxTests(unittest.TestCase):
    def test_share(self):
        """Each 12th of ONNX's own tests; onnx_backend.py runs all of them."""
        done = subprocess.run(
            [sys.executable, os.path.join(os.path.dirname(__file__),
                                          "onnx_backend.py"), "--share", "12"],
            capture_output=True, text=True)
        if done.returncode == 77:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "of the [0-9]{2} tests that conformance-debian")


if __name__ == "__main__":
    unittest.main()
