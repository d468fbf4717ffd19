"""Models that learn from arrays."""
import os
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

import glowish
import models


def two_moons(count, seed=0):
    """Points on two half circles."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count)
    angle = random.random(count) * np.pi
    x = np.where(labels, 1 - np.cos(angle), np.cos(angle))
    y = np.where(labels, 0.5 - np.sin(angle), np.sin(angle))
    points = np.stack([x, y], 1) + random.normal(0, 0.08, (count, 2))
    return points.astype(np.float32), labels


def classifier(hidden=16):
    random = np.random.default_rng(3)

    def weights(*shape):
        return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
    return models.model(
        [("MatMul", ["x", "w1"], ["a"]), ("Add", ["a", "b1"], ["b"]),
         ("Relu", ["b"], ["c"]), ("MatMul", ["c", "w2"], ["d"]),
         ("Add", ["d", "b2"], ["y"])],
        [models.value("x", ["N", 2])], [models.value("y", ["N", 2])],
        [models.constant("w1", weights(2, hidden)),
         models.constant("b1", np.zeros(hidden, np.float32)),
         models.constant("w2", weights(hidden, 2)),
         models.constant("b2", np.zeros(2, np.float32))])


class Train(unittest.TestCase):
    def test_one_step_is_that_of_numpy(self):
        """Mean squared error of y = x w + b, by hand."""
        made, w, b = models.dense()
        random = np.random.default_rng(2)
        x = random.standard_normal((8, 4)).astype(np.float32)
        t = random.standard_normal((8, 3)).astype(np.float32)
        training = glowish.train(made, x, t, loss="mean-squared-error", batch_size=8,
                                 learning_rate=0.1, shuffle=False)
        y = x @ w + b
        gradient = 2 * (y - t) / y.size
        after = training.variables()
        np.testing.assert_allclose(after["w"], w - 0.1 * x.T @ gradient, rtol=1e-4,
                                   atol=1e-6)
        np.testing.assert_allclose(after["b"], b - 0.1 * gradient.sum(0), rtol=1e-4,
                                   atol=1e-6)
        self.assertAlmostEqual(training.history[0]["loss"], ((y - t) ** 2).mean(), 5)
        self.assertNotIn("accuracy", training.history[0])

    def test_classes(self):
        x, labels = two_moons(600)
        seen = []
        training = glowish.train(classifier(), x, labels, epochs=60, batch_size=32,
                                 learning_rate=0.02, solver="adam", validation=0.2,
                                 progress=seen.append)
        self.assertEqual(seen, training.history)
        self.assertEqual([entry["epoch"] for entry in seen], list(range(1, 61)))
        self.assertLess(seen[-1]["loss"], seen[0]["loss"] / 2)
        self.assertGreater(seen[-1]["accuracy"], 0.95)
        self.assertGreater(seen[-1]["validation_accuracy"], 0.93)
        other, own = two_moons(301, seed=1)
        result = training.evaluate(other, own)
        self.assertGreater(result["accuracy"], 0.93)
        # What is saved answers alike.
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trained.onnx")
            training.save(path)
            saved = {tensor.name: numpy_helper.to_array(tensor)
                     for tensor in onnx.load(path).graph.initializer}
            np.testing.assert_array_equal(saved["w1"], training.variables()["w1"])
            answers = glowish.load(path)(other).argmax(1)
        self.assertEqual((answers == own).mean(), result["accuracy"])

    def test_same_seed_same_bits(self):
        x, labels = two_moons(100)
        first, second, other = (
            glowish.train(classifier(), {"x": x}, labels, epochs=2, seed=seed,
                          initialize="xavier") for seed in (1, 1, 2))
        self.assertEqual([e["loss"] for e in first.history],
                         [e["loss"] for e in second.history])
        self.assertNotEqual(first.history[0]["loss"], other.history[0]["loss"])

    def test_one_epoch_more(self):
        x, labels = two_moons(100)
        twice = glowish.train(classifier(), x, labels, epochs=2)
        once = glowish.train(classifier(), x, labels)
        self.assertEqual(once.run_epoch()["loss"], twice.history[1]["loss"])

    def test_errors(self):
        x, labels = two_moons(100)
        made = classifier()

        def check(kind, line, *args, **options):
            with self.assertRaisesRegex(kind, line) as caught:
                glowish.train(made, *args, **options)
            self.assertIsInstance(caught.exception, glowish.Error)

        check(ValueError, "a label is 5; accepted: 0 ... 1", x,
              np.where(labels, 5, 0))
        check(ValueError, "fewer than a batch of 200", x, labels, batch_size=200)
        check(ValueError, "as many samples as there are labels", x, labels[1:])
        check(TypeError, "no input 'z'; it has 'x'", {"z": x}, labels)
        check(TypeError, "no option 'rate'", x, labels, rate=1)
        check(TypeError, "weights has no effect on training", x, labels,
              weights="embed")
        check(glowish.Error, "loss", x, labels, loss="none")
        check(ValueError, "initialize='zeros': accepted: keep", x, labels,
              initialize="zeros")
        check(glowish.Error, "the loss of step .* is (nan|inf)", x, labels,
              learning_rate=1e30, epochs=3)


if __name__ == "__main__":
    unittest.main()
