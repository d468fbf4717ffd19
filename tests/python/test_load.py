"""Models that are compiled in this process."""
import os
import re
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import glowish
import models

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "common"))
import torchscript_archive  # noqa: E402


class Calls(unittest.TestCase):
    def test_one_output_is_an_array(self):
        made, w, b = models.dense(batch=2)
        model = glowish.load(made)
        x = np.arange(8, dtype=np.float32).reshape(2, 4)
        for y in (model(x), model(x=x), model.run({"x": x})["y"]):
            self.assertIs(type(y), np.ndarray)
            assert_allclose(y, x @ w + b, rtol=1e-5)
        self.assertEqual(model.num_compiled, 1)

    def test_several_outputs_are_a_tuple(self):
        model = glowish.load(models.two_outputs())
        a = np.full((2, 3), 2, np.float32)
        b = np.full((2, 3), 5, np.float32)
        s, p = model(a, b=b)
        assert_array_equal(s, a + b)
        assert_array_equal(p, a * b)
        self.assertEqual(list(model.run({"b": b, "a": a})), ["s", "p"])

    def test_outputs_are_new_arrays(self):
        model = glowish.load(models.unary("Neg", (3,)))
        first = model(np.array([1, 2, 3], np.float32))
        second = model(np.array([4, 5, 6], np.float32))
        assert_array_equal(first, [-1, -2, -3])
        assert_array_equal(second, [-4, -5, -6])

    def test_out(self):
        model = glowish.load(models.two_outputs((2,)))
        a, b = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
        mine = np.zeros(2, np.float32)
        result = model.run({"a": a, "b": b}, out={"p": mine})
        self.assertIs(result["p"], mine)
        assert_array_equal(mine, [3, 8])
        assert_array_equal(result["s"], [4, 6])
        for wrong in (np.zeros(2), np.zeros(3, np.float32),
                      np.zeros(4, np.float32)[::2]):
            with self.assertRaisesRegex(TypeError, "'p' is not float32"):
                model.run({"a": a, "b": b}, out={"p": wrong})
        fixed = np.zeros(2, np.float32)
        fixed.flags.writeable = False
        with self.assertRaisesRegex(TypeError, "writeable"):
            model.run({"a": a, "b": b}, out={"p": fixed})
        with self.assertRaisesRegex(TypeError, "no output 'q'"):
            model.run({"a": a, "b": b}, out={"q": mine})
        with self.assertRaisesRegex(ValueError, "overlaps"):
            model.run({"a": a, "b": b}, out={"p": a})
        with self.assertRaisesRegex(ValueError, "overlaps"):
            model.run({"a": a, "b": b}, out={"p": mine, "s": mine})

    def test_shapes_of_calls(self):
        made, w, b = models.dense()
        model = glowish.load(made)
        self.assertEqual(model.num_compiled, 0)
        self.assertEqual(model.inputs[0].shape, ("N", 4))
        for count in (1, 3, 1, 3, 7):
            x = np.random.default_rng(count).random((count, 4), np.float32)
            assert_allclose(model(x), x @ w + b, rtol=1e-4, atol=1e-5)
            self.assertEqual(model.inputs[0].shape, (count, 4))
            self.assertEqual(model.outputs[0].shape, (count, 3))
        self.assertEqual(model.num_compiled, 3)

    def test_range_is_one_program(self):
        made, w, b = models.dense()
        model = glowish.load(made, symbols={"N": range(1, 9)})
        self.assertEqual(model.num_compiled, 1)
        self.assertEqual(model.inputs[0].shape, ("N", 4))
        for count in (8, 1, 3, 8):
            x = np.random.default_rng(count).random((count, 4), np.float32)
            y = model(x)
            self.assertEqual(y.shape, (count, 3))
            assert_allclose(y, x @ w + b, rtol=1e-4, atol=1e-5)
        self.assertEqual(model.num_compiled, 1)
        with self.assertRaisesRegex(ValueError, "^input 'x' is float<9x4>: dimension 0 is "
                                                "N, which is 1 to 8$"):
            model(np.zeros((9, 4), np.float32))

    def test_wrong_extents(self):
        model = glowish.load(models.sums(), symbols={"N": range(1, 6)})

        def run(*extents):
            return model(*(np.ones(extent, np.float32) for extent in extents))

        def refuse(extents, kind, line):
            with self.assertRaisesRegex(glowish.Error, "^" + re.escape(line) + "$") as caught:
                run(*extents)
            self.assertIsInstance(caught.exception, kind)

        self.assertEqual(run(3, 3, 7).shape, (10,))
        refuse((6, 6, 11), ValueError, "input 'a' is float<6>: dimension 0 is N, which is 1 to 5")
        refuse((0, 0, 3), ValueError, "input 'a' is float<0>: dimension 0 is N, which is 1 to 5")
        refuse((5, 5, 12), ValueError,
               "input 'c' is float<12>: dimension 0 is 2*N + 1, which is 3 to 11")
        refuse((2, 4, 9), glowish.Error,
               "input 'a' is float<2>: dimension 0 is N, and N is 4 in input 'b'")
        refuse((4, 4, 7), glowish.Error,
               "input 'c' is float<7>: dimension 0 is 2*N + 1, and N is 4 in input 'a'")
        self.assertEqual(run(4, 4, 9).shape, (13,))
        with self.assertRaisesRegex(glowish.Error, "the dimension 'N - 4' may be -3"):
            glowish.load(models.model([("Concat", ["a", "b"], ["y"], {"axis": 0})],
                                      [models.value("a", ["N"]), models.value("b", ["N - 4"])],
                                      [models.value("y", [None])]),
                         symbols={"N": range(1, 17)})

    def test_output_of_unknown_size(self):
        made = models.model([("NonZero", ["x"], ["y"])], [models.value("x", (6,))],
                            [models.value("y", (1, None), "int64")])
        model = glowish.load(made)
        assert_array_equal(model(np.array([0, 1, 0, 2, 3, 0], np.float32)),
                           [[1, 3, 4]])
        self.assertEqual(model(np.zeros(6, np.float32)).shape, (1, 0))

    def test_states(self):
        model = glowish.load(models.counter(), state=["past,next"])
        self.assertEqual([value.name for value in model.outputs], ["y"])
        self.assertEqual([value.is_state for value in model.inputs], [False, True])
        x = np.array([1, 2], np.float32)
        assert_array_equal(model(x), [1, 4])
        assert_array_equal(model(x), [2, 8])
        assert_array_equal(model.get_state("past"), [2, 4])
        model.set_state("past", np.array([10, 0], np.float32))
        assert_array_equal(model(x), [11, 4])
        assert_array_equal(model(x, past=np.zeros(2, np.float32)), [1, 4])
        with self.assertRaisesRegex(ValueError, "there are 'past'"):
            model.get_state("x")

    def test_scalars_and_empty_arrays(self):
        model = glowish.load(models.unary("Neg", ()))
        result = model(np.float32(2))
        self.assertEqual(result.shape, ())
        self.assertEqual(result, -2)
        self.assertEqual(model(3), -3)
        empty = glowish.load(models.unary("Neg", (0, 3)))
        self.assertEqual(empty(np.zeros((0, 3), np.float32)).shape, (0, 3))

    def test_constants(self):
        made, w, b = models.dense(batch=1)
        model = glowish.load(made, constants={"x": np.ones((1, 4), np.float32)})
        self.assertEqual(model.inputs, ())
        assert_allclose(model(), np.ones((1, 4)) @ w + b, rtol=1e-5)

    def test_strings(self):
        code = ("class Net(Module):\n  training : bool\n"
                "  def forward(self: __torch__.Net, x: Tensor, mode: str) -> Tensor:\n"
                "    return torch.add(x, torch.len(mode))\n")
        x = np.ones((2,), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.pt")
            torchscript_archive.write_archive(path, code, {})
            try:
                model = glowish.load(path, shapes={"x": ("float32", [2])},
                                     constants={"mode": "four"})
            except glowish.Error as error:
                if "libglowish-torch" not in str(error):
                    raise
                self.skipTest("there is no reader of TorchScript")
            assert_array_equal(model(x), x + 4)
        with self.assertRaisesRegex(glowish.Error, "'x' is the string 'one'"):
            glowish.load(models.dense(batch=1)[0], constants={"x": "one"})


class Arrays(unittest.TestCase):
    def test_kinds(self):
        for kind in ("float32", "float64", "float16", "int8", "int32", "int64"):
            model = glowish.load(models.unary("Neg", (4,), kind))
            x = np.array([1, -2, 3, 0], kind)
            y = model(x)
            self.assertEqual(y.dtype, x.dtype)
            assert_array_equal(y, -x)
            self.assertEqual(model.inputs[0].dtype, x.dtype)
        model = glowish.load(models.unary("Not", (2,), "bool"))
        assert_array_equal(model(np.array([True, False])), [False, True])

    def test_bfloat16_is_its_bits(self):
        made = models.unary("Neg", (2,), "bfloat16")
        model = glowish.load(made)
        self.assertEqual(model.inputs[0].kind, "bfloat16")
        assert_array_equal(model(np.array([0x3f80, 0xc000], np.uint16)),
                           np.array([0xbf80, 0x4000], np.uint16))
        with self.assertRaisesRegex(TypeError, "bits of bfloat16"):
            model(np.zeros(2, np.float32))

    def test_layouts(self):
        model = glowish.load(models.unary("Neg", (3, 4)))
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        wide = np.zeros((3, 9), np.float32)
        wide[:, 1::2] = x
        misaligned = np.zeros(49, np.uint8)[1:].view(np.float32).reshape(3, 4)
        misaligned[...] = x
        for array in (np.asfortranarray(x), wide[:, 1::2], x.astype(">f4"),
                      x[::-1][::-1], misaligned, x.tolist(), memoryview(x)):
            assert_array_equal(model(array), -x)
        fixed = x.copy()
        fixed.flags.writeable = False
        assert_array_equal(model(fixed), -x)

    def test_inputs_are_not_written(self):
        made = models.model([("Relu", ["x"], ["y"])], [models.value("x", (1000,))],
                            [models.value("y", (1000,))])
        for options in ({}, {"io_in_activations": True}):
            x = np.linspace(-1, 1, 1000, dtype=np.float32)
            kept = x.copy()
            model = glowish.load(made, **options)
            for _ in range(2):
                assert_array_equal(model(x), np.maximum(kept, 0))
            assert_array_equal(x, kept)


class Errors(unittest.TestCase):
    def check(self, kinds, line, model, *args, **kwargs):
        with self.assertRaisesRegex(glowish.Error, line) as caught:
            model(*args, **kwargs)
        for kind in (RuntimeError, *kinds):
            self.assertIsInstance(caught.exception, kind)
        self.assertNotIn("\n", str(caught.exception))

    def test_arguments(self):
        model = glowish.load(models.two_outputs())
        x = np.zeros((2, 3), np.float32)
        self.check([TypeError], "^input 'b' is float64; accepted: float32$",
                   model, x, np.zeros((2, 3)))
        self.check([TypeError], "accepted: float32", model, x, np.array("text"))
        self.check([TypeError], "^the input 'b' is not given$", model, x)
        self.check([TypeError], "'a' is given twice", model, x, x, a=x)
        self.check([TypeError], "no input 'c'; it has 'a', 'b'", model, x, c=x)
        self.check([TypeError], "has 2 inputs, and 3 are given", model, x, x, x)
        self.check([ValueError], r"^input 'a' has the shape \(2, 4\); accepted: "
                   r"\(2, 3\)$", model, np.zeros((2, 4), np.float32), x)
        self.check([ValueError], r"\(6,\)", model, np.zeros(6, np.float32), x)
        # It still runs.
        assert_array_equal(model(x, x)[0], x)

    def test_symbols(self):
        made, _, _ = models.dense()
        model = glowish.load(made)
        self.check([ValueError], r"accepted: \(N, 4\)", model,
                   np.zeros((2, 5), np.float32))
        self.check([TypeError], "accepted: float32", model,
                   np.zeros((2, 4), np.int64))
        with self.assertRaisesRegex(glowish.ArgumentError, "several values"):
            glowish.load(made, symbols={"N": [1, 2]})

    def test_models(self):
        with self.assertRaisesRegex(ValueError, "there is no such file"):
            glowish.load("none.onnx")
        with self.assertRaises(glowish.Error):
            glowish.load(b"no model")
        with self.assertRaisesRegex(glowish.Error, "is a GGUF file, weights"):
            glowish.load(b"GGUF\3\0\0\0")
        with self.assertRaisesRegex(TypeError, "of type int; accepted: a path"):
            glowish.load(3)
        made = models.model([("Sin", ["x"], ["y"])], [models.value("x", (2,))],
                            [models.value("y", (2,))])
        made.graph.node[0].op_type = "Unheard"
        with self.assertRaisesRegex(glowish.Error, "Unheard"):
            glowish.load(made)

    def test_warnings(self):
        made = models.unary("Neg", (2,))
        made.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 3
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            glowish.load(made)
        self.assertEqual(len(caught), 1, caught)
        self.assertIn("'y'", str(caught[0].message))
        with self.assertRaises(glowish.Error):
            glowish.load(made, strict=True)


class Sources(unittest.TestCase):
    def test_forms(self):
        made, w, b = models.dense(batch=1)
        x = np.ones((1, 4), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.onnx")
            with open(path, "wb") as file:
                file.write(made.SerializeToString())
            for source in (path, made, made.SerializeToString(),
                           bytearray(made.SerializeToString())):
                # Bytes are not written anywhere.
                with unittest.mock.patch.object(tempfile, "tempdir", "/none"), \
                        unittest.mock.patch.dict(os.environ, TMPDIR="/none"):
                    model = glowish.load(source)
                    assert_allclose(model(x), x @ w + b, rtol=1e-5)

    def test_cache(self):
        made, w, b = models.dense(batch=1)
        x = np.ones((1, 4), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            for compiled in (1, 0):
                model = glowish.load(made, cache=folder)
                self.assertEqual(model.num_compiled, compiled)
                assert_allclose(model(x), x @ w + b, rtol=1e-5)

    def test_interpreter(self):
        made, w, b = models.dense()
        x = np.ones((2, 4), np.float32)
        model = glowish.load(made, backend="Interpreter")
        assert_allclose(model(x), x @ w + b, rtol=1e-5)

    def test_exported(self):
        network = models.exported("bert_tiny")
        if network is None:
            self.skipTest("there are no exported networks in " + models.EXPORTED)
        path, inputs, outputs = network
        for actual, expected in zip(glowish.load(path, threads=2)(*inputs), outputs):
            assert_allclose(actual, expected, rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
