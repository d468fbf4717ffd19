"""Tensors of other libraries, by DLPack."""
import ctypes
import importlib.util
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from numpy.testing import assert_array_equal

import glowish
import models


class Foreign:
    """A tensor of a library that is not NumPy."""

    def __init__(self, array):
        self.array = array
        self.taken = 0

    def __dlpack__(self, stream=None):
        self.taken += 1
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class DLPack(unittest.TestCase):
    def test_inputs(self):
        model = glowish.load(models.unary("Neg", (3, 4)))
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        for array in (x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]):
            foreign = Foreign(array)
            assert_array_equal(model(foreign), -x)
            self.assertEqual(foreign.taken, 1)
        for kind in ("float64", "float16", "int8", "int32", "int64"):
            y = np.array([1, -2], kind)
            assert_array_equal(glowish.load(models.unary("Neg", (2,), kind))(
                Foreign(y)), -y)

    def test_errors(self):
        model = glowish.load(models.unary("Neg", (2,)))
        with self.assertRaisesRegex(TypeError, "input 'x' is float64; accepted: "
                                    "float32"):
            model(Foreign(np.zeros(2)))
        with self.assertRaisesRegex(ValueError, r"shape \(3,\); accepted: \(2,\)"):
            model(Foreign(np.zeros(3, np.float32)))

        class Broken:
            def __dlpack__(self):
                raise BufferError("not today")

        with self.assertRaisesRegex(BufferError, "not today"):
            model(Broken())

        class Other:
            def __dlpack__(self):
                return 3

        with self.assertRaises(ValueError):
            model(Other())

    def test_devices(self):
        """A capsule that says that it is on a device is refused, and released."""
        made = models.unary("Neg", (2,))
        model = glowish.load(made)
        capsule = np.zeros(2, np.float32).__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object,
                                                      ctypes.c_char_p]
        # The device's type is behind the pointer to the elements.
        ctypes.c_int32.from_address(get(capsule, b"dltensor") + 8).value = 2

        class Device:
            def __dlpack__(self):
                return capsule

        with self.assertRaisesRegex(ValueError, "memory of a device; accepted: of "
                                    "the CPU"):
            model(Device())

    def test_outputs(self):
        model = glowish.load(models.unary("Neg", (3,)))
        y = model(np.array([1, 2, 3], np.float32))
        other = np.from_dlpack(y)
        self.assertTrue(np.shares_memory(y, other))
        assert_array_equal(other, [-1, -2, -3])

    def test_nothing_is_kept(self):
        """Tensors are released after the call that takes them."""
        model = glowish.load(models.unary("Neg", (1000,)))
        x = np.zeros(1000, np.float32)
        before = sys.getrefcount(x)
        for _ in range(10):
            model(Foreign(x))
            model.run({"x": Foreign(x)})
        model(x)
        self.assertEqual(sys.getrefcount(x), before)

    def test_bundle(self):
        with tempfile.TemporaryDirectory() as folder:
            bundle = glowish.compile(models.unary("Neg", (2,)), folder).load()
        assert_array_equal(bundle(Foreign(np.array([1, 2], np.float32))), [-1, -2])


TORCH = """
import sys
import numpy as np
import torch
import glowish
import models

model = glowish.load(models.two_outputs((2, 3)))
a, b = torch.rand(2, 3), torch.rand(3, 2).T
s, p = model(a, b)
assert np.array_equal(s, (a + b).numpy()) and np.array_equal(p, (a * b).numpy())
back = torch.from_dlpack(s)
assert back.data_ptr() == s.ctypes.data and torch.equal(back, a + b)
try:
    model(a.double(), b)
except TypeError as error:
    assert "input 'a' is float64; accepted: float32" in str(error), error
else:
    sys.exit("float64 was accepted")
half = glowish.load(models.unary("Neg", (2,), "bfloat16"))
assert np.array_equal(half(torch.tensor([1, 2], dtype=torch.bfloat16)),
                      np.array([0xbf80, 0xc000], np.uint16))
flags = glowish.load(models.unary("Not", (2,), "bool"))
assert np.array_equal(flags(torch.tensor([1, 0], dtype=torch.uint8)), [False, True])
"""


class Torch(unittest.TestCase):
    def test_torch(self):
        """PyTorch's tensors, in a process of its own: it brings an LLVM, too."""
        if importlib.util.find_spec("torch") is None:
            self.skipTest("there is no PyTorch (python3-torch)")
        done = subprocess.run([sys.executable, "-c", TORCH], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
