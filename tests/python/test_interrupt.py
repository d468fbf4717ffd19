"""Ctrl-C ends a compilation."""
import os
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import glowish
import models


def deep():
    """A network that takes seconds to compile."""
    random = np.random.default_rng(1)
    nodes, constants = [], []
    for i in range(150):
        weights = random.standard_normal((32, 32, 3, 3)).astype(np.float32)
        constants.append(models.constant(f"w{i}", weights))
        nodes += [("Conv", ["x" if i == 0 else f"t{i}", f"w{i}"], [f"c{i}"],
                   {"pads": [1 + i % 2] * 4}),
                  ("Tanh", [f"c{i}"], ["y" if i == 149 else f"t{i + 1}"])]
    return models.model(nodes, [models.value("x", (1, 32, 8, 8))],
                        [models.value("y", (1, 32, "H", "W"))], constants)


class Interrupt(unittest.TestCase):
    def interrupt(self, work, seconds):
        """How long after Ctrl-C the work ends, and whether it was still under way."""
        sent = []

        def send():
            time.sleep(seconds)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        other = threading.Thread(target=send)
        other.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                work()
                # The signal came too late.
                other.join()
                self.fail("the compilation took less time than the test waits")
        finally:
            end = time.perf_counter()
            other.join()
        return end - sent[0]

    def test_ctrl_c(self):
        made = deep()
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            for work in (lambda: glowish.load(made),
                         lambda: glowish.compile(made, out)):
                for seconds in (0.1, 0.6):
                    self.assertLess(self.interrupt(work, seconds), 2)
            self.assertFalse(os.path.exists(out) and os.listdir(out))

    def test_after_it(self):
        """A model whose compilation was interrupted compiles again."""
        made = deep()
        made.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "H"
        model = glowish.load(made)
        self.interrupt(lambda: model(np.zeros((1, 32, 8, 8), np.float32)), 0.2)
        self.assertEqual(model.num_compiled, 0)
        small, w, b = models.dense(batch=1)
        x = np.ones((1, 4), np.float32)
        np.testing.assert_allclose(glowish.load(small)(x), x @ w + b, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
