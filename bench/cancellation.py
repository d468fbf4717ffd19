#!/usr/bin/python3
"""cancellation.py [--times N] MODEL...: how long glowish_compile_bundle takes to return
after glowish_job_cancel, in milliseconds: the median and the longest of N compilations
(default 20), cancelled at times spread evenly over one.

Needs libglowish.so, in build/release/lib or $GLOWISH_LIB.
"""
import argparse
import ctypes
import os
import statistics
import tempfile
import threading
import time

CANCELLED = 3


class Compiler:
    """What of glowish.h is measured."""

    def __init__(self):
        folder = os.environ.get("GLOWISH_LIB") or os.path.join(
            os.path.dirname(__file__), "..", "build", "release", "lib")
        self.library = ctypes.CDLL(os.path.join(folder, "libglowish.so"))
        for name in ("model_open", "job_create", "compile_bundle", "error_message"):
            getattr(self.library, "glowish_" + name).restype = ctypes.c_void_p

    def open(self, path):
        model = ctypes.c_void_p()
        self.check(self.library.glowish_model_open(path.encode(), ctypes.byref(model)))
        return model

    def compile(self, model, folder, cancel_after=None):
        """Returns the seconds from cancellation to return, or those of all if it was done
        before, and whether it was cancelled."""
        job = ctypes.c_void_p(self.library.glowish_job_create())
        start = time.monotonic()

        def cancel():
            nonlocal start
            time.sleep(cancel_after)
            start = time.monotonic()
            self.library.glowish_job_cancel(job)

        canceller = threading.Thread(target=cancel)
        if cancel_after is not None:
            canceller.start()
        error = self.library.glowish_compile_bundle(model, None, folder.encode(), job)
        taken = time.monotonic() - start
        if cancel_after is not None:
            canceller.join()
        self.library.glowish_job_free(job)
        error = ctypes.c_void_p(error)
        is_cancelled = self.library.glowish_error_code(error) == CANCELLED
        if not is_cancelled:
            self.check(error.value)
        self.library.glowish_error_free(error)
        return taken, is_cancelled

    def check(self, error):
        if error:
            message = self.library.glowish_error_message(ctypes.c_void_p(error))
            raise SystemExit(ctypes.string_at(message).decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    options = parser.parse_args()
    compiler = Compiler()
    for path in options.models:
        model = compiler.open(path)
        with tempfile.TemporaryDirectory() as folder:
            total, _ = compiler.compile(model, folder)
            results = [compiler.compile(model, folder, total * (i + 0.5) / options.times)
                       for i in range(options.times)]
        taken = [1e3 * seconds for seconds, is_cancelled in results if is_cancelled]
        print(f"{path}: {total:.1f} s; {len(taken)} cancelled, "
              f"median {statistics.median(taken):.1f} ms, longest {max(taken):.1f} ms")


if __name__ == "__main__":
    main()
