"""The page about a compilation, and its progress."""
import html
import io
import os
import re
import tempfile
import unittest
from contextlib import redirect_stderr
from unittest import mock

import numpy as np

import glowish
import models


class Reports(unittest.TestCase):
    def check_page(self, report):
        self.assertTrue(report.html.startswith("<!DOCTYPE html>"), report.html[:50])
        self.assertIn("glowish 0.", report.html)
        frame = report._repr_html_()
        match = re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"]*" title="[^"]*">'
                             r"</iframe>", frame)
        self.assertIsNotNone(match)
        self.assertEqual(html.unescape(match.group(1)), report.html)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            report.save(path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), report.html)

    def test_report(self):
        made, _, _ = models.dense()
        report = glowish.report(made, symbols={"N": 3})
        self.check_page(report)
        self.assertIn("MatMul", report.html)
        same = [glowish.report(made, symbols={"N": 3}, times=False).html
                for _ in range(2)]
        self.assertEqual(*same)
        with self.assertRaisesRegex(glowish.Error, "'N'"):
            glowish.report(made)

    def test_compile(self):
        made, _, _ = models.dense()
        with tempfile.TemporaryDirectory() as folder:
            compiled = glowish.compile(made, folder, symbols={"N": 3}, report=True)
        self.check_page(compiled.report)

    def test_load(self):
        """The page is about the shapes that were called last."""
        made, _, _ = models.dense()
        model = glowish.load(made)
        for count in (37, 41):
            model(np.zeros((count, 4), np.float32))
            report = model.report()
            self.check_page(report)
            self.assertIn(f"{count}x3", report.html)


class Progress(unittest.TestCase):
    def test_function(self):
        made, _, _ = models.dense()
        seen = []
        with tempfile.TemporaryDirectory() as folder:
            glowish.compile(made, folder, symbols={"N": 1},
                            progress=lambda *each: seen.append(each))
        self.assertEqual(seen[-1], ("done", 1.0))
        shares = [done for _, done in seen]
        self.assertEqual(shares, sorted(shares))
        seen.clear()
        model = glowish.load(made, progress=lambda *each: seen.append(each))
        self.assertEqual(seen[-1], ("done", 1.0))
        seen.clear()
        model(np.zeros((2, 4), np.float32))
        self.assertEqual(seen[-1], ("done", 1.0))
        seen.clear()
        model(np.zeros((2, 4), np.float32))
        self.assertEqual(seen, [])

    def test_steps(self):
        """What takes longer tells several steps."""
        network = models.exported("mobilenet_v2")
        if network is None:
            self.skipTest("there are no exported networks in " + models.EXPORTED)
        seen = []
        glowish.load(network[0], progress=lambda *each: seen.append(each))
        steps = {step for step, _ in seen}
        self.assertGreater(len(steps), 2, seen)
        self.assertIn("generate code", steps)

    def test_function_that_fails(self):
        made, _, _ = models.dense(batch=1)

        def fail(step, done):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            glowish.load(made, progress=fail)

    def test_line(self):
        from glowish import _progress
        made, _, _ = models.dense(batch=1)
        stderr = io.StringIO()
        with redirect_stderr(stderr), mock.patch.dict("sys.modules",
                                                      {"tqdm.auto": None}):
            line = _progress.make_progress(True)
            line("optimize", 0.25)
            glowish.load(made, progress=True)
        self.assertIn("\rglowish: optimize 25%", stderr.getvalue())
        self.assertTrue(stderr.getvalue().endswith("\r"))

    def test_bar(self):
        from glowish import _progress
        tqdm = mock.MagicMock()
        tqdm.return_value.n = 0
        with mock.patch.dict("sys.modules", {"tqdm": mock.MagicMock(),
                                             "tqdm.auto": mock.MagicMock(tqdm=tqdm)}):
            bar = _progress.make_progress(True)
        bar("optimize", 0.5)
        tqdm.return_value.update.assert_called_with(50)
        bar("done", 1)
        tqdm.return_value.close.assert_called_once_with()


if __name__ == "__main__":
    unittest.main()
