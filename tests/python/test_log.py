"""The compiler's log in Python's logging."""
import logging
import subprocess
import sys
import textwrap
import threading
import unittest
import warnings

import numpy as np
from onnx import TensorProto, helper

import glowish
import models

LOGGER = logging.getLogger("glowish")


def misspelt():
    """A model with an attribute that there is not."""
    node = helper.make_node("LeakyRelu", ["x"], ["y"], name="first", alhpa=0.5)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([node], "odd", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


class Keep(logging.Handler):
    """Keeps all records."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def messages(self, level):
        return [record.getMessage() for record in self.records if record.levelno == level]


class Log(unittest.TestCase):
    def setUp(self):
        self.handler = Keep()
        LOGGER.addHandler(self.handler)
        self.addCleanup(LOGGER.removeHandler, self.handler)
        self.addCleanup(LOGGER.setLevel, logging.NOTSET)

    def load(self, level):
        LOGGER.setLevel(level)
        self.handler.records.clear()
        made, _, _ = models.dense(batch=1)
        return glowish.load(made)

    def test_levels(self):
        self.load(logging.WARNING)
        self.assertEqual(self.handler.records, [])
        self.load(logging.INFO)
        self.assertEqual(self.handler.messages(logging.DEBUG), [])
        infos = "\n".join(self.handler.messages(logging.INFO))
        for text in ("phase import took ", "kernel of MatMul ", "plan: weights ",
                     "phase codegen took "):
            self.assertIn(text, infos)
        self.load(logging.DEBUG)
        self.assertTrue(any(text.startswith("pass ")
                            for text in self.handler.messages(logging.DEBUG)))
        self.assertEqual(self.handler.messages(logging.DEBUG - 5), [])
        self.load(1)
        self.assertNotEqual(self.handler.messages(logging.DEBUG - 5), [])
        self.load(logging.ERROR)
        self.assertEqual(self.handler.records, [])

    def test_records(self):
        self.load(logging.INFO)
        record = next(record for record in self.handler.records
                      if record.getMessage().startswith("phase import"))
        self.assertEqual((record.name, record.levelname, record.filename),
                         ("glowish", "INFO", "Timing.cpp"))
        self.assertGreater(record.lineno, 0)

    def test_warnings_are_records_beside_python_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            glowish.load(misspelt())
        self.assertEqual(len(caught), 1)
        line = str(caught[0].message)
        self.assertIn("'alhpa' is ignored", line)
        self.assertEqual(self.handler.messages(logging.WARNING), [line])

    def test_later_compilations_and_disabled_loggers(self):
        LOGGER.setLevel(logging.INFO)
        made, _, _ = models.dense()
        model = glowish.load(made)
        self.handler.records.clear()
        model(np.zeros((3, 4), np.float32))
        self.assertTrue(self.handler.messages(logging.INFO))
        # The same shape runs what is there.
        self.handler.records.clear()
        model(np.zeros((3, 4), np.float32))
        self.assertEqual(self.handler.records, [])
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        model(np.zeros((4, 4), np.float32))
        self.assertEqual(self.handler.records, [])

    def test_percent_signs_stay(self):
        LOGGER.setLevel(logging.INFO)
        made, _, _ = models.dense(batch=1)
        glowish.load(made, quantize="int8")
        self.assertTrue(any("%" in text for text in self.handler.messages(logging.INFO)))

    def test_errors_of_filters_end_the_compilation(self):
        def refuse(record):
            raise ValueError("not this one")
        LOGGER.addFilter(refuse)
        self.addCleanup(LOGGER.removeFilter, refuse)
        with self.assertRaisesRegex(ValueError, "not this one"):
            self.load(logging.INFO)
        LOGGER.removeFilter(refuse)
        # Nothing is left over.
        self.handler.records.clear()
        LOGGER.setLevel(logging.WARNING)
        made, _, _ = models.dense(batch=1)
        glowish.load(made)
        self.assertEqual(self.handler.records, [])

    def test_threads(self):
        LOGGER.setLevel(logging.DEBUG)
        made, _, _ = models.dense()
        failures = []

        def work():
            try:
                for batch in range(1, 6):
                    glowish.load(made)(np.zeros((batch, 4), np.float32))
            except Exception as error:  # pylint: disable=broad-except
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
            self.assertFalse(thread.is_alive())
        self.assertEqual(failures, [])
        count = sum(text.startswith("phase codegen took ")
                    for text in self.handler.messages(logging.INFO))
        self.assertEqual(count, 20)


class Unasked(unittest.TestCase):
    def run_script(self, *lines):
        script = "\n".join(["import logging, sys, warnings",
                            "warnings.simplefilter('ignore')",
                            "import glowish, test_log", *lines,
                            "glowish.load(test_log.misspelt())"])
        return subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True,
                              capture_output=True, text=True)

    def test_nothing_is_printed(self):
        done = self.run_script()
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_what_the_root_logger_takes_is_printed(self):
        done = self.run_script("logging.basicConfig(level=logging.INFO)")
        self.assertEqual(done.stdout, "")
        self.assertIn("INFO:glowish:phase import took ", done.stderr)
        self.assertIn("WARNING:glowish:node 'first' (LeakyRelu): attribute 'alhpa' is "
                      "ignored", done.stderr)
        self.assertNotIn("DEBUG", done.stderr)


if __name__ == "__main__":
    unittest.main()
