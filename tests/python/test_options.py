"""The compiler's settings as keywords."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import glowish
import numpy as np
import models


class Options(unittest.TestCase):
    def test_all_settings_are_there(self):
        """Each option of model-compiler that is a setting is a keyword."""
        program = os.path.join(os.environ["GLOWISH_BIN"], "model-compiler")
        text = subprocess.run([program, "--help"], capture_output=True, text=True,
                              check=True).stdout
        listed = {name.replace("-", "_")
                  for name in re.findall(r"^  --?([a-z0-9-]+)", text, re.M)}
        names = [option.name for option in glowish.options()]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 70)
        self.assertLessEqual(set(names), listed)
        # What tools alone do: files and what is printed.
        for name in ("threads", "winograd", "quantize_weights", "weights", "loss",
                     "state", "memory_regions", "mcpu"):
            self.assertIn(name, names)

    def test_descriptions(self):
        options = {option.name: option for option in glowish.options("compile")}
        self.assertEqual([name for name, _ in options["winograd"].choices],
                         ["off", "2", "4"])
        self.assertEqual(options["strict"].form, "switch")
        self.assertEqual(options["mattr"].form, "comma-list")
        self.assertTrue(all(option.description for option in options.values()))
        page = str(glowish.options())
        self.assertIn("winograd=off|2|4\n", page)
        self.assertIn("define_symbol=[name,value,...]\n", page)

    def test_uses(self):
        names = {use: {option.name for option in glowish.options(use)}
                 for use in ("compile", "load", "train")}
        self.assertIn("weights", names["compile"] - names["load"])
        self.assertIn("solver", names["train"] - names["load"])
        self.assertIn("quantize_dynamic", names["load"] - names["train"])
        with self.assertRaisesRegex(ValueError, "accepted: compile, load, train"):
            glowish.options("run")

    def test_errors(self):
        made, _, _ = models.dense(batch=1)

        def check(kind, line, **options):
            with self.assertRaisesRegex(kind, line) as caught:
                glowish.load(made, **options)
            self.assertIsInstance(caught.exception, glowish.Error)

        check(TypeError, "no option 'wingrad'; the nearest is 'winograd'",
              wingrad="off")
        check(TypeError, "no option 'qwertyuiop_asdf'; glowish.options",
              qwertyuiop_asdf=1)
        check(TypeError, "^weights has no effect on a program; accepted: of a bundle",
              weights="embed")
        check(ValueError, "^winograd=3: accepted: off, 2, 4", winograd=3)
        check(ValueError, "^threads=0: accepted: an integer from 1 to 256",
              threads=0)
        check(TypeError, "strict={'a': 1}|strict=.*accepted", strict=object())
        check(ValueError, "quantize='int3': accepted: 'dynamic'", quantize="int3")
        check(ValueError, "no input 'z'; it has 'x'", shapes={"z": (1, 4)})
        check(glowish.Error, "no dimension|symbol", symbols={"M": 3})

    def test_forms(self):
        made, _, _ = models.dense()
        model = glowish.load(made, define_symbol=["N,3"], winograd="off",
                             threads=2, mattr=["+avx"], strict=False,
                             backend=None)
        self.assertEqual(model.inputs[0].shape, (3, 4))
        self.assertEqual(glowish.load(made, symbols={"N": 2}).inputs[0].shape, (2, 4))
        self.assertEqual(
            glowish.load(made, shapes={"x": (5, 4)}).outputs[0].shape, (5, 3))
        static, _, _ = models.dense(batch=1)
        self.assertEqual(
            glowish.load(static, shapes={"x": (5, 4)}).outputs[0].shape, (5, 3))

    def test_symbols(self):
        """Each form, by the header of the bundle and the text that asks for the same."""
        made, _, _ = models.dense()
        with tempfile.TemporaryDirectory() as folder:
            def header(**options):
                glowish.compile(made, folder, network_name="net", **options)
                return Path(folder, "net.h").read_text()

            forms = [(4, "4"), (np.int64(4), "4"), ([1, 8], "1,8"), (range(1, 17), "1..16"),
                     ((1, 8, range(1, 17)), "1,8,1..16"), ([range(0, 3)], "0..2"),
                     ("1,8,1..16", "1,8,1..16")]
            headers = {text: header(define_symbol=f"N,{text}") for _, text in forms}
            self.assertEqual(len(set(headers.values())), 5)
            for value, text in forms:
                self.assertEqual(header(symbols={"N": value}), headers[text], value)
            # The setting's former name.
            self.assertEqual(header(onnx_define_symbol="N,1,8"), headers["1,8"])
        for wrong, line in ((range(1, 17, 2), "step 1"), (range(3, 4), "two values"),
                            ([1, range(8, 8)], "two values"), (2.5, "'2.5' is not an"),
                            ([], "there is no value"), (-1, "-1 is below 0"),
                            ([range(1, 4), 8], "not an integer")):
            with self.assertRaisesRegex(glowish.Error, line):
                glowish.load(made, symbols={"N": wrong})

    def test_quantize(self):
        made, w, b = models.dense(batch=2, inputs=64, outputs=32)
        x = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
        exact = x @ w + b
        for quantize, bound in (("int8", 0.02), ("int4", 0.3), ("dynamic", 0.05),
                                ("float16", 0.01), ("bfloat16", 0.05)):
            y = glowish.load(made, quantize=quantize)(x)
            error = np.abs(y - exact).max() / np.abs(exact).max()
            self.assertLess(error, bound, quantize)
            self.assertGreater(error, 1e-6, quantize)


if __name__ == "__main__":
    unittest.main()
