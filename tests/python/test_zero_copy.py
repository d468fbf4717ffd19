"""Arrays are read and written where they are."""
import shutil
import subprocess
import sys
import time
import unittest

import numpy as np

import glowish
import models

BYTES = 100 << 20


def large():
    """An input of 100 MB of which a program reads one row, and copies it."""
    rows = BYTES // 4 // 1024
    return models.model(
        [("Slice", ["x", "begin", "end"], ["y"])],
        [models.value("x", (rows, 1024))], [models.value("y", (1, 1024))],
        [models.constant("begin", np.array([5, 0])),
         models.constant("end", np.array([6, 1024]))]), rows


class ZeroCopy(unittest.TestCase):
    def test_input_is_read_where_it_is(self):
        """Memory: a run needs no second one of 100 MB. Time: less than a tenth of
        what a copy takes."""
        made, rows = large()
        model = glowish.load(made)
        x = np.ones((rows, 1024), np.float32)
        x[5] = np.arange(1024)
        model(x)
        runs, copies = [], []
        for _ in range(9):
            start = time.perf_counter()
            y = model(x)
            middle = time.perf_counter()
            copy = x.copy()
            copies.append(time.perf_counter() - middle)
            runs.append(middle - start)
            del copy
        np.testing.assert_array_equal(y[0], np.arange(1024))
        self.assertLess(min(runs) * 10, min(copies))

    def test_peak_memory(self):
        """In a process of its own: the array is the only thing of its size."""
        script = f"""
import numpy as np
import glowish
import test_zero_copy

def peak():
    with open("/proc/self/status") as file:
        return [int(line.split()[1]) for line in file if line.startswith("VmHWM")][0]

made, rows = test_zero_copy.large()
warm, _ = test_zero_copy.models.dense(batch=1)[:2]
glowish.load(warm)(np.ones((1, 4), np.float32))
before = peak()
x = np.ones((rows, 1024), np.float32)
{{}}
print(peak() - before)
"""

        def measure(work):
            done = subprocess.run([sys.executable, "-c", script.replace("{}", work)],
                                  capture_output=True, text=True, check=True)
            return int(done.stdout) << 10

        # The session has memory for the input, which is not touched.
        run = "model = glowish.load(made)\nfor _ in range(3): model(x)"
        used = measure(run)
        self.assertGreater(used, BYTES * 0.9)
        self.assertLess(used, BYTES * 1.3)
        # What the measure finds of a copy.
        self.assertGreater(measure(run + "\ncopy = x.copy()"), BYTES * 1.9)

    def test_output_is_written_where_it_is(self):
        made = models.unary("Neg", (1000, 1000))
        model = glowish.load(made)
        x = np.ones((1000, 1000), np.float32)
        out = np.zeros((1000, 1000), np.float32)
        address = out.ctypes.data
        result = model.run({"x": x}, out={"y": out})["y"]
        self.assertIs(result, out)
        self.assertEqual(result.ctypes.data, address)
        self.assertTrue((out == -1).all())


class Overhead(unittest.TestCase):
    def test_call(self):
        """bench/python_call.py, less than 5 us."""
        if not any(map(shutil.which, ("cc", "clang", "clang-19"))):
            self.skipTest("there is no C compiler")
        done = subprocess.run(
            [sys.executable, models.ROOT + "/bench/python_call.py", "--limit", "5",
             "--calls", "1000"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
