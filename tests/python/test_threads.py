"""Several threads, and the lock of the interpreter."""
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.testing import assert_allclose

import glowish
import models


def slow():
    """A network that runs for some milliseconds."""
    size = 1024
    w = np.random.default_rng(1).standard_normal((size, size)).astype(np.float32)
    nodes = [("MatMul", ["x" if i == 0 else f"t{i}", "w"],
              ["y" if i == 7 else f"t{i + 1}"]) for i in range(8)]
    return models.model(nodes, [models.value("x", (64, size))],
                        [models.value("y", (64, size))],
                        [models.constant("w", w / 32)])


class Threads(unittest.TestCase):
    def test_one_model(self):
        """Each thread gets the outputs of its own inputs, whatever their shapes."""
        made, w, b = models.dense()
        model = glowish.load(made)

        def run(seed):
            random = np.random.default_rng(seed)
            for _ in range(200):
                count = int(random.integers(1, 5))
                x = random.standard_normal((count, 4)).astype(np.float32)
                assert_allclose(model(x), x @ w + b, rtol=1e-3, atol=1e-4)
            return True

        with ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(run, range(8))))
        self.assertEqual(model.num_compiled, 4)

    def test_one_bundle(self):
        made, w, b = models.dense(batch=2)
        with tempfile.TemporaryDirectory() as folder:
            bundle = glowish.compile(made, folder).load()

        def run(seed):
            random = np.random.default_rng(seed)
            for _ in range(100):
                x = random.standard_normal((2, 4)).astype(np.float32)
                assert_allclose(bundle(x), x @ w + b, rtol=1e-3, atol=1e-4)
            return True

        with ThreadPoolExecutor(4) as pool:
            self.assertTrue(all(pool.map(run, range(4))))

    def test_compilations_at_once(self):
        def run(seed):
            made, w, b = models.dense(batch=1, seed=seed)
            x = np.ones((1, 4), np.float32)
            for winograd in ("off", "4"):
                assert_allclose(glowish.load(made, winograd=winograd)(x), x @ w + b,
                                rtol=1e-4)
            return True

        with ThreadPoolExecutor(4) as pool:
            self.assertTrue(all(pool.map(run, range(8))))

    def check_released(self, work):
        """Python runs in another thread while work() does: the longest time that it
        did not is less than half of what the work takes."""
        gaps, done = [0.0], threading.Event()

        def count():
            last = time.perf_counter()
            while not done.is_set():
                now = time.perf_counter()
                gaps[0] = max(gaps[0], now - last)
                last = now

        other = threading.Thread(target=count)
        other.start()
        start = time.perf_counter()
        work()
        taken = time.perf_counter() - start
        done.set()
        other.join()
        self.assertLess(gaps[0], taken / 2)

    def test_lock_is_released(self):
        made = slow()
        self.check_released(lambda: [glowish.load(made) for _ in range(3)])
        model = glowish.load(made)
        x = np.ones((64, 1024), np.float32)
        self.check_released(lambda: [model(x) for _ in range(30)])


if __name__ == "__main__":
    unittest.main()
