"""The code of docs/tutorials/python.md runs."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import models


class Tutorial(unittest.TestCase):
    def test_tutorial(self):
        if importlib.util.find_spec("torch") is None:
            self.skipTest("there is no PyTorch (python3-torch)")
        with open(models.ROOT + "/docs/tutorials/python.md", encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        self.assertGreater(len(blocks), 5)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=folder,
                                  capture_output=True, text=True, check=False,
                                  env={**os.environ})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("input 'image' is float64; accepted: float32", done.stdout)
            self.assertTrue(os.path.exists(folder + "/out/trained.o"))


if __name__ == "__main__":
    unittest.main()
