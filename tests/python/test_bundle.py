"""Bundles that are loaded into this process."""
import os
import re
import shutil
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import glowish
import models


class Bundles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_same_as_load(self):
        made, w, b = models.dense(batch=2)
        x = np.arange(8, dtype=np.float32).reshape(2, 4)
        expected = glowish.load(made)(x)
        assert_allclose(expected, x @ w + b, rtol=1e-5)
        count = 0
        for api in ("static", "dynamic"):
            for weights in ("file", "embed"):
                for threads in (1, 2):
                    count += 1
                    written = glowish.compile(
                        made, self.folder / str(count), network_name="net",
                        bundle_api=api, weights=weights, threads=threads)
                    bundle = glowish.bundle(written.object)
                    for y in (bundle(x), bundle(x=x), bundle.run({"x": x})["y"],
                              bundle(x.tolist()), bundle(np.asfortranarray(x))):
                        assert_array_equal(y, expected)
                    self.assertEqual(bundle.inputs, written.inputs)
                    self.assertEqual(bundle.outputs, written.outputs)

    def test_several_outputs(self):
        written = glowish.compile(models.two_outputs(), self.folder)
        a, b = np.full((2, 3), 2, np.float32), np.full((2, 3), 5, np.float32)
        s, p = written.load()(a, b=b)
        assert_array_equal(s, a + b)
        assert_array_equal(p, a * b)

    def test_states(self):
        for api in ("static", "dynamic"):
            bundle = glowish.compile(models.counter(), self.folder / api,
                                     state=["past,next"], bundle_api=api).load()
            x = np.array([1, 2], np.float32)
            assert_array_equal(bundle(x), [1, 4])
            assert_array_equal(bundle(x), [2, 8])
            assert_array_equal(bundle.get_state("past"), [2, 4])
            bundle.set_state("past", [0, 0])
            assert_array_equal(bundle(x), [1, 4])

    def test_range(self):
        made, w, b = models.dense()
        bundle = glowish.compile(made, self.folder, symbols={"N": range(1, 9)}).load()
        self.assertEqual(bundle.inputs[0].shape, ("N", 4))
        for count in (8, 1, 3):
            x = np.random.default_rng(count).random((count, 4), np.float32)
            assert_allclose(bundle(x), x @ w + b, rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(ValueError, r"accepted: \('N', 4\), at most \(8, 4\)"):
            bundle(np.zeros((9, 4), np.float32))

    def test_wrong_extents(self):
        bundle = glowish.compile(models.sums(), self.folder, symbols={"N": range(1, 6)}).load()

        def run(*extents, **more):
            return bundle(*(np.ones(extent, np.float32) for extent in extents), **more)

        def refuse(extents, line, **more):
            with self.assertRaisesRegex(glowish.ArgumentError, re.escape(line) + "$"):
                run(*extents, **more)

        self.assertEqual(run(3, 3, 7).shape, (10,))
        refuse((6, 6, 11), "input 'a' has the shape (6,); accepted: ('N',), at most (5,)")
        refuse((0, 0, 1), "input 'a' has the shape (0,): dimension 0 is N, which is 1 to 5")
        refuse((2, 4, 9), "input 'b' has the shape (4,): dimension 0 is N, and N is 2 in input 'a'")
        refuse((4, 4, 7), "input 'c' has the shape (7,): dimension 0 is 2*N + 1, and N is 4 in "
                          "input 'a'")
        refuse((4, 4, 9), "input 'a' has the shape (4,): dimension 0 is N, and N is 3",
               N=np.int64(3))
        self.assertEqual(run(4, 4, 9).shape, (13,))
        self.assertEqual(run(4, 4, 9, N=np.int64(4)).shape, (13,))
        # The dynamic API tells no ranges: what the entry refuses.
        bundle = glowish.compile(models.sums(), self.folder / "dynamic", bundle_api="dynamic",
                                 symbols={"N": range(1, 6)}).load()
        whole = {"a": np.ones(5, np.float32), "b": np.ones(5, np.float32),
                 "c": np.ones(11, np.float32)}
        for wrong in (0, 6, -1):
            with self.assertRaisesRegex(glowish.Error, "returned 6: an extent is out of its"):
                bundle.run({"N": np.int64(wrong), **whole})
        self.assertEqual(bundle.run({"N": np.int64(2), **whole})["y"].shape, (7,))

    def test_quoted_symbols(self):
        made = models.model([("Add", ["a", "a"], ["s"]),
                             ("Concat", ["s", "b"], ["y"], {"axis": 0})],
                            [models.value("a", ["batch-size"]),
                             models.value("b", ["2*'batch-size'"])],
                            [models.value("y", [None])])
        written = glowish.compile(made, self.folder, symbols={"batch-size": range(1, 6)})
        self.assertIn("[2*'batch-size']", written.header.read_text())
        bundle = written.load()
        a, b = np.array([1, 2, 3], np.float32), np.arange(6, dtype=np.float32)
        assert_array_equal(bundle.run({"a": a, "b": b})["y"], np.concatenate([a + a, b]))
        with self.assertRaisesRegex(
                glowish.ArgumentError, r"input 'b' has the shape \(5,\): dimension 0 is "
                r"2\*'batch-size', and batch-size is 3 in input 'a'$"):
            bundle(a, b[:5])

    def test_output_of_unknown_size(self):
        made = models.model([("NonZero", ["x"], ["y"])], [models.value("x", (6,))],
                            [models.value("y", (1, None), "int64")])
        for api in ("static", "dynamic"):
            bundle = glowish.compile(made, self.folder / api, bundle_api=api).load()
            self.assertEqual([value.name for value in bundle.outputs], ["y"])
            assert_array_equal(bundle(np.array([0, 1, 0, 2, 3, 0], np.float32)),
                               [[1, 3, 4]])

    def test_classes(self):
        names = ("no", "ma\u00f1ana?", 'a "b"\\')
        made = models.classifier(names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = glowish.load(made)
            written = {api: glowish.compile(made, self.folder / api, bundle_api=api)
                       for api in ("static", "dynamic")}
        expected = {"label": names, "scores": ()}
        self.assertEqual({each.name: each.classes for each in model.outputs}, expected)
        x = np.eye(3, dtype=np.float32)[[2, 0]]
        for each in written.values():
            bundle = each.load()
            self.assertEqual({each.name: each.classes for each in bundle.outputs},
                             expected)
            assert_array_equal(bundle(x)[0], [2, 0])

    def test_arena(self):
        made, w, b = models.dense(batch=2)
        x = np.ones((2, 4), np.float32)
        bundle = glowish.compile(made, self.folder, io_in_activations=True).load()
        for _ in range(2):
            assert_allclose(bundle(x), x @ w + b, rtol=1e-5)

    def test_exported(self):
        network = models.exported("lstm_text")
        if network is None:
            self.skipTest("there are no exported networks in " + models.EXPORTED)
        path, inputs, outputs = network
        bundle = glowish.compile(path, self.folder).load()
        assert_allclose(bundle(*inputs), outputs[0], rtol=1e-3, atol=1e-5)

    def test_errors(self):
        made, _, _ = models.dense(batch=1)
        written = glowish.compile(made, self.folder, network_name="net")
        bundle = written.load()
        x = np.zeros((1, 4), np.float32)
        for kind, line, arguments in (
                (TypeError, "input 'x' is float64; accepted: float32",
                 [x.astype(float)]),
                (ValueError, r"shape \(4,\); accepted: \(1, 4\)", [x[0]]),
                (TypeError, "'x' is not given", []),
                (TypeError, "has 1 inputs, and 2 are given", [x, x])):
            with self.assertRaisesRegex(kind, line) as caught:
                bundle(*arguments)
            self.assertIsInstance(caught.exception, glowish.Error)
        with self.assertRaisesRegex(TypeError, "no input 'z'; it has 'x'"):
            bundle(z=x)
        with self.assertRaisesRegex(ValueError, "there is no such file"):
            glowish.bundle(self.folder / "other.o")
        data = bytearray(written.weights.read_bytes())
        data[3] ^= 1
        (self.folder / "wrong.bin").write_bytes(data)
        with self.assertRaisesRegex(ValueError, "not the weights of the bundle"):
            glowish.bundle(written.object, self.folder / "wrong.bin")
        written.header.rename(self.folder / "moved.h")
        with self.assertRaisesRegex(ValueError, "net.h': there is no such file"):
            glowish.bundle(written.object)

    def test_linkers(self):
        """Each linker alone, and none."""
        made, _, _ = models.dense(batch=1)
        written = glowish.compile(made, self.folder / "out")
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        tested = 0
        for name in ("cc", "clang-19", "ld.lld", "ld"):
            program = shutil.which(name)
            if not program:
                continue
            alone = self.folder / name
            alone.mkdir()
            # A compiler driver looks for the linker beside others.
            for each in {name, *(["ld", "as"] if name in ("cc", "clang-19") else [])}:
                (alone / each).symlink_to(shutil.which(each, path=path))
            os.environ["PATH"] = str(alone)
            self.assertEqual(written.load()(np.zeros((1, 4), np.float32)).shape, (1, 3))
            os.environ["PATH"] = path
            tested += 1
        self.assertGreater(tested, 0)
        os.environ["PATH"] = str(self.folder)
        with self.assertRaisesRegex(glowish.Error, "no linker.*accepted: cc, gcc"):
            written.load()

    def test_other_target(self):
        made, _, _ = models.dense(batch=1)
        written = glowish.compile(made, self.folder, target="aarch64-linux-gnu")
        with self.assertRaisesRegex(glowish.Error, "was not (linked|loaded)"):
            written.load()


if __name__ == "__main__":
    unittest.main()
